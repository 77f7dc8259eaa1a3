//! Requests of modern clients that wait at a legacy server for an answer to its question. The client gets the question as
//! `input_required`, with a state that nobody can guess; its retry finds the request again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::RpcError;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use wire::translate::question::Question as Translated;
use wire::translate::table::{Loss, losses};
use wire::{Message, RequestId, Revision};

use crate::ids::Ids;
use crate::losses::Losses;
use crate::question_room::Space;
use crate::relay::{error_text, result_text};
use crate::upstream::{Flight, Lease, Upstream};

/// The most requests that wait, and the most of one subject.
const MOST: usize = 4096;
const MOST_OF_ONE: usize = 1024;

/// How our states begin.
const STATE: &str = "proof-gateway.1.";

/// A question of a server. Its texts are kept as texts: read, a small one can take a hundred times the memory.
pub(crate) struct Question {
    key: String,
    id: Option<RequestId>,
    method: String,
    /// The parameters as the client gets them, where the server sent any.
    params: Option<Box<RawValue>>,
    /// How it is answered; its parameters are gone.
    translated: Translated,
    space: Space,
}

impl Question {
    /// A question of a server of `from` for a client of `to`, which takes this space.
    pub(crate) fn new(message: &Message, from: Revision, to: Revision, space: Space) -> Self {
        let id = message.id().map(RequestId::to_json).unwrap_or_default();
        let method = message.method().unwrap_or_default();
        let key = format!("{}-{}", method.split('/').next().unwrap_or_default(), id.trim_matches('"'));
        Self::keyed(key, message, (from, to), space)
    }

    /// The same under a key.
    pub(crate) fn keyed(key: String, message: &Message, (from, to): (Revision, Revision), space: Space) -> Self {
        let method = message.method().unwrap_or_default().to_owned();
        let nothing = json!({});
        let mut translated = Translated::new(&method, message.params().unwrap_or(&nothing), from, to, &key);
        let shown = std::mem::take(&mut translated.params);
        let params = message.params().and_then(|_| to_raw_value(&shown).ok());
        Self { key, id: message.id().cloned(), method, params, translated, space }
    }

    /// The key under which the client answers.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// How much room it takes, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.space.bytes()
    }

    /// The id that the server gave it.
    pub(crate) const fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// The question as a modern client gets it.
    pub(crate) fn as_input_request(&self) -> Value {
        let mut request = json!({ "method": self.method });
        if let Some(params) = &self.params {
            request["params"] = serde_json::from_str(params.get()).unwrap_or_default();
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
        match self.method.as_str() {
            "elicitation/create" => result_text(self.id(), &json!({ "action": "cancel" })),
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
    /// What it asks for, as a digest: a request may be large.
    pub(crate) content: [u8; 32],
    /// Whose it is.
    pub(crate) subject: Option<HeaderValue>,
}

/// What becomes of a request that names one that waits.
pub(crate) enum Taken {
    /// It does not wait any more.
    Unknown,
    /// It is another client's.
    OfOther,
    /// It asks for something else, or elsewhere.
    OfOtherCall,
    Parked(Box<Parked>),
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

    /// Takes a request out, for the client and the content that it belongs to only: for others it goes on waiting.
    pub(crate) fn take(&self, state: &str, subject: Option<&HeaderValue>, content: &[u8; 32]) -> Taken {
        let mut all = self.all();
        match all.get(state) {
            None => Taken::Unknown,
            Some((parked, _)) if parked.subject.as_ref() != subject => Taken::OfOther,
            Some((parked, _)) if parked.content != *content => Taken::OfOtherCall,
            Some(_) => all.remove(state).map_or(Taken::Unknown, |(parked, _)| Taken::Parked(Box::new(parked))),
        }
    }

    /// Gives those up whose clients have been silent for too long, and tells their servers.
    pub(crate) async fn sweep(&self, patience: Duration, counted: &Losses) {
        let overdue: Vec<Parked> = {
            let mut all = self.all();
            all.extract_if(|_, (_, since)| since.elapsed() > patience).map(|(_, (parked, _))| parked).collect()
        };
        for parked in overdue {
            for question in &parked.questions {
                counted.count(losses::ABANDONED, &parked.upstream.name, &question.method);
                let _ = parked.flight.answer(&question.abandoned()).await;
            }
        }
    }
}
