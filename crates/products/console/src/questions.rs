//! What servers ask while the page is open: questions wait here until somebody answers, or the server withdraws them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use client::{Abilities, Answer, Answering, Question, Refused, Respondent};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use wire::error_code::INTERNAL_ERROR;
use wire::meta::TASKS_EXTENSION;

use crate::hub::Hub;
use crate::sending::takes_tasks;

/// How many questions may wait, and their bytes: all of them are in every state that the page gets.
const MOST: usize = 256;
const BYTES: usize = 4 << 20;

/// The open questions of all targets. Clones are the same ones.
#[derive(Clone)]
pub(crate) struct Questions {
    open: Arc<Mutex<Open>>,
    hub: Arc<Hub>,
}

#[derive(Default)]
struct Open {
    next: u64,
    bytes: usize,
    waiting: BTreeMap<u64, Waiting>,
}

impl Open {
    fn remove(&mut self, number: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&number)?;
        self.bytes -= waiting.bytes;
        Some(waiting)
    }
}

struct Waiting {
    target: u32,
    at: u64,
    bytes: usize,
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
        let waiting = self.open().remove(number);
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

    /// Takes a question in, if there is room for it.
    fn ask(&self, target: u32, question: Question) -> Result<(Withdrawn, oneshot::Receiver<Answer>), Refused> {
        let (answer, answered) = oneshot::channel();
        let bytes = Value::Object(shown(&question)).to_string().len();
        let mut open = self.open();
        if open.waiting.len() >= MOST || open.bytes + bytes > BYTES {
            let message = format!("more than {MOST} questions or {} MiB of them are open", BYTES >> 20);
            return Err(Refused { code: INTERNAL_ERROR, message });
        }
        open.next += 1;
        open.bytes += bytes;
        let number = open.next;
        open.waiting.insert(number, Waiting { target, at: self.hub.now(), bytes, question, answer });
        drop(open);
        self.hub.state_changed();
        Ok((Withdrawn { questions: self.clone(), number }, answered))
    }
}

/// Removes a question that nobody waits for any more.
struct Withdrawn {
    questions: Questions,
    number: u64,
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        if self.questions.open().remove(self.number).is_some() {
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
    /// Whether the page shows apps.
    pub(crate) apps: bool,
}

impl Respondent for AskPage {
    fn abilities(&self) -> Abilities {
        let extensions: &[&str] = if takes_tasks() { &[TASKS_EXTENSION] } else { &[] };
        Abilities { changing_roots: false, tasks: false, apps: self.apps, extensions, ..Abilities::ALL }
    }

    fn answer(&self, question: Question) -> Answering {
        let asked = self.questions.ask(self.target, question);
        Box::pin(async move {
            let (_withdrawn, answered) = asked?;
            answered.await.unwrap_or_else(|_| Err(Refused::by_user()))
        })
    }
}

#[cfg(test)]
mod tests {
    use wire::redact::Redactor;

    use super::*;
    use crate::hub::Bounds;

    #[test]
    fn questions_have_a_limit_in_number_and_in_bytes() {
        let questions = Questions::new(&Arc::new(Hub::new(Bounds::default(), Redactor::new([7; 32]))));
        let ask = |bytes: usize| questions.ask(1, Question::Sampling(json!({ "text": "x".repeat(bytes) })));
        let small: Vec<_> = std::iter::from_fn(|| ask(10).ok()).take(MOST + 1).collect();
        assert_eq!(small.len(), MOST);
        drop(small);
        let large: Vec<_> = std::iter::from_fn(|| ask(1 << 20).ok()).take(MOST).collect();
        assert_eq!(large.len(), 3);
        // One that is answered or withdrawn makes room.
        let newest = questions.open().next;
        assert!(questions.answer(newest, Ok(json!({}))));
        let another = ask(1 << 20);
        assert!(another.is_ok() && ask(1 << 20).is_err());
        drop((large, another));
        assert_eq!(questions.open().bytes, 0);
        assert!(questions.open().waiting.is_empty());
        assert!(ask(BYTES).is_err_and(|refused| refused.message.contains("4 MiB")));
    }
}
