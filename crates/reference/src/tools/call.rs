//! `tools/call`: from the request to the tool.

use net::service::{Call, Reply, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::revision::R2025_11_25;

use super::headers;
use crate::catalogue::{Invocation, Outcome, Tool};
use crate::{Server, answer, params};

#[derive(Deserialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default, rename = "_meta")]
    meta: Option<params::Meta>,
    #[serde(default, rename = "inputResponses")]
    input_responses: Option<Map<String, Value>>,
    #[serde(default, rename = "requestState")]
    request_state: Option<String>,
}

/// Answers `tools/call`.
pub(crate) fn call(server: &Server, call: Call) -> Reply {
    let Ready { tool, arguments, params } = match prepare(server, &call) {
        Ok(ready) => ready,
        Err(outcome) => return answer::outcome(server, &call.context, call.id(), *outcome).into(),
    };
    let invocation = Invocation {
        progress_token: params.meta.and_then(|meta| meta.progress_token),
        input_responses: params.input_responses,
        request_state: params.request_state,
        arguments,
        call,
    };
    answer::reply(server, &tool.run, invocation)
}

struct Ready<'a> {
    tool: &'a Tool,
    arguments: Value,
    params: Params,
}

/// Finds the tool and checks everything that can be wrong with a call before it runs.
fn prepare<'a>(server: &'a Server, call: &Call) -> Result<Ready<'a>, Box<Outcome>> {
    let refused = |error| Box::new(Outcome::Refused(error));
    let mut params: Params = params::read(call).map_err(refused)?;
    params.meta = params.meta.map(params::Meta::checked).transpose().map_err(refused)?;
    let toolbox = &server.state().toolbox;
    let revision = call.context.revision;
    let index = toolbox
        .find(server, &params.name, revision)
        .ok_or_else(|| refused(RpcError::invalid_params(format!("Unknown tool: {}", params.name.escape_debug()))))?;
    let tool = &server.catalogue().tools[index];
    let compiled = toolbox.compiled(index, tool).map_err(refused)?;
    let arguments = Value::Object(std::mem::take(&mut params.arguments));
    headers::check(&compiled.mirrored, call, &arguments).map_err(refused)?;
    let faults = compiled.faults(&arguments);
    if faults.is_empty() {
        return Ok(Ready { tool, arguments, params });
    }
    let text = format!("Invalid arguments for `{}`: {}", tool.name, faults.join("; "));
    // Since 2025-11-25 a model is to see what was wrong and try again (server/tools#error-handling).
    Err(Box::new(if revision.at_least(R2025_11_25) {
        Outcome::failure(text)
    } else {
        Outcome::Refused(RpcError::invalid_params(text))
    }))
}
