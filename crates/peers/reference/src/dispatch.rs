//! Which handler answers which method, in which era. Knows no parameters and no results, but that what a server does not
//! declare it does not serve.

use net::service::{Call, Reply, RpcError};
use wire::Era;

use crate::catalogue::Kind;
use crate::{
    Server, answer, completion, conventions, discover, lifecycle, logging, order, prompts, resources, subscriptions,
    tasks, tools,
};

/// Answers one request.
pub(crate) fn call(server: &Server, call: Call) -> Reply {
    let method = call.message.method().unwrap_or_default();
    if !offers(server, &call, method) {
        return answer::error(call.id(), &RpcError::method_not_found(method)).into();
    }
    if let Err(refusal) = order::admit(server, &call) {
        return answer::error(call.id(), &refusal).into();
    }
    let result = match (call.context.era(), method) {
        (_, "tools/call") => return tools::call(server, call),
        (_, "prompts/get") => return prompts::get(server, call),
        (_, "resources/read") => return resources::read(server, call),
        (Era::Modern, "subscriptions/listen") => return subscriptions::listen(server, call),
        (Era::Legacy, "tasks/result") => return tasks::legacy::result(server, call),
        (Era::Modern, "server/discover") => discover::discover(server, &call),
        (Era::Legacy, "initialize") => lifecycle::initialize(server, &call),
        (Era::Legacy, "ping") => lifecycle::ping(&call),
        (Era::Legacy, "logging/setLevel") => logging::set_level(&call),
        (Era::Legacy, "resources/subscribe") => resources::subscribe(server, &call),
        (Era::Legacy, "resources/unsubscribe") => resources::unsubscribe(&call),
        (Era::Legacy, "tasks/get") => tasks::legacy::get(server, &call),
        (Era::Legacy, "tasks/list") => tasks::legacy::list(server, &call),
        (Era::Legacy, "tasks/cancel") => tasks::legacy::cancel(server, &call),
        (Era::Modern, "tasks/get") => tasks::modern::get(server, &call),
        (Era::Modern, "tasks/update") => tasks::modern::update(server, &call),
        (Era::Modern, "tasks/cancel") => tasks::modern::cancel(server, &call),
        (_, "tools/list") => tools::list(server, &call),
        (_, "resources/list") => resources::list(server, &call),
        (_, "resources/templates/list") => resources::templates(server, &call),
        (_, "prompts/list") => prompts::list(server, &call),
        (_, "completion/complete") => completion::complete(server, &call),
        (_, "models/list") => conventions::list_models(server, &call),
        (_, "models/select") => conventions::select_model(server, &call),
        (_, "metadata/get") => conventions::metadata(server, &call),
        (_, method) => Err(RpcError::method_not_found(method)),
    };
    answer::handled(server, &call, result).into()
}

/// Whether the server has anything that `method` is about.
fn offers(server: &Server, call: &Call, method: &str) -> bool {
    match method.split_once('/') {
        Some(("tools", _)) => server.has(Kind::Tool),
        Some(("resources", _)) => server.has(Kind::Resource),
        Some(("prompts", _)) => server.has(Kind::Prompt),
        Some(("completion", _)) => server.completes(),
        Some(("models", _)) => !server.catalogue().models.is_empty(),
        Some(("metadata", _)) => server.catalogue().metadata,
        Some(("tasks", _)) => tasks::offered(server, call.context.revision),
        _ => true,
    }
}
