//! `tools/call`: from the request to the tool.

use std::time::Duration;

use net::service::{Call, Reply, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::Era;
use wire::revision::R2025_11_25;
use wire::serf::{Category, Details};

use super::headers;
use crate::asking::ask_by_result;
use crate::catalogue::{Invocation, Outcome, Output, Run, Tool};
use crate::offers::Offer;
use crate::tasks::Plan;
use crate::{Server, answer, params, tasks};

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
    #[serde(default)]
    task: Option<Value>,
}

/// Answers `tools/call`.
pub(crate) fn call(server: &Server, call: Call) -> Reply {
    let Ready { tool, arguments, params, faults, plan } = match prepare(server, &call) {
        Ok(ready) => ready,
        Err(error) => return answer::error(call.id(), &error).into(),
    };
    let invocation = Invocation {
        progress_token: params.meta.and_then(|meta| meta.progress_token),
        input_responses: params.input_responses,
        request_state: params.request_state,
        answers: Vec::new(),
        task: None,
        arguments,
        call,
    };
    match (plan, faults) {
        (Plan::Task(ttl), None) => as_task(server, tool, &tool.run, invocation, ttl),
        // Whoever asked for a task gets one, though it is over at once.
        (Plan::Task(ttl), Some(faults)) if invocation.call.context.era() == Era::Legacy => {
            let run = Run::now(move |_, _| Outcome::failure(Category::InvalidInput, faults.clone()));
            as_task(server, tool, &run, invocation, ttl)
        }
        (_, Some(faults)) => {
            let Invocation { call, .. } = invocation;
            answer::outcome(server, &call.context, call.id(), Outcome::failure(Category::InvalidInput, faults)).into()
        }
        (Plan::Call, None) => answer::reply(server, &tool.run, invocation),
    }
}

/// Begins a task, once the client has answered what it is asked first.
fn as_task(server: &Server, tool: &Tool, run: &Run<Output>, mut invocation: Invocation, ttl: Duration) -> Reply {
    let context = invocation.call.context.clone();
    let id = invocation.call.id().clone();
    if context.era() == Era::Modern && !tool.asks_first.is_empty() {
        match ask_by_result(server, &invocation, std::slice::from_ref(&tool.asks_first)) {
            Ok(answers) => invocation.answers = answers,
            Err(unanswered) => {
                let unanswered: Outcome = unanswered.into();
                return answer::outcome(server, &context, &id, unanswered).into();
            }
        }
    }
    match (tasks::begin(server, run, invocation, ttl), context.era()) {
        (Ok(task), Era::Legacy) => answer::complete(server, &context, &id, &tasks::legacy::created(&task)),
        (Ok(task), Era::Modern) => answer::task(server, &context, &id, &tasks::modern::created(&task)),
        (Err(error), _) => answer::error(&id, &error),
    }
    .into()
}

struct Ready<'a> {
    tool: &'a Tool,
    arguments: Value,
    params: Params,
    /// What is wrong with the arguments, for a model to see.
    faults: Option<String>,
    plan: Plan,
}

/// Finds the tool and checks everything that can be wrong with a call before it runs.
fn prepare<'a>(server: &'a Server, call: &Call) -> Result<Ready<'a>, RpcError> {
    let mut params: Params = params::read(call)?;
    params.meta = params.meta.map(params::Meta::checked).transpose()?;
    let Offer { catalogue, toolbox, .. } = server.offer();
    let revision = call.context.revision;
    let index = toolbox
        .find(server, catalogue, &params.name, revision)
        .ok_or_else(|| RpcError::invalid_params(format!("Unknown tool: {}", params.name.escape_debug())))
        .map_err(|error| with_details(error, Category::ResourceNotFound))?;
    let tool = &catalogue.tools[index];
    let compiled = toolbox.compiled(index, tool)?;
    let arguments = Value::Object(std::mem::take(&mut params.arguments));
    headers::check(&compiled.mirrored, call, &arguments)?;
    let plan = tasks::plan(server, tool, call, params.task.as_ref())?;
    let faults = compiled.faults(&arguments);
    if faults.is_empty() {
        return Ok(Ready { tool, arguments, params, faults: None, plan });
    }
    let text = format!("Invalid arguments for `{}`: {}", tool.name, faults.join("; "));
    // Since 2025-11-25 a model is to see what was wrong and try again (server/tools#error-handling).
    if revision.at_least(R2025_11_25) {
        Ok(Ready { tool, arguments, params, faults: Some(text), plan })
    } else {
        Err(with_details(RpcError::invalid_params(text), Category::InvalidInput))
    }
}

/// What kind of error it is, in `data`, which the specification leaves free here.
fn with_details(error: RpcError, category: Category) -> RpcError {
    error.with_data(Value::Object(Details::new(category, category.advice()).members()))
}
