//! What fits, what is refused before it is compiled, and what would take too long.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

#[test]
fn no_reference_leads_to_the_network() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:9/schema.json" } } });
    assert!(Validator::new(&schema).is_err());
    assert!(!fits(&schema, &json!({ "a": 1 })));
}

#[test]
fn a_schema_too_deep_is_not_read() {
    let deep = (0..100).fold(json!({}), |schema, _| json!({ "properties": { "x": schema } }));
    assert_eq!(Validator::new(&deep).err(), Some(Unusable::TooLarge));
    let deep = (0..100).fold(json!({}), |schema, _| json!({ "not": schema }));
    assert!(Validator::new(&deep).is_err());
}

#[test]
fn no_schema_takes_the_whole_stack() {
    let steps = (0..5000).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) })));
    let long = json!({ "$defs": steps.collect::<serde_json::Map<_, _>>(), "$ref": "#/$defs/0" });
    assert!(Validator::new(&long).is_err());
    assert!(Validator::new(&json!({ "not": { "$ref": "#" } })).is_err());
    assert!(Validator::new(&json!({ "properties": { "child": { "$ref": "#" } } })).is_ok());
}

#[test]
fn circles_are_distinguished_from_trees() {
    let chain = |length: usize| {
        let all = (0..length).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) })));
        let all = all.chain([(length.to_string(), json!({ "type": "object" }))]);
        json!({ "$defs": all.collect::<serde_json::Map<_, _>>(), "$ref": "#/$defs/0" })
    };
    for circle in [
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "type": "null" }, { "$ref": "#" }] }),
        json!({ "properties": { "x": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "not": { "$ref": "#/$defs/a" } } } }),
        json!({ "if": { "$dynamicRef": "#me" } }),
        chain(10_000),
    ] {
        assert!(goes_in_circles(&circle));
    }
    for tree in [
        json!({ "properties": { "child": { "$ref": "#" }, "more": { "items": { "allOf": [{ "$ref": "#" }] } } } }),
        json!({ "anyOf": vec![json!({ "$ref": "#/$defs/a" }); 40], "$defs": { "a": { "type": "null" } } }),
        chain(20),
    ] {
        assert!(!goes_in_circles(&tree), "{tree}");
    }
}

/// A value nested so deep, with `leaf` innermost.
fn nested(levels: usize, leaf: &Value) -> Value {
    (0..levels).fold(leaf.clone(), |inner, _| json!({ "a": inner }))
}

/// On the stack of a thread of the runtime, as large as the smallest that there is.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn what_doubles_with_every_level_is_given_up() {
    on_a_small_stack(|| {
        let both = json!({ "properties": { "a": { "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] } }, "type": "object" });
        let validator = Validator::new(&both).unwrap();
        let begun = Instant::now();
        assert!(validator.is_valid(&nested(8, &json!({}))));
        assert!(!validator.is_valid(&nested(8, &json!(1))));
        assert!(!validator.is_valid(&nested(100, &json!(1))));
        let found = validator.mismatches(&nested(100, &json!(1)), 8);
        assert!(found.len() == 1 && found[0].message.contains("takes too long"), "{found:?}");
        // Without recursion, each definition uses the next one twice.
        let twice = |n: usize| json!({ "anyOf": vec![json!({ "$ref": format!("#/$defs/{}", n + 1) }); 2] });
        let mut all: serde_json::Map<String, Value> = (0..30).map(|n| (n.to_string(), twice(n))).collect();
        all.insert("30".to_owned(), json!({ "type": "null" }));
        let doubling = Validator::new(&json!({ "$defs": all, "$ref": "#/$defs/0" })).unwrap();
        assert!(!doubling.is_valid(&json!(1)));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    });
}

/// References and levels of the value multiply to the depth of the stack.
#[test]
fn a_deep_value_does_not_take_the_whole_stack() {
    on_a_small_stack(|| {
        let mut all: serde_json::Map<String, Value> =
            (0..40).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) }))).collect();
        all.insert("40".to_owned(), json!({ "properties": { "a": { "$ref": "#" } } }));
        let schema = json!({ "$defs": all, "$ref": "#/$defs/0" });
        let validator = Validator::new(&schema).unwrap();
        assert!(validator.is_valid(&nested(5, &json!({}))));
        assert!(!validator.is_valid(&nested(120, &json!({}))));
    });
}

/// Trees as people write them are checked whole, deep and wide.
#[test]
fn ordinary_trees_are_checked() {
    on_a_small_stack(|| {
        let any = json!({ "anyOf": [
            { "type": ["string", "number", "boolean", "null"] },
            { "type": "array", "items": { "$ref": "#/$defs/any" } },
            { "type": "object", "additionalProperties": { "$ref": "#/$defs/any" } },
        ] });
        let validator = Validator::new(&json!({ "$defs": { "any": any }, "$ref": "#/$defs/any" })).unwrap();
        assert!(validator.is_valid(&nested(120, &json!(1))));
        assert!(validator.is_valid(&json!(vec![json!({ "name": "x", "tags": ["a", "b"] }); 20_000])));
    });
}

#[test]
fn regular_expressions_are_bounded() {
    let begun = Instant::now();
    let text = "a".repeat(2000);
    for pattern in ["^(a+)+$", "^(?=a)(a+)+b\\1$", "^(?!b)(a|aa)+$(?<=c)", "(a*)*(a*)*(a*)*b"] {
        let validator = Validator::new(&json!({ "items": { "pattern": pattern } })).unwrap();
        let texts: Vec<String> = (0..200).map(|at| format!("{text}{at}")).collect();
        validator.is_valid(&json!(texts));
    }
    let long = "\\p{L}".repeat(40_000);
    assert_eq!(Validator::new(&json!({ "pattern": long })).err(), Some(Unusable::TooLarge));
    let many: Vec<Value> = (0..300).map(|at| json!({ "pattern": format!("(\\p{{L}}{{60}}{at}){{9}}") })).collect();
    drop(Validator::new(&json!({ "anyOf": many })));
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}
