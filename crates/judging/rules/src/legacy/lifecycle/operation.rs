//! The page `basic/lifecycle`, section "Operation": the agreed version, and only what was negotiated.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::method::{self, End};
use wire::revision::{R2024_11_05, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Kind, Party, Revision};

use crate::reading::questions;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View, Window, declared};

const OPERATION: Anchor = at("basic/lifecycle", "operation");

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    server("lifecycle.version-respected")
        .says(R2024_11_05, OPERATION, "The server SHOULD respect the agreed version: it uses nothing of another one.")
        .says(R2025_06_18, OPERATION, "The server MUST respect the agreed version: it uses nothing of another one.")
        .gone(R2026_07_28)
        .how("Looks up the method of every request and notification of the server in the agreed revision, and calls a tool as a task where that revision has no tasks.")
        .fix("Look at the agreed version before you send what only later revisions define.")
        .judge(version_respected),
    server("lifecycle.sampling-negotiated")
        .says(R2024_11_05, OPERATION, "The server SHOULD ask for sampling only where the client declared it.")
        .says(R2025_06_18, OPERATION, "The server MUST ask for sampling only where the client declared it.")
        .gone(R2026_07_28)
        .how("Compares every `sampling/createMessage` with the client's declaration.")
        .fix("Look for `sampling` in the client's capabilities before asking.")
        .judge(sampling_negotiated),
    server("lifecycle.roots-negotiated")
        .says(R2024_11_05, OPERATION, "The server SHOULD ask for roots only where the client declared them.")
        .says(R2025_06_18, OPERATION, "The server MUST ask for roots only where the client declared them.")
        .gone(R2026_07_28)
        .how("Compares every `roots/list` with the client's declaration.")
        .fix("Look for `roots` in the client's capabilities before asking.")
        .judge(roots_negotiated),
    server("lifecycle.elicitation-negotiated")
        .says(R2025_06_18, OPERATION, "The server MUST ask for elicitation only where the client declared it.")
        .gone(R2026_07_28)
        .how("Compares every `elicitation/create`, and its mode, with the client's declaration.")
        .fix("Look for `elicitation` (and `form` or `url` in it) in the client's capabilities before asking.")
        .judge(elicitation_negotiated),
    server("lifecycle.list-changes-negotiated")
        .says(R2024_11_05, OPERATION, "The server SHOULD announce changed lists only where it declared `listChanged`.")
        .says(R2025_06_18, OPERATION, "The server MUST announce changed lists only where it declared `listChanged`.")
        .gone(R2026_07_28)
        .how("Compares every `list_changed` notification with the server's declaration.")
        .fix("Declare `listChanged: true` on the capability, or do not send the notification.")
        .judge(list_changes_negotiated),
    server("lifecycle.updates-negotiated")
        .says(
            R2024_11_05,
            OPERATION,
            "The server SHOULD announce updated resources only where it declared `resources.subscribe`.",
        )
        .says(
            R2025_06_18,
            OPERATION,
            "The server MUST announce updated resources only where it declared `resources.subscribe`.",
        )
        .gone(R2026_07_28)
        .how("Compares every `notifications/resources/updated` with the server's declaration.")
        .fix("Declare `subscribe: true` under `resources`, or do not send the notification.")
        .judge(updates_negotiated),
    server("lifecycle.logging-negotiated")
        .says(R2024_11_05, OPERATION, "The server SHOULD send log messages only where it declared `logging`.")
        .says(R2025_06_18, OPERATION, "The server MUST send log messages only where it declared `logging`.")
        .gone(R2026_07_28)
        .how("Compares every `notifications/message` with the server's declaration. Where this is but a SHOULD, messages without one are left to `logging.capability-declared`, which is a MUST.")
        .fix("Declare the capability `logging`, or log to stderr instead.")
        .judge(logging_negotiated),
];

/// Requests and notifications of the server on connections whose handshake the trace shows, with the agreed version.
fn sent<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, Revision)> {
    let spoken = view.by(Party::Server).filter(|s| matches!(s.message.kind(), Kind::Request | Kind::Notification));
    spoken.filter_map(|s| Some((s, agreed(view, s.connection)?))).collect()
}

fn agreed(view: &View<'_>, connection: u32) -> Option<Revision> {
    view.handshake(connection)?.result()?.get("protocolVersion")?.as_str()?.parse().ok()
}

fn version_respected(view: &View<'_>) -> Verdict {
    let known = sent(view).into_iter().filter(|(s, _)| s.message.method().is_some_and(method::known_ever));
    let methods = known.map(|(sent, agreed)| {
        let name = sent.message.method().unwrap_or_default();
        let breach = || {
            let why = format!("`{}` is not in {agreed}, the version that was agreed on", name.escape_debug());
            sent.breach("/method", why)
        };
        (sent.event, if method::find(name, agreed).is_some() { Ok(()) } else { Err(breach()) })
    });
    let judged: Vec<(usize, Kept)> = methods.chain(early_tasks(view)).collect();
    Verdict::of(judged, "the server sent no request or notification of its own after a handshake")
}

/// Calls that became tasks, though the agreed version has none.
fn early_tasks(view: &View<'_>) -> Vec<(usize, Kept)> {
    let task = |call: Call<'_>| {
        let (response, result) = (call.response?, call.result()?);
        let agreed = agreed(view, call.request.connection).filter(|agreed| !agreed.at_least(R2025_11_25))?;
        let created = result.get("content").is_none() && result.pointer("/task/taskId").is_some();
        let why = format!("a task, and {agreed}, the version that was agreed on, has none");
        created.then(|| (response.event, Err(response.breach("/result/task", why))))
    };
    view.calls_by(Party::Client).filter(|call| call.request.is("tools/call")).filter_map(task).collect()
}

fn sampling_negotiated(view: &View<'_>) -> Verdict {
    only_if_declared(view, "sampling/createMessage")
}

fn roots_negotiated(view: &View<'_>) -> Verdict {
    only_if_declared(view, "roots/list")
}

fn elicitation_negotiated(view: &View<'_>) -> Verdict {
    only_if_declared(view, "elicitation/create")
}

/// Requests of `method` against what the client declared in the handshake of their connection. Where it declared
/// nothing, tools that were called and answered anyway are witnesses: they could have asked.
fn only_if_declared(view: &View<'_>, method: &str) -> Verdict {
    let capabilities = |connection: u32| view.handshake(connection)?.request.message.params()?.get("capabilities");
    let lacking = |s: &MessageAt<'_>| questions::lacking(capabilities(s.connection)?, method, s.message.params());
    let requested: Vec<_> = sent(view)
        .into_iter()
        .map(|(s, _)| s)
        .filter(|s| s.is(method) && capabilities(s.connection).is_some())
        .collect();
    let breaches = requested.iter().filter_map(|s| {
        Some(s.breach("/method", format!("`{method}`, though the client did not declare `{}`", lacking(s)?)))
    });
    let requested = requested.iter().map(|s| s.event);
    let called = view.calls("tools/call").filter(|c| {
        let undeclared =
            capabilities(c.request.connection).is_some_and(|own| questions::lacking(own, method, None).is_some());
        undeclared && c.result().is_some()
    });
    let unasked = called.filter_map(|c| c.response).map(|r| r.event);
    Verdict::never(
        breaches,
        requested.chain(unasked),
        format!("`{method}` was not asked for, and no tool was called that could have asked"),
    )
}

fn list_changes_negotiated(view: &View<'_>) -> Verdict {
    announced_only(view, |name| name.ends_with("/list_changed"), &["tools/call"])
}

fn updates_negotiated(view: &View<'_>) -> Verdict {
    announced_only(view, |name| name == "notifications/resources/updated", &["tools/call", "resources/subscribe"])
}

fn logging_negotiated(view: &View<'_>) -> Verdict {
    let undeclared = view.server_capabilities().is_some_and(|own| declared(own, "logging").is_none());
    let logs = || view.notifications("notifications/message").next().is_some();
    if !view.revision().at_least(R2025_06_18) && undeclared && logs() {
        return Verdict::NotSeen("`logging.capability-declared` judges it here".to_owned());
    }
    announced_only(view, |name| name == "notifications/message", &["tools/call", "resources/read", "prompts/get"])
}

/// Notifications that take a capability of the server's own, against what it declared on their connection. Quiet windows
/// without any are witnesses, too, after a request of `causes` was served: nothing else gives a reason for one.
fn announced_only(view: &View<'_>, concerns: impl Fn(&str) -> bool, causes: &[&str]) -> Verdict {
    let of = |connection: u32| -> Option<&Value> { view.handshake(connection)?.result()?.get("capabilities") };
    let announced: Vec<_> = sent(view)
        .into_iter()
        .filter_map(|(sent, agreed)| {
            let name = sent.message.method().filter(|m| concerns(m))?;
            let (End::Sender, path) = method::find(name, agreed)?.capability_at(agreed)? else { return None };
            Some((sent, path, of(sent.connection)?))
        })
        .collect();
    let breaches: Vec<Breach> = announced
        .iter()
        .filter(|(_, path, own)| declared(own, path).is_none())
        .map(|(sent, path, _)| sent.breach("/method", format!("the server did not declare `{path}`")))
        .collect();
    let served = causes.iter().flat_map(|method| view.calls(method)).filter(|call| call.result().is_some());
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    for call in served {
        let event = first.entry(call.request.connection).or_insert(call.request.event);
        *event = call.request.event.min(*event);
    }
    let has_reason = |w: &Window<'_>| first.get(&w.connection).is_some_and(|&event| event < w.closed);
    let windows = view.windows().iter().filter(|w| of(w.connection).is_some() && has_reason(w)).map(|w| w.closed);
    let witnesses = announced.iter().map(|(sent, ..)| sent.event).chain(windows);
    Verdict::never(
        breaches,
        witnesses,
        "the server sent no such notification, and nothing was asked of it that could have caused one",
    )
}
