//! `proof replay FILE --verify`: the recorded calls made again, and what became of them: drift in the classes of
//! StableToolBench. Judges no rule: it says whether a call that worked still works.

use std::fs::File;
use std::path::Path;

use client::{CallPolicy, Client, ClientError, Options, Params, argument_errors};
use schema::Validator;
use serde_json::{Map, Value};
use serde_json_path::JsonPath;
use wire::Message;
use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND};
use wire::escape::snippet;

use super::BadRecording;
use super::index::{Entries, Index};
use super::prune::is_failure;
use super::request_key::{ENVELOPE, KeyedRequest, has_secret};
use super::scan::Location;

/// After so many requests in a row without an answer, the others are not made.
const SILENT: usize = 3;
/// How many calls are made, and how many answers to one request are looked at.
const MOST: usize = 10_000;
const ANSWERS: usize = 100;
/// How many characters of a reason are kept.
const SHOWN: usize = 200;

/// What became of a recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It is answered as it was: with a result, or with an error where an error was recorded.
    Answered,
    /// The server demands other credentials.
    NotAuthorized,
    /// There is an answer, and it cannot be read: it is invalid, or breaks its own output schema.
    Unparsable,
    /// The server cannot be reached, or does not answer.
    NotConnectable,
    /// The recorded arguments are refused.
    ParametersChanged,
    /// The tool, prompt or resource is not there any more.
    NotFound,
    /// Another error, or the tool failed.
    OtherFailure,
    /// The call was not made.
    NotMade,
}

impl Class {
    /// Every class, in the order of a report.
    pub const ALL: [Self; 8] = [
        Self::Answered,
        Self::NotAuthorized,
        Self::Unparsable,
        Self::NotConnectable,
        Self::ParametersChanged,
        Self::NotFound,
        Self::OtherFailure,
        Self::NotMade,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::NotAuthorized => "not authorized",
            Self::Unparsable => "parsing error",
            Self::NotConnectable => "not connectable",
            Self::ParametersChanged => "parameters changed",
            Self::NotFound => "not found",
            Self::OtherFailure => "other failure",
            Self::NotMade => "not made",
        }
    }

    /// Whether the call worked and does not any more.
    pub const fn is_drift(self) -> bool {
        !matches!(self, Self::Answered | Self::NotMade)
    }
}

/// A recorded call, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// `tools/call`, `prompts/get` or `resources/read`.
    pub method: String,
    /// The name of the tool or prompt, or the URI of the resource.
    pub name: String,
    /// What became of it.
    pub class: Class,
    /// Why, in a few words.
    pub why: String,
}

/// A recorded request and whether it ever succeeded.
#[derive(Clone, Debug)]
pub struct RecordedCall {
    request: KeyedRequest,
    params: Map<String, Value>,
    /// The recording has only a placeholder of a secret among its arguments.
    has_secret: bool,
    worked: bool,
}

/// The different calls of a recording, each once.
pub fn recorded_calls(path: &Path, volatile: &[JsonPath]) -> Result<Vec<RecordedCall>, BadRecording> {
    let file = File::open(path)?;
    let (index, _, _) = Index::read(&file, volatile)?;
    let mut calls = Vec::new();
    for method in ["tools/call", "prompts/get", "resources/read"] {
        for named in index.method(method)?.iter() {
            let family = KeyedRequest::of(&load(&file, named?.request)?, volatile).family();
            for entry in index.family(&family)?.iter().take(MOST - calls.len().min(MOST)) {
                let message = load(&file, entry?.request)?;
                let request = KeyedRequest::of(&message, volatile);
                let worked = has_worked(&file, index.entries(&request.key())?);
                let has_secret = has_secret(&KeyedRequest::of(&message, &[]).arguments);
                let mut params = message.params().and_then(Value::as_object).cloned().unwrap_or_default();
                params.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
                calls.push(RecordedCall { request, params, has_secret, worked });
            }
        }
    }
    if calls.is_empty() { Err(BadRecording::NoAnswers) } else { Ok(calls) }
}

fn load(file: &File, location: Location) -> Result<Message, BadRecording> {
    location.load(file).map_err(|why| std::io::Error::other(why).into())
}

fn has_worked(file: &File, entries: Entries<'_>) -> bool {
    let mut answers = entries.iter().take(ANSWERS).filter_map(|entry| entry.ok()?.answer?.load(file).ok());
    answers.any(|answer| !is_failure(&answer))
}

/// Makes the calls again. Tools that `policy` does not allow are not called.
pub async fn verify(calls: Vec<RecordedCall>, server: Options, policy: &CallPolicy) -> Vec<Verified> {
    let live = match Client::connect(server).await {
        Ok(client) => Live::of(client).await,
        Err(error) => {
            let all = calls.iter().map(|call| verified(call, of_error(call, &error, true)));
            return all.collect();
        }
    };
    let (mut found, mut silent) = (Vec::with_capacity(calls.len()), 0);
    for call in &calls {
        let outcome = if silent >= SILENT {
            (Class::NotConnectable, format!("not tried: the server did not answer {SILENT} requests before"))
        } else {
            live.outcome(call, policy).await
        };
        match outcome.0 {
            Class::NotMade => {}
            Class::NotConnectable => silent += 1,
            _ => silent = 0,
        }
        found.push(verified(call, outcome));
    }
    live.client.close().await;
    found
}

fn verified(call: &RecordedCall, (class, why): Outcome) -> Verified {
    let name = call.request.name.clone().unwrap_or_default();
    Verified { method: call.request.method.clone(), name, class, why: snippet(&why, SHOWN) }
}

type Outcome = (Class, String);

/// The server, and what it lists today.
struct Live {
    client: Client,
    tools: Result<Vec<Value>, ClientError>,
    prompts: Result<Vec<Value>, ClientError>,
}

impl Live {
    async fn of(client: Client) -> Self {
        let tools = listed(&client, "tools").await;
        let prompts = listed(&client, "prompts").await;
        Self { client, tools, prompts }
    }

    async fn outcome(&self, call: &RecordedCall, policy: &CallPolicy) -> Outcome {
        let not_made = |why: &str| (Class::NotMade, why.to_owned());
        if call.has_secret {
            return not_made("the recording has no secrets, and its arguments need one");
        }
        let listed = match call.request.method.as_str() {
            "tools/call" => Some(&self.tools),
            "prompts/get" => Some(&self.prompts),
            _ => None,
        };
        let item = match listed {
            None => None,
            Some(Err(error)) => return of_error(call, error, false),
            Some(Ok(items)) => match items.iter().find(|item| item["name"].as_str() == call.request.name.as_deref()) {
                Some(item) => Some(item),
                None if call.worked => return (Class::NotFound, "the server does not list it any more".to_owned()),
                None => return (Class::Answered, "not listed, and it failed when it was recorded".to_owned()),
            },
        };
        if call.request.method == "tools/call" {
            if call.params.contains_key("task") {
                return not_made("it ran as a task");
            }
            if item.is_none_or(|tool| !policy.allow(tool)) {
                return not_made("the tool may do more than read");
            }
        }
        self.asked(call, item).await
    }

    async fn asked(&self, call: &RecordedCall, item: Option<&Value>) -> Outcome {
        let answer = self.client.request(&call.request.method, &Params::from(call.params.clone())).await;
        let outcome = match &answer {
            Err(error) => of_error(call, error, item.is_some()),
            Ok(answer) => of_answer(call, answer, item),
        };
        let is_answer = matches!(outcome.0, Class::ParametersChanged | Class::NotFound | Class::OtherFailure);
        if !call.worked && is_answer {
            return (Class::Answered, "it fails as it did when it was recorded".to_owned());
        }
        outcome
    }
}

/// All items of a list; none where the server has no such list.
async fn listed(client: &Client, member: &str) -> Result<Vec<Value>, ClientError> {
    if !client.greeting().may_have(member) {
        return Ok(Vec::new());
    }
    match client.list(&format!("{member}/list"), member).await {
        Ok(listed) => Ok(listed.items),
        Err(ClientError::Rpc { code: METHOD_NOT_FOUND, .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The class of an error; `is_listed` where the server lists what was asked for.
fn of_error(call: &RecordedCall, error: &ClientError, is_listed: bool) -> Outcome {
    use net::client::OpenError;
    let class = match error {
        ClientError::Unauthorized { .. } => Class::NotAuthorized,
        ClientError::Open(open) => match &**open {
            OpenError::Unauthorized { .. } | OpenError::Http { status: 401 | 403, .. } => Class::NotAuthorized,
            OpenError::NotMcp { .. } | OpenError::Echo { .. } => Class::Unparsable,
            _ => Class::NotConnectable,
        },
        ClientError::Rpc { code: METHOD_NOT_FOUND | RESOURCE_NOT_FOUND, .. } => Class::NotFound,
        // Since 2026-07-28, a resource that is not there has this code, too.
        ClientError::Rpc { code: INVALID_PARAMS, .. } if call.request.method == "resources/read" => Class::NotFound,
        ClientError::Rpc { code: INVALID_PARAMS, .. } if is_listed => Class::ParametersChanged,
        ClientError::Invalid { .. } => Class::Unparsable,
        ClientError::Timeout { .. } | ClientError::Cancelled => Class::NotConnectable,
        _ => Class::OtherFailure,
    };
    let what = error.to_string();
    (class, what.lines().next().unwrap_or_default().to_owned())
}

fn of_answer(call: &RecordedCall, answer: &Message, item: Option<&Value>) -> Outcome {
    let Some(result) = answer.result() else { return (Class::Unparsable, "there is no result".to_owned()) };
    let member = match call.request.method.as_str() {
        "tools/call" => "content",
        "prompts/get" => "messages",
        _ => "contents",
    };
    if is_failure(answer) {
        let said = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
        return refused(call, item).unwrap_or_else(|| (Class::OtherFailure, format!("the tool failed: {said}")));
    }
    if !result.get(member).is_some_and(Value::is_array) {
        return (Class::Unparsable, format!("the result has no list `{member}`"));
    }
    let schema = item.and_then(|tool| tool.get("outputSchema"));
    if let (Some(Ok(validator)), Some(value)) = (schema.map(Validator::new), result.get("structuredContent"))
        && !validator.is_valid(value)
    {
        return (Class::Unparsable, "`structuredContent` breaks the tool's output schema".to_owned());
    }
    (Class::Answered, String::new())
}

/// The recorded arguments are refused by the schema of today.
fn refused(call: &RecordedCall, tool: Option<&Value>) -> Option<Outcome> {
    let schema = tool?.get("inputSchema")?;
    let arguments = call.params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    let error = argument_errors(schema, &arguments).into_iter().next()?;
    Some((Class::ParametersChanged, format!("`{}` {}", error.argument, error.what)))
}

#[cfg(test)]
mod tests;
