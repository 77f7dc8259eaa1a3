//! Questions in the middle of a request: a legacy client is asked at once, a modern one by `input_required`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use net::service::{Answer, NoAnswer, RpcError};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;
use wire::translate::input_request_params;
use wire::translate::question::Question as AskedQuestion;
use wire::translate::table::losses;
use wire::{Era, Message, RequestId, Revision, meta};

use super::texts::{member_text, with_id};
use super::{Relay, Step, error_text, result_text};
use crate::budget::Allowance;
use crate::failure;
use crate::gateway::unasked;
use crate::metrics::Foreign;
use crate::parked::{Parked, Question, Taken};
use crate::question_room::{Asked, NoRoom, Space};
use crate::upstream::{Conversation, Flight, Lease, Trouble};

/// How many questions one round may have.
pub(crate) const QUESTIONS: usize = 64;
/// How long a server that only wants to be asked again is left alone, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// What becomes of a question.
pub(super) enum Handling<'r> {
    /// The gateway answers it.
    Answer(String),
    /// The client is asked at once.
    Ask(BoxFuture<'r, String>),
    /// The client answers with its next request.
    Park(Box<Question>),
    /// There is no room for it: the server gets this answer, and the call ends.
    GiveUp(String, NoRoom),
}

impl Relay {
    /// What becomes of a question of a server of `from`, while others are `parked` for the client's next request.
    pub(super) fn question(&self, message: Message, from: Revision, parked: &[Question]) -> Handling<'_> {
        match (message.method(), self.call.context.era()) {
            // Its manifest may have expired in the course of the request.
            (Some(_), _) if self.gateway.withholds(&self.upstream) => Handling::Answer(unasked(&message)),
            (Some("ping"), _) => Handling::Answer(result_text(message.id(), &json!({}))),
            (Some(method), _) if !may_ask(self.client.capabilities(), method, message.params()) => {
                Handling::Answer(error_text(message.id(), &unable(method, message.params())))
            }
            (_, Era::Modern) if !self.may_have_rounds() => {
                self.lose(losses::QUESTION_OUTSIDE);
                Handling::Answer(unasked(&message))
            }
            (_, Era::Modern) if parked.len() >= QUESTIONS => {
                let error = RpcError::internal("Too many questions at a time");
                Handling::Answer(error_text(message.id(), &error))
            }
            (_, era) => {
                let open = parked.iter().map(Question::bytes).sum::<usize>() + self.asking.load(Ordering::Relaxed);
                match self.space(open, message.text().len()) {
                    Ok(space) if era == Era::Modern => {
                        Handling::Park(Box::new(Question::new(&message, from, self.to(), space)))
                    }
                    Ok(space) => Handling::Ask(self.asked_now(message, from, space)),
                    Err(why) => Handling::GiveUp(why.answer(message.id()), why),
                }
            }
        }
    }

    /// Room for a question of `text` bytes, where the others of this call hold `open`.
    fn space(&self, open: usize, text: usize) -> Result<Space, NoRoom> {
        let asked = Asked { subject: self.client.subject.clone(), upstream: self.upstream.index };
        self.gateway.stats.questions.take(asked, open, text)
    }

    /// The answer where the server asks more than there is room for.
    pub(super) fn give_up(&self, why: NoRoom) -> Answer {
        self.allowance.iter().for_each(|allowance| allowance.learn_nothing());
        tracing::warn!(
            request = self.request,
            upstream = self.upstream.name,
            method = self.method(),
            "a call is given up: {}",
            why.what()
        );
        self.refuse(&why.error())
    }

    /// Begins to ask a legacy client.
    fn asked_now(&self, message: Message, from: Revision, space: Space) -> BoxFuture<'_, String> {
        self.edits.watch.iter().for_each(|watch| watch.note_question());
        self.edits.asked.iter().for_each(|asked| asked.store(true, Ordering::Relaxed));
        self.asking.fetch_add(space.bytes(), Ordering::Relaxed);
        Box::pin(async move {
            let answer = self.ask(message, from).await;
            self.asking.fetch_sub(space.bytes(), Ordering::Relaxed);
            answer
        })
    }

    /// Asks a legacy client and returns the response for the server.
    async fn ask(&self, question: Message, from: Revision) -> String {
        let (id, method) = (question.id().cloned(), question.method().unwrap_or_default().to_owned());
        let key = id.as_ref().map(RequestId::to_json).unwrap_or_default();
        let (asked, text) = self.for_client(&method, question.params(), from, (&key, None));
        drop(question);
        let _pause = self.allowance.as_ref().map(Allowance::pause);
        match self.call.link.request(&method, text).await {
            Ok(answer) => match answer.result() {
                Some(result) => match self.for_server(&asked, result, from) {
                    // What stays the same stays byte for byte.
                    same if same == *result => with_id(answer.text(), id.as_ref()),
                    result => result_text(id.as_ref(), &result),
                },
                None => with_id(answer.text(), id.as_ref()),
            },
            Err(NoAnswer::NotAllowed | NoAnswer::Gone) => {
                error_text(id.as_ref(), &RpcError::new(-1, "The client gave no answer"))
            }
        }
    }

    /// A question of `task`, if it is one's: what its answer needs, and its parameters as the client gets them. These are a
    /// text, which takes less memory.
    fn for_client(
        &self,
        method: &str,
        params: Option<&Value>,
        from: Revision,
        (id, task): (&str, Option<&str>),
    ) -> (AskedQuestion, Box<RawValue>) {
        let nothing = json!({});
        let params = params.unwrap_or(&nothing);
        let shaped = self.client.shape.question(params);
        let mut asked = AskedQuestion::new(method, shaped.as_ref().unwrap_or(params), from, self.to(), id);
        for loss in &asked.losses {
            self.lose(*loss);
        }
        let shown = of_task(asked.noted(), task);
        asked.params = Value::Null;
        (asked, to_raw_value(&shown).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// The client's result as the server gets it.
    fn for_server(&self, asked: &AskedQuestion, result: &Value, to: Revision) -> Value {
        let (result, lost) = asked.answer(result, to);
        for loss in lost {
            self.lose(loss);
        }
        result
    }

    /// Asks a legacy client what a modern server needs (2026-07-28, basic/patterns/mrtr).
    pub(super) async fn next_round(&self, message: &Message, from: Revision, attempt: u32) -> Result<Step, Trouble> {
        let state = member_text(message, "requestState");
        let requests = message.result().and_then(|result| result.get("inputRequests")?.as_object());
        let requests = requests.cloned().unwrap_or_default();
        if requests.is_empty() && state.is_none() || requests.len() > QUESTIONS {
            let what = format!("The server `{}` requires input and does not say which", self.upstream.name);
            return Ok(Step::Done(self.refuse(&failure::ANSWER_INVALID.error(what))));
        }
        if requests.is_empty() {
            sleep((AGAIN.0 * 2_u32.pow(attempt.min(10))).min(AGAIN.1)).await;
            return Ok(Step::Again(None, state));
        }
        match self.ask_all(requests, from, None).await {
            Ok(responses) => Ok(Step::Again(Some(Value::Object(responses)), state)),
            Err(refused) => Ok(Step::Done(refused)),
        }
    }

    /// Asks a legacy client all that a modern server needs, of `task` where a task needs it. An error answers the request,
    /// which cannot go on.
    pub(super) async fn ask_all(
        &self,
        requests: Map<String, Value>,
        from: Revision,
        task: Option<&str>,
    ) -> Result<Map<String, Value>, Answer> {
        self.edits.watch.iter().for_each(|watch| watch.note_question());
        let (mut answers, mut spaces, mut open) = (Vec::new(), Vec::new(), 0);
        for (key, request) in requests {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
            let (asked, text) = self.for_client(&method, request.get("params"), from, (&key, task));
            let space = self.space(open, text.get().len()).map_err(|why| self.give_up(why))?;
            open += space.bytes();
            spaces.push(space);
            let may = may_ask(self.client.capabilities(), &method, request.get("params"));
            answers.push(async move {
                let text = Some(text).filter(|_| may);
                (key, self.answer_to(&method, &asked, text, from).await.ok_or(method))
            });
        }
        let _pause = self.allowance.as_ref().map(Allowance::pause);
        let mut responses = Map::new();
        for (key, answer) in futures_util::future::join_all(answers).await {
            match answer {
                Ok(result) => responses.insert(key, result),
                Err(method) => {
                    let method = wire::escape::snippet(&method, 64);
                    let what = format!("The server needs an answer to `{method}`, which the client did not give");
                    return Err(self.refuse(&failure::QUESTION_UNANSWERED.error(what)));
                }
            };
        }
        Ok(responses)
    }

    /// The client's answer to one of these questions, without `text` none.
    async fn answer_to(
        &self,
        method: &str,
        asked: &AskedQuestion,
        text: Option<Box<RawValue>>,
        from: Revision,
    ) -> Option<Value> {
        let answer = match text {
            Some(text) => self.call.link.request(method, text).await.ok(),
            None => None,
        };
        let result = answer.as_ref().and_then(Message::result);
        let result = result.map(|result| self.for_server(asked, result, from));
        if result.is_none() {
            self.lose(losses::REFUSED_ANSWER);
        }
        // A modern server cannot be told of an error: a form is cancelled, anything else ends the request.
        result.or_else(|| (method == "elicitation/create").then(|| json!({ "action": "cancel" })))
    }

    /// -32042 of 2025-11-25: the call has ended; the client opens the URLs and calls again.
    pub(super) fn url_elicitation(&self, conversation: &Conversation, message: &Message) -> Answer {
        if self.client.capabilities().pointer("/elicitation/url").is_none() {
            let what = "The server needs the client to open a URL for the user";
            let needs = json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
            return self.refuse(&failure::CAPABILITY_MISSING.error_with(what, needs));
        }
        let data = message.error().and_then(|error| error.get("data")?.get("elicitations")?.as_array()).cloned();
        let mut requests = Map::new();
        for (index, params) in data.unwrap_or_default().into_iter().enumerate() {
            let key =
                params.get("elicitationId").and_then(Value::as_str).map_or_else(|| index.to_string(), str::to_owned);
            let params = input_request_params("elicitation/create", &params, self.to(), &key);
            requests.insert(key, json!({ "method": "elicitation/create", "params": params }));
        }
        let body = json!({ "resultType": "input_required", "inputRequests": requests });
        self.own_result(&body, &conversation.profile.server)
    }

    /// Keeps the request open at the upstream until the client has answered, and says what it must answer.
    pub(super) fn park(&self, lease: Lease, flight: Flight, questions: Vec<Question>) -> Answer {
        let requests: Map<String, Value> =
            questions.iter().map(|question| (question.key().to_owned(), question.as_input_request())).collect();
        for loss in questions.iter().flat_map(Question::losses) {
            self.lose(*loss);
        }
        let server = lease.conversation().profile.server.clone();
        let parked = Parked {
            lease,
            flight,
            questions,
            upstream: Arc::clone(&self.upstream),
            content: self.content(),
            subject: self.client.subject.clone(),
        };
        // The rest of the call is another request.
        if let Some(allowance) = &self.allowance {
            allowance.learn_nothing();
        }
        match self.gateway.parked.put(parked) {
            Some(state) => {
                let body = json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state });
                self.own_result(&body, &server)
            }
            None => self.refuse(&failure::TOO_MANY_WAIT.error("Too many requests wait for answers; try again later")),
        }
    }

    /// A result for a modern client that no server sent.
    pub(super) fn own_result(&self, body: &Value, server: &Value) -> Answer {
        Answer::result(self.call.id(), &wire::translate::result(self.method(), body, self.to(), server))
    }

    /// What the request asks for and where, as a digest: a retry must ask for the same.
    fn content(&self) -> [u8; 32] {
        let content = self.call.message.content_key(&["inputResponses", "requestState", "_meta"]);
        let mut digest = Sha256::new();
        for part in [self.gateway.name(), &self.upstream.name, &content] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }

    /// Finds the request that waits under `state`, and goes on with it.
    pub(super) async fn retry(&self, state: &str) -> Answer {
        match self.gateway.parked.take(state, self.client.subject.as_ref(), &self.content()) {
            Taken::Parked(parked) => self.resume(*parked).await,
            Taken::Unknown => {
                self.lose(losses::WAITING_REQUEST);
                // Run without it, the request would be run a second time.
                let what = "Invalid params: `requestState` has expired; the outcome of the request is unknown";
                self.refuse(&failure::STATE_EXPIRED.error(what))
            }
            foreign => {
                if matches!(foreign, Taken::OfOther) {
                    self.gateway.stats.security.crossed(Foreign::RequestState);
                }
                self.refuse(&failure::STATE_FOREIGN.error("Invalid params: `requestState` belongs to another request"))
            }
        }
    }

    /// Goes on with a request whose questions are answered.
    async fn resume(&self, parked: Parked) -> Answer {
        self.trail.goes_to(&self.upstream.name);
        let Parked { lease, flight, questions, .. } = parked;
        let revision = lease.conversation().profile.revision;
        let given = self.call.message.params().and_then(|params| params.get("inputResponses")?.as_object());
        let mut open = Vec::new();
        for question in questions {
            // What cannot be an answer counts as missing: it is asked for again.
            match given.and_then(|given| given.get(question.key())).filter(|answer| answer.is_object()) {
                Some(answer) => {
                    let (text, lost) = question.response(answer, revision);
                    for loss in lost {
                        self.lose(loss);
                    }
                    let sent = flight.answer(&text).await;
                    if let Err(trouble) = sent {
                        return self.failed(&trouble);
                    }
                }
                None => open.push(question),
            }
        }
        match self.follow(lease, flight, open, 0).await {
            Ok(Step::Done(answer)) => answer,
            Ok(Step::Again(..)) => {
                self.refuse(&failure::ANSWER_INVALID.error("A legacy server asked in the way of a modern one"))
            }
            Err(trouble) => self.failed(&trouble),
        }
    }
}

/// The parameters of a question of a task.
fn of_task(mut params: Value, task: Option<&str>) -> Value {
    if let (Some(task), true) = (task, params.is_object()) {
        params["_meta"][meta::RELATED_TASK] = json!({ "taskId": task });
    }
    params
}

/// Whether a question wants the user to open a URL.
fn asks_for_url(method: &str, params: Option<&Value>) -> bool {
    method == "elicitation/create" && params.and_then(|params| params.get("mode")).is_some_and(|mode| mode == "url")
}

/// Whether a client that declared these capabilities can be asked this.
pub(crate) fn may_ask(capabilities: &Value, method: &str, params: Option<&Value>) -> bool {
    let name = method.split_once('/').map_or(method, |(name, _)| name);
    let able = |declared: &Value| !asks_for_url(method, params) || declared.get("url").is_some();
    matches!(name, "roots" | "sampling" | "elicitation") && capabilities.get(name).is_some_and(able)
}

/// What a legacy server reads where the client cannot be asked.
pub(crate) fn unable(method: &str, params: Option<&Value>) -> RpcError {
    if asks_for_url(method, params) {
        return RpcError::invalid_params("Invalid params: the client cannot open a URL for the user");
    }
    RpcError::method_not_found(method)
}
