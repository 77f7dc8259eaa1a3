//! Matchers: what each accepts and rejects, and what is wrong with one.

use serde_json::{Value, json};

use super::Matcher;

fn read(value: &Value) -> Result<Matcher, Vec<String>> {
    let mut errors = Vec::new();
    let matcher = Matcher::read(value, &mut |at, what, _| errors.push(format!("{at}: {what}")));
    if errors.is_empty() { Ok(matcher) } else { Err(errors) }
}

fn accepts(matcher: &Value, value: &Value) -> bool {
    read(matcher).unwrap_or_else(|errors| panic!("{matcher}: {errors:?}")).judge(value).is_ok()
}

#[test]
fn every_matcher_accepts_and_rejects() {
    for (matcher, good, bad) in [
        (json!(1), json!(1.0), json!(true)),
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
        (json!("a"), json!("a"), json!("A")),
        (json!([1, 2]), json!([1, 2.0]), json!([2, 1])),
        (json!({ "equals": { "a": 1 } }), json!({ "a": 1 }), json!({ "a": 1, "b": 2 })),
        (json!({ "contains": "b" }), json!("abc"), json!("ac")),
        (json!({ "contains": { "a": 1 } }), json!({ "a": 1, "b": 2 }), json!({ "b": 2 })),
        (json!({ "matches": "^[a-z]+$" }), json!("abc"), json!("a1")),
        (json!({ "type": "integer" }), json!(2.0), json!(2.5)),
        (json!({ "length": { "min": 2 } }), json!("üü"), json!("ü")),
        (json!({ "range": [1, 3] }), json!(3), json!(3.5)),
        (json!({ "tolerance": { "of": 10, "by": 0.5 } }), json!(10.5), json!(10.6)),
        (json!({ "tolerance": { "of": 0.3, "by": 0.1 } }), json!(0.4), json!(0.4001)),
        (json!({ "tolerance": { "of": -100, "percent": 5 } }), json!(-95), json!(-94.9)),
        (json!({ "date": "2026-11-26T09:30:00Z" }), json!("2026-11-26T10:30:00+01:00"), json!("2026-11-26")),
        (json!({ "schema": { "type": "object", "required": ["a"] } }), json!({ "a": 1 }), json!({})),
        (json!({ "set": [1, { "range": [0, 9] }] }), json!([5, 1]), json!([5, 6])),
        (json!({ "unordered": [{ "range": [0, 9] }, 1] }), json!([1, 5]), json!([1])),
        (json!({ "subset": ["a", "b"] }), json!(["b"]), json!(["b", "c"])),
        (json!({ "items": [1, { "type": "string" }] }), json!([1, "x"]), json!([1, "x", 2])),
        (json!({ "members": { "a": 1, "b": { "optional": 2 } } }), json!({ "a": 1 }), json!({ "a": 1, "b": 3 })),
        (json!({ "members": { "a": 1 } }), json!({ "a": 1 }), json!({ "a": 1, "c": 3 })),
        (json!({ "text": "New  york" }), json!(" new York"), json!("newyork")),
        (json!({ "anyOf": ["a", { "range": [1, 2] }] }), json!(1), json!("b")),
        (json!({ "not": "a" }), json!("b"), json!("a")),
        (json!({ "type": "string", "length": 2 }), json!("ab"), json!("abc")),
        (json!({ "optional": "a" }), json!("a"), json!("b")),
    ] {
        assert!(accepts(&matcher, &good), "{matcher} must accept {good}");
        assert!(!accepts(&matcher, &bad), "{matcher} must reject {bad}");
    }
    assert!(accepts(&json!({ "ignore": true }), &Value::Null) && !accepts(&json!({ "absent": true }), &Value::Null));
}

#[test]
fn a_mismatch_says_where() {
    let matcher = read(&json!({ "members": { "a": { "items": [1, { "range": [0, 5] }] } } })).unwrap();
    let mismatch = matcher.judge(&json!({ "a": [1, 9] })).unwrap_err();
    assert_eq!((mismatch.pointer.as_str(), mismatch.expected.as_str()), ("/a/1", "a number from 0 to 5"));
    assert_eq!(mismatch.actual, "9");
}

#[test]
fn wrong_matchers_are_reported_with_their_place() {
    for (matcher, error) in [
        (json!({}), ": empty matcher"),
        (json!({ "equal": 1 }), "/equal: unknown matcher `equal`"),
        (json!({ "matches": "(" }), "/matches: `(` is not a regular expression: unclosed group"),
        (json!({ "range": 3 }), "/range: invalid `range`: neither two numbers nor `min` and `max`"),
        (json!({ "range": [3, 1] }), "/range: invalid `range`: 3 is more than 1"),
        (json!({ "anyOf": [] }), "/anyOf: `anyOf` is empty: nothing can match"),
        (json!({ "not": { "date": "soon" } }), "/not/date: \"soon\" is no date"),
        (json!({ "ignore": false }), "/ignore: `ignore` is not `true`"),
        (json!({ "tolerance": { "of": 1, "by": -1 } }), "/tolerance: invalid `tolerance`"),
        (json!({ "schema": { "type": "strin" } }), "/schema: unusable JSON Schema"),
    ] {
        let errors = read(&matcher).unwrap_err();
        assert!(errors.len() == 1 && errors[0].starts_with(error), "{matcher}: {errors:?}");
    }
}

#[test]
fn deep_matchers_are_refused() {
    let deep = (0..40).fold(json!(1), |inner, _| json!({ "not": inner }));
    assert_eq!(read(&deep).unwrap_err().len(), 1);
}
