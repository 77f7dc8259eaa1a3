//! Translation in both directions, member by member.

use serde_json::{Value, json};

use super::message::{RequestEdits, request};
use super::*;
use crate::revision::R2024_11_05;

fn server() -> Value {
    json!({
        "name": "s", "version": "1", "title": "S", "description": "d", "icons": [], "websiteUrl": "https://s.example",
    })
}

#[test]
fn row_33_a_list_loses_what_an_older_revision_does_not_know() {
    let tool = json!({
        "name": "t", "inputSchema": { "type": "object" }, "title": "T", "icons": [], "annotations": {},
        "outputSchema": { "type": "object" }, "execution": {}, "_meta": {}, "x-own": 1,
    });
    let listed = json!({ "tools": [tool], "resultType": "complete", "ttlMs": 5, "cacheScope": "public" });
    let members = |to: Revision| -> Vec<String> {
        let translated = result("tools/list", &listed, to, &server());
        let tool = translated["tools"][0].as_object().expect("a tool");
        let optional = tool.keys().filter(|name| !matches!(name.as_str(), "name" | "inputSchema"));
        optional.cloned().collect()
    };
    let mut oldest = members(R2024_11_05);
    assert_eq!(oldest.pop().as_deref(), Some("x-own"));
    assert!(oldest.is_empty(), "{oldest:?}");
    assert_eq!(members(R2025_03_26).len(), 2);
    assert!(members(R2025_11_25).contains(&"execution".to_owned()));
    assert!(!members(Revision::NEWEST).contains(&"execution".to_owned()));
    let legacy = result("tools/list", &listed, R2025_11_25, &server());
    assert_eq!(legacy.as_object().expect("an object").keys().collect::<Vec<_>>(), ["tools"]);
}

#[test]
fn row_27_a_legacy_result_gets_what_the_modern_era_requires() {
    let modern = result("tools/list", &json!({ "tools": [] }), Revision::NEWEST, &server());
    assert_eq!(modern["resultType"], "complete");
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(modern["_meta"][meta::SERVER_INFO]["name"], "s");
    let called = result("tools/call", &json!({ "content": [] }), Revision::NEWEST, &server());
    assert!(called.get("ttlMs").is_none());
    let asking = json!({ "resultType": "input_required", "inputRequests": {} });
    assert!(result("resources/read", &asking, Revision::NEWEST, &server()).get("ttlMs").is_none());
}

#[test]
fn row_26_only_reserved_keys_of_meta_are_replaced() {
    let recorded = json!({ "_meta": { "own": 1, meta::SERVER_INFO: { "name": "other" } } });
    assert_eq!(result("x", &recorded, R2025_11_25, &server())["_meta"], json!({ "own": 1 }));
    assert_eq!(result("x", &recorded, Revision::NEWEST, &server())["_meta"][meta::SERVER_INFO]["name"], "s");
    let reserved = json!({ "_meta": { meta::SERVER_INFO: {} } });
    assert!(result("x", &reserved, R2025_11_25, &server()).get("_meta").is_none());
}

#[test]
fn row_35_unknown_content_becomes_text() {
    let called = json!({ "content": [
        { "type": "audio", "data": "", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "note:///1", "name": "n" },
        { "type": "text", "text": "t" },
    ], "structuredContent": {} });
    let oldest = result("tools/call", &called, R2024_11_05, &server());
    let texts: Vec<&Value> = oldest["content"].as_array().expect("a list").iter().map(|block| &block["text"]).collect();
    assert_eq!(texts, ["[audio/wav]", "note:///1", "t"]);
    assert!(oldest.get("structuredContent").is_none());
    assert_eq!(result("tools/call", &called, R2025_06_18, &server())["content"], called["content"]);
    let list = json!({ "content": [], "structuredContent": [1] });
    assert!(result("tools/call", &list, R2025_11_25, &server()).get("structuredContent").is_none());
    assert_eq!(result("tools/call", &list, Revision::NEWEST, &server())["structuredContent"], json!([1]));
}

#[test]
fn row_29_an_unknown_resource_has_one_code_per_era() {
    for (code, from, to, expected) in [
        (-32002, Some(Era::Legacy), Era::Modern, -32602),
        (-32602, Some(Era::Modern), Era::Legacy, -32002),
        (-32602, None, Era::Legacy, -32002),
        (-32602, Some(Era::Legacy), Era::Legacy, -32602),
        (-32002, Some(Era::Modern), Era::Modern, -32002),
        (-32603, Some(Era::Legacy), Era::Modern, -32603),
    ] {
        assert_eq!(error_code("resources/read", code, from, to), expected, "{code} {from:?} {to:?}");
    }
    assert_eq!(error_code("tools/call", -32602, None, Era::Legacy), -32602);
}

#[test]
fn row_60a_tasks_do_not_cross_eras() {
    let (legacy, modern) = (json!({ "task": { "taskId": "1" } }), json!({ "resultType": "task", "taskId": "1" }));
    let foreign = |result: &Value, to| is_untranslatable_task("tools/call", result, to);
    assert!(!foreign(&legacy, R2025_11_25) && foreign(&legacy, Revision::NEWEST) && foreign(&legacy, R2025_06_18));
    assert!(foreign(&modern, R2025_11_25) && !foreign(&modern, Revision::NEWEST));
    let declared = json!({ "tasks": {}, "extensions": {}, "completions": {}, "tools": {}, "own": {} });
    let names = |from, to| -> Vec<String> {
        let capabilities = server_capabilities(&declared, from, to);
        capabilities.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(names(Era::Legacy, R2025_11_25), ["tasks", "completions", "tools", "own"]);
    assert_eq!(names(Era::Modern, R2025_11_25), ["completions", "tools", "own"]);
    assert_eq!(names(Era::Modern, Revision::NEWEST), ["extensions", "completions", "tools"]);
    assert_eq!(names(Era::Legacy, R2024_11_05), ["tools", "own"]);
}

#[test]
fn row_44_an_elicitation_has_the_members_of_its_era() {
    let url = json!({ "mode": "url", "url": "https://x", "elicitationId": "e", "_meta": {} });
    let to = |params: &Value, to| input_request_params("elicitation/create", params, to, "key");
    assert_eq!(to(&url, Revision::NEWEST), json!({ "mode": "url", "url": "https://x" }));
    assert_eq!(to(&url, R2025_11_25), json!({ "mode": "url", "url": "https://x", "elicitationId": "e" }));
    assert_eq!(to(&json!({ "mode": "url" }), R2025_11_25), json!({ "mode": "url", "elicitationId": "key" }));
    assert_eq!(to(&json!({ "mode": "form" }), R2025_06_18), json!({}));
    assert_eq!(input_request_params("roots/list", &url, R2025_11_25, "key")["mode"], "url");
}

#[test]
fn row_08_a_name_keeps_the_members_that_the_revision_knows() {
    assert_eq!(implementation(&server(), R2024_11_05), json!({ "name": "s", "version": "1" }));
    assert_eq!(implementation(&server(), R2025_06_18), json!({ "name": "s", "version": "1", "title": "S" }));
    assert_eq!(implementation(&server(), R2025_11_25), server());
}

/// A result and the rows that it lost something to.
fn lossy(method: &str, value: &Value, to: Revision) -> (Value, Vec<&'static str>) {
    let (translated, losses) = result_and_losses(method, value, to, &server());
    (translated, losses.into_iter().map(|loss| loss.row).collect())
}

#[test]
fn row_34_a_result_that_is_no_object_becomes_text() {
    let called = |structured: Value| json!({ "content": [], "structuredContent": structured });
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    assert_eq!(lossy("tools/call", &called(json!([1, 2])), R2025_11_25), (text("[1,2]"), vec!["34"]));
    assert_eq!(lossy("tools/call", &called(json!({ "a": 1 })), R2025_03_26), (text("{\"a\":1}"), vec!["34"]));
    let object = called(json!({ "a": 1 }));
    assert_eq!(lossy("tools/call", &object, R2025_06_18), (object.clone(), vec![]));
}

#[test]
fn row_34_a_schema_gets_the_form_of_the_legacy_era() {
    let tool = |input: Value| json!({ "tools": [{ "name": "t", "inputSchema": input }] });
    let open = tool(json!({ "type": "object", "properties": { "a": true, "b": false, "c": { "type": "string" } } }));
    let spelled = json!({ "type": "object", "properties": { "a": {}, "b": { "not": {} }, "c": { "type": "string" } } });
    assert_eq!(lossy("tools/list", &open, R2025_11_25), (tool(spelled), vec![]), "another spelling loses nothing");
    let odd = tool(json!({ "type": "object", "properties": [], "required": [1] }));
    assert_eq!(lossy("tools/list", &odd, R2025_11_25), (tool(json!({ "type": "object" })), vec!["34"]));
    let output =
        json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": { "type": "array" } }] });
    assert_eq!(lossy("tools/list", &output, R2025_11_25), (tool(json!({ "type": "object" })), vec!["34"]));
}

#[test]
fn row_37_answers_and_tasks_stay_in_their_era() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p","inputResponses":{},"requestState":"s"}}"#;
    let edits = RequestEdits { to_legacy: true, ..RequestEdits::default() };
    assert_eq!(request(text, &edits), r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}"#);
    assert_eq!(request(text, &RequestEdits::default()), text);
}

#[test]
fn row_38_listed_items_lose_what_is_newer() {
    let item = || json!({ "name": "n", "title": "T", "icons": [], "_meta": {} });
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let listed = json!({ member: [item()] });
        assert_eq!(lossy(method, &listed, R2025_11_25), (listed.clone(), vec![]));
        let older = json!({ member: [{ "name": "n" }] });
        assert_eq!(lossy(method, &listed, R2025_03_26), (older, vec!["38"]), "{method}");
    }
    let argument = json!({ "prompts": [{ "name": "n", "arguments": [{ "name": "a", "title": "A" }] }] });
    let older = json!({ "prompts": [{ "name": "n", "arguments": [{ "name": "a" }] }] });
    assert_eq!(lossy("prompts/list", &argument, R2025_03_26), (older, vec!["38"]));
}

#[test]
fn row_39_contents_keep_all_but_meta() {
    let read = json!({ "contents": [{ "uri": "a://1", "text": "t", "_meta": { "x": 1 } }] });
    assert_eq!(lossy("resources/read", &read, R2025_06_18), (read.clone(), vec![]));
    let older = json!({ "contents": [{ "uri": "a://1", "text": "t" }] });
    assert_eq!(lossy("resources/read", &read, R2025_03_26), (older, vec!["39"]));
}

#[test]
fn row_07_a_hidden_capability_is_a_loss() {
    let declared = json!({ "tools": {}, "completions": {}, "tasks": {} });
    let hidden = |to| hidden_capability(&declared, &server_capabilities(&declared, Era::Legacy, to));
    assert_eq!(hidden(R2025_11_25), None);
    assert_eq!(hidden(R2025_06_18).map(|loss| loss.row), Some("7"));
    let completes = json!({ "completions": {} });
    assert_eq!(hidden_capability(&completes, &server_capabilities(&completes, Era::Legacy, R2024_11_05)), None);
}

#[test]
fn row_31_a_refusal_of_our_own_request_is_our_error() {
    for code in [-32020, -32022] {
        assert_eq!(error_code("tools/call", code, Some(Era::Modern), Era::Legacy), -32603);
        assert_eq!(error_code("tools/call", code, Some(Era::Modern), Era::Modern), code);
    }
    assert_eq!(error_code("tools/call", -32021, Some(Era::Modern), Era::Legacy), -32021);
}
