//! The three APIs: requests with the conversation so far, and what of an answer goes back into it. Pure.

mod chat;
mod messages;
mod responses;

use eval::export::Api;
use serde_json::{Map, Value, json};

use crate::choice::Choice;
use crate::output::Output;

/// Members of a request that this crate sets: the user's parameters may not.
pub const RESERVED: [&str; 12] = [
    "model",
    "tools",
    "input",
    "messages",
    "instructions",
    "system",
    "stream",
    "stream_options",
    "tool_choice",
    "parallel_tool_calls",
    "n",
    "previous_response_id",
];

/// An API of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's Responses API.
    Responses,
    /// OpenAI's Chat Completions, and what speaks it.
    Chat,
    /// Anthropic's Messages.
    Messages,
}

impl Dialect {
    /// The name on the command line and in recordings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Messages => "messages",
        }
    }

    /// The end of the endpoint's path.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Responses => "/responses",
            Self::Chat => "/chat/completions",
            Self::Messages => "/messages",
        }
    }

    /// The form of its tools.
    pub const fn api(self) -> Api {
        match self {
            Self::Responses => Api::OpenAi,
            Self::Chat => Api::OpenAiChat,
            Self::Messages => Api::Anthropic,
        }
    }
}

/// What stays the same in all requests of a run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The API.
    pub dialect: Dialect,
    /// The model.
    pub model: String,
    /// Instructions before every prompt.
    pub system: Option<String>,
    /// Which tools the model may or must call.
    pub choice: Choice,
    /// Whether it may make several calls at once.
    pub is_parallel: bool,
    /// Whether answers are streamed.
    pub is_streamed: bool,
    /// Further members of every request.
    pub parameters: Map<String, Value>,
}

/// The conversation of one attempt.
#[derive(Debug)]
pub(crate) struct Conversation<'r> {
    request: &'r Request,
    history: Vec<Value>,
}

impl<'r> Conversation<'r> {
    /// Begins with the prompt.
    pub(crate) fn new(request: &'r Request, prompt: &str) -> Self {
        let mut history = Vec::new();
        if let (Dialect::Chat, Some(system)) = (request.dialect, &request.system) {
            history.push(json!({ "role": "system", "content": system }));
        }
        history.push(json!({ "role": "user", "content": prompt }));
        Self { request, history }
    }

    /// The body of the request for a turn, from 0. `tools` are the definitions with their names in the API.
    pub(crate) fn body(&self, turn: usize, tools: &[(&str, &Value)]) -> Value {
        let Request { dialect, model, system, choice, is_parallel, is_streamed, parameters } = self.request;
        let choice = choice.at(turn);
        let offered: Vec<&Value> =
            tools.iter().filter(|(name, _)| choice.offers(*dialect, name)).map(|(_, definition)| *definition).collect();
        let mut body = Map::new();
        let mut set = |name: &str, value: Value| {
            body.insert(name.to_owned(), value);
        };
        set("model", json!(model));
        match dialect {
            Dialect::Responses => {
                set("input", json!(self.history));
                if let Some(system) = system {
                    set("instructions", json!(system));
                }
            }
            Dialect::Chat => set("messages", json!(self.history)),
            Dialect::Messages => {
                set("messages", json!(self.history));
                set("max_tokens", json!(4096));
                if let Some(system) = system {
                    set("system", json!(system));
                }
            }
        }
        if !offered.is_empty() {
            set("tools", json!(offered));
            set("tool_choice", choice.to_value(*dialect, *is_parallel));
            if *dialect != Dialect::Messages {
                set("parallel_tool_calls", json!(is_parallel));
            }
        }
        if *is_streamed {
            set("stream", json!(true));
            if *dialect == Dialect::Chat {
                set("stream_options", json!({ "include_usage": true }));
            }
        }
        body.extend(parameters.clone());
        Value::Object(body)
    }

    /// Takes an answer in, whole: items and members that are not known here go back, too.
    pub(crate) fn answered(&mut self, whole: &Value) -> Result<(), String> {
        match self.request.dialect {
            Dialect::Responses => responses::answered(&mut self.history, whole),
            Dialect::Chat => chat::answered(&mut self.history, whole),
            Dialect::Messages => messages::answered(&mut self.history, whole),
        }
    }

    /// Takes in what the calls of the last answer returned, each with the id of its call.
    pub(crate) fn returned(&mut self, outputs: &[(String, Output)]) {
        match self.request.dialect {
            Dialect::Responses => responses::returned(&mut self.history, outputs),
            Dialect::Chat => chat::returned(&mut self.history, outputs),
            Dialect::Messages => messages::returned(&mut self.history, outputs),
        }
    }
}

#[cfg(test)]
mod tests;
