//! Names, URIs and arguments at the edges of what is allowed: careless clients trim, decode, re-encode or truncate them.

use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use crate::catalogue::{Argument, Catalogue, Outcome, Prompt, Resource, Tool};

/// The longest name that a tool may have.
const LONGEST: usize = 128;

pub(super) fn catalogue() -> Catalogue {
    Catalogue {
        title: Some("Größe, 世界".into()),
        tools: tools(),
        resources: resources(),
        prompts: prompts(),
        ..Catalogue::new("proof-scenarios", env!("CARGO_PKG_VERSION"))
    }
}

fn tools() -> Vec<Tool> {
    let long = "long_name.".repeat(LONGEST).chars().take(LONGEST).collect::<String>();
    let plain = |name: String| Tool::now(name, "Has an unusual name", |_, _| Outcome::text("Called, 世界"));
    let names = ["A.tool-with_all.kinds-0", "case_tool", "CASE_tool", "größe 世界", "=?base64?SGVsbG8=?="];
    let mut tools: Vec<Tool> = names.into_iter().map(str::to_owned).chain([long]).map(plain).collect();
    tools.push(nested());
    tools.push(mirrored());
    tools.push(mirrored_lines());
    tools
}

/// Every argument has one value that is allowed, so that a client which makes arguments from schemas sends these.
fn mirrored() -> Tool {
    let only = |value: &str, header: &str| json!({ "type": "string", "enum": [value], "x-mcp-header": header });
    let properties = json!({
        "plain": only("us-west1", "Plain"),
        "non_ascii": only("Grüße, 世界", "NonAscii"),
        "padded": only(" padded ", "Padded"),
        "inner": only("us west 1", "Inner"),
        "tab": only("\tindented", "Tab"),
        "empty": only("", "Empty"),
        "lookalike": only("=?base64?SGVsbG8=?=", "Lookalike"),
        "number": { "type": "integer", "minimum": 42, "maximum": 42, "x-mcp-header": "Number" },
        "yes": { "type": "boolean", "enum": [true], "x-mcp-header": "Yes" },
        "optional": { "type": "string", "x-mcp-header": "Optional" },
        "nothing": { "type": "string", "default": null, "x-mcp-header": "Nothing" },
    });
    let required: Vec<&str> =
        ["plain", "non_ascii", "padded", "inner", "tab", "empty", "lookalike", "number", "yes"].into();
    called("mirrors_odd_values", properties, &required)
}

/// A value with line breaks, which libraries refuse in a header: a client that writes values as they are may not come past it.
fn mirrored_lines() -> Tool {
    let lines = json!({ "type": "string", "enum": ["line1\r\nline2"], "x-mcp-header": "Lines" });
    called("mirrors_lines", json!({ "lines": lines }), &["lines"])
}

/// An annotated argument within an object.
fn nested() -> Tool {
    let inner = json!({ "type": "string", "enum": ["naïve"], "x-mcp-header": "Inner-Place" });
    let place = json!({ "type": "object", "properties": { "place": inner }, "required": ["place"] });
    called("mirrors_nested_value", json!({ "where": place }), &["where"])
}

fn called(name: &'static str, properties: Value, required: &[&str]) -> Tool {
    Tool::now(name, "Has arguments that are mirrored into headers", |_, invocation| {
        Outcome::text(format!("Called with {}", invocation.arguments))
    })
    .since(R2026_07_28)
    .takes(properties, required)
}

fn resources() -> Vec<Resource> {
    let uris = [
        "scenario://odd/%C3%BC%20b?x=1&y=%2F#frag",
        "scenario:opaque",
        "scenario://straße/世界",
        "scenario://odd/a+b c",
        "SCENARIO://Odd/../case/./path",
    ];
    uris.into_iter().map(|uri| Resource::text(uri, "Größe", "text/plain", "世界 \u{1f600}\n")).collect()
}

fn prompts() -> Vec<Prompt> {
    let names = ["größe", "名前 with spaces", " padded ", "=?base64?SGVsbG8=?=", "quote\" and \\ back"];
    let argument = || Argument::required("größe", "A size");
    let messages = |text: &str| vec![json!({ "role": "user", "content": { "type": "text", "text": text } })];
    let prompt = |name: &'static str| {
        Prompt::now(name, "Has an unusual name", move |_, invocation| {
            Outcome::messages(messages(invocation.text("größe").unwrap_or_default()))
        })
        .takes(argument())
    };
    names.into_iter().map(prompt).collect()
}
