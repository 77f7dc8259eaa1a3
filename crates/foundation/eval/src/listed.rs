//! The tools in a file: a result of `tools/list`, a snapshot, the `tools` of a request, or a trace in which a server lists them.

use serde_json::{Value, json};
use wire::message::Packet;
use wire::trace::Event;
use wire::trace::file::{FrameReader, read_header};
use wire::{Message, Party};

use crate::Catalogue;

/// How many tools are taken from a trace.
const MOST_TOOLS: usize = 20_000;

/// Reads the tools in a file.
pub fn read(text: &str) -> Result<Catalogue, String> {
    let is_trace = text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| read_header(line).is_ok());
    if is_trace {
        return Catalogue::read(&json!({ "tools": traced(text)? }));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Catalogue::read(&value)
}

/// The tools that a server listed last under each name, in the order in which it listed them first.
fn traced(text: &str) -> Result<Vec<Value>, String> {
    let mut tools: Vec<Value> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for frame in FrameReader::new(text.lines()).map_err(|bad| bad.to_string())? {
        let frame = frame.map_err(|bad| bad.to_string())?;
        if frame.from != Party::Server {
            continue;
        }
        let event = Event::of(&frame);
        let messages: Vec<&Message> = match event.packet() {
            None => continue,
            Some(Packet::Message(message)) => vec![message],
            Some(Packet::Batch(messages)) => messages.iter().flatten().collect(),
        };
        let lists = messages.iter().filter_map(|message| message.result()?.get("tools")?.as_array());
        for tool in lists.flatten() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            match places.get(name) {
                Some(at) => tools[*at] = tool.clone(),
                None if tools.len() >= MOST_TOOLS => return Err(format!("more than {MOST_TOOLS} tools")),
                None => {
                    places.insert(name.to_owned(), tools.len());
                    tools.push(tool.clone());
                }
            }
        }
    }
    if tools.is_empty() { Err("no server lists tools in this trace".to_owned()) } else { Ok(tools) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn tools_are_read_from_lists_and_traces() {
        let list = json!({ "tools": [{ "name": "a" }, { "name": "b" }] }).to_string();
        assert_eq!(read(&list).unwrap().tools().len(), 2);
        let header = json!({ "trace": "proof.trace/1", "subject": "server", "transport": "stdio" }).to_string();
        let frame = |from: &str, message: serde_json::Value| json!({ "from": from, "line": message }).to_string();
        let listed = |tools| frame("server", json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } }));
        let lines = [
            header,
            frame("client", json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "x" }] } })),
            listed(json!([{ "name": "a", "description": "old" }])),
            listed(json!([{ "name": "b" }])),
            listed(json!([{ "name": "a", "description": "new" }])),
        ];
        let catalogue = read(&lines.join("\n")).unwrap();
        let found: Vec<_> =
            catalogue.tools().iter().map(|tool| (tool.name.as_str(), tool.description.as_str())).collect();
        assert_eq!(found, [("a", "new"), ("b", "")]);
        assert!(read(&lines[..2].join("\n")).unwrap_err().contains("no server lists tools"));
        assert!(read("{").is_err() && read("").is_err());
    }
}
