//! The page `basic/lifecycle`, sections "Operation", "Shutdown" and "Timeouts": what they demand of clients alone.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::method::{self, End};
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2026_07_28};
use wire::trace::{Closed, Content};
use wire::{Party, Revision};

use super::clients::{greetings, offered, own};
use crate::reading::timeouts::{Signs, cancelled};
use crate::rule::{Anchor, Rule, at, client};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Call, MessageAt, View, declared};

const OPERATION: Anchor = at("basic/lifecycle", "operation");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    client("lifecycle.client-version-respected")
        .says(R2024_11_05, OPERATION, "The client SHOULD respect the agreed version: it uses nothing of another one.")
        .says(R2025_06_18, OPERATION, "The client MUST respect the agreed version: it uses nothing of another one.")
        .gone(R2026_07_28)
        .how("Looks up the method of every request and notification after the handshake in the version that was agreed on. Shows most with a server that agrees to an older version than requested.")
        .fix("Look at the agreed version before you send what only other versions define.")
        .judge(version_respected),
    client("lifecycle.client-negotiated-only")
        .says(R2024_11_05, OPERATION, "The client SHOULD use only what the server declared, and what it declared itself.")
        .says(R2025_06_18, OPERATION, "The client MUST use only what the server declared, and what it declared itself.")
        .gone(R2026_07_28)
        .how("Compares the method of every request and notification with the declarations of the handshake. Needs a server that does not declare all of tools, prompts, resources, completions and logging.")
        .fix("Look at the server's capabilities before each request, and at your own before each notification.")
        .judge(negotiated_only),
    client("lifecycle.client-shutdown-in-order")
        .says(
            R2024_11_05,
            at("basic/lifecycle", "stdio"),
            "A client SHOULD end a server by closing its input, then by SIGTERM, then by SIGKILL, giving it time in between.",
        )
        .on(&[wire::Transport::Stdio])
        .gone(R2026_07_28)
        .timed()
        .how("Checks whether the server, seen from within, saw the end of its input before a signal ended it.")
        .fix("Close the child's stdin and wait for it to exit; send SIGTERM if it does not, and SIGKILL last.")
        .judge(shutdown_in_order),
    client("lifecycle.client-timeouts-cancelled")
        .says(R2025_03_26, at("basic/lifecycle", "timeouts"), "A client that gives up waiting for an answer SHOULD cancel the request.")
        .gone(R2026_07_28)
        .timed()
        .how("Needs a server that leaves a request unanswered, and looks for its cancellation. That the client has given up \
              is shown by the same request made again, or by its leaving a second or more later.")
        .fix("When a request times out, send `notifications/cancelled` with its id.")
        .judge(|view| cancelled(view, Signs::RepeatsOrLeaves)),
];

/// The client's requests and notifications after each handshake: the handshake, the version agreed on, what was said.
fn operation<'v>(view: &View<'v>) -> Vec<(Call<'v>, Revision, MessageAt<'v>)> {
    let own = own(view);
    let mut sent = Vec::new();
    for call in greetings(view) {
        let (Some(answer), Some(agreed)) = (call.response, offered(&call).and_then(|v| v.parse().ok())) else {
            continue;
        };
        let all = own.get(&call.request.connection).map_or(&[][..], Vec::as_slice);
        let later = all.iter().filter(|sent| sent.event > answer.event);
        sent.extend(later.take_while(|sent| !sent.is("initialize")).map(|sent| (call, agreed, *sent)));
    }
    sent
}

fn version_respected(view: &View<'_>) -> Verdict {
    let known = operation(view).into_iter().filter(|(.., sent)| sent.message.method().is_some_and(method::known_ever));
    let judged = known.map(|(_, agreed, sent)| {
        let name = sent.message.method().unwrap_or_default();
        let found = method::find(name, agreed).is_some_and(|row| row.direction.allows(Party::Client));
        let why = || format!("`{}` is not in {agreed}, the version that was agreed on", name.escape_debug());
        (sent.event, if found { Ok(()) } else { Err(sent.breach("/method", why())) })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client sent nothing of its own after a handshake")
}

/// What a server may declare that a client uses by asking.
const USED: [&str; 5] = ["tools", "prompts", "resources", "completions", "logging"];

fn negotiated_only(view: &View<'_>) -> Verdict {
    let own = |call: &Call<'_>| call.request.message.params().and_then(|p| p.get("capabilities")).cloned();
    let judged = operation(view).into_iter().filter_map(|(call, agreed, sent)| {
        let name = sent.message.method()?;
        let servers = call.result()?.get("capabilities")?;
        let missing = |path: &str| {
            method::capability_since(path).is_some_and(|at| agreed.at_least(at)) && declared(servers, path).is_none()
        };
        let breach = |who: &str, path: &str| sent.breach("/method", format!("the {who} did not declare `{path}`"));
        match method::find(name, agreed)?.capability_at(agreed) {
            Some((End::Receiver, path)) if declared(servers, path).is_none() => {
                Some((sent.event, Err(breach("server", path))))
            }
            Some((End::Sender, path)) if declared(&own(&call).unwrap_or(Value::Null), path).is_none() => {
                Some((sent.event, Err(breach("client", path))))
            }
            // Where all was declared nothing could be used that was not.
            Some((End::Receiver, _)) if USED.into_iter().any(missing) => Some((sent.event, Ok(()))),
            _ => None,
        }
    });
    let unseen = "no server that leaves a capability out was asked for anything that takes one";
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

/// Judges how the client ended each process of the server's, as seen from within that: whether its input was closed before
/// any signal came.
pub(crate) fn shutdown_in_order(view: &View<'_>) -> Verdict {
    // What dies after that dies by our hand.
    let killed = view.client_unseen_from().unwrap_or(usize::MAX);
    // A client that crashes closes its end too.
    let broke_down = view.departure().is_some_and(|(_, well)| !well);
    let mut endings: BTreeMap<u32, (usize, Kept)> = BTreeMap::new();
    for (event, frame) in view.frames().filter(|(event, frame)| frame.exchange == 0 && *event < killed) {
        let kept = match &frame.content {
            Content::Closed(Closed::End) if frame.from == Party::Client => Ok(()),
            Content::Exit { signal: Some(signal), .. } if frame.from == Party::Server => {
                Err(format!("signal {signal} came"))
            }
            _ => continue,
        };
        let breach = |what: String| Breach::at(event, "", format!("{what} before the server's input was closed"));
        endings.entry(frame.connection).or_insert_with(|| (event, kept.map_err(breach)));
    }
    let judged = endings.into_values().filter(|(_, kept)| kept.is_err() || !broke_down);
    Verdict::of(judged.collect::<Vec<_>>(), "no server was seen to be ended by the client")
}
