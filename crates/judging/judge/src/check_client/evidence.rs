//! What the trace of a scenario must show: which texts crossed, and how often. Without it, a scenario whose peculiarity never
//! occurred would pass with any client.

use serde_json::Value;
use wire::Party;
use wire::trace::{Content, Frame, Trace};

/// Something that a trace shows.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    from_client: bool,
    with: &'static [&'static str],
    without: &'static [&'static str],
    times: usize,
    holds: Option<fn(&Frame, &str) -> bool>,
}

/// A frame of the client that contains each of these texts.
pub const fn client(with: &'static [&'static str]) -> Evidence {
    Evidence { from_client: true, with, without: &[], times: 1, holds: None }
}

/// A frame of any other party that contains each of these texts.
pub const fn server(with: &'static [&'static str]) -> Evidence {
    Evidence { from_client: false, ..client(with) }
}

impl Evidence {
    /// The same frame contains none of these texts.
    pub const fn without(mut self, texts: &'static [&'static str]) -> Self {
        self.without = texts;
        self
    }

    /// There are at least so many such frames.
    pub const fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// This holds for the same frame and its text.
    pub const fn and(mut self, holds: fn(&Frame, &str) -> bool) -> Self {
        self.holds = Some(holds);
        self
    }

    /// Whether a trace shows it.
    pub fn is_in(&self, trace: &Trace) -> bool {
        trace.frames.iter().filter(|frame| self.is(frame)).take(self.times).count() == self.times
    }

    fn is(&self, frame: &Frame) -> bool {
        let text = text(frame);
        (frame.from == Party::Client) == self.from_client
            && self.with.iter().all(|part| text.contains(part))
            && !self.without.iter().any(|part| text.contains(part))
            && self.holds.is_none_or(|holds| holds(frame, &text))
    }
}

/// A frame as text: bytes as they are; of HTTP the method and the target, or the status, and a line for each header.
fn text(frame: &Frame) -> String {
    let head = |first: String, headers: &[(String, String)]| {
        headers.iter().fold(first, |text, (name, value)| format!("{text}\n{}: {value}", name.to_ascii_lowercase()))
    };
    match &frame.content {
        Content::Line { bytes, .. }
        | Content::Body { bytes, .. }
        | Content::Sse(bytes)
        | Content::WebSocket { bytes, .. }
        | Content::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Content::Request { method, target, headers } => head(format!("{method} {target}"), headers),
        Content::Response { status, headers } => head(format!("HTTP {status}"), headers),
        _ => String::new(),
    }
}

/// Whether a line of the text is nothing but an empty JSON array.
pub fn is_empty_array(_: &Frame, text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("data: ").unwrap_or(line) == "[]")
}

/// Whether a list of tools has two of one name.
pub fn names_twice(_: &Frame, text: &str) -> bool {
    text.lines().any(|line| {
        let message: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).unwrap_or_default();
        let tools = message.pointer("/result/tools").and_then(Value::as_array);
        let names: Vec<_> = tools.into_iter().flatten().map(|tool| &tool["name"]).collect();
        names.iter().enumerate().any(|(at, name)| names[..at].contains(name))
    })
}

/// Whether a session id is none that the reference server gives: those are hexadecimal. A trace holds its placeholder, which
/// keeps the characters' classes.
pub fn foreign_session(_: &Frame, text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("mcp-session-id: ").is_some_and(|id| id.contains('-')))
}

/// Whether a process ended by a signal.
pub fn ended_by_signal(frame: &Frame, _: &str) -> bool {
    matches!(frame.content, Content::Exit { signal: Some(_), .. })
}

/// Whether an authorization response names its issuer with a slash at the end.
pub fn issuer_with_slash(_: &Frame, text: &str) -> bool {
    text.split_once("iss=")
        .is_some_and(|(_, rest)| rest.split(['&', '\n']).next().is_some_and(|iss| iss.ends_with("%2F")))
}
