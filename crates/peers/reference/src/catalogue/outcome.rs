//! One call of a tool or a prompt, and what comes of it.

use std::sync::Arc;

use net::service::{Call, RpcError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use wire::Revision;
use wire::revision::{R2025_03_26, R2025_06_18};
use wire::serf::{Category, Details};

use super::Text;
use crate::logging::{self, Level};
use crate::tasks::Task;

/// One call of a tool, or one request for a prompt; its arguments fit what was declared.
#[derive(Debug)]
pub struct Invocation {
    /// The request.
    pub call: Call,
    /// The arguments, an object.
    pub arguments: Value,
    /// Under which name the client wants to hear of progress.
    pub progress_token: Option<Value>,
    /// What the client answered to the questions of an earlier result (2026-07-28).
    pub input_responses: Option<Map<String, Value>>,
    /// The state that came with those questions (2026-07-28).
    pub request_state: Option<String>,
    /// What the client answered to [`super::Tool::asks_first`], where that was asked before the call became a task.
    pub answers: Vec<Value>,
    /// The task that the call became.
    pub(crate) task: Option<Arc<Task>>,
}

impl Invocation {
    /// A string among the arguments.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str()
    }

    /// The same, taken out.
    pub fn take_text(&mut self, name: &str) -> Option<String> {
        if let Value::String(text) = self.arguments.get_mut(name)?.take() { Some(text) } else { None }
    }

    /// A whole number among the arguments.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.arguments.get(name)?.as_u64()
    }

    /// Reports progress, where the client asked for it.
    pub fn progress(&self, progress: u64, total: u64, message: &str) {
        let Some(token) = &self.progress_token else { return };
        let mut params = json!({ "progressToken": token, "progress": progress, "total": total });
        if self.call.context.revision.at_least(R2025_03_26) {
            params["message"] = json!(message);
        }
        self.notify("notifications/progress", params);
    }

    /// Sends a notification that belongs to the call.
    pub fn notify(&self, method: &str, params: Value) {
        match &self.task {
            Some(task) => task.notify(method, params),
            None => {
                let _ = self.call.link.notify(method, params);
            }
        }
    }

    /// Sends a log message, where the client wants to hear it.
    pub fn log(&self, level: Level, data: &Value) {
        if let Some(params) = logging::message(&self.call, level, data) {
            self.notify("notifications/message", params);
        }
    }
}

/// What comes of a call: of a tool's unless said otherwise.
#[derive(Debug)]
pub enum Outcome<T = Output> {
    /// The end, good or bad.
    Done(T),
    /// The client must answer first (2026-07-28): `inputRequests` and `requestState`.
    InputRequired(Value),
    /// The call itself was wrong.
    Refused(RpcError),
}

impl Outcome {
    /// One text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::content(Content::Text { text: text.into() })
    }

    /// One content block.
    pub fn content(content: Content) -> Self {
        Self::contents(vec![content])
    }

    /// Several content blocks.
    pub fn contents(content: Vec<Content>) -> Self {
        Self::Done(Output { content, structured: None, is_error: false, failure: None })
    }

    /// A structured value, and the same as text for clients that read only that.
    pub fn structured(value: Value) -> Self {
        let content = vec![Content::Text { text: value.to_string() }];
        Self::Done(Output { content, structured: Some(value), is_error: false, failure: None })
    }

    /// A failure that a model may learn from, of a known kind; the same call fails again.
    pub fn failure(category: Category, text: impl Into<String>) -> Self {
        Self::Done(Output::failed(Some(Details::new(category, category.advice())), text))
    }

    /// A failure that says nothing of its kind.
    pub fn plain_failure(text: impl Into<String>) -> Self {
        Self::Done(Output::failed(None, text))
    }
}

impl Outcome<Messages> {
    /// Messages for a model, as `prompts/get` gives them.
    pub fn messages(messages: Vec<Value>) -> Self {
        Self::Done(Messages { description: None, messages })
    }
}

/// What a call ends with.
pub(crate) trait Finished: Serialize + Send + 'static {
    /// Takes out what `revision` does not have.
    fn fit(&mut self, revision: Revision);

    /// What is said of a failure in `_meta`.
    fn failure(&self) -> Option<Map<String, Value>> {
        None
    }

    /// About how long its texts are.
    fn length(&self) -> usize {
        0
    }
}

/// A complete result of a tool.
#[derive(Clone, Debug, Serialize)]
pub struct Output {
    /// The blocks.
    pub content: Vec<Content>,
    /// A value that fits the tool's output schema (2025-06-18).
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Whether the tool failed.
    #[serde(rename = "isError")]
    pub is_error: bool,
    /// What kind of failure it is, for `_meta`: no tool's output schema has room for it.
    #[serde(skip)]
    pub failure: Option<Details>,
}

impl Output {
    fn failed(failure: Option<Details>, text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], structured: None, is_error: true, failure }
    }
}

impl Finished for Output {
    fn fit(&mut self, revision: Revision) {
        if !revision.at_least(R2025_06_18) {
            self.structured = None;
        }
    }

    fn failure(&self) -> Option<Map<String, Value>> {
        self.failure.as_ref().map(Details::members)
    }

    fn length(&self) -> usize {
        let text = |content: &Content| if let Content::Text { text } = content { text.len() } else { 0 };
        let texts: usize = self.content.iter().map(text).sum();
        // A structured value is mostly what the text says.
        if self.structured.is_some() { 2 * texts } else { texts }
    }
}

/// A complete result of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct Messages {
    /// The prompt's own description, unless it gives another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The messages: `role` and `content` each.
    pub messages: Vec<Value>,
}

impl Finished for Messages {
    fn fit(&mut self, _: Revision) {}
}

/// A content block.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Base64.
        data: Text,
        /// Such as `image/png`.
        mime_type: Text,
    },
    /// Sound (2025-03-26).
    Audio {
        /// Base64.
        data: Text,
        /// Such as `audio/wav`.
        mime_type: Text,
    },
    /// A resource by name (2025-06-18).
    ResourceLink {
        /// As `resources/list` describes it.
        #[serde(flatten)]
        resource: Value,
    },
    /// A resource and what is in it.
    Resource {
        /// As `resources/read` gives it.
        resource: Value,
    },
    /// A block given whole, `type` and all.
    #[serde(untagged)]
    Whole(Value),
}

impl Content {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}
