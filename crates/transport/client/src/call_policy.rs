//! Which tools of a server may be called: one answer for everything that calls tools by itself.

use std::collections::BTreeSet;

use serde_json::Value;

/// Which tools may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPolicy {
    /// None.
    None,
    /// Those that their server declares `readOnlyHint: true`, and those named here.
    Declared(BTreeSet<String>),
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
            Self::Declared(named) => named.contains(name) || declared(tool) == Some(true),
            Self::Safe(named) => named.contains(name) || only_reads(tool),
            Self::All => true,
        }
    }

    /// The tools that are named.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let named = match self {
            Self::Declared(named) | Self::Safe(named) => Some(named),
            Self::None | Self::All => None,
        };
        named.into_iter().flatten().map(String::as_str)
    }

    /// Whether it is the tool's name alone for which it may be called.
    pub fn allow_for_its_name(&self, tool: &Value) -> bool {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        matches!(self, Self::Safe(named) if !named.contains(name)) && declared(tool).is_none() && only_reads(tool)
    }
}

/// Whether a tool only reads: its server says so, or says nothing of it and the tool's name does.
pub fn only_reads(tool: &Value) -> bool {
    declared(tool).unwrap_or_else(|| guard::verbs::say_that_it_reads(tool))
}

/// Whether the annotations say that a tool only reads; `None` where they say nothing of that. The other two hints mean
/// something for tools alone that change something.
fn declared(tool: &Value) -> Option<bool> {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).filter(|hint| !hint.is_null());
    match hint("readOnlyHint") {
        Some(reads) => Some(reads == true),
        None => (hint("destructiveHint").is_some() || hint("idempotentHint").is_some()).then_some(false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_only_reads_where_its_server_or_its_name_says_so() {
        for (name, reads) in [("get_user", true), ("test_logging", true), ("delete_file", false), ("", false)] {
            assert_eq!(only_reads(&json!({ "name": name })), reads, "{name}");
            let with = |hints: Value| only_reads(&json!({ "name": name, "annotations": hints }));
            assert_eq!(
                with(json!({ "title": "A title", "openWorldHint": true, "readOnlyHint": null })),
                reads,
                "{name}"
            );
            assert!(with(json!({ "readOnlyHint": true, "destructiveHint": false })), "{name}");
            for hints in [
                json!({ "readOnlyHint": false }),
                json!({ "readOnlyHint": "true" }),
                json!({ "destructiveHint": true }),
                json!({ "destructiveHint": false }),
                json!({ "idempotentHint": true }),
            ] {
                assert!(!with(hints.clone()), "{name} {hints}");
            }
        }
    }

    #[test]
    fn a_policy_allows_what_reads_what_is_declared_what_is_named_or_all() {
        let (reads, writes) = (json!({ "name": "get_x" }), json!({ "name": "put_x" }));
        let declared = json!({ "name": "tide", "annotations": { "readOnlyHint": true } });
        let named = || BTreeSet::from(["put_x".to_owned()]);
        let safe = CallPolicy::default();
        assert!(safe.allow(&reads) && safe.allow(&declared) && !safe.allow(&writes));
        assert!(CallPolicy::Safe(named()).allow(&writes) && CallPolicy::Declared(named()).allow(&writes));
        let only_declared = CallPolicy::Declared(BTreeSet::new());
        assert!(only_declared.allow(&declared) && !only_declared.allow(&reads));
        assert!(CallPolicy::All.allow(&writes) && !CallPolicy::None.allow(&reads));
        assert!(safe.allow_for_its_name(&reads) && !safe.allow_for_its_name(&declared));
        assert!(!CallPolicy::All.allow_for_its_name(&reads) && !CallPolicy::Safe(named()).allow_for_its_name(&writes));
    }
}
