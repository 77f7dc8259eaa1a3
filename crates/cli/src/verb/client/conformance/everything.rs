//! Uses everything that a server offers once: lists, tools, resources and prompts.

use client::{Client, ClientError, Tool, argument_errors, example};
use serde_json::{Map, Value};

/// How many of each kind are used.
const MAX_OF_EACH: usize = 32;

/// A call whose arguments the scenario gives.
pub(super) struct Call {
    /// The tool's name.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) arguments: Map<String, Value>,
}

/// Uses everything. Arguments come from `calls`, or else are made from schemas. Continues after error responses, but not
/// after a lost connection.
pub(super) async fn use_everything(client: &Client, calls: &[Call]) -> Result<(), ClientError> {
    let greeting = client.greeting();
    if greeting.may_have("tools") {
        let (tools, _) = unless_refused(client.tools().await)?.unwrap_or_default();
        for tool in tools.iter().take(MAX_OF_EACH) {
            use_tool(client, tool, calls).await?;
        }
    }
    if greeting.may_have("resources") {
        let listed = unless_refused(client.resources().await)?.unwrap_or_default();
        for uri in listed.items.iter().filter_map(|item| item.get("uri")?.as_str()).take(MAX_OF_EACH) {
            unless_refused(client.read(uri).await)?;
        }
        unless_refused(client.templates().await)?;
    }
    if greeting.may_have("prompts") {
        let listed = unless_refused(client.prompts().await)?.unwrap_or_default();
        for prompt in listed.items.iter().take(MAX_OF_EACH) {
            let Some(name) = prompt.get("name").and_then(Value::as_str) else { continue };
            unless_refused(client.prompt(name, required_arguments(prompt)).await)?;
        }
    }
    Ok(())
}

async fn use_tool(client: &Client, tool: &Tool, calls: &[Call]) -> Result<(), ClientError> {
    let named: Vec<_> = calls.iter().filter(|call| call.tool == tool.name()).collect();
    for call in &named {
        unless_refused(client.call(tool, call.arguments.clone()).await)?;
    }
    let made = example(tool.input());
    if named.is_empty() && argument_errors(tool.input(), &made).is_empty() {
        unless_refused(client.call(tool, made).await)?;
    }
    Ok(())
}

/// The arguments that a prompt requires.
fn required_arguments(prompt: &Value) -> Map<String, Value> {
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let required = arguments.filter(|argument| argument.get("required") == Some(&Value::Bool(true)));
    required.filter_map(|argument| Some((argument.get("name")?.as_str()?.to_owned(), Value::from("text")))).collect()
}

/// Continues after an error response or an invalid response.
fn unless_refused<T>(outcome: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(ClientError::Rpc { .. } | ClientError::Invalid { .. } | ClientError::NotSent { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
