//! Which handler answers which method, in which era. Knows no parameters and no results.

use net::service::{Call, Reply, RpcError};
use wire::Era;

use crate::{Server, answer, completion, discover, lifecycle, logging, prompts, resources, subscriptions, tools};

/// Answers one request.
pub(crate) fn call(server: &Server, call: Call) -> Reply {
    let result = match (call.context.era(), call.message.method().unwrap_or_default()) {
        (_, "tools/call") => return tools::call(server, call),
        (Era::Modern, "subscriptions/listen") => return subscriptions::listen(server, call),
        (Era::Modern, "server/discover") => discover::discover(server, &call),
        (Era::Legacy, "initialize") => lifecycle::initialize(server, &call),
        (Era::Legacy, "ping") => lifecycle::ping(&call),
        (Era::Legacy, "logging/setLevel") => logging::set_level(&call),
        (Era::Legacy, "resources/subscribe") => resources::subscribe(server, &call),
        (Era::Legacy, "resources/unsubscribe") => resources::unsubscribe(&call),
        (_, "tools/list") => tools::list(server, &call),
        (_, "resources/list") => resources::list(server, &call),
        (_, "resources/templates/list") => resources::templates(server, &call),
        (_, "resources/read") => resources::read(server, &call),
        (_, "prompts/list") => prompts::list(server, &call),
        (_, "prompts/get") => prompts::get(server, &call),
        (_, "completion/complete") => completion::complete(&call),
        (_, method) => Err(RpcError::method_not_found(method)),
    };
    match result {
        Ok(body) => answer::complete(&call.context, call.id(), &body),
        Err(error) => answer::error(call.id(), &error),
    }
    .into()
}
