//! A server and a client whose every text is markup: names, descriptions, values, errors, members, methods, headers, and what a
//! process writes to stderr. Many of them break rules, so that a report quotes them.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::markup::texts;
use crate::Verdict;
use crate::attack::request::{Request, call, initialize, initialized};
use crate::attack::socket::exchange;

/// Plays the server as a child.
pub(crate) fn server(words: &[String]) -> Verdict {
    let texts = texts(words);
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        eprintln!("{}", shortened(&texts).join(" "));
        for answer in answers(&message, &texts) {
            writeln!(output, "{answer}")?;
        }
        output.flush()?;
    }
    Ok(true)
}

/// The huge one only where a text of the peer is expected to be huge.
fn shortened(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).filter(|text| text.len() < 1000).collect()
}

/// What the server sends for one message.
pub(super) fn answers(message: &Value, texts: &[String]) -> Vec<Value> {
    let (id, short) = (&message["id"], shortened(texts));
    if id.is_null() {
        return Vec::new();
    }
    let (first, all) = (short.first().copied().unwrap_or_default(), short.join(" "));
    let result = |result: Value| vec![json!({ "jsonrpc": "2.0", "id": id, "result": result })];
    let odd = |member: &str| -> Vec<Value> {
        let odd = |text: &&str| json!({ "name": text, "description": text, "title": text, "uri": text, "mimeType": text, member: text, *text: text });
        short.iter().map(odd).collect()
    };
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let revision = message["params"]["protocolVersion"].clone();
            let mut answers = result(json!({ "protocolVersion": revision, "instructions": texts.join(" "),
                "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "logging": {}, first: all },
                "serverInfo": { "name": texts.join(" "), "version": first, "title": all, "websiteUrl": first, "icons": [{ "src": first }] } }));
            answers.push(json!({ "jsonrpc": "2.0", "method": first, "params": { first: all } }));
            answers
        }
        "tools/list" => {
            let mut tools = odd("inputSchema");
            tools.push(json!({ "name": "t", "description": all, "annotations": { "readOnlyHint": true },
                "inputSchema": { "type": "object" }, "outputSchema": { "type": "object", "required": short } }));
            result(json!({ "tools": tools }))
        }
        "tools/call" => result(json!({ "content": odd("type"), "structuredContent": { first: all } })),
        "prompts/list" => result(json!({ "prompts": odd("arguments") })),
        "resources/list" => result(json!({ "resources": odd("size") })),
        "ping" => result(json!({ first: all })),
        _ => vec![json!({ "jsonrpc": "2.0", "id": id, "error": { "code": first, "message": all, "data": all } })],
    }
}

/// Plays a client over Streamable HTTP; the last word is where the server listens.
pub(crate) fn client(words: &[String]) -> Verdict {
    let texts = texts(words);
    let short = shortened(&texts);
    let (first, all) = (short.first().copied().unwrap_or_default(), short.join(" "));
    let url = words.last().and_then(|url| url.strip_prefix("http://")).context("no URL")?;
    let (host, path) = url.split_once('/').context("no path")?;
    let (path, at) = (format!("/{path}"), host.replace("localhost", "127.0.0.1").parse()?);
    let mut hello = initialize();
    hello["params"]["clientInfo"] = json!({ "name": texts.join(" "), "version": first, "title": all });
    hello["params"]["capabilities"] = json!({ first: all, "roots": first });
    let opened = exchange(at, &Request::post(&path, host, &hello).bytes())?;
    let session = opened.and_then(|reply| reply.header("mcp-session-id").map(str::to_owned)).unwrap_or_default();
    let many: Map<String, Value> = short.iter().map(|text| ((*text).to_owned(), json!(text))).collect();
    for message in [
        initialized(),
        call(2, "tools/list", json!({ "cursor": first, "_meta": many })),
        call(3, "tools/call", json!({ "name": first, "arguments": many })),
        call(first, "tools/call", json!(all)),
        call(4, first, json!({ first: all })),
        json!({ "jsonrpc": first, "id": all, "method": all }),
    ] {
        let odd = printable(first);
        let request = Request::post(&path, host, &message).with("Mcp-Session-Id", &session).with("X-Odd", &odd);
        exchange(at, &request.bytes())?;
    }
    Ok(true)
}

/// What a header may hold.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~')).collect()
}
