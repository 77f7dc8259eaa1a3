//! The part of an event that a person must see: the offending bytes and a little of what surrounds them.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;
use wire::json;
use wire::trace::{Content, Frame, SseFields};

/// How many characters of an event a report quotes.
const WIDTH: usize = 160;

/// How many of them stand before the offending part.
const LEAD: usize = 48;

/// A quotation and the offending part within it, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// One line; control and bidirectional characters are escaped.
    pub text: String,
    /// The offending part.
    pub caret: Option<Range<usize>>,
}

/// Quotes a frame around what `pointer` names in it.
pub fn excerpt(frame: &Frame, pointer: &str) -> Excerpt {
    let text = text_of(frame, pointer);
    let span = if pointer.starts_with('/') { nearest(&text, pointer) } else { None };
    quote(&text, span)
}

/// A request in few words: `tools/call (id 3) {"name":"echo"}`. What says nothing of this request in particular is left out:
/// `jsonrpc` and `_meta`. Anything else is quoted as it is, also a request without `jsonrpc: "2.0"`.
pub fn sent(frame: &Frame) -> String {
    let text = text_of(frame, "/");
    let value = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let is_valid = value.get("jsonrpc").is_some_and(|version| version == "2.0");
    let Some(method) = value.get("method").and_then(Value::as_str).filter(|_| is_valid) else {
        return excerpt(frame, "").text;
    };
    let mut words = method.to_owned();
    if let Some(id) = value.get("id") {
        let _ = write!(words, " (id {id})");
    }
    let mut params = value.get("params").cloned().unwrap_or_default();
    if let Some(members) = params.as_object_mut() {
        members.shift_remove("_meta");
    }
    let is_empty = params.is_null() || params.as_object().is_some_and(serde_json::Map::is_empty);
    if !is_empty {
        let _ = write!(words, " {params}");
    }
    quote(&words, None).text
}

/// What stands for a frame in a quotation.
fn text_of(frame: &Frame, pointer: &str) -> String {
    match &frame.content {
        Content::Line { bytes, .. }
        | Content::Body { bytes, .. }
        | Content::WebSocket { bytes, .. }
        | Content::Stderr(bytes)
        | Content::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Content::Sse(block) => {
            let fields = SseFields::parse(block);
            match fields.data {
                Some(data) if pointer.starts_with('/') => data,
                _ => String::from_utf8_lossy(block).trim_end().to_owned(),
            }
        }
        Content::Request { method, target, headers } => head(&format!("{method} {target}"), headers, pointer),
        Content::Response { status, headers } => head(&format!("HTTP {status}"), headers, pointer),
        Content::Opened => "opened".to_owned(),
        Content::Closed(how) => format!("closed: {}", how.as_str()),
        Content::Exit { code: Some(code), .. } => format!("exited with code {code}"),
        Content::Exit { signal: Some(signal), .. } => format!("killed by signal {signal}"),
        Content::Exit { .. } => "exited".to_owned(),
        Content::Mark(mark) => format!("{} {}", mark.name(), mark.value()),
    }
}

/// A head in one line: the first line and the header at fault, or those that matter to MCP.
fn head(first: &str, headers: &[(String, String)], pointer: &str) -> String {
    if let Some(wanted) = pointer.strip_prefix("header:") {
        return match wire::trace::header(headers, wanted) {
            Some(value) => format!("{first}, {wanted}: {value}"),
            None => format!("{first}, no {wanted} header"),
        };
    }
    let matters = |name: &str| {
        let lower = name.to_ascii_lowercase();
        matches!(lower.as_str(), "content-type" | "origin" | "last-event-id") || lower.starts_with("mcp-")
    };
    let shown = headers.iter().filter(|(name, _)| matters(name)).map(|(name, value)| format!(", {name}: {value}"));
    shown.fold(first.to_owned(), |text, header| text + &header)
}

/// The span of what the pointer names, or of its nearest parent that exists: a missing member has no span of its own.
fn nearest(text: &str, pointer: &str) -> Option<Range<usize>> {
    let mut pointer = pointer;
    loop {
        if let Some(span) = json::locate(text, pointer) {
            return Some(span);
        }
        pointer = &pointer[..pointer.rfind('/')?];
    }
}

fn quote(text: &str, span: Option<Range<usize>>) -> Excerpt {
    let start = span.as_ref().map_or(0, |s| floor(text, s.start.saturating_sub(LEAD)));
    let mut out = String::new();
    let mut caret = 0..0;
    if start > 0 {
        out.push('…');
    }
    let mut width = out.chars().count();
    for (at, c) in text[start..].char_indices().map(|(i, c)| (start + i, c)) {
        if span.as_ref().is_some_and(|s| s.start == at) {
            caret.start = width;
        }
        if width >= WIDTH {
            out.push('…');
            break;
        }
        let shown = wire::escape::character(c);
        width += shown.chars().count();
        out.push_str(&shown);
        if span.as_ref().is_some_and(|s| s.contains(&at)) {
            caret.end = width;
        }
    }
    Excerpt { text: out, caret: span.filter(|_| caret.end > caret.start).map(|_| caret) }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use wire::Party;
    use wire::trace::{Content, Frame};

    use super::sent;

    fn line(text: &str) -> Frame {
        Frame::new(Party::Client, Content::Line { bytes: text.as_bytes().to_vec(), terminated: true })
    }

    #[test]
    fn a_request_is_said_in_few_words() {
        let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{"x":1},"name":"echo"}}"#;
        assert_eq!(sent(&line(call)), r#"tools/call (id 3) {"name":"echo"}"#);
        assert_eq!(sent(&line(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#)), r#"ping (id "a")"#);
        assert_eq!(sent(&line(r#"{"jsonrpc":"2.0","method":"ping","params":{"_meta":{}}}"#)), "ping");
    }

    #[test]
    fn what_is_no_request_is_quoted() {
        assert_eq!(sent(&line("{ no json\u{1b}")), "{ no json\\u{1b}");
        let unversioned = r#"{"id":"a","method":"ping"}"#;
        assert_eq!(sent(&line(unversioned)), unversioned);
        let long = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"a":"{}"}}}}"#, "b".repeat(1000));
        assert!(sent(&line(&long)).ends_with('…') && sent(&line(&long)).chars().count() <= 161);
    }
}
