//! The tools that the model is offered, and calls of them over MCP. What may change something is called only where the policy
//! allows it; the prompt names what was withheld.

use client::{CallPolicy, Client, ClientError};
use eval::export::{Exported, export};
use eval::{Catalogue, Sample};
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::output::Output;

/// The tools of a run.
pub struct Tools {
    /// As the server lists them.
    listed: Vec<Value>,
    exported: Exported,
    client: Option<Client>,
    policy: CallPolicy,
}

/// What became of a call.
pub(crate) enum Called {
    /// It ran, or the server refused it.
    Returned(Output),
    /// The policy does not allow it.
    Withheld(Output),
    /// The server did not answer: that is not the model's fault.
    Lost(String),
}

impl Tools {
    /// Tools as a server lists them. Without a client, none can be called.
    pub fn new(
        listed: Vec<Value>,
        dialect: Dialect,
        is_strict: bool,
        (client, policy): (Option<Client>, CallPolicy),
    ) -> Result<Self, String> {
        let exported = if listed.is_empty() {
            export(&Catalogue::default(), dialect.api(), is_strict)
        } else {
            export(&Catalogue::read(&json!({ "tools": listed }))?, dialect.api(), is_strict)
        };
        Ok(Self { listed, exported, client, policy })
    }

    /// As the server lists them.
    pub fn listed(&self) -> &[Value] {
        &self.listed
    }

    /// The name in the API of a tool of the server.
    pub fn name_in_api(&self, original: &str) -> Option<&str> {
        self.exported.tools.iter().find(|tool| tool.original == original).map(|tool| tool.name.as_str())
    }

    /// The tools that are not called, by their names on the server.
    pub fn withheld(&self) -> Vec<&str> {
        let name = |tool: &'_ Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
        let refused: Vec<String> =
            self.listed.iter().filter(|tool| !self.policy.allow(tool)).filter_map(name).collect();
        let tools = self.exported.tools.iter().map(|tool| tool.original.as_str());
        tools.filter(|original| refused.iter().any(|name| name == original)).collect()
    }

    /// Whether calls can be made at all.
    pub(crate) const fn can_call(&self) -> bool {
        self.client.is_some()
    }

    /// The definitions with their names in the API.
    pub(crate) fn definitions(&self) -> Vec<(&str, &Value)> {
        self.exported.tools.iter().map(|tool| (tool.name.as_str(), &tool.definition)).collect()
    }

    /// The calls of an answer as the server knows them: its names, and no `null`s that only a strict schema demands.
    pub(crate) fn translated(&self, mut sample: Sample) -> Sample {
        for call in &mut sample.calls {
            if let Some(tool) = self.exported.tool(&call.name) {
                call.name.clone_from(&tool.original);
                call.arguments = tool.arguments(std::mem::take(&mut call.arguments));
            }
        }
        sample
    }

    /// Whether a call may be made again although it may have been made before.
    pub(crate) fn is_repeatable(&self, name: &str) -> bool {
        self.tool(name).is_none_or(|tool| client::only_reads(tool) || !self.policy.allow(tool))
    }

    /// Calls a tool by its name on the server.
    pub(crate) async fn call(&self, call: &eval::ToolCall) -> Called {
        let (Some(client), Some(listed)) = (&self.client, self.tool(&call.name)) else {
            let name = wire::escape::snippet(&call.name, 80);
            return Called::Returned(Output::error(format!("there is no tool `{name}`")));
        };
        if !self.policy.allow(listed) {
            let text = "not called: this tool may change something, and this run calls only tools that read";
            return Called::Withheld(Output::error(text));
        }
        let Some(tool) = client::Tool::new(listed) else { return Called::Lost("the tool has no name".to_owned()) };
        match client.call(&tool, call.arguments.clone()).await {
            Ok(message) => Called::Returned(Output::of(message.result().unwrap_or(&Value::Null))),
            Err(ClientError::Rpc { code, message, .. }) => {
                Called::Returned(Output::error(format!("error {code}: {}", wire::escape::snippet(&message, 2000))))
            }
            Err(ClientError::NotSent { why, .. }) => Called::Returned(Output::error(wire::escape::snippet(&why, 2000))),
            Err(error) => Called::Lost(wire::escape::snippet(&error.to_string(), 300)),
        }
    }

    fn tool(&self, name: &str) -> Option<&Value> {
        self.listed.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(name))
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").field("count", &self.listed.len()).finish_non_exhaustive()
    }
}
