//! The differences of two surfaces in words: whether each breaks callers, and its class. Must not know of locks.

use std::collections::BTreeSet;

use schema::diff::{self, Part, Side, compare, from_to, prose};
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
            Kind::Resource | Kind::Template => self.rest(of, old, new, &[], &["mimeType"]),
        }
    }

    fn tool(&mut self, of: &str, old: &Value, new: &Value) {
        for diff::Change { what, breaks, part } in compare(&old["inputSchema"], &new["inputSchema"], Side::Takes) {
            self.add(of, what, breaks, class_of(part));
        }
        match (old.get("outputSchema"), new.get("outputSchema")) {
            (Some(_), None) => self.add(of, "no longer has an `outputSchema`", true, Class::OutputSchema),
            (None, Some(new)) => {
                self.add(of, "now has an `outputSchema`", false, Class::OutputSchema);
                if !prose(new).is_empty() {
                    self.add(of, "has new texts in its `outputSchema`", false, Class::Description);
                }
            }
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
        self.rest(of, old, new, &["inputSchema", "outputSchema", "hints"], &[]);
    }

    fn prompt(&mut self, of: &str, old: &Value, new: &Value) {
        let mut compared = vec![];
        if let Some((old, new)) = list_of(old, "arguments").zip(list_of(new, "arguments")) {
            self.arguments(of, &old, &new);
            compared.push("arguments");
        }
        self.rest(of, old, new, &compared, &[]);
    }

    /// Of a prompt. Of arguments with one name, the first is compared with the first, the second with the second.
    fn arguments(&mut self, of: &str, old: &[Value], new: &[Value]) {
        let required = |one: &Value| one["required"] == Value::Bool(true);
        let mut left: Vec<&Value> = new.iter().collect();
        for before in old {
            let name = before["name"].as_str().unwrap_or_default();
            let Some(at) = left.iter().position(|after| after["name"] == before["name"]) else {
                self.add(of, format!("no longer takes `{name}`"), true, Class::RemovedParameter);
                continue;
            };
            let after = left.remove(at);
            match (required(before), required(after)) {
                (false, true) => self.add(of, format!("`{name}` is required now"), true, Class::RequiredParameter),
                (true, false) => {
                    self.add(of, format!("`{name}` is no longer required"), false, Class::OptionalParameter);
                }
                _ => {}
            }
            self.argument(of, name, before, after);
        }
        for after in left {
            let name = after["name"].as_str().unwrap_or_default();
            if required(after) {
                self.add(of, format!("has a new required argument `{name}`"), true, Class::RequiredParameter);
            } else {
                self.add(of, format!("has a new optional argument `{name}`"), false, Class::OptionalParameter);
            }
            self.argument(of, name, &Value::Null, after);
        }
    }

    /// The members of an argument that say nothing of whether it is required. Of a new argument, only its texts.
    fn argument(&mut self, of: &str, name: &str, old: &Value, new: &Value) {
        let is_new = old.is_null();
        if !new.is_object() || !(is_new || old.is_object()) {
            if old != new {
                let class = if prose(old) == prose(new) { Class::Other } else { Class::Description };
                self.add(of, format!("`{name}` changed{}", from_to(old, new)), false, class);
            }
            return;
        }
        for member in names(old).union(&names(new)).filter(|member| *member != "name") {
            let (before, after) = (&old[member], &new[member]);
            let is_flag = |value: &Value| value.is_null() || value.is_boolean();
            if before == after || member == "required" && is_flag(before) && is_flag(after) {
                continue;
            }
            let class = class_of_member(member, before, after);
            if !is_new || class == Class::Description {
                self.add(of, format!("`{name}`: `{member}` changed{}", from_to(before, after)), false, class);
            }
        }
    }

    /// Every member that is not `compared`; a change of those in `breaking` breaks callers.
    fn rest(&mut self, of: &str, old: &Value, new: &Value, compared: &[&str], breaking: &[&str]) {
        for name in names(old).union(&names(new)) {
            let (before, after) = (&old[name], &new[name]);
            if before == after || compared.contains(&name.as_str()) {
                continue;
            }
            if name == "annotations" && compared.contains(&"hints") && without_hints(before) == without_hints(after) {
                continue;
            }
            let breaks = breaking.contains(&name.as_str()) && !before.is_null();
            let class = class_of_member(name, before, after);
            self.add(of, format!("`{name}` changed{}", from_to(before, after)), breaks, class);
        }
    }
}

/// A list, empty where it is missing; `None` where it is no list.
fn list_of(item: &Value, member: &str) -> Option<Vec<Value>> {
    match item.get(member) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(list) => list.as_array().cloned(),
    }
}

/// Annotations without the hints that are compared by what they promise.
fn without_hints(annotations: &Value) -> Value {
    let mut rest = annotations.clone();
    if let Value::Object(members) = &mut rest {
        members.retain(|name, value| !(value.is_boolean() && HINTS.iter().any(|(hint, ..)| hint == name)));
    }
    if rest.as_object().is_some_and(serde_json::Map::is_empty) { Value::Null } else { rest }
}

/// The class of a change in a member that no schema describes: that of a description, if a text changed that can be prose.
fn class_of_member(name: &str, before: &Value, after: &Value) -> Class {
    let told = |value: &Value| {
        let mut value = value.clone();
        if let (Value::Object(members), "annotations") = (&mut value, name) {
            members.retain(|name, _| !["audience", "lastModified"].contains(&name.as_str()));
        }
        prose(&value)
    };
    match name {
        "title" | "description" => Class::Description,
        "_meta" => Class::Meta,
        "name" | "uri" | "uriTemplate" | "mimeType" | "icons" | "size" => Class::Other,
        _ if told(before) == told(after) => Class::Other,
        _ => Class::Description,
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

    use crate::{Class, Surface};

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

    #[test]
    fn texts_are_descriptions_wherever_they_stand() {
        let classes = |member: &str, old: Value, new: Value| {
            let surface = |value: Value| Surface::from_snapshot(&json!({ member: [value] }));
            let changes = surface(old).changes(&surface(new));
            changes.into_iter().map(|change| change.class).collect::<Vec<_>>()
        };
        let prompt = |arguments: Value| json!({ "name": "p", "arguments": arguments });
        let argument = |text: &str| json!({ "name": "a", "description": text });
        for (old, new) in [
            (json!([argument("x")]), json!([argument("y")])),
            (json!([{ "name": "a" }]), json!([{ "name": "a", "title": "y" }])),
            (json!([argument("x"), argument("x")]), json!([argument("x"), argument("y")])),
            (json!([{ "name": "a" }]), json!([{ "name": "a", "hint": { "deep": ["y"] } }])),
            (json!([{ "name": "a" }]), json!([{ "name": "a", "required": "y" }])),
            (json!("x"), json!("y")),
            (json!(["x"]), json!(["y"])),
        ] {
            assert_eq!(
                classes("prompts", prompt(old.clone()), prompt(new.clone())),
                [Class::Description],
                "{old} {new}"
            );
        }
        let added = classes("prompts", prompt(json!([])), prompt(json!([argument("x")])));
        assert_eq!(added, [Class::OptionalParameter, Class::Description]);
        // Beside another change, too.
        let needed = json!([{ "name": "a", "description": "y", "required": true }]);
        let both = classes("prompts", prompt(json!([argument("x")])), prompt(needed));
        assert_eq!(both, [Class::RequiredParameter, Class::Description]);
        let tool = |annotations: Value| json!({ "name": "t", "annotations": annotations });
        for (old, new) in [("title", "title"), ("readOnlyHint", "readOnlyHint"), ("note", "other")] {
            let found = classes("tools", tool(json!({ old: "x" })), tool(json!({ new: "y" })));
            assert_eq!(found, [Class::Description], "{old} {new}");
        }
        let resource = |lead: &str| json!({ "uri": "a:b", "annotations": { "audience": [lead] } });
        assert_eq!(classes("resources", resource("user"), resource("assistant")), [Class::Other]);
    }
}
