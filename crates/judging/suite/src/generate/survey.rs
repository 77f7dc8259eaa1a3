//! What a server offers: its lists, and the values that it suggests for arguments of prompts and templates.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use client::{Client, ClientError, Params};
use serde_json::{Map, Value, json};
use wire::{Revision, Transport};

use super::Options;
use crate::asking::{Ask, List, ask};

/// How many arguments are asked about.
const ASKED: usize = 40;

/// What a server offers. Lists are in the order of the names: servers may shuffle them.
pub(super) struct Surveyed {
    pub(super) revision: Revision,
    pub(super) transport: Transport,
    pub(super) server: Option<Value>,
    /// What could be listed.
    pub(super) lists: Vec<List>,
    pub(super) tools: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) templates: Vec<Value>,
    pub(super) prompts: Vec<Value>,
    /// Whether it completes arguments.
    pub(super) completes: bool,
    /// What it suggests for an argument, by prompt or template and argument.
    pub(super) suggested: BTreeMap<(String, String), Vec<String>>,
}

/// Asks for all of it.
pub(super) async fn survey(options: &Options) -> Result<Surveyed, ClientError> {
    let client = Client::connect(options.client.clone()).await?;
    let surveyed = asked(&client).await;
    client.close().await;
    surveyed
}

async fn asked(client: &Client) -> Result<Surveyed, ClientError> {
    let greeting = client.greeting();
    let mut surveyed = Surveyed {
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
        let mut items = match ask(client, Ask::List(list)).await {
            Ok(mut listed) => match listed[list.method().1].take() {
                Value::Array(items) => items,
                _ => Vec::new(),
            },
            // A server may have templates, or nothing declared at all, without having each method.
            Err(ClientError::Rpc { .. }) => continue,
            Err(error) => return Err(error),
        };
        items.retain(|item| item[name].is_string());
        items.sort_by(|a, b| a[name].as_str().cmp(&b[name].as_str()));
        surveyed.lists.push(list);
        *match list {
            List::Tools => &mut surveyed.tools,
            List::Resources => &mut surveyed.resources,
            List::Templates => &mut surveyed.templates,
            List::Prompts => &mut surveyed.prompts,
        } = items;
    }
    if surveyed.completes {
        surveyed.suggested = suggestions(client, &surveyed).await;
    }
    Ok(surveyed)
}

/// What the server suggests for each argument, as far as it says.
async fn suggestions(client: &Client, surveyed: &Surveyed) -> BTreeMap<(String, String), Vec<String>> {
    let mut suggested = BTreeMap::new();
    for (reference, owner, argument) in arguments(surveyed).into_iter().take(ASKED) {
        let params = Params::new().with("ref", reference).with("argument", json!({ "name": argument, "value": "" }));
        let Ok(answer) = client.request("completion/complete", &params).await else { continue };
        let values = answer.result().and_then(|result| result.pointer("/completion/values")?.as_array());
        let values: Vec<String> =
            values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).take(3).collect();
        suggested.insert((owner, argument), values);
    }
    suggested
}

/// Every argument that can be completed: what `ref` says, its name, and the argument's.
pub(super) fn arguments(surveyed: &Surveyed) -> Vec<(Value, String, String)> {
    let mut all = Vec::new();
    for prompt in &surveyed.prompts {
        let name = prompt["name"].as_str().unwrap_or_default();
        for argument in prompt["arguments"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()) {
            all.push((json!({ "type": "ref/prompt", "name": name }), name.to_owned(), argument.to_owned()));
        }
    }
    for template in surveyed.templates.iter().filter_map(|one| one["uriTemplate"].as_str()) {
        for variable in variables(template) {
            all.push((json!({ "type": "ref/resource", "uri": template }), template.to_owned(), variable));
        }
    }
    all
}

/// The variables of a URI template that are plain ones.
pub(super) fn variables(template: &str) -> Vec<String> {
    let expressions = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let named = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    expressions.map(|(name, _)| name.trim_start_matches('+').to_owned()).filter(|name| named(name)).collect()
}

/// The template with its variables filled; `None` where one is not plain or has no value.
pub(super) fn expanded(template: &str, values: &Map<String, Value>) -> Option<String> {
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
