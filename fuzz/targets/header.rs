//! Header values: every text survives its header, whatever stands in a header can be read, and the headers that we make
//! for a message are those that we take for it.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use wire::http;
use wire::message::{Packet, parse};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    bounded(1024 * bytes.len() + (64 << 10), || {
        survives(&text);
        let _ = http::decode_value(&text).map(|decoded| survives(&decoded));
        media(&text);
        mirrored(&text);
    });
});

fn survives(text: &str) {
    for value in [http::encode_value(text), http::encode_always(text).into()] {
        assert!(http::is_safe_value(&value), "{value:?} may not stand in a header");
        assert_eq!(http::decode_value(&value).as_deref(), Ok(text));
        assert!(http::says(&value, &Value::from(text)));
        assert!(!http::says(&value, &Value::from(format!("{text}x"))));
    }
}

fn media(text: &str) {
    let _ = (http::media_type(text), http::is_token(text));
    for challenge in http::challenges(&vec![("WWW-Authenticate".to_owned(), text.to_owned())]) {
        assert!(http::is_token(&challenge.scheme), "a scheme that is no token");
    }
    if http::lists(text, http::JSON) {
        assert!(http::accepts(text, http::JSON), "named, yet not accepted");
    }
}

/// The text as an argument of a call that a schema mirrors, and as the schema itself.
fn mirrored(text: &str) {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let argument = serde_json::from_str::<Value>(text).unwrap_or_else(|_| Value::from(text));
    let number = argument.is_number();
    let kind = if number {
        "integer"
    } else if argument.is_boolean() {
        "boolean"
    } else {
        "string"
    };
    let schema = json!({ "type": "object", "properties": { "a": { "type": kind, "x-mcp-header": "A" } } });
    let params = json!({ "name": text, "arguments": { "a": argument }, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let Ok(Packet::Message(call)) = parse(call.as_bytes()) else { panic!("{call}") };
    let headers = http::modern_headers(&call, Some(&schema));
    for (name, value) in &headers {
        assert!(http::is_token(name) && http::is_safe_value(value), "{name}: {value:?}");
    }
    assert_eq!(http::check_headers(&headers, &call, Some(&schema)), []);
    for at in 0..headers.len() {
        let mut fewer = headers.clone();
        fewer.remove(at);
        assert!(!http::check_headers(&fewer, &call, Some(&schema)).is_empty(), "{} is not missed", headers[at].0);
    }
    if let Ok(schema) = serde_json::from_str::<Value>(text) {
        let found = http::annotations(&schema);
        let _ = http::check_headers(&headers, &call, Some(&schema));
        assert!(found.valid.iter().all(|one| http::is_token(&one.name)), "a header that is no token");
    }
}
