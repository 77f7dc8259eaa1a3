//! What each matcher accepts and rejects, and the errors of invalid matchers.

use serde_json::{Value, json};

use super::{At, Matcher};

#[track_caller]
fn read(matcher: &Value) -> Matcher {
    Matcher::read(matcher, &mut |at, wrong| panic!("{at}: {wrong:?}"))
}

#[test]
fn each_matcher_accepts_and_rejects() {
    for (matcher, fits, does_not) in [
        (json!(1), json!(1.0), json!(2)),
        // As doubles, the last two are equal.
        (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0)),
        (json!("a"), json!("a"), json!("b")),
        (json!([1, "x"]), json!([1, "x"]), json!(["x", 1])),
        (json!({ "equals": { "a": 1 } }), json!({ "a": 1 }), json!({ "a": 1, "b": 2 })),
        (json!({ "contains": "lo" }), json!("Oslo"), json!("Bergen")),
        (json!({ "contains": { "a": 1 } }), json!([{ "a": 1, "b": 2 }]), json!([{ "a": 2 }])),
        (json!({ "contains": { "a": { "b": 1 } } }), json!({ "a": { "b": 1, "c": 2 } }), json!({ "a": 1 })),
        (json!({ "matches": "^[a-z]+$" }), json!("abc"), json!(7)),
        (json!({ "type": "integer" }), json!(7), json!(7.5)),
        (json!({ "type": "null" }), json!(null), json!(0)),
        (json!({ "length": 2 }), json!("é!"), json!([1])),
        (json!({ "length": { "max": 1 } }), json!({ "a": 1 }), json!(1)),
        (json!({ "range": [1, 2] }), json!(2), json!(2.1)),
        (json!({ "range": { "min": 0 } }), json!(0), json!("0")),
        (json!({ "schema": { "type": "object", "required": ["a"] } }), json!({ "a": 1 }), json!({})),
        // The first item fits both matchers, the second only one: a greedy match would fail.
        (json!({ "unordered": [{ "type": "number" }, 1] }), json!([1, 2]), json!([2, 3])),
        (json!({ "unordered": [1, 2] }), json!([2, 1]), json!([1, 2, 2])),
        (json!({ "anyOf": [1, { "contains": "x" }] }), json!("xy"), json!(2)),
        (json!({ "not": { "equals": 1 } }), json!(2), json!(1)),
        (json!({ "type": "string", "length": 1 }), json!("a"), json!("ab")),
    ] {
        let read = read(&matcher);
        assert_eq!(read.judge(&fits, &Value::Null), Ok(()), "{matcher} on {fits}");
        assert!(read.judge(&does_not, &Value::Null).is_err(), "{matcher} on {does_not}");
    }
}

#[test]
fn variables_are_filled_in() {
    let matcher = read(&json!({ "equals": "{{ vars.city }}!" }));
    assert_eq!(matcher.names(), ["city"]);
    assert!(matcher.judge(&json!("Oslo!"), &json!({ "city": "Oslo" })).is_ok());
    assert_eq!(
        matcher.judge(&json!("Rome"), &json!({ "city": "Oslo" })).unwrap_err().expected_value,
        Some(json!("Oslo!"))
    );
}

#[test]
fn errors_name_the_place_and_a_remedy() {
    for (matcher, at, what, remedy) in [
        (json!({ "contians": 1 }), "/contians", "unknown matcher `contians`", "`contains`"),
        (json!({ "not": { "typ": "x" } }), "/not/typ", "unknown matcher", "`type`"),
        (json!({ "type": "text" }), "/type", "unknown type", "string"),
        (json!({ "matches": "(" }), "/matches", "not a regular expression", "single quotes"),
        (json!({ "length": "x" }), "/length", "invalid `length`", "3"),
        (json!({ "range": 3 }), "/range", "invalid `range`", "[1, 10]"),
        (json!({ "range": [3, 1] }), "/range", "3 is more than 1", "smaller"),
        (json!({ "schema": { "type": 1 } }), "/schema", "invalid JSON Schema", "schema"),
        (json!({ "anyOf": 1 }), "/anyOf", "not a list", "list"),
        (json!({}), "", "empty matcher", "equals"),
        (json!({ "equals": "{{ x }}" }), "/equals", "`x`", "vars.NAME"),
        (json!({ "not": { "exists": true } }), "/not/exists", "directly under a path", "path"),
    ] {
        let mut wrongs = Vec::new();
        Matcher::read(&matcher, &mut |at, wrong| wrongs.push((at.to_owned(), wrong)));
        let [(place, wrong)] = wrongs.as_slice() else { panic!("{matcher}: {wrongs:?}") };
        assert_eq!(place, at, "{matcher}");
        assert!(wrong.what.contains(what) && wrong.remedy.contains(remedy), "{matcher}: {wrong:?}");
    }
}

#[test]
fn exists_false_stands_alone() {
    let mut wrongs = 0;
    At::read(&json!({ "exists": false, "equals": 1 }), &mut |_, _| wrongs += 1);
    assert_eq!(wrongs, 1);
    let at = At::read(&json!({ "count": { "min": 2 }, "type": "string" }), &mut |_, wrong| panic!("{wrong:?}"));
    assert!(at.count.unwrap().hold(2.0) && !at.count.unwrap().hold(1.0));
    assert!(at.each.judge(&json!(1), &Value::Null).is_err());
}
