//! Arguments and schemas: what stays, what goes, what is refused.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Changed, Inputs, Refusal};
use crate::settings::{InputRule, InputSettings, Personal, SecretInputs, UnknownInputs};

fn inputs(unknown: UnknownInputs, secrets: SecretInputs) -> Inputs {
    let rule = InputRule { unknown, secrets, personal: Personal::ALL.to_vec() };
    Inputs::new(&InputSettings { rule, tools: Vec::new() })
}

fn call(arguments: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#)
}

/// The arguments that are left, as text.
#[track_caller]
fn left(schema: &Value, arguments: &str) -> String {
    let inputs = inputs(UnknownInputs::Drop, SecretInputs::Pass);
    let text = call(arguments);
    let (out, changed) = inputs.rule("t").apply(&text, Some(schema), None).expect("no refusal");
    assert_eq!(changed.is_any(), out != text.as_str(), "{out}");
    let (before, after) = text.split_once(arguments).expect("the arguments");
    out.strip_prefix(before).and_then(|out| out.strip_suffix(after)).expect("all else stays").to_owned()
}

fn refused(schema: &Value, arguments: &str) -> Option<Refusal> {
    let inputs = inputs(UnknownInputs::Refuse, SecretInputs::Pass);
    inputs.rule("t").apply(&call(arguments), Some(schema), None).err()
}

/// A schema, arguments, and what is left of them. What is left of itself is all of it.
type Case = (Value, &'static str, &'static str);

fn cases() -> Vec<Case> {
    [plain_cases(), combined_cases(), deep_cases()].concat()
}

fn plain_cases() -> Vec<Case> {
    vec![
        (json!({ "properties": { "a": {} } }), r#"{"a": 1.00e2 , "b":[2] }"#, r#"{"a": 1.00e2 }"#),
        (json!({ "properties": { "a": {} } }), r#"{"\u0061":1,"\u0062":2}"#, r#"{"\u0061":1}"#),
        (json!({ "properties": {} }), r#"{"b":2}"#, "{}"),
        // Nothing is said of members.
        (json!({ "type": "object" }), r#"{"b":2}"#, r#"{"b":2}"#),
        (json!(true), r#"{"b":2}"#, r#"{"b":2}"#),
        (json!({ "type": "object", "additionalProperties": false }), r#"{"b":2}"#, "{}"),
        (json!(false), r#"{"b":2}"#, r#"{"b":2}"#),
        (json!({ "properties": { "a": {} }, "additionalProperties": true }), r#"{"b":{"c":1}}"#, r#"{"b":{"c":1}}"#),
        (
            json!({ "properties": { "a": {} }, "additionalProperties": { "properties": { "c": {} } } }),
            r#"{"b":{"c":1,"d":2}}"#,
            r#"{"b":{"c":1}}"#,
        ),
        (json!({ "properties": {}, "unevaluatedProperties": { "type": "string" } }), r#"{"b":"x"}"#, r#"{"b":"x"}"#),
        (
            json!({ "patternProperties": { "^x-": { "properties": { "c": {} } } } }),
            r#"{"x-a":{"c":1,"d":1},"y":1}"#,
            r#"{"x-a":{"c":1}}"#,
        ),
        // What is named has no need of what holds for all others.
        (
            json!({ "properties": { "a": { "properties": {} } }, "additionalProperties": true }),
            r#"{"a":{"b":1}}"#,
            r#"{"a":{}}"#,
        ),
    ]
}

fn combined_cases() -> Vec<Case> {
    vec![
        (
            json!({ "allOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }] }),
            r#"{"a":1,"b":2,"c":3}"#,
            r#"{"a":1,"b":2}"#,
        ),
        (
            json!({ "anyOf": [{ "type": "null" }, { "properties": { "b": {} } }, true] }),
            r#"{"a":1,"b":2}"#,
            r#"{"b":2}"#,
        ),
        (
            json!({ "properties": { "k": {} }, "if": { "properties": { "k": { "const": 1 } } }, "then": { "properties": { "a": {} } }, "else": { "properties": { "b": {} } } }),
            r#"{"k":1,"a":1,"b":1,"c":1}"#,
            r#"{"k":1,"a":1,"b":1}"#,
        ),
        (
            json!({ "properties": { "a": {} }, "dependentSchemas": { "a": { "properties": { "b": {} } } } }),
            r#"{"a":1,"b":1,"c":1}"#,
            r#"{"a":1,"b":1}"#,
        ),
    ]
}

fn deep_cases() -> Vec<Case> {
    let person = json!({ "type": "object", "properties": { "name": { "type": "string" }, "boss": { "$ref": "#/$defs/person" } } });
    vec![
        (
            json!({ "properties": { "p": { "$ref": "#/$defs/person" } }, "$defs": { "person": person } }),
            r#"{"p":{"name":"a","boss":{"boss":{"name":"b","age":2},"age":1}}}"#,
            r#"{"p":{"name":"a","boss":{"boss":{"name":"b"}}}}"#,
        ),
        (
            json!({ "$ref": "#/%24defs/a~1b", "$defs": { "a/b": { "properties": { "c": {} } } } }),
            r#"{"c":1,"d":1}"#,
            r#"{"c":1}"#,
        ),
        (
            json!({ "$ref": "#here", "$defs": { "x": { "$anchor": "here", "properties": { "c": {} } } } }),
            r#"{"c":1,"d":1}"#,
            r#"{"c":1}"#,
        ),
        // A reference to itself, and one whose target is not known.
        (json!({ "$ref": "#", "properties": { "c": {} } }), r#"{"c":1,"d":1}"#, r#"{"c":1}"#),
        (
            json!({ "properties": { "c": { "$ref": "https://a.example/x" } } }),
            r#"{"c":{"d":1},"d":1}"#,
            r#"{"c":{"d":1}}"#,
        ),
        (
            json!({ "properties": { "l": { "items": { "properties": { "a": {} } } } } }),
            r#"{"l":[{"a":1,"b":1},7,[{"b":1}],{"b":1}]}"#,
            r#"{"l":[{"a":1},7,[{"b":1}],{}]}"#,
        ),
        (
            json!({ "properties": { "l": { "prefixItems": [{ "properties": { "a": {} } }], "items": { "properties": { "b": {} } } } } }),
            r#"{"l":[{"a":1,"b":1},{"a":1,"b":1}]}"#,
            r#"{"l":[{"a":1},{"b":1}]}"#,
        ),
        // Every level with unknown members, the first and the last, next to each other.
        (
            json!({ "properties": { "a": { "properties": { "b": {} } } } }),
            r#"{"x":1,"y":{"a":1},"a":{"x":1,"b":[],"y":2},"z":3}"#,
            r#"{"a":{"b":[]}}"#,
        ),
        (json!({ "properties": { "a": {} } }), "[1]", "[1]"),
        (json!({ "properties": { "a": {} } }), "null", "null"),
    ]
}

#[test]
fn what_the_schema_does_not_name_is_left_out() {
    for (schema, arguments, expected) in cases() {
        assert_eq!(left(&schema, arguments), expected, "{schema}");
        assert_eq!(left(&schema, expected), expected, "{schema}");
    }
}

#[test]
fn or_the_call_is_refused_at_its_first_place() {
    for (schema, arguments, expected) in cases() {
        let refusal = refused(&schema, arguments);
        assert_eq!(refusal.is_some(), arguments != expected, "{schema} {arguments} {refusal:?}");
        assert_eq!(refused(&schema, expected), None, "{schema}");
    }
    let schema = json!({ "properties": { "l": { "items": { "properties": {} } } } });
    assert_eq!(refused(&schema, r#"{"l":[{},{"a/b~":1}]}"#), Some(Refusal::Unknown("/l/1/a~1b~0".to_owned())));
}

#[test]
fn work_is_bounded() {
    let wide = json!({ "anyOf": (0..900).map(|n| json!({ "properties": { "a": { "type": "object", "title": n } } })).collect::<Vec<_>>() });
    let schema = json!({ "properties": { "l": { "items": wide } } });
    let arguments = format!(r#"{{"l":[{}]}}"#, vec![r#"{"a":{"a":{}}}"#; 200].join(","));
    for unknown in [UnknownInputs::Drop, UnknownInputs::Refuse] {
        let begun = std::time::Instant::now();
        let refusal = inputs(unknown, SecretInputs::Pass).rule("t").apply(&call(&arguments), Some(&schema), None).err();
        assert!(matches!(refusal, Some(Refusal::Unchecked(_))), "{refusal:?}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(10));
    }
}

#[test]
fn secrets_and_personal_data_are_masked_or_refused() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mask = inputs(UnknownInputs::Pass, SecretInputs::Mask);
    let refuse = inputs(UnknownInputs::Pass, SecretInputs::Refuse);
    for (arguments, hidden) in [
        (format!(r#"{{"n": 1.0 ,"text":"use {secret} now"}}"#), secret),
        (r#"{"password":"hunter2hunter2"}"#.to_owned(), "hunter2"),
        (r#"{"to":["ann@example.org"]}"#.to_owned(), "ann@"),
        (r#"{"ann@example.org":1}"#.to_owned(), "ann@"),
        (r#"{"json":"{\"to\":\"ann@example.org\"}"}"#.to_owned(), "ann@"),
        (r#"{"card":4111111111111111}"#.to_owned(), "4111"),
        (r#""ann@example.org""#.to_owned(), "ann@"),
    ] {
        let text = call(&arguments);
        let (out, changed) = mask.rule("t").apply(&text, None, None).expect("masked");
        assert!(changed.is_masked && !out.contains(hidden), "{out}");
        serde_json::from_str::<Value>(&out).expect("JSON");
        assert_eq!(refuse.rule("t").apply(&text, None, None).err(), Some(Refusal::Secret), "{arguments}");
    }
    for arguments in [r#"{"text" :"nothing, 1.50e3","n":[ ]}"#, "{}", "null"] {
        let text = call(arguments);
        for inputs in [&mask, &refuse] {
            assert_eq!(inputs.rule("t").apply(&text, None, None), Ok((text.as_str().into(), Changed::default())));
        }
    }
}

/// It is the gateway's: a server need not name it, and a masked one would be that of other calls.
#[test]
fn the_gateways_own_argument_stays_as_it_is() {
    let (own, schema) = (Some("idempotency_key"), json!({ "properties": { "to": {} } }));
    let rule = |unknown| inputs(unknown, SecretInputs::Mask);
    let key = r#""idempotency_key":"ghp_0123456789abcdefghijABCDEFGHIJ012345""#;
    let text = call(&format!(r#"{{"to":1, {key}}}"#));
    for unknown in [UnknownInputs::Drop, UnknownInputs::Refuse] {
        let (out, changed) = rule(unknown)
            .rule("t")
            .apply(&text, Some(&schema), own)
            .map(|(out, changed)| (out.into_owned(), changed))
            .expect("it passes");
        assert_eq!((out.as_str(), changed.is_any()), (text.as_str(), false));
    }
    let text = call(&format!(r#"{{"to":"ann@example.org",{key},"x":1}}"#));
    let inputs = rule(UnknownInputs::Drop);
    let (out, _) = inputs.rule("t").apply(&text, Some(&schema), own).expect("it passes");
    assert_eq!(out, call(&format!(r#"{{{key},"to":"[email]"}}"#)));
    let refused = rule(UnknownInputs::Refuse);
    let inner = call(&format!(r#"{{"to":{{{key}}},{key},"x":1}}"#));
    assert_eq!(refused.rule("t").apply(&inner, Some(&schema), own).err(), Some(Refusal::Unknown("/x".to_owned())));
    assert!(inputs.rule("t").apply(&text, Some(&schema), None).is_ok_and(|(out, _)| !out.contains("ghp_")));
}

proptest! {
    /// What is dropped is what is unknown: of random members of a flat object, those that are named stay, in order.
    #[test]
    fn of_a_flat_object_the_named_members_stay(names in prop::collection::vec("[a-f]", 0..8), known in prop::collection::btree_set("[a-f]", 0..5)) {
        let names: std::collections::BTreeSet<_> = names.into_iter().collect();
        let properties: Map<_, _> = known.iter().map(|name| (name.clone(), json!({}))).collect();
        let text = |names: Vec<&String>| format!("{{{}}}", names.iter().map(|name| format!("\"{name}\":1")).collect::<Vec<_>>().join(","));
        let all = text(names.iter().collect());
        let expected = text(names.iter().filter(|name| known.contains(*name)).collect());
        prop_assert_eq!(left(&json!({ "properties": properties }), &all), expected);
    }
}

/// A server may chain references as it likes, and a client may send many members: neither takes the stack or the time.
#[test]
fn chains_and_crowds_take_neither_stack_nor_time() {
    let definitions: Map<String, Value> =
        (0..50_000).map(|n| (n.to_string(), json!({ "$ref": format!("#/$defs/{}", n + 1) }))).collect();
    let chain = json!({ "$ref": "#/$defs/0", "$defs": definitions });
    let few = std::thread::Builder::new().stack_size(256 << 10);
    let refusal = few.spawn(move || refused(&chain, "{\"a\":1}")).expect("a thread").join().expect("no overflow");
    assert!(matches!(refusal, Some(Refusal::Unchecked(_))), "{refusal:?}");
    let crowd: Vec<_> = (0..90_000).map(|n| format!("\"m{n}\":1")).collect();
    let begun = std::time::Instant::now();
    assert_eq!(left(&json!({ "properties": {} }), &format!("{{{}}}", crowd.join(","))), "{}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}
