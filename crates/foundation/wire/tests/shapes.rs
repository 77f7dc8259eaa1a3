//! What `check` says of hand-written values, area by area: right ones pass, wrong ones are pointed at and explained.

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::shape::{self, Mismatch};

const MISSING: &str = "nothing (the member is missing)";

fn found(definition: &str, revision: Revision, value: &Value) -> Vec<Mismatch> {
    shape::check(definition, revision, value).unwrap_or_else(|| panic!("{revision} has no {definition}"))
}

#[track_caller]
fn fits(definition: &str, revision: Revision, value: Value) {
    assert_eq!(found(definition, revision, &value), [], "{definition} at {revision}: {value}");
}

#[track_caller]
fn differs(definition: &str, revision: Revision, value: Value, pointer: &str, expected: &str, instead: &str) {
    let mismatch = Mismatch { pointer: pointer.into(), expected: expected.into(), found: instead.into() };
    assert_eq!(found(definition, revision, &value), [mismatch], "{definition} at {revision}: {value}");
}

/// The metadata that every request of the modern era must have.
fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn definitions_come_and_go_with_revisions() {
    assert_eq!(shape::check("CallToolRequestParams", R2025_06_18, &json!({})), None);
    assert_eq!(shape::check("PingRequest", R2026_07_28, &json!({})), None);
    assert_eq!(shape::check("NoSuchThing", R2025_11_25, &json!({})), None);
    assert_eq!(shape::doc("Tool", R2025_11_25), Some("Something the model may call."));
    assert_eq!(shape::doc("Task", R2026_07_28), None);
    for (revision, count) in Revision::ALL.into_iter().zip([79, 83, 91, 145, 155]) {
        assert_eq!(shape::definitions(revision).count(), count, "{revision}");
    }
}

#[test]
fn base() {
    fits("RequestId", R2025_11_25, json!("7"));
    fits("RequestId", R2025_11_25, json!(7.0));
    differs("RequestId", R2025_11_25, json!(7.5), "", "a string or an integer", "number 7.5");
    differs("RequestId", R2025_11_25, json!(null), "", "a string or an integer", "null");
    differs("Role", R2024_11_05, json!("system"), "", r#"one of "user", "assistant""#, r#"string "system""#);
    differs("Annotations", R2025_03_26, json!({"priority": 2}), "/priority", "a number from 0 to 1", "number 2");
    fits("Annotations", R2025_03_26, json!({"lastModified": 2}));
    differs("Annotations", R2025_06_18, json!({"lastModified": 2}), "/lastModified", "a string", "number 2");
    let meta = "io.modelcontextprotocol~1protocolVersion";
    let half = json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}});
    differs("RequestParams", R2026_07_28, half, &format!("/_meta/{meta}"), "a string", MISSING);
}

#[test]
fn messages() {
    let message =
        |value, pointer, expected, instead| differs("JSONRPCMessage", R2025_06_18, value, pointer, expected, instead);
    fits("JSONRPCMessage", R2025_06_18, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    message(json!({"jsonrpc": "1.0", "id": 1, "result": {}}), "/jsonrpc", r#""2.0""#, r#"string "1.0""#);
    message(json!({"jsonrpc": "2.0", "id": 1, "result": 3}), "/result", "an object", "number 3");
    message(json!({"jsonrpc": "2.0", "method": "x", "params": [1]}), "/params", "an object", "an array of 1 item");
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": ""}});
    message(error, "/error/code", "an integer", r#"string "x""#);
    let neither = r#"an object with "method" or "result" or "error""#;
    message(json!({"jsonrpc": "2.0", "id": 1}), "", neither, "none of these members");
    message(json!([]), "", "an object", "an empty array");
    fits("JSONRPCMessage", R2025_03_26, json!([{"jsonrpc": "2.0", "method": "x"}]));
    let unknown = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/cal", "params": {"name": "a"}});
    let [mismatch] = &found("ClientRequest", R2025_11_25, &unknown)[..] else { panic!("one mismatch") };
    assert_eq!((mismatch.pointer.as_str(), mismatch.found.as_str()), ("/method", r#"string "tools/cal""#));
    assert!(mismatch.expected.starts_with(r#"one of "initialize", "ping","#), "{}", mismatch.expected);
    let nameless = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}});
    differs("ClientRequest", R2025_11_25, nameless, "/params/name", "a string", MISSING);
}

#[test]
fn lifecycle_and_capabilities() {
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}});
    fits("InitializeResult", R2025_06_18, hello);
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": true}, "serverInfo": {"name": "a"}});
    let all = found("InitializeResult", R2025_06_18, &result);
    let pointers: Vec<&str> = all.iter().map(|m| m.pointer.as_str()).collect();
    assert_eq!(pointers, ["/capabilities/tools", "/serverInfo/version"]);
    let settings = json!({"experimental": {"a": {"rate": 0.5, "none": null}}});
    for revision in Revision::ALL {
        fits("ServerCapabilities", revision, settings.clone());
    }
    let list = json!({"resultType": "complete", "ttlMs": -1, "cacheScope": "public", "supportedVersions": [], "capabilities": {}});
    differs("DiscoverResult", R2026_07_28, list, "/ttlMs", "an integer of 0 or more", "number -1");
}

#[test]
fn tools_and_content() {
    let list = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {"type": "array"}}]});
    differs("ListToolsResult", R2025_06_18, list, "/tools/1/inputSchema/type", r#""object""#, r#"string "array""#);
    let call = |block: Value| json!({"content": [{"type": "text", "text": ""}, block]});
    let unknown = call(json!({"type": "txt", "text": ""}));
    let kinds = r#"one of "text", "image", "resource""#;
    differs("CallToolResult", R2024_11_05, unknown, "/content/1/type", kinds, r#"string "txt""#);
    differs("CallToolResult", R2024_11_05, call(json!({"text": ""})), "/content/1/type", kinds, MISSING);
    differs("CallToolResult", R2024_11_05, call(json!("hello")), "/content/1", "an object", r#"string "hello""#);
    let dumb = call(json!({"type": "image", "data": "aGk="}));
    differs("CallToolResult", R2025_11_25, dumb, "/content/1/mimeType", "a string", MISSING);
    let embedded = call(json!({"type": "resource", "resource": {"uri": "a:b"}}));
    let either = r#"an object with "text" or "blob""#;
    differs("CallToolResult", R2025_11_25, embedded, "/content/1/resource", either, "none of these members");
    let structured = json!({"content": [], "structuredContent": [1], "resultType": "complete"});
    fits("CallToolResult", R2025_03_26, structured.clone());
    differs("CallToolResult", R2025_06_18, structured.clone(), "/structuredContent", "an object", "an array of 1 item");
    fits("CallToolResult", R2026_07_28, structured);
}

#[test]
fn resources_and_prompts() {
    fits("Resource", R2025_06_18, json!({"uri": "not checked here", "name": "a", "size": 3}));
    differs("Resource", R2025_06_18, json!({"name": "a"}), "/uri", "a string (a URI)", MISSING);
    let bad = json!({"contents": [{"uri": "a:b", "blob": 1}]});
    differs("ReadResourceResult", R2025_06_18, bad, "/contents/0/blob", "a string (base64)", "number 1");
    let asked = json!({"method": "prompts/get", "params": {"name": "a", "arguments": {"a/b": 1}}});
    differs("GetPromptRequest", R2025_06_18, asked, "/params/arguments/a~1b", "a string", "number 1");
    let said = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]});
    differs("GetPromptResult", R2025_11_25, said, "/messages/0/content", "an object", "an array of 1 item");
}

#[test]
fn completion_and_logging() {
    let many = |n| json!({"completion": {"values": vec!["a"; n]}, "resultType": "complete"});
    fits("CompleteResult", R2026_07_28, many(100));
    fits("CompleteResult", R2025_11_25, many(101));
    let most = "an array of at most 100 items";
    differs("CompleteResult", R2026_07_28, many(101), "/completion/values", most, "an array of 101 items");
    let asked = json!({"method": "completion/complete", "params": {"ref": {"type": "ref/tool"}, "argument": {"name": "a", "value": ""}}});
    let kinds = r#"one of "ref/prompt", "ref/resource""#;
    differs("CompleteRequest", R2024_11_05, asked, "/params/ref/type", kinds, r#"string "ref/tool""#);
    let logged = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}});
    differs("LoggingMessageNotification", R2025_11_25, logged, "/params/data", "any value", MISSING);
}

#[test]
fn sampling_elicitation_and_roots() {
    let several = json!({"role": "user", "content": [{"type": "text", "text": ""}, {"type": "tool_use", "id": "a", "name": "b"}]});
    differs("SamplingMessage", R2025_11_25, several.clone(), "/content/1/input", "an object", MISSING);
    differs("SamplingMessage", R2025_06_18, several, "/content", "an object", "an array of 2 items");
    let number = json!({"role": "user", "content": 5});
    differs("SamplingMessage", R2025_11_25, number, "/content", "an object or an array", "number 5");
    fits("ElicitResult", R2025_06_18, json!({"action": "accept", "content": {"height": 1.75}}));
    let nested = json!({"action": "accept", "content": {"a": {}}});
    let plain = "a string or a number or true or false";
    differs("ElicitResult", R2025_06_18, nested, "/content/a", plain, "an empty object");
    let form = json!({"message": "", "mode": "link", "requestedSchema": {"type": "object", "properties": {}}});
    let modes = r#"one of "form", "url""#;
    differs("ElicitRequestParams", R2025_11_25, form, "/mode", modes, r#"string "link""#);
    let field = json!({"message": "", "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}}});
    let types = r#"one of "string", "number", "integer", "boolean", "array""#;
    let at = "/requestedSchema/properties/a/type";
    differs("ElicitRequestParams", R2025_11_25, field, at, types, r#"string "object""#);
    differs("ListRootsResult", R2024_11_05, json!({"roots": {}}), "/roots", "an array", "an empty object");
}

#[test]
fn tasks_subscriptions_and_rounds() {
    let task = json!({"taskId": "a", "status": "done", "createdAt": "", "lastUpdatedAt": "", "ttl": null});
    let stands = r#"one of "working", "input_required", "completed", "failed", "cancelled""#;
    differs("GetTaskResult", R2025_11_25, task, "/status", stands, r#"string "done""#);
    let listen = json!({"_meta": modern_meta(), "notifications": {"toolsListChanged": "yes"}});
    let at = "/notifications/toolsListChanged";
    differs("SubscriptionsListenRequestParams", R2026_07_28, listen, at, "true or false", r#"string "yes""#);
    let input = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "tools/call"}}});
    let methods = r#"one of "sampling/createMessage", "roots/list", "elicitation/create""#;
    let at = "/inputRequests/a/method";
    differs("InputRequiredResult", R2026_07_28, input, at, methods, r#"string "tools/call""#);
    let answer = json!({"a": {"action": "maybe"}});
    let actions = r#"one of "accept", "decline", "cancel""#;
    differs("InputResponses", R2026_07_28, answer, "/a/action", actions, r#"string "maybe""#);
}

#[test]
fn errors() {
    let header = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32021, "message": "m"}});
    differs("HeaderMismatchError", R2026_07_28, header, "/error/code", "the number -32020", "number -32021");
    differs("ParseError", R2026_07_28, json!({"code": -32700}), "/message", "a string", MISSING);
}

#[test]
fn found_strings_are_short_and_escaped() {
    let long = "x".repeat(50);
    let cut = format!("string \"{}…\"", "x".repeat(40));
    differs("Role", R2024_11_05, json!(long), "", r#"one of "user", "assistant""#, &cut);
    let sly = json!("a\u{1b}[31m\u{202e}\"");
    let shown = r#"string "a\u{1b}[31m\u{202e}\"""#;
    differs("Role", R2024_11_05, sly, "", r#"one of "user", "assistant""#, shown);
}

#[test]
fn texts_with_a_format_are_found_through_unions_and_lists() {
    let result = json!({ "content": [
        { "type": "text", "text": "plain" },
        { "type": "image", "data": "AAAA", "mimeType": "image/png" },
        { "type": "resource", "resource": { "uri": "note://1", "blob": "BBBB" } },
    ]});
    let found = shape::formatted("CallToolResult", R2025_06_18, &result);
    let found: Vec<_> = found.iter().map(|one| (one.pointer.as_str(), one.format, one.text)).collect();
    let expected = [
        ("/content/1/data", "byte", "AAAA"),
        ("/content/2/resource/uri", "uri", "note://1"),
        ("/content/2/resource/blob", "byte", "BBBB"),
    ];
    assert_eq!(found, expected);
    assert!(shape::formatted("NoSuchThing", R2025_06_18, &result).is_empty());
}
