//! Which tools of a server may be called: one answer for everything that calls tools by itself.

use std::collections::BTreeSet;

use serde_json::Value;

/// Which tools may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPolicy {
    /// None.
    None,
    /// Those that only read ([`only_reads`]), and those named here.
    Safe(BTreeSet<String>),
    /// All of them.
    All,
}

impl Default for CallPolicy {
    fn default() -> Self {
        Self::Safe(BTreeSet::new())
    }
}

impl CallPolicy {
    /// Whether a tool, as its server lists it, may be called.
    pub fn allow(&self, tool: &Value) -> bool {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        match self {
            Self::None => false,
            Self::Safe(named) => named.contains(name) || only_reads(tool),
            Self::All => true,
        }
    }
}

/// Words with which the names of tools begin that only read or calculate.
const READS: [&str; 19] = [
    "get",
    "list",
    "read",
    "search",
    "find",
    "describe",
    "show",
    "view",
    "count",
    "lookup",
    "look",
    "echo",
    "ping",
    "calculate",
    "compute",
    "convert",
    "compare",
    "whoami",
    "status",
];

/// Words that make such a name doubtful, wherever they stand: `get_or_create_user`, `list_and_clear`.
const CHANGES: [&str; 70] = [
    "add", "append", "apply", "approve", "archive", "ban", "book", "buy", "call", "cancel", "clear", "close", "commit",
    "copy", "create", "delete", "deploy", "destroy", "disable", "drop", "edit", "enable", "erase", "exec", "execute",
    "grant", "import", "insert", "install", "invoke", "kill", "lock", "make", "mark", "merge", "move", "open", "order",
    "pay", "pop", "post", "publish", "purge", "push", "put", "register", "remove", "rename", "replace", "reply",
    "reset", "restart", "revoke", "run", "save", "send", "set", "sign", "start", "stop", "store", "submit", "take",
    "transfer", "trigger", "unlock", "update", "upload", "wipe", "write",
];

/// What adds up and the like, where its arguments are numbers.
const SUMS: [&str; 5] = ["add", "sum", "subtract", "multiply", "divide"];

/// Whether a tool only reads: its server says so, or says nothing of it and the name does.
pub fn only_reads(tool: &Value) -> bool {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    match hint("readOnlyHint") {
        Some(reads) => reads,
        None if hint("destructiveHint").is_some() => false,
        None => named_as_reading(tool),
    }
}

fn named_as_reading(tool: &Value) -> bool {
    let Some(name) = tool.get("name").and_then(Value::as_str) else { return false };
    if SUMS.contains(&name) {
        return takes_numbers(tool);
    }
    let words = words(name);
    words.first().is_some_and(|word| READS.contains(&word.as_str()))
        && !words.iter().any(|word| CHANGES.contains(&word.as_str()))
}

/// Whether a tool has arguments, and all of them are numbers.
fn takes_numbers(tool: &Value) -> bool {
    let Some(properties) = tool.pointer("/inputSchema/properties").and_then(Value::as_object) else { return false };
    let number = |schema: &Value| matches!(schema["type"].as_str(), Some("number" | "integer"));
    !properties.is_empty() && properties.values().all(number)
}

/// The words of a name in lower case: `getUserName`, `get-user.name`, `get_user_name`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for one in name.chars() {
        if !one.is_alphanumeric() || (one.is_uppercase() && after_small) {
            words.push(String::new());
        }
        if one.is_alphanumeric() {
            words.last_mut().expect("it has one word from the start").extend(one.to_lowercase());
        }
        after_small = one.is_lowercase() || one.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_only_reads_where_its_server_or_its_name_says_so() {
        for name in
            ["get_user", "listShips", "search-docs", "GetWeather", "echo", "whoami", "read.file", "look_up_word"]
        {
            assert!(only_reads(&json!({ "name": name })), "{name}");
            assert!(!only_reads(&json!({ "name": name, "annotations": { "readOnlyHint": false } })), "{name}");
            assert!(!only_reads(&json!({ "name": name, "annotations": { "destructiveHint": true } })), "{name}");
        }
        for name in
            ["get_or_create_user", "listAndClear", "delete_file", "getter", "widget_get", "", "find_replace", "_"]
        {
            assert!(!only_reads(&json!({ "name": name })), "{name}");
            assert!(only_reads(&json!({ "name": name, "annotations": { "readOnlyHint": true } })), "{name}");
        }
    }

    #[test]
    fn sums_take_numbers() {
        let sum = |name: &str, kind: &str| json!({ "name": name, "inputSchema": { "properties": { "a": { "type": kind }, "b": { "type": "number" } } } });
        assert!(only_reads(&sum("add", "number")) && only_reads(&sum("multiply", "integer")));
        assert!(!only_reads(&sum("add", "string")) && !only_reads(&sum("add_item", "number")));
        assert!(!only_reads(&json!({ "name": "add", "inputSchema": { "type": "object" } })));
    }

    #[test]
    fn a_policy_allows_what_reads_what_is_named_or_all() {
        let (reads, writes) = (json!({ "name": "get_x" }), json!({ "name": "put_x" }));
        let safe = CallPolicy::default();
        assert!(safe.allow(&reads) && !safe.allow(&writes));
        assert!(CallPolicy::Safe(BTreeSet::from(["put_x".to_owned()])).allow(&writes));
        assert!(CallPolicy::All.allow(&writes) && !CallPolicy::None.allow(&reads));
    }
}
