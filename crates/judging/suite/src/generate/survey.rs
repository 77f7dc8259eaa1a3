//! Reads what a server offers: its lists, and its completions of arguments of prompts and templates.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use client::{Client, ClientError, Params};
use serde_json::{Map, Value, json};
use wire::{Revision, Transport};

use super::Options;
use crate::requests::{List, Request, send};

/// The maximum number of arguments to complete.
const MAX_COMPLETIONS: usize = 40;

/// What a server offers. Lists are sorted by name, because servers may shuffle them.
pub(super) struct Survey {
    pub(super) revision: Revision,
    pub(super) transport: Transport,
    pub(super) server: Option<Value>,
    /// The lists that the server has.
    pub(super) lists: Vec<List>,
    pub(super) tools: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) templates: Vec<Value>,
    pub(super) prompts: Vec<Value>,
    /// Whether the server completes arguments.
    pub(super) completes: bool,
    /// Completions by prompt or template, and argument.
    pub(super) suggested: BTreeMap<(String, String), Vec<String>>,
}

/// Reads everything.
pub(super) async fn survey(options: &Options) -> Result<Survey, ClientError> {
    let client = Client::connect(options.client.clone()).await?;
    let survey = read(&client).await;
    client.close().await;
    survey
}

async fn read(client: &Client) -> Result<Survey, ClientError> {
    let greeting = client.greeting();
    let mut survey = Survey {
        revision: client.revision(),
        transport: client.transport(),
        server: greeting.server_info().cloned(),
        lists: Vec::new(),
        tools: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        prompts: Vec::new(),
        completes: greeting.may_have("completions"),
        suggested: BTreeMap::new(),
    };
    for (list, capability, name) in [
        (List::Tools, "tools", "name"),
        (List::Resources, "resources", "uri"),
        (List::Templates, "resources", "uriTemplate"),
        (List::Prompts, "prompts", "name"),
    ] {
        if !greeting.may_have(capability) {
            continue;
        }
        let mut items = match send(client, Request::List(list)).await {
            Ok(mut listed) => match listed[list.method().1].take() {
                Value::Array(items) => items,
                _ => Vec::new(),
            },
            // A server need not support every method that its capabilities allow.
            Err(ClientError::Rpc { .. }) => continue,
            Err(error) => return Err(error),
        };
        items.retain(|item| item[name].is_string());
        items.sort_by(|a, b| a[name].as_str().cmp(&b[name].as_str()));
        survey.lists.push(list);
        *match list {
            List::Tools => &mut survey.tools,
            List::Resources => &mut survey.resources,
            List::Templates => &mut survey.templates,
            List::Prompts => &mut survey.prompts,
        } = items;
    }
    if survey.completes {
        survey.suggested = suggestions(client, &survey).await;
    }
    Ok(survey)
}

/// The server's completions for each argument.
async fn suggestions(client: &Client, survey: &Survey) -> BTreeMap<(String, String), Vec<String>> {
    let mut suggested = BTreeMap::new();
    for (reference, owner, argument) in arguments(survey).into_iter().take(MAX_COMPLETIONS) {
        let params = Params::new().with("ref", reference).with("argument", json!({ "name": argument, "value": "" }));
        let Ok(answer) = client.request("completion/complete", &params).await else { continue };
        let values = answer.result().and_then(|result| result.pointer("/completion/values")?.as_array());
        let values: Vec<String> =
            values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).take(3).collect();
        suggested.insert((owner, argument), values);
    }
    suggested
}

/// Every argument that can be completed: its `ref`, the name of its owner, and its name.
pub(super) fn arguments(survey: &Survey) -> Vec<(Value, String, String)> {
    let mut all = Vec::new();
    for prompt in &survey.prompts {
        let name = prompt["name"].as_str().unwrap_or_default();
        for argument in prompt["arguments"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()) {
            all.push((json!({ "type": "ref/prompt", "name": name }), name.to_owned(), argument.to_owned()));
        }
    }
    for template in survey.templates.iter().filter_map(|one| one["uriTemplate"].as_str()) {
        for variable in variables(template) {
            all.push((json!({ "type": "ref/resource", "uri": template }), template.to_owned(), variable));
        }
    }
    all
}

/// The simple variables of a URI template.
pub(super) fn variables(template: &str) -> Vec<String> {
    let expressions = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let named = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    expressions.map(|(name, _)| name.trim_start_matches('+').to_owned()).filter(|name| named(name)).collect()
}

/// The template with its variables filled in; `None` if one is not simple or has no value.
pub(super) fn expand(template: &str, values: &Map<String, Value>) -> Option<String> {
    let mut uri = String::new();
    let mut parts = template.split('{');
    uri.push_str(parts.next()?);
    for part in parts {
        let (name, after) = part.split_once('}')?;
        let (name, reserved) = name.strip_prefix('+').map_or((name, false), |name| (name, true));
        let value = values.get(name)?.as_str()?;
        for byte in value.bytes() {
            let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            if plain || reserved && b"/:@!$&'()*+,;=?#[]%".contains(&byte) {
                uri.push(char::from(byte));
            } else {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
        uri.push_str(after);
    }
    Some(uri)
}
