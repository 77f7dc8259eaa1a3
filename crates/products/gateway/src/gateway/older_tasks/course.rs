//! What passes between the gateway and the server of an older task: how it stands, what it asks, its result. Must not know how
//! its client gets that.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use wire::{Message, RequestId};

use super::{About, Silence};
use crate::gateway::unasked;
use crate::older_tasks::Course;
use crate::parked::Question;
use crate::question_room::{Asked, NoRoom};
use crate::relay::{QUESTIONS, error_text, may_ask, result_text, unable};
use crate::upstream::{Event, Flight, Sending, Trouble};
use net::service::RpcError;

/// How long the server of a task that needs input may take to ask for it, before the client hears that it has not.
const FIRST: Duration = Duration::from_secs(1);
/// How long questions that come one after the other may be gathered.
const GATHER: Duration = Duration::from_millis(5);

impl About<'_> {
    /// Asks the server something about the task. What it asks meanwhile belongs to the task, where `course` is given.
    pub(super) async fn ask(&self, method: &str, course: Option<&mut Course>) -> Result<Message, Silence> {
        let core = &self.conversation().core;
        if core.is_ended() {
            return Err(Silence::Gone);
        }
        let limits = &self.inner.limits;
        let answered = timeout(limits.request, self.exchange(method, course)).await;
        match answered.unwrap_or(Err(Trouble::Timeout(limits.request))) {
            Ok(message) if message.error().is_none() => Ok(message),
            Ok(message) => Err(Silence::Refused(message)),
            Err(Trouble::SessionGone) => {
                core.abandon();
                Err(Silence::Gone)
            }
            Err(_) if core.is_ended() => Err(Silence::Gone),
            Err(trouble) => Err(Silence::Failed(trouble.error(self.upstream()))),
        }
    }

    async fn exchange(&self, method: &str, mut course: Option<&mut Course>) -> Result<Message, Trouble> {
        let limit = self.inner.limits.message_bytes;
        let text = self.request(method);
        let mut flight = Flight::start(&self.conversation().core, method, &text, Sending::default(), limit).await?;
        loop {
            match flight.next(limit).await? {
                Event::Response(message) => return Ok(message),
                Event::Question(message) => {
                    let answer = match course.as_deref_mut() {
                        Some(course) => self.take(course, message),
                        None => Some(unasked(&message)),
                    };
                    if let Some(answer) = answer {
                        self.answer_lightly(&answer).await;
                    }
                }
                Event::Notification(_) | Event::Passed(_) | Event::PassedStream(_) => {}
            }
        }
    }

    /// Answers a question without the client. A server that does not take it may still go on.
    async fn answer_lightly(&self, text: &str) {
        if self.conversation().core.post(text).await.is_err() {
            tracing::debug!("the server did not take the answer to its question");
        }
    }

    fn request(&self, method: &str) -> String {
        let params = json!({ "taskId": self.task.place.id });
        json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params }).to_string()
    }

    /// Asks for the result of the task, which comes when it is over. Until `until`, the answer to the request is awaited.
    async fn open(&self, until: Option<Instant>) -> Result<Flight, Trouble> {
        let sending = Sending { task: Some(&self.task.place.id), until, ..Sending::default() };
        let text = self.request("tasks/result");
        let (limit, patience) = (self.inner.limits.message_bytes, self.inner.limits.request);
        let started = Flight::start(&self.conversation().core, "tasks/result", &text, sending, limit);
        timeout(patience, started).await.unwrap_or(Err(Trouble::Timeout(patience)))
    }

    /// Takes what the task asks. Its result, where it has ended meanwhile.
    pub(super) async fn listen(&self, course: &mut Course) -> Result<Option<Message>, Trouble> {
        let begun = Instant::now();
        if course.flight.is_none() {
            course.flight = Some(self.open(Some(begun + FIRST)).await?);
        }
        loop {
            let left = (begun + FIRST).saturating_duration_since(Instant::now());
            let patience = if course.open.is_empty() { left } else { GATHER.min(left) };
            let limit = self.inner.limits.message_bytes;
            let Some(flight) = &mut course.flight else { return Ok(None) };
            match timeout(patience, flight.next(limit)).await {
                Err(_) => return Ok(None),
                Ok(Err(trouble)) => {
                    course.end();
                    return Err(trouble);
                }
                Ok(Ok(Event::Response(message))) => {
                    course.end();
                    return Ok(Some(message));
                }
                Ok(Ok(event)) => self.note(course, event).await,
            }
        }
    }

    /// The result of a task that is over.
    pub(super) async fn fetch(&self, course: &mut Course) -> Result<Message, Trouble> {
        // What was asked before is not needed any more.
        course.open.clear();
        let limit = self.inner.limits.request;
        let fetched = async {
            let was_open = course.flight.is_some();
            match self.end_of(course).await {
                // Its stream may have broken long ago.
                Err(_) if was_open => {
                    course.end();
                    self.end_of(course).await
                }
                other => other,
            }
        };
        let fetched = timeout(limit, fetched).await;
        if !matches!(fetched, Ok(Ok(_))) {
            course.end();
        }
        fetched.unwrap_or(Err(Trouble::Timeout(limit)))
    }

    async fn end_of(&self, course: &mut Course) -> Result<Message, Trouble> {
        if course.flight.is_none() {
            course.flight = Some(self.open(None).await?);
        }
        while let Some(flight) = &mut course.flight {
            match flight.next(self.inner.limits.message_bytes).await? {
                Event::Response(message) => {
                    course.end();
                    return Ok(message);
                }
                Event::Question(message) => self.answer_lightly(&unasked(&message)).await,
                Event::Notification(_) | Event::Passed(_) | Event::PassedStream(_) => {}
            }
        }
        Err(Trouble::Unknown("its response stream ended without a response".to_owned()))
    }

    /// Takes what came on the stream of the result before that.
    async fn note(&self, course: &mut Course, event: Event) {
        match event {
            Event::Question(message) => {
                if let Some(answer) = self.take(course, message) {
                    self.answer_lightly(&answer).await;
                }
            }
            // The server takes a question back.
            Event::Notification(message) if message.method() == Some("notifications/cancelled") => {
                let id = message.params().and_then(|params| RequestId::from_value(params.get("requestId")?));
                course.open.retain(|open| id.is_none() || open.id() != id.as_ref());
            }
            _ => {}
        }
    }

    /// Takes a question in; the answer for the server, where the client cannot be asked.
    fn take(&self, course: &mut Course, message: Message) -> Option<String> {
        let method = message.method().unwrap_or_default();
        if method == "ping" {
            return Some(result_text(message.id(), &json!({})));
        }
        if !may_ask(&self.task.asks, method, message.params()) {
            return Some(error_text(message.id(), &unable(method, message.params())));
        }
        if course.open.len() >= QUESTIONS {
            return Some(error_text(message.id(), &RpcError::internal("Too many questions at a time")));
        }
        let open = course.open.iter().map(Question::bytes).sum();
        let asked = Asked { subject: self.task.subject().cloned(), upstream: self.task.place.upstream.index };
        let space = match self.inner.stats.questions.take(asked, open, message.text().len()) {
            Ok(space) => space,
            Err(why) => {
                self.note_refused(course, why);
                return Some(why.answer(message.id()));
            }
        };
        course.asked += 1;
        let key = format!("{}-{}", method.split('/').next().unwrap_or_default(), course.asked);
        let revisions = (self.conversation().profile.revision, self.to());
        let question = Question::keyed(key, &message, revisions, space);
        for loss in question.losses() {
            self.lose(*loss);
        }
        course.open.push(question);
        None
    }

    /// Keeps that a question was refused, which the state of the task says; the log does for the first one.
    fn note_refused(&self, course: &mut Course, why: NoRoom) {
        if course.refused.replace(why).is_none() {
            tracing::warn!(upstream = self.upstream(), "a question of a task is refused: {}", why.what());
        }
    }

    /// Passes the client's answers to the server. What is not open is ignored, and what cannot be an answer counts as missing.
    pub(super) async fn answer_all(&self, course: &mut Course, given: &Map<String, Value>) -> Result<(), Trouble> {
        let revision = self.conversation().profile.revision;
        let mut at = 0;
        while let Some(open) = course.open.get(at) {
            let Some(answer) = given.get(open.key()).filter(|answer| answer.is_object()) else {
                at += 1;
                continue;
            };
            let (text, lost) = open.response(answer, revision);
            for loss in lost {
                self.lose(loss);
            }
            let limit = self.inner.limits.request;
            let sent = timeout(limit, self.conversation().core.post(&text)).await;
            sent.unwrap_or(Err(Trouble::Timeout(limit))).map_err(Trouble::after_request)?;
            course.open.remove(at);
        }
        Ok(())
    }
}
