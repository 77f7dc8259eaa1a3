//! The page `server/utilities/logging`.

use serde_json::Value;
use wire::Era;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR};
use wire::meta;
use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Anchor, Rule, at, server};
use crate::server::listing;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const PER_REQUEST: Anchor = at("server/utilities/logging", "per-request-log-level");
const ERRORS: Anchor = at("server/utilities/logging", "error-handling");

/// The levels of RFC 5424, mildest first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("logging.capability-declared")
        .says(
            R2024_11_05,
            at("server/utilities/logging", "capabilities"),
            "A server that sends log messages MUST declare the `logging` capability.",
        )
        .how("Looks for `notifications/message`, and for `logging` among the declared capabilities.")
        .fix("Declare `logging: {}`, or log to stderr.")
        .judge(|view| listing::capability(view, "logging", messages(view))),
    server("logging.level-accepted")
        .says(
            R2024_11_05,
            at("server/utilities/logging", "setting-log-level"),
            "A client MAY set the least level of messages: a server that declares `logging` takes any of the eight.",
        )
        .gone(R2026_07_28)
        .needs("logging")
        .how("Looks at the answers to `logging/setLevel` with a level that exists: the method should be known.")
        .fix("Serve `logging/setLevel`, or do not declare `logging`.")
        .judge(accepted),
    server("logging.level-honoured")
        .says(
            R2024_11_05,
            at("server/utilities/logging", "setting-log-level"),
            "Once a level is set, a server SHOULD send no log message below it.",
        )
        .says(R2026_07_28, PER_REQUEST, "A server SHOULD send no log message below the level that the request asks for.")
        .about(&["logging"])
        .how("Compares log messages with the level that was last set and confirmed (legacy), or with the level of the \
              request they came for (modern).")
        .fix("Compare each message's severity with the level before sending it.")
        .judge(honoured),
    server("logging.only-when-asked")
        .says(
            R2026_07_28,
            PER_REQUEST,
            "A server MUST NOT send log messages for a request that names no log level in its `_meta`.",
        )
        .about(&["logging"])
        .how("Over HTTP looks at the response of each request without a log level; elsewhere looks for log messages while no \
              unanswered request on the connection names one.")
        .fix("Send log messages only while serving a request with `io.modelcontextprotocol/logLevel`.")
        .judge(only_when_requested),
    server("logging.not-on-subscriptions")
        .says(R2026_07_28, PER_REQUEST, "Log messages MUST NOT be delivered on a subscription's stream.")
        .about(&["logging"])
        .how("Looks where log messages came while a subscription was open.")
        .fix("Send log messages on the response stream of the request they belong to.")
        .judge(not_on_subscriptions),
    server("logging.invalid-level-refused")
        .says(R2024_11_05, ERRORS, "Setting a log level that does not exist SHOULD be answered with the error -32602.")
        .says(
            R2026_07_28,
            ERRORS,
            "A request that asks for a log level that does not exist SHOULD be answered with the error -32602.",
        )
        .needs("logging")
        .how("Looks at the answers to `logging/setLevel` (legacy) or to requests with a log level in `_meta` (modern) where the level is not one of the eight.")
        .fix("Check the level and answer -32602 (invalid params).")
        .judge(invalid_refused),
];

fn severity(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// Whether there is such a level.
pub(in crate::server) fn is_level(level: &str) -> bool {
    severity(level).is_some()
}

/// Every log message.
pub(super) fn messages<'v>(view: &View<'v>) -> Vec<MessageAt<'v>> {
    view.notifications("notifications/message").filter(|sent| view.is_current(*sent)).collect()
}

fn level<'v>(sent: &MessageAt<'v>) -> Option<&'v str> {
    sent.message.params()?.get("level")?.as_str()
}

fn meta<'v>(sent: &MessageAt<'v>, name: &str) -> Option<&'v Value> {
    sent.message.params()?.get("_meta")?.get(format!("{}{name}", meta::PREFIX))
}

/// Other refusals than of the method itself have reasons of their own.
fn accepted(view: &View<'_>) -> Verdict {
    let judged = view.calls("logging/setLevel").filter(|call| view.judges_content(call)).filter_map(|call| {
        severity(call.request.message.params()?.get("level")?.as_str()?)?;
        let response = call.response?;
        let why = "`logging` is declared, and its method is not known";
        match call.error_code() {
            None => Some((response.event, Ok(()))),
            Some(METHOD_NOT_FOUND) => Some((response.event, Err(response.breach("/error/code", why)))),
            Some(_) => None,
        }
    });
    Verdict::of(judged, "no level that exists was set")
}

fn honoured(view: &View<'_>) -> Verdict {
    let threshold = |sent: &MessageAt<'_>| match view.era() {
        Era::Legacy => set_before(view, sent),
        Era::Modern => level_around(view, sent),
    };
    let judged = messages(view).into_iter().filter_map(|sent| {
        let (found, least) = (severity(level(&sent)?)?, threshold(&sent)?);
        let why = || format!("the level is {}, asked for is {} and above", LEVELS[found], LEVELS[least]);
        Some((sent.event, if found >= least { Ok(()) } else { Err(sent.breach("/params/level", why())) }))
    });
    Verdict::of(judged, "no log message came while a level was in force")
}

/// The level that a confirmed `logging/setLevel` had put in force when a message was sent. Nothing where another one was
/// under way, or where the message came on a stream that may be older than the confirmation.
fn set_before(view: &View<'_>, sent: &MessageAt<'_>) -> Option<usize> {
    let sets = || view.calls("logging/setLevel").filter(|c| c.request.connection == sent.connection);
    let last = sets().filter(|call| call.request.event < sent.event).last()?;
    let confirmed = last.response.filter(|response| response.event < sent.event && last.result().is_some())?;
    let requests_here = || view.all_calls().filter(|call| call.request.exchange == sent.exchange);
    let fresh = sent.exchange == confirmed.exchange || requests_here().any(|call| call.request.event > confirmed.event);
    let level = last.request.message.params()?.get("level")?.as_str()?;
    severity(level).filter(|_| fresh)
}

/// The mildest level among the requests a message may have come for.
fn level_around(view: &View<'_>, sent: &MessageAt<'_>) -> Option<usize> {
    let open = |call: &Call<'_>| {
        call.request.connection == sent.connection
            && call.request.exchange == sent.exchange
            && call.request.event < sent.event
            && call.response.is_none_or(|response| response.event > sent.event)
    };
    let levels = view.all_calls().filter(open).filter_map(|call| severity(meta(&call.request, "logLevel")?.as_str()?));
    levels.min()
}

fn only_when_requested(view: &View<'_>) -> Verdict {
    let asks = |sent: &MessageAt<'_>| meta(sent, "logLevel").is_some();
    // What comes on a subscription's stream is left to another rule.
    let listens = |sent: &MessageAt<'_>| {
        let here = |call: &Call<'_>| sent.exchange != 0 && call.request.exchange == sent.exchange;
        view.calls("subscriptions/listen").any(|call| here(&call))
    };
    let unasked = |sent: &MessageAt<'_>| {
        let before = |call: &Call<'_>| call.request.connection == sent.connection && call.request.event < sent.event;
        let here = |call: &Call<'_>| before(call) && call.request.exchange == sent.exchange;
        let mut around = view.all_calls().filter(here).peekable();
        // Without exchanges the order tells: what asked is over, if it has been answered.
        let open = |call: &Call<'_>| sent.exchange != 0 || call.response.is_none_or(|answer| answer.event > sent.event);
        !listens(sent) && around.peek().is_some() && !around.any(|call| asks(&call.request) && open(&call))
    };
    let offenders = messages(view)
        .into_iter()
        .filter(unasked)
        .map(|sent| sent.breach("", "a log message was sent though no request asked for any"));
    let logs = view.capability("logging").is_some();
    let silent = view
        .all_calls()
        .filter(|c| view.is_current(c.request) && logs && !asks(&c.request) && !c.request.is("server/discover"));
    let witnesses = silent.filter_map(|call| call.response).map(|response| response.event);
    Verdict::never(offenders, witnesses, "no request without a log level was answered by a server that logs")
}

fn not_on_subscriptions(view: &View<'_>) -> Verdict {
    let listens: Vec<_> = view.calls("subscriptions/listen").collect();
    let on_stream = |sent: &MessageAt<'_>| {
        let exchange = sent.exchange != 0 && listens.iter().any(|call| call.request.exchange == sent.exchange);
        exchange || meta(sent, "subscriptionId").is_some()
    };
    let open = |sent: &MessageAt<'_>| {
        listens.iter().any(|call| {
            call.request.connection == sent.connection
                && call.request.event < sent.event
                && call.response.is_none_or(|response| response.event > sent.event)
        })
    };
    let judged = messages(view).into_iter().filter_map(|sent| {
        let kept: Kept = match on_stream(&sent) {
            true => Err(sent.breach("", "a log message came on a subscription's stream")),
            false if open(&sent) => Ok(()),
            false => return None,
        };
        Some((sent.event, kept))
    });
    Verdict::of(judged, "no log message came while a subscription was open")
}

/// The level that a request asks for, where it does not exist.
fn odd_level<'v>(view: &View<'v>, call: &Call<'v>) -> Option<&'v Value> {
    let level = match view.era() {
        Era::Legacy if call.request.is("logging/setLevel") => call.request.message.params()?.get("level")?,
        Era::Legacy => return None,
        Era::Modern => meta(&call.request, "logLevel")?,
    };
    level.as_str().is_none_or(|level| severity(level).is_none()).then_some(level)
}

fn invalid_refused(view: &View<'_>) -> Verdict {
    let judged = view.all_calls().filter(|call| view.judges_content(call)).filter_map(|call| {
        let level = odd_level(view, &call)?;
        let response = call.response?;
        let kept: Kept = match call.error_code() {
            Some(INVALID_PARAMS) => Ok(()),
            Some(code @ (INTERNAL_ERROR | INVALID_REQUEST | PARSE_ERROR)) => {
                Err(response.breach("/error/code", format!("the code is {code}, expected -32602")))
            }
            Some(_) => return None,
            None => Err(response.breach("/result", format!("the log level {level} is accepted"))),
        };
        Some((response.event, kept))
    });
    Verdict::of(judged, "no log level was asked for that does not exist")
}
