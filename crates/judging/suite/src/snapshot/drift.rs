//! The changes between two snapshots in words, and whether each breaks callers.

use std::collections::BTreeSet;

use schema::diff::{self, Side, compare, from_to};
use serde_json::Value;

use super::LISTS;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What changed: `tool echo`, `capability resources`.
    pub of: String,
    /// The change in words.
    pub what: String,
    /// Whether it breaks callers.
    pub breaks: bool,
}

/// Hints: name, default, and the value that promises more to callers.
const HINTS: [(&str, bool, bool); 4] = [
    ("readOnlyHint", false, true),
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
];

/// All changes from `old` to `new`, two documents of [`super::surface`].
pub fn drift(old: &Value, new: &Value) -> Vec<Change> {
    let mut drift = Drift::default();
    for (member, what) in [("instructions", "the instructions"), ("server", "the server's name or version")] {
        if old.get(member) != new.get(member) {
            drift.add("server", format!("{what} changed{}", from_to(&old[member], &new[member])), false);
        }
    }
    if old.get("revision") != new.get("revision") {
        drift.add("server", format!("the revision changed{}", from_to(&old["revision"], &new["revision"])), false);
    }
    drift.capabilities(&old["capabilities"], &new["capabilities"]);
    for (member, _, name) in LISTS {
        drift.list(member, name, &old[member], &new[member]);
    }
    drift.changes
}

#[derive(Default)]
struct Drift {
    changes: Vec<Change>,
}

impl Drift {
    fn add(&mut self, of: &str, what: impl Into<String>, breaks: bool) {
        self.changes.push(Change { of: of.to_owned(), what: what.into(), breaks });
    }

    fn capabilities(&mut self, old: &Value, new: &Value) {
        for name in names(old).union(&names(new)) {
            let of = format!("capability {name}");
            match (old.get(name), new.get(name)) {
                (Some(_), None) => self.add(&of, "was removed", true),
                (None, Some(_)) => self.add(&of, "was added", false),
                (Some(old), Some(new)) => {
                    for flag in names(old).union(&names(new)) {
                        let set = |value: &Value| value.get(flag).is_some_and(|flag| flag != &Value::Bool(false));
                        match (set(old), set(new)) {
                            (true, false) => self.add(&of, format!("no longer has `{flag}`"), true),
                            (false, true) => self.add(&of, format!("has `{flag}` now"), false),
                            _ if old.get(flag) != new.get(flag) => {
                                self.add(&of, format!("`{flag}` changed{}", from_to(&old[flag], &new[flag])), false);
                            }
                            _ => {}
                        }
                    }
                }
                (None, None) => {}
            }
        }
    }

    fn list(&mut self, member: &str, key: &str, old: &Value, new: &Value) {
        let kind = match member {
            "resourceTemplates" => "resource template",
            member => member.trim_end_matches('s'),
        };
        let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
        let (old, new) = (items(old), items(new));
        let find = |list: &[Value], name: &Value| list.iter().find(|item| &item[key] == name).cloned();
        for before in &old {
            let of = format!("{kind} {}", before[key].as_str().unwrap_or("without a name"));
            match find(&new, &before[key]) {
                None => self.add(&of, "was removed", true),
                Some(after) => match member {
                    "tools" => self.tool(&of, before, &after),
                    "prompts" => self.prompt(&of, before, &after),
                    _ => self.rest(&of, before, &after, &[("mimeType", true)]),
                },
            }
        }
        for after in new.iter().filter(|after| find(&old, &after[key]).is_none()) {
            self.add(&format!("{kind} {}", after[key].as_str().unwrap_or("without a name")), "was added", false);
        }
    }

    fn tool(&mut self, of: &str, old: &Value, new: &Value) {
        for diff::Change { what, breaks } in compare(&old["inputSchema"], &new["inputSchema"], Side::Takes) {
            self.add(of, what, breaks);
        }
        match (old.get("outputSchema"), new.get("outputSchema")) {
            (Some(_), None) => self.add(of, "no longer has an `outputSchema`", true),
            (None, Some(_)) => self.add(of, "now has an `outputSchema`", false),
            (Some(old), Some(new)) => {
                for diff::Change { what, breaks } in compare(old, new, Side::Gives) {
                    self.add(of, what, breaks);
                }
            }
            (None, None) => {}
        }
        for (hint, default, promise) in HINTS {
            let says = |tool: &Value| tool["annotations"][hint].as_bool().unwrap_or(default);
            let (before, after) = (says(old), says(new));
            if before != after {
                let word = if after == promise { "promises more" } else { "promises less" };
                self.add(of, format!("{word}: `{hint}` is {after}"), after != promise);
            }
        }
        self.rest(of, old, new, &[]);
    }

    fn prompt(&mut self, of: &str, old: &Value, new: &Value) {
        let arguments = |prompt: &Value| prompt["arguments"].as_array().cloned().unwrap_or_default();
        let (old_ones, new_ones) = (arguments(old), arguments(new));
        let find = |list: &[Value], name: &Value| list.iter().find(|one| &one["name"] == name).cloned();
        let required = |one: &Value| one["required"] == Value::Bool(true);
        for before in &old_ones {
            let name = before["name"].as_str().unwrap_or_default();
            match find(&new_ones, &before["name"]) {
                None => self.add(of, format!("no longer takes `{name}`"), true),
                Some(after) if !required(before) && required(&after) => {
                    self.add(of, format!("`{name}` is required now"), true);
                }
                Some(after) if required(before) && !required(&after) => {
                    self.add(of, format!("`{name}` is no longer required"), false);
                }
                Some(_) => {}
            }
        }
        for after in new_ones.iter().filter(|after| find(&old_ones, &after["name"]).is_none()) {
            let name = after["name"].as_str().unwrap_or_default();
            if required(after) {
                self.add(of, format!("has a new required argument `{name}`"), true);
            } else {
                self.add(of, format!("has a new optional argument `{name}`"), false);
            }
        }
        self.rest(of, old, new, &[]);
    }

    /// Every other member; a change of those in `breaking` breaks callers.
    fn rest(&mut self, of: &str, old: &Value, new: &Value, breaking: &[(&str, bool)]) {
        const ELSEWHERE: [&str; 3] = ["inputSchema", "outputSchema", "arguments"];
        for name in names(old).union(&names(new)) {
            let (before, after) = (&old[name], &new[name]);
            if before == after || ELSEWHERE.contains(&name.as_str()) {
                continue;
            }
            if name == "annotations" {
                let plain = |value: &Value| {
                    let mut value = value.clone();
                    if let Value::Object(members) = &mut value {
                        members.retain(|name, _| HINTS.iter().all(|(hint, ..)| hint != name));
                    }
                    value.as_object().filter(|members| !members.is_empty()).cloned()
                };
                if plain(before) == plain(after) {
                    continue;
                }
            }
            let breaks = breaking.iter().any(|(member, breaks)| member == name && *breaks && !before.is_null());
            self.add(of, format!("`{name}` changed{}", from_to(before, after)), breaks);
        }
    }
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::drift;

    fn changes(member: &str, old: Value, new: Value) -> Vec<(String, bool)> {
        let surface = |value: Value| json!({ member: value });
        drift(&surface(old), &surface(new))
            .into_iter()
            .map(|one| (format!("{} {}", one.of, one.what), one.breaks))
            .collect()
    }

    #[track_caller]
    fn one(member: &str, old: Value, new: Value, what: &str, breaks: bool) {
        assert_eq!(changes(member, old, new), [(what.to_owned(), breaks)]);
    }

    #[test]
    fn equal_snapshots_have_no_changes() {
        let surface =
            json!({ "tools": [{ "name": "a", "annotations": { "title": "A" } }], "capabilities": { "tools": {} } });
        assert_eq!(drift(&surface, &surface), []);
    }

    #[test]
    fn removals_break_and_additions_do_not() {
        for (member, key, word) in [
            ("tools", "name", "tool"),
            ("resources", "uri", "resource"),
            ("resourceTemplates", "uriTemplate", "resource template"),
            ("prompts", "name", "prompt"),
        ] {
            one(member, json!([{ key: "x" }]), json!([]), &format!("{word} x was removed"), true);
            one(member, json!([]), json!([{ key: "x" }]), &format!("{word} x was added"), false);
        }
        one("capabilities", json!({ "tools": {} }), json!({}), "capability tools was removed", true);
        let (with, without) = (json!({ "tools": { "listChanged": true } }), json!({ "tools": {} }));
        one("capabilities", with.clone(), without.clone(), "capability tools no longer has `listChanged`", true);
        one("capabilities", without, with, "capability tools has `listChanged` now", false);
    }

    #[test]
    fn annotations_that_promise_less_break() {
        let tool = |annotations: Value| json!([{ "name": "t", "annotations": annotations }]);
        let (reads, says_nothing) = (tool(json!({ "readOnlyHint": true })), json!([{ "name": "t" }]));
        one("tools", reads.clone(), says_nothing.clone(), "tool t promises less: `readOnlyHint` is false", true);
        one("tools", says_nothing, reads, "tool t promises more: `readOnlyHint` is true", false);
        let harmless = tool(json!({ "destructiveHint": false }));
        one("tools", harmless, tool(json!({})), "tool t promises less: `destructiveHint` is true", true);
        let (a, b) = (tool(json!({ "title": "A" })), tool(json!({ "title": "B" })));
        assert_eq!(changes("tools", a, b).len(), 1);
    }

    #[test]
    fn arguments_of_prompts() {
        let prompt = |arguments: Value| json!([{ "name": "p", "arguments": arguments }]);
        let needed = prompt(json!([{ "name": "a", "required": true }]));
        let optional = prompt(json!([{ "name": "a" }]));
        one("prompts", prompt(json!([])), needed.clone(), "prompt p has a new required argument `a`", true);
        one("prompts", prompt(json!([])), optional.clone(), "prompt p has a new optional argument `a`", false);
        one("prompts", optional.clone(), needed, "prompt p `a` is required now", true);
        one("prompts", optional, prompt(json!([])), "prompt p no longer takes `a`", true);
    }
}
