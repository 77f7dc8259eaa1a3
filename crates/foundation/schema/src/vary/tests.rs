//! Values made from schemas: each is what it says it is, and none of those that can be made is missing.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Kind, Schema, Variation, Width, variations};
use crate::rng::Rng;

const FULL: Width = Width { depth: 6, edges: true, members: 200, types: 8 };

fn all(schema: &Value) -> Vec<Variation> {
    let nothing = Map::new();
    let target = Schema::new(schema).unwrap();
    variations(&target, &nothing, &nothing, &Rng::plain(), FULL)
}

/// Where and by which keyword something was broken.
fn broken(schema: &Value) -> BTreeSet<String> {
    let all = all(schema);
    assert_eq!(all.first().map(|one| one.kind), Some(Kind::Typical), "{schema}");
    let violations = all.iter().filter(|one| one.kind == Kind::Violation);
    violations.map(|one| format!("{} {}", one.pointer, one.keyword)).collect()
}

#[track_caller]
fn breaks(schema: &Value, wanted: &[&str]) {
    let wanted: BTreeSet<String> = wanted.iter().map(|&one| one.to_owned()).collect();
    assert_eq!(broken(schema), wanted, "{schema}");
}

fn object(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

/// What strange schemas ask for is bounded: in what is made, and in the work.
#[test]
fn strange_schemas_come_to_an_end() {
    let most = json!({ "type": "integer", "default": i64::MAX });
    all(&object(&json!({ "x": { "type": "array", "items": most, "uniqueItems": true, "maxItems": 3 } })));
    let itself = json!({ "$ref": "#/$defs/N" });
    let ways =
        json!({ "type": "object", "properties": { "n": { "anyOf": vec![itself.clone(); 40] } }, "minProperties": 1 });
    all(&json!({ "$defs": { "N": ways }, "type": "object", "properties": { "n": itself, "m": itself } }));
    let long = json!({ "type": "string", "default": "x".repeat(200_000) });
    let made = all(&object(&json!({ "long": long, "one": { "enum": (0..200).collect::<Vec<_>>() } })));
    let bytes: usize = made.iter().map(|one| one.instance.to_string().len()).sum();
    assert!(made.len() > 10 && bytes < 20 << 20, "{} with {bytes} bytes", made.len());
}

#[test]
fn a_schema_that_leads_to_itself_alone_is_left_alone() {
    for round in [
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "$ref": "#" }] }),
        json!({ "properties": { "x": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "not": { "$ref": "#/$defs/a" } } } }),
    ] {
        assert!(Schema::new(&round).is_err(), "{round}");
    }
}

#[test]
fn every_constraint_is_broken_alone() {
    let one = |property: Value| object(&json!({ "x": property }));
    breaks(&one(json!({ "type": "string" })), &[" required", "/x type"]);
    breaks(
        &one(json!({ "type": "string", "minLength": 2, "maxLength": 9 })),
        &[" required", "/x type", "/x minLength", "/x maxLength"],
    );
    breaks(&one(json!({ "type": "string", "pattern": "^[a-z]{2}-[0-9]+$" })), &[" required", "/x type", "/x pattern"]);
    breaks(&one(json!({ "type": "string", "enum": ["a", "b"] })), &[" required", "/x enum"]);
    breaks(&one(json!({ "const": "a" })), &[" required", "/x const"]);
    breaks(
        &one(json!({ "type": "integer", "minimum": 1, "maximum": 5 })),
        &[" required", "/x type", "/x minimum", "/x maximum"],
    );
    breaks(
        &one(json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 5, "multipleOf": 0.5 })),
        &[" required", "/x type", "/x exclusiveMinimum", "/x exclusiveMaximum", "/x multipleOf"],
    );
    breaks(
        &one(
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3, "uniqueItems": true }),
        ),
        &[" required", "/x type", "/x minItems", "/x maxItems", "/x uniqueItems", "/x/0 type"],
    );
    breaks(&one(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] })), &[" required", "/x anyOf"]);
    breaks(&one(json!({ "type": ["string", "null"] })), &[" required", "/x anyOf"]);
    breaks(&one(json!({ "type": "string", "format": "uuid" })), &[" required", "/x type", "/x format"]);
    breaks(
        &one(
            json!({ "type": "object", "properties": { "y": { "type": "boolean" } }, "required": ["y"], "additionalProperties": false }),
        ),
        &[" required", "/x type", "/x required", "/x additionalProperties", "/x/y type"],
    );
}

#[test]
fn detours_are_followed() {
    let schema = json!({
        "type": "object",
        "properties": { "at": { "$ref": "#/$defs/place" }, "both": { "allOf": [{ "type": "integer" }, { "minimum": 3 }] } },
        "required": ["at", "both"],
        "$defs": { "place": { "type": "object", "properties": { "lat": { "type": "number", "maximum": 90 } }, "required": ["lat"] } },
    });
    breaks(
        &schema,
        &[" required", "/at type", "/at required", "/at/lat type", "/at/lat maximum", "/both type", "/both minimum"],
    );
    // A tree of itself ends somewhere.
    let tree = json!({
        "type": "object",
        "properties": { "of": { "type": "array", "items": { "$ref": "#" } } },
        "required": ["of"],
    });
    assert!(broken(&tree).contains("/of type"), "{:?}", broken(&tree));
}

#[test]
fn a_format_is_a_demand_only_where_its_dialect_has_it_so() {
    let demanded = |dialect: &str| {
        let schema = json!({ "$schema": dialect, "type": "object", "properties": { "x": { "type": "string", "format": "date" } } });
        all(&schema).into_iter().find(|one| one.keyword == "format").unwrap().demanded
    };
    assert!(demanded("http://json-schema.org/draft-07/schema#"));
    assert!(!demanded("https://json-schema.org/draft/2020-12/schema"));
}

#[test]
fn edges_and_choices_are_there() {
    let schema =
        object(&json!({ "n": { "type": "integer", "minimum": 1, "maximum": 3 }, "u": { "enum": ["a", "b", "c"] } }));
    let edges: Vec<Value> =
        all(&schema).into_iter().filter(|one| one.kind != Kind::Violation).map(|one| one.instance).collect();
    let n = |n: i64, u: &str| json!({ "n": n, "u": u });
    assert_eq!(edges, [n(1, "a"), n(3, "a"), n(1, "b"), n(1, "c")]);
}

/// With one member come those that it demands, and those that these demand.
#[test]
fn an_optional_member_is_given_with_all_that_it_demands() {
    let made = all(&json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "string" }, "c": { "type": "string" } },
        "dependentRequired": { "a": ["b"], "b": ["c"], "c": ["b"] },
    }));
    let with_a = made.iter().find(|one| one.kind == Kind::Present && one.instance.get("a").is_some());
    let given = with_a.and_then(|one| one.instance.as_object()).map(Map::len);
    assert_eq!(given, Some(3), "{made:?}");
}

#[test]
fn what_is_known_is_used() {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" }, "head": { "type": "integer" } }, "required": ["path"] });
    let target = Schema::new(&schema).unwrap();
    let known = json!({ "path": "note.txt", "head": 2 }).as_object().cloned().unwrap();
    let made = variations(&target, &known, &Map::new(), &Rng::plain(), FULL);
    assert_eq!(made[0].instance, json!({ "path": "note.txt" }));
    assert!(made.iter().any(|one| one.instance == json!({ "path": "note.txt", "head": 2 })));
    let made = variations(&target, &known, &known, &Rng::plain(), FULL);
    assert_eq!(made[0].instance, json!({ "path": "note.txt", "head": 2 }));
}

/// A server may send anything: what has no end comes to one.
#[test]
fn hostile_schemas_come_to_an_end() {
    let itself = |count: usize| vec![json!({ "$ref": "#/$defs/a" }); count];
    let members: Map<String, Value> = (0..60).map(|at| (format!("p{at}"), json!({ "$ref": "#" }))).collect();
    let pattern = |pattern: &str| object(&json!({ "x": { "type": "string", "pattern": pattern } }));
    let begun = std::time::Instant::now();
    for schema in [
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": itself(300) } } }),
        json!({ "type": "object", "anyOf": [{ "$ref": "#" }, { "type": "object" }] }),
        json!({ "type": "object", "allOf": [{ "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "allOf": itself(40) } } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "object", "required": ["x"], "properties": { "x": { "anyOf": itself(12) } } } } }),
        json!({ "type": "object", "properties": members }),
        json!({ "type": "array", "minItems": 64, "items": { "type": "array", "minItems": 64, "items": { "type": "array", "minItems": 64, "items": { "$ref": "#" } } } }),
        pattern("((){2000}){2000}((){2000}){2000}"),
        pattern("(a{1000}){1000}"),
        pattern("^(a|b){5000}$"),
    ] {
        if let Ok(target) = Schema::new(&schema) {
            let nothing = Map::new();
            drop(variations(&target, &nothing, &nothing, &Rng::plain(), FULL));
        }
    }
    assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{:?}", begun.elapsed());
}

/// A schema of any shape that people write, at most so deep.
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "boolean" })),
        (0..9u64, 0..9u64).prop_map(|(a, b)| json!({ "type": "string", "minLength": a, "maxLength": a + b })),
        (-50..50i64, 0..50i64, 1..9i64)
            .prop_map(|(a, b, c)| json!({ "type": "integer", "minimum": a, "maximum": a + b, "multipleOf": c })),
        (-50..50i64, 1..50i64)
            .prop_map(|(a, b)| json!({ "type": "number", "exclusiveMinimum": a, "exclusiveMaximum": a + b })),
        prop::collection::vec("[a-z]{1,4}", 1..4).prop_map(|names| json!({ "enum": names })),
        prop_oneof![Just("date"), Just("uuid"), Just("uri"), Just("ipv4")]
            .prop_map(|name| json!({ "type": "string", "format": name })),
        "[a-c]{1,3}(\\[[0-9]-?\\])?[?+*]?".prop_map(|pattern| json!({ "type": "string", "pattern": pattern })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..3u64, 0..3u64, any::<bool>()).prop_map(|(items, a, b, unique)| {
                json!({ "type": "array", "items": items, "minItems": a, "maxItems": a + b, "uniqueItems": unique })
            }),
            (prop::collection::vec(inner.clone(), 1..4), any::<bool>(), 0..4usize).prop_map(|(all, open, wanted)| {
                let names: Vec<String> = (0..all.len()).map(|at| format!("p{at}")).collect();
                let wanted: Vec<_> = names.iter().take(wanted).cloned().collect();
                let properties: Map<String, Value> = names.into_iter().zip(all).collect();
                json!({ "type": "object", "properties": properties, "required": wanted, "additionalProperties": open })
            }),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|ways| json!({ "anyOf": ways })),
            inner.prop_map(|one| json!({ "allOf": [one] })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Held against a validator of the test's own, and all of them different.
    #[test]
    fn random_schemas_are_read_correctly(property in schema(), seed in 0..3u64) {
        let schema = json!({ "type": "object", "properties": { "x": property }, "required": ["x"] });
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        let nothing = Map::new();
        let target = Schema::new(&schema).unwrap();
        let made = variations(&target, &nothing, &nothing, &Rng::new(seed, "x"), FULL);
        let mut seen = BTreeSet::new();
        for one in &made {
            prop_assert!(seen.insert(one.instance.to_string()), "twice: {one:?}");
            prop_assert_eq!(validator.is_valid(&one.instance), one.kind != Kind::Violation, "{:?}", one);
            if let Some(beside) = &one.beside {
                prop_assert!(validator.is_valid(beside), "{one:?}");
            }
        }
        // Where there is a typical value, its one required member can be taken away.
        prop_assert!(made.is_empty() || made.iter().any(|one| one.keyword == "required" && one.pointer.is_empty()));
        let again = variations(&target, &nothing, &nothing, &Rng::new(seed, "x"), FULL);
        prop_assert_eq!(made, again);
    }
}
