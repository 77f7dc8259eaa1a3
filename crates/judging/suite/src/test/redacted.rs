//! Failures without the secrets of the server's answers. Once for each failure: a placeholder is replaced by another one.

use serde_json::{Value, json};
use wire::redact::{Redactor, Secrets};

use super::outcome::{Failure, Verdict};

/// A verdict without secrets.
pub(super) fn verdict(redactor: &Redactor, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Failed(failures) => {
            Verdict::Failed(failures.into_iter().map(|failure| redact(redactor, failure)).collect())
        }
        other => other,
    }
}

fn redact(redactor: &Redactor, failure: Failure) -> Failure {
    let name = failure.path.as_deref().and_then(last_name);
    let mut found = Found::default();
    let mut hidden = |value: Value| {
        let redacted = match &name {
            // The name says whether the value is secret.
            Some(name) => redactor.redact_value(&json!({ name: value }))[name].clone(),
            None => redactor.redact_value(&value),
        };
        found.collect(redactor, &value, &redacted);
        redacted
    };
    let (value, expected_value) = (failure.value.map(&mut hidden), failure.expected_value.map(&mut hidden));
    // The texts quote the values, in whole or their beginnings.
    let (by_name, by_shape) = (redactor.clone().knowing(&found.by_name), redactor.clone().knowing(&found.by_shape));
    let text = |text: String| by_shape.redact_known(&redactor.redact_text(&by_name.redact_known(&text))).into_owned();
    Failure { value, expected_value, expected: text(failure.expected), found: text(failure.found), ..failure }
}

/// Texts and numbers with secrets.
#[derive(Default)]
struct Found {
    /// A text may quote them under no name.
    by_name: Secrets,
    /// A text may quote their beginning, which has no shape yet.
    by_shape: Secrets,
}

impl Found {
    fn collect(&mut self, redactor: &Redactor, value: &Value, redacted: &Value) {
        match (value, redacted) {
            (Value::Object(one), Value::Object(other)) => {
                one.values().zip(other.values()).for_each(|(one, other)| self.collect(redactor, one, other));
            }
            (Value::Array(one), Value::Array(other)) => {
                one.iter().zip(other).for_each(|(one, other)| self.collect(redactor, one, other));
            }
            (one, other) if one == other => {}
            (Value::String(one), Value::String(other)) if redactor.redact_message(one) == *other => {
                self.by_shape.add(one);
            }
            (Value::String(one), _) => self.by_name.add(one),
            (one, _) => self.by_name.add(&one.to_string()),
        }
    }
}

/// The name of the member that a path ends at, or that holds the array it ends in.
fn last_name(path: &str) -> Option<String> {
    let mut path = path;
    while let Some((rest, index)) = path.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        if let Some(name) = index.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
            return Some(name.replace("\\'", "'").replace("\\\\", "\\"));
        }
        path = rest;
    }
    path.rsplit_once('.').map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::judge::failure;

    #[test]
    fn a_failure_quotes_no_secret() {
        let redactor = Redactor::new([7; 32]);
        let token = "ghp_0123456789abcdefghij";
        let at = document::Position { line: 1, column: 1 };
        for (path, value, secret) in [
            (Some("$.structuredContent.password"), json!("correct horse"), "correct horse"),
            (Some("$.structuredContent['db_pass'][0]"), json!("correct horse"), "correct horse"),
            (Some("$.password"), json!(12_345_678), "12345678"),
            (Some("$.content[0].text"), json!(format!("it is {token}")), token),
            (Some("$.structuredContent"), json!({ "a": [{ "apiKey": "correct \"horse\"" }] }), "horse"),
            (None, json!({ "secret": "correct horse" }), "correct horse"),
            (Some("$.text"), json!(format!("{} {token}", "x ".repeat(141))), "ghp_01234"),
        ] {
            let before = Failure {
                path: path.map(str::to_owned),
                expected_value: Some(value.clone()),
                value: Some(value.clone()),
                ..failure(at, value.to_string(), wire::escape::snippet(&value.to_string(), 300))
            };
            let Verdict::Failed(after) = verdict(&redactor, Verdict::Failed(vec![before])) else { panic!("it failed") };
            let shown = format!("{after:?}");
            assert!(!shown.contains(secret), "{shown}");
            assert_eq!(after[0].path.as_deref(), path);
        }
        let plain = Failure { value: Some(json!("two")), ..failure(at, "one".to_owned(), "\"two\"".to_owned()) };
        let failed = Verdict::Failed(vec![plain]);
        assert_eq!(verdict(&redactor, failed.clone()), failed);
    }
}
