//! Faults of the stdio transport and of how a process ends.

use serde_json::{Value, json};

use super::state::State;
use super::{Fault, Kind, fault};

pub(super) const FAULTS: &[&Fault] = &[
    STDOUT_BANNER,
    &stdio(
        "stdout-log",
        "stdio.only-messages-on-stdout",
        "a log line is printed on stdout before each error",
        Process::Prints(
            |line| if has(&line, b"\"error\"") { prefixed(b"ERROR request failed\n", &line) } else { line },
        ),
    ),
    &stdio(
        "speaks-first",
        "safety.stdout-quiet-until-asked",
        "a notification is sent before the client has spoken",
        Process::Greets(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n"),
    )
    .breaks_too(&["lifecycle.initialize-first"])
    .legacy(),
    &stdio(
        "pings-first",
        "lifecycle.initialize-first",
        "a ping is sent before the client has spoken",
        Process::Greets(b"{\"jsonrpc\":\"2.0\",\"id\":\"first\",\"method\":\"ping\"}\n"),
    )
    .breaks_too(&["safety.stdout-quiet-until-asked"])
    .legacy(),
    &stdio(
        "stdout-pretty",
        "stdio.no-embedded-newlines",
        "completions are printed over several lines",
        Process::Prints(|line| {
            if has(&line, b"\"completion\":") { replaced(&line, b"\"jsonrpc\":", b"\n  \"jsonrpc\":") } else { line }
        }),
    )
    .breaks_too(&["jsonrpc.json"]),
    &stdio(
        "stdout-blank-lines",
        "safety.stdout-no-blank-lines",
        "a blank line follows each message",
        Process::Prints(|mut line| {
            line.push(b'\n');
            line
        }),
    ),
    &stdio(
        "stdout-colours",
        "safety.stdout-no-escapes",
        "messages are preceded by a terminal's colour codes",
        Process::Prints(|line| prefixed(b"\x1b[32m\x1b[0m\n", &line)),
    )
    .breaks_too(&["stdio.only-messages-on-stdout"]),
    &stdio(
        "batches-not-received",
        "batch.received",
        "a batch is refused as an invalid message",
        Process::Reads(|line, _| if line.starts_with(b"[") { b"\"a batch\"\n".to_vec() } else { line }),
    )
    .since(wire::revision::R2025_03_26)
    .until(wire::revision::R2025_03_26),
    &stdio(
        "cancelled-answered",
        "stdio.cancelled-request-silent",
        "a cancelled request is answered with an error",
        Process::Reads(|line, _| if has(&line, b"\"notifications/cancelled\"") { asked_again(line) } else { line }),
    )
    .breaks_too(&[
        "stateless.concurrent-served",
        "jsonrpc.error-id",
        "jsonrpc.one-answer",
        "jsonrpc.notifications-unanswered",
        "cancellation.not-answered",
    ])
    .modern(),
    &stdio(
        "carriage-return-lost",
        "safety.crlf-tolerated",
        "a line that ends in CR LF is passed over",
        Process::Reads(|line, _| if line.ends_with(b"\r\n") { Vec::new() } else { line }),
    )
    .breaks_too(&["jsonrpc.answered", "ping.answered"]),
    LINGERS,
    LINGERS_MODERN,
    &stdio(
        "fails-at-end",
        "safety.clean-exit-code",
        "the process ends with an error code at the end of its input",
        Process::Fails,
    ),
];

/// The fault `stdout-banner`.
pub const STDOUT_BANNER: &Fault = &stdio(
    "stdout-banner",
    "stdio.only-messages-on-stdout",
    "a banner is printed on stdout at the start",
    Process::Greets(b"Reference server ready\n"),
);

/// The fault `lingers`.
pub const LINGERS: &Fault = &stdio(
    "lingers",
    "safety.exits-at-end-of-input",
    "the process goes on after the end of its input",
    Process::Lingers,
)
.legacy();

/// The fault `lingers-modern`.
pub const LINGERS_MODERN: &Fault = &stdio(
    "lingers-modern",
    "stdio.exits-at-end-of-input",
    "the process goes on after the end of its input",
    Process::Lingers,
)
.modern();

/// How a process behaves.
#[derive(Clone, Copy)]
pub(super) enum Process {
    /// Writes something before anything else.
    Greets(&'static [u8]),
    /// Alters what one read brings.
    Takes(fn(&[u8]) -> Vec<u8>),
    /// Alters lines on their way in.
    Reads(fn(Vec<u8>, &State) -> Vec<u8>),
    /// Breaks off at a line that came in.
    BreaksOff(fn(&[u8], &State) -> bool),
    /// Alters lines on their way out.
    Prints(fn(Vec<u8>) -> Vec<u8>),
    /// Does not end.
    Lingers,
    /// Ends badly.
    Fails,
}

const fn stdio(name: &'static str, rule: &'static str, about: &'static str, process: Process) -> Fault {
    fault(name, rule, about, Kind::Stdio(process)).stdio()
}

fn prefixed(prefix: &[u8], line: &[u8]) -> Vec<u8> {
    [prefix, line].concat()
}

pub(super) fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A cancellation, and after it a request under the id that it names, of a method that gets nothing but an error.
fn asked_again(mut line: Vec<u8>) -> Vec<u8> {
    let cancelled: Value = serde_json::from_slice(&line).unwrap_or_default();
    if let Some(id) = cancelled.pointer("/params/requestId") {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "cancelled" });
        line.extend_from_slice(format!("{request}\n").as_bytes());
    }
    line
}

/// The first `part` of a text replaced.
pub(super) fn replaced(text: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    match text.windows(part.len()).position(|window| window == part) {
        Some(at) => [&text[..at], by, &text[at + part.len()..]].concat(),
        None => text.to_vec(),
    }
}
