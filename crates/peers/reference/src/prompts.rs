//! The methods of prompts over any catalogue (server/prompts).

use std::collections::BTreeMap;

use net::service::{Call, Reply, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::Revision;

use crate::answer::{self, Handled, cacheable};
use crate::catalogue::{Argument, Invocation, Kind, Prompt};
use crate::{Server, pagination, params};

/// The prompts there are now, as `revision` may see them.
pub(crate) fn available(server: &Server, revision: Revision) -> impl Iterator<Item = &Prompt> {
    let there = |prompt: &&Prompt| server.is_there(prompt.comes_and_goes, Kind::Prompt, &prompt.name);
    server.catalogue().prompts.iter().filter(move |prompt| revision.at_least(prompt.since)).filter(there)
}

/// `prompts/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let revision = call.context.revision;
    let size = server.state().options.items_per_page;
    let items = available(server, revision);
    let body = pagination::page(call, "prompts", items, |prompt| prompt.describe(revision), size)?;
    Ok(cacheable(server, call, body))
}

#[derive(Deserialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
    #[serde(default, rename = "inputResponses")]
    input_responses: Option<Map<String, Value>>,
    #[serde(default, rename = "requestState")]
    request_state: Option<String>,
}

/// `prompts/get`
pub(crate) fn get(server: &Server, call: Call) -> Reply {
    let (prompt, meta, params) = match prepare(server, &call) {
        Ok(ready) => ready,
        Err(error) => return answer::error(call.id(), &error).into(),
    };
    let invocation = Invocation {
        answers: Vec::new(),
        task: None,
        arguments: json!(params.arguments),
        progress_token: meta.progress_token,
        input_responses: params.input_responses,
        request_state: params.request_state,
        call,
    };
    answer::reply(server, &prompt.run, invocation)
}

/// Finds the prompt and checks everything that can be wrong with a request before it is filled in.
fn prepare<'a>(server: &'a Server, call: &Call) -> Result<(&'a Prompt, params::Meta, Params), RpcError> {
    let meta = params::meta(call)?;
    let params: Params = params::read(call)?;
    let prompt = available(server, call.context.revision)
        .find(|prompt| prompt.name == params.name)
        .ok_or_else(|| RpcError::invalid_params(format!("Unknown prompt: {}", params.name.escape_debug())))?;
    let missing = |argument: &&Argument| argument.required && !params.arguments.contains_key(argument.name.as_ref());
    match prompt.arguments.iter().find(missing) {
        Some(missing) => {
            Err(RpcError::invalid_params(format!("Invalid params: argument `{}` is missing", missing.name)))
        }
        None => Ok((prompt, meta, params)),
    }
}
