//! What a model sees of an operation.

use serde_json::{Value, json};

use super::{Tool, ToolLimits, tools};
use crate::{Limits, read};

fn made(description: &Value) -> Vec<Tool> {
    tools(&read(description, &Limits::default()).unwrap(), &ToolLimits::default())
}

fn pets() -> Value {
    json!({
        "openapi": "3.0.3",
        "components": {"schemas": {"Tag": {"type": "object", "properties": {"name": {"type": "string"}}}}},
        "paths": {"/pets/{id}": {
            "get": {"operationId": "getPet", "summary": "Get a pet", "tags": ["pets", "more"],
                "responses": {"200": {"content": {"application/json": {"schema": {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "integer"}, "kind": {"type": "string", "enum": ["cat"]}, "tag": {"$ref": "#/components/schemas/Tag"},
                }, "additionalProperties": false}}}}}},
            "put": {"operationId": "putPet",
                "parameters": [{"name": "id", "in": "path", "required": true, "description": "Which <b>one</b>", "schema": {"type": "integer"}}],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {
                    "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "tag": {"$ref": "#/components/schemas/Tag"}, "id": {"type": "integer"}},
                }}}}},
            "delete": {"operationId": "deletePet", "deprecated": true},
            "post": {"requestBody": {"content": {"text/csv": {}}}},
        }},
    })
}

#[test]
fn a_tool_has_one_flat_object_of_arguments() {
    let tool = &made(&pets())[1];
    let expected = json!({
        "type": "object",
        "properties": {
            "id_path": {"type": "integer", "description": "Which one"},
            "name": {"type": "string"},
            "tag": {"$ref": "#/$defs/Tag"},
            "id_body": {"type": "integer"},
        },
        "required": ["id_path", "name"],
        "$defs": {"Tag": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "additionalProperties": false,
    });
    assert_eq!(tool.input, expected);
    assert!(schema::fits(&tool.input, &json!({"id_path": 1, "name": "a", "tag": {"name": "b"}})));
    assert!(!schema::fits(&tool.input, &json!({"id_path": 1})));
}

/// FastMCP 2472 and 1271: clients refused answers that differ from the description; 2455: `outputSchema` without `type: object`.
#[test]
fn an_output_schema_accepts_what_apis_really_send() {
    let output = made(&pets())[0].output.clone().unwrap();
    assert_eq!(output["type"], "object");
    for answer in [
        json!({}),
        json!({"id": null, "kind": "dog", "tag": null, "new": 1}),
        json!({"id": 1.5, "tag": {"name": null, "more": []}}),
    ] {
        assert!(schema::fits(&output, &answer), "{answer} in {output}");
    }
    assert!(!schema::fits(&output, &json!({"id": "text"})));
    assert!(output.to_string().contains("kind"));
}

#[test]
fn an_answer_that_is_no_object_or_too_large_has_no_output_schema() {
    let output = |schema: Value| {
        let description = json!({"openapi": "3.0.3", "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}}}});
        made(&description).remove(0).output
    };
    assert!(output(json!({"type": "array", "items": {}})).is_none());
    assert!(output(json!({"type": "object", "nullable": true})).is_none());
    assert!(output(json!({"type": "object"})).is_some());
    let many: serde_json::Map<String, Value> =
        (0..300).map(|index| (format!("m{index}"), json!({"type": "string"}))).collect();
    assert!(output(json!({"type": "object", "properties": many})).is_none());
}

#[test]
fn annotations_come_from_the_method() {
    let hints: Vec<Value> = made(&pets()).iter().map(|tool| tool.to_value()["annotations"].clone()).collect();
    assert_eq!(hints[0], json!({"readOnlyHint": true, "openWorldHint": true}));
    let of = |destructive: bool, idempotent: bool| json!({"readOnlyHint": false, "openWorldHint": true, "destructiveHint": destructive, "idempotentHint": idempotent});
    assert_eq!(hints[1..], [of(false, true), of(true, true), of(false, false)]);
}

#[test]
fn a_verb_counts_more_than_a_method_that_says_less() {
    let description = json!({"openapi": "3.0.3", "paths": {
        "/a": {"get": {"operationId": "deleteMessage"}, "post": {"operationId": "removeIt"}, "put": {"operationId": "listDeleted"}},
        "/a/{id}/revoke": {"post": {"operationId": "tokenRevoke"}, "get": {"operationId": "createDraft"}},
    }});
    let hints: Vec<_> =
        made(&description).iter().map(|tool| (tool.annotations.read_only, tool.annotations.destructive)).collect();
    assert_eq!(hints, [(false, true), (false, true), (false, false), (false, true), (false, false)]);
}

#[test]
fn descriptions_are_short_and_the_whole_is_kept_apart() {
    let tools = made(&pets());
    assert_eq!((tools[0].description.as_str(), tools[0].group.as_deref()), ("Get a pet", Some("pets")));
    assert_eq!(tools[1].description, "PUT /pets/{id}");
    assert_eq!(tools[2].description, "Deprecated. DELETE /pets/{id}");
    assert_eq!(tools[3].input["properties"]["body"]["description"], "The body, as text/csv.");
    assert!(tools.iter().all(|tool| tool.full.is_none()));
    let long = format!("<p>Lists.</p> {}", "Every one of them. ".repeat(100));
    let description = json!({"openapi": "3.0.3", "paths": {"/a": {"get": {"summary": "List", "description": long}}}});
    let tool = made(&description).remove(0);
    assert!(
        tool.description.chars().count() <= 300 && tool.description.starts_with("Lists. Every"),
        "{}",
        tool.description
    );
    assert!(tool.full.unwrap().contains(&"Every one of them. ".repeat(99)));
}

/// A merge patch clears a member with null: FastMCP drops such arguments, and a schema without null would refuse them.
#[test]
fn null_is_an_argument_where_the_description_says_so() {
    let description = json!({"openapi": "3.0.3", "paths": {"/a": {"patch": {"requestBody": {"content": {"application/merge-patch+json": {
        "schema": {"type": "object", "properties": {"name": {"type": "string", "nullable": true}}},
    }}}}}}});
    assert!(schema::fits(&made(&description)[0].input, &json!({"name": null})));
}

/// An optional body can be left out, or is given with all that it requires, whatever it is written as.
#[test]
fn an_optional_body_is_left_out_or_given_with_what_it_requires() {
    let schema = json!({"type": "object", "required": ["name", "kind"], "properties": {
        "name": {"type": "string"}, "kind": {"type": "string"}, "note": {"type": "string"},
    }});
    let media = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"];
    let cases = [
        (json!({"id": 1}), true),
        (json!({"id": 1, "name": "a", "kind": "b"}), true),
        (json!({"id": 1, "name": "a", "kind": "b", "note": "c"}), true),
        (json!({"id": 1, "note": "c"}), false),
        (json!({"id": 1, "note": "c", "name": "a"}), false),
        (json!({"id": 1, "note": "c", "kind": "b"}), false),
        (json!({"id": 1, "name": "a"}), false),
        (json!({"id": 1, "kind": "b"}), false),
        (json!({"note": "c", "name": "a", "kind": "b"}), false),
    ];
    for media in media {
        let description = json!({"openapi": "3.0.3", "paths": {"/a": {"post": {
            "parameters": [{"name": "id", "in": "query", "required": true, "schema": {"type": "integer"}}],
            "requestBody": {"content": {media: {"schema": schema}}},
        }}}});
        let api = read(&description, &Limits::default()).unwrap();
        let tool = tools(&api, &ToolLimits::default()).remove(0);
        for (arguments, fits) in &cases {
            assert_eq!(schema::fits(&tool.input, arguments), *fits, "{media} {arguments} in {}", tool.input);
        }
        let sent = |arguments: &Value| {
            let arguments = arguments.as_object().expect("an object");
            crate::request::build(&api.operations[0], arguments, "https://a.example").expect("a request").body
        };
        assert_eq!(sent(&cases[0].0), None, "{media}: nothing of the body is given");
        assert!(sent(&cases[1].0).is_some_and(|body| body.media.starts_with(media)), "{media}");
        let required = json!({"openapi": "3.0.3", "paths": {"/a": {"post": {
            "requestBody": {"required": true, "content": {media: {"schema": schema}}}}}}});
        let tool = made(&required).remove(0);
        assert_eq!(tool.input["required"], json!(["name", "kind"]), "{media}");
        assert_eq!(tool.input.get("dependentRequired"), None, "{media}: `required` says it all");
    }
}

/// The same of a body that is one argument, and of one whose members are renamed.
#[test]
fn what_an_optional_body_requires_goes_by_the_names_of_the_arguments() {
    let one = |schema: Value| {
        made(&json!({"openapi": "3.0.3", "paths": {"/a/{name}": {"post": {
            "requestBody": {"content": {"application/json": {"schema": schema}}}}}}}))
        .remove(0)
        .input
    };
    let renamed = one(json!({"type": "object", "required": ["name"], "properties": {"name": {}, "note": {}}}));
    assert_eq!(renamed["dependentRequired"], json!({"note": ["name_body"]}));
    assert!(schema::fits(&renamed, &json!({"name_path": "x"})));
    assert!(!schema::fits(&renamed, &json!({"name_path": "x", "note": 1})));
    let whole =
        one(json!({"type": "object", "required": ["a"], "properties": {"a": {}}, "additionalProperties": true}));
    assert!(schema::fits(&whole, &json!({"name": "x"})));
    assert!(schema::fits(&whole, &json!({"name": "x", "body": {"a": 1}})));
    assert!(!schema::fits(&whole, &json!({"name": "x", "body": {}})));
    let free = one(json!({"type": "object", "properties": {"a": {}}}));
    assert_eq!(free.get("dependentRequired"), None);
}
