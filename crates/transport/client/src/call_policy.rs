//! Which tools of a server may be called: one answer for everything that calls tools by itself.

use std::collections::BTreeSet;

use serde_json::Value;

/// Which tools may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallPolicy {
    /// None.
    None,
    /// Those that the server says only read, and those named here.
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
        let reads = tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true));
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        match self {
            Self::None => false,
            Self::Safe(named) => reads || named.contains(name),
            Self::All => true,
        }
    }
}
