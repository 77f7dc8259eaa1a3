//! What a recording does not show: keys, tokens, and what looks like a secret. What stands in the case file was written by the
//! user and stays, so that a case about it is scored rightly; ids and signatures stay, so that a conversation can go on.

use std::path::Path;
use std::sync::Arc;

use agent::Conceal;
use serde_json::Value;
use wire::redact::Redactor;

/// Members that endpoints read again, and that hold nothing of the user.
const OPAQUE: [&str; 7] = ["id", "call_id", "item_id", "tool_call_id", "tool_use_id", "encrypted_content", "signature"];
/// How much of a case file is looked at, in bytes.
const LIMIT: u64 = 8 << 20;

/// Conceals the lines of one recording.
pub(super) struct Concealer {
    pub(super) line: Conceal,
    redactor: Redactor,
}

/// A concealer for the run's secrets.
pub(super) fn concealer<'p>(redactor: Redactor, prompts: impl Iterator<Item = &'p str>, cases: &Path) -> Concealer {
    let mut plain = crate::verb::given_file::text(cases, LIMIT).unwrap_or_default();
    for prompt in prompts {
        plain.push('\n');
        plain.push_str(prompt);
    }
    let (plain, own) = (Arc::<str>::from(plain), redactor.clone());
    let line = move |line: &Value| {
        let hidden = own.redact_value(line);
        known(&own, &merged(line, hidden, "", &plain))
    };
    Concealer { line: Box::new(line), redactor }
}

/// The first line: schemas have members such as `token` that hold no secret.
pub(super) fn header(concealer: &Concealer, header: &serde_json::Map<String, Value>) -> Value {
    texts(&concealer.redactor, &Value::Object(header.clone()))
}

fn texts(redactor: &Redactor, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact_text(text).into_owned()),
        Value::Array(items) => items.iter().map(|item| texts(redactor, item)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), texts(redactor, member))).collect()
        }
        other => other.clone(),
    }
}

/// What was handed in is concealed wherever it stands.
fn known(redactor: &Redactor, value: &Value) -> Value {
    let text = value.to_string();
    match redactor.redact_known(&text) {
        std::borrow::Cow::Borrowed(_) => value.clone(),
        std::borrow::Cow::Owned(text) => serde_json::from_str(&text).unwrap_or_default(),
    }
}

/// The concealed value, with the original where that stands in `plain` or under an opaque name.
fn merged(original: &Value, hidden: Value, name: &str, plain: &str) -> Value {
    match (original, hidden) {
        (original, hidden) if *original == hidden => hidden,
        (Value::Object(of), Value::Object(hidden)) if of.len() == hidden.len() => {
            let pairs = of.iter().zip(hidden);
            pairs.map(|((name, one), (key, other))| (key, merged(one, other, name, plain))).collect()
        }
        (Value::Array(of), Value::Array(hidden)) if of.len() == hidden.len() => {
            of.iter().zip(hidden).map(|(one, other)| merged(one, other, name, plain)).collect()
        }
        (Value::String(text), _) if OPAQUE.contains(&name) || plain.contains(text.as_str()) => original.clone(),
        (Value::Number(number), _) if plain.contains(&number.to_string()) => original.clone(),
        (_, hidden) => hidden,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_of_others_are_concealed_and_what_the_cases_say_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cases.yaml");
        std::fs::write(&path, "cases: [{ arguments: { password: hunter2-known } }]").expect("a file");
        let mut secrets = wire::redact::Secrets::default();
        secrets.add("key-of-the-endpoint-1234567890");
        let redactor = net::new_redactor().knowing(&secrets);
        let concealer = concealer(redactor, std::iter::empty(), &path);
        let line = json!({
            "calls": [{ "id": "ghp_0123456789abcdefghijklmnopqrstuvwxyz", "arguments": { "password": "hunter2-known" } }],
            "results": [{ "password": "of-the-server-77", "text": "key-of-the-endpoint-1234567890" }],
        });
        let shown = (concealer.line)(&line);
        assert_eq!(shown["calls"], line["calls"], "ids and what the case says");
        let text = shown.to_string();
        assert!(!text.contains("of-the-server-77") && !text.contains("key-of-the-endpoint"), "{text}");
        let schema = json!({ "tools": [{ "inputSchema": { "properties": { "token": { "type": "string" } } } }] });
        assert_eq!(header(&concealer, schema.as_object().expect("an object")), schema);
    }
}
