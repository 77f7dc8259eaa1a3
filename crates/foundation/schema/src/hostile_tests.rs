//! Work on hostile schemas ends: every result is quick, small, and the same for the same seed.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::diff::{Side, compare};
use crate::sample::{Style, members, value};
use crate::vary::{Schema, Width, refused, variations};
use crate::{Rng, fits, plain};

const WIDTH: Width = Width { depth: 6, edges: true, members: 200, types: 8 };
/// How long one schema may take without optimisation, on a busy machine.
const LONG: Duration = Duration::from_secs(30);

/// Runs every function on one schema; returns the size of the largest value.
fn ask(schema: &Value, seed: u64) -> usize {
    let begun = Instant::now();
    let rng = Rng::new(seed, "hostile");
    let mut made = Vec::new();
    for style in [Style::Smallest, Style::Typical] {
        let one = value(schema, style, &rng);
        assert_eq!(one, value(schema, style, &rng), "the same seed makes another value of {}", shown(schema));
        made.extend(one);
        made.push(Value::Object(members(schema, style, &rng)));
    }
    made.extend(refused(schema, &rng).map(Value::Object));
    if let Ok(target) = Schema::new(schema) {
        made.extend(variations(&target, &Map::new(), &Map::new(), &rng, WIDTH).into_iter().map(|one| one.instance));
    }
    for one in made.iter().take(3) {
        fits(schema, one);
        plain::fits(schema, one);
    }
    compare(schema, &json!({ "anyOf": [schema] }), Side::Takes);
    assert!(begun.elapsed() < LONG, "{:?} for {}", begun.elapsed(), shown(schema));
    made.iter().map(|one| one.to_string().len()).max().unwrap_or(0)
}

fn shown(schema: &Value) -> String {
    schema.to_string().chars().take(400).collect()
}

fn object(property: &Value) -> Value {
    json!({ "type": "object", "properties": { "x": property, "y": property }, "required": ["x"] })
}

#[test]
fn references_that_multiply() {
    let both = |keyword: &str| json!({ keyword: [{ "$ref": "#" }, { "$ref": "#" }] });
    for keyword in ["anyOf", "allOf", "oneOf"] {
        ask(&both(keyword), 0);
        ask(&object(&both(keyword)), 1);
        ask(&json!({ "type": "array", "items": both(keyword), "minItems": 1 }), 2);
        let twice = |n: usize| json!({ keyword: vec![json!({ "$ref": format!("#/$defs/{}", n + 1) }); 2] });
        let all: Map<String, Value> = (0..60).map(|n| (n.to_string(), twice(n))).collect();
        let doubling = json!({ "$defs": all, "type": "object", "required": ["x"], "properties": { "x": { "$ref": "#/$defs/0" } } });
        ask(&doubling, 3);
    }
    let unevaluated =
        json!({ "allOf": [{ "properties": { "x": { "$ref": "#" } } }], "unevaluatedProperties": { "$ref": "#" } });
    ask(&unevaluated, 4);
}

#[test]
fn nests_without_end() {
    let list =
        (0..60).fold(json!({ "type": "string" }), |inner, _| json!({ "type": "array", "minItems": 2, "items": inner }));
    ask(&object(&list), 0);
    let deep = (0..500)
        .fold(json!(true), |inner, _| json!({ "type": "object", "required": ["a"], "properties": { "a": inner } }));
    ask(&deep, 0);
    ask(&(0..500).fold(json!(true), |inner, _| json!({ "not": inner })), 0);
}

/// A long text multiplies with the lists around it.
#[test]
fn giants() {
    let giant = json!({ "type": "array", "minItems": u64::MAX, "items": { "type": "string", "minLength": u64::MAX } });
    assert!(ask(&object(&giant), 0) < 1000);
    for keyword in ["default", "const"] {
        let long = json!({ "type": "string", keyword: "x".repeat(100_000) });
        let many =
            json!({ "type": "array", "minItems": 64, "items": { "type": "array", "minItems": 64, "items": long } });
        assert!(ask(&object(&many), 0) < 4 << 20, "{keyword}");
    }
    let text = json!({ "type": "string", "minLength": 4000 });
    let many = json!({ "type": "array", "minItems": 64, "items": { "type": "array", "minItems": 64, "items": text } });
    assert!(ask(&object(&many), 0) < 4 << 20);
}

#[test]
fn long_lists_of_names() {
    let names: Vec<String> = (0..12_000).map(|at| format!("name-{at}")).collect();
    ask(&json!({ "type": "object", "required": names }), 0);
    ask(
        &json!({ "type": "object", "allOf": [{ "required": names }, { "$ref": "#/$defs/a" }], "$defs": { "a": { "required": names } } }),
        0,
    );
    ask(&object(&json!({ "enum": names })), 1);
    ask(
        &object(
            &json!({ "allOf": [{ "enum": (0..12_000).collect::<Vec<_>>() }, { "enum": (6000..18_000).collect::<Vec<_>>() }] }),
        ),
        1,
    );
    ask(&object(&json!({ "type": vec!["string"; 12_000], "allOf": [{ "type": vec!["null"; 12_000] }] })), 1);
    let properties: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({ "$ref": "#" }))).collect();
    ask(&json!({ "type": "object", "properties": properties, "minProperties": 12_000 }), 0);
    let dependents: Map<String, Value> = names.iter().take(90).map(|name| (name.clone(), json!(names[..90]))).collect();
    ask(&json!({ "type": "object", "required": ["name-1"], "dependentRequired": dependents }), 0);
}

#[test]
fn expensive_patterns() {
    for pattern in [
        "((){2000}){2000}((){2000}){2000}",
        "(a{1000}){1000}",
        "^(a|b){5000}$",
        "^(a+)+$",
        "^(?=(a+)+b)(a+)+\\1$",
        "(.*)*(.*)*(.*)*\\1",
        "[\\p{L}--\\p{Lu}]{900}",
    ] {
        ask(&object(&json!({ "type": "string", "pattern": pattern, "minLength": 1500 })), 0);
        ask(&object(&json!({ "type": "object", "patternProperties": { pattern: { "$ref": "#" } } })), 0);
    }
    ask(&object(&json!({ "type": "string", "pattern": "\\p{L}".repeat(40_000) })), 0);
    ask(&object(&json!({ "type": "string", "pattern": "(".repeat(100_000) })), 0);
}

#[test]
fn references_to_elsewhere_are_not_followed() {
    for reference in ["http://127.0.0.1:9/a.json", "file:///etc/hostname", "other.json#/a", "#/nowhere", "#anchor", ""]
    {
        let schema = object(&json!({ "$ref": reference }));
        ask(&schema, 0);
        assert_eq!(value(&schema, Style::Smallest, &Rng::plain()), None, "{reference}");
    }
}

/// Schema parts that refer to the whole, to each other, and to missing definitions.
fn hostile() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "$ref": "#" })),
        Just(json!({ "$ref": "#/$defs/a" })),
        Just(json!({ "$ref": "#/$defs/b" })),
        Just(json!({ "type": "string", "minLength": 5000 })),
        Just(json!({ "type": "string", "pattern": "^(a|aa)+$", "minLength": 40 })),
        Just(json!({ "enum": [[], {}, 1, 1.0, null] })),
        Just(json!({ "type": ["null", "object", "array"] })),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!(7)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let some = prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            (prop_oneof![Just("anyOf"), Just("allOf"), Just("oneOf"), Just("prefixItems"), Just("items")], some.clone())
                .prop_map(|(keyword, all)| json!({ keyword: all })),
            (prop_oneof![Just("not"), Just("items"), Just("contains"), Just("propertyNames"), Just("unevaluatedProperties")],
                inner.clone())
                .prop_map(|(keyword, one)| json!({ keyword: one })),
            (inner.clone(), 0..70u64, any::<bool>()).prop_map(|(one, least, unique)| {
                json!({ "type": "array", "items": one, "minItems": least, "uniqueItems": unique })
            }),
            (some, any::<bool>()).prop_map(|(all, closed)| {
                let names: Vec<String> = (0..all.len()).map(|at| format!("p{at}")).collect();
                let properties: Map<String, Value> = names.iter().cloned().zip(all).collect();
                json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": !closed })
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_schemas_end(whole in hostile(), a in hostile(), b in hostile(), seed in 0..3u64) {
        let mut schema = json!({ "type": "object", "properties": { "x": whole }, "required": ["x"] });
        schema["$defs"] = json!({ "a": a, "b": b });
        prop_assert!(ask(&schema, seed) < 4 << 20);
    }
}

/// A schema that is small and simple is quick for each part of a value, but not for millions of parts.
#[test]
fn a_simple_schema_with_a_huge_value_is_given_up() {
    let all: Vec<_> = (0..230).map(|most| json!({ "type": "number", "maximum": 1000 + most })).collect();
    let schema = json!({ "type": "array", "items": { "allOf": all } });
    let validator = crate::Validator::new(&schema).expect("usable");
    assert!(validator.is_valid(&json!(vec![1; 1000])));
    let begun = Instant::now();
    let huge = json!(vec![1; 300_000]);
    assert!(validator.takes_too_long(&huge) && !validator.is_valid(&huge));
    assert!(begun.elapsed() < LONG);
    let plain = crate::Validator::new(&json!({ "type": "array", "items": { "type": "number" } })).expect("usable");
    assert!(plain.is_valid(&huge), "a large value alone is no reason");
}
