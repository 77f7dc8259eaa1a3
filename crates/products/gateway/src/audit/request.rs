//! What the audit log says of a request: who asked for what, what the gateway decided, what came of it. Without secrets.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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

use super::Members;
use crate::settings::{AuditInputs, AuditSettings};
use crate::telemetry::Trace;

/// The longest text of an input, in bytes. Longer ones are cut.
const LONGEST_TEXT: usize = 256;
/// How much of a long text is looked through for secrets, in bytes.
const WINDOW: usize = 2 << 10;
/// How much of its end is never shown: a secret may begin there.
const EDGE: usize = 512;
/// The most bytes of all inputs; beyond it only their names stay.
const MOST_INPUT: usize = 8 << 10;
/// What stands where a text was cut.
const CLIPPED: &str = "…";
/// The longest name or URI, in characters.
const LONGEST_NAME: usize = 256;
/// How many names of arguments are written.
const MOST_NAMES: usize = 32;
/// The longest claim, in bytes.
const LONGEST_CLAIM: usize = 1 << 10;
/// The kinds of content that revisions have.
const KINDS: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];

/// What the stages of one request decided on its way. Shared by them; nothing where neither a log is kept nor spans are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    decisions: Option<Arc<Decisions>>,
    /// The spans of the request.
    pub(crate) trace: Trace,
}

#[derive(Debug, Default)]
struct Decisions {
    /// The number of the request, in logs, too.
    request: u64,
    upstream: OnceLock<String>,
    access: OnceLock<&'static str>,
    /// Set where a request was refused, perhaps after it had been let in and then changed.
    refused: OnceLock<&'static str>,
    /// What each interceptor said, in order.
    intercepted: Mutex<Vec<Value>>,
    /// How often it was sent, if more than once.
    attempts: AtomicU32,
    context: OnceLock<&'static str>,
    sanitized: OnceLock<String>,
    /// What stages say that not every request meets.
    stages: Mutex<Vec<(&'static str, String)>>,
}

impl Trail {
    /// A trail that is kept.
    pub(super) fn kept(request: u64) -> Self {
        Self { decisions: Some(Arc::new(Decisions { request, ..Decisions::default() })), trace: Trace::default() }
    }

    /// The same, whose stages go into these spans, too.
    pub(crate) fn traced(self, trace: Trace) -> Self {
        Self { trace, ..self }
    }

    /// The number of the request, if it has one already.
    pub(crate) fn request(&self) -> Option<u64> {
        self.decisions.as_ref().map(|decisions| decisions.request)
    }

    /// The request goes to this upstream.
    pub(crate) fn goes_to(&self, upstream: &str) {
        if let Some(decisions) = &self.decisions {
            let _ = decisions.upstream.set(upstream.to_owned());
        }
    }

    /// The request was sent so often.
    pub(crate) fn attempted(&self, attempts: u32) {
        if let Some(decisions) = &self.decisions {
            decisions.attempts.store(attempts, Ordering::Relaxed);
        }
    }

    /// Whether servers learn of the principal.
    pub(crate) fn told(&self, verdict: &'static str) {
        if let Some(decisions) = &self.decisions {
            let _ = decisions.context.set(verdict);
        }
    }

    /// What was removed from the answer.
    pub(crate) fn sanitized(&self, verdict: String) {
        if let Some(decisions) = &self.decisions {
            let _ = decisions.sanitized.set(verdict);
        }
    }

    /// What a stage says that not every request meets: a member of its record of this name.
    pub(crate) fn stage(&self, name: &'static str, verdict: &'static str) {
        self.trace.stage(name, verdict);
        self.noted(name, verdict.to_owned());
    }

    /// The same for a text that may hold what clients sent: it goes to the log alone.
    pub(crate) fn noted(&self, name: &'static str, verdict: String) {
        let Some(decisions) = &self.decisions else { return };
        let mut stages = decisions.stages.lock().unwrap_or_else(PoisonError::into_inner);
        match stages.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = verdict,
            None => stages.push((name, verdict)),
        }
    }

    /// Whether the client may use what it asks for.
    pub(crate) fn decided(&self, may: bool) {
        let verdict = if may { "allowed" } else { "denied" };
        self.trace.stage("access", verdict);
        if let Some(decisions) = &self.decisions {
            let _ = decisions.access.set(verdict);
            if !may {
                let _ = decisions.refused.set(verdict);
            }
        }
    }

    /// No decision was available, so the request is denied.
    pub(crate) fn undecided(&self) {
        self.trace.stage("access", "unavailable");
        if let Some(decisions) = &self.decisions {
            let _ = decisions.refused.set("unavailable");
        }
    }

    /// An interceptor said this, or failed so.
    pub(crate) fn intercepted(&self, name: &str, phase: &'static str, verdict: &'static str) {
        self.trace.stage("interceptor", verdict);
        if let Some(decisions) = &self.decisions {
            let verdict = json!({ "interceptor": name, "phase": phase, "verdict": verdict });
            decisions.intercepted.lock().unwrap_or_else(PoisonError::into_inner).push(verdict);
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

    /// What is known before the request runs.
    pub(super) fn started(&self, settings: &AuditSettings, redactor: &Redactor) -> Members {
        let mut record = vec![
            ("kind", json!("started")),
            ("request_id", json!(self.request)),
            ("method", json!(safe_name(self.message.method().unwrap_or_default(), redactor))),
            ("tool_name", json!(self.target(redactor))),
            ("user_id", self.claim("sub")),
            ("tenant_id", self.claim(&settings.tenant_claim)),
        ];
        record.extend(self.certificate());
        record
    }

    /// The least that a record says.
    pub(super) fn shortest(&self) -> Members {
        vec![("kind", json!("request")), ("request_id", json!(self.request)), ("status", json!("unknown"))]
    }

    /// The certificate that the client showed.
    fn certificate(&self) -> Option<(&'static str, Value)> {
        let shown = self.grant.as_ref()?.certificate.as_ref()?;
        let name: String = shown.name().chars().take(LONGEST_CLAIM).collect();
        Some(("certificate", json!({ "name": name, "sha256": shown.sha256 })))
    }

    fn claim(&self, name: &str) -> Value {
        let claim = self.grant.as_ref().and_then(|grant| grant.claims.get(name));
        // A claim may be anything that an issuer puts there.
        claim.filter(|claim| claim.to_string().len() <= LONGEST_CLAIM).cloned().unwrap_or_default()
    }

    /// The tool, prompt, resource or task that is asked for.
    fn target(&self, redactor: &Redactor) -> Option<String> {
        let message = &self.message;
        let own = ["name", "uri", "taskId"].into_iter().find_map(|name| message.string_member(name));
        let referred = || {
            let reference = message.body_value("ref")?;
            ["name", "uri"].into_iter().find_map(|name| reference.get(name)?.as_str().map(str::to_owned))
        };
        own.map(Cow::into_owned).or_else(referred).map(|name| safe_name(&name, redactor))
    }

    /// The record of the request, once it is answered or nobody waits for the answer any more.
    pub(super) fn record(
        &self,
        trail: &Trail,
        answer: Option<&Answer>,
        took: Duration,
        (settings, redactor): (&AuditSettings, &Redactor),
    ) -> Members {
        let decisions = trail.decisions.as_deref();
        let decided = |decisions: &Decisions| decisions.refused.get().or(decisions.access.get()).copied();
        let access = decisions.and_then(decided);
        let outcome = answer.map_or_else(Outcome::left, |answer| Outcome::of(answer, access));
        let token = match self.grant.as_ref().filter(|grant| grant.has_token()) {
            None => "none",
            Some(grant) if !oauth::resource::in_time(&grant.claims) => "expired",
            Some(_) => "valid",
        };
        let target = self.target(redactor);
        let (tool, other) = if self.message.method() == Some("tools/call") { (target, None) } else { (None, target) };
        let client_id = Some(self.claim("client_id")).filter(|id| !id.is_null()).unwrap_or_else(|| self.claim("azp"));
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let method = self.message.method().unwrap_or_default();
        let mut record = vec![
            ("kind", json!("request")),
            ("time", json!(rfc3339(since))),
            ("request_id", json!(self.request)),
            ("method", json!(safe_name(method, redactor))),
            ("tool_name", json!(tool)),
            ("name", json!(other)),
            ("server", json!(self.server)),
            ("upstream", json!(decisions.and_then(|decisions| decisions.upstream.get()))),
            ("user_id", self.claim("sub")),
            ("tenant_id", self.claim(&settings.tenant_claim)),
            ("client_id", client_id),
            ("client", json!(self.client.as_ref().map(|name| safe_name(name, redactor)))),
            ("token", json!(token)),
            ("access", json!(access.unwrap_or("no rules"))),
            ("context", json!(decisions.and_then(|decisions| decisions.context.get()).copied().unwrap_or("none"))),
            ("sanitized", json!(decisions.and_then(|decisions| decisions.sanitized.get()))),
            ("latency_ms", json!((took.as_secs_f64() * 1e6).round() / 1e3)),
            ("status", json!(outcome.status)),
            ("error_code", json!(answer.and_then(Answer::code))),
            ("output_size_bytes", json!(outcome.size)),
            ("input", self.input(settings.inputs, redactor)),
            ("output", json!(outcome.summary)),
        ];
        let attempts = decisions.map_or(0, |decisions| decisions.attempts.load(Ordering::Relaxed));
        let said = decisions.map(|it| it.intercepted.lock().unwrap_or_else(PoisonError::into_inner).clone());
        record.extend(said.filter(|said| !said.is_empty()).map(|said| ("interceptors", Value::Array(said))));
        record.extend(self.certificate());
        record.extend((attempts > 1).then(|| ("attempts", json!(attempts))));
        if let Some(decisions) = decisions {
            let stages = decisions.stages.lock().unwrap_or_else(PoisonError::into_inner);
            record.extend(stages.iter().map(|(name, verdict)| (*name, json!(verdict))));
        }
        record
    }

    fn input(&self, inputs: AuditInputs, redactor: &Redactor) -> Value {
        let Some(arguments) = self.message.body_value("arguments") else { return Value::Null };
        match inputs {
            AuditInputs::None => Value::Null,
            AuditInputs::Names => names(&arguments, redactor),
            AuditInputs::Values => {
                let values = shortened(&redactor.redact_value(&clipped(&arguments)));
                if values.to_string().len() > MOST_INPUT { names(&arguments, redactor) } else { values }
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
    /// Nobody waits for the answer any more; what the server did is not known.
    const fn left() -> Self {
        Self { status: "cancelled", size: 0, summary: String::new() }
    }

    fn of(answer: &Answer, access: Option<&str>) -> Self {
        let text = answer.text();
        let message = match parse(text) {
            Ok(Packet::Message(message)) => Some(message),
            _ => None,
        };
        let unknown = || {
            let data = message.as_ref().and_then(|message| message.error()?.get("data")?.get("outcome")?.as_str());
            answer.is_own_error() && data == Some("unknown")
        };
        let status = match message.as_ref().map(Message::kind) {
            Some(Kind::Error) if access == Some("denied") => "denied",
            Some(Kind::Error) if unknown() => "unknown",
            Some(Kind::Error) | None => "error",
            Some(_) if message.as_ref().and_then(|message| message.body_member("isError")) == Some("true") => {
                "tool_error"
            }
            Some(_) => kind_of_result(message.as_ref()).unwrap_or("ok"),
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
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for block in items("content").unwrap_or_default() {
        let kind = members(block).and_then(|all| Some(unquote(&block[member(block, &all, "type")?.value.clone()])));
        // What a server calls something else may be anything.
        let kind = kind.and_then(|kind| KINDS.into_iter().find(|known| *known == kind)).unwrap_or("other");
        match counts.iter().position(|(known, _)| *known == kind) {
            Some(index) => counts[index].1 += 1,
            None => counts.push((kind, 1)),
        }
    }
    parts.extend(counts.into_iter().map(|(kind, count)| format!("{count} {kind}")));
    for name in ["tools", "prompts", "resources", "resourceTemplates", "contents", "messages"] {
        parts.extend(items(name).map(|items| format!("{} {name}", items.len())));
    }
    parts.extend(message.body_member("structuredContent").map(|_| "structured".to_owned()));
    parts.join(", ")
}

/// What a 2026-07-28 result says it is, where it is not complete.
fn kind_of_result(message: Option<&Message>) -> Option<&'static str> {
    let kind = message?.string_member("resultType")?;
    ["input_required", "task"].into_iter().find(|known| *known == kind)
}

fn cut_name(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

/// A name without secrets, cut. Half a secret would not be found: it is looked for first.
fn safe_name(text: &str, redactor: &Redactor) -> String {
    cut_name(&redactor.redact_text(beginning(text, WINDOW)))
}

/// Names of members, and what they are.
fn names(value: &Value, redactor: &Redactor) -> Value {
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
            let named = members.iter().take(MOST_NAMES);
            named.map(|(name, value)| (safe_name(name, redactor), json!(kind(value)))).collect()
        }
        other => json!(kind(other)),
    }
}

/// The value without most of its long texts, each with a mark at its end: what is looked through for secrets.
fn clipped(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > WINDOW => json!(format!("{}{CLIPPED}", beginning(text, WINDOW))),
        Value::Array(items) => items.iter().map(clipped).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), clipped(value))).collect(),
        other => other.clone(),
    }
}

/// The value with its long texts cut, and without the last of what was clipped, which may be half a secret.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let safe = if text.ends_with(CLIPPED) { text.len().saturating_sub(EDGE) } else { text.len() };
            let cut = beginning(text, safe.min(LONGEST_TEXT));
            if cut.len() == text.len() { value.clone() } else { json!(format!("{cut}{CLIPPED}")) }
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (cut_name(name), shortened(value))).collect(),
        other => other.clone(),
    }
}

/// As much of a text as fits into these bytes.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
