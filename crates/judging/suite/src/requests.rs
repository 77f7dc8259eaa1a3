//! One request of a case and its reply, shared by the verbs that run cases. Must not judge.

use client::{Client, ClientError, Params, Tool};
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::redact::Redactor;
use wire::{Era, Transport};

use crate::advice::{Words, describe};

/// The lists of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl List {
    /// The method of a list, and the member of its result that holds the items.
    pub(crate) const fn method(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools"),
            Self::Resources => ("resources/list", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates"),
            Self::Prompts => ("prompts/list", "prompts"),
        }
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    Call {
        tool: String,
        arguments: Map<String, Value>,
    },
    Read(String),
    Get {
        prompt: String,
        arguments: Map<String, Value>,
    },
    /// An argument of `reference`, a prompt or template; `known` are its other arguments.
    Complete {
        reference: Value,
        argument: String,
        value: String,
        known: Map<String, Value>,
    },
    /// Every page.
    List(List),
    Raw {
        method: String,
        params: Map<String, Value>,
    },
}

impl Request {
    /// Whether a text of it is a secret by its shape, or known. What is secret by its name alone was made for the request here;
    /// of requests that were recorded, `kept` looks at names as well.
    pub(crate) fn quotes_secret(&self, redactor: &Redactor) -> bool {
        let text = |text: &str| redactor.redact_text(text) != text;
        let map = |map: &Map<String, Value>| map.iter().any(|(name, value)| text(name) || any_text(value, &text));
        match self {
            Self::Call { tool: name, arguments } | Self::Get { prompt: name, arguments } => {
                text(name) || map(arguments)
            }
            Self::Read(uri) => text(uri),
            Self::Complete { reference, argument, value, known } => {
                any_text(reference, &text) || text(argument) || text(value) || map(known)
            }
            Self::List(_) => false,
            Self::Raw { method, params } => text(method) || map(params),
        }
    }
}

fn any_text(value: &Value, is: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is)),
        Value::Object(members) => members.iter().any(|(name, value)| is(name) || any_text(value, is)),
        _ => false,
    }
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Result(Value),
    /// A JSON-RPC error.
    Error {
        code: i64,
        message: String,
    },
    /// No answer, with the reason.
    NoAnswer(String),
}

impl Reply {
    /// What a request came to; the text says why there was no answer.
    pub(crate) fn of(reply: Result<Value, ClientError>, words: Words) -> Self {
        match reply {
            Ok(result) => Self::Result(result),
            Err(ClientError::Rpc { code, message, .. }) => Self::Error { code, message },
            Err(error) => Self::NoAnswer(describe(&error, words)),
        }
    }
}

/// Sends a request and waits for its answer.
pub(crate) async fn send(client: &Client, request: Request) -> Result<Value, ClientError> {
    let (method, params) = match request {
        Request::Call { tool: name, arguments } => {
            if let Some(tool) = mirrored(client, &name).await {
                return Ok(client.call(&tool, arguments).await?.result().cloned().unwrap_or_default());
            }
            ("tools/call".to_owned(), Params::new().with("name", name).with("arguments", arguments))
        }
        Request::Read(uri) => ("resources/read".to_owned(), Params::new().with("uri", uri)),
        Request::Get { prompt, arguments } => {
            let params = Params::new().with("name", prompt);
            let params = if arguments.is_empty() { params } else { params.with("arguments", arguments) };
            ("prompts/get".to_owned(), params)
        }
        Request::Complete { reference, argument, value, known } => {
            let answer = client.complete_value(reference, (&argument, &value), known).await?;
            return Ok(answer.result().cloned().unwrap_or_default());
        }
        Request::List(list) => {
            let (method, key) = list.method();
            return Ok(Value::Object(client.list(method, key).await?.result));
        }
        Request::Raw { method, params } => (method, Params::from(params)),
    };
    Ok(client.request(&method, &params).await?.result().cloned().unwrap_or_default())
}

/// The tool, if a call must mirror some of its arguments in headers.
async fn mirrored(client: &Client, name: &str) -> Option<Tool> {
    if client.transport() != Transport::StreamableHttp || client.revision().era() == Era::Legacy {
        return None;
    }
    let (tools, _) = client.tools().await.ok()?;
    tools.into_iter().find(|tool| tool.name() == name)
}
