//! Compares an answer through the gateway with the one that is expected. Every difference is identical after all, declared by
//! the configuration, a known loss with its row, or a defect.

use serde_json::Value;
use wire::meta;

use super::conversation::Answer;

/// How two answers compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// The same.
    Identical,
    /// The server's answers differ from one time to the next; these have the same shape.
    Varies,
    /// The configuration says so.
    Edited,
    /// What the revision of the client cannot show, with the rows of the translation table.
    Lost(Vec<String>),
    /// The server has it at its newest revision only, and the gateway speaks that one with it.
    Revision,
    /// Something else.
    Different(String),
}

/// What only one end of a conversation says, or each in its own way.
const ENVELOPE: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Compares the answer that is expected with the one that came. `varies`: the server itself gives another one each time.
pub(super) fn compare(expected: &Answer, came: &Answer, varies: bool) -> Comparison {
    let rows = losses(came);
    match (expected, came) {
        (Answer::Result(expected), Answer::Result(came)) => {
            let (expected, came) = (plain(expected), plain(came));
            if expected == came {
                return Comparison::Identical;
            }
            if varies && same_shape(&expected, &came) {
                return Comparison::Varies;
            }
            otherwise(rows, || first_difference(&expected, &came, ""))
        }
        (Answer::Error { code, message, .. }, Answer::Error { code: other, message: text, .. }) => {
            if code == other && (message == text || varies) {
                return Comparison::Identical;
            }
            otherwise(rows, || format!("expected error {code} `{message}`, got {other} `{text}`"))
        }
        (Answer::None(_), Answer::None(_)) => Comparison::Varies,
        (expected, came) => otherwise(rows, || format!("expected {}, got {}", kind(expected), kind(came))),
    }
}

fn otherwise(rows: Vec<String>, what: impl FnOnce() -> String) -> Comparison {
    if rows.is_empty() { Comparison::Different(what()) } else { Comparison::Lost(rows) }
}

fn kind(answer: &Answer) -> String {
    match answer {
        Answer::Result(_) => "a result".to_owned(),
        Answer::Error { code, message, .. } => format!("error {code} `{message}`"),
        Answer::None(why) => format!("no answer ({why})"),
    }
}

/// The rows that an answer names.
pub(super) fn losses(answer: &Answer) -> Vec<String> {
    let noted = match answer {
        Answer::Result(result) => result.get("_meta").and_then(|meta| meta.get(meta::LOSSES)),
        Answer::Error { data, .. } => data.as_ref().and_then(|data| data.get(meta::LOSSES)),
        Answer::None(_) => None,
    };
    let rows = noted.and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(|loss| loss.get("row")?.as_str().map(str::to_owned)).collect()
}

/// A result without its envelope.
pub(super) fn plain(result: &Value) -> Value {
    let mut result = result.clone();
    if let Some(members) = result.as_object_mut() {
        for name in ENVELOPE {
            members.remove(name);
        }
        if let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut) {
            meta.remove(meta::SERVER_INFO);
            meta.remove(meta::LOSSES);
            if meta.is_empty() {
                members.remove("_meta");
            }
        }
    }
    result
}

/// Whether two values have the same members and kinds; lists may differ in length.
fn same_shape(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same_shape(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).all(|(a, b)| same_shape(a, b)),
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Where two values differ first, and how.
pub(super) fn first_difference(expected: &Value, came: &Value, at: &str) -> String {
    match (expected, came) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                let at = format!("{at}/{name}");
                match b.get(name) {
                    None => return format!("{at} is missing; expected {}", shortened(value)),
                    Some(other) if other != value => return first_difference(value, other, &at),
                    Some(_) => {}
                }
            }
            let added = b.iter().find(|(name, _)| !a.contains_key(*name));
            added.map_or_else(String::new, |(name, value)| format!("{at}/{name} is added: {}", shortened(value)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let different = a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b);
            different.map_or_else(String::new, |(index, (a, b))| first_difference(a, b, &format!("{at}/{index}")))
        }
        _ => format!("{at}: expected {}, got {}", shortened(expected), shortened(came)),
    }
}

fn shortened(value: &Value) -> String {
    wire::escape::snippet(&value.to_string(), 120)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Comparison, compare};
    use crate::verb::gateway::prove::conversation::Answer;

    fn result(value: serde_json::Value) -> Answer {
        Answer::Result(value)
    }

    #[test]
    fn every_difference_has_one_class() {
        let direct = result(json!({ "content": [{ "text": "a" }] }));
        let enveloped = result(json!({ "resultType": "complete", "content": [{ "text": "a" }],
            "_meta": { "io.modelcontextprotocol/serverInfo": {} } }));
        assert_eq!(compare(&direct, &enveloped, false), Comparison::Identical);
        let other = result(json!({ "content": [{ "text": "b" }] }));
        assert_eq!(compare(&direct, &other, true), Comparison::Varies);
        let Comparison::Different(what) = compare(&direct, &other, false) else { panic!("a difference") };
        assert_eq!(what, r#"/content/0/text: expected "a", got "b""#);
        let lost = result(json!({ "content": [], "_meta": { "dev.proofhouse/losses": [{ "row": "34" }] } }));
        assert_eq!(compare(&direct, &lost, false), Comparison::Lost(vec!["34".to_owned()]));
        let error = Answer::Error { code: -32602, message: "no".to_owned(), data: None };
        assert!(matches!(compare(&direct, &error, true), Comparison::Different(_)));
        let shape = result(json!({ "content": "b" }));
        assert!(matches!(compare(&direct, &shape, true), Comparison::Different(_)), "varying text is no other kind");
    }
}
