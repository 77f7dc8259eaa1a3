//! One row in full: its frames as they crossed, with secrets replaced, and what was found in them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use wire::message::Packet;
use wire::trace::{Content, Event, Frame, Headers};
use wire::{Kind, Message, Transport};

use crate::hub::{Hub, Placed};
use crate::judging::{self, KeptExchange};
use crate::rows::Row;

/// How much of one frame is sent with its row.
const SHOWN: usize = 256 << 10;
/// How many frames are sent with a row: the first and the last half of them.
const PARTS: usize = 400;

/// A row in full; `None` where it was dropped.
pub(crate) fn row(hub: &Hub, n: u64) -> Option<Value> {
    let (row, findings, is_http) = {
        let inner = hub.inner();
        let row = inner.table.get(n)?.clone();
        let session = inner.session(row.session);
        let findings: Vec<Placed> = session
            .map(|session| session.findings.iter().filter(|one| one.row == n).cloned().collect())
            .unwrap_or_default();
        let transport = session.map(|session| session.header.transport);
        (row, findings, !matches!(transport, Some(Transport::Stdio) | None))
    };
    let frames: Vec<u32> = row.parts.iter().collect();
    let skipped = frames.len().saturating_sub(PARTS);
    let shown = |index: &usize| skipped == 0 || *index < PARTS / 2 || *index >= frames.len() - PARTS / 2;
    let parts: Vec<Value> = (0..frames.len())
        .filter(shown)
        .map(|index| part(index, frames[index], hub.frame(row.session, frames[index]).as_ref()))
        .collect();
    let findings: Vec<Value> = findings
        .iter()
        .map(|one| judging::to_json(one, row.session, frames.iter().position(|frame| *frame == one.frame)))
        .collect();
    Some(json!({
        "row": row.to_json(n), "http": is_http, "redacted": row.redacted, "parts": parts, "findings": findings,
        "left_out": row.parts.count() - parts.len(),
    }))
}

/// The bytes of one part of a row.
pub(crate) fn bytes(hub: &Hub, n: u64, index: usize) -> Option<Vec<u8>> {
    let (session, frame) = {
        let inner = hub.inner();
        let row = inner.table.get(n)?;
        (row.session, row.parts.iter().nth(index)?)
    };
    Some(match hub.frame(session, frame)?.content {
        Content::Line { bytes, .. }
        | Content::Body { bytes, .. }
        | Content::WebSocket { bytes, .. }
        | Content::Sse(bytes)
        | Content::Stderr(bytes)
        | Content::Raw(bytes) => bytes,
        Content::Request { method, target, headers } => head(&format!("{method} {target}"), &headers),
        Content::Response { status, headers } => head(&format!("HTTP {status}"), &headers),
        Content::Opened | Content::Closed(_) | Content::Exit { .. } | Content::Mark(_) => Vec::new(),
    })
}

fn head(line: &str, headers: &Headers) -> Vec<u8> {
    let fields = headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
    [format!("{line}\n"), fields.collect()].concat().into_bytes()
}

fn part(index: usize, number: u32, frame: Option<&Frame>) -> Value {
    let Some(frame) = frame else {
        return json!({ "part": index, "frame": number, "type": "dropped", "title": "dropped", "text": "", "bytes": 0 });
    };
    let mut part = json!({
        "part": index, "frame": number, "at": frame.at, "done": frame.done,
        "from": frame.from.as_str(), "to": frame.to.as_str(), "bytes": frame.content.weight(),
    });
    if let (Value::Object(part), Value::Object(more)) = (&mut part, content(frame)) {
        part.extend(more);
    }
    part
}

fn content(frame: &Frame) -> Value {
    let titled = |kind: &str, title: String| json!({ "type": kind, "title": title, "text": "" });
    match &frame.content {
        Content::Request { method, target, headers } => {
            json!({ "type": "request", "title": format!("{method} {target}"), "headers": headers, "text": "" })
        }
        Content::Response { status, headers } => {
            json!({ "type": "response", "title": status.to_string(), "headers": headers, "text": "" })
        }
        Content::Opened => titled("opened", "connection opened".to_owned()),
        Content::Closed(how) => titled("closed", how.as_str().to_owned()),
        Content::Exit { code, signal } => titled(
            "exit",
            match (code, signal) {
                (Some(code), _) => format!("exit {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "exit".to_owned(),
            },
        ),
        Content::Mark(mark) => {
            let value = mark.value();
            let value = if value.is_null() { String::new() } else { format!(" {value}") };
            titled("mark", format!("{}{value}", mark.name()))
        }
        Content::Stderr(bytes) => text("stderr", bytes),
        Content::Raw(bytes) => text("bytes", bytes),
        Content::Line { bytes, .. } | Content::WebSocket { bytes, .. } | Content::Body { bytes, .. } => {
            message(frame, bytes)
        }
        Content::Sse(block) => match Event::of(frame) {
            Event::Sse { fields, packet: Some(_) } => message(frame, fields.data.unwrap_or_default().as_bytes()),
            _ => text("bytes", block),
        },
    }
}

fn text(kind: &str, bytes: &[u8]) -> Value {
    let shown = &bytes[..bytes.len().min(SHOWN)];
    let is_cut = shown.len() < bytes.len();
    // A character that was cut is no reason to take text for bytes.
    let valid = std::str::from_utf8(shown).map_or_else(|error| error.valid_up_to(), str::len);
    let is_text = valid == shown.len() || (is_cut && shown.len() - valid < 4);
    let text = if is_text { String::from_utf8_lossy(&shown[..valid]).into_owned() } else { BASE64.encode(shown) };
    json!({ "type": kind, "text": text, "cut": is_cut, "base64": !is_text, "json": false })
}

fn message(frame: &Frame, bytes: &[u8]) -> Value {
    let role = match Event::of(frame) {
        Event::Packet(packet) | Event::Sse { packet: Some(Ok(packet)), .. } => match packet {
            Packet::Batch(_) => "batch",
            Packet::Message(message) => match message.kind() {
                Kind::Request => "request",
                Kind::Notification => "notification",
                Kind::Result => "response",
                Kind::Error => "error",
            },
        },
        Event::Body(_) => return text("bytes", bytes),
        _ => "invalid",
    };
    let mut part = text("message", bytes);
    part["role"] = role.into();
    part["json"] = (role != "invalid" && part["cut"] == false).into();
    part
}

/// The request and the answer of a call of ours, to be kept as a test case; or why it cannot be one.
pub(crate) fn exchange(hub: &Hub, n: u64, row: &Row) -> Result<KeptExchange, &'static str> {
    let frames = row.parts.iter().filter_map(|frame| Some((hub.frame(row.session, frame)?, frame)));
    let messages: Vec<(Message, u32)> =
        frames.flat_map(|(frame, index)| messages(&frame).into_iter().map(move |message| (message, index))).collect();
    let is_ours = |(message, _): &&(Message, u32)| message.id().is_some_and(|id| id.to_json() == *row.id);
    let mut ours = messages.iter().filter(is_ours);
    let request = ours.find(|(message, _)| message.kind() == Kind::Request).ok_or("its request was dropped")?;
    let answer = messages.iter().filter(is_ours).find(|(message, _)| message.kind().is_response());
    let answer = answer.ok_or("it was not answered")?;
    // What stands in their place was made up here: no server takes it for the secret, and none says it again.
    for ((_, frame), why) in
        [(request, "a secret in its request was replaced"), (answer, "a secret in its answer was replaced")]
    {
        if hub.was_redacted(row.session, *frame) {
            return Err(why);
        }
    }
    let ((request, _), (answer, _)) = (request, answer);
    let mut params = request.params().cloned().unwrap_or_else(|| json!({}));
    if let Some(members) = params.as_object_mut() {
        // What the client says of itself and asks for is not what the case is about.
        members.remove("_meta");
    }
    let said = || answer.error().and_then(|error| error.get("message")?.as_str()).unwrap_or_default().to_owned();
    let refused = || (answer.error_code().unwrap_or_default(), said());
    let answer = answer.result().cloned().ok_or_else(refused);
    Ok(KeptExchange { row: n, method: request.method().unwrap_or_default().to_owned(), params, answer })
}

fn messages(frame: &Frame) -> Vec<Message> {
    match Event::of(frame).packet() {
        Some(Packet::Message(message)) => vec![message.clone()],
        Some(Packet::Batch(messages)) => messages.iter().flatten().cloned().collect(),
        None => Vec::new(),
    }
}
