//! Values learnt from answers.

use schema::Rng;
use serde_json::{Map, Value, json};

use super::{Learnt, Success, Values, corrected, variants, words};

fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other}"),
    }
}

#[test]
fn a_text_names_what_it_lists_quotes_or_numbers() {
    assert_eq!(
        words::named("There is no branch x. Branches: harbour, hillside, station."),
        ["harbour", "hillside", "station"]
    );
    assert_eq!(words::named("Renew a loan by its number, such as L-1001"), ["L-1001"]);
    assert_eq!(words::named("One of \"left\" and `right`"), ["left", "right"]);
    assert_eq!(words::named("Gives back what it is given."), Vec::<String>::new());
}

#[test]
fn answers_hold_what_other_calls_take() {
    let mut values = Values::default();
    values.read(&json!({ "structuredContent": { "books": [{ "isbn": "9780141439518", "year": 1813 }] } }));
    values.read(&json!({ "content": [{ "type": "text", "text": "{\"shelf_mark\": \"A-001\"}" }] }));
    values.read(&json!({ "contents": [{ "uri": "https://example.com/", "text": "See L-1001." }] }));
    let text = json!({ "type": "string" });
    assert_eq!(values.proposed("isbn", &text), [json!("9780141439518")]);
    assert_eq!(values.proposed("bookIsbn", &text), [json!("9780141439518")]);
    assert_eq!(values.proposed("shelfmark", &text), [json!("A-001")]);
    assert_eq!(values.proposed("uri", &text), Vec::<Value>::new());
    assert_eq!(values.proposed("loan", &json!({ "type": "string", "pattern": "^L-" })), [json!("L-1001")]);
    assert_eq!(values.proposed("isbn", &json!({ "type": "integer" })), Vec::<Value>::new());
}

#[test]
fn variants_are_valid_and_use_what_was_learnt() {
    let mut values = Values::default();
    values.note("isbn", &json!("9780141439518"));
    let schema = json!({ "type": "object", "additionalProperties": false, "required": ["isbn"], "properties": {
        "isbn": { "type": "string", "pattern": "^[0-9]{13}$" },
        "order": { "enum": ["up", "down"] },
        "delay_seconds": { "type": "number" },
        "filter": { "type": "object", "properties": { "since": { "type": "integer" } } },
    }});
    let made = variants(&schema, &values, &Rng::plain());
    assert_eq!(made[0], arguments(json!({ "isbn": "9780141439518" })));
    assert!(["isbn", "filter", "order"].iter().all(|name| made[1].contains_key(*name)));
    assert!(made.iter().any(|one| one.get("order") == Some(&json!("down"))));
    assert!(made.iter().all(|one| !one.contains_key("delay_seconds")));
    assert!(made.iter().all(|one| schema::fits(&schema, &Value::Object(one.clone()))));
}

#[test]
fn a_failure_names_what_would_have_done() {
    let schema = json!({ "type": "object", "properties": { "branch": { "type": "string", "maxLength": 7 } } });
    let given = arguments(json!({ "branch": "proof" }));
    let made = corrected(&schema, &given, "There is no branch proof. Branches: harbour, hillside.");
    assert_eq!(made, [arguments(json!({ "branch": "harbour" }))]);
}

#[test]
fn a_call_that_asks_is_kept_before_one_that_does_not() {
    let learnt = Learnt::default();
    let call = |text: &str| arguments(json!({ "text": text }));
    learnt.succeeded("tool", Success::Result, &call("first"));
    learnt.succeeded("tool", Success::Result, &call("second"));
    assert_eq!(learnt.arguments("tool"), Some(call("first")));
    assert!(!learnt.asks("tool"));
    learnt.succeeded("tool", Success::Asked, &call("third"));
    assert_eq!(learnt.arguments("tool"), Some(call("third")));
    assert!(learnt.asks("tool"));
}
