//! What servers ask while the page is open: questions wait here until somebody answers, or the server withdraws them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Abilities, Answer, Answering, Question, Refused, Respondent};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use crate::hub::Hub;

/// How many questions may wait.
const MOST: usize = 256;

/// The open questions of all targets. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct Questions {
    open: Arc<Mutex<Open>>,
    hub: Arc<Hub>,
}

#[derive(Default)]
struct Open {
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    target: u32,
    at: u64,
    question: Question,
    answer: oneshot::Sender<Answer>,
}

impl Questions {
    pub(crate) fn new(hub: &Arc<Hub>) -> Self {
        Self { open: Arc::default(), hub: hub.clone() }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question; `false` where it is over.
    pub(crate) fn answer(&self, number: u64, answer: Answer) -> bool {
        let waiting = self.open().waiting.remove(&number);
        let answered = waiting.is_some_and(|waiting| waiting.answer.send(answer).is_ok());
        self.hub.state_changed();
        answered
    }

    /// The open questions as the page gets them, with secrets replaced.
    pub(crate) fn to_json(&self) -> Value {
        let redactor = self.hub.redactor();
        let open = self.open();
        let all = open.waiting.iter().map(|(number, waiting)| {
            let mut shown = shown(&waiting.question);
            shown.insert("question".to_owned(), json!(number));
            shown.insert("target".to_owned(), json!(waiting.target));
            shown.insert("at".to_owned(), json!(waiting.at));
            redactor.redact_value(&Value::Object(shown))
        });
        all.collect()
    }

    fn ask(&self, target: u32, question: Question) -> Option<(Withdrawn, oneshot::Receiver<Answer>)> {
        let (answer, answered) = oneshot::channel();
        let mut open = self.open();
        if open.waiting.len() >= MOST {
            return None;
        }
        open.next += 1;
        let number = open.next;
        open.waiting.insert(number, Waiting { target, at: self.hub.now(), question, answer });
        drop(open);
        self.hub.state_changed();
        Some((Withdrawn { questions: self.clone(), number }, answered))
    }
}

/// Removes a question that nobody waits for any more.
struct Withdrawn {
    questions: Questions,
    number: u64,
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        if self.questions.open().waiting.remove(&self.number).is_some() {
            self.questions.hub.state_changed();
        }
    }
}

fn shown(question: &Question) -> Map<String, Value> {
    let shown = match question {
        Question::Roots => json!({ "kind": "roots" }),
        Question::Sampling(params) => json!({ "kind": "sampling", "params": params }),
        Question::Form { message, schema } => json!({ "kind": "form", "message": message, "schema": schema }),
        Question::Url { message, url } => json!({ "kind": "url", "message": message, "url": url }),
    };
    shown.as_object().cloned().unwrap_or_default()
}

/// Lets the page answer for one target.
pub(crate) struct AskPage {
    pub(crate) questions: Questions,
    pub(crate) target: u32,
}

impl Respondent for AskPage {
    fn abilities(&self) -> Abilities {
        Abilities { changing_roots: false, tasks: false, ..Abilities::ALL }
    }

    fn answer(&self, question: Question) -> Answering {
        let asked = self.questions.ask(self.target, question);
        Box::pin(async move {
            let Some((_withdrawn, answered)) = asked else { return Err(Refused::by_user()) };
            answered.await.unwrap_or_else(|_| Err(Refused::by_user()))
        })
    }
}
