//! Which handler answers which method, in which era. Knows no parameters and no results, but that what a server does not
//! declare it does not serve.

use net::service::{Call, Reply, RpcError};
use wire::Era;

use crate::catalogue::Kind;
use crate::{Server, answer, completion, discover, lifecycle, logging, prompts, resources, subscriptions, tools};

/// Answers one request.
pub(crate) fn call(server: &Server, call: Call) -> Reply {
    let method = call.message.method().unwrap_or_default();
    if !offers(server, method) {
        return answer::error(call.id(), &RpcError::method_not_found(method)).into();
    }
    let result = match (call.context.era(), method) {
        (_, "tools/call") => return tools::call(server, call),
        (_, "prompts/get") => return prompts::get(server, call),
        (_, "resources/read") => return resources::read(server, call),
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
        (_, "prompts/list") => prompts::list(server, &call),
        (_, "completion/complete") => completion::complete(server, &call),
        (_, method) => Err(RpcError::method_not_found(method)),
    };
    match result {
        Ok(body) => answer::complete(server, &call.context, call.id(), &body),
        Err(error) => answer::error(call.id(), &error),
    }
    .into()
}

/// Whether the catalogue has anything that `method` is about.
fn offers(server: &Server, method: &str) -> bool {
    let catalogue = server.catalogue();
    match method.split_once('/') {
        Some(("tools", _)) => catalogue.has(Kind::Tool),
        Some(("resources", _)) => catalogue.has(Kind::Resource),
        Some(("prompts", _)) => catalogue.has(Kind::Prompt),
        Some(("completion", _)) => catalogue.completes(),
        _ => true,
    }
}
