//! Made arguments against a validator that is not ours, over schemas as servers in the field have them.

use jsonschema::validator_for;
use serde_json::{Value, json};

use super::{Map, Rng, Style, members, object};
use crate::vary::{refused, refused_within};

fn example(schema: &Value, rng: &Rng) -> Option<Map<String, Value>> {
    object(schema, Style::Smallest, rng)
}

fn plain(schema: &Value) -> Option<Map<String, Value>> {
    example(schema, &Rng::plain())
}

fn wrong(schema: &Value) -> Option<Map<String, Value>> {
    refused(schema, &Rng::plain())
}

/// Schemas for which are arguments.
fn met() -> Vec<(&'static str, Value)> {
    let mut schemas = written();
    schemas.extend(generated());
    schemas.extend(clever());
    schemas
}

/// As people write them, and as zod does.
#[expect(clippy::too_many_lines, reason = "a table")]
fn written() -> Vec<(&'static str, Value)> {
    vec![
        ("nothing", json!({ "type": "object" })),
        ("nothing, said plainly", json!({ "type": "object", "properties": {}, "additionalProperties": false })),
        (
            "echo",
            json!({
                "type": "object", "properties": { "message": { "type": "string", "description": "Message to echo" } },
                "required": ["message"], "additionalProperties": false,
                "$schema": "http://json-schema.org/draft-07/schema#",
            }),
        ),
        (
            "sum",
            json!({
                "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
                "required": ["a", "b"],
            }),
        ),
        (
            "choices",
            json!({
                "type": "object",
                "properties": {
                    "messageType": { "type": "string", "enum": ["error", "success", "debug"] },
                    "includeImage": { "type": "boolean", "default": false },
                },
                "required": ["messageType", "includeImage"],
            }),
        ),
        (
            "identifiers",
            json!({
                "type": "object",
                "properties": { "resourceId": { "type": "number", "minimum": 1, "maximum": 100, "multipleOf": 1 } },
                "required": ["resourceId"],
            }),
        ),
        (
            "edits of a file",
            json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "edits": {
                        "type": "array", "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": { "oldText": { "type": "string" }, "newText": { "type": "string" } },
                            "required": ["oldText", "newText"], "additionalProperties": false,
                        },
                    },
                    "dryRun": { "type": "boolean", "default": false },
                },
                "required": ["path", "edits"],
            }),
        ),
        (
            "between zero and one, both excluded",
            json!({
                "type": "object",
                "properties": { "share": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 } },
                "required": ["share"],
            }),
        ),
        (
            "negative steps",
            json!({
                "type": "object",
                "properties": { "n": { "type": "integer", "minimum": -7, "maximum": -3, "multipleOf": 2 } },
                "required": ["n"],
            }),
        ),
        (
            "texts of a length, and formats",
            json!({
                "type": "object",
                "properties": {
                    "long": { "type": "string", "minLength": 12, "maxLength": 12 },
                    "short": { "type": "string", "maxLength": 2 },
                    "mail": { "type": "string", "format": "email" },
                    "when": { "type": "string", "format": "date-time" },
                    "day": { "type": "string", "format": "date" },
                    "where": { "type": "string", "format": "uri", "minLength": 1 },
                    "id": { "type": "string", "format": "uuid" },
                    "host": { "type": "string", "format": "ipv4" },
                    "note": { "type": "string", "format": "textarea" },
                },
                "required": ["long", "short", "mail", "when", "day", "where", "id", "host", "note"],
            }),
        ),
        (
            "a tagged union",
            json!({
                "type": "object",
                "properties": {
                    "shape": { "oneOf": [
                        { "type": "object", "properties": { "kind": { "const": "circle" }, "r": { "type": "number" } }, "required": ["kind", "r"] },
                        { "type": "object", "properties": { "kind": { "const": "point" } }, "required": ["kind"] },
                    ] },
                },
                "required": ["shape"],
            }),
        ),
    ]
}

/// As pydantic, schemars and Go's reflection write them.
#[expect(clippy::too_many_lines, reason = "a table")]
fn generated() -> Vec<(&'static str, Value)> {
    vec![
        (
            "optional by union, title everywhere",
            json!({
                "type": "object", "title": "fetchArguments",
                "properties": {
                    "url": { "title": "Url", "type": "string", "format": "uri", "minLength": 1 },
                    "max_length": {
                        "title": "Max Length", "type": "integer", "default": 5000,
                        "exclusiveMinimum": 0, "exclusiveMaximum": 1_000_000,
                    },
                    "proxy": { "title": "Proxy", "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null },
                },
                "required": ["url", "max_length", "proxy"],
            }),
        ),
        (
            "definitions and an enumeration",
            json!({
                "$defs": {
                    "Level": { "enum": ["low", "high"], "title": "Level", "type": "string" },
                    "Job": {
                        "type": "object",
                        "properties": { "level": { "$ref": "#/$defs/Level" }, "next": { "anyOf": [{ "$ref": "#/$defs/Job" }, { "type": "null" }] } },
                        "required": ["level"],
                    },
                },
                "type": "object", "properties": { "job": { "$ref": "#/$defs/Job" } }, "required": ["job"],
            }),
        ),
        (
            "one schema within allOf",
            json!({
                "definitions": { "Mode": { "type": "string", "enum": ["fast"] } },
                "type": "object",
                "properties": { "mode": { "description": "How", "allOf": [{ "$ref": "#/definitions/Mode" }] } },
                "required": ["mode"],
            }),
        ),
        (
            "several types, whole numbers of a format",
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                "properties": {
                    "name": { "type": ["string", "null"] },
                    "count": { "type": "integer", "format": "uint32", "minimum": 0 },
                    "ratio": { "type": "number", "format": "double" },
                    "any": {},
                    "free": true,
                    "meta": { "type": "object", "additionalProperties": { "type": "string" } },
                },
                "required": ["name", "count", "ratio", "any", "free", "meta"],
            }),
        ),
        (
            "a default of the wrong type",
            json!({
                "type": "object", "properties": { "limit": { "type": "integer", "default": null } }, "required": ["limit"],
            }),
        ),
    ]
}

/// Schemas that only a validator can tell to be met.
fn clever() -> Vec<(&'static str, Value)> {
    let one = |property: Value| json!({ "type": "object", "properties": { "x": property }, "required": ["x"] });
    vec![
        ("a pattern", one(json!({ "type": "string", "pattern": "^[A-Z]{3}$" }))),
        ("a conjunction", one(json!({ "allOf": [{ "type": "string" }, { "minLength": 9 }] }))),
        (
            "different items",
            one(json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "uniqueItems": true })),
        ),
        (
            "alternatives with more beside",
            one(json!({ "type": "string", "minLength": 9, "anyOf": [{ "type": "string" }] })),
        ),
        ("a required member nobody describes", json!({ "type": "object", "required": ["ghost"] })),
        (
            "items with places of their own",
            one(
                json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "minItems": 2 }),
            ),
        ),
    ]
}

/// Schemas that we know we cannot meet.
fn unmet() -> Vec<(&'static str, Value)> {
    let one = |property: Value| json!({ "type": "object", "properties": { "x": property }, "required": ["x"] });
    vec![
        ("a negation", one(json!({ "type": "string", "not": { "const": "proof" } }))),
        ("one of two that overlap", one(json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] }))),
        ("a pattern with a look ahead", one(json!({ "type": "string", "pattern": "^(?=a)[b]$" }))),
        ("nothing between the bounds", one(json!({ "type": "integer", "minimum": 0.2, "maximum": 0.8 }))),
        (
            "an endless nest",
            json!({
                "$defs": { "N": { "type": "object", "properties": { "n": { "$ref": "#/$defs/N" } }, "required": ["n"] } },
                "type": "object", "properties": { "n": { "$ref": "#/$defs/N" } }, "required": ["n"],
            }),
        ),
    ]
}

#[test]
fn what_is_made_is_accepted() {
    for (name, schema) in met() {
        let made = Value::Object(plain(&schema).unwrap_or_else(|| panic!("{name}: nothing was made")));
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
        assert!(validator.is_valid(&made), "{name}: {made} is refused");
    }
}

#[test]
fn what_cannot_be_met_is_left_alone() {
    for (name, schema) in unmet() {
        assert_eq!(plain(&schema), None, "{name}");
    }
}

#[test]
fn what_is_to_be_refused_is() {
    let mut made = 0;
    for (name, schema) in met().into_iter().chain(unmet()) {
        let Some(wrong) = wrong(&schema) else { continue };
        made += 1;
        let validator = validator_for(&schema).expect("a schema");
        assert!(!validator.is_valid(&Value::Object(wrong.clone())), "{name}: {wrong:?} is accepted");
    }
    assert!(made > 12, "only {made} schemas had anything to refuse");
}

/// Numbers within drawn bounds: whatever is made is right, and mostly something is.
#[test]
fn drawn_numbers_fit() {
    let mut made = 0;
    for least in -6..6 {
        for span in 0..5 {
            for (kind, step) in [("integer", 1.0), ("integer", 3.0), ("number", 0.5), ("number", 2.0)] {
                for exclusive in [false, true] {
                    let (low, high) =
                        if exclusive { ("exclusiveMinimum", "exclusiveMaximum") } else { ("minimum", "maximum") };
                    let number = json!({ "type": kind, low: least, high: least + span, "multipleOf": step });
                    let schema = json!({ "type": "object", "properties": { "n": number }, "required": ["n"] });
                    let Some(arguments) = plain(&schema) else { continue };
                    made += 1;
                    let validator = validator_for(&schema).expect("a schema");
                    let drawn = (1..12).filter_map(|seed| example(&schema, &Rng::new(seed, "n")));
                    for arguments in [arguments].into_iter().chain(drawn) {
                        assert!(validator.is_valid(&Value::Object(arguments.clone())), "{arguments:?} for {schema}");
                    }
                }
            }
        }
    }
    assert!(made > 200, "only {made} were met");
}

/// How many seeds each schema is met with.
const SEEDS: std::ops::Range<u64> = 1..200;

/// Where much may vary.
fn roomy() -> Vec<(&'static str, Value)> {
    let one = |property: Value| json!({ "type": "object", "properties": { "x": property }, "required": ["x"] });
    vec![
        ("a text", one(json!({ "type": "string", "minLength": 2, "maxLength": 9 }))),
        ("an enumeration", one(json!({ "type": "string", "enum": ["a", "b", "c", 4] }))),
        ("a number", one(json!({ "type": "number", "exclusiveMinimum": -3, "maximum": 8 }))),
        ("steps", one(json!({ "type": "integer", "minimum": 5, "multipleOf": 5 }))),
        ("a flag", one(json!({ "type": "boolean" }))),
        ("an address", one(json!({ "type": "string", "format": "uri" }))),
        ("items", one(json!({ "type": "array", "items": { "enum": [1, 2, 3] }, "minItems": 1, "maxItems": 2 }))),
        ("alternatives", one(json!({ "anyOf": [{ "type": "integer" }, { "type": "boolean" }, { "type": "null" }] }))),
        ("a default", one(json!({ "type": "integer", "default": 4, "minimum": 0, "maximum": 6 }))),
        ("examples", one(json!({ "type": "string", "examples": ["one", "two", "three"] }))),
    ]
}

#[test]
fn what_is_drawn_is_accepted_and_drawn_again() {
    for (name, schema) in met().into_iter().chain(roomy()) {
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
        for seed in SEEDS {
            let drawn = example(&schema, &Rng::new(seed, name));
            assert_eq!(drawn, example(&schema, &Rng::new(seed, name)), "{name}: seed {seed} is no seed");
            let made = Value::Object(drawn.unwrap_or_else(|| panic!("{name}: seed {seed} makes nothing")));
            assert!(validator.is_valid(&made), "{name}: {made} (seed {seed}) is refused");
        }
    }
}

#[test]
fn seeds_differ_where_there_is_room() {
    for (name, schema) in roomy() {
        let drawn = |seed| Value::Object(example(&schema, &Rng::new(seed, name)).unwrap_or_default()).to_string();
        let different: std::collections::BTreeSet<_> = SEEDS.map(drawn).collect();
        assert!(different.len() > 1, "{name}: always {different:?}");
        assert_eq!(plain(&schema), example(&schema, &Rng::new(0, name)), "{name}: seed 0 draws");
    }
}

#[test]
fn what_is_drawn_to_be_refused_is() {
    for (name, schema) in met().into_iter().chain(unmet()) {
        let validator = validator_for(&schema).expect("a schema");
        for seed in SEEDS {
            let rng = Rng::new(seed, name);
            for wrong in [refused(&schema, &rng), refused_within(&schema, &rng)].into_iter().flatten() {
                assert!(
                    !validator.is_valid(&Value::Object(wrong.clone())),
                    "{name}: {wrong:?} (seed {seed}) is accepted"
                );
            }
        }
    }
}

#[test]
fn a_member_within_a_member_is_changed() {
    let time = json!({ "type": "object", "properties": { "minutes": { "type": "integer" } }, "required": ["minutes"] });
    let filters = json!({ "type": "object", "properties": { "time": time } });
    let schema = json!({ "type": "object", "properties": { "words": { "type": "string" }, "filters": filters } });
    let wrong = refused_within(&schema, &Rng::plain()).expect("an object within");
    assert_eq!(Value::Object(wrong), json!({ "filters": { "time": "neither array nor object" } }));
    assert_eq!(
        refused_within(&json!({ "type": "object", "properties": { "n": { "type": "integer" } } }), &Rng::plain()),
        None
    );
}

/// Without a bound, as many ways as there are names, to the power of the depth.
#[test]
fn a_schema_that_names_itself_many_times_comes_to_an_end() {
    let itself = json!({ "$ref": "#/$defs/N" });
    let ways = json!({ "anyOf": vec![itself.clone(); 40] });
    let schema = json!({ "$defs": { "N": ways }, "type": "object", "properties": { "n": itself }, "required": ["n"] });
    assert_eq!(plain(&schema), None);
}

#[test]
fn typical_values_are_accepted_and_say_more_than_the_smallest() {
    for (name, schema) in met().into_iter().chain(roomy()) {
        let made = object(&schema, Style::Typical, &Rng::plain()).map(Value::Object);
        let made = made.unwrap_or_else(|| panic!("{name}: nothing was made"));
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
        assert!(validator.is_valid(&made), "{name}: {made} is refused");
    }
    let schema = json!({ "type": "object", "required": ["f", "l", "o"], "properties": {
        "f": { "type": "boolean" }, "l": { "type": "array", "items": { "type": "string" } },
        "o": { "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null } } });
    assert_eq!(plain(&schema).map(Value::Object), Some(json!({ "f": false, "l": [], "o": null })));
    let typical = object(&schema, Style::Typical, &Rng::plain()).map(Value::Object);
    assert_eq!(typical, Some(json!({ "f": true, "l": ["proof"], "o": "proof" })));
}

/// What newer dialects refuse to compile is called in the field anyway.
#[test]
fn what_no_validator_reads_is_met_where_it_is_plain() {
    let outdated = json!({ "type": "object", "required": ["a", "n"], "properties": {
        "a": { "type": "string", "required": true },
        "n": { "type": "integer", "minimum": 0, "exclusiveMinimum": true },
        "far": { "$ref": "http://127.0.0.1:9/schema.json" } } });
    assert!(validator_for(&outdated).is_err());
    assert_eq!(plain(&outdated).map(Value::Object), Some(json!({ "a": "proof", "n": 1 })));
    let unreadable = json!({ "type": "object", "required": ["a"], "properties": { "a": { "pattern": "(" } } });
    assert_eq!(plain(&unreadable), None);
}

#[test]
fn members_are_made_each_alone() {
    let schema = json!({ "type": "object", "required": ["a", "b", "c"], "properties": {
        "a": { "type": "integer", "minimum": 7 }, "b": { "not": {} }, "c": { "$ref": "#/$defs/c" } },
        "$defs": { "c": { "type": "object", "required": ["n"], "properties": { "n": { "type": "null" } } } } });
    let made = members(&schema, Style::Typical, &Rng::plain());
    assert_eq!(Value::Object(made), json!({ "a": 7, "b": "proof", "c": { "n": null } }));
}
