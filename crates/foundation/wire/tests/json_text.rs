//! The reader of JSON text against `serde_json`: the same texts are JSON, the same pointers lead to the same values.

mod cases;

use proptest::collection::vec;
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;
use wire::json::{self, Outline, Tokens, Why};
use wire::message::{Packet, parse};
use wire::pointer;

fn value() -> impl Strategy<Value = Value> {
    let name = "[ab/~\"\\\\é\n]{0,3}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\"\\\\/\u{0}-\u{1f}é😀]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((name, inner), 0..5).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An object in which names may stand twice, at any depth; some have many names.
fn repeating() -> impl Strategy<Value = String> {
    let object = |names: Vec<(String, String)>| {
        let members: Vec<_> = names.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let leaf = prop_oneof![Just("1".to_owned()), Just("\"params\"".to_owned()), Just("[]".to_owned())];
    let inner = leaf.prop_recursive(3, 40, 20, move |inner| {
        prop_oneof![
            4 => vec(("[a-h]|\\\\u006[1-8]", inner.clone()), 0..4).prop_map(object),
            1 => vec(("[a-z]{1,2}", inner.clone()), 14..24).prop_map(object),
            1 => vec(inner, 0..3).prop_map(|all| format!("[{}]", all.join(","))),
        ]
    });
    vec(("[a-h]", inner), 0..4).prop_map(object)
}

fn text() -> impl Strategy<Value = String> {
    (value(), any::<bool>())
        .prop_map(|(value, pretty)| if pretty { format!("\r\n{value:#}\t") } else { value.to_string() })
}

fn mutated() -> impl Strategy<Value = String> {
    let with = "[\\[\\]{}\",:0-9eE+.\\\\utfn\u{1} \u{a0}é-]{0,2}";
    (text(), vec((any::<prop::sample::Index>(), 0_usize..3, with), 1..3)).prop_map(|(text, changes)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (place, removed, inserted) in changes {
            let at = place.index(chars.len() + 1);
            let end = (at + removed).min(chars.len());
            chars.splice(at..end, inserted.chars());
        }
        chars.into_iter().collect()
    })
}

/// Reads to the end; the fault if there is one. Checks what holds for every token.
fn tokens(text: &str) -> Result<(), json::Fault> {
    let mut tokens = Tokens::new(text);
    let mut last = 0;
    while let Some((_, span)) = tokens.next_token()? {
        assert!(last <= span.start && span.start < span.end && span.end <= text.len());
        assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
        last = span.end;
    }
    Ok(())
}

fn agrees(text: &str) {
    let ours = tokens(text);
    let theirs = serde_json::from_str::<IgnoredAny>(text);
    assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?}, {theirs:?}");
    assert_eq!(json::outline(text).map(drop), ours, "{text:?}");
    if let Err(fault) = ours {
        assert!(text.is_char_boundary(fault.at), "{text:?}: {fault}");
        assert!(fault.why != Why::Ends || fault.at == text.len(), "{text:?}: {fault}");
    }
}

/// Every pointer into `value` and what it leads to.
fn pointers(value: &Value, at: String, all: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                pointers(value, pointer::member(&at, name), all);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                pointers(value, format!("{at}/{index}"), all);
            }
        }
        _ => {}
    }
    all.push((at, value.clone()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases::at_least(1500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(text in "[\\[\\]{}\",:0-9eE+.\\\\utfnralse\u{1} \n\u{a0}é-]{0,12}") {
        agrees(&text);
    }

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..20)) {
        let text = String::from_utf8_lossy(&bytes);
        agrees(&text);
    }

    #[test]
    fn valid_and_mutated_texts(valid in text(), mutated in mutated()) {
        prop_assert!(tokens(&valid).is_ok());
        agrees(&mutated);
    }

    #[test]
    fn pointers_lead_to_the_same_value(text in text()) {
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut all = Vec::new();
        pointers(&value, String::new(), &mut all);
        for (pointer, expected) in all {
            let span = json::locate(&text, &pointer);
            let found = span.map(|span| serde_json::from_str::<Value>(&text[span]).unwrap());
            prop_assert_eq!(found, Some(expected), "{} in {}", pointer, text);
        }
    }

    #[test]
    fn wrong_pointers_lead_nowhere(text in text(), pointer in "(/[ab~0-9+]{0,2}){0,3}|[a/]{1,3}") {
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(json::locate(&text, &pointer).is_some(), value.pointer(&pointer).is_some(), "{} in {}", pointer, text);
    }

    #[test]
    fn a_repeated_name_is_found(names in vec("[abc]|\\\\u006[1-3]", 0..5), nested in any::<bool>()) {
        let object = format!("{{{}}}", names.iter().map(|n| format!("\"{n}\":[{{}}]")).collect::<Vec<_>>().join(","));
        let text = if nested { format!("[1,{{\"x\":{object}}}]") } else { object };
        let plain = |name: &String| name.chars().last().map(|c| if name.len() > 1 { (c as u8 - b'1' + b'a') as char } else { c });
        let repeated = names.iter().enumerate().find(|(i, n)| names[..*i].iter().any(|other| plain(other) == plain(n)));
        let found = json::duplicate_name(&text);
        prop_assert_eq!(found.as_ref().map(|d| d.name.chars().next()), repeated.map(|(_, n)| plain(n)));
        if let (Some(found), Some((_, name))) = (found, repeated) {
            let rest = &text[found.at + 1..];
            prop_assert!(rest.starts_with(name.as_str()), "{}", rest);
        }
    }

    #[test]
    fn a_request_knows_the_name_that_stands_twice_in_its_parameters(
        params in repeating(), others in repeating(), name in "params|par\\\\u0061ms|x", before in any::<bool>(),
    ) {
        for params in [format!("[{params}]"), params] {
            let (params, others) = (format!("\"{name}\":{params}"), format!("\"other\":{others}"));
            let members = if before { format!("{others},{params}") } else { format!("{params},{others}") };
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m",{members}}}"#);
            let Ok(Packet::Message(message)) = parse(text.as_bytes()) else { panic!("{text}") };
            let expected = message.body_text().and_then(json::duplicate_name).map(|found| found.name);
            prop_assert_eq!(message.repeated_parameter(), expected.as_deref(), "{}", text);
        }
    }

    #[test]
    fn strings_are_unquoted_as_serde_does(text in any::<String>(), units in vec(any::<u16>(), 0..6)) {
        let quoted = Value::from(text.as_str()).to_string();
        prop_assert_eq!(json::unquote(&quoted), text);
        let escaped = units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat();
        let quoted = format!("\"{escaped}\"");
        prop_assert_eq!(json::unquote(&quoted), String::from_utf16_lossy(&units));
    }

    #[test]
    fn a_string_says_what_it_is_unquoted_to(
        pieces in vec(prop::sample::select(vec!["a", "n", "\\u0061", "\\\\", "\\n", "é", "\\ud800"]), 0..5),
        other in "[an\\\\\né\u{fffd}]{0,4}",
    ) {
        let quoted = format!("\"{}\"", pieces.concat());
        for text in [json::unquote(&quoted).into_owned(), pieces.concat(), other] {
            prop_assert_eq!(json::says(&quoted, &text), json::unquote(&quoted) == text, "{} and {}", quoted, text);
        }
    }
}

#[test]
fn long_strings_are_looked_at_byte_by_byte() {
    for special in ["\"", "\\", "\\n", "\u{0}", "\u{1f}", "\u{20}", "\u{7f}", "é"] {
        for at in 0..100 {
            agrees(&format!("\"{}{special}{}\"", "x".repeat(at), "y".repeat(100 - at)));
            agrees(&format!("[\"\\t{}{special}\", 1]", "x".repeat(at)));
        }
    }
}

#[test]
fn both_readers_stop_at_the_same_depth() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nest = |depth: usize| format!("{}0{}", open.repeat(depth), close.repeat(depth));
        let (fits, deep) = (nest(json::DEPTH_LIMIT), nest(json::DEPTH_LIMIT + 1));
        assert!(json::outline(&fits).is_ok() && serde_json::from_str::<Value>(&fits).is_ok());
        assert_eq!(json::outline(&deep).map_err(|f| f.why), Err(Why::TooDeep));
        assert!(serde_json::from_str::<Value>(&deep).is_err());
    }
    assert_eq!(tokens(&"[".repeat(10_000_000)).map_err(|f| f.at), Err(json::DEPTH_LIMIT));
}

#[test]
fn faults_say_what_and_where() {
    for (text, at, why) in [
        ("", 0, Why::Ends),
        (" \n", 2, Why::Ends),
        ("{\"a\":1", 6, Why::Ends),
        ("\"abc", 4, Why::Ends),
        ("\"\\u00", 5, Why::Ends),
        ("\"\\u00\"", 2, Why::Escape),
        ("\"\\x\"", 2, Why::Escape),
        ("\"a\nb\"", 2, Why::Control),
        ("[1,]", 3, Why::Unexpected),
        ("{,}", 1, Why::Unexpected),
        ("{\"a\" 1}", 5, Why::Unexpected),
        ("[1}", 2, Why::Unexpected),
        ("nul!", 3, Why::Unexpected),
        ("\u{feff}{}", 0, Why::Unexpected),
        ("{} x", 3, Why::Trailing),
        ("01", 1, Why::Number),
        ("1.", 2, Why::Number),
        ("-", 1, Why::Number),
    ] {
        assert_eq!(json::outline(text), Err(json::Fault { at, why }), "{text:?}");
    }
    assert!(matches!(json::outline("{\"a\":1,\"a\":[]}"), Ok(Outline::Object(members)) if members.len() == 2));
}
