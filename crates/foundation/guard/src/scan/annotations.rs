//! Annotations that contradict the verb of a tool's name.

use serde_json::Value;

use super::text::parts;
use crate::verbs::CHANGES;

/// What is added to something that is kept. Without one of these, `add` may be a sum: `add`, `add_time`, `add_vectors`.
const ADDED: [&str; 36] = [
    "account",
    "attachment",
    "book",
    "bookmark",
    "card",
    "channel",
    "collaborator",
    "column",
    "comment",
    "contact",
    "customer",
    "device",
    "document",
    "entities",
    "entry",
    "event",
    "favorite",
    "file",
    "item",
    "label",
    "member",
    "note",
    "observations",
    "page",
    "product",
    "reaction",
    "record",
    "relations",
    "reminder",
    "role",
    "row",
    "rule",
    "tag",
    "task",
    "user",
    "worktree",
];
const DELETES: [&str; 9] = ["delete", "remove", "drop", "purge", "destroy", "erase", "wipe", "kill", "truncate"];

/// What contradicts the name, and at which annotation.
pub(super) fn conflict(tool: &Value) -> Option<(&'static str, String)> {
    let name = tool["name"].as_str()?;
    let parts = parts(name);
    // `search_create_date` is no change: the verb is the first word, or the second after a service's name.
    let is_verb = |verbs: &[&str]| parts.first().filter(|word| verbs.contains(&word.as_str())).cloned();
    let hints = &tool["annotations"];
    if hints["readOnlyHint"] == true {
        let keeps = |word: &String| ADDED.iter().any(|one| word.trim_end_matches('s') == one.trim_end_matches('s'));
        let adds = || is_verb(&["add"]).filter(|_| parts.iter().skip(1).any(keeps));
        let verb = is_verb(&CHANGES).or_else(adds)?;
        return Some(("/annotations/readOnlyHint", format!("`readOnlyHint` is true and the name says `{verb}`")));
    }
    if hints["destructiveHint"] == false {
        let verb = is_verb(&DELETES)?;
        return Some((
            "/annotations/destructiveHint",
            format!("`destructiveHint` is false and the name says `{verb}`"),
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::conflict;

    #[test]
    fn verbs_and_hints() {
        let tool = |name: &str, hint: &str, value: bool| json!({ "name": name, "annotations": { hint: value } });
        assert!(conflict(&tool("delete_file", "readOnlyHint", true)).is_some());
        assert!(conflict(&tool("add_comments", "readOnlyHint", true)).is_some());
        assert!(conflict(&tool("deleteFile", "destructiveHint", false)).is_some());
        for fine in [
            tool("read_file", "readOnlyHint", true),
            tool("create_file", "destructiveHint", false),
            tool("delete_file", "destructiveHint", true),
            tool("get_deleted", "readOnlyHint", true),
            tool("add", "readOnlyHint", true),
            tool("add_time", "readOnlyHint", true),
            tool("addNumbers", "readOnlyHint", true),
        ] {
            assert!(conflict(&fine).is_none(), "{fine}");
        }
    }
}
