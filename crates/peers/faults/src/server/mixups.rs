//! Faults of what a good server keeps apart or leaves as it is: whose answer is whose, ids, text.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use net::service::Reply;
use serde_json::{Value, json};
use wire::error_code::INVALID_PARAMS;

use super::state::State;
use super::stdio::{Process, has};
use super::{Fault, IncomingMessage, Kind, ServiceRequest, drop_member, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "echo-of-another",
        "safety.answers-fit",
        "`echo` and prompts sometimes return the text of the previous request",
        Kind::Answers(mix_up),
    ),
    &fault(
        "ids-by-text",
        "safety.ids-told-apart",
        "an id that is a string of digits is answered as a number",
        Kind::Answers(|_, answer| {
            if let Some(number) = answer["id"].as_str().and_then(|id| id.parse::<i64>().ok()) {
                answer["id"] = json!(number);
            }
        }),
    )
    .breaks_too(&[
        "safety.odd-ids-kept",
        "jsonrpc.error-id",
        "jsonrpc.one-answer",
        "jsonrpc.result-id",
        "ping.answered",
        "jsonrpc.answered",
    ]),
    &fault(
        "empty-id-lost",
        "safety.odd-ids-kept",
        "a request whose id is an empty string is treated as a notification",
        Kind::Receives(|heard| {
            if heard.message["id"] == "" {
                drop_member(heard.message, "id");
            }
        }),
    )
    .breaks_too(&["http.request-answered-json-or-stream", "jsonrpc.answered", "ping.answered"])
    .http(),
    &fault(
        "astral-lost",
        "safety.text-kept",
        "characters beyond 16 bits are returned as question marks",
        Kind::Answers(|_, answer| {
            if let Some(text) = said(answer) {
                *text = text.replace(|c: char| c > '\u{ffff}', "?");
            }
        }),
    ),
    &fault(
        "workers-used-up",
        "safety.keeps-answering",
        "each call of an unknown tool blocks one of four workers for good, and nothing is answered without one",
        Kind::Handles(|asked, _, reply| {
            let blocked = &asked.state.of::<Blocked>().0;
            let unknown =
                matches!(&reply, Reply::Now(answer) if asked.is("tools/call") && answer.code() == Some(INVALID_PARAMS));
            let before =
                if unknown { blocked.fetch_add(1, Ordering::Relaxed) } else { blocked.load(Ordering::Relaxed) };
            if before < 4 { reply } else { Reply::later(std::future::pending()) }
        }),
    )
    .breaks_too(&["jsonrpc.answered", "ping.answered"])
    .stdio(),
    &fault(
        "long-lines-dropped",
        "jsonrpc.answered",
        "a request on a line of more than 64 KiB is dropped without an answer",
        Kind::Stdio(Process::Reads(|line, _| if line.len() > LONG_LINE { Vec::new() } else { line })),
    )
    .breaks_too(&["ping.answered"])
    .stdio(),
    &fault(
        "long-lines-in-pieces",
        "safety.survives-large-message",
        "a line of more than 64 KiB is read as several",
        Kind::Stdio(Process::Reads(|line, _| cut(line))),
    )
    .breaks_too(&["jsonrpc.answered", "ping.answered"])
    .stdio(),
    &fault(
        "odd-text-passed-over",
        "safety.odd-text-answered",
        "a line with a lone surrogate is ignored",
        Kind::Stdio(Process::Reads(|line, _| if has(&line, b"\\ud800") { Vec::new() } else { line })),
    )
    .stdio(),
    &fault(
        "stops-at-nul",
        "safety.survives-odd-text",
        "after a line with a NUL in a string, no input is read",
        Kind::Stdio(Process::Reads(go_deaf)),
    )
    .breaks_too(&["jsonrpc.answered", "ping.answered", "safety.odd-text-answered"])
    .stdio(),
    &fault(
        "pieces-read-apart",
        "safety.split-delivery-read",
        "input is decoded chunk by chunk, which breaks characters that were split",
        Kind::Stdio(Process::Takes(|piece| String::from_utf8_lossy(piece).into_owned().into_bytes())),
    )
    .breaks_too(&["safety.odd-ids-kept", "jsonrpc.answered", "jsonrpc.result-id", "ping.answered"])
    .stdio(),
    &fault("memory-leak", "safety.no-leak", "every message leaks memory", Kind::Receives(hoard)).stdio(),
];

/// A line that is longer than this is dropped, or cut.
const LONG_LINE: usize = 64 << 10;

/// A line feed after each piece of a long line.
fn cut(line: Vec<u8>) -> Vec<u8> {
    line.chunks(LONG_LINE).collect::<Vec<_>>().join(&b'\n')
}

/// After how many that go well one does not.
const WELL: usize = 4;

/// What a message leaves behind, in bytes, and how many do.
const HEAP: usize = 80 << 10;
const HOARDED: usize = 4096;

/// The first text of a tool's or a prompt's result.
fn said(answer: &mut Value) -> Option<&mut String> {
    let place = if answer["result"]["messages"].is_array() { "/messages/0/content/text" } else { "/content/0/text" };
    match answer.get_mut("result")?.pointer_mut(place)? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// What echoes said before.
#[derive(Default)]
struct Echoes {
    last: Mutex<String>,
    calls: AtomicUsize,
}

fn mix_up(asked: &ServiceRequest, answer: &mut Value) {
    let echoes = asked.is("prompts/get") || (asked.is("tools/call") && asked.param("name") == "echo");
    let Some(text) = said(answer).filter(|_| echoes) else { return };
    let state = asked.state.of::<Echoes>();
    let before = std::mem::replace(&mut *state.last.lock().unwrap_or_else(PoisonError::into_inner), text.clone());
    if state.calls.fetch_add(1, Ordering::Relaxed) % WELL == WELL - 1 {
        *text = before;
    }
}

/// What messages left behind.
#[derive(Default)]
struct Hoard(Mutex<Vec<Vec<u8>>>);

fn hoard(heard: &mut IncomingMessage<'_>) {
    let hoard = heard.state.of::<Hoard>();
    let mut hoard = hoard.0.lock().unwrap_or_else(PoisonError::into_inner);
    if hoard.len() < HOARDED {
        hoard.push(vec![1; HEAP]);
    }
}

/// Whether a process is deaf.
#[derive(Default)]
struct Deaf(AtomicBool);

/// How many workers were lost.
#[derive(Default)]
struct Blocked(AtomicUsize);

fn go_deaf(line: Vec<u8>, state: &State) -> Vec<u8> {
    let deaf = state.of::<Deaf>();
    if has(&line, b"\\u0000") {
        deaf.0.store(true, Ordering::Relaxed);
    }
    if deaf.0.load(Ordering::Relaxed) { Vec::new() } else { line }
}
