//! `tools/call`: from the request to the tool and from what the tool gives to the answer, as the revision wants it.

use net::service::{Answer, Call, Reply, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::{Run, Tool, headers};
use crate::{Server, answer, params};

#[derive(Deserialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default, rename = "_meta")]
    meta: Option<params::Meta>,
    #[serde(default, rename = "inputResponses")]
    input_responses: Option<Map<String, Value>>,
    #[serde(default, rename = "requestState")]
    request_state: Option<String>,
}

/// One call of a tool; its arguments fit the tool's schema.
pub(super) struct Invocation {
    pub(super) call: Call,
    pub(super) arguments: Value,
    pub(super) progress_token: Option<Value>,
    pub(super) input_responses: Option<Map<String, Value>>,
    pub(super) request_state: Option<String>,
}

impl Invocation {
    /// A string among the arguments.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str()
    }

    /// The same, taken out.
    pub(super) fn take_text(&mut self, name: &str) -> Option<String> {
        if let Value::String(text) = self.arguments.get_mut(name)?.take() { Some(text) } else { None }
    }

    /// A whole number among the arguments.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.arguments.get(name)?.as_u64()
    }

    /// Reports progress, where the client asked for it.
    pub(super) fn progress(&self, progress: u64, total: u64, message: &str) {
        let Some(token) = &self.progress_token else { return };
        let mut params = json!({ "progressToken": token, "progress": progress, "total": total });
        if self.call.context.revision.at_least(R2025_03_26) {
            params["message"] = json!(message);
        }
        let _ = self.call.link.notify("notifications/progress", params);
    }
}

/// What a tool gives.
pub(super) enum Outcome {
    /// The end, good or bad.
    Done(Output),
    /// The client must answer first (modern era).
    InputRequired(Value),
    /// The call itself was wrong.
    Refused(RpcError),
}

impl Outcome {
    /// One text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::content(Content::Text { text: text.into() })
    }

    /// One content block.
    pub(super) fn content(content: Content) -> Self {
        Self::Done(Output { content: [content], structured: None, is_error: false })
    }

    /// A structured value, and the same as text for clients that read only that.
    pub(super) fn structured(value: Value) -> Self {
        let content = [Content::Text { text: value.to_string() }];
        Self::Done(Output { content, structured: Some(value), is_error: false })
    }

    /// A failure that a model may learn from.
    pub(super) fn failure(text: impl Into<String>) -> Self {
        Self::Done(Output { content: [Content::Text { text: text.into() }], structured: None, is_error: true })
    }
}

/// A complete result.
#[derive(Serialize)]
pub(super) struct Output {
    content: [Content; 1],
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    #[serde(rename = "isError", skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

impl Output {
    /// About how long it is when it is written.
    const fn length(&self) -> usize {
        match &self.content {
            [Content::Text { text }] => text.len(),
            _ => 0,
        }
    }
}

/// A content block.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum Content {
    /// Text.
    Text { text: String },
    /// An image, Base64.
    Image { data: &'static str, mime_type: &'static str },
    /// Sound, Base64 (2025-03-26).
    Audio { data: &'static str, mime_type: &'static str },
    /// A resource by name (2025-06-18).
    ResourceLink {
        #[serde(flatten)]
        resource: Value,
    },
    /// A resource and what is in it.
    Resource { resource: Value },
}

/// Answers `tools/call`.
pub(crate) fn call(server: &Server, call: Call) -> Reply {
    let (tool, mut invocation) = match prepare(server, &call) {
        Ok(Ready { tool, arguments, params }) => (
            tool,
            Invocation {
                progress_token: params.meta.and_then(|meta| meta.progress_token),
                input_responses: params.input_responses,
                request_state: params.request_state,
                arguments,
                call,
            },
        ),
        Err(outcome) => return answer(&call, *outcome).into(),
    };
    match tool.run {
        Run::Now(run) => {
            let outcome = run(server, &mut invocation);
            answer(&invocation.call, outcome).into()
        }
        Run::Later(run) => {
            let context = invocation.call.context.clone();
            let id = invocation.call.id().clone();
            let running = run(server.clone(), invocation);
            Reply::later(async move { render(&context, &id, running.await) })
        }
    }
}

struct Ready {
    tool: &'static Tool,
    arguments: Value,
    params: Params,
}

/// Finds the tool and checks everything that can be wrong with a call before it runs.
fn prepare(server: &Server, call: &Call) -> Result<Ready, Box<Outcome>> {
    let refused = |error| Box::new(Outcome::Refused(error));
    let mut params: Params = params::read(call).map_err(refused)?;
    params.meta = params.meta.map(params::Meta::checked).transpose().map_err(refused)?;
    let toolbox = &server.state().toolbox;
    let revision = call.context.revision;
    let (index, tool) = toolbox
        .find(&params.name, revision)
        .ok_or_else(|| refused(RpcError::invalid_params(format!("Unknown tool: {}", params.name.escape_debug()))))?;
    let arguments = Value::Object(std::mem::take(&mut params.arguments));
    headers::check(tool, call, &arguments).map_err(refused)?;
    let faults = toolbox.faults(index, &arguments).map_err(refused)?;
    if faults.is_empty() {
        return Ok(Ready { tool, arguments, params });
    }
    let text = format!("Invalid arguments for `{}`: {}", tool.name, faults.join("; "));
    // Since 2025-11-25 a model is to see what was wrong and try again (server/tools#error-handling).
    Err(Box::new(if revision.at_least(R2025_11_25) {
        Outcome::failure(text)
    } else {
        Outcome::Refused(RpcError::invalid_params(text))
    }))
}

fn answer(call: &Call, outcome: Outcome) -> Answer {
    render(&call.context, call.id(), outcome)
}

fn render(context: &net::service::Context, id: &wire::RequestId, outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Done(mut output) => {
            if !context.revision.at_least(R2025_06_18) {
                output.structured = None;
            }
            answer::complete_of(context, id, &output, output.length())
        }
        Outcome::InputRequired(body) => answer::input_required(context, id, &body),
        Outcome::Refused(error) => answer::error(id, &error),
    }
}
