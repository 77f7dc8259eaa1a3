//! One task: what state it is in, how it gets from one to another, and who hears of that. Everything happens under one
//! lock, messages included, so that nothing is said of a task after its end was told.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use net::service::{Link, RpcError};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::clock;
use super::store::Owner;
use crate::Server;
use crate::catalogue::{Content, Output, Question};

/// What came of a task.
#[derive(Debug)]
pub(super) enum Ending {
    /// A result, good or bad.
    Done(Output),
    /// A JSON-RPC error.
    Error(RpcError),
    /// The client's wish.
    Cancelled,
}

/// An answer, or why there is none.
pub(crate) type Answer = Result<Value, String>;

/// A question to the client.
#[derive(Clone, Debug)]
struct Open {
    key: String,
    question: Question,
    answer: Option<Answer>,
}

#[derive(Debug)]
enum Phase {
    Working,
    InputRequired(Vec<Open>),
    Over(Ending),
}

#[derive(Debug)]
struct State {
    phase: Phase,
    updated: String,
    /// What was answered and not yet taken by the one who asked.
    answers: Option<Vec<Answer>>,
    /// Every key that a question ever had.
    keys: HashSet<String>,
    /// The requests for the result that wait, oldest first; the newest puts the questions.
    waiting: Vec<u64>,
    waited: u64,
}

/// A task.
#[derive(Debug)]
pub(crate) struct Task {
    id: String,
    number: u64,
    owner: Owner,
    ttl: Duration,
    poll_interval: Duration,
    created: String,
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Task {
    pub(super) fn new(id: String, number: u64, owner: Owner, ttl: Duration, poll_interval: Duration) -> Self {
        let created = clock::now();
        let state = State {
            phase: Phase::Working,
            updated: created.clone(),
            answers: None,
            keys: HashSet::new(),
            waiting: Vec::new(),
            waited: 0,
        };
        let changed = watch::Sender::new(());
        Self { id, number, owner, ttl, poll_interval, created, state: Mutex::new(state), changed }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    pub(super) const fn owner(&self) -> &Owner {
        &self.owner
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on to another phase, and tells whoever wants to know.
    fn shift(&self, server: &Server, state: &mut State, phase: Phase) {
        let before = self.status(state);
        state.phase = phase;
        state.updated = clock::now();
        match &self.owner {
            Owner::Session(session) if before != self.status(state) => {
                if let Some(session) = session.upgrade() {
                    let _ = session.notify("notifications/tasks/status", Some(self.legacy_view(state)));
                }
            }
            Owner::Session(_) => {}
            Owner::Anyone => server.state().hub.announce_task(&self.id, self.detailed_view(state)),
        }
        self.changed.send_replace(());
    }

    /// Ends it; `false` where it had ended before, and stays as it was.
    pub(super) fn end(&self, server: &Server, ending: Ending) -> bool {
        let mut state = self.state();
        let open = !matches!(state.phase, Phase::Over(_));
        if open {
            self.shift(server, &mut state, Phase::Over(ending));
        }
        open
    }

    /// Waits for its end.
    pub(super) async fn over(&self) {
        let mut changed = self.changed.subscribe();
        while !matches!(self.state().phase, Phase::Over(_)) {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Sends what belongs to it, where its era has such messages and it goes on.
    pub(crate) fn notify(&self, method: &str, mut params: Value) {
        let state = self.state();
        let Owner::Session(session) = &self.owner else { return };
        if let (Phase::Working | Phase::InputRequired(_), Some(session)) = (&state.phase, session.upgrade()) {
            params["_meta"] = self.related();
            let _ = session.notify(method, Some(params));
        }
    }

    /// Asks the client, and waits for an answer to each question. One round at a time.
    pub(crate) async fn ask(&self, server: &Server, questions: &[Question]) -> Vec<Answer> {
        let mut changed = self.changed.subscribe();
        self.put(server, questions);
        loop {
            if let Some(answers) = self.state().answers.take() {
                return answers;
            }
            if changed.changed().await.is_err() {
                return Vec::new();
            }
        }
    }

    fn put(&self, server: &Server, questions: &[Question]) {
        let mut state = self.state();
        if !matches!(state.phase, Phase::Working) {
            return;
        }
        let open = questions.iter().map(|question| {
            // A key that once was another question's would tell a client that it has answered this one.
            let mut key = question.key.to_string();
            while !state.keys.insert(key.clone()) {
                key = format!("{}-{}", question.key, state.keys.len());
            }
            Open { key, question: question.clone(), answer: None }
        });
        let open = open.collect();
        self.shift(server, &mut state, Phase::InputRequired(open));
    }

    /// Takes answers to questions that are open, by key; what is answered twice or was not asked is passed over. Takes
    /// none where one of them is no answer to its question.
    pub(super) fn update(&self, server: &Server, answers: &Map<String, Value>) -> Result<(), RpcError> {
        let mut state = self.state();
        let Phase::InputRequired(open) = &state.phase else { return Ok(()) };
        let mut open = open.clone();
        let mut taken = false;
        for question in open.iter_mut().filter(|question| question.answer.is_none()) {
            let Some(answer) = answers.get(&question.key) else { continue };
            if !question.question.fits(answer) {
                let key = question.key.escape_debug();
                let what = format!("Invalid params: `inputResponses.{key}` does not answer what was asked");
                return Err(RpcError::invalid_params(what));
            }
            question.answer = Some(Ok(answer.clone()));
            taken = true;
        }
        if taken {
            self.answered(server, &mut state, open);
        }
        Ok(())
    }

    fn answered(&self, server: &Server, state: &mut State, open: Vec<Open>) {
        match open.iter().map(|question| question.answer.clone()).collect::<Option<Vec<_>>>() {
            Some(answers) => {
                state.answers = Some(answers);
                self.shift(server, state, Phase::Working);
            }
            None => self.shift(server, state, Phase::InputRequired(open)),
        }
    }

    /// Takes the answer to one question (2025-11-25). One that does not fit is none.
    pub(super) fn answer(&self, server: &Server, key: &str, answer: Answer) {
        let mut state = self.state();
        let Phase::InputRequired(open) = &state.phase else { return };
        let mut open = open.clone();
        for question in open.iter_mut().filter(|question| question.key == key && question.answer.is_none()) {
            let unfit = || "The client's answer is not what was asked for".to_owned();
            question.answer =
                Some(answer.clone().and_then(
                    |answer| {
                        if question.question.fits(&answer) { Ok(answer) } else { Err(unfit()) }
                    },
                ));
        }
        self.answered(server, &mut state, open);
    }
}

/// What a request for the result has to do next (2025-11-25).
pub(super) enum Next {
    /// Give this result.
    Result(Value),
    /// Give this error.
    Error(RpcError),
    /// Ask this: the key, the method and the parameters.
    Ask(String, &'static str, Value),
    /// Wait for a change.
    Wait,
}

/// A request for the result, in the queue of those that wait. The newest puts the questions: the client may not read the
/// streams of the older ones any more.
pub(super) struct Ticket<'a> {
    task: &'a Task,
    number: u64,
}

impl Task {
    /// Queues a request for the result.
    pub(super) fn queue(&self) -> Ticket<'_> {
        let mut state = self.state();
        state.waited += 1;
        let number = state.waited;
        state.waiting.push(number);
        drop(state);
        self.changed.send_replace(());
        Ticket { task: self, number }
    }

    /// Tells of every change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

impl Ticket<'_> {
    /// What to do next.
    pub(super) fn next(&self) -> Next {
        let state = self.task.state();
        match &state.phase {
            Phase::Over(ending) => self.task.payload(ending),
            Phase::InputRequired(open) if state.waiting.last() == Some(&self.number) => {
                let Some(open) = open.iter().find(|question| question.answer.is_none()) else { return Next::Wait };
                let mut params = open.question.params(R2025_11_25).unwrap_or_else(|| json!({}));
                params["_meta"] = self.task.related();
                Next::Ask(open.key.clone(), open.question.method(), params)
            }
            Phase::InputRequired(_) | Phase::Working => Next::Wait,
        }
    }

    /// Whether this question is still for this request to ask.
    pub(super) fn may_ask(&self, key: &str) -> bool {
        matches!(self.next(), Next::Ask(next, ..) if next == key)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.task.state().waiting.retain(|number| *number != self.number);
        self.task.changed.send_replace(());
    }
}

/// What is seen of a task from outside.
impl Task {
    fn status(&self, state: &State) -> &'static str {
        match &state.phase {
            Phase::Working => "working",
            Phase::InputRequired(_) => "input_required",
            // The extension keeps `failed` for JSON-RPC errors.
            Phase::Over(Ending::Done(output)) if output.is_error && self.is_legacy() => "failed",
            Phase::Over(Ending::Done(_)) => "completed",
            Phase::Over(Ending::Error(_)) => "failed",
            Phase::Over(Ending::Cancelled) => "cancelled",
        }
    }

    const fn is_legacy(&self) -> bool {
        matches!(self.owner, Owner::Session(_))
    }

    /// How it stands.
    pub(super) fn current_status(&self) -> &'static str {
        self.status(&self.state())
    }

    /// `_meta` of what belongs to it (2025-11-25).
    pub(super) fn related(&self) -> Value {
        json!({ "io.modelcontextprotocol/related-task": { "taskId": self.id } })
    }

    /// `Task` of 2025-11-25.
    pub(super) fn legacy(&self) -> Value {
        self.legacy_view(&self.state())
    }

    fn legacy_view(&self, state: &State) -> Value {
        let mut view = self.view(state);
        view["ttl"] = json!(millis(self.ttl));
        view["pollInterval"] = json!(millis(self.poll_interval));
        view
    }

    /// `Task` of the extension.
    pub(super) fn modern(&self) -> Value {
        self.modern_view(&self.state())
    }

    fn modern_view(&self, state: &State) -> Value {
        let mut view = self.view(state);
        view["ttlMs"] = json!(millis(self.ttl));
        view["pollIntervalMs"] = json!(millis(self.poll_interval));
        view
    }

    /// `DetailedTask` of the extension.
    pub(super) fn detailed(&self) -> Value {
        self.detailed_view(&self.state())
    }

    fn detailed_view(&self, state: &State) -> Value {
        let mut view = self.modern_view(state);
        match &state.phase {
            Phase::InputRequired(open) => {
                let open = open.iter().filter(|question| question.answer.is_none());
                let requests = open.map(|open| (open.key.clone(), open.question.input_request(R2026_07_28)));
                view["inputRequests"] = Value::Object(requests.collect());
            }
            Phase::Over(Ending::Done(output)) => {
                view["result"] = json!(output);
                view["result"]["resultType"] = json!("complete");
            }
            Phase::Over(Ending::Error(error)) => view["error"] = json!(error),
            Phase::Working | Phase::Over(Ending::Cancelled) => {}
        }
        view
    }

    fn view(&self, state: &State) -> Value {
        let mut view = json!({
            "taskId": self.id,
            "status": self.status(state),
            "createdAt": self.created,
            "lastUpdatedAt": state.updated,
        });
        if let Some(message) = message(&state.phase) {
            view["statusMessage"] = json!(message);
        }
        view
    }

    /// What `tasks/result` gives in the end (2025-11-25).
    fn payload(&self, ending: &Ending) -> Next {
        match ending {
            Ending::Done(output) => {
                let mut result = json!(output);
                result["_meta"] = self.related();
                Next::Result(result)
            }
            Ending::Error(error) => Next::Error(error.clone()),
            Ending::Cancelled => Next::Error(RpcError::invalid_params("The task was cancelled: it has no result")),
        }
    }

    /// Tells a subscriber how it stands, in the order of all that is said of it.
    pub(crate) fn tell(&self, link: &Link, meta: &Value) {
        let state = self.state();
        let mut params = self.detailed_view(&state);
        params["_meta"] = meta.clone();
        let _ = link.notify("notifications/tasks", params);
    }
}

/// A word for people.
fn message(phase: &Phase) -> Option<String> {
    match phase {
        Phase::InputRequired(_) => Some("Waiting for an answer of the client".to_owned()),
        Phase::Over(Ending::Done(output)) if output.is_error => output.content.iter().find_map(|block| match block {
            Content::Text { text } => Some(text.clone()),
            _ => None,
        }),
        Phase::Working | Phase::Over(Ending::Done(_)) => None,
        Phase::Over(Ending::Error(error)) => Some(error.message.to_string()),
        Phase::Over(Ending::Cancelled) => Some("Cancelled by the client".to_owned()),
    }
}
