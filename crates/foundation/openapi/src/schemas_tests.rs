//! Schemas of descriptions as JSON Schema 2020-12, compiled and tried on values.

use serde_json::{Value, json};

use crate::{Limits, Operation, read};

/// The body `schema` of an operation, with these components.
fn operation(version: &str, components: Value, schema: Value) -> Operation {
    let description = json!({
        "openapi": version,
        "components": {"schemas": components},
        "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": schema}}}}}}},
    });
    let mut api = read(&description, &Limits::default()).unwrap();
    assert!(api.skipped.is_empty(), "{:?}", api.skipped);
    api.operations.remove(0)
}

fn items(operation: &Operation) -> Value {
    operation.body.as_ref().unwrap().schema["items"].clone()
}

fn converted(schema: Value) -> Value {
    items(&operation("3.0.3", json!({}), schema))
}

/// The whole input schema compiles, and says of the value what it should.
#[track_caller]
fn fits(operation: &Operation, item: Value, expected: bool) {
    let mut schema = items(operation);
    schema["$defs"] = operation.definitions.clone().into_iter().collect();
    let validator = schema::Validator::new(&schema).unwrap_or_else(|why| panic!("{why}: {schema}"));
    assert_eq!(validator.is_valid(&item), expected, "{item} in {schema}");
}

#[test]
fn the_dialect_of_3_0_becomes_2020_12() {
    for (from, to) in [
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            json!({"type": "string", "nullable": true, "enum": ["a", "b", "a"]}),
            json!({"type": ["string", "null"], "enum": ["a", "b", null]}),
        ),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!({"type": "integer", "exclusiveMinimum": 1}),
        ),
        (json!({"type": "integer", "maximum": 9, "exclusiveMaximum": false}), json!({"type": "integer", "maximum": 9})),
        (json!({"type": "string", "example": "x"}), json!({"type": "string", "examples": ["x"]})),
        (
            json!({"type": "string", "format": "byte"}),
            json!({"type": "string", "contentEncoding": "base64", "format": "byte"}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        ),
        (
            json!({"nullable": true, "allOf": [{"type": "string"}]}),
            json!({"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]}),
        ),
        (json!({"type": "object", "xml": {}, "x-y": 1, "externalDocs": {}}), json!({"type": "object"})),
    ] {
        assert_eq!(converted(from.clone()), to, "{from}");
    }
}

#[test]
fn what_is_no_json_schema_is_left_out() {
    for (from, to) in [
        (json!({"type": "String"}), json!({"type": "string"})),
        (json!({"type": "any"}), json!({})),
        (
            json!({"type": "string", "required": true, "minLength": "3", "maxLength": -1}),
            json!({"type": "string", "minLength": 3}),
        ),
        (json!({"type": "string", "pattern": "("}), json!({"type": "string"})),
        (json!({"type": "string", "pattern": "^.{1,2000}$"}), json!({"type": "string"})),
        (json!({"type": "string", "pattern": "^a{1,20}$"}), json!({"type": "string", "pattern": "^a{1,20}$"})),
        (json!({"type": "string", "enum": []}), json!({"type": "string"})),
        (json!({"type": "string", "enum": [1, 2]}), json!({"enum": [1, 2]})),
        (json!({"type": "number", "multipleOf": 0}), json!({"type": "number"})),
        (json!({"properties": [], "allOf": [], "items": 7, "required": ["a", "a", 1]}), json!({"required": ["a"]})),
    ] {
        assert_eq!(converted(from.clone()), to, "{from}");
    }
}

#[test]
fn siblings_of_a_reference_count_in_3_1_alone() {
    let schema = json!({"$ref": "#/components/schemas/A", "description": "mine"});
    let components = json!({"A": {"type": "string"}});
    assert_eq!(items(&operation("3.0.3", components.clone(), schema.clone())), json!({"$ref": "#/$defs/A"}));
    let mine = json!({"description": "mine", "$ref": "#/$defs/A"});
    assert_eq!(items(&operation("3.1.0", components, schema)), mine);
}

#[test]
fn only_what_is_reached_is_defined() {
    let components = json!({
        "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
        "B": {"type": "string"},
        "C": {"type": "string"},
    });
    let operation = operation("3.0.3", components, json!({"$ref": "#/components/schemas/A"}));
    assert_eq!(operation.definitions.keys().collect::<Vec<_>>(), ["A", "B"]);
}

/// tadata-org/fastapi_mcp 238 and 287, agentgateway: a recursive schema must not be followed without end.
#[test]
fn recursion_stays_a_reference() {
    let node = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}});
    let operation = operation("3.0.3", json!({"Node": node}), json!({"$ref": "#/components/schemas/Node"}));
    fits(&operation, json!({"children": [{"children": []}]}), true);
    fits(&operation, json!({"children": [{"children": 1}]}), false);
}

/// A circle that looks at no part of the value would be followed on the stack.
#[test]
fn a_circle_in_place_is_broken() {
    let components = json!({
        "A": {"allOf": [{"$ref": "#/components/schemas/B"}, {"type": "object"}]},
        "B": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}]},
        "Self": {"$ref": "#/components/schemas/Self"},
    });
    fits(&operation("3.0.3", components.clone(), json!({"$ref": "#/components/schemas/A"})), json!({}), true);
    fits(&operation("3.0.3", components.clone(), json!({"$ref": "#/components/schemas/B"})), json!({}), true);
    // The body's own resolution meets the circle first; what is left accepts anything.
    fits(&operation("3.0.3", components, json!({"$ref": "#/components/schemas/Self"})), json!(1), true);
}

/// FastMCP makes a loose union of variants that a member tells apart.
#[test]
fn variants_are_told_apart_by_their_tag() {
    let pet = |own: Value| json!({"type": "object", "required": ["kind"], "properties": {"kind": own, "name": {"type": "string"}}});
    let components = json!({
        "Cat": pet(json!({"type": "string"})),
        "Dog": pet(json!({"type": "string"})),
        "Fish": pet(json!({"type": "string", "enum": ["FISH"]})),
        "Pet": {
            "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}, {"$ref": "#/components/schemas/Fish"}],
            "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "kitten": "Cat"}},
        },
    });
    let operation = operation("3.0.3", components, json!({"$ref": "#/components/schemas/Pet"}));
    for (kind, expected) in
        [("cat", true), ("kitten", true), ("Cat", false), ("Dog", true), ("dog", false), ("FISH", true)]
    {
        fits(&operation, json!({"kind": kind}), expected);
    }
    fits(&operation, json!({}), false);
}

#[test]
fn what_only_the_api_sets_is_no_argument() {
    let components = json!({
        "Id": {"type": "string", "readOnly": true},
        "A": {"type": "object", "required": ["id", "at", "name"], "properties": {
            "id": {"$ref": "#/components/schemas/Id"}, "at": {"type": "string", "readOnly": true},
            "name": {"type": "string"}, "password": {"type": "string", "writeOnly": true},
        }},
    });
    let operation = operation("3.0.3", components, json!({"$ref": "#/components/schemas/A"}));
    let a = &operation.definitions["A"];
    assert_eq!(a["required"], json!(["name"]));
    assert_eq!(a["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["name", "password"]);
}

#[test]
fn references_that_lead_nowhere_or_out_accept_anything() {
    let description = json!({
        "openapi": "3.0.3",
        "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "properties": {"a": {"$ref": "#/components/schemas/No"}, "b": {"$ref": "https://example.com/x.json"}},
        }}}}}}},
    });
    let api = read(&description, &Limits::default()).unwrap();
    assert_eq!(api.operations[0].body.as_ref().unwrap().schema["properties"], json!({"a": {}, "b": {}}));
    assert_eq!(api.notes.len(), 2, "{:?}", api.notes);
}

#[test]
fn names_of_definitions_are_legal_and_stable() {
    let components =
        json!({"Page<Pet>": {"type": "object"}, "Page/Pet": {"type": "string"}, "Plain.v1": {"type": "object"}});
    let schema = json!({"properties": {
        "a": {"$ref": "#/components/schemas/Page%3CPet%3E"},
        "b": {"$ref": "#/components/schemas/Page~1Pet"},
        "c": {"$ref": "#/components/schemas/Plain.v1"},
    }});
    let operation = operation("3.0.3", components, schema);
    fits(&operation, json!({"a": {}, "b": "x", "c": {}}), true);
    fits(&operation, json!({"a": "x"}), false);
    assert_eq!(operation.definitions.len(), 3);
    assert!(operation.definitions.contains_key("Plain.v1"));
    assert!(
        operation.definitions.keys().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)))
    );
}

/// FastMCP's list for Kubernetes has 53.8 MB.
#[test]
fn what_is_beyond_the_budget_is_cut_and_accepts_anything_of_its_type() {
    let large = |next: &str| {
        let mut properties: serde_json::Map<String, Value> = (0..250)
            .map(|index| (format!("member{index}"), json!({"type": "string", "description": "x".repeat(40)})))
            .collect();
        properties.insert("next".to_owned(), json!({"$ref": format!("#/components/schemas/{next}")}));
        json!({"type": "object", "properties": properties})
    };
    let components = json!({"A": large("B"), "B": large("C"), "C": large("A")});
    let operation = operation("3.0.3", components, json!({"$ref": "#/components/schemas/A"}));
    let bytes: usize = operation.definitions.values().map(super::size).sum();
    assert!(bytes < Limits::default().input_bytes + 1_000, "{bytes}");
    assert!(operation.definitions["A"].get("properties").is_some());
    // What is near is whole, what is farther loses its prose, the rest is cut.
    assert!(operation.definitions["A"]["properties"]["member1"].get("description").is_some());
    assert_eq!(operation.definitions["B"]["properties"]["member1"], json!({"type": "string"}));
    assert_eq!(operation.definitions["C"]["description"], super::CUT);
    fits(&operation, json!({"next": {"next": {"next": 7}}}), true);
    fits(&operation, json!({"next": {"next": 7}}), false);
}
