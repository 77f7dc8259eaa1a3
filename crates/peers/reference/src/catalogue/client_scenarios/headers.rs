//! Tools whose names and arguments stand in headers (2026-07-28), well and badly declared.

use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use crate::catalogue::{Outcome, Tool};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::now("test_headers", "Has a plain name", |_, _| Outcome::text("Here")),
        Tool::now("my-hyphenated-tool", "Has a name with hyphens", |_, _| Outcome::text("Here, too")),
        mirrored("test_custom_headers"),
        mirrored("test_custom_headers_null"),
    ]
}

/// What `http-custom-headers` tells its client to call.
pub(crate) fn calls() -> Value {
    let all = json!({
        "region": "us-west1", "priority": 42, "verbose": false, "debug": true, "empty_val": "",
        "method_val": "test-method", "float_val": 2.5, "non_ascii_val": "Grüße, 世界", "whitespace_val": " padded ",
        "leading_space_val": " us-west1", "trailing_space_val": "us-west1 ", "internal_space_val": "us west 1",
        "control_char_val": "line1\nline2", "crlf_val": "line1\r\nline2", "tab_val": "\tindented", "query": "SELECT 1",
        "lookalike_val": "=?base64?SGVsbG8=?=",
    });
    json!({ "toolCalls": [
        { "name": "test_custom_headers", "arguments": all },
        { "name": "test_custom_headers_null", "arguments": { "verbose": null, "priority": 1, "query": "SELECT 2" } },
    ] })
}

fn mirrored(name: &'static str) -> Tool {
    let header = |kind: &str, header: &str| json!({ "type": kind, "x-mcp-header": header });
    let properties = json!({
        "region": header("string", "Region"),
        "priority": header("integer", "Priority"),
        "verbose": header("boolean", "Verbose"),
        "debug": header("boolean", "Debug"),
        "empty_val": header("string", "EmptyVal"),
        "method_val": header("string", "Method"),
        "non_ascii_val": header("string", "NonAscii"),
        "whitespace_val": header("string", "Whitespace"),
        "leading_space_val": header("string", "LeadingSpace"),
        "trailing_space_val": header("string", "TrailingSpace"),
        "internal_space_val": header("string", "InternalSpace"),
        "control_char_val": header("string", "ControlChar"),
        "crlf_val": header("string", "Crlf"),
        "tab_val": header("string", "Tab"),
        "lookalike_val": header("string", "Lookalike"),
        "float_val": { "type": "number" },
        "query": { "type": "string" },
    });
    Tool::now(name, "Has arguments that are mirrored into headers", |_, invocation| {
        Outcome::text(format!("Called with {}", invocation.arguments))
    })
    .since(R2026_07_28)
    .takes(properties, &[])
}

/// One tool that may be called, and several that no client may take for callable.
pub(super) fn invalid() -> Vec<Tool> {
    let bad = [
        ("invalid_empty", json!({ "v": { "type": "string", "x-mcp-header": "" } })),
        ("invalid_object", json!({ "v": { "type": "object", "x-mcp-header": "Value" } })),
        ("invalid_array", json!({ "v": { "type": "array", "x-mcp-header": "Value" } })),
        ("invalid_null", json!({ "v": { "type": "null", "x-mcp-header": "Value" } })),
        ("invalid_space", json!({ "v": { "type": "string", "x-mcp-header": "My Value" } })),
        ("invalid_colon", json!({ "v": { "type": "string", "x-mcp-header": "My:Value" } })),
        ("invalid_non_ascii", json!({ "v": { "type": "string", "x-mcp-header": "Wert-ü" } })),
        ("invalid_control", json!({ "v": { "type": "string", "x-mcp-header": "My\tValue" } })),
        (
            "invalid_duplicate",
            json!({ "v": { "type": "string", "x-mcp-header": "Value" }, "w": { "type": "string", "x-mcp-header": "VALUE" } }),
        ),
    ];
    let mut tools: Vec<Tool> = bad.into_iter().map(|(name, properties)| tool(name, properties)).collect();
    tools.insert(3, tool("valid_tool", json!({ "region": { "type": "string", "x-mcp-header": "Region" } })));
    tools
}

fn tool(name: &'static str, properties: Value) -> Tool {
    Tool::now(name, "Has an argument that is mirrored into a header", |_, _| Outcome::text("Called"))
        .since(R2026_07_28)
        .takes(properties, &[])
}
