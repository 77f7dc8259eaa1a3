//! Tools that a client over HTTP must not use, because an `x-mcp-header` in their schemas is invalid (2026-07-28,
//! basic/transports/streamable-http). The gateway is such a client, and shows them to nobody.

use serde_json::Value;
use wire::http::annotations;
use wire::message::{Packet, parse_owned};
use wire::{Era, Message};

use crate::upstream::{Carrier, Conversation};

/// Whether tools of this server are looked at: only over HTTP are arguments mirrored into headers.
pub(crate) fn are_looked_for(conversation: &Conversation) -> bool {
    matches!(conversation.core.carrier, Carrier::Http(_)) && conversation.profile.revision.era() == Era::Modern
}

/// Whether a tool must not be used.
pub(crate) fn is_rejected(upstream: &str, tool: &Value) -> bool {
    let faults = tool.get("inputSchema").map(|schema| annotations(schema).faults).unwrap_or_default();
    if let Some((pointer, fault)) = faults.first() {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let (name, pointer) = (wire::escape::line(name), wire::escape::line(pointer));
        tracing::warn!(upstream, tool = &*name, "the tool is not shown: {fault} (`inputSchema{pointer}`)");
    }
    !faults.is_empty()
}

/// A response without such tools, where it is one to `tools/list`.
pub(crate) fn without_rejected(upstream: &str, conversation: &Conversation, message: Message) -> Message {
    let may_have_some = are_looked_for(conversation)
        && message.body_member("tools").is_some()
        && message.text().contains("x-mcp-header");
    if !may_have_some {
        return message;
    }
    let Ok(mut whole) = serde_json::from_str::<Value>(message.text()) else { return message };
    let Some(tools) = whole.pointer_mut("/result/tools").and_then(Value::as_array_mut) else { return message };
    let before = tools.len();
    tools.retain(|tool| !is_rejected(upstream, tool));
    if tools.len() == before {
        // What stays the same stays byte for byte.
        return message;
    }
    match parse_owned(whole.to_string().into_bytes()) {
        Ok(Packet::Message(message)) => message,
        _ => message,
    }
}
