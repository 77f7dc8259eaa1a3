//! Everything that a server offers, used once: lists, tools, resources, prompts. For whoever wants to see a client at work.

use serde_json::{Map, Value};

use super::{Client, ClientError, Tool, argument_faults, example};

/// How many of each kind are used.
const OF_EACH: usize = 32;

/// A call that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Of which tool.
    pub tool: String,
    /// With which arguments.
    pub arguments: Map<String, Value>,
}

impl Client {
    /// Uses everything, with arguments made from schemas where `wanted` names none. What the server refuses is passed
    /// over; that it cannot be talked to is not.
    pub async fn tour(&self, wanted: &[Wanted]) -> Result<(), ClientError> {
        let greeting = self.greeting();
        if greeting.may_have("tools") {
            let (tools, _) = unless_refused(self.tools().await)?.unwrap_or_default();
            for tool in tools.iter().take(OF_EACH) {
                self.use_tool(tool, wanted).await?;
            }
        }
        if greeting.may_have("resources") {
            let listed = unless_refused(self.resources().await)?.unwrap_or_default();
            for uri in listed.items.iter().filter_map(|item| item.get("uri")?.as_str()).take(OF_EACH) {
                unless_refused(self.read(uri).await)?;
            }
        }
        if greeting.may_have("prompts") {
            let listed = unless_refused(self.prompts().await)?.unwrap_or_default();
            for prompt in listed.items.iter().take(OF_EACH) {
                let Some(name) = prompt.get("name").and_then(Value::as_str) else { continue };
                unless_refused(self.prompt(name, texts(prompt)).await)?;
            }
        }
        Ok(())
    }

    async fn use_tool(&self, tool: &Tool, wanted: &[Wanted]) -> Result<(), ClientError> {
        let named: Vec<_> = wanted.iter().filter(|call| call.tool == tool.name()).collect();
        for call in &named {
            unless_refused(self.call(tool, call.arguments.clone()).await)?;
        }
        let made = example(tool.input());
        if named.is_empty() && argument_faults(tool.input(), &made).is_empty() {
            unless_refused(self.call(tool, made).await)?;
        }
        Ok(())
    }
}

/// The arguments that a prompt requires.
fn texts(prompt: &Value) -> Map<String, Value> {
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let required = arguments.filter(|argument| argument.get("required") == Some(&Value::Bool(true)));
    required.filter_map(|argument| Some((argument.get("name")?.as_str()?.to_owned(), Value::from("text")))).collect()
}

/// An error that the server answered with, or an answer that is none, is no reason to stop.
fn unless_refused<T>(outcome: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(ClientError::Rpc { .. } | ClientError::Invalid { .. } | ClientError::Unasked { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
