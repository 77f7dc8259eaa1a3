//! Cached results of a modern server (2026-07-28, server/utilities/caching), for one authorization and in memory only. Results
//! that the server announces as changed are dropped at once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use wire::Message;

/// How many results are kept, and how many bytes they may have together.
const KEPT: usize = 256;
const BYTES: usize = 16 << 20;
/// The longest lifetime of a result.
const LONGEST: Duration = Duration::from_hours(1);

/// Results by method and parameters.
#[derive(Default)]
pub(super) struct Cache(Mutex<HashMap<(String, String), (Message, Instant)>>);

impl Cache {
    /// The result of a request, if it is still fresh.
    pub(super) fn fresh(&self, method: &str, params: &str) -> Option<Message> {
        let (answer, until) = self.entries().get(&(method.to_owned(), params.to_owned()))?.clone();
        (Instant::now() < until).then_some(answer)
    }

    /// Keeps an answer for the lifetime that it states.
    pub(super) fn keep(&self, method: &str, params: &str, answer: &Message) {
        let said = answer.result().and_then(|result| result.get("ttlMs")).and_then(Value::as_u64);
        let Some(span) = said.filter(|&ms| ms > 0).map(|ms| Duration::from_millis(ms).min(LONGEST)) else { return };
        let mut entries = self.entries();
        let now = Instant::now();
        entries.retain(|_, (_, until)| now < *until);
        let bytes: usize = entries.values().map(|(answer, _)| answer.text().len()).sum();
        if entries.len() < KEPT && bytes + answer.text().len() <= BYTES {
            entries.insert((method.to_owned(), params.to_owned()), (answer.clone(), now + span));
        }
    }

    /// Forgets all answers to a method.
    pub(super) fn forget(&self, method: &str) {
        self.entries().retain(|(kept, _), _| kept != method);
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        self.entries().clear();
    }

    /// Forgets what a notification says has changed.
    pub(super) fn notified(&self, method: &str) {
        match method {
            "notifications/tools/list_changed" => self.forget("tools/list"),
            "notifications/prompts/list_changed" => self.forget("prompts/list"),
            "notifications/resources/list_changed" => {
                self.forget("resources/list");
                self.forget("resources/templates/list");
            }
            "notifications/resources/updated" => self.forget("resources/read"),
            _ => {}
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<(String, String), (Message, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
