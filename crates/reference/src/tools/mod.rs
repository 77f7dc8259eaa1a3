//! Tools: what a tool is, the list, and how one is called (server/tools). One file per family holds what they do.

mod ask;
mod call;
mod content;
mod echo;
mod fail;
mod headers;
mod log;
mod slow;
mod sum;
mod toggle;
mod touch;
mod weather;

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use jsonschema::Validator;
use net::service::{Call, RpcError};
use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use crate::answer::{Handled, cacheable};
use crate::{Server, pagination};

pub(crate) use self::call::call;
use self::call::{Invocation, Outcome};

/// A tool.
struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The first revision that has what the tool needs.
    since: Revision,
    input: fn() -> Value,
    output: Option<fn() -> Value>,
    hints: Hints,
    run: Run,
}

/// What a tool does to the world, told honestly (`ToolAnnotations`). None of ours leaves this process.
#[derive(Clone, Copy)]
struct Hints {
    read_only: bool,
    idempotent: bool,
}

/// Changes nothing.
const READS: Hints = Hints { read_only: true, idempotent: true };
/// Changes this server, each time anew; destroys nothing.
const CHANGES: Hints = Hints { read_only: false, idempotent: false };

/// How a tool runs.
enum Run {
    /// At once.
    Now(fn(&Server, &mut Invocation) -> Outcome),
    /// Over some time. Dropping the future cancels it.
    Later(fn(Server, Invocation) -> Running),
}

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

const TOOLS: &[&Tool] = &[
    &echo::ECHO,
    &sum::SUM,
    &weather::GET_WEATHER,
    &slow::SLOW,
    &fail::FAIL,
    &content::IMAGE,
    &content::AUDIO,
    &content::LINK,
    &content::EMBEDDED,
    &log::LOG,
    &ask::ASK,
    &ask::SAMPLE,
    &ask::LIST_ROOTS,
    &headers::ROUTE,
    &touch::TOUCH_RESOURCE,
    &toggle::TOGGLE_TOOL,
    &toggle::TOGGLE_RESOURCE,
    &toggle::TOGGLE_PROMPT,
    &toggle::EXTRA,
];

/// The tools and what of them changes.
pub(crate) struct Toolbox {
    validators: Vec<OnceLock<Validator>>,
    extra: AtomicBool,
    extra_prompt: AtomicBool,
}

impl Toolbox {
    pub(crate) fn new() -> Self {
        Self {
            validators: TOOLS.iter().map(|_| OnceLock::new()).collect(),
            extra: AtomicBool::new(false),
            extra_prompt: AtomicBool::new(false),
        }
    }

    /// Whether the prompt that comes and goes is there.
    pub(crate) fn has_extra_prompt(&self) -> bool {
        self.extra_prompt.load(Ordering::Relaxed)
    }

    fn available(&self, revision: Revision) -> impl Iterator<Item = (usize, &'static Tool)> {
        let extra = self.extra.load(Ordering::Relaxed);
        let tools = TOOLS.iter().copied().enumerate();
        tools.filter(move |(_, tool)| revision.at_least(tool.since) && (extra || tool.name != toggle::EXTRA.name))
    }

    fn find(&self, name: &str, revision: Revision) -> Option<(usize, &'static Tool)> {
        self.available(revision).find(|(_, tool)| tool.name == name)
    }

    /// What is wrong with the arguments of a tool; nothing where they fit its schema.
    fn faults(&self, index: usize, arguments: &Value) -> Result<Vec<String>, RpcError> {
        let slot = &self.validators[index];
        let validator = if let Some(validator) = slot.get() {
            validator
        } else {
            let made = jsonschema::validator_for(&(TOOLS[index].input)());
            let made = made.map_err(|error| RpcError::internal(format!("Broken input schema: {error}")))?;
            slot.get_or_init(|| made)
        };
        if validator.is_valid(arguments) {
            return Ok(Vec::new());
        }
        let explain = |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
        Ok(validator.iter_errors(arguments).take(8).map(explain).collect())
    }
}

/// The schema of a tool without parameters.
fn nothing() -> Value {
    json!({ "type": "object", "additionalProperties": false })
}

/// The tool as `tools/list` describes it in `revision`.
fn describe(tool: &Tool, revision: Revision) -> Value {
    let mut value = json!({ "name": tool.name, "description": tool.description, "inputSchema": (tool.input)() });
    if revision.at_least(R2025_03_26) {
        value["annotations"] = json!({
            "title": tool.title,
            "readOnlyHint": tool.hints.read_only,
            "destructiveHint": false,
            "idempotentHint": tool.hints.idempotent,
            "openWorldHint": false,
        });
    }
    if revision.at_least(R2025_06_18) {
        value["title"] = json!(tool.title);
        if let Some(output) = tool.output {
            value["outputSchema"] = output();
        }
    }
    if revision.at_least(R2025_11_25) && tool.name == echo::ECHO.name {
        let src = format!("data:image/png;base64,{}", crate::resources::PNG);
        value["icons"] = json!([{ "src": src, "mimeType": "image/png", "sizes": ["1x1"] }]);
    }
    value
}

/// `tools/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let revision = call.context.revision;
    let items = server.state().toolbox.available(revision).map(|(_, tool)| describe(tool, revision)).collect();
    let body = pagination::page(call, "tools", items, server.state().options.items_per_page)?;
    Ok(cacheable(server, call, body))
}
