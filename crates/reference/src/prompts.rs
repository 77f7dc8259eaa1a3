//! Prompts (server/prompts).

use std::collections::BTreeMap;

use net::service::{Call, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Revision;
use wire::revision::R2025_06_18;

use crate::answer::{Handled, cacheable};
use crate::resources::PNG;
use crate::{Server, pagination, params};

type Arguments = BTreeMap<String, String>;

struct Argument {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    required: bool,
}

struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    messages: fn(&Server, &Arguments) -> Result<Value, RpcError>,
}

const EXTRA: &str = "extra_prompt";

const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "code_review",
        title: "Code review",
        description: "Asks for a review of some code",
        arguments: &[
            Argument { name: "code", title: "Code", description: "The code to review", required: true },
            Argument { name: "language", title: "Language", description: "The language it is in", required: false },
        ],
        messages: |_, arguments| Ok(code_review(arguments)),
    },
    Prompt {
        name: "describe_image",
        title: "Describe an image",
        description: "Asks what an image shows",
        arguments: &[],
        messages: |_, _| Ok(describe_image()),
    },
    Prompt {
        name: "summarize_resource",
        title: "Summarize a resource",
        description: "Asks for a summary of a resource of this server",
        arguments: &[Argument { name: "uri", title: "URI", description: "Which resource", required: true }],
        messages: summarize_resource,
    },
    Prompt {
        name: EXTRA,
        title: "Extra",
        description: "Comes and goes with the tool `toggle_prompt`",
        arguments: &[],
        messages: |_, _| Ok(json!([{ "role": "user", "content": text("I was toggled on.") }])),
    },
];

fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

fn code_review(arguments: &Arguments) -> Value {
    let code = arguments.get("code").map_or("", String::as_str);
    let language = arguments.get("language").map(|language| format!(" {language}")).unwrap_or_default();
    let request = format!("Please review this{language} code:\n\n{code}");
    json!([{ "role": "user", "content": text(request) }])
}

fn describe_image() -> Value {
    json!([
        { "role": "user", "content": { "type": "image", "data": PNG, "mimeType": "image/png" } },
        { "role": "user", "content": text("What does this image show?") },
    ])
}

fn summarize_resource(server: &Server, arguments: &Arguments) -> Result<Value, RpcError> {
    let uri = arguments.get("uri").map_or("", String::as_str);
    let contents = server.state().shelf.contents(uri);
    let resource = contents.ok_or_else(|| RpcError::invalid_params("Invalid params: `uri` names no resource"))?;
    Ok(json!([
        { "role": "user", "content": text("Please summarize this resource.") },
        { "role": "user", "content": { "type": "resource", "resource": resource } },
    ]))
}

fn available(server: &Server) -> impl Iterator<Item = &'static Prompt> {
    let extra = server.state().toolbox.has_extra_prompt();
    PROMPTS.iter().filter(move |prompt| extra || prompt.name != EXTRA)
}

/// Whether `prompt` takes an argument of that name; `None` where there is no such prompt.
pub(crate) fn has_argument(prompt: &str, argument: &str) -> Option<bool> {
    let prompt = PROMPTS.iter().find(|known| known.name == prompt)?;
    Some(prompt.arguments.iter().any(|known| known.name == argument))
}

fn describe(prompt: &Prompt, revision: Revision) -> Value {
    let titled = revision.at_least(R2025_06_18);
    let mut value = json!({ "name": prompt.name, "description": prompt.description });
    let arguments: Vec<Value> = prompt
        .arguments
        .iter()
        .map(|argument| {
            let mut value = json!({
                "name": argument.name,
                "description": argument.description,
                "required": argument.required,
            });
            if titled {
                value["title"] = json!(argument.title);
            }
            value
        })
        .collect();
    if titled {
        value["title"] = json!(prompt.title);
    }
    if !arguments.is_empty() {
        value["arguments"] = json!(arguments);
    }
    value
}

/// `prompts/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let items = available(server).map(|prompt| describe(prompt, call.context.revision)).collect();
    let body = pagination::page(call, "prompts", items, server.state().options.items_per_page)?;
    Ok(cacheable(server, call, body))
}

#[derive(Deserialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Arguments,
}

/// `prompts/get`
pub(crate) fn get(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let Params { name, arguments } = params::read(call)?;
    let prompt = available(server)
        .find(|prompt| prompt.name == name)
        .ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: {}", name.escape_debug())))?;
    if let Some(missing) = prompt.arguments.iter().find(|a| a.required && !arguments.contains_key(a.name)) {
        return Err(RpcError::invalid_params(format!("Invalid params: argument `{}` is missing", missing.name)));
    }
    let messages = (prompt.messages)(server, &arguments)?;
    Ok(json!({ "description": prompt.description, "messages": messages }))
}
