//! Asking the client something before a call is answered: requests of ours in the legacy era, results that ask in the
//! modern one (basic/patterns/mrtr, client/elicitation, client/sampling, client/roots). What is asked does not show which.

mod dialogue;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use net::service::{RpcError, code};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use wire::revision::R2025_11_25;
use wire::serf::Category;
use wire::{Era, Kind, Revision};

use crate::Server;
use crate::catalogue::{Invocation, Outcome, Text};
use crate::tasks::Task;

pub use dialogue::ask_on;

/// How long a client may take to come back with an answer.
const STATE_LIFE: Duration = Duration::from_mins(10);

/// Something the client is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its key among the input requests of the modern era.
    pub key: Text,
    matter: Matter,
}

#[derive(Clone, Debug)]
enum Matter {
    Form { message: Text, schema: Value, named: bool },
    Url { message: Text, url: Text, id: Text },
    Sampling { prompt: Text },
    Tools { messages: Value, tools: Value, barred: bool },
    Roots,
}

impl Question {
    /// Asks the user to fill in a form; `schema` is its `requestedSchema`.
    pub fn form(key: impl Into<Text>, message: impl Into<Text>, schema: Value) -> Self {
        Self { key: key.into(), matter: Matter::Form { message: message.into(), schema, named: true } }
    }

    /// The same without `mode`, which then means a form.
    pub fn form_without_mode(key: impl Into<Text>, message: impl Into<Text>, schema: Value) -> Self {
        Self { key: key.into(), matter: Matter::Form { message: message.into(), schema, named: false } }
    }

    /// Asks the user to visit a page; `id` names the visit to legacy clients.
    pub fn url(key: impl Into<Text>, message: impl Into<Text>, url: impl Into<Text>, id: impl Into<Text>) -> Self {
        Self { key: key.into(), matter: Matter::Url { message: message.into(), url: url.into(), id: id.into() } }
    }

    /// Asks the client's model to complete a prompt.
    pub fn sampling(key: impl Into<Text>, prompt: impl Into<Text>) -> Self {
        Self { key: key.into(), matter: Matter::Sampling { prompt: prompt.into() } }
    }

    /// Asks the client's model to go on with a conversation in which it may use tools, unless they are `barred`.
    pub fn sampling_with_tools(key: impl Into<Text>, messages: Value, tools: Value, barred: bool) -> Self {
        Self { key: key.into(), matter: Matter::Tools { messages, tools, barred } }
    }

    /// Asks for the client's roots.
    pub fn roots(key: impl Into<Text>) -> Self {
        Self { key: key.into(), matter: Matter::Roots }
    }

    pub(crate) const fn method(&self) -> &'static str {
        match self.matter {
            Matter::Form { .. } | Matter::Url { .. } => "elicitation/create",
            Matter::Sampling { .. } | Matter::Tools { .. } => "sampling/createMessage",
            Matter::Roots => "roots/list",
        }
    }

    pub(crate) fn params(&self, revision: Revision) -> Option<Value> {
        match &self.matter {
            Matter::Form { message, schema, named: true } if revision.at_least(R2025_11_25) => {
                Some(json!({ "mode": "form", "message": message, "requestedSchema": schema }))
            }
            Matter::Form { message, schema, .. } => Some(json!({ "message": message, "requestedSchema": schema })),
            Matter::Url { message, url, id } if revision.era() == Era::Legacy => {
                Some(json!({ "mode": "url", "message": message, "url": url, "elicitationId": id }))
            }
            Matter::Url { message, url, .. } => Some(json!({ "mode": "url", "message": message, "url": url })),
            Matter::Sampling { prompt } => Some(json!({
                "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
                "maxTokens": 100,
            })),
            Matter::Tools { messages, tools, barred } => {
                let mode = if *barred { "none" } else { "auto" };
                let choice = json!({ "mode": mode });
                Some(json!({ "messages": messages, "tools": tools, "toolChoice": choice, "maxTokens": 100 }))
            }
            Matter::Roots => None,
        }
    }

    /// The capabilities a client has that answers this.
    fn needs(&self) -> Value {
        match self.matter {
            Matter::Form { .. } => json!({ "elicitation": { "form": {} } }),
            Matter::Url { .. } => json!({ "elicitation": { "url": {} } }),
            Matter::Sampling { .. } => json!({ "sampling": {} }),
            Matter::Tools { .. } => json!({ "sampling": { "tools": {} } }),
            Matter::Roots => json!({ "roots": {} }),
        }
    }

    /// Whether the client declared what it takes. Elicitation that names modes must name this one.
    pub fn can_be_asked(&self, invocation: &Invocation) -> bool {
        let Some(declared) = invocation.call.client_capabilities() else { return false };
        let has = |name| declared.get(name).is_some_and(Value::is_object);
        let mode = |name| declared.get("elicitation").is_some_and(|modes| modes.get(name).is_some());
        match self.matter {
            Matter::Form { .. } => has("elicitation") && (mode("form") || !mode("url")),
            Matter::Url { .. } => has("elicitation") && mode("url"),
            Matter::Sampling { .. } => has("sampling"),
            Matter::Tools { .. } => declared.pointer("/sampling/tools").is_some_and(Value::is_object),
            Matter::Roots => has("roots"),
        }
    }

    /// The question as an input request of the modern era.
    pub(crate) fn input_request(&self, revision: Revision) -> Value {
        let mut request = json!({ "method": self.method() });
        if let Some(params) = self.params(revision) {
            request["params"] = params;
        }
        request
    }

    /// Whether `answer` is one to this question.
    pub(crate) fn fits(&self, answer: &Value) -> bool {
        match &self.matter {
            Matter::Form { schema, .. } => match answer.get("action").and_then(Value::as_str) {
                Some("accept") => answer.get("content").is_some_and(|content| schema::fits(schema, content)),
                action => matches!(action, Some("decline" | "cancel")),
            },
            Matter::Url { .. } => {
                matches!(answer.get("action").and_then(Value::as_str), Some("accept" | "decline" | "cancel"))
            }
            Matter::Sampling { .. } | Matter::Tools { .. } => {
                let text = |name| answer.get(name).is_some_and(Value::is_string);
                let content = answer.get("content");
                text("role") && text("model") && content.is_some_and(|all| all.is_object() || all.is_array())
            }
            Matter::Roots => answer
                .get("roots")
                .and_then(Value::as_array)
                .is_some_and(|roots| roots.iter().all(|root| root.get("uri").is_some_and(Value::is_string))),
        }
    }
}

/// Why there are no answers.
#[derive(Debug)]
pub enum Unanswered {
    /// The client is asked by the result (modern era).
    InputRequired(Value),
    /// The client cannot be asked, or its state is not ours (modern era).
    Refused(RpcError),
    /// The client cannot be asked, or what it said is no answer (legacy era).
    Failed(String),
}

impl From<Unanswered> for Outcome {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::InputRequired(body) => Self::InputRequired(body),
            Unanswered::Refused(error) => Self::Refused(error),
            Unanswered::Failed(why) => Self::failure(Category::InvalidInput, why),
        }
    }
}

impl From<Unanswered> for Outcome<crate::catalogue::Messages> {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::InputRequired(body) => Self::InputRequired(body),
            Unanswered::Refused(error) => Self::Refused(error),
            Unanswered::Failed(why) => Self::Refused(RpcError::internal(why)),
        }
    }
}

/// Asks by the result of a modern call, and gives the client no state to bring back: answers are taken as they come, asked
/// for or not. For what may as well be told by whoever calls.
pub fn ask_without_state(invocation: &Invocation, questions: &[Question]) -> Result<Vec<Value>, Unanswered> {
    let missing: Vec<_> = questions.iter().filter(|question| !question.can_be_asked(invocation)).collect();
    if !missing.is_empty() {
        return Err(Unanswered::Refused(missing_capabilities(&missing)));
    }
    // Whatever it is, it is not ours.
    if invocation.request_state.is_some() {
        return Err(foreign_state());
    }
    let answers = fitting(invocation.input_responses.as_ref(), questions);
    answers.ok_or_else(|| asked(invocation, questions, None))
}

/// Asks everything at once, as far as the era can, and gives the answers in the questions' order.
pub async fn ask(server: &Server, invocation: &Invocation, questions: Vec<Question>) -> Result<Vec<Value>, Unanswered> {
    ask_in_turn(server, invocation, vec![questions]).await
}

/// Asks each round when the one before is answered, and gives all answers in the questions' order.
pub async fn ask_in_turn(
    server: &Server,
    invocation: &Invocation,
    rounds: Vec<Vec<Question>>,
) -> Result<Vec<Value>, Unanswered> {
    let modern = invocation.call.context.era() == Era::Modern;
    if modern && invocation.task.is_none() {
        return ask_by_result(server, invocation, &rounds);
    }
    let missing: Vec<_> = rounds.iter().flatten().filter(|question| !question.can_be_asked(invocation)).collect();
    match missing.first() {
        Some(_) if modern => Err(Unanswered::Refused(missing_capabilities(&missing))),
        Some(question) => Err(Unanswered::Failed(format!("This client did not declare {}", question.needs()))),
        None => match &invocation.task {
            Some(task) => ask_as_task(server, task, &rounds).await,
            None => legacy(invocation, &rounds).await,
        },
    }
}

/// Gives the answers that came with a modern call, or what asks for them.
pub(crate) fn ask_by_result(
    server: &Server,
    invocation: &Invocation,
    rounds: &[Vec<Question>],
) -> Result<Vec<Value>, Unanswered> {
    let missing: Vec<_> = rounds.iter().flatten().filter(|question| !question.can_be_asked(invocation)).collect();
    if !missing.is_empty() {
        return Err(Unanswered::Refused(missing_capabilities(&missing)));
    }
    answers_so_far(server, invocation, rounds)
}

/// Asks through the task that the call became: its client sees that there is something to answer.
async fn ask_as_task(server: &Server, task: &Task, rounds: &[Vec<Question>]) -> Result<Vec<Value>, Unanswered> {
    let mut answers = Vec::new();
    for round in rounds {
        for answer in task.ask(server, round).await {
            answers.push(answer.map_err(Unanswered::Failed)?);
        }
    }
    Ok(answers)
}

/// The error that names what a client would have to declare (2026-07-28).
fn missing_capabilities(questions: &[&Question]) -> RpcError {
    let mut required = Map::new();
    for question in questions {
        for (capability, parts) in question.needs().as_object().into_iter().flatten() {
            let entry = required.entry(capability.clone()).or_insert_with(|| json!({}));
            if let (Some(entry), Some(parts)) = (entry.as_object_mut(), parts.as_object()) {
                entry.extend(parts.clone());
            }
        }
    }
    RpcError::new(code::MISSING_CLIENT_CAPABILITY, "Missing required client capability")
        .with_data(json!({ "requiredCapabilities": required }))
}

async fn legacy(invocation: &Invocation, rounds: &[Vec<Question>]) -> Result<Vec<Value>, Unanswered> {
    let mut answers = Vec::new();
    for question in rounds.iter().flatten() {
        let params = question.params(invocation.call.context.revision).unwrap_or_else(|| json!({}));
        let answer = invocation.call.link.request(question.method(), params).await;
        let message = answer.map_err(|error| Unanswered::Failed(error.to_string()))?;
        if message.kind() == Kind::Error {
            return Err(Unanswered::Failed("The client answered with an error".to_owned()));
        }
        let result = message.result().filter(|result| question.fits(result));
        let unfit = || Unanswered::Failed("The client's answer is not what was asked for".to_owned());
        answers.push(result.cloned().ok_or_else(unfit)?);
    }
    Ok(answers)
}

/// What a state carries: the answers of the rounds that are over.
#[derive(Default, Deserialize, Serialize)]
struct Progress {
    rounds: usize,
    answers: Vec<Value>,
}

/// Gives the answers where all are there and fit; asks, or asks again, where not.
fn answers_so_far(
    server: &Server,
    invocation: &Invocation,
    rounds: &[Vec<Question>],
) -> Result<Vec<Value>, Unanswered> {
    let mut progress = match &invocation.request_state {
        None => Progress::default(),
        Some(state) => opened(server, invocation, state).ok_or_else(foreign_state)?,
    };
    let Some(round) = rounds.get(progress.rounds) else { return Ok(progress.answers) };
    // Without our state the answers are to questions that nobody asked.
    let given = invocation.input_responses.as_ref().filter(|_| invocation.request_state.is_some());
    let asked_again = |round, progress| asked(invocation, round, Some(closed(server, invocation, progress)));
    let Some(answers) = fitting(given, round) else { return Err(asked_again(round, &progress)) };
    progress.answers.extend(answers);
    progress.rounds += 1;
    match rounds.get(progress.rounds) {
        Some(next) => Err(asked_again(next, &progress)),
        None => Ok(progress.answers),
    }
}

fn foreign_state() -> Unanswered {
    Unanswered::Refused(RpcError::invalid_params("Invalid params: `requestState` is not valid for this request"))
}

/// The answers to all questions, where each is there and fits; what else was given is ignored.
fn fitting(given: Option<&Map<String, Value>>, questions: &[Question]) -> Option<Vec<Value>> {
    let answer = |question: &Question| given?.get(&*question.key).filter(|answer| question.fits(answer)).cloned();
    questions.iter().map(answer).collect()
}

fn asked(invocation: &Invocation, questions: &[Question], state: Option<String>) -> Unanswered {
    let requests: Map<String, Value> = questions
        .iter()
        .map(|question| (question.key.to_string(), question.input_request(invocation.call.context.revision)))
        .collect();
    let mut body = json!({ "inputRequests": requests });
    if let Some(state) = state {
        body["requestState"] = state.into();
    }
    Unanswered::InputRequired(body)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

/// What binds a state to its request: the method, the name, the arguments, and whose token let it in.
fn digest(invocation: &Invocation) -> [u8; 32] {
    let message = &invocation.call.message;
    let name = message.params().and_then(|params| params.get("name"));
    let subject = invocation.call.context.subject.as_ref().and_then(|subject| subject.to_str().ok());
    Sha256::digest(json!([message.method(), name, invocation.arguments, subject]).to_string()).into()
}

fn closed(server: &Server, invocation: &Invocation, progress: &Progress) -> String {
    let expires = (now() + STATE_LIFE.as_secs()).to_be_bytes();
    let progress = serde_json::to_vec(progress).unwrap_or_default();
    server.state().seal.close("state", &[&expires[..], &digest(invocation), &progress].concat())
}

fn opened(server: &Server, invocation: &Invocation, state: &str) -> Option<Progress> {
    let payload = server.state().seal.open("state", state)?;
    let (expires, rest) = payload.split_first_chunk::<8>()?;
    let (bound, progress) = rest.split_first_chunk::<32>()?;
    let valid = u64::from_be_bytes(*expires) > now() && *bound == digest(invocation);
    valid.then(|| serde_json::from_slice(progress).ok())?
}
