//! The page `basic/lifecycle`, section "Initialization".

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Kind, Party};

use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Exchange, MessageAt, View};

const INITIALIZATION: Anchor = at("basic/lifecycle", "initialization");

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    server("lifecycle.initialize-first")
        .says(R2024_11_05, INITIALIZATION, "Initialization MUST be the first interaction: the server says nothing before it.")
        .gone(R2026_07_28)
        .how("Looks for requests and notifications of the server before the client has sent anything.")
        .fix("Send nothing until `initialize` has come.")
        .judge(initialize_first),
    server("lifecycle.initialize-answered")
        .says(R2024_11_05, INITIALIZATION, "`initialize` MUST be answered with a result.")
        .gone(R2026_07_28)
        .how("Sends a well-formed `initialize` for a revision the server is known to serve, once with a capability that no server knows, and checks whether a result comes: the set of capabilities is open.")
        .fix("Answer `initialize` with version, capabilities and information.")
        .judge(initialize_answered),
    server("lifecycle.capabilities-told")
        .says(R2024_11_05, INITIALIZATION, "The server MUST answer `initialize` with its capabilities.")
        .gone(R2026_07_28)
        .how("Looks at `capabilities` in the result of `initialize`.")
        .fix("Put your capabilities into `capabilities`; an empty object if there are none.")
        .judge(capabilities_present),
    server("lifecycle.server-info-told")
        .says(R2024_11_05, INITIALIZATION, "The server MUST answer `initialize` with its own information: name and version.")
        .gone(R2026_07_28)
        .how("Looks at `serverInfo` in the result of `initialize`.")
        .fix("Put name and version into `serverInfo`.")
        .judge(server_info_present),
    server("lifecycle.no-early-requests")
        .says(R2024_11_05, INITIALIZATION, "Before `notifications/initialized` the server SHOULD NOT make requests other than pings.")
        .gone(R2026_07_28)
        .how("Looks for requests of the server that arrive before the client has sent `notifications/initialized`.")
        .fix("Hold requests back until `notifications/initialized` has come.")
        .judge(no_early_requests),
];

const UNSEEN: &str = "no `initialize` was answered with a result";

fn initialize_first(view: &View<'_>) -> Verdict {
    // A connection that begins with anything but `initialize` is not a legacy one, or the trace begins in its midst.
    let openings: Vec<_> = view
        .calls("initialize")
        .filter(|c| {
            // Who answers what the server asks too early has not begun yet.
            let opened = view.opened(c.request.connection).is_some();
            let begins =
                |s: &MessageAt<'_>| s.connection == c.request.connection && !(opened && s.message.kind().is_response());
            let mut earlier = view.by(Party::Client).filter(begins);
            let invalid =
                view.invalid_by_peer().any(|g| g.connection == c.request.connection && g.event < c.request.event);
            earlier.next().is_some_and(|s| s.index == c.request.index) && !invalid
        })
        .collect();
    let early = view.by_subject().filter(|s| {
        let spoken = matches!(s.message.kind(), Kind::Request | Kind::Notification);
        spoken && openings.iter().any(|o| o.request.connection == s.connection && s.event < o.request.event)
    });
    let breaches = early.map(|s| s.breach("", format!("`{}` before `initialize`", method(s))));
    let windows = openings.iter().filter_map(|o| quiet(view, o.request.connection, 0, o.request.event));
    Verdict::never(breaches, windows, "no quiet window was kept before an `initialize` that begins a connection")
}

/// The end of a quiet window on a connection between two events.
fn quiet(view: &View<'_>, connection: u32, after: usize, before: usize) -> Option<usize> {
    let windows = view.windows().iter().filter(|w| w.connection == connection);
    windows.map(|w| w.closed).find(|closed| *closed > after && *closed < before)
}

fn method(sent: MessageAt<'_>) -> String {
    sent.message.method().unwrap_or_default().escape_debug().to_string()
}

/// Judged only where the same server accepts the same version elsewhere in the trace, or answers with a result.
fn initialize_answered(view: &View<'_>) -> Verdict {
    let accepted: Vec<_> = view
        .calls("initialize")
        .filter(|c| c.result().is_some())
        .filter_map(|c| super::versions::requested(&c))
        .collect();
    let answered = view.calls("initialize").filter(|c| {
        let first = !view.by(Party::Client).any(|s| s.connection == c.request.connection && s.index < c.request.index);
        let known = super::versions::requested(c).is_some_and(|v| accepted.contains(&v));
        let by_envelope =
            c.response.is_none_or(|r| view.is_envelope_refusal(r) && !is_over_capabilities(view, c.request));
        known && first && !c.request.batched && !by_envelope && is_well_formed(c.request)
    });
    Verdict::every(answered, UNSEEN, |call| match call.response {
        Some(r) if r.message.kind() == Kind::Error => {
            let why = match unknown_capability(call.request) {
                Some(name) => {
                    format!("`initialize` was refused, over the unknown capability `{}`", name.escape_debug())
                }
                None => "`initialize` was refused; the same version is accepted elsewhere".to_owned(),
            };
            Err(r.breach("/error", why))
        }
        _ => Ok(()),
    })
}

/// Whether a status of HTTP is about the capabilities: all else is as in the greeting that is accepted.
fn is_over_capabilities(view: &View<'_>, request: MessageAt<'_>) -> bool {
    let status = view.exchange(request.exchange).and_then(Exchange::status);
    unknown_capability(request).is_some() && matches!(status, Some(400 | 422 | 500))
}

/// The capabilities of clients that a revision names.
const KNOWN: [&str; 6] = ["experimental", "extensions", "roots", "sampling", "elicitation", "tasks"];

/// A capability that the client declares and no revision names.
fn unknown_capability(request: MessageAt<'_>) -> Option<&str> {
    let capabilities = request.message.params()?.get("capabilities")?.as_object()?;
    capabilities.keys().map(String::as_str).find(|name| !KNOWN.contains(name))
}

fn is_well_formed(request: MessageAt<'_>) -> bool {
    let has = |name: &str| request.message.params().is_some_and(|p| p.get(name).is_some_and(Value::is_object));
    has("capabilities") && has("clientInfo")
}

fn capabilities_present(view: &View<'_>) -> Verdict {
    Verdict::every(view.results("initialize"), UNSEEN, |(sent, result)| match result.get("capabilities") {
        Some(Value::Object(_)) => Ok(()),
        Some(_) => Err(sent.breach("/result/capabilities", "`capabilities` is not an object")),
        None => Err(sent.breach("/result", "the result has no `capabilities`")),
    })
}

fn server_info_present(view: &View<'_>) -> Verdict {
    Verdict::every(view.results("initialize"), UNSEEN, |(sent, result)| {
        let Some(info) = result.get("serverInfo") else {
            return Err(sent.breach("/result", "the result has no `serverInfo`"));
        };
        match ["name", "version"].into_iter().find(|m| !info.get(*m).is_some_and(Value::is_string)) {
            None => Ok(()),
            Some(member) => {
                Err(sent.breach("/result/serverInfo", format!("`serverInfo` has no `{member}` that is a string")))
            }
        }
    })
}

/// What arrives before we send the notification was surely sent before it could be received.
fn no_early_requests(view: &View<'_>) -> Verdict {
    let mut breaches: Vec<Breach> = Vec::new();
    let mut witnesses = Vec::new();
    for handshake in view.calls("initialize").filter(|c| c.result().is_some()) {
        let connection = handshake.request.connection;
        let ready = view.by(Party::Client).find(|s| s.connection == connection && s.is("notifications/initialized"));
        let early = view.by(Party::Server).filter(|s| {
            s.connection == connection
                && s.message.kind() == Kind::Request
                && !s.is("ping")
                && s.event > handshake.request.event
                && ready.is_none_or(|r| s.event < r.event)
        });
        breaches.extend(early.map(|s| s.breach("", format!("`{}` before `notifications/initialized`", method(s)))));
        witnesses.extend(ready.and_then(|r| quiet(view, connection, handshake.event(), r.event)));
    }
    Verdict::never(
        breaches,
        witnesses,
        "no quiet window was kept between an answered `initialize` and `notifications/initialized`",
    )
}
