//! Descriptions whose operations share their parts: each tool has a copy, so a small text could fill any memory.

use openapi::{Limits, ToolLimits, read, tools};
use serde_json::{Map, Value, json};

/// Many paths that are the same path item.
fn paths(count: usize, item: Value) -> Value {
    let paths: Map<_, _> = (0..count).map(|at| (format!("/p{at}"), json!({ "$ref": "#/x" }))).collect();
    json!({ "openapi": "3.1.0", "x": item, "paths": paths })
}

fn referring(count: usize) -> Value {
    let properties: Map<_, _> =
        (0..count).map(|at| (format!("m{at}"), json!({ "$ref": format!("#/components/schemas/S{at}") }))).collect();
    json!({ "type": "object", "properties": properties })
}

/// The bytes of JSON of the largest tool, and of all.
fn sizes(description: &Value, limits: &Limits) -> (usize, usize) {
    let api = read(description, limits).expect("a description");
    let list = tools::tools(&api, &ToolLimits::default());
    for tool in list.iter().take(3) {
        schema::Validator::new(&tool.input).unwrap_or_else(|why| panic!("{why}: {}", tool.input));
    }
    let sizes: Vec<_> = list.iter().map(|tool| tool.to_value().to_string().len()).collect();
    assert_eq!(api.operations.len() + api.left.len() + api.skipped.len(), 8 * 20, "each is explained");
    (sizes.iter().copied().max().unwrap_or_default(), sizes.iter().sum())
}

#[test]
fn a_small_description_makes_no_large_tools() {
    let every = |operation: Value| {
        let methods = ["get", "put", "post", "delete", "patch", "head", "options", "trace"];
        methods.iter().map(|method| ((*method).to_owned(), operation.clone())).collect::<Map<_, _>>()
    };
    let mut crossed = paths(
        20,
        Value::Object(every(json!({ "requestBody": { "content": { "application/json": {
        "schema": { "type": "array", "items": { "$ref": "#/components/schemas/S0" } } } } } }))),
    );
    let schemas: Map<_, _> = (0..400).map(|at| (format!("S{at}"), referring(400))).collect();
    crossed["components"] = json!({ "schemas": schemas });
    let parameter = |at: usize| {
        json!({ "name": format!("q{at}"), "in": "query", "description": "long ".repeat(40),
            "schema": { "type": "object", "description": "long ".repeat(1_000), "properties": { "a": { "enum": ["x".repeat(900)] } } } })
    };
    let mut shared = every(json!({}));
    shared.insert("parameters".to_owned(), (0..400).map(parameter).collect());
    let long = "word ".repeat(200_000);
    let texts = json!({ "summary": long, "description": long, "operationId": long, "tags": [long, "a"],
        "security": [{ long.clone(): [long] }], "servers": [{ "url": long }] });
    let tags = json!({ "tags": (0..20_000).map(|at| format!("t{at}")).collect::<Vec<_>>(),
        "security": (0..20_000).map(|at| json!({ format!("s{at}"): [] })).collect::<Vec<_>>() });
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    for (name, description) in [
        ("references", crossed),
        ("parameters", paths(20, Value::Object(shared))),
        ("texts", paths(20, Value::Object(every(texts)))),
        ("lists", paths(20, Value::Object(every(tags)))),
    ] {
        let (largest, all) = sizes(&description, &limits);
        assert!(largest < 200 << 10, "{name}: a tool has {largest} bytes");
        assert!(all < 8 << 20, "{name}: all have {all} bytes");
        let api = read(&description, &limits).expect("a description");
        let kept = format!("{:?}", api.operations).len();
        assert!(kept < 24 << 20, "{name}: what is kept has {kept} bytes");
    }
}

#[test]
fn more_operations_than_fit_are_named() {
    let operation = json!({ "description": "text ".repeat(1_000) });
    let description = paths(480, json!({ "get": operation }));
    let api = read(&description, &Limits { memory: 1 << 20, ..Limits::default() }).expect("a description");
    assert!((100..300).contains(&api.operations.len()), "{}", api.operations.len());
    assert!(api.left[0].why.contains("take more than 1 MiB: choose fewer"), "{:?}", api.left[0]);
    let heads = Limits { heads: 100, ..Limits::default() };
    let api = read(&description, &heads).expect("a description");
    assert_eq!((api.operations.len(), api.skipped.len()), (100, 1));
}
