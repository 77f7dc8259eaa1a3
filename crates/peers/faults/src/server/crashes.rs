//! Faults of a process that breaks off over what it should pass over.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use wire::method;

use super::stdio::Habit;
use super::{Fault, Kind, fault};

pub(super) const FAULTS: &[Fault] = &[
    crash(
        "crashes-at-late-cancellation",
        "cancellation.races-handled",
        "the process breaks off where a request is cancelled that was answered before",
        |line| cancels(line, is_late),
    ),
    crash(
        "crashes-at-unknown-cancellation",
        "cancellation.unknown-ignored",
        "the process breaks off where a request is cancelled that there never was",
        |line| cancels(line, |id| id == "proof-never-asked"),
    ),
    crash(
        "crashes-at-malformed-cancellation",
        "cancellation.malformed-ignored",
        "the process breaks off where a cancellation does not say of what",
        |line| cancels(line, |id| id.is_array() || id.is_object()),
    ),
    crash(
        "crashes-at-invalid-cursor",
        "pagination.invalid-cursor-survived",
        "the process breaks off where a cursor is a number",
        |line| read(line)["params"]["cursor"].is_number(),
    ),
    crash(
        "crashes-at-unknown-method",
        "safety.no-crash",
        "the process breaks off where it does not know a method",
        |line| {
            let message = read(line);
            message["id"].is_number() && message["method"].as_str().is_some_and(|name| !method::known_ever(name))
        },
    ),
    crash("crashes-at-garbage", "safety.survives-garbage", "the process breaks off where a line is no JSON", |line| {
        line.len() < LARGE && !line.trim_ascii().is_empty() && read(line).is_null()
    })
    .breaks_too(&["safety.no-crash", "safety.survives-deep-nesting", "safety.survives-odd-text"]),
    crash(
        "crashes-at-deep-nesting",
        "safety.survives-deep-nesting",
        "the process breaks off where arrays are nested absurdly deep",
        |line| line.windows(256).any(|window| window.iter().all(|b| *b == b'[')),
    ),
    crash(
        "crashes-at-large-message",
        "safety.survives-large-message",
        "the process breaks off where a message is larger than 64 KiB",
        |line| line.len() > LARGE && read(line).is_object(),
    ),
    crash(
        "crashes-at-unknown-notification",
        "safety.survives-unknown-notification",
        "the process breaks off where it does not know a notification",
        |line| {
            let message = read(line);
            let name = message["method"].as_str().unwrap_or_default();
            name.starts_with("notifications/") && !method::known_ever(name)
        },
    ),
];

const LARGE: usize = 64 << 10;

const fn crash(name: &'static str, rule: &'static str, about: &'static str, at: fn(&[u8]) -> bool) -> Fault {
    fault(name, rule, about, Kind::Stdio(Habit::BreaksOff(at))).stdio().breaks_too(&["safety.no-crash"])
}

/// A line as JSON; null where it is none.
fn read(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_default()
}

/// Whether a line cancels a request whose id `is` so. Remembers the requests that are answered at once.
fn cancels(line: &[u8], is: fn(&Value) -> bool) -> bool {
    let message = read(line);
    let at_once = message["method"].is_string() && message["method"] != "tools/call";
    if let Some(id) = message["id"].as_i64().filter(|_| at_once) {
        SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }
    message["method"] == "notifications/cancelled" && is(&message["params"]["requestId"])
}

/// The ids of requests that are answered at once: whoever cancels one comes too late.
static SEEN: Mutex<BTreeSet<i64>> = Mutex::new(BTreeSet::new());

fn is_late(id: &Value) -> bool {
    id.as_i64().is_some_and(|id| SEEN.lock().unwrap_or_else(PoisonError::into_inner).contains(&id))
}
