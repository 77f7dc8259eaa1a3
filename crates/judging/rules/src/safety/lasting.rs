//! Lasting: a good server is there until its client leaves, and answers until then. Judged in every check: after a crash
//! there is little left to judge, and a report must not look clean for it.

use std::collections::{BTreeMap, BTreeSet};

use wire::trace::{Closed, Content, Frame};
use wire::{Kind, Party};

use super::{anywhere, over_stdio};
use crate::rule::Rule;
use crate::verdict::{Breach, Verdict};
use crate::view::{Call, View};

/// After so many requests in a row without an answer, a server counts as silent.
const UNANSWERED: usize = 3;

pub(crate) const RULES: &[Rule] = &[
    over_stdio("safety.no-crash", "A good server does not end while its client still talks to it: not with an error, and not before it has answered.")
        .by_default()
        .timed()
        .how("Checks whether the process ended before we closed stdin or sent a signal, with a code other than 0, by a signal, or with a request unanswered.")
        .fix("Catch errors at the message loop and answer them as JSON-RPC errors.")
        .judge(no_crash),
    anywhere("safety.keeps-answering", "A good server that has answered continues to answer, and can still be reached.")
        .by_default()
        .timed()
        .how("Looks for three requests in a row without an answer or any other message up to the end of a connection that was answered before, and for connections that can no longer be opened.")
        .fix("Keep long work off the message loop, and do not let one request end or block the server.")
        .judge(keeps_answering),
];

/// How a process ended, in words; `None` where it ended well.
pub(super) fn failure(frame: &Frame) -> Option<String> {
    match frame.content {
        Content::Exit { signal: Some(signal), .. } => Some(format!("killed by signal {signal}")),
        Content::Exit { code: Some(code), .. } if code != 0 => Some(format!("exit code {code}")),
        _ => None,
    }
}

/// How many messages that were open are named.
const OPEN: usize = 3;

/// What the server was told before it ended, in words. Where only the last message can have ended it, that one; else also what
/// was open: requests without an answer, and what came after the last request that was answered.
fn preceding(view: &View<'_>, event: usize) -> String {
    let connection = view.frame(event).connection;
    let told = told(view, event);
    let Some(&last) = told.last() else { return String::new() };
    let calls = view.calls_by(Party::Client).filter(|call| call.request.connection == connection);
    let calls: Vec<_> = calls.filter(|call| call.request.event < event).collect();
    // A server that answers what came later has got over what came before.
    let answered = calls.iter().filter(|call| call.response.is_some()).map(|call| call.request.event).max();
    let is_over = |at: usize| answered.is_some_and(|last| at < last);
    // Unanswered for so long that it was given up, while others are served: it does not run any more.
    let is_given_up = |call: &Call<'_>| view.timeout_of(call.request).is_some() && is_over(call.request.event);
    let is_pending =
        |call: &Call<'_>| call.response.is_none() && view.cancellation_of(call.request).is_none() && !is_given_up(call);
    let requests: BTreeMap<usize, bool> = calls.iter().map(|call| (call.request.event, is_pending(call))).collect();
    let greeted = view.by(Party::Client).filter(|sent| sent.is("notifications/initialized"));
    let greeted: BTreeSet<usize> = greeted.map(|sent| sent.event).collect();
    let is_open = |at: usize| requests.get(&at).copied().unwrap_or(!is_over(at) && !greeted.contains(&at));
    let open: Vec<usize> = told.iter().copied().filter(|&at| at != last && is_open(at)).collect();
    if open.is_empty() {
        return format!(", after {}", told_at(view, last));
    }
    let named: Vec<_> = open.iter().take(OPEN).map(|&at| told_at(view, at)).collect();
    let more = open.len().saturating_sub(OPEN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(", at or before {}; still open: {}{rest}", told_at(view, last), named.join(", "))
}

/// The events of what the client sent on the connection of an event before it.
fn told(view: &View<'_>, event: usize) -> Vec<usize> {
    let connection = view.frame(event).connection;
    let is_told = |content: &Content| {
        matches!(content, Content::Line { .. } | Content::Body { .. } | Content::WebSocket { .. } | Content::Raw(_))
    };
    let sent = |f: &Frame| f.connection == connection && f.from == Party::Client && is_told(&f.content);
    view.frames().take(event).filter(|(_, frame)| sent(frame)).map(|(at, _)| at).collect()
}

/// What the client sent in an event, in words: its method, or how it begins.
pub(super) fn told_at(view: &View<'_>, at: usize) -> String {
    let message = view.by(Party::Client).find(|sent| sent.event == at);
    let what = match message.map(|sent| sent.message.method()) {
        Some(Some(method)) => format!("`{}`", method.escape_debug()),
        Some(None) => "an answer".to_owned(),
        None => invalid(&view.frame(at).content),
    };
    format!("{what} (event {at})")
}

/// How much of an invalid message is quoted.
const QUOTED: usize = 24;

fn invalid(content: &Content) -> String {
    let (Content::Line { bytes, .. }
    | Content::Body { bytes, .. }
    | Content::WebSocket { bytes, .. }
    | Content::Raw(bytes)) = content
    else {
        return "an invalid message".to_owned();
    };
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * QUOTED)]);
    let begins = wire::escape::snippet(&text.replace('`', "'"), QUOTED);
    let long = bytes.len() >> 10;
    match (begins.as_str(), long) {
        ("", 0) => "an empty message".to_owned(),
        (_, 0) => format!("the invalid message `{begins}`"),
        _ => format!("an invalid message of {long} KiB"),
    }
}

/// The last request of the client on a connection, if it has no answer.
fn unanswered<'v>(view: &View<'v>, event: usize) -> Option<Call<'v>> {
    let connection = view.frame(event).connection;
    let here = view.calls_by(Party::Client).filter(|call| call.request.connection == connection);
    let last = here.filter(|call| call.request.event < event).last()?;
    (last.response.is_none() && view.cancellation_of(last.request).is_none()).then_some(last)
}

fn no_crash(view: &View<'_>) -> Verdict {
    let exits = view.frames().filter(|(_, f)| f.from == Party::Server && matches!(f.content, Content::Exit { .. }));
    let exits: Vec<_> = exits.collect();
    let alive = |connection: u32| view.by(Party::Server).any(|s| s.connection == connection);
    let unprompted = exits.iter().filter(|(event, frame)| !view.was_stopped(*event, frame.connection));
    let crashed = unprompted.filter_map(|&(event, frame)| {
        let how = failure(frame).or_else(|| {
            let left = alive(frame.connection) && unanswered(view, event).is_some();
            left.then(|| "exit code 0, with a request unanswered".to_owned())
        })?;
        Some(Breach::at(event, "", format!("the server ended unprompted: {how}{}", preceding(view, event))))
    });
    let closed = view.stdin_closings().filter(|&event| {
        let connection = view.frame(event).connection;
        alive(connection) && !exits.iter().any(|(exit, frame)| *exit < event && frame.connection == connection)
    });
    Verdict::never(crashed.collect::<Vec<_>>(), closed, "the end of the process was not seen")
}

fn keeps_answering(view: &View<'_>) -> Verdict {
    if let Some(breach) = unreachable(view) {
        return Verdict::Broken(breach);
    }
    let mut connections: Vec<u32> = view.calls_by(Party::Client).map(|call| call.request.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    let mut witnesses = Vec::new();
    for connection in connections {
        let calls: Vec<_> = view.calls_by(Party::Client).filter(|call| call.request.connection == connection).collect();
        let Some(last) = view.by(Party::Server).rfind(|sent| sent.connection == connection) else { continue };
        if !calls.iter().any(|call| call.response.is_some()) {
            continue;
        }
        let silent: Vec<_> = calls.iter().filter(|call| call.request.event > last.event).collect();
        let timed_out = silent
            .iter()
            .filter(|call| view.timeout_of(call.request).is_some() && view.cancellation_of(call.request).is_none());
        match (timed_out.count(), silent.first()) {
            (UNANSWERED.., Some(first)) => {
                let method = first.request.message.method().unwrap_or_default();
                let why = format!(
                    "the server says nothing more from `{method}` on: {} requests without an answer",
                    silent.len()
                );
                return Verdict::Broken(first.request.breach("", why));
            }
            (0, _) if last.message.kind() != Kind::Request => witnesses.push(last.event),
            _ => {}
        }
    }
    Verdict::witnessed(witnesses, "no request was answered")
}

/// Where a server that has answered can no longer be reached.
fn unreachable(view: &View<'_>) -> Option<Breach> {
    let last = view.by(Party::Server).last()?;
    let failed = view.frames().find(|(event, frame)| {
        let refused = matches!(&frame.content, Content::Closed(Closed::Failed));
        refused && *event > last.event && frame.from == Party::Client && frame.exchange != 0
    });
    let (event, _) = failed?;
    let why = format!("the server can no longer be reached{}", preceding(view, event));
    Some(Breach::at(event, "", why))
}

#[cfg(test)]
mod tests {
    use wire::trace::file;

    use super::*;
    use crate::judge::revision_of;

    /// What is said of a process that ends after these lines of its client.
    fn said_of(told: &[&str]) -> String {
        let start = [
            r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio","revision":"2025-11-25","case":"test"}"#,
            r#"{"at":1,"from":"client","line":{"jsonrpc":"2.0","id":0,"method":"ping"}}"#,
            r#"{"at":2,"from":"server","line":{"jsonrpc":"2.0","id":0,"result":{}}}"#,
        ];
        let end = [r#"{"at":9,"from":"server","exit":{"code":1}}"#];
        let lines: Vec<_> = start.iter().chain(told).chain(&end).copied().collect();
        let trace = file::read(&lines.join("\n")).expect("a trace");
        let events = trace.events();
        let view = View::new(&trace, &events, revision_of(&trace).expect("a revision"));
        match no_crash(&view) {
            Verdict::Broken(breach) => breach.why,
            other => panic!("{other:?}"),
        }
    }

    const CALL: &str = r#"{"at":3,"from":"client","line":{"jsonrpc":"2.0","id":1,"method":"tools/call"}}"#;
    const PING: &str = r#"{"at":3,"from":"client","line":{"jsonrpc":"2.0","id":2,"method":"ping"}}"#;
    const PONG: &str = r#"{"at":3,"from":"server","line":{"jsonrpc":"2.0","id":2,"result":{}}}"#;
    const GARBAGE: &str = r#"{"at":3,"from":"client","line":"no JSON"}"#;
    const NOTE: &str = r#"{"at":3,"from":"client","line":{"jsonrpc":"2.0","method":"notifications/initialized"}}"#;

    #[test]
    fn a_crash_is_laid_to_the_only_message_that_can_have_caused_it() {
        let answer = r#"{"at":3,"from":"client","line":{"jsonrpc":"2.0","id":"q","result":{}}}"#;
        for (told, what) in [
            (&[GARBAGE][..], "1, after the invalid message `no JSON` (event 2)"),
            (&[answer], "1, after an answer (event 2)"),
            (&[PING], "1, after `ping` (event 2)"),
            (&[NOTE, CALL], "1, after `tools/call` (event 3)"),
            (&[PING, PONG, NOTE], "1, after `notifications/initialized` (event 4)"),
            (&[], "1, after `ping` (event 0)"),
        ] {
            assert!(said_of(told).ends_with(what), "{}", said_of(told));
        }
    }

    #[test]
    fn where_several_messages_were_open_the_last_is_a_bound() {
        let many: Vec<String> = (1..6).map(|id| PING.replace("\"id\":2", &format!("\"id\":{id}"))).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let cancelled = r#"{"at":3,"from":"client","line":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}"#;
        for (told, what) in [
            (
                &[GARBAGE, PING][..],
                "at or before `ping` (event 3); still open: the invalid message `no JSON` (event 2)",
            ),
            (
                &[PING, GARBAGE, PONG, CALL],
                "`tools/call` (event 5); still open: the invalid message `no JSON` (event 3)",
            ),
            (&[CALL, PING, PONG], "at or before `ping` (event 3); still open: `tools/call` (event 2)"),
            (&[CALL, NOTE], "at or before `notifications/initialized` (event 3); still open: `tools/call` (event 2)"),
            (&[CALL, cancelled], "after `notifications/cancelled` (event 3)"),
            (&many, "(event 6); still open: `ping` (event 2), `ping` (event 3), `ping` (event 4) and 1 more"),
        ] {
            assert!(said_of(told).ends_with(what), "{}", said_of(told));
        }
    }
}
