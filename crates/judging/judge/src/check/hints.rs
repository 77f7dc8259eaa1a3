//! What a person knows of a server and its declarations do not say: how to provoke progress, sampling, elicitation or a
//! changed list, so that a foreign server can be exercised fully. A JSON file; see `docs/check.md`.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The contents of a hints file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hints {
    /// Arguments to call tools with, by tool name, instead of made ones.
    pub arguments: std::collections::BTreeMap<String, Map<String, Value>>,
    /// Arguments to get prompts with, by prompt name, instead of made ones.
    pub prompts: std::collections::BTreeMap<String, Map<String, Value>>,
    /// A call that reports progress.
    pub progress: Option<ToolCall>,
    /// A call that takes long enough to be cancelled: half a second to three.
    pub slow: Option<ToolCall>,
    /// A call that fails in the tool itself, not over its arguments.
    pub failing: Option<ToolCall>,
    /// Calls that run as tasks.
    pub tasks: Vec<ToolCall>,
    /// A call that makes the server ask for sampling.
    pub sampling: Option<ToolCall>,
    /// A call that makes the server ask for elicitation.
    pub elicitation: Option<ToolCall>,
    /// A call that makes the server ask for roots.
    pub roots: Option<ToolCall>,
    /// A call that makes the server log.
    pub logging: Option<ToolCall>,
    /// A call that changes the tool list.
    pub tools_changed: Option<ToolCall>,
    /// A call that changes the prompt list.
    pub prompts_changed: Option<ToolCall>,
    /// A call that changes the resource list.
    pub resources_changed: Option<ToolCall>,
    /// A call that changes a resource.
    pub resource_updated: Option<ResourceChange>,
}

/// A tool and the arguments to call it with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A call and the resource it changes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceChange {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The resource that changes.
    pub uri: String,
}

impl Hints {
    /// Whether a call is known that changes some list.
    pub fn change_a_list(&self) -> bool {
        [&self.tools_changed, &self.prompts_changed, &self.resources_changed].into_iter().any(Option::is_some)
    }

    /// Whether a call of this tool is named here: the check may make it.
    pub fn names_tool(&self, name: &str) -> bool {
        self.tools().any(|tool| tool == name)
    }

    /// The tools of the calls that are named here.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        let calls = [
            &self.progress,
            &self.slow,
            &self.failing,
            &self.sampling,
            &self.elicitation,
            &self.roots,
            &self.logging,
            &self.tools_changed,
            &self.prompts_changed,
            &self.resources_changed,
        ];
        let changed = self.resource_updated.as_ref().map(|change| change.tool.as_str());
        calls.into_iter().flatten().chain(&self.tasks).map(|call| call.tool.as_str()).chain(changed)
    }

    /// Reads a hints file's text; the error says where and what.
    pub fn parse(text: &str) -> Result<Self, String> {
        // serde would take a list for a struct.
        if text.trim_start().starts_with('[') {
            return Err("a list, not an object".to_owned());
        }
        serde_json::from_str(text).map_err(|e| e.to_string())
    }
}
