//! What is written is what `serde_json` writes, whatever the value.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::write;

fn written<T: Serialize + ?Sized>(value: &T) -> String {
    let mut out = Vec::new();
    write(&mut out, value).expect("this can be written");
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[ -~\"\\\\\u{0}-\u{1f}]{0,200}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..6).prop_map(|pairs| Value::from(Map::from_iter(pairs))),
        ]
    })
}

proptest! {
    #[test]
    fn it_writes_what_serde_json_writes(value in values()) {
        prop_assert_eq!(written(&value), value.to_string());
    }

    #[test]
    fn a_special_character_is_found_at_every_offset(before in 0..100_usize, after in 0..100_usize, byte in 0..128_u8) {
        let text = format!("{}{}{}", "ä".repeat(before), char::from(byte), "x".repeat(after));
        prop_assert_eq!(written(&text), Value::from(text).to_string());
    }
}

#[derive(Serialize)]
enum Kind {
    Unit,
    New(u8),
    Tuple(i8, char),
    Struct { a: f32 },
}

#[derive(Serialize)]
struct Nothing;

#[derive(Serialize)]
struct Pair(u16, Option<i32>);

#[derive(Serialize)]
struct All {
    kinds: Vec<Kind>,
    nothing: Nothing,
    pair: Pair,
    tuple: (u32, i16, u128, i128),
    by_number: BTreeMap<i64, bool>,
    by_letter: BTreeMap<char, Option<u8>>,
    by_truth: BTreeMap<bool, f64>,
    not_numbers: [f64; 2],
    #[serde(flatten)]
    more: Value,
}

#[test]
fn it_writes_every_kind_as_serde_json_does() {
    let all = All {
        kinds: vec![Kind::Unit, Kind::New(1), Kind::Tuple(-1, '"'), Kind::Struct { a: 0.1 }],
        nothing: Nothing,
        pair: Pair(1, None),
        tuple: (1, -1, u128::MAX, i128::MIN),
        by_number: [(-1, true), (2, false)].into(),
        by_letter: [('\n', None)].into(),
        by_truth: [(true, 1.0), (false, 1e300)].into(),
        not_numbers: [f64::NAN, f64::INFINITY],
        more: json!({ "x": [], "y": {} }),
    };
    assert_eq!(written(&all), serde_json::to_string(&all).expect("serde_json writes it"));
}

#[test]
fn what_serde_json_alone_understands_is_refused() {
    let raw = serde_json::value::RawValue::from_string("1".to_owned()).expect("JSON");
    assert!(write(&mut Vec::new(), &raw).is_err());
    assert!(write(&mut Vec::new(), &BTreeMap::from([(vec![1], 1)])).is_err());
}
