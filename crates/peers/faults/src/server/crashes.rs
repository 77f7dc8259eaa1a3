//! Faults of a process that breaks off over what it should pass over.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use wire::method;

use super::state::State;
use super::stdio::Process;
use super::{Fault, Kind, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &crash(
        "crashes-at-late-cancellation",
        "cancellation.races-handled",
        "the process exits where a request is cancelled that was answered before",
        |line, state| cancels(line, state, |id, seen| id.as_i64().is_some_and(|id| seen.contains(&id))),
    ),
    &crash(
        "crashes-at-unknown-cancellation",
        "cancellation.unknown-ignored",
        "the process exits when a request is cancelled that never existed",
        |line, state| cancels(line, state, |id, _| id == "proof-never-asked"),
    ),
    &crash(
        "crashes-at-malformed-cancellation",
        "cancellation.malformed-ignored",
        "the process exits where a cancellation does not say of what",
        |line, state| cancels(line, state, |id, _| id.is_array() || id.is_object()),
    ),
    &crash(
        "crashes-at-invalid-cursor",
        "pagination.invalid-cursor-survived",
        "the process exits where a cursor is a number",
        |line, _| read(line)["params"]["cursor"].is_number(),
    ),
    &crash(
        "crashes-at-unknown-method",
        "safety.no-crash",
        "the process exits where it does not know a method",
        |line, _| {
            let message = read(line);
            message["id"].is_number() && message["method"].as_str().is_some_and(|name| !method::known_ever(name))
        },
    ),
    &crash(
        "crashes-without-arguments",
        "jsonrpc.answered-before-end",
        "the process exits where a call lacks the member `arguments`",
        |line, _| {
            let message = read(line);
            message["method"] == "tools/call" && message["params"]["arguments"].is_null()
        },
    ),
    &crash("crashes-at-garbage", "safety.survives-garbage", "the process exits where a line is not JSON", |line, _| {
        line.len() < LARGE && !line.trim_ascii().is_empty() && read(line).is_null()
    })
    .breaks_too(&["safety.no-crash", "safety.survives-deep-nesting", "safety.survives-odd-text"]),
    &crash(
        "crashes-at-deep-nesting",
        "safety.survives-deep-nesting",
        "the process exits where arrays are nested absurdly deep",
        |line, _| line.windows(256).any(|window| window.iter().all(|b| *b == b'[')),
    ),
    &crash(
        "crashes-at-large-message",
        "safety.survives-large-message",
        "the process exits where a message is larger than 64 KiB",
        |line, _| line.len() > LARGE && read(line).is_object(),
    ),
    &crash(
        "crashes-at-unknown-notification",
        "safety.survives-unknown-notification",
        "the process exits where it does not know a notification",
        |line, _| {
            let message = read(line);
            let name = message["method"].as_str().unwrap_or_default();
            name.starts_with("notifications/") && !method::known_ever(name)
        },
    ),
];

const LARGE: usize = 64 << 10;

const fn crash(name: &'static str, rule: &'static str, about: &'static str, at: fn(&[u8], &State) -> bool) -> Fault {
    fault(name, rule, about, Kind::Stdio(Process::BreaksOff(at))).stdio().breaks_too(OF_A_CRASH)
}

/// What any crash may break besides what it is about.
const OF_A_CRASH: &[&str] = &["jsonrpc.answered-before-end", "safety.no-crash"];

/// A line as JSON; null where it is none.
fn read(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_default()
}

/// Whether a line cancels a request whose id `is` so, given the ids of requests that are answered at once.
fn cancels(line: &[u8], state: &State, is: fn(&Value, &BTreeSet<i64>) -> bool) -> bool {
    let message = read(line);
    let seen = state.of::<Seen>();
    let mut seen = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
    let at_once = message["method"].is_string() && message["method"] != "tools/call";
    seen.extend(message["id"].as_i64().filter(|_| at_once));
    message["method"] == "notifications/cancelled" && is(&message["params"]["requestId"], &seen)
}

/// The ids of requests that are answered at once: a cancellation of one comes too late.
#[derive(Default)]
struct Seen(Mutex<BTreeSet<i64>>);
