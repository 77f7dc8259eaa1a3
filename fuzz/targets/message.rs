//! JSON-RPC: what is JSON is decided as another reader decides it, every offset lies in the text, and what was read can
//! be read again.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;
use wire::message::{Malformed, Packet, parse};
use wire::{Kind, Message, RequestId, json};

fuzz_target!(|bytes: &[u8]| {
    // A value of one byte (`[0,0,…]`) takes some 70 in memory; several readings of it are held at once.
    bounded(1024 * bytes.len() + (64 << 10), || {
        match parse(bytes) {
            Ok(Packet::Message(message)) => {
                assert_eq!(message.text().as_bytes(), bytes, "the text is not kept");
                read(&message);
            }
            Ok(Packet::Batch(parts)) => {
                assert!(!parts.is_empty(), "an empty batch");
                parts.iter().for_each(|part| match part {
                    Ok(message) => read(message),
                    Err(malformed) => refused(malformed, bytes),
                });
            }
            Err(malformed) => refused(&malformed, bytes),
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            texts(text);
        }
    });
});

fn refused(malformed: &Malformed, bytes: &[u8]) {
    assert!(malformed.at <= bytes.len(), "{malformed:?} points beyond the text");
    assert!(matches!(malformed.fault.code(), -32700 | -32600));
    assert!(!malformed.fault.to_string().is_empty());
    if let Some(id) = &malformed.id {
        identity(id);
    }
}

fn read(message: &Message) {
    assert!(message.value().is_object(), "a message without a value");
    assert_eq!(message.kind() == Kind::Request, message.method().is_some() && message.id().is_some());
    if let Some(body) = message.body_text() {
        assert!(json::outline(body).is_ok(), "the body is not JSON: {body}");
    }
    if let (Some(id), Some(number)) = (message.id(), message.value()["id"].as_i64()) {
        assert_eq!(*id, RequestId::from(number));
    }
    if let Some(id) = message.id() {
        identity(id);
    }
    let Ok(Packet::Message(again)) = parse(format!(" {}\r\n", message.text()).as_bytes()) else {
        panic!("not read again: {}", message.text());
    };
    assert_eq!((again.kind(), again.id(), again.method()), (message.kind(), message.id(), message.method()));
    assert_eq!(again.body_text(), message.body_text());
}

/// An id that is sent back is the id that came.
fn identity(id: &RequestId) {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id.to_json());
    match parse(text.as_bytes()) {
        Ok(Packet::Message(answer)) => assert_eq!(answer.id(), Some(id)),
        other => panic!("{id} cannot be sent back: {other:?}"),
    }
}

fn texts(text: &str) {
    let theirs = serde_json::from_str::<&RawValue>(text).is_ok();
    match json::outline(text) {
        Err(fault) if fault.why == json::Why::TooDeep => {}
        ours => assert_eq!(ours.is_ok(), theirs, "is it JSON? {ours:?}"),
    }
    let _ = json::duplicate_name(text);
    // Two readers must not read two values.
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text)
        && json::duplicate_name(text).is_none()
    {
        for (pointer, expected) in pointers(&value) {
            let span = json::locate(text, &pointer).unwrap_or_else(|| panic!("{pointer} is not found"));
            let found: Value = serde_json::from_str(&text[span]).unwrap_or_else(|e| panic!("{pointer}: {e}"));
            assert_eq!(found, *expected, "{pointer}");
        }
    }
}

/// Some pointers into a value and what stands there.
fn pointers(value: &Value) -> Vec<(String, &Value)> {
    let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => members.iter().take(4).map(|(n, v)| (format!("/{}", escape(n)), v)).collect(),
        Value::Array(items) => items.iter().take(4).enumerate().map(|(at, v)| (format!("/{at}"), v)).collect(),
        _ => Vec::new(),
    }
}
