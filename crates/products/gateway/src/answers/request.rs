//! What a request asks for, as a digest: equal for requests that ask for the same, and for no others. Pure.

use std::borrow::Cow;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use wire::json::{Token, Tokens, canonical};
use wire::splice::{Splice, member, members, members_at};
use wire::{Message, meta};

/// SHA-256 of what a request asks for.
pub(crate) type RequestDigest = [u8; 32];

/// The longest integer that is compared as a value. Longer ones, fractions and exponents are compared as they are spelled: two
/// spellings that read as one double may be two values to a server.
const PLAIN_DIGITS: usize = 15;

/// Members of `_meta` that are compared elsewhere.
const COMPARED: [&str; 3] = [meta::PROTOCOL_VERSION, meta::CLIENT_INFO, meta::CLIENT_CAPABILITIES];

/// Whether two requests that differ in this member of `_meta` ask for the same. A server may repeat it in its result, and then
/// one client would choose what another one gets: it must not have room for words.
fn is_without_effect(name: &str, value: &Value) -> bool {
    match name {
        "progressToken" => value.is_i64() || value.is_u64() || value.as_str().is_some_and(is_uuid),
        "traceparent" => value.as_str().is_some_and(is_traceparent),
        _ => COMPARED.contains(&name),
    }
}

/// Groups of so many hexadecimal digits, between hyphens.
fn is_hex(text: &str, lengths: &[usize]) -> bool {
    let mut groups = text.split('-');
    let is_group = |(length, group): (&usize, &str)| {
        group.len() == *length && group.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    lengths.iter().all(|length| groups.next().is_some_and(|group| is_group((length, group)))) && groups.next().is_none()
}

fn is_uuid(text: &str) -> bool {
    is_hex(text, &[8, 4, 4, 4, 12])
}

/// Version 00 of W3C Trace Context.
fn is_traceparent(text: &str) -> bool {
    text.starts_with("00-") && is_hex(text, &[2, 32, 16, 2])
}

/// What a request for a cached result asks for: everything in its parameters that may change the result. `name` is that of the
/// item at its server; `client` is what the server may learn of the client: its `clientInfo`, its capabilities, its context.
pub(crate) fn cache_digest(message: &Message, name: Option<&str>, client: [&Value; 3]) -> RequestDigest {
    let mut digest = Parts::new(message.method().unwrap_or_default());
    for part in client {
        digest.part("client", &canonical(part));
    }
    for (member, text) in sorted(message) {
        match (&*member, name) {
            ("name", Some(name)) => digest.part("name", name.as_bytes()),
            ("name", None) => digest.part("name", &value_of(text)),
            ("_meta", _) => digest.part("_meta", &meta_of(text)),
            _ => digest.part(&member, &value_of(text)),
        }
    }
    digest.finish()
}

/// What a call with an idempotency key asks for: its arguments, and whether it wants a task. The answers to questions do not
/// count, nor does the key itself.
pub(crate) fn call_digest(message: &Message) -> RequestDigest {
    let mut digest = Parts::new(message.method().unwrap_or_default());
    for (member, text) in sorted(message) {
        match &*member {
            "_meta" | "name" | "inputResponses" | "requestState" => {}
            "arguments" => {
                let text = without_member(text, KEY_ARGUMENT).map_or(Cow::Borrowed(text), Cow::Owned);
                let arguments = value_of(&text);
                // No arguments are the same as empty ones.
                if arguments != b"{}" {
                    digest.part("arguments", &arguments);
                }
            }
            _ => digest.part(&member, &value_of(text)),
        }
    }
    digest.finish()
}

/// The argument that holds an idempotency key.
pub(crate) const KEY_ARGUMENT: &str = "idempotency_key";

/// A call without the argument that holds its idempotency key.
pub(crate) fn without_key(text: &str) -> Option<String> {
    let all = members(text)?;
    let params = member(text, &all, "params")?;
    let arguments = member(text, &params.members, "arguments")?;
    let inner = members_at(text, &arguments.value)?;
    member(text, &inner, KEY_ARGUMENT)?;
    let mut splice = Splice::new(text);
    splice.object(&arguments.value, &inner, |name| name != KEY_ARGUMENT, &[]);
    Some(splice.finish())
}

fn without_member(text: &str, name: &str) -> Option<String> {
    let all = members(text)?;
    member(text, &all, name)?;
    let mut splice = Splice::new(text);
    splice.object(&(0..text.len()), &all, |other| other != name, &[]);
    Some(splice.finish())
}

fn sorted(message: &Message) -> Vec<(Cow<'_, str>, &str)> {
    let mut members: Vec<_> = message.body_members().collect();
    members.sort();
    members
}

/// One text for one value. Where that might make one of two, the text as it came stands in addition.
fn value_of(text: &str) -> Vec<u8> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return text.as_bytes().to_vec() };
    let mut out = canonical(&value);
    if !is_plain(text) {
        out.push(0);
        out.extend_from_slice(text.as_bytes());
    }
    out
}

fn meta_of(text: &str) -> Vec<u8> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut members)) => {
            members.retain(|name, value| !is_without_effect(name, value));
            if members.is_empty() { Vec::new() } else { value_of(&Value::Object(members).to_string()) }
        }
        _ => text.as_bytes().to_vec(),
    }
}

/// Whether every number in the text is a short integer.
fn is_plain(text: &str) -> bool {
    let mut tokens = Tokens::new(text);
    loop {
        match tokens.next_token() {
            Ok(Some((Token::Number, at))) => {
                let number = &text[at];
                let digits = number.strip_prefix('-').unwrap_or(number);
                if digits.len() > PLAIN_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) || number == "-0" {
                    return false;
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Named parts, each with its length: no two lists of them have one digest.
struct Parts(Sha256);

impl Parts {
    fn new(method: &str) -> Self {
        let mut parts = Self(Sha256::new());
        parts.part("method", method.as_bytes());
        parts
    }

    fn part(&mut self, name: &str, value: &[u8]) {
        if name == "_meta" && value.is_empty() {
            return;
        }
        for bytes in [name.as_bytes(), value] {
            self.0.update((bytes.len() as u64).to_be_bytes());
            self.0.update(bytes);
        }
    }

    fn finish(self) -> RequestDigest {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wire::Message;
    use wire::message::{Packet, parse};

    use super::{cache_digest, call_digest, without_key};

    fn call(params: &str) -> Message {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        match parse(text.as_bytes()) {
            Ok(Packet::Message(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    fn same(one: &str, other: &str) -> bool {
        let digest = |params| cache_digest(&call(params), Some("t"), [&json!({}), &json!({}), &json!(null)]);
        digest(one) == digest(other)
    }

    #[test]
    fn order_and_white_space_do_not_matter_and_values_do() {
        let base = r#"{"name":"t","arguments":{"a":1,"b":["x"]}}"#;
        assert!(same(base, r#"{"arguments": {"b":["\u0078"], "a":1},"name":"t"}"#));
        assert!(same(base, r#"{"name":"t","arguments":{"a":1,"b":["x"]},"_meta":{"progressToken":7}}"#));
        for meta in [
            r#""progressToken":"123e4567-e89b-12d3-a456-426614174000""#,
            r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01""#,
        ] {
            let with = format!(r#"{{"name":"t","arguments":{{"a":1,"b":["x"]}},"_meta":{{{meta}}}}}"#);
            assert!(same(base, &with), "{meta}");
        }
        // What a server might repeat to another client.
        for meta in [
            r#""progressToken":"<script>""#,
            r#""progressToken":"abc""#,
            r#""progressToken":{"a":1}"#,
            r#""traceparent":"<script>""#,
            r#""traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-<script>""#,
            r#""traceparent":"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01""#,
            r#""traceparent":7"#,
            r#""dev.proofhouse/idempotencyKey":"k""#,
        ] {
            let with = format!(r#"{{"name":"t","arguments":{{"a":1,"b":["x"]}},"_meta":{{{meta}}}}}"#);
            assert!(!same(base, &with), "{meta}");
        }
        for other in [
            r#"{"name":"t","arguments":{"a":2,"b":["x"]}}"#,
            r#"{"name":"t","arguments":{"a":1,"b":["x"]},"cursor":"2"}"#,
            r#"{"name":"t","arguments":{"a":1,"b":["x"]},"_meta":{"tenant":"b"}}"#,
            r#"{"name":"t","arguments":{"a":1,"b":["x"]},"_meta":{"baggage":"lang=<script>"}}"#,
            r#"{"name":"t","arguments":{"a":"1","b":["x"]}}"#,
        ] {
            assert!(!same(base, other), "{other}");
        }
        let (info, none, able) = (json!({ "name": "c" }), json!({}), json!({ "elicitation": {} }));
        let capable = cache_digest(&call(base), Some("t"), [&info, &able, &info]);
        assert_ne!(capable, cache_digest(&call(base), Some("t"), [&info, &none, &info]));
        assert_ne!(capable, cache_digest(&call(base), Some("t"), [&none, &able, &info]), "what a client calls itself");
        assert_ne!(capable, cache_digest(&call(base), Some("u"), [&info, &able, &info]));
    }

    /// Two values that read as one double may be two to the server.
    #[test]
    fn numbers_that_a_double_does_not_tell_apart_are_different() {
        for (one, other) in [
            ("0.1", "0.10000000000000000001"),
            ("9007199254740993", "9007199254740992.0"),
            ("1e400", "1e500"),
            ("0", "-0"),
            (r#""\ud800""#, r#""\ud801""#),
        ] {
            let with = |value: &str| format!(r#"{{"name":"t","arguments":{{"a":{value}}}}}"#);
            assert!(!same(&with(one), &with(other)), "{one} {other}");
            assert!(same(&with(one), &with(one)));
        }
    }

    #[test]
    fn the_key_is_no_part_of_what_a_call_asks_for() {
        let digest = |params: &str| call_digest(&call(params));
        let bare = digest(r#"{"name":"t"}"#);
        assert_eq!(bare, digest(r#"{"name":"t","arguments":{"idempotency_key":"k"}}"#));
        assert_eq!(bare, digest(r#"{"name":"t","requestState":"s","inputResponses":{},"_meta":{"a":1}}"#));
        assert_ne!(bare, digest(r#"{"name":"t","arguments":{"idempotency_key":"k","a":1}}"#));
        assert_ne!(bare, digest(r#"{"name":"t","task":{}}"#));
    }

    #[test]
    fn the_server_does_not_get_the_key() {
        let text = r#"{"id":1,"params":{"arguments":{"a": 1.0, "idempotency_k\u0065y":"k","b":2},"name":"t"}}"#;
        let sent = without_key(text).expect("it has one");
        assert_eq!(sent, r#"{"id":1,"params":{"arguments":{"a": 1.0,"b":2},"name":"t"}}"#);
        let _: Value = serde_json::from_str(&sent).expect("JSON");
        assert_eq!(without_key(r#"{"id":1,"params":{"arguments":{"a":1},"name":"t"}}"#), None);
    }
}
