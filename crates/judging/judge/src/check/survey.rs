//! The first thing done on every run: the handshake and every list, so that later probes know what there is to ask for.

use std::time::Duration;

use serde_json::{Value, json};
use wire::message::{Packet, parse};
use wire::meta::SERVER_INFO;
use wire::trace::{Content, Trace};
use wire::{Era, Party, Transport};

use super::context::{Abort, ProbeContext};

/// How many pages of a list are walked.
pub const PAGES: usize = 64;

/// What a peer offers at one revision over one transport.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The result of `initialize` or `server/discover`.
    pub welcome: Value,
    /// Whether it answered that with an error.
    pub unwelcome: bool,
    /// How long it took from its start to its first answer.
    pub start: Duration,
    /// Tools as listed.
    pub tools: Vec<Value>,
    /// Resources as listed.
    pub resources: Vec<Value>,
    /// Resource templates as listed.
    pub templates: Vec<Value>,
    /// Prompts as listed.
    pub prompts: Vec<Value>,
    /// A method that was answered 401, though the greeting may not have been.
    pub refused: Option<String>,
}

impl Survey {
    /// Greets the peer and asks for every list that it says it has.
    pub async fn take(case: &ProbeContext) -> Result<Self, Abort> {
        let (welcome, unwelcome) = match case.handshake().await {
            // Every request of this era stands by itself: what is there shows without the greeting.
            Err(Abort::Unwelcome) if case.era() == Era::Modern => (seen_undeclared(case).await?, true),
            welcome => (welcome?, false),
        };
        let mut survey = Self { welcome, unwelcome, start: case.first_answer(), ..Self::default() };
        if survey.has("tools") {
            survey.tools = case.list("tools/list", "tools", PAGES).await?;
        }
        if survey.has("resources") {
            survey.resources = case.list("resources/list", "resources", PAGES).await?;
            survey.templates = case.list("resources/templates/list", "resourceTemplates", PAGES).await?;
        }
        if survey.has("prompts") {
            survey.prompts = case.list("prompts/list", "prompts", PAGES).await?;
        }
        if case.era() == Era::Legacy {
            case.request("ping", json!({})).await?;
        }
        if case.transport() == Transport::StreamableHttp {
            survey.refused = refused(&case.connection().tap().snapshot());
        }
        Ok(survey)
    }

    /// Whether its lists are so long that to read them again costs more than it tells.
    pub fn is_long(&self) -> bool {
        self.tools.len() + self.resources.len() + self.templates.len() + self.prompts.len() > 500
    }

    /// Whether the peer declares a capability, by dotted path.
    pub fn has(&self, capability: &str) -> bool {
        self.welcome.get("capabilities").is_some_and(|c| rules::view::declared(c, capability).is_some())
    }

    /// The name and version that the server gives itself.
    pub fn identity(&self) -> (Option<String>, Option<String>) {
        let info = self.welcome.get("serverInfo").or_else(|| self.welcome.get("_meta")?.get(SERVER_INFO));
        let text = |key: &str| Some(info?.get(key)?.as_str()?.to_owned());
        (text("name"), text("version"))
    }
}

/// What a server should have declared, by the lists that it serves.
async fn seen_undeclared(case: &ProbeContext) -> Result<Value, Abort> {
    let mut capabilities = json!({});
    for capability in ["tools", "resources", "prompts"] {
        if case.request(&format!("{capability}/list"), json!({})).await?.result().is_some() {
            capabilities[capability] = json!({});
        }
    }
    Ok(json!({ "capabilities": capabilities }))
}

/// The method of the first request that was answered 401.
fn refused(trace: &Trace) -> Option<String> {
    let unauthorized = |content: &Content| matches!(content, Content::Response { status: 401, .. });
    let answer = trace.frames.iter().find(|frame| unauthorized(&frame.content))?;
    let asked = trace.frames.iter().filter(|f| f.exchange == answer.exchange && f.from == Party::Client);
    asked
        .filter_map(|frame| match &frame.content {
            Content::Body { bytes, .. } => parse(bytes).ok(),
            _ => None,
        })
        .find_map(|packet| match packet {
            Packet::Message(message) => message.method().map(str::to_owned),
            Packet::Batch(_) => None,
        })
}
