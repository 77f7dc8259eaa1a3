//! Which format a file has, and its reader.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;
use wire::trace::file::read_header;

use super::drafts::text;
use super::stream::{Assembler, Events, is_event};
use super::{Unreadable, chat, lines, messages, responses, spans, trace};
use crate::call::Sample;
use crate::recording;

/// A format of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own JSON Lines, which may wrap every other format; results of BFCL; batches of OpenAI and Anthropic.
    Lines,
    /// A stream of server-sent events: Responses, Chat Completions, Anthropic Messages.
    Events,
    /// One answer or conversation as JSON, of any of the three.
    Answer,
    /// A trace or recording of MCP traffic.
    Trace,
    /// OpenTelemetry spans, as OTLP writes them in JSON.
    Spans,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Lines, Self::Events, Self::Answer, Self::Trace, Self::Spans];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Events => "events",
            Self::Answer => "answer",
            Self::Trace => "trace",
            Self::Spans => "spans",
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads a file.
pub(super) fn read(file: &str, format: Option<Format>) -> Result<Vec<Sample>, Unreadable> {
    match format {
        Some(Format::Lines) => lines::read(file),
        Some(Format::Events) => events(file),
        Some(Format::Trace) => trace::read(file).map(|sample| vec![sample]),
        Some(Format::Answer) => answer(&json(file)?),
        Some(Format::Spans) => spans::read(&json(file)?),
        None => detected(file),
    }
}

fn json(file: &str) -> Result<Value, Unreadable> {
    serde_json::from_str(file)
        .map_err(|error| Unreadable::new(format!("not JSON: {error}"), "one JSON document").at(error.line()))
}

fn detected(file: &str) -> Result<Vec<Sample>, Unreadable> {
    let first = file.lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    if read_header(first).is_ok() {
        return trace::read(file).map(|sample| vec![sample]);
    }
    if let Some(recording) = recording::read(file) {
        return recording.map(|recording| recording.samples());
    }
    if ["event:", "data:", "id:", "retry:", ":"].iter().any(|field| first.starts_with(field)) {
        return events(file);
    }
    match serde_json::from_str::<Value>(file) {
        Ok(value) if value.get("resourceSpans").is_some() => spans::read(&value),
        Ok(value) if lines::is_line(&value) => lines::answer(&value),
        Ok(value) => answer(&value),
        // Spans may come as lines, too: an exporter to a file writes them so.
        Err(_) if serde_json::from_str::<Value>(first).is_ok_and(|value| value.get("resourceSpans").is_some()) => {
            spans::read_lines(file)
        }
        Err(_) => lines::read(file),
    }
}

fn events(file: &str) -> Result<Vec<Sample>, Unreadable> {
    let mut assembler = Assembler::default();
    assembler.push(file.as_bytes())?;
    assembler.finish()
}

/// One answer, conversation or list of events as a value.
pub(super) fn answer(value: &Value) -> Result<Vec<Sample>, Unreadable> {
    match value {
        Value::Object(_) if value.get("output").is_some_and(Value::is_array) => Ok(vec![responses::response(value)?]),
        Value::Object(_) if value.get("choices").is_some_and(Value::is_array) => chat::completion(value),
        Value::Object(_) if text(value, "role") == Some("assistant") || text(value, "type") == Some("message") => {
            Ok(vec![conversation(std::slice::from_ref(value))?])
        }
        Value::Object(_) if value.get("error").is_some_and(|error| !error.is_null()) => chat::completion(value),
        Value::Object(_) => match value.get("messages").or_else(|| value.get("items")).and_then(Value::as_array) {
            Some(list) => Ok(vec![conversation(list)?]),
            None => Err(unknown()),
        },
        Value::Array(list) if list.first().is_some_and(is_event) => {
            let mut events = Events::default();
            for event in list {
                events.event(event)?;
            }
            events.finish()
        }
        Value::Array(list) if !list.is_empty() => Ok(vec![conversation(list)?]),
        _ => Err(unknown()),
    }
}

/// A list of messages or items, of the dialect that its calls show.
fn conversation(list: &[Value]) -> Result<Sample, Unreadable> {
    let is_item = |item: &&Value| text(item, "role").is_none() && text(item, "type").is_some();
    if let [only] = list
        && text(only, "type") == Some("message")
        && only.get("stop_reason").is_some()
    {
        return messages::message(only);
    }
    if list.iter().any(|item| is_item(&item)) {
        return responses::items(list);
    }
    if !list.iter().all(|item| text(item, "role").is_some()) {
        return Err(unknown());
    }
    let has_blocks = |item: &&Value| item.get("content").is_some_and(Value::is_array);
    let is_chat = |item: &&Value| {
        item.get("tool_calls").is_some() || item.get("function_call").is_some() || text(item, "role") == Some("tool")
    };
    if !list.iter().any(|item| is_chat(&item)) && list.iter().any(|item| has_blocks(&item)) {
        messages::conversation(list)
    } else {
        chat::messages(list)
    }
}

fn unknown() -> Unreadable {
    Unreadable::new(
        "no calls of a known format",
        "a response of the Responses API, Chat Completions or Anthropic Messages, their streams, a trace of \
         `proof record`, or JSON Lines: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md",
    )
}
