//! One task: what state it is in, how it gets from one to another, and who hears of that. Everything happens under one
//! lock, messages included, so that nothing is said of a task after its end was told.

mod queue;
mod view;

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use net::service::RpcError;
use serde_json::{Map, Value};
use tokio::sync::watch;
use wire::timestamp::rfc3339;

pub(super) use self::queue::{Next, Ticket};
use super::store::Owner;
use crate::Server;
use crate::catalogue::{Output, Question};

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

impl Task {
    pub(super) fn new(id: String, number: u64, owner: Owner, ttl: Duration, poll_interval: Duration) -> Self {
        let created = now();
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
        state.updated = now();
        match &self.owner {
            Owner::Session(session) if before != self.status(state) => {
                if let Some(session) = session.upgrade() {
                    let _ = session.notify("notifications/tasks/status", Some(self.legacy_view(state)));
                }
            }
            Owner::Session(_) => {}
            Owner::Anyone | Owner::Subject(_) => server.state().hub.announce_task(&self.id, self.detailed_view(state)),
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

/// This moment, as tasks tell it.
fn now() -> String {
    rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}
