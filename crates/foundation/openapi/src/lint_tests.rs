//! Each hint on what it is for, and none on a good tool.

use serde_json::{Value, json};

use super::{Hint, lines, lint};
use crate::tools::{ToolLimits, tools};
use crate::{Limits, read};

fn hints(paths: Value) -> Vec<Hint> {
    let api = read(&json!({"openapi": "3.0.3", "paths": paths}), &Limits::default()).unwrap();
    lint(&api, &tools(&api, &ToolLimits::default()))
}

#[test]
fn a_good_tool_has_no_hints() {
    let good = json!({"/pets": {"get": {
        "operationId": "listPets", "summary": "List the pets of the shop, by name",
        "parameters": [{"name": "kind", "in": "query", "required": true, "description": "cat or dog", "schema": {"type": "string"}}],
    }}});
    assert_eq!(hints(good), []);
}

#[test]
fn each_rule_finds_what_it_is_for() {
    let properties: serde_json::Map<String, Value> =
        (0..30).map(|index| (format!("m{index}"), json!({"type": "string", "description": "x".repeat(300)}))).collect();
    let json_body = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
    let found = hints(json!({
        "/silent": {"get": {}},
        "/short": {"get": {"summary": "Gets"}},
        "/asks": {"get": {"operationId": "ask", "summary": "Asks for something else", "parameters": [
            {"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}]}},
        "/large": {"post": {"summary": "Takes everything there is", "requestBody": json_body(json!({
            "type": "object", "required": ["m1"], "properties": properties}))}},
        "/free": {"post": {"summary": "Takes whatever comes", "requestBody": json_body(json!({"type": "object"}))}},
        "/read": {"get": {"summary": "Reads with a body in it", "requestBody": json_body(json!({"type": "array", "items": {}}))}},
        "/old": {"get": {"operationId": "getItem", "summary": "Reads what was there before", "deprecated": true}},
        "/olds": {"get": {"operationId": "getItems", "summary": "Reads what was there before", "deprecated": true}},
    }));
    let rules: Vec<_> = found.iter().map(|hint| (hint.rule, hint.count)).collect();
    let expected = [
        ("same-description", 2),
        ("similar-names", 2),
        ("no-description", 1),
        ("short-description", 1),
        ("undescribed-arguments", 1),
        ("many-arguments", 1),
        ("free-form", 1),
        ("optional-body", 1),
        ("body-on-read", 1),
        ("deprecated", 2),
    ];
    assert_eq!(rules, expected);
    assert_eq!(
        lines(&found)[1],
        "similar-names: 2 tools have names that differ in a plural or an underscore – get_item, get_items – try: give them names \
         that say how they differ (`operationId`)"
    );
}

#[test]
fn many_tools_and_large_lists_come_first() {
    let paths: serde_json::Map<String, Value> = (0..50)
        .map(|index| {
            (format!("/thing{index}"), json!({"get": {"summary": format!("Reads the thing with number {index}")}}))
        })
        .collect();
    let found = hints(Value::Object(paths));
    assert_eq!(found.iter().map(|hint| hint.rule).collect::<Vec<_>>(), ["many-tools"]);
}
