//! The differences of two surfaces in words: whether each breaks callers, and its class. Must not know of locks.

use std::collections::BTreeSet;

use schema::diff::{self, Part, Side, compare, from_to};
use serde_json::Value;

use crate::{Change, Class, Kind, Surface};

/// Hints: name, default, and the value that promises more to callers.
const HINTS: [(&str, bool, bool); 4] = [
    ("readOnlyHint", false, true),
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
];

impl Surface {
    /// All changes from `self` to `new`, as callers see them.
    pub fn changes(&self, new: &Self) -> Vec<Change> {
        let mut drift = Drift::default();
        let nothing = Value::Null;
        for (old, new, what, class) in [
            (&self.instructions, &new.instructions, "the instructions", Class::Instructions),
            (&self.server, &new.server, "the server's name or version", Class::ServerVersion),
        ] {
            if old != new {
                let (old, new) = (old.as_ref().unwrap_or(&nothing), new.as_ref().unwrap_or(&nothing));
                drift.add("server", format!("{what} changed{}", from_to(old, new)), false, class);
            }
        }
        if self.revision != new.revision {
            let value = |revision: &Option<String>| revision.as_deref().map_or(Value::Null, Value::from);
            let what = format!("the revision changed{}", from_to(&value(&self.revision), &value(&new.revision)));
            drift.add("server", what, false, Class::ProtocolVersion);
        }
        let capabilities = |surface: &Self| surface.capabilities.clone().unwrap_or_default();
        drift.capabilities(&capabilities(self), &capabilities(new));
        for kind in Kind::ALL {
            drift.list(kind, self.items(kind), new.items(kind));
        }
        drift.changes
    }
}

/// The changes between two items of one kind.
pub(crate) fn changes_of_item(kind: Kind, of: &str, old: &Value, new: &Value) -> Vec<Change> {
    let mut drift = Drift::default();
    drift.item(kind, of, old, new);
    drift.changes
}

/// The changes between the capabilities of two surfaces.
pub(crate) fn changes_of_capabilities(old: &Value, new: &Value) -> Vec<Change> {
    let mut drift = Drift::default();
    drift.capabilities(old, new);
    drift.changes
}

#[derive(Default)]
struct Drift {
    changes: Vec<Change>,
}

impl Drift {
    fn add(&mut self, of: &str, what: impl Into<String>, breaks: bool, class: Class) {
        self.changes.push(Change { of: of.to_owned(), what: what.into(), breaks, class });
    }

    fn capabilities(&mut self, old: &Value, new: &Value) {
        for name in names(old).union(&names(new)) {
            let of = format!("capability {name}");
            match (old.get(name), new.get(name)) {
                (Some(_), None) => self.add(&of, "was removed", true, Class::Capability),
                (None, Some(_)) => self.add(&of, "was added", false, Class::Capability),
                (Some(old), Some(new)) => {
                    for flag in names(old).union(&names(new)) {
                        let set = |value: &Value| value.get(flag).is_some_and(|flag| flag != &Value::Bool(false));
                        match (set(old), set(new)) {
                            (true, false) => self.add(&of, format!("no longer has `{flag}`"), true, Class::Capability),
                            (false, true) => self.add(&of, format!("has `{flag}` now"), false, Class::Capability),
                            _ if old.get(flag) != new.get(flag) => {
                                let what = format!("`{flag}` changed{}", from_to(&old[flag], &new[flag]));
                                self.add(&of, what, false, Class::Capability);
                            }
                            _ => {}
                        }
                    }
                }
                (None, None) => {}
            }
        }
    }

    fn list(&mut self, kind: Kind, old: &[Value], new: &[Value]) {
        let key = kind.key();
        let find = |list: &[Value], name: &Value| list.iter().find(|item| &item[key] == name).cloned();
        for before in old {
            let of = kind.called(before);
            match find(new, &before[key]) {
                None => self.add(&of, "was removed", true, Class::Removed),
                Some(after) => self.item(kind, &of, before, &after),
            }
        }
        for after in new.iter().filter(|after| find(old, &after[key]).is_none()) {
            self.add(&kind.called(after), "was added", false, Class::Added);
        }
    }

    fn item(&mut self, kind: Kind, of: &str, old: &Value, new: &Value) {
        match kind {
            Kind::Tool => self.tool(of, old, new),
            Kind::Prompt => self.prompt(of, old, new),
            Kind::Resource | Kind::Template => self.rest(of, old, new, &[("mimeType", true)]),
        }
    }

    fn tool(&mut self, of: &str, old: &Value, new: &Value) {
        for diff::Change { what, breaks, part } in compare(&old["inputSchema"], &new["inputSchema"], Side::Takes) {
            self.add(of, what, breaks, class_of(part));
        }
        match (old.get("outputSchema"), new.get("outputSchema")) {
            (Some(_), None) => self.add(of, "no longer has an `outputSchema`", true, Class::OutputSchema),
            (None, Some(_)) => self.add(of, "now has an `outputSchema`", false, Class::OutputSchema),
            (Some(old), Some(new)) => {
                for diff::Change { what, breaks, part } in compare(old, new, Side::Gives) {
                    let class = if part == Part::Text { Class::Description } else { Class::OutputSchema };
                    self.add(of, what, breaks, class);
                }
            }
            (None, None) => {}
        }
        for (hint, default, promise) in HINTS {
            let says = |tool: &Value| tool["annotations"][hint].as_bool().unwrap_or(default);
            let (before, after) = (says(old), says(new));
            if before != after {
                let (word, class) = if after == promise {
                    ("promises more", Class::StrengthenedAnnotation)
                } else {
                    ("promises less", Class::WeakenedAnnotation)
                };
                self.add(of, format!("{word}: `{hint}` is {after}"), after != promise, class);
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
                None => self.add(of, format!("no longer takes `{name}`"), true, Class::RemovedParameter),
                Some(after) if !required(before) && required(&after) => {
                    self.add(of, format!("`{name}` is required now"), true, Class::RequiredParameter);
                }
                Some(after) if required(before) && !required(&after) => {
                    self.add(of, format!("`{name}` is no longer required"), false, Class::OptionalParameter);
                }
                Some(_) => {}
            }
        }
        for after in new_ones.iter().filter(|after| find(&old_ones, &after["name"]).is_none()) {
            let name = after["name"].as_str().unwrap_or_default();
            if required(after) {
                self.add(of, format!("has a new required argument `{name}`"), true, Class::RequiredParameter);
            } else {
                self.add(of, format!("has a new optional argument `{name}`"), false, Class::OptionalParameter);
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
            let class = match name.as_str() {
                "title" | "description" => Class::Description,
                "_meta" => Class::Meta,
                _ => Class::Other,
            };
            self.add(of, format!("`{name}` changed{}", from_to(before, after)), breaks, class);
        }
    }
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default()
}

/// The class of a change in the schema of arguments.
const fn class_of(part: Part) -> Class {
    match part {
        Part::Text => Class::Description,
        Part::Default => Class::Default,
        Part::Enum => Class::Enum,
        Part::Required => Class::RequiredParameter,
        Part::Optional => Class::OptionalParameter,
        Part::Removed => Class::RemovedParameter,
        Part::Other => Class::InputSchema,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Surface;

    fn changes(member: &str, old: Value, new: Value) -> Vec<(String, bool)> {
        let surface = |value: Value| Surface::from_snapshot(&json!({ member: value }));
        let (old, new) = (surface(old), surface(new));
        old.changes(&new).into_iter().map(|one| (format!("{} {}", one.of, one.what), one.breaks)).collect()
    }

    #[track_caller]
    fn one(member: &str, old: Value, new: Value, what: &str, breaks: bool) {
        assert_eq!(changes(member, old, new), [(what.to_owned(), breaks)]);
    }

    #[test]
    fn equal_snapshots_have_no_changes() {
        let surface =
            json!({ "tools": [{ "name": "a", "annotations": { "title": "A" } }], "capabilities": { "tools": {} } });
        let surface = Surface::from_snapshot(&surface);
        assert_eq!(surface.changes(&surface), []);
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
