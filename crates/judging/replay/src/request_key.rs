//! When two requests count as equal: same method, name and arguments, without volatile parts and secrets, over any transport and
//! in any revision.

use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;
use sha2::{Digest, Sha256};
use wire::Message;
use wire::json::canonical;
use wire::redact::Redactor;

/// SHA-256 of a canonical JSON text.
pub(super) type Key = [u8; 32];

/// The digest of a value's canonical JSON text.
pub(super) fn digest(value: &Value) -> Key {
    Sha256::digest(canonical(value)).into()
}

/// Members of `params` that belong to one transmission of a request.
pub(super) const ENVELOPE: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// Replaces secrets in a key, because the recording holds only their placeholders.
const SECRET: &str = "(secret)";

/// The parts of a request that its key is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyedRequest {
    pub(super) method: String,
    /// The name of a tool or a prompt, or the URI of a resource.
    pub(super) name: Option<String>,
    pub(super) arguments: Value,
}

impl KeyedRequest {
    /// Reads a request; the parts of its arguments that `volatile` matches are removed.
    pub(super) fn of(message: &Message, volatile: &[JsonPath]) -> Self {
        let method = message.method().unwrap_or_default().to_owned();
        let mut params = match message.params() {
            Some(Value::Object(params)) => params.clone(),
            _ => Map::new(),
        };
        params.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
        let name = match method.as_str() {
            "completion/complete" => {
                drop_empty_context(&mut params);
                let of = params.get("ref").and_then(|of| of.get("name").or_else(|| of.get("uri")));
                of.and_then(Value::as_str).map(str::to_owned)
            }
            _ => take_text(&mut params, "name").or_else(|| take_text(&mut params, "uri")),
        };
        let arguments = match method.as_str() {
            "tools/call" | "prompts/get" => {
                let given = params.remove("arguments").unwrap_or_else(|| json!({}));
                // A call as a task has another answer than a plain call.
                if params.contains_key("task") { json!({ "arguments": given, "task": true }) } else { given }
            }
            _ => Value::Object(params),
        };
        Self { method, name, arguments: without_secrets(without(arguments, volatile)) }
    }

    /// Makes a call as a task a plain one.
    pub(super) fn ignore_task(&mut self) {
        let wrapped =
            |of: &Map<String, Value>| of.len() == 2 && of.contains_key("arguments") && of.contains_key("task");
        if self.method == "tools/call" && self.arguments.as_object().is_some_and(wrapped) {
            self.arguments = self.arguments["arguments"].take();
        }
    }

    /// The request for the page of a list at `cursor`.
    pub(super) fn page(method: &str, cursor: &Value) -> Self {
        let arguments = without_secrets(json!({ "cursor": cursor }));
        Self { method: method.to_owned(), name: None, arguments }
    }

    /// The request key.
    pub(super) fn key(&self) -> Key {
        digest(&json!([self.method, self.name, self.arguments]))
    }

    /// The digest of the method and the name.
    pub(super) fn family(&self) -> Key {
        digest(&json!([self.method, self.name]))
    }
}

fn take_text(params: &mut Map<String, Value>, name: &str) -> Option<String> {
    let text = params.get(name)?.as_str()?.to_owned();
    params.remove(name);
    Some(text)
}

/// An absent context and an empty one mean the same.
fn drop_empty_context(params: &mut Map<String, Value>) {
    let known = params.get("context").and_then(|context| context.get("arguments")).and_then(Value::as_object);
    if known.is_none_or(Map::is_empty) {
        params.remove("context");
    }
}

fn without(mut arguments: Value, volatile: &[JsonPath]) -> Value {
    for path in volatile {
        let pointers: Vec<String> = path.query_located(&arguments).locations().map(|at| at.to_json_pointer()).collect();
        for pointer in pointers {
            remove_at(&mut arguments, &pointer);
        }
    }
    arguments
}

/// Removes a member. An item of an array becomes null, so that the others keep their index.
fn remove_at(arguments: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let name = wire::pointer::unescape(last);
    match arguments.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&name);
        }
        Some(Value::Array(items)) => {
            if let Some(item) = name.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                *item = Value::Null;
            }
        }
        _ => {}
    }
}

/// The arguments with [`SECRET`] in place of each secret. A secret is what two redaction keys replace differently.
fn without_secrets(arguments: Value) -> Value {
    let text = arguments.to_string();
    let read = |key| serde_json::from_str(&Redactor::new([key; 32]).redact_message(&text)).ok();
    let Some(one) = read(1).filter(|one: &Value| *one != arguments) else { return arguments };
    let Some(other) = read(2) else { return arguments };
    blank_differences(&one, &other)
}

/// Whether a request's arguments had a secret.
pub(super) fn has_secret(arguments: &Value) -> bool {
    match arguments {
        Value::Object(members) => members.values().any(has_secret),
        Value::Array(items) => items.iter().any(has_secret),
        other => other == SECRET,
    }
}

fn blank_differences(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let blank = |(name, value): (&String, &Value)| {
                (name.clone(), blank_differences(value, b.get(name).unwrap_or(&Value::Null)))
            };
            a.iter().map(blank).collect::<Map<_, _>>().into()
        }
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).map(|(a, b)| blank_differences(a, b)).collect(),
        (a, b) if a == b => a.clone(),
        _ => SECRET.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str, volatile: &[&str]) -> KeyedRequest {
        let volatile: Vec<_> = volatile.iter().map(|path| JsonPath::parse(path).unwrap()).collect();
        let Ok(wire::message::Packet::Message(message)) = wire::message::parse(text.as_bytes()) else {
            panic!("{text}")
        };
        KeyedRequest::of(&message, &volatile)
    }

    fn call(params: &str) -> Key {
        request(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#),
            &["$.now", "$.all[0]"],
        )
        .key()
    }

    #[test]
    fn the_envelope_and_volatile_arguments_are_ignored() {
        let plain = call(r#"{"name":"t","arguments":{"a":1,"b":"x"}}"#);
        for same in [
            r#"{"arguments":{"b":"x","a":1.0},"name":"t"}"#,
            r#"{"name":"t","arguments":{"a":1,"b":"x","now":"12:00"}}"#,
            r#"{"name":"t","arguments":{"a":1,"b":"x"},"_meta":{"progressToken":7}}"#,
            r#"{"name":"t","arguments":{"a":1,"b":"x"},"requestState":"s","inputResponses":{}}"#,
        ] {
            assert_eq!(call(same), plain, "{same}");
        }
        for other in [
            r#"{"name":"u","arguments":{"a":1,"b":"x"}}"#,
            r#"{"name":"t","arguments":{"a":"1","b":"x"}}"#,
            r#"{"name":"t","arguments":{"a":1,"b":"x"},"task":{}}"#,
            r#"{"name":"t"}"#,
        ] {
            assert_ne!(call(other), plain, "{other}");
        }
        assert_eq!(call(r#"{"name":"t"}"#), call(r#"{"name":"t","arguments":{}}"#));
        assert_eq!(
            call(r#"{"name":"t","arguments":{"all":[1,2]}}"#),
            call(r#"{"name":"t","arguments":{"all":[3,2]}}"#)
        );
        assert_ne!(call(r#"{"name":"t","arguments":{"all":[1,2]}}"#), call(r#"{"name":"t","arguments":{"all":[1]}}"#));
    }

    #[test]
    fn a_secret_and_its_placeholder_have_one_key() {
        let text = r#"{"name":"login","arguments":{"user":"ada","password":"correct horse 42"}}"#;
        let recorded = Redactor::new([9; 32]).redact_message(text).into_owned();
        assert_ne!(recorded, text);
        assert_eq!(call(&recorded), call(text));
        assert_ne!(call(&text.replace("ada", "bob")), call(text));
    }

    #[test]
    fn a_completion_is_named_after_its_reference() {
        let of = |more: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{{"ref":{{"type":"ref/prompt","name":"p"}},"argument":{{"name":"a","value":"v"}}{more}}}}}"#
            );
            request(&text, &[])
        };
        assert_eq!(of("").name.as_deref(), Some("p"));
        assert_eq!(of(r#","context":{"arguments":{}}"#), of(""));
        assert_ne!(of(r#","context":{"arguments":{"b":"c"}}"#), of(""));
    }
}
