//! Lasting: a good server is there until its client leaves, and answers until then. Judged in every check: after a crash
//! there is little left to judge, and a report must not look clean for it.

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

/// What the server was told before it ended, in words: the first that followed its own last message, since that it may not
/// have got over; else the last.
fn preceding(view: &View<'_>, event: usize) -> String {
    let connection = view.frame(event).connection;
    let here = |frame: &Frame| frame.connection == connection;
    let spoke =
        view.by(Party::Server).take_while(|sent| sent.event < event).filter(|sent| sent.connection == connection);
    let spoke = spoke.last().map(|sent| sent.event);
    let told = |content: &Content| {
        matches!(content, Content::Line { .. } | Content::Body { .. } | Content::WebSocket { .. } | Content::Raw(_))
    };
    let said = view.frames().take(event).filter(|(_, f)| here(f) && f.from == Party::Client && told(&f.content));
    let said: Vec<usize> = said.map(|(at, _)| at).collect();
    let Some(at) = said.iter().copied().find(|at| spoke.is_some_and(|spoke| *at > spoke)).or(said.last().copied())
    else {
        return String::new();
    };
    format!(", after {}", told_at(view, at))
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

    #[test]
    fn a_crash_is_laid_to_what_the_server_had_not_got_over() {
        let garbage = r#"{"at":3,"from":"client","line":"no JSON"}"#;
        let ping = r#"{"at":4,"from":"client","line":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
        assert!(
            said_of(&[garbage]).ends_with("after the invalid message `no JSON` (event 2)"),
            "{}",
            said_of(&[garbage])
        );
        assert!(
            said_of(&[garbage, ping]).ends_with("after the invalid message `no JSON` (event 2)"),
            "not what was asked in vain"
        );
        let answer = r#"{"at":4,"from":"client","line":{"jsonrpc":"2.0","id":"q","result":{}}}"#;
        assert!(said_of(&[answer]).ends_with("after an answer (event 2)"), "{}", said_of(&[answer]));
        assert!(said_of(&[ping]).ends_with("after `ping` (event 2)"), "{}", said_of(&[ping]));
        assert!(said_of(&[]).ends_with("after `ping` (event 0)"), "{}", said_of(&[]));
    }
}
