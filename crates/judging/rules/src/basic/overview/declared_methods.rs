//! What a server declares it serves: a method of a declared capability is not refused as unknown.

use serde_json::Value;
use wire::error_code::METHOD_NOT_FOUND;
use wire::method::{self, End};
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Era, Kind};

use crate::rule::{Rule, at, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::{PROMPTS, RESOURCES, TOOLS};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View, declared};

const TEXT: &str = "The methods of a capability that a server declares SHOULD be available.";

/// The rules.
pub(crate) const RULES: &[Rule] = &[server("errors.declared-methods-known")
    .says(R2024_11_05, at("basic/lifecycle", "capability-negotiation"), TEXT)
    .says(R2026_07_28, at("server/discover", "discoverresult"), TEXT)
    .how("Looks for -32601 in answers to methods of declared capabilities: lists, and requests that name a tool, prompt or resource which the server lists. Resource templates, completions, log levels and tools that run as tasks are left to their own pages.")
    .fix("Serve the method, or do not declare the capability.")
    .judge(declared_known)];

/// What the server lists, by the method that asks for one of them.
struct Offers<'v> {
    tools: Catalogue<'v>,
    prompts: Catalogue<'v>,
    resources: Catalogue<'v>,
}

impl<'v> Offers<'v> {
    fn of(view: &View<'v>) -> Self {
        let of = |list| Catalogue::of(view, list);
        Self { tools: of(&TOOLS), prompts: of(&PROMPTS), resources: of(&RESOURCES) }
    }

    /// Whether only an unknown method explains -32601 in answer to a request.
    fn is_plain(&self, view: &View<'v>, call: &Call<'v>) -> bool {
        let params = call.request.message.params();
        let named = |member: &str| params.and_then(|p| p.get(member)?.as_str());
        let is_task = params.is_some_and(|p| p.get("task").is_some());
        match call.request.message.method().unwrap_or_default() {
            // Since 2026-07-28 the lists have rules of their own.
            "tools/list" | "prompts/list" | "resources/list" => view.era() == Era::Legacy,
            "tools/call" => {
                let tool = named("name").and_then(|name| self.tools.definition(name));
                // A server that reads params and method as one type finds no method for params that do not fit.
                let well_formed = params.and_then(|p| p.get("arguments")).is_none_or(Value::is_object);
                !is_task && well_formed && tool.is_some_and(|tool: &Value| tool.get("execution").is_none())
            }
            "prompts/get" => named("name").is_some_and(|name| self.prompts.definition(name).is_some()),
            "resources/read" | "resources/subscribe" => {
                named("uri").is_some_and(|uri| self.resources.definition(uri).is_some())
            }
            _ => false,
        }
    }
}

fn declared_known(view: &View<'_>) -> Verdict {
    let Some(capabilities) = view.server_capabilities() else {
        return Verdict::NotSeen("what the server declares is not known here".to_owned());
    };
    let offers = Offers::of(view);
    let is_declared = |call: &Call<'_>| {
        let row = call.request.message.method().and_then(|name| method::find(name, view.revision()));
        let needs = row.and_then(|row| row.capability_at(view.revision()));
        matches!(needs, Some((End::Receiver, path)) if declared(capabilities, path).is_some())
    };
    let calls = view.all_calls().filter(|call| {
        view.is_current(call.request) && is_declared(call) && view.judges_content(call) && offers.is_plain(view, call)
    });
    let judged = calls.filter_map(|call| {
        let response = call.response?;
        let kept: Kept = match call.error_code() {
            Some(METHOD_NOT_FOUND) => {
                let name = call.request.message.method().unwrap_or_default().escape_debug();
                let why = format!("`{name}` is refused as unknown, though its capability is declared");
                Err(response.breach("/error/code", why))
            }
            _ if response.message.kind() == Kind::Result => Ok(()),
            _ => return None,
        };
        Some((response.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no method of a declared capability was asked for plainly")
}
