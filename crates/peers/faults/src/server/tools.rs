//! Faults of tools: what the list says of them, and what calls give.

use serde_json::{Value, json};
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS};
use wire::revision::{R2025_06_18, R2025_11_25};

use super::jsonrpc::error;
use super::{Fault, Kind, ServiceRequest, drop_member, fault};

const LIST: &str = "tools/list";

pub(super) const FAULTS: &[&Fault] = &[
    TOOL_NAME_TWICE,
    &fault(
        "tool-failure-as-error",
        "tools.failures-reported",
        "a tool that fails is answered with a protocol error",
        Kind::Answers(|asked, answer| {
            if asked.is("tools/call") && asked.param("name") == "fail" {
                *answer = error(asked, INTERNAL_ERROR, "The tool failed");
            }
        }),
    ),
    &fault(
        "unknown-id-as-error",
        "tools.failures-reported",
        "a tool answers an id that names nothing with a protocol error",
        Kind::Several(&[
            Kind::Lists(LIST, "tools", |tool| {
                let id = json!({ "type": "string", "description": "The book's id, such as `b1`" });
                renamed(tool)["inputSchema"] =
                    json!({ "type": "object", "properties": { "id": id }, "required": ["id"] });
            }),
            Kind::Answers(|asked, answer| {
                if asked.is("tools/call") && asked.param("name") == "faulty" {
                    *answer = if asked.param("arguments")["id"] == "b1" {
                        success(asked, "A book")
                    } else {
                        error(asked, INTERNAL_ERROR, "Internal error")
                    };
                }
            }),
        ]),
    )
    .breaks_too(&["meta.server-info"]),
    &fault(
        "image-with-prefix",
        "shape.formats",
        "results of tools end with an image that is a `data:` URI instead of Base64",
        Kind::Results("tools/call", |answer| {
            if let Some(content) = answer["result"]["content"].as_array_mut() {
                content.push(json!({ "type": "image", "data": "data:image/png;base64,iVBO", "mimeType": "image/png" }));
            }
        }),
    ),
    &fault(
        "tool-name-long",
        "tools.names-length",
        "a tool's name has 129 characters",
        Kind::Lists(LIST, "tools", |tool| tool["name"] = json!("a".repeat(129))),
    )
    .since(R2025_11_25),
    &fault(
        "tool-name-with-space",
        "tools.names-characters",
        "a tool's name has a space in it",
        Kind::Lists(LIST, "tools", |tool| tool["name"] = json!("say it")),
    )
    .since(R2025_11_25),
    INPUT_SCHEMA_NULL,
    &fault(
        "input-schema-invalid",
        "schema.valid",
        "a tool's `inputSchema` has a type that does not exist",
        Kind::Lists(LIST, "tools", |tool| {
            renamed(tool)["inputSchema"]["properties"] = json!({ "x": { "type": "strin" } });
        }),
    )
    .modern(),
    &fault(
        "icon-script",
        "icons.src-showable",
        "a tool's icon is a script",
        Kind::Lists(LIST, "tools", |tool| renamed(tool)["icons"] = json!([{ "src": "javascript:alert(1)" }])),
    )
    .since(R2025_11_25),
    &headed(
        "param-header-empty",
        "tools.header-names-not-empty",
        "a tool mirrors a parameter into a header without name",
        |tool| {
            mirror(tool, json!({ "x": { "type": "string", "x-mcp-header": "" } }));
        },
    ),
    &headed(
        "param-header-no-token",
        "tools.header-names-tokens",
        "a tool mirrors a parameter into a header whose name has a space",
        |tool| mirror(tool, json!({ "x": { "type": "string", "x-mcp-header": "My Region" } })),
    ),
    &headed(
        "param-header-line-feed",
        "tools.header-names-printable",
        "a tool mirrors a parameter into a header whose name has a line feed",
        |tool| mirror(tool, json!({ "x": { "type": "string", "x-mcp-header": "Region\nX" } })),
    ),
    &headed(
        "param-header-twice",
        "tools.header-names-unique",
        "a tool mirrors two parameters into one header",
        |tool| {
            mirror(
                tool,
                json!({
                    "x": { "type": "string", "x-mcp-header": "Region" },
                    "y": { "type": "string", "x-mcp-header": "REGION" },
                }),
            );
        },
    ),
    &headed(
        "param-header-of-object",
        "tools.header-types-primitive",
        "a tool mirrors a parameter that is an object",
        |tool| mirror(tool, json!({ "x": { "type": "object", "x-mcp-header": "Region" } })),
    ),
    &headed(
        "param-header-unsafe",
        "tools.header-integers-safe",
        "a tool mirrors an integer whose default no double can hold",
        |tool| {
            let x = json!({ "type": "integer", "default": 9_007_199_254_740_993_i64, "x-mcp-header": "Region" });
            mirror(tool, json!({ "x": x }));
        },
    ),
    &headed("param-header-of-password", "tools.header-not-sensitive", "a tool mirrors a password", |tool| {
        mirror(tool, json!({ "password": { "type": "string", "x-mcp-header": "Pass" } }));
    }),
    &headed(
        "param-header-in-items",
        "tools.header-places-reachable",
        "a tool mirrors a parameter within a list",
        |tool| {
            let items = json!({ "type": "string", "x-mcp-header": "Region" });
            mirror(tool, json!({ "x": { "type": "array", "items": items } }));
        },
    ),
    &fault(
        "tools-shuffled",
        "tools.order-deterministic",
        "every other time the list of tools is reversed",
        Kind::Answers(|asked, answer| {
            let tools = answer.pointer_mut("/result/tools").and_then(Value::as_array_mut);
            if let Some(tools) = tools.filter(|_| asked.is(LIST) && asked.is_odd()) {
                tools.reverse();
            }
        }),
    )
    .modern(),
    &fault(
        "not-structured",
        "tools.structured-present",
        "tools with an `outputSchema` return no structured content",
        Kind::Results("tools/call", |answer| drop_member(&mut answer["result"], "structuredContent")),
    )
    .since(R2025_06_18),
    STRUCTURED_OTHERWISE,
    &fault(
        "structured-otherwise-on-request",
        "tools.structured-conforms",
        "structured content does not fit the `outputSchema` where an optional argument is given",
        Kind::Answers(|asked, answer| {
            if asked.param("arguments")["units"] == "fahrenheit" && answer["result"]["structuredContent"].is_object() {
                answer["result"]["structuredContent"]["temperature"] = json!("mild");
            }
        }),
    )
    .breaks_too(&["tools.structured-mirrored"])
    .since(R2025_06_18),
    &fault(
        "structured-alone",
        "tools.structured-mirrored",
        "structured content is not repeated as text",
        Kind::Results("tools/call", |answer| {
            if answer["result"]["structuredContent"].is_object() {
                answer["result"]["content"] = json!([{ "type": "text", "text": "See the structured content." }]);
            }
        }),
    )
    .since(R2025_06_18),
    &fault(
        "unknown-tool-result",
        "tools.unknown-refused",
        "a call of a tool that does not exist is answered with a result",
        Kind::Answers(|asked, answer| {
            if is_unknown(answer) {
                *answer = failure(asked, "There is no such tool");
            }
        }),
    )
    .breaks_too(&["meta.server-info"]),
    &fault(
        "unknown-tool-code",
        "tools.unknown-code",
        "a call of a tool that does not exist is answered with the code for an internal error",
        Kind::Answers(|_, answer| {
            if is_unknown(answer) {
                answer["error"]["code"] = json!(INTERNAL_ERROR);
            }
        }),
    ),
    &fault(
        "malformed-call-result",
        "tools.malformed-refused",
        "a call that names no tool is answered with a result",
        Kind::Answers(|asked, answer| {
            if asked.is("tools/call") && !asked.param("name").is_string() {
                *answer = failure(asked, "Which tool?");
            }
        }),
    )
    .breaks_too(&["meta.server-info"])
    .since(R2025_11_25),
    &fault(
        "inputs-unchecked",
        "tools.inputs-validated",
        "a call with arguments of the wrong type succeeds",
        Kind::Answers(|_, answer| accept_where(answer, |_| true)),
    )
    .breaks_too(&["tools.structured-present", "tools.bounds-held"]),
    &fault(
        "required-argument-assumed",
        "tools.inputs-validated",
        "a call without a required argument succeeds",
        Kind::Answers(|_, answer| accept_where(answer, |text| text.contains("is a required property"))),
    )
    .breaks_too(&["tools.structured-present"]),
    &fault(
        "choice-unchecked",
        "tools.inputs-validated",
        "a call with a value outside of its `enum` succeeds",
        Kind::Answers(|_, answer| accept_where(answer, |text| text.contains("is not one of"))),
    )
    .breaks_too(&["tools.structured-present"]),
    &fault(
        "invalid-input-error",
        "tools.invalid-input-reported",
        "arguments that a tool does not take are answered with a protocol error",
        Kind::Answers(|asked, answer| {
            let text = answer.pointer("/result/content/0/text").and_then(Value::as_str);
            if text.is_some_and(|text| text.starts_with("Invalid arguments")) {
                *answer = error(asked, INVALID_PARAMS, "Invalid params");
            }
        }),
    )
    .since(R2025_11_25),
    &fault(
        "tool-changes-silent",
        "tools.list-changed-sent",
        "a changed list of tools is not announced",
        Kind::SideMessages(|_, message| {
            if message["method"] == "notifications/tools/list_changed" { Vec::new() } else { vec![message] }
        }),
    )
    .modern(),
    &fault(
        "tool-names-any-case",
        "tools.names-case-sensitive",
        "a tool is found whatever the case of its name",
        Kind::Receives(|heard| {
            let name = heard.message["params"]["name"].as_str().map(str::to_ascii_lowercase);
            if let (true, Some(name)) = (heard.is("tools/call"), name) {
                heard.message["params"]["name"] = json!(name);
            }
        }),
    )
    .legacy(),
];

/// The fault `tool-name-twice`.
pub const TOOL_NAME_TWICE: &Fault =
    &fault("tool-name-twice", "tools.names-unique", "two tools have the same name", Kind::Lists(LIST, "tools", |_| ()))
        .since(R2025_11_25);

/// The fault `input-schema-null`.
pub const INPUT_SCHEMA_NULL: &Fault = &fault(
    "input-schema-null",
    "tools.input-schema-object",
    "a tool's `inputSchema` is null",
    Kind::Lists(LIST, "tools", |tool| renamed(tool)["inputSchema"] = Value::Null),
);

/// The fault `structured-otherwise`.
pub const STRUCTURED_OTHERWISE: &Fault = &fault(
    "structured-otherwise",
    "tools.structured-conforms",
    "structured content does not fit the `outputSchema`",
    Kind::Results("tools/call", |answer| {
        if answer["result"]["structuredContent"].is_object() {
            answer["result"]["structuredContent"] = json!({ "temperature": "mild" });
        }
    }),
)
.breaks_too(&["tools.structured-mirrored"])
.since(R2025_06_18);

const fn headed(name: &'static str, rule: &'static str, about: &'static str, edit: fn(&mut Value)) -> Fault {
    fault(name, rule, about, Kind::Lists(LIST, "tools", edit)).modern()
}

fn renamed(tool: &mut Value) -> &mut Value {
    tool["name"] = json!("faulty");
    tool
}

fn mirror(tool: &mut Value, properties: Value) {
    renamed(tool)["inputSchema"] = json!({ "type": "object", "properties": properties });
}

fn is_unknown(answer: &Value) -> bool {
    answer.pointer("/error/message").and_then(Value::as_str).is_some_and(|text| text.starts_with("Unknown tool"))
}

/// A result that reports a failure, dressed for the era.
fn failure(asked: &ServiceRequest, text: &str) -> Value {
    let mut answer = success(asked, text);
    answer["result"]["isError"] = json!(true);
    answer
}

/// A result of a text, dressed for the era.
fn success(asked: &ServiceRequest, text: &str) -> Value {
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    if asked.is_modern() {
        result["resultType"] = json!("complete");
    }
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })
}

/// Makes a success of the refusal of arguments for such a reason. Before 2025-11-25 it is a protocol error.
fn accept_where(answer: &mut Value, reason: fn(&str) -> bool) {
    let said = |place| answer.pointer(place).and_then(Value::as_str).unwrap_or_default();
    let refuses = |text: &str| text.starts_with("Invalid arguments") && reason(text);
    if ["/result/content/0/text", "/error/message"].into_iter().any(|place| refuses(said(place))) {
        drop_member(answer, "error");
        answer["result"]["content"] = json!([{ "type": "text", "text": "Done" }]);
        drop_member(&mut answer["result"], "isError");
    }
}
