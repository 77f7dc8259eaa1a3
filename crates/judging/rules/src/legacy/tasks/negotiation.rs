//! "Capabilities", "Tool-Level Negotiation" and what follows from both for the answer to a call.

use serde_json::Value;
use wire::Party;
use wire::error_code::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use wire::revision::{R2025_11_25, R2026_07_28};

use super::{CALLS, Twins, here, is_failure, judgeable_calls};
use crate::reading::tasks::{creations, task_params};
use crate::rule::{Rule, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::{self, TOOLS};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View, declared};

/// The sections' rules, in their own order.
pub(crate) const RULES: &[Rule] = &[
    server("tasks.capability-declared")
        .says(R2025_11_25, here("capabilities"), "A server that runs requests as tasks MUST declare the `tasks` capability.")
        .gone(R2026_07_28)
        .how("Looks for calls that became tasks, and for `tasks` among the declared capabilities.")
        .fix("Declare `tasks.requests.tools.call`, or leave `task` in a request alone.")
        .judge(|view| listing::capability(view, "tasks", creations(view).into_iter().map(|creation| creation.sent))),
    server("tasks.augments-only-declared")
        .says(
            R2025_11_25,
            here("capability-negotiation"),
            "A server SHOULD ask for a task only where the client declared tasks for that request.",
        )
        .gone(R2026_07_28)
        .how("Looks for `task` in requests to sample and to elicit, and for `tasks.requests` among what the client declared.")
        .fix("Read the client's `tasks.requests` before adding `task` to a request.")
        .judge(augments),
    server("tasks.forbidden-refused")
        .says(
            R2025_11_25,
            here("tool-level-negotiation"),
            "A call as a task of a tool that does not run as one SHOULD be answered with the error -32601.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Calls a tool as a task whose `execution.taskSupport` is absent or `forbidden`. An error of another code counts \
              where the same call without `task` was served.")
        .fix("Compare `task` in the request with the tool's own `taskSupport` and answer -32601.")
        .judge(forbidden),
    server("tasks.optional-either-way")
        .says(
            R2025_11_25,
            here("tool-level-negotiation"),
            "A tool whose `taskSupport` is `optional` MAY be called either way, and as a task for any time or none.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Looks for calls of such a tool that are refused with -32601, and for calls as a task, with and without `ttl`, \
              that are refused as malformed.")
        .fix("Serve both kinds of call, or say `required` or `forbidden`.")
        .judge(optional),
    server("tasks.required-enforced")
        .says(
            R2025_11_25,
            here("tool-level-negotiation"),
            "A plain call of a tool that only runs as a task MUST be answered with the error -32601.",
        )
        .gone(R2026_07_28)
        .needs(CALLS)
        .how("Calls a tool whose `execution.taskSupport` is `required` without `task`. A tool's error and other codes count \
              where the same call was accepted as a task; -32600 is accepted, since the page allows it elsewhere.")
        .fix("Refuse the call before the tool sees it: a JSON-RPC error -32601, not a result with `isError`.")
        .judge(required),
    server("tasks.unsupported-ignored")
        .says(
            R2025_11_25,
            here("task-support-and-handling"),
            "A request of a type without declared task support MUST be processed normally, whatever its `task` says.",
        )
        .gone(R2026_07_28)
        .how("Repeats a request that is served with an additional `task` parameter, where `tasks.requests` does not \
              list its method.")
        .fix("Ignore `task` in requests of types that you do not declare.")
        .judge(unsupported),
];

/// The capability by which a client says that it runs requests of this method as tasks.
pub(super) fn clients_path(sent: &MessageAt<'_>) -> Option<&'static str> {
    match sent.message.method()? {
        "sampling/createMessage" => Some("tasks.requests.sampling.createMessage"),
        "elicitation/create" => Some("tasks.requests.elicitation.create"),
        _ => None,
    }
}

fn augments(view: &View<'_>) -> Verdict {
    let own = view.calls_by(Party::Server).filter_map(|call| {
        let path = clients_path(&call.request)?;
        let can = declared(view.client_capabilities(call.request)?, path).is_some();
        let asks = task_params(&call).is_some();
        let why = || format!("asks for a task; the client does not declare `{path}`");
        (asks || !can).then(|| {
            let kept: Kept = if asks && !can { Err(call.request.breach("/params/task", why())) } else { Ok(()) };
            (call.request.event, kept)
        })
    });
    Verdict::of(own.collect::<Vec<_>>(), "the server made no request that could have been a task")
}

/// What a listed tool says of tasks; `None` where the trace does not list it, or lists it in two ways.
pub(super) fn support<'v>(tools: &Catalogue<'v>, call: &Call<'v>) -> Option<&'v str> {
    let tool = tools.definition(call.request.message.params()?.get("name")?.as_str()?)?;
    Some(tool.pointer("/execution/taskSupport").and_then(Value::as_str).unwrap_or("forbidden"))
}

/// Calls of listed tools with what the tool says of tasks.
fn supported<'v>(view: &View<'v>) -> Vec<(Call<'v>, MessageAt<'v>, &'v str)> {
    let tools = Catalogue::of(view, &TOOLS);
    judgeable_calls(view).into_iter().filter_map(|call| Some((call, call.response?, support(&tools, &call)?))).collect()
}

fn forbidden(view: &View<'_>) -> Verdict {
    let plain = Twins::plain(view);
    let calls =
        supported(view).into_iter().filter(|(call, _, says)| task_params(call).is_some() && *says == "forbidden");
    let judged = calls.filter_map(|(call, response, _)| {
        let kept: Kept = match call.error_code() {
            Some(METHOD_NOT_FOUND) => Ok(()),
            None => Err(response.breach("/result", "the tool does not run as a task; the call is served anyway")),
            Some(code) if plain.served(&call) => {
                Err(response.breach("/error/code", format!("the tool does not run as a task: {code}, expected -32601")))
            }
            Some(_) => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no tool that does not run as a task was called as one")
}

fn optional(view: &View<'_>) -> Verdict {
    let calls = supported(view).into_iter().filter(|(_, _, says)| *says == "optional");
    let judged = calls.filter_map(|(call, response, _)| {
        let as_task = task_params(&call).is_some();
        let why =
            || format!("the tool says `optional`; a call {} a task is refused", if as_task { "as" } else { "without" });
        let kept: Kept = match call.error_code() {
            None => Ok(()),
            Some(METHOD_NOT_FOUND) => Err(response.breach("/error/code", why())),
            Some(INVALID_REQUEST) if as_task => Err(response.breach("/error/code", why())),
            Some(_) => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no tool was called that says `optional`")
}

fn required(view: &View<'_>) -> Verdict {
    let tasks = Twins::tasks(view);
    let calls =
        supported(view).into_iter().filter(|(call, _, says)| task_params(call).is_none() && *says == "required");
    let judged = calls.filter_map(|(call, response, _)| {
        let accepted = !tasks.of(&call).is_empty();
        let kept: Kept = match (call.error_code(), call.result()) {
            (Some(METHOD_NOT_FOUND), _) => Ok(()),
            (Some(INVALID_REQUEST), _) => return None,
            (None, Some(result)) if accepted || !is_failure(result) => {
                Err(response.breach("/result", "the tool only runs as a task; a plain call is answered with a result"))
            }
            (Some(code), _) if accepted => {
                Err(response.breach("/error/code", format!("the tool only runs as a task: {code}, expected -32601")))
            }
            _ => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no tool that only runs as a task was called without one")
}

fn unsupported(view: &View<'_>) -> Verdict {
    let Some(capabilities) = view.server_capabilities() else {
        return Verdict::NotSeen("what the server declares is not known here".to_owned());
    };
    let calls: Vec<_> = view.all_calls().filter(|c| view.is_current(c.request) && view.judges_content(c)).collect();
    let served =
        |call: &&Call<'_>| task_params(call).is_none() && call.result().is_some_and(|result| !is_failure(result));
    let served: std::collections::BTreeSet<String> =
        calls.iter().filter(served).map(|call| call.request.message.content_key(&["task", "_meta"])).collect();
    let outside = |call: &&Call<'_>| {
        let method = call.request.message.method().unwrap_or_default();
        let path = format!("tasks.requests.{}", method.replace('/', "."));
        task_params(call).is_some() && !method.starts_with("tasks/") && declared(capabilities, &path).is_none()
    };
    let judged = calls
        .iter()
        .filter(outside)
        .filter(|call| served.contains(&call.request.message.content_key(&["task", "_meta"])))
        .filter_map(|call| {
            let response = call.response?;
            let kept: Kept =
                match (call.error_code(), call.result()) {
                    (Some(INVALID_PARAMS..=INVALID_REQUEST), _) => {
                        Err(response.breach("/error", "refused for a `task`; without it it is served"))
                    }
                    (None, Some(result)) if result.pointer("/task/taskId").is_some() => Err(response
                        .breach("/result/task", "becomes a task, though the server does not declare that it can")),
                    (None, Some(_)) => Ok(()),
                    _ => return None,
                };
            Some((response.event, kept))
        });
    Verdict::of(judged, "no request of a type without tasks asked for one and was served without")
}
