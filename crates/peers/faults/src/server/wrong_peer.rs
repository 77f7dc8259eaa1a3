//! A fault of whose answers count: what one client was asked, any other may answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use net::service::{Answer, Link, Reply, Session};
use serde_json::{Value, json};
use wire::revision::R2025_11_25;
use wire::{RequestId, Transport};

use super::{Fault, IncomingMessage, Kind, ServiceRequest, fault};

const ELICIT: &str = "elicitation/create";

pub(super) const FAULTS: &[&Fault] = &[&fault(
    "answered-by-anybody",
    "elicitation.bound-to-client",
    "what one client is asked any other may answer",
    Kind::Several(&[Kind::SideMessages(ask), Kind::Receives(take), Kind::Handles(go_on)]),
)
.breaks_too(&["cancellation.own-requests-only"])
.since(R2025_11_25)
.until(R2025_11_25)
// There is but one client.
.except(Transport::Stdio)];

/// A question under way. Its id tells it from those of all other clients.
struct Question {
    /// The session and the call that it was put for.
    call: (usize, String),
    /// The id that the server itself gave it.
    id: Value,
    /// What somebody has answered.
    answer: Option<Value>,
}

/// All questions under way, by the id that tells them apart, and how many were put.
#[derive(Default)]
struct Questions {
    open: Mutex<BTreeMap<i64, Question>>,
    put: AtomicI64,
}

/// The least id of a question.
const FIRST: i64 = 1_000_000;

impl Questions {
    fn open(&self) -> MutexGuard<'_, BTreeMap<i64, Question>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long after an answer the call goes on by itself, where the answer was its own client's.
const ITSELF: Duration = Duration::from_millis(50);

fn call_of(asked: &ServiceRequest) -> (usize, String) {
    let session = asked.context.session.as_ref().map_or(0, |session| Arc::<Session>::as_ptr(session).addr());
    (session, asked.message["id"].to_string())
}

/// Puts a question under an id that no other client is asked under.
fn ask(asked: &ServiceRequest, mut message: Value) -> Vec<Value> {
    if message["method"] == ELICIT {
        let questions = asked.state.of::<Questions>();
        let id = FIRST + questions.put.fetch_add(1, Ordering::Relaxed);
        let question = Question { call: call_of(asked), id: message["id"].take(), answer: None };
        questions.open().insert(id, question);
        message["id"] = json!(id);
    }
    vec![message]
}

/// Takes an answer, whoever gives it.
fn take(heard: &mut IncomingMessage<'_>) {
    let Some(id) = heard.message["id"].as_i64().filter(|_| heard.message.get("method").is_none()) else { return };
    let questions = heard.state.of::<Questions>();
    if let Some(question) = questions.open().get_mut(&id) {
        question.answer = heard.message.get("result").cloned();
        heard.message["id"] = question.id.clone();
    }
}

/// A call goes on as soon as anybody has answered what it asked.
fn go_on(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    let Reply::Later(mut pending) = reply else { return reply };
    let Some(id) = RequestId::from_value(&asked.message["id"]).filter(|_| asked.is("tools/call")) else {
        return Reply::Later(pending);
    };
    let (call, questions) = (call_of(asked), asked.state.of::<Questions>());
    Reply::later(async move {
        loop {
            let answered = questions.open().values().any(|question| question.call == call && question.answer.is_some());
            if let Ok(answer) = tokio::time::timeout(ITSELF, &mut pending).await {
                questions.open().retain(|_, question| question.call != call);
                return answer;
            }
            if answered {
                questions.open().retain(|_, question| question.call != call);
                let text = json!({ "type": "text", "text": "Somebody has answered" });
                return Answer::result(&id, &json!({ "content": [text] }));
            }
        }
    })
}
