//! Tools that a client over HTTP must not use, because an `x-mcp-header` in their schemas is invalid (2026-07-28,
//! basic/transports/streamable-http). The gateway is such a client, and shows them to nobody.

use std::ops::Range;

use serde_json::Value;
use wire::http::annotations;
use wire::json::{Outline, outline};
use wire::message::{Packet, parse_owned};
use wire::splice::{Splice, member, members};
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
    match edited(upstream, message.text()).map(|text| parse_owned(text.into_bytes())) {
        Some(Ok(Packet::Message(message))) => message,
        _ => message,
    }
}

/// The text without such tools; nothing where it has none. What stays, stays byte for byte.
fn edited(upstream: &str, text: &str) -> Option<String> {
    let all = members(text)?;
    let result = member(text, &all, "result")?;
    let tools = member(text, &result.members, "tools")?;
    let list = &text[tools.value.clone()];
    let Ok(Outline::Array(spans)) = outline(list) else { return None };
    let tool = |span: &Range<usize>| serde_json::from_str::<Value>(&list[span.clone()]).ok();
    let stays = |span: &&Range<usize>| !tool(span).is_some_and(|tool| is_rejected(upstream, &tool));
    let kept: Vec<_> = spans.iter().filter(stays).map(|span| &list[span.clone()]).collect();
    if kept.len() == spans.len() {
        return None;
    }
    let mut splice = Splice::new(text);
    splice.replace(tools.value.clone(), format!("[{}]", kept.join(",")));
    Some(splice.finish())
}

#[cfg(test)]
mod tests {
    use super::edited;

    #[test]
    fn what_stays_is_the_same_byte_for_byte() {
        let bad =
            r#"{"name":"b","inputSchema":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":""}}}}"#;
        let with = |tools: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}],"x":1e400}}}}"#);
        let good = r#"{"name":"a","x": 1.0e0}"#;
        for tools in [format!("{good},{bad}"), format!("{bad} ,\n{good}")] {
            assert_eq!(edited("s", &with(&tools)), Some(with(good)));
        }
        assert_eq!(edited("s", &with(bad)), Some(with("")));
        assert_eq!(edited("s", &with(good)), None);
    }
}
