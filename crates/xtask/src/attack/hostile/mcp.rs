//! An MCP server that attacks its client, as a function from messages to bytes; each trick has a name. Knows no transport.

use std::time::Duration;

use serde_json::{Value, json};

/// What a server can do to its client.
pub(crate) const TRICKS: &[&str] = &[
    "endless-pages",
    "same-cursor",
    "empty-pages",
    "huge-pages",
    "huge-list",
    "huge-result",
    "deep-result",
    "huge-error",
    "escapes",
    "regex",
    "references",
    "deep-schema",
    "wide-schema",
    "branching-schema",
    "remote-schema",
    "other-ids",
    "no-ids",
    "two-answers",
    "unasked",
    "questions",
    "notifications",
    "garbage",
    "half",
    "silent",
    "slow-drip",
    "line-without-end",
    "error-without-end",
];

/// Every character that may not reach a terminal as it is, each in a text of its own.
pub(crate) const ESCAPES: &[&str] = &[
    "\u{1b}[31mred",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;http://evil.example\u{7}",
    "\u{1b}[2J",
    "\u{9b}2J",
    "\u{9d}0;t\u{9c}",
    "\u{90}q\u{9c}",
    "\r over",
    "\u{8}\u{8}",
    "\u{7}",
    "\u{202e}gnp",
    "\u{2066}x",
    "\u{61c}y",
    "\u{200b}z",
    "\u{feff}f",
    "\u{200f}r",
    "\u{2028}l",
    "\u{7f}",
];

/// What comes back for one message: texts, one after the other, and what is then repeated without end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaction {
    pub(crate) messages: Vec<Vec<u8>>,
    pub(crate) endless: Vec<u8>,
    pub(crate) pause: Duration,
    /// The last message stays without its end.
    pub(crate) cut: bool,
}

impl Reaction {
    fn one(message: &Value) -> Self {
        Self { messages: vec![message.to_string().into_bytes()], ..Self::default() }
    }
}

/// How a server that plays `trick` reacts to a message.
#[expect(clippy::too_many_lines, reason = "a table of attempts")]
pub(crate) fn react(trick: &str, message: &Value) -> Reaction {
    let (id, method) = (message["id"].clone(), message["method"].as_str().unwrap_or_default());
    if id.is_null() || method.is_empty() {
        return Reaction::default();
    }
    let honest = result(trick, method, &message["params"]);
    let answer = |result: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    if method == "initialize" || method == "server/discover" {
        return match honest {
            Some(result) => Reaction::one(&answer(&result)),
            None => Reaction::one(
                &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "Method not found" } }),
            ),
        };
    }
    let plain = honest.unwrap_or_else(|| json!({}));
    match trick {
        "other-ids" => Reaction::one(&json!({ "jsonrpc": "2.0", "id": format!("{id}x"), "result": plain })),
        "no-ids" => Reaction::one(&json!({ "jsonrpc": "2.0", "id": null, "result": plain })),
        "two-answers" => {
            let text = answer(&plain).to_string().into_bytes();
            Reaction { messages: vec![text.clone(), text], ..Reaction::default() }
        }
        "unasked" => {
            let unasked =
                (1000..3000).map(|id| json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string().into_bytes());
            Reaction {
                messages: unasked.chain([answer(&plain).to_string().into_bytes()]).collect(),
                ..Reaction::default()
            }
        }
        "questions" => {
            let ask =
                |n: u32| json!({ "jsonrpc": "2.0", "id": format!("q{n}"), "method": "ping" }).to_string().into_bytes();
            Reaction {
                messages: (0..20_000).map(ask).chain([answer(&plain).to_string().into_bytes()]).collect(),
                ..Reaction::default()
            }
        }
        "notifications" => {
            let text = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x".repeat(4000) } });
            Reaction { endless: text.to_string().into_bytes(), ..Reaction::default() }
        }
        "huge-error" => {
            let message = "e".repeat(100 << 20);
            Reaction::one(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": message } }))
        }
        "deep-result" => {
            let deep = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[],"x":{}{}}}}}"#,
                "[".repeat(2_000_000),
                "]".repeat(2_000_000)
            );
            Reaction { messages: vec![deep.into_bytes()], ..Reaction::default() }
        }
        "garbage" => Reaction {
            messages: vec![b"\xff\xfe{]".repeat(1000), answer(&plain).to_string().into_bytes()],
            ..Reaction::default()
        },
        "half" => {
            Reaction { messages: vec![answer(&plain).to_string().into_bytes()], cut: true, ..Reaction::default() }
        }
        "silent" => Reaction::default(),
        "slow-drip" => Reaction {
            messages: vec![b"{\"jsonrpc\":".to_vec()],
            cut: true,
            endless: b" ".to_vec(),
            pause: Duration::from_millis(100),
        },
        "line-without-end" => Reaction {
            messages: vec![b"{\"jsonrpc\":\"".to_vec()],
            cut: true,
            endless: vec![b'x'; 64 << 10],
            pause: Duration::ZERO,
        },
        _ => Reaction::one(&answer(&plain)),
    }
}

fn result(trick: &str, method: &str, params: &Value) -> Option<Value> {
    let many =
        |count: usize, size: usize| (0..count).map(|n| tool(&format!("t{n}"), &"d".repeat(size))).collect::<Vec<_>>();
    let cursor: u64 = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    Some(match (method, trick) {
        ("initialize", _) => {
            let asked = params["protocolVersion"].as_str().unwrap_or("2025-11-25");
            json!({ "protocolVersion": asked, "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "logging": {} },
                "serverInfo": { "name": name(trick, "hostile"), "version": "1" }, "instructions": name(trick, "none") })
        }
        ("ping", _) => json!({}),
        ("tools/list", "endless-pages") => {
            json!({ "tools": [tool(&format!("t{cursor}"), "x")], "nextCursor": (cursor + 1).to_string() })
        }
        ("tools/list", "same-cursor") => json!({ "tools": [tool("t", "x")], "nextCursor": "7" }),
        ("tools/list", "empty-pages") => json!({ "tools": [], "nextCursor": (cursor + 1).to_string() }),
        ("tools/list", "huge-pages") => json!({ "tools": many(1, 8 << 20), "nextCursor": (cursor + 1).to_string() }),
        ("tools/list", "huge-list") => json!({ "tools": many(60_000, 2000) }),
        ("tools/list", _) => json!({ "tools": [schema(trick)] }),
        ("tools/call", "huge-result") => json!({ "content": [{ "type": "text", "text": "r".repeat(200 << 20) }] }),
        ("tools/call", _) => {
            json!({ "content": [{ "type": "text", "text": name(trick, "done") }], "structuredContent": content(trick) })
        }
        ("prompts/list", _) => json!({ "prompts": [{ "name": name(trick, "p"), "description": name(trick, "d") }] }),
        ("resources/list", _) => {
            json!({ "resources": [{ "uri": format!("x://{}", name(trick, "r")), "name": name(trick, "r") }] })
        }
        ("resources/templates/list", _) => json!({ "resourceTemplates": [] }),
        ("prompts/get", _) => {
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": name(trick, "p") } }] })
        }
        ("resources/read", _) => json!({ "contents": [{ "uri": "x://r", "text": name(trick, "r") }] }),
        _ => return None,
    })
}

/// A text, which for the trick "escapes" has all of them.
fn name(trick: &str, plain: &str) -> String {
    if trick == "escapes" { format!("{plain}{}", ESCAPES.concat()) } else { plain.to_owned() }
}

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } })
}

/// The one tool, with a schema that is work to look at.
fn schema(trick: &str) -> Value {
    let mut tool = tool(
        &if trick == "escapes" { format!("t{}", ESCAPES.concat()) } else { "t".to_owned() },
        &name(trick, "A tool"),
    );
    let output = match trick {
        "regex" => {
            json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$" }, "b": { "pattern": "^(a|a|a?)*$" } } })
        }
        "references" => {
            let mut definitions = json!({ "d0": { "type": "object" } });
            for n in 1..40 {
                let both = format!("#/$defs/d{}", n - 1);
                definitions[format!("d{n}")] = json!({ "allOf": [{ "$ref": both }, { "$ref": both }] });
            }
            json!({ "type": "object", "$defs": definitions, "$ref": "#/$defs/d39" })
        }
        "deep-schema" => {
            let mut deep = json!({ "type": "string" });
            for _ in 0..100 {
                deep = json!({ "type": "object", "properties": { "a": deep }, "required": ["a"] });
            }
            deep
        }
        "wide-schema" => {
            let any: Vec<Value> = (0..5000)
                .map(|n| json!({ "properties": { "a": { "const": n } }, "required": [format!("r{n}")] }))
                .collect();
            json!({ "type": "object", "anyOf": any.clone(), "oneOf": any })
        }
        "branching-schema" => {
            let deeper = json!({ "required": ["a"], "properties": { "a": { "$ref": "#/$defs/n" } } });
            json!({ "type": "object", "$defs": { "n": { "anyOf": [deeper, deeper, deeper, deeper] } }, "$ref": "#/$defs/n" })
        }
        "remote-schema" => json!({ "type": "object", "$ref": "http://127.0.0.1:9/schema.json" }),
        "escapes" => {
            json!({ "type": "object", "properties": { name(trick, "a"): { "type": "string", "description": name(trick, "d") } } })
        }
        _ => return tool,
    };
    tool["inputSchema"] = if trick == "escapes" { output.clone() } else { json!({ "type": "object" }) };
    tool["outputSchema"] = output;
    tool
}

fn content(trick: &str) -> Value {
    match trick {
        "regex" => json!({ "a": "a".repeat(50_000), "b": "a".repeat(50_000) + "!" }),
        // Four ways to go on at each of 24 levels, and none of them fits.
        "branching-schema" => (0..24).fold(json!({}), |inner, _| json!({ "a": inner })),
        "wide-schema" => json!({ "a": (0..5000).collect::<Vec<_>>() }),
        "escapes" => json!({ name(trick, "a"): name(trick, "b") }),
        _ => json!({}),
    }
}
