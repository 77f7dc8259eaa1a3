//! Values as YAML on one line, such that [`read`](super::read) gives them back. A text stands plain only where nothing could take
//! it for something else.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Words that some reader of YAML takes for something else.
const TAKEN: [&str; 11] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

/// A text, quoted where it must be.
pub fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let printable = |c: char| (' '..='~').contains(&c);
    if text.contains(['\\', '"']) && text.chars().all(printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if printable(c) || c.is_alphanumeric() => quoted.push(c),
            c if u32::from(c) <= 0xffff => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a text needs no quotes anywhere.
fn is_plain(text: &str) -> bool {
    let path = text.starts_with("$.");
    let begins = path || text.starts_with(|c: char| c.is_ascii_alphabetic());
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-./ ".contains(c) || path && "$[]*".contains(c);
    // A path stands as a key on a line of its own, where brackets within it mean nothing.
    begins && text.chars().all(inner) && !text.ends_with(' ') && !TAKEN.contains(&text.to_ascii_lowercase().as_str())
}

/// A value in flow style.
pub fn flow(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with('$') => serde_json::to_string(text).unwrap_or_default(),
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let key =
                    if name.starts_with('$') { serde_json::to_string(name).unwrap_or_default() } else { scalar(name) };
                format!("{key}: {}", flow(value))
            };
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// The same with every text such that nothing is filled in: what looks like a hole is one that is filled with its own braces.
pub fn unfilled(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text.replace("{{", "{{ \"{{\" }}")),
        Value::Array(items) => items.iter().map(unfilled).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), unfilled(value))).collect(),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{flow, scalar};
    use crate as document;

    #[track_caller]
    fn comes_back(value: &Value) {
        let text = format!("key: {}\n", flow(value));
        let read = document::read(&text).unwrap_or_else(|error| panic!("{text}: {error:?}")).0.to_value();
        assert_eq!(read["key"], *value, "{text}");
    }

    #[test]
    fn awkward_texts_come_back() {
        for text in [
            "",
            " ",
            "true",
            "No",
            "~",
            "null",
            "1",
            "0x1f",
            "1e3",
            ".5",
            "- a",
            "a: b",
            "a #b",
            "#",
            "'",
            "\"",
            "\\",
            "a\nb",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{1f600}",
            "\u{10ffff}",
            "\0",
            "$.a[0]",
            "{a}",
            "[a]",
            "a,b",
            "a]",
            "&a",
            "*a",
            "!a",
            "%a",
            "@a",
            "`a",
            "|",
            ">",
            "? a",
            "a:",
            "=",
            "<<",
            "it's \\d",
            "ü",
            "--- a",
            "...",
        ] {
            comes_back(&json!(text));
            comes_back(&json!([text, { "a": text }]));
            if !text.is_empty() {
                comes_back(&json!({ text: text }));
                let line = format!("{}: {}\n", scalar(text), scalar(text));
                let read = document::read(&line).unwrap_or_else(|error| panic!("{line}: {error:?}")).0.to_value();
                assert_eq!(read, json!({ text: text }), "{line}");
            }
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9f64).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[ -~]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[ -~]{1,8}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_the_value_it_comes_back(value in value()) {
            comes_back(&value);
        }
    }
}
