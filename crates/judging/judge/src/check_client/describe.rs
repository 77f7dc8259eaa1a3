//! Describes a frame in a few words, for people who watch a client at work.

use serde_json::Value;
use wire::message::Packet;
use wire::trace::{Closed, Content, Event, Frame};
use wire::{Kind, Message, Party};

/// How much of a name is shown.
const NAME: usize = 60;

/// A frame in one line; `None` if it does not matter to people.
pub fn describe(frame: &Frame) -> Option<String> {
    let who = if frame.from == Party::Client { "client" } else { "server" };
    let what = match &frame.content {
        Content::Request { method, target, .. } if method != "POST" || frame.to != Party::Server => {
            format!("{method} {target}")
        }
        Content::Opened => "connected".to_owned(),
        Content::Closed(how) if frame.exchange == 0 => format!("closed: {}", how.as_str()),
        Content::Closed(Closed::Aborted) => "dropped a stream".to_owned(),
        Content::Response { status, .. } if *status >= 400 => format!("HTTP {status}"),
        Content::Exit { code: Some(code), .. } => format!("exited with code {code}"),
        Content::Exit { signal: Some(signal), .. } => format!("killed by signal {signal}"),
        _ => messages(&Event::of(frame))?,
    };
    Some(format!("{who}  {}", wire::escape::line(&what)))
}

fn messages(event: &Event) -> Option<String> {
    match event {
        Event::Malformed(_) => return Some("an invalid message".to_owned()),
        Event::Sse { packet: Some(Err(_)), .. } => return Some("an event that is not a message".to_owned()),
        _ => {}
    }
    let said: Vec<_> = match event.packet()? {
        Packet::Message(one) => vec![message(one)],
        Packet::Batch(parts) => parts.iter().filter_map(|part| part.as_ref().ok()).map(message).collect(),
    };
    (!said.is_empty()).then(|| said.join(" + "))
}

fn message(message: &Message) -> String {
    let id = message.id().map(|id| format!(" #{}", id.to_json())).unwrap_or_default();
    match message.kind() {
        Kind::Request | Kind::Notification => {
            let named = message.params().and_then(|params| params.get("name").or_else(|| params.get("uri")));
            let named = named.and_then(Value::as_str).map(|name| format!(" {}", wire::escape::snippet(name, NAME)));
            format!("{}{}{id}", message.method().unwrap_or_default(), named.unwrap_or_default())
        }
        Kind::Result => format!("result{id}"),
        Kind::Error => format!("error {}{id}", message.error_code().map(|code| code.to_string()).unwrap_or_default()),
    }
}
