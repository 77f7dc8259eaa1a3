//! What the audit log says of a request: who asked for what, what the gateway decided, what came of it. Without secrets.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use net::server::http::Grant;
use net::service::Answer;
use serde_json::{Value, json};
use wire::json::{Outline, outline, unquote};
use wire::message::{Packet, parse};
use wire::redact::Redactor;
use wire::splice::{member, members};
use wire::timestamp::rfc3339;
use wire::{Kind, Message};

use crate::settings::{AuditInputs, AuditSettings};

/// The longest text of an input, in bytes. Longer ones are cut.
const LONGEST_TEXT: usize = 256;
/// How much of a long text is looked through for secrets, in bytes.
const WINDOW: usize = 2 << 10;
/// How much of its end is never shown: longer than what is found as a secret.
const EDGE: usize = 512;
/// The most bytes of all inputs; beyond it only their names stay.
const MOST_INPUT: usize = 8 << 10;
/// The longest name or URI, in characters.
const LONGEST_NAME: usize = 512;

/// What the stages of one request decided on its way. Shared by them; nothing where no log is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail(Option<Arc<Decisions>>);

#[derive(Debug, Default)]
struct Decisions {
    /// The number of the request, in logs, too.
    request: u64,
    upstream: OnceLock<String>,
    access: OnceLock<&'static str>,
}

impl Trail {
    /// A trail that is kept.
    pub(super) fn kept(request: u64) -> Self {
        Self(Some(Arc::new(Decisions { request, ..Decisions::default() })))
    }

    /// The number of the request, if it has one already.
    pub(crate) fn request(&self) -> Option<u64> {
        self.0.as_ref().map(|decisions| decisions.request)
    }

    /// The request goes to this upstream.
    pub(crate) fn goes_to(&self, upstream: &str) {
        if let Some(decisions) = &self.0 {
            let _ = decisions.upstream.set(upstream.to_owned());
        }
    }

    /// Whether the client may use what it asks for.
    pub(crate) fn decided(&self, may: bool) {
        if let Some(decisions) = &self.0 {
            let _ = decisions.access.set(if may { "allowed" } else { "denied" });
        }
    }
}

/// A request that was received: what of it the record needs once it has ended.
pub(super) struct Received {
    request: u64,
    message: Message,
    server: String,
    client: Option<String>,
    grant: Option<Arc<Grant>>,
    at: SystemTime,
}

impl Received {
    pub(super) fn new(request: u64, server: &str, call: &net::service::Call) -> Self {
        let session = call.context.session.as_ref().and_then(|session| session.opening());
        let info = call.message.meta().and_then(|meta| meta.get(wire::meta::CLIENT_INFO)?.get("name")?.as_str());
        let client = info.or_else(|| session.and_then(|opening| opening.client.get("name")?.as_str()));
        Self {
            request,
            message: call.message.clone(),
            server: server.to_owned(),
            client: client.map(cut_name),
            grant: call.context.grant.clone(),
            at: SystemTime::now(),
        }
    }

    /// The record of the request, once it is answered.
    pub(super) fn record(
        &self,
        trail: &Trail,
        answer: &Answer,
        took: Duration,
        (settings, redactor): (&AuditSettings, &Redactor),
    ) -> Vec<(&'static str, Value)> {
        let claim = |name: &str| self.grant.as_ref().and_then(|grant| grant.claims.get(name)).cloned();
        let text = |name: &str| {
            self.message.string_member(name).map(|text| redactor.redact_text(&cut_name(&text)).into_owned())
        };
        let decisions = trail.0.as_deref();
        let outcome = Outcome::of(answer, decisions.and_then(|decisions| decisions.access.get()).copied());
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let method = self.message.method().unwrap_or_default();
        vec![
            ("kind", json!("request")),
            ("time", json!(rfc3339(since))),
            ("request_id", json!(self.request)),
            ("method", json!(cut_name(method))),
            ("tool_name", json!(text("name").filter(|_| method == "tools/call"))),
            ("name", json!(text("name").or_else(|| text("uri")).filter(|_| method != "tools/call"))),
            ("server", json!(self.server)),
            ("upstream", json!(decisions.and_then(|decisions| decisions.upstream.get()))),
            ("user_id", claim("sub").unwrap_or_default()),
            ("tenant_id", claim(&settings.tenant_claim).unwrap_or_default()),
            ("client_id", claim("client_id").or_else(|| claim("azp")).unwrap_or_default()),
            ("client", json!(self.client.as_ref().map(|name| redactor.redact_text(name).into_owned()))),
            ("token", json!(if self.grant.is_some() { "valid" } else { "none" })),
            ("access", json!(decisions.and_then(|decisions| decisions.access.get()).unwrap_or(&"no rules"))),
            ("latency_ms", json!((took.as_secs_f64() * 1e6).round() / 1e3)),
            ("status", json!(outcome.status)),
            ("error_code", json!(answer.code())),
            ("output_size_bytes", json!(outcome.size)),
            ("input", self.input(settings.inputs, redactor)),
            ("output", json!(outcome.summary)),
        ]
    }

    fn input(&self, inputs: AuditInputs, redactor: &Redactor) -> Value {
        let Some(arguments) = self.message.body_value("arguments") else { return Value::Null };
        match inputs {
            AuditInputs::None => Value::Null,
            AuditInputs::Names => names(&arguments),
            AuditInputs::Values => {
                let values = shortened(&redactor.redact_value(&clipped(&arguments)), &arguments);
                if values.to_string().len() > MOST_INPUT { names(&arguments) } else { values }
            }
        }
    }
}

/// What came of a request.
struct Outcome {
    status: &'static str,
    size: usize,
    summary: String,
}

impl Outcome {
    fn of(answer: &Answer, access: Option<&str>) -> Self {
        let text = answer.text();
        let message = match parse(text) {
            Ok(Packet::Message(message)) => Some(message),
            _ => None,
        };
        let unknown = || {
            let data = message.as_ref().and_then(|message| message.error()?.get("data")?.get("outcome")?.as_str());
            data == Some("unknown")
        };
        let status = match message.as_ref().map(Message::kind) {
            Some(Kind::Error) if access == Some("denied") => "denied",
            Some(Kind::Error) if unknown() => "unknown",
            Some(Kind::Error) | None => "error",
            Some(_) if message.as_ref().and_then(|message| message.body_member("isError")) == Some("true") => {
                "tool_error"
            }
            Some(_) => "ok",
        };
        Self { status, size: text.len(), summary: message.map(|message| summary(&message)).unwrap_or_default() }
    }
}

/// What a result consists of, without what it says: `2 text, 1 image, structured`.
fn summary(message: &Message) -> String {
    if message.kind() == Kind::Error {
        return "error".to_owned();
    }
    let mut parts = Vec::new();
    // Only outlines are read: contents may be large.
    let items = |name: &str| {
        let text = message.body_member(name)?;
        match outline(text) {
            Ok(Outline::Array(items)) => Some(items.into_iter().map(|at| &text[at]).collect::<Vec<_>>()),
            _ => None,
        }
    };
    let mut counts: Vec<(String, usize)> = Vec::new();
    for block in items("content").unwrap_or_default() {
        let kind = members(block).and_then(|all| Some(unquote(&block[member(block, &all, "type")?.value.clone()])));
        let kind = kind.map_or_else(|| "content".to_owned(), |kind| cut_name(&kind));
        match counts.iter().position(|(known, _)| *known == kind) {
            Some(index) => counts[index].1 += 1,
            None if counts.len() < 8 => counts.push((kind, 1)),
            None => {}
        }
    }
    parts.extend(counts.into_iter().map(|(kind, count)| format!("{count} {kind}")));
    for name in ["tools", "prompts", "resources", "resourceTemplates", "contents", "messages"] {
        parts.extend(items(name).map(|items| format!("{} {name}", items.len())));
    }
    parts.extend(message.body_member("structuredContent").map(|_| "structured".to_owned()));
    parts.extend(message.string_member("resultType").filter(|kind| kind != "complete").map(|kind| cut_name(&kind)));
    parts.join(", ")
}

fn cut_name(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

/// Names of members, and what they are.
fn names(value: &Value) -> Value {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match value {
        Value::Object(members) => {
            members.iter().take(64).map(|(name, value)| (cut_name(name), json!(kind(value)))).collect()
        }
        other => json!(kind(other)),
    }
}

/// The value without most of its long texts: what is looked through for secrets.
fn clipped(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > WINDOW => json!(beginning(text, WINDOW)),
        Value::Array(items) => items.iter().map(clipped).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (cut_name(name), clipped(value))).collect(),
        other => other.clone(),
    }
}

/// The value with its long texts cut. `original` is the same before secrets were looked for.
fn shortened(value: &Value, original: &Value) -> Value {
    match (value, original) {
        (Value::String(text), Value::String(original)) => {
            // What was clipped may end in half a secret, which nothing finds.
            let safe = if original.len() > WINDOW { text.len().saturating_sub(EDGE) } else { text.len() };
            let cut = beginning(text, safe.min(LONGEST_TEXT));
            let is_whole = cut.len() == text.len() && original.len() <= WINDOW;
            if is_whole { value.clone() } else { json!(format!("{cut}… ({} bytes)", original.len())) }
        }
        (Value::Array(items), Value::Array(originals)) => {
            items.iter().zip(originals).map(|(item, original)| shortened(item, original)).collect()
        }
        (Value::Object(members), Value::Object(originals)) => {
            let both = members.iter().zip(originals.values());
            both.map(|((name, value), original)| (name.clone(), shortened(value, original))).collect()
        }
        (other, _) => other.clone(),
    }
}

/// As much of a text as fits into these bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
