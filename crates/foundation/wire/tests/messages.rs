//! Messages: generated ones are read for what they are, bad ones for what is wrong with them, and nothing panics.

#![expect(clippy::unwrap_used, reason = "tests")]

mod cases;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use wire::json::Why;
use wire::message::{self, Fault, Kind, Malformed, Packet, RequestId};

fn id() -> impl Strategy<Value = Value> {
    prop_oneof![any::<i64>().prop_map(Value::from), "[a-z\"\\\\é]{0,5}".prop_map(Value::from)]
}

fn body() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!([1, { "id": null }])),
        Just(json!({ "id": 7, "jsonrpc": 1, "_meta": { "method": "x", "progressToken": 1 } })),
    ]
}

#[derive(Clone, Debug)]
struct Built {
    kind: Kind,
    members: Vec<(&'static str, Value)>,
}

fn built() -> impl Strategy<Value = Built> {
    let error = json!({ "code": -32600, "message": "no", "data": [] });
    let shaped = (id(), "[a-z/]{0,8}", proptest::option::of(body()), body(), 0_usize..5);
    let members = move |(id, method, params, result, shape): (Value, String, Option<Value>, Value, usize)| {
        let method = ("method", Value::from(method));
        let params = params.map(|p| ("params", p));
        let (kind, own) = match shape {
            0 => (Kind::Request, [Some(("id", id)), Some(method), params]),
            1 => (Kind::Notification, [Some(method), params, None]),
            2 => (Kind::Result, [Some(("id", id)), Some(("result", result)), None]),
            3 => (Kind::Error, [Some(("id", id)), Some(("error", error.clone())), None]),
            _ => (Kind::Error, [Some(("id", Value::Null)), Some(("error", error.clone())), None]),
        };
        let always = [("jsonrpc", json!("2.0")), ("extra", json!({ "id": true }))];
        Built { kind, members: own.into_iter().flatten().chain(always).collect() }
    };
    let shuffled = |built: Built| {
        let kind = built.kind;
        Just(built.members).prop_shuffle().prop_map(move |members| Built { kind, members })
    };
    shaped.prop_map(members).prop_flat_map(shuffled)
}

impl Built {
    fn value(&self) -> Value {
        Value::Object(self.members.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect::<Map<_, _>>())
    }

    fn member(&self, name: &str) -> Option<&Value> {
        self.members.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    fn check(&self, message: &message::Message) {
        assert_eq!(message.kind(), self.kind);
        assert_eq!(message.id().cloned(), self.member("id").and_then(RequestId::from_value));
        assert_eq!(message.has_null_id(), self.member("id") == Some(&Value::Null));
        assert_eq!(message.method(), self.member("method").and_then(Value::as_str));
        assert_eq!(message.params(), self.member("params"));
        assert_eq!(message.result(), self.member("result"));
        assert_eq!(message.error(), self.member("error"));
        let body = ["params", "result", "error"].iter().find_map(|name| self.member(name));
        let text = message.body_text().map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(text.as_ref(), body);
        let parts: Map<_, _> = message
            .body_members()
            .map(|(name, value)| (name.into_owned(), serde_json::from_str::<Value>(value).unwrap()))
            .collect();
        assert_eq!(parts, body.and_then(Value::as_object).cloned().unwrap_or_default());
        assert_eq!(message.value(), &self.value());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases::at_least(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_messages_are_read_for_what_they_are(built in built(), pretty in any::<bool>()) {
        let text = if pretty { format!(" {:#}\r\n", built.value()) } else { built.value().to_string() };
        let Ok(Packet::Message(message)) = message::parse(text.as_bytes()) else { panic!("{text}") };
        prop_assert_eq!(message.text(), &text);
        built.check(&message);
    }

    #[test]
    fn a_frame_of_its_own_is_read_alike(built in built(), bytes in vec(any::<u8>(), 0..4), at in any::<prop::sample::Index>()) {
        let mut text = built.value().to_string().into_bytes();
        let at = at.index(text.len());
        text.splice(at..at, bytes);
        let (copied, kept) = (message::parse(&text), message::parse_owned(text.clone()));
        prop_assert_eq!(format!("{copied:?}"), format!("{kept:?}"));
    }

    #[test]
    fn a_batch_is_its_messages(all in vec(built(), 1..4)) {
        let text = Value::from(all.iter().map(Built::value).collect::<Vec<_>>()).to_string();
        let Ok(Packet::Batch(parts)) = message::parse(text.as_bytes()) else { panic!("{text}") };
        prop_assert_eq!(parts.len(), all.len());
        for (part, built) in parts.iter().zip(&all) {
            built.check(part.as_ref().unwrap());
        }
    }

    #[test]
    fn nothing_panics(bytes in vec(any::<u8>(), 0..30)) {
        bounded(&bytes);
    }

    #[test]
    fn nothing_panics_on_what_was_a_message(
        built in built(),
        changes in vec((any::<prop::sample::Index>(), 0_usize..9, "[\\[\\]{}\",:0a\u{0}\u{feff}]{0,2}"), 1..4),
    ) {
        let mut bytes = built.value().to_string().into_bytes();
        for (place, removed, inserted) in changes {
            let at = place.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserted.into_bytes());
        }
        bounded(&bytes);
    }

    #[test]
    fn integers_are_one_identifier_however_written(digits in "[1-9][0-9]{0,20}", zeros in 0_usize..6, minus in any::<bool>()) {
        let sign = if minus { "-" } else { "" };
        let plain = format!("{sign}{digits}{}", "0".repeat(zeros));
        let (first, rest) = digits.split_at(1);
        let exponent = rest.len() + zeros;
        for written in [
            plain.clone(),
            format!("{plain}.0"),
            format!("{plain}.000e0"),
            format!("{sign}{digits}e{zeros}"),
            format!("{sign}{digits}0E{}", i64::try_from(zeros).unwrap() - 1),
            format!("{sign}{first}.{rest}0e+{exponent}"),
            format!("{sign}0.{digits}e{}", exponent + 1),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{written},"method":"m"}}"#);
            let Ok(Packet::Message(message)) = message::parse(text.as_bytes()) else { panic!("{text}") };
            prop_assert_eq!(message.id(), Some(&RequestId::Number(plain.clone())), "{}", written);
        }
    }
}

fn bounded(bytes: &[u8]) {
    let within = |malformed: &Malformed| assert!(malformed.at <= bytes.len(), "{malformed:?}");
    match message::parse(bytes) {
        Ok(Packet::Message(message)) => drop(message.value()),
        Ok(Packet::Batch(parts)) => parts.iter().filter_map(|part| part.as_ref().err()).for_each(within),
        Err(malformed) => within(&malformed),
    }
}

/// One input for every fault; `^` stands before the byte it is at. A new fault does not compile until it is here.
fn inputs(fault: &Fault) -> &'static [&'static str] {
    match fault {
        Fault::Empty => &["^", "^ \t\r\n"],
        Fault::NotUtf8 => &["{\"a\":\"^\u{1}FF\"}"],
        Fault::NotJson(Why::Ends) => &["{\"jsonrpc\":\"2.0\"^", "[{}^"],
        Fault::NotJson(Why::Unexpected) => &["{^jsonrpc: 2}", "^hello", "^\u{feff}{}", "{\"a\":1,^}"],
        Fault::NotJson(Why::Trailing) => &["{} ^{}"],
        Fault::NotJson(Why::Control) => &["{\"a\":\"^\t\"}"],
        Fault::NotJson(Why::Escape) => &["{\"a\":\"\\^x\"}"],
        Fault::NotJson(Why::Number) => &["{\"a\":0^1}", "{\"a\":1.^}"],
        Fault::NotJson(Why::TooDeep) | Fault::TooDeep => &[],
        Fault::NotObject => &["^1", "^null", "^\"{}\""],
        Fault::EmptyBatch => &["^[]", "^ [ ]"],
        Fault::NestedBatch => &["[^[]]"],
        Fault::DuplicateMember(_) => &["{\"jsonrpc\":\"2.0\",\"id\":1,^\"id\":2,\"method\":\"m\"}"],
        Fault::JsonrpcMissing => &["^{\"id\":1,\"method\":\"m\"}", "^{}"],
        Fault::JsonrpcWrong => &["{\"jsonrpc\":^2.0,\"method\":\"m\"}", "{\"jsonrpc\":^\"1.0\"}"],
        Fault::MethodNotString => &["{\"jsonrpc\":\"2.0\",\"method\":^1}"],
        Fault::IdNull => {
            &["{\"jsonrpc\":\"2.0\",\"id\":^null,\"method\":\"m\"}", "{\"jsonrpc\":\"2.0\",\"id\":^null,\"result\":{}}"]
        }
        Fault::IdFraction => &["{\"jsonrpc\":\"2.0\",\"id\":^1.5,\"method\":\"m\"}"],
        Fault::IdType => &[
            "{\"jsonrpc\":\"2.0\",\"id\":^{},\"method\":\"m\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":^true,\"error\":{\"code\":1,\"message\":\"\"}}",
        ],
        Fault::ParamsType => &["{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":^null}"],
        Fault::RequestAndResponse => &[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",^\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",^\"error\":{},\"method\":\"m\"}",
        ],
        Fault::ResultAndError => &["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},^\"error\":{}}"],
        Fault::Nothing => &["^{\"jsonrpc\":\"2.0\",\"id\":1}"],
        Fault::ResultWithoutId => &["^{\"jsonrpc\":\"2.0\",\"result\":{}}"],
        Fault::ErrorType => {
            &["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":^\"no\"}", "{\"jsonrpc\":\"2.0\",\"error\":^[]}"]
        }
        Fault::ErrorCode => &[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":^\"1\",\"message\":\"\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":^{\"message\":\"\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":^1.5,\"message\":\"\"}}",
        ],
        Fault::ErrorMessage => &[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":^null}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":^{\"code\":1}}",
        ],
    }
}

fn faults() -> [Fault; 26] {
    [
        Fault::Empty,
        Fault::NotUtf8,
        Fault::NotJson(Why::Ends),
        Fault::NotJson(Why::Unexpected),
        Fault::NotJson(Why::Trailing),
        Fault::NotJson(Why::Control),
        Fault::NotJson(Why::Escape),
        Fault::NotJson(Why::Number),
        Fault::NotObject,
        Fault::EmptyBatch,
        Fault::NestedBatch,
        Fault::DuplicateMember("id".to_owned()),
        Fault::JsonrpcMissing,
        Fault::JsonrpcWrong,
        Fault::MethodNotString,
        Fault::IdNull,
        Fault::IdFraction,
        Fault::IdType,
        Fault::ParamsType,
        Fault::RequestAndResponse,
        Fault::ResultAndError,
        Fault::Nothing,
        Fault::ResultWithoutId,
        Fault::ErrorType,
        Fault::ErrorCode,
        Fault::ErrorMessage,
    ]
}

#[test]
fn every_fault_has_its_kind_and_offset() {
    for fault in faults() {
        assert!(!inputs(&fault).is_empty(), "{fault:?}");
        for input in inputs(&fault) {
            let at = input.find('^').unwrap();
            let bytes = input.replacen('^', "", 1).into_bytes();
            let bytes = replace(bytes, b"\x01FF", b"\xff");
            let found = first_fault(&bytes).map_err(|m| (m.fault, m.at));
            let expected = fault.clone();
            assert_eq!(found, Err((expected, at)), "{input}");
        }
    }
}

/// The fault of a message, or the first one within a batch.
fn first_fault(bytes: &[u8]) -> Result<(), Malformed> {
    match message::parse(bytes)? {
        Packet::Message(_) => Ok(()),
        Packet::Batch(parts) => parts.into_iter().try_for_each(|part| part.map(drop)),
    }
}

/// A string literal cannot hold what is not UTF-8.
fn replace(bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    match bytes.windows(from.len()).position(|window| window == from) {
        Some(at) => [&bytes[..at], to, &bytes[at + from.len()..]].concat(),
        None => bytes,
    }
}

#[test]
fn members_of_the_body_are_given_unchanged() {
    let text = r#"{"params":{"a\u0062":[1, {"c":2}],"ab":null},"id":1,"jsonrpc":"2.0","method":"m","x":{"a":1}}"#;
    let Ok(Packet::Message(message)) = message::parse(text.as_bytes()) else { panic!("{text}") };
    let members: Vec<_> = message.body_members().collect();
    assert_eq!(members, [("ab".into(), r#"[1, {"c":2}]"#), ("ab".into(), "null")]);
}

#[test]
fn what_is_too_deep_is_our_limit_not_their_fault() {
    for depth in [127, 128, 10_000] {
        let nest = "[".repeat(depth - 1);
        let text = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{nest}{}}}", "]".repeat(depth - 1));
        let found = message::parse(text.as_bytes()).map(drop).map_err(|m| (m.fault.is_ours(), m.fault));
        let expected = if depth <= 127 { Ok(()) } else { Err((true, Fault::TooDeep)) };
        assert_eq!(found, expected, "{depth}");
    }
}

#[test]
fn an_invalid_message_keeps_its_id_and_its_index_in_a_batch() {
    let bad = message::parse(br#"{"jsonrpc":"1.0","id":"a","method":"m"}"#).unwrap_err();
    assert_eq!(bad.id, Some(RequestId::from("a")));
    let text = r#"[{"jsonrpc":"2.0","method":"m"}, 5, {"jsonrpc":"2.0","id":null,"method":"m"}]"#;
    let Ok(Packet::Batch(parts)) = message::parse(text.as_bytes()) else { panic!() };
    assert!(parts[0].is_ok());
    let faults: Vec<_> =
        parts[1..].iter().map(|p| p.as_ref().map(|_| ()).map_err(|m| (m.fault.clone(), &text[m.at..=m.at]))).collect();
    assert_eq!(faults, [Err((Fault::NotObject, "5")), Err((Fault::IdNull, "n"))]);
}

/// No double holds it, but it is JSON: a reader that gives up on it sees no parameters at all, and judges the wrong thing.
#[test]
fn a_number_beyond_all_doubles_hides_nothing() {
    let text =
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e999,"b":-9e400,"c":1e-999,"d":"\ud800 1e999","e":7}}"#;
    let Ok(Packet::Message(message)) = message::parse(text.as_bytes()) else { panic!() };
    let params = message.params().expect("there are parameters");
    assert_eq!(params["a"].as_f64(), Some(f64::MAX));
    assert_eq!(params["b"].as_f64(), Some(f64::MIN));
    assert_eq!(params["c"].as_f64(), Some(0.0));
    assert_eq!(params["d"], "\u{fffd} 1e999");
    assert_eq!(params["e"], 7);
}

#[test]
fn the_beginning_of_a_text_tells_whether_it_is_a_result() {
    let id = RequestId::from("c");
    for (text, is_result) in [
        (r#"{"jsonrpc":"2.0","id":"c","result":{"a"#, true),
        (r#" { "x":{"result":[1,{"method":2}]}, "result" : "#, true),
        (r#"{"result":{},"id":"other""#, true),
        (r#"{"id":"\u0063","result":{"é"#, true),
        (r#"{"id":"other","result":{}}"#, false),
        (r#"{"id":1,"result":{}}"#, false),
        (r#"{"jsonrpc":"2.0","method":"a","result":{}}"#, false),
        (r#"{"error":{"code":1},"result":{}}"#, false),
        (r#"{"jsonrpc":"2.0","x":"result"#, false),
        (r#"[{"result":{}}]"#, false),
        ("", false),
    ] {
        assert_eq!(message::begins_result(text.as_bytes(), &id), is_result, "{text}");
        // Half a character at the end hides nothing before it.
        assert_eq!(message::begins_result(&[text.as_bytes(), b"\xc3"].concat(), &id), is_result, "{text}");
    }
}

#[test]
fn one_member_is_read_without_the_others() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","_meta":1,"na\u006de":"b\n","_meta":{"x":"\ud800","n":1e999},"n":1}}"#;
    let Ok(Packet::Message(read)) = message::parse(text.as_bytes()) else { panic!("a message") };
    assert_eq!(read.meta(), read.params().and_then(|params| params.get("_meta")));
    assert_eq!(read.string_member("name").as_deref(), Some("b\n"));
    assert_eq!((read.string_member("n"), read.body_member("n")), (None, Some("1")));
    assert_eq!(read.body_member("arguments"), None);
    assert_eq!(read.clone().into_text(), text);
    let Ok(Packet::Message(error)) =
        message::parse(br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","_meta":{}}}"#)
    else {
        panic!("a message")
    };
    assert_eq!(error.meta(), None);
}
