//! Two answers to the same call: equal as text, equal but for what the translation declares, or different. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::calls::Made;
use super::session::{Answer, Parts};

/// What the translation adds to results of one era, or removes from those of the other (rows 25 to 27).
const ENVELOPE: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Where the gateway names what was lost.
const LOSSES: &str = "dev.proofhouse/losses";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Edited,
    Lost,
    /// The same values in another spelling.
    Spelling(String),
    /// Equal but for what varies by itself.
    Varies,
    Different(String),
}

/// What two direct plays of the same calls did not have in common.
pub(super) struct Varies {
    calls: Vec<BTreeSet<String>>,
    /// By tool, for people.
    pub(super) which: BTreeMap<String, BTreeSet<String>>,
}

impl Varies {
    pub(super) fn between(calls: &[Made], one: &[Answer], other: &[Answer]) -> Self {
        let mut which: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut all = Vec::new();
        for ((call, one), other) in calls.iter().zip(one).zip(other) {
            let paths: BTreeSet<_> = differences(&leaves(one), &leaves(other));
            if !paths.is_empty() {
                which.entry(call.name.clone()).or_default().extend(paths.iter().map(|path| format!("`{path}`")));
            }
            all.push(paths);
        }
        // What one call shows may show in every call of this tool: two plays within a second have the same time.
        let mut by_tool: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (call, paths) in calls.iter().zip(&all) {
            by_tool.entry(&call.name).or_default().extend(paths.iter().cloned());
        }
        let spread = calls.iter().map(|call| by_tool.get(&*call.name).cloned().unwrap_or_default()).collect();
        Self { calls: spread, which }
    }

    pub(super) fn at(&self, call: usize) -> &BTreeSet<String> {
        &self.calls[call]
    }
}

/// Compares what came through the gateway with the server's own answer.
pub(super) fn compare(direct: &Answer, came: &Answer, varies: &BTreeSet<String>, one_era: bool) -> Comparison {
    if direct == came {
        return Comparison::Equal;
    }
    if !one_era && without_envelope(direct) == without_envelope(came) {
        return Comparison::Edited;
    }
    if !one_era && names_losses(came) {
        return Comparison::Lost;
    }
    let mut left = differences(&leaves(direct), &leaves(came));
    left.retain(|path| !varies.contains(path) && (one_era || !is_envelope(path)));
    if left.is_empty() && !varies.is_empty() {
        return Comparison::Varies;
    }
    let how = format!("{left:?}: {} ≠ {}", shown(direct), shown(came));
    if left.is_empty() { Comparison::Spelling(how) } else { Comparison::Different(how) }
}

fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Result(text) => text.chars().take(400).collect(),
        Answer::Error(text) => format!("error {}", text.chars().take(400).collect::<String>()),
    }
}

fn names_losses(answer: &Answer) -> bool {
    matches!(answer, Answer::Result(text) if text.contains(LOSSES))
}

/// Whether a path is of the envelope of an era.
fn is_envelope(path: &str) -> bool {
    ENVELOPE.iter().any(|name| path == format!("/{name}")) || path.starts_with(&format!("/_meta/{SERVER_INFO}"))
}

/// Every member as it was written, without those of the envelope.
fn without_envelope(answer: &Answer) -> Option<(bool, BTreeMap<String, String>)> {
    let (is_result, text) = match answer {
        Answer::Result(text) => (true, text),
        Answer::Error(text) => (false, text),
    };
    let parts: Parts<'_> = serde_json::from_str(text).ok()?;
    let mut members: BTreeMap<_, _> = parts.iter().map(|(name, raw)| (name.clone(), raw.get().to_owned())).collect();
    if is_result {
        members.retain(|name, _| !ENVELOPE.contains(&&**name));
        let meta = members.remove("_meta").unwrap_or_else(|| "{}".to_owned());
        let meta: Parts<'_> = serde_json::from_str(&meta).ok()?;
        let rest = meta.iter().filter(|(name, _)| *name != SERVER_INFO);
        members.extend(rest.map(|(name, raw)| (format!("_meta/{name}"), raw.get().to_owned())));
    }
    Some((is_result, members))
}

/// The values of an answer, by path; a text of several lines has one for each line.
fn leaves(answer: &Answer) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    let (kind, text) = match answer {
        Answer::Result(text) => ("result", text),
        Answer::Error(text) => ("error", text),
    };
    leaves.insert(String::new(), kind.to_owned());
    walk(&serde_json::from_str(text).unwrap_or_default(), "", &mut leaves);
    leaves
}

fn walk(value: &Value, path: &str, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, one)| walk(one, &format!("{path}/{name}"), leaves)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, one)| walk(one, &format!("{path}/{at}"), leaves));
        }
        Value::String(text) if text.contains('\n') => {
            for (at, line) in text.split('\n').enumerate() {
                leaves.insert(format!("{path}, line {}", at + 1), line.to_owned());
            }
        }
        other => drop(leaves.insert(path.to_owned(), other.to_string())),
    }
}

fn differences(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> BTreeSet<String> {
    let paths = one.keys().chain(other.keys());
    paths.filter(|path| one.get(*path) != other.get(*path)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Answer, Comparison, compare};

    fn result(text: &str) -> Answer {
        Answer::Result(text.to_owned())
    }

    fn compared(one: &str, other: &str, one_era: bool) -> Comparison {
        compare(&result(one), &result(other), &BTreeSet::new(), one_era)
    }

    #[test]
    fn spelling_and_order_count_in_one_era() {
        assert_eq!(compared(r#"{"a":1.0}"#, r#"{"a":1.0}"#, true), Comparison::Equal);
        assert!(matches!(compared(r#"{"a":1.0}"#, r#"{"a":1}"#, true), Comparison::Different(_)));
        assert!(matches!(compared(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, true), Comparison::Spelling(_)));
        assert!(matches!(compared(r#"{"a":"ü"}"#, r#"{"a":"\u00fc"}"#, true), Comparison::Spelling(_)));
    }

    #[test]
    fn between_eras_only_the_envelope_may_differ() {
        let modern = r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}},"a":1.0}"#;
        assert_eq!(compared(r#"{"a":1.0}"#, modern, false), Comparison::Edited);
        assert!(matches!(compared(r#"{"a":1}"#, modern, false), Comparison::Different(_)));
        assert!(matches!(compared(r#"{"a":1.0}"#, modern, true), Comparison::Different(_)));
        let more = r#"{"resultType":"complete","_meta":{"x":1},"a":1.0}"#;
        assert!(matches!(compared(r#"{"a":1.0}"#, more, false), Comparison::Different(_)));
    }

    #[test]
    fn what_varies_is_left_out_and_nothing_else() {
        let varies = BTreeSet::from(["/t".to_owned()]);
        let compared = |one: &str, other: &str| compare(&result(one), &result(other), &varies, true);
        assert_eq!(compared(r#"{"t":1,"a":1}"#, r#"{"t":2,"a":1}"#), Comparison::Varies);
        assert!(matches!(compared(r#"{"t":1,"a":1}"#, r#"{"t":2,"a":2}"#), Comparison::Different(_)));
    }
}
