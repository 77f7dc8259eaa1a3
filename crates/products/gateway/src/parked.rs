//! Requests of modern clients that wait at a legacy server for an answer to its question. The client gets the question as
//! `input_required`, with a state that nobody can guess; its retry finds the request again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::RpcError;
use serde_json::{Value, json};
use wire::translate::question::Question as Translated;
use wire::translate::table::{Loss, losses};
use wire::{Message, RequestId, Revision};

use crate::ids::Ids;
use crate::losses::Losses;
use crate::relay::{error_text, result_text};
use crate::upstream::{Flight, Lease, Upstream};

/// The most requests that wait, and the most of one subject.
const MOST: usize = 4096;
const MOST_OF_ONE: usize = 1024;

/// How our states begin.
const STATE: &str = "proof-gateway.1.";

/// A question of a server.
pub(crate) struct Question {
    key: String,
    message: Message,
    /// As its client gets it.
    translated: Translated,
}

impl Question {
    /// A question of a server of `from` for a client of `to`.
    pub(crate) fn new(message: Message, from: Revision, to: Revision) -> Self {
        let id = message.id().map(RequestId::to_json).unwrap_or_default();
        let method = message.method().unwrap_or_default();
        let key = format!("{}-{}", method.split('/').next().unwrap_or_default(), id.trim_matches('"'));
        Self::keyed(key, message, from, to)
    }

    /// The same under a key.
    pub(crate) fn keyed(key: String, message: Message, from: Revision, to: Revision) -> Self {
        let method = message.method().unwrap_or_default();
        let params = message.params().cloned().unwrap_or_else(|| json!({}));
        let translated = Translated::new(method, &params, from, to, &key);
        Self { key, message, translated }
    }

    /// The key under which the client answers.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// How long its text is, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.message.text().len()
    }

    /// The id that the server gave it.
    pub(crate) fn id(&self) -> Option<&RequestId> {
        self.message.id()
    }

    /// The question as a modern client gets it.
    pub(crate) fn as_input_request(&self) -> Value {
        let mut request = json!({ "method": self.message.method().unwrap_or_default() });
        if self.message.params().is_some() {
            request["params"] = self.translated.params.clone();
        }
        request
    }

    /// What the question lost on its way to the client.
    pub(crate) fn losses(&self) -> &[Loss] {
        &self.translated.losses
    }

    /// The response for a server of `to`, from the client's result, and what it lost.
    pub(crate) fn response(&self, answer: &Value, to: Revision) -> (String, Vec<Loss>) {
        let (result, lost) = self.translated.answer(answer, to);
        (result_text(self.id(), &result), lost)
    }

    /// What the server gets where the client never answers.
    fn abandoned(&self) -> String {
        match self.message.method() {
            Some("elicitation/create") => result_text(self.id(), &json!({ "action": "cancel" })),
            _ => error_text(self.id(), &RpcError::new(-1, "The client gave no answer")),
        }
    }
}

/// A request that waits.
pub(crate) struct Parked {
    pub(crate) lease: Lease,
    pub(crate) flight: Flight,
    pub(crate) questions: Vec<Question>,
    pub(crate) upstream: Arc<Upstream>,
    /// What it asks for.
    pub(crate) content: String,
    /// Whose it is.
    pub(crate) subject: Option<HeaderValue>,
}

/// All requests that wait.
#[derive(Default)]
pub(crate) struct ParkedRequests(Mutex<HashMap<String, (Parked, Instant)>>, Ids);

impl ParkedRequests {
    pub(crate) fn new(ids: Ids) -> Self {
        Self(Mutex::default(), ids)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, (Parked, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request and returns its state; `None` where too many wait.
    pub(crate) fn put(&self, parked: Parked) -> Option<String> {
        let state = self.1.unguessable(STATE)?;
        let mut all = self.all();
        let of_one = all.values().filter(|(other, _)| other.subject == parked.subject).count();
        if all.len() >= MOST || (parked.subject.is_some() && of_one >= MOST_OF_ONE) {
            return None;
        }
        all.insert(state.clone(), (parked, Instant::now()));
        Some(state)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.all().len()
    }

    /// Whether a state was made here.
    pub(crate) fn is_ours(state: &str) -> bool {
        state.starts_with(STATE)
    }

    /// Takes a request out.
    pub(crate) fn take(&self, state: &str) -> Option<Parked> {
        self.all().remove(state).map(|(parked, _)| parked)
    }

    /// Keeps one again that was asked for by somebody else.
    pub(crate) fn put_back(&self, state: String, parked: Parked) {
        self.all().insert(state, (parked, Instant::now()));
    }

    /// Gives those up whose clients have been silent for too long, and tells their servers.
    pub(crate) async fn sweep(&self, patience: Duration, counted: &Losses) {
        let overdue: Vec<Parked> = {
            let mut all = self.all();
            all.extract_if(|_, (_, since)| since.elapsed() > patience).map(|(_, (parked, _))| parked).collect()
        };
        for parked in overdue {
            for question in &parked.questions {
                let method = question.message.method().unwrap_or_default();
                counted.count(losses::ABANDONED, &parked.upstream.name, method);
                let _ = parked.flight.answer(&question.abandoned()).await;
            }
        }
    }
}
