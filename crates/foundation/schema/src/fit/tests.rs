//! Reading a schema: keywords, budgets, strict and lenient answers.

use serde_json::json;

use super::containers::COMPARED;
use super::*;

fn fit(schema: &Value, value: &Value) -> Fit {
    super::fit(schema, value, &|| true)
}

#[test]
fn a_sure_answer_says_where_and_why() {
    let schema = json!({ "type": "object", "required": ["n"], "additionalProperties": false, "properties": {
        "n": { "type": "integer", "minimum": 1 }, "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
        "who": { "$ref": "#/$defs/who" } }, "$defs": { "who": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } });
    for value in [json!({ "n": 1 }), json!({ "n": 2.0, "tags": ["a"], "who": null })] {
        assert_eq!(fit(&schema, &value), Fit::Yes, "{value}");
    }
    for (value, at) in [
        (json!([]), ""),
        (json!({}), ""),
        (json!({ "n": 0 }), "/n"),
        (json!({ "n": 1, "tags": ["c"] }), "/tags/0"),
        (json!({ "n": 1, "who": 3 }), "/who"),
        (json!({ "n": 1, "more": 3 }), "/more"),
    ] {
        assert!(matches!(fit(&schema, &value), Fit::No { pointer, .. } if pointer == at), "{value}");
    }
}

#[test]
fn an_unread_keyword_makes_unsure_and_never_refuses() {
    for schema in [
        json!({ "pattern": "^a" }),
        json!({ "$ref": "https://example.com/s" }),
        json!({ "$schema": "urn:own", "type": "null" }),
        json!({ "not": { "pattern": "a" } }),
        json!({ "oneOf": [{ "type": "string" }, { "pattern": "a" }] }),
        json!({ "type": "weird" }),
        json!({ "maxLength": -1 }),
        json!({ "required": true, "properties": [] , "enum": {} }),
    ] {
        let value = if schema.get("required").is_some() { json!({}) } else { json!("b") };
        assert_eq!(fit(&schema, &value), Fit::Unsure, "{schema}");
    }
    assert!(matches!(fit(&json!({ "pattern": "^a", "type": "null" }), &json!("b")), Fit::No { .. }));
}

#[test]
fn many_items_are_not_compared_with_one_another() {
    let schema = json!({ "uniqueItems": true });
    assert!(matches!(fit(&schema, &json!([1, 2, 1.0])), Fit::No { .. }));
    assert_eq!(fit(&schema, &(0..=COMPARED).collect()), Fit::Unsure);
}

#[test]
fn only_exact_numbers_are_refused_as_multiples() {
    let schema = json!({ "multipleOf": 3 });
    assert_eq!(fit(&schema, &json!(9)), Fit::Yes);
    assert!(matches!(fit(&schema, &json!(10)), Fit::No { .. }));
    // A multiple of 3 that a double rounds to its neighbour.
    assert_ne!(fit(&schema, &json!(9_007_199_254_740_993_i64)).known(), Some(false));
    assert_eq!(fit(&json!({ "multipleOf": 0.1 }), &json!(0.35)), Fit::Unsure);
}

#[test]
fn a_reference_to_itself_is_followed_once_and_branches_end_with_the_steps() {
    let count = |schema: &Value, most: u64| {
        let used = std::cell::Cell::new(0);
        let spend = || {
            used.set(used.get() + 1);
            used.get() <= most
        };
        (super::fit(schema, &json!(1), &spend), used.get() > most)
    };
    let itself = json!({ "anyOf": vec![json!({ "$ref": "#" }); 4] });
    assert_eq!(count(&itself, 100), (Fit::Unsure, false));
    // Each schema refers to the next one four times: no circle, and 4^19 ways.
    let next = |n: usize| json!({ "anyOf": vec![json!({ "$ref": format!("#/$defs/{}", n + 1) }); 4] });
    let defs: Map<String, Value> = (0..19).map(|n| (n.to_string(), next(n))).collect();
    let mut wide = json!({ "$ref": "#/$defs/0", "$defs": defs });
    wide["$defs"]["19"] = json!({ "type": "string" });
    assert_eq!(count(&wide, 20_000), (Fit::Unsure, true));
}
