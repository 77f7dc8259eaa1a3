//! A peer that repeats what it was given, wherever a message has room for it, plain and encoded, and that has secrets of its own.
//! Over standard streams it is a child process; over HTTP its answers are a function of what it was sent.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

use super::forms::{base64, hex, percent};
use super::{MARK, OWN, VISIBLE, secret};
use crate::Verdict;

/// Plays the server as a child: it repeats its arguments and its environment.
pub(crate) fn play(words: &[String]) -> Verdict {
    let environment = std::env::vars().map(|(name, value)| format!("{name}={value}"));
    let given: Vec<String> = words.iter().cloned().chain(environment).filter(|text| text.contains(MARK)).collect();
    let noise = texts(&given).join("\n");
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        eprintln!("{noise}");
        for answer in answers(&message, &given) {
            writeln!(output, "{answer}")?;
        }
        output.flush()?;
    }
    Ok(true)
}

/// Each text plain and in the usual encodings.
fn texts(given: &[String]) -> Vec<String> {
    let value = |text: &str| {
        text.split_whitespace().find(|word| word.contains(MARK)).map(|word| {
            let at = word.find(MARK).unwrap_or_default();
            word[at..].split(['@', '&', '\'', '"', ';']).next().unwrap_or_default().to_owned()
        })
    };
    let mut out = vec![VISIBLE.to_owned()];
    for text in given {
        out.push(text.clone());
        let Some(value) = value(text) else { continue };
        out.extend([format!("it is {value} here"), base64(value.as_bytes()), percent(&value), hex(&value)]);
    }
    out
}

/// What the peer has of its own, under names that say that it is secret.
fn named() -> Value {
    let mut named = json!({ "visible": VISIBLE });
    for (name, number) in OWN.iter().filter(|(name, _)| !name.contains(' ')) {
        named[*name] = secret(*number).into();
    }
    named
}

/// What the peer has of its own, in a shape that says that it is secret.
fn shaped() -> String {
    let part = |name: &str| {
        OWN.iter().find(|(found, _)| *found == name).map(|(_, number)| secret(*number)).unwrap_or_default()
    };
    let plain = |name: &str| part(name).replace('-', "");
    format!(
        "key sk-proj-{} and ghp_{} and glpat-{} and xoxb-{} then Authorization: Bearer {} then postgres://me:{}@db.example/x password={} ",
        plain("a key's beginning"),
        plain("a token's beginning"),
        plain("another beginning"),
        plain("a bot's beginning"),
        part("a bearer in text"),
        part("a user in a URL"),
        part("a password in text"),
    )
}

/// The answers to a message: a notification where that may be, and the response.
pub(super) fn answers(message: &Value, given: &[String]) -> Vec<Value> {
    let (id, method) = (message["id"].clone(), message["method"].as_str().unwrap_or_default());
    if id.is_null() {
        return Vec::new();
    }
    let all = texts(given).join(" ");
    let tool = json!({ "name": "echo", "title": VISIBLE, "description": format!("{all} {}", shaped()),
        "inputSchema": { "type": "object", "properties": { "a": { "type": "string", "description": all.clone(), "default": all.clone() } } },
        "annotations": { "readOnlyHint": true }, "_meta": named() });
    let result = match method {
        "initialize" => {
            json!({ "protocolVersion": message["params"]["protocolVersion"], "capabilities": { "tools": {}, "resources": {}, "logging": {} },
            "serverInfo": { "name": VISIBLE, "version": "1" }, "instructions": all.clone() })
        }
        "ping" | "logging/setLevel" => json!({}),
        "tools/list" => json!({ "tools": [tool] }),
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": format!("{all} {}", shaped()) }], "structuredContent": named() })
        }
        "resources/list" => json!({ "resources": [{ "uri": "x://r", "name": VISIBLE, "description": all.clone() }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "resources/read" => json!({ "contents": [{ "uri": "x://r", "text": named().to_string() + &all }] }),
        _ => {
            return vec![
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": all, "data": named() } }),
            ];
        }
    };
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "logger": all, "data": named() } });
    let noisy = !matches!(method, "initialize" | "ping");
    let result = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    noisy.then_some(log).into_iter().chain([result]).collect()
}
