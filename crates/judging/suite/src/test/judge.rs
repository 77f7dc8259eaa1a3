//! Compares the reply to a request with what the case expects.

use std::time::Duration;

use document::Position;
use serde_json::{Map, Value};
use serde_json_path::{JsonPath, NormalizedPath, PathElement};

use super::matcher::{At, Matcher, Mismatch};
use super::outcome::Failure;
use super::plan::{Case, Outcome, PathExpectation};
use crate::jsonpath::child_segment;
use crate::requests::Reply;

/// What was observed in addition to the reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    pub(super) elapsed: Duration,
    /// The methods of notifications.
    pub(super) notifications: Vec<String>,
    /// The status of the last HTTP response.
    pub(super) status: Option<u16>,
}

/// All differences from what the case expects.
pub(super) fn judge(case: &Case, reply: &Reply, observed: &Observed, vars: &Value) -> Vec<Failure> {
    let expect = &case.expect;
    let mut failures: Vec<Failure> = outcome(case, reply).into_iter().collect();
    if failures.is_empty() {
        match reply {
            Reply::Error { code, message, .. } => {
                if let Some(expected) = expect.code.filter(|expected| expected != code) {
                    failures.push(failure(case.at, format!("the error {expected}"), describe_error(*code, message)));
                }
                if let Some((matcher, at)) = &expect.message {
                    let value = Value::String(message.clone());
                    failures.extend(mismatch_at(matcher, &value, vars, *at, "the error's message"));
                }
            }
            Reply::Result(result) => failures.extend(expect.at.iter().flat_map(|path| judge_path(path, result, vars))),
            Reply::NoAnswer(_) => {}
        }
    }
    if let Some(expected) = expect.status.filter(|expected| observed.status != Some(*expected)) {
        let found = observed.status.map_or_else(|| "no HTTP response".to_owned(), |status| status.to_string());
        failures.push(failure(case.at, format!("the HTTP status {expected}"), found));
    }
    if let Some(latency) = expect.latency.filter(|latency| observed.elapsed > *latency) {
        let found = format!("{:.0} ms", observed.elapsed.as_secs_f64() * 1000.0);
        failures.push(failure(case.at, format!("an answer within {:.0} ms", latency.as_secs_f64() * 1000.0), found));
    }
    let count = |method: &str| observed.notifications.iter().filter(|sent| *sent == method).count();
    if let Some(expected) = expect.progress {
        let received = count("notifications/progress");
        if received < expected {
            failures.push(failure(case.at, format!("{expected} or more progress notifications"), received.to_string()));
        }
    }
    for method in expect.notifications.iter().filter(|method| count(method) == 0) {
        let found = match observed.notifications.as_slice() {
            [] => "none".to_owned(),
            received => received.join(", "),
        };
        failures.push(failure(case.at, format!("the notification {method}"), found));
    }
    failures.sort_by_key(|failure| failure.at);
    failures
}

/// A failure where the request ended in another way than expected.
fn outcome(case: &Case, reply: &Reply) -> Option<Failure> {
    let expected = case.expect.outcome?;
    let is_error = |result: &Value| result.get("isError") == Some(&Value::Bool(true));
    let (ended, found, value) = match reply {
        Reply::Result(result) if is_error(result) => {
            let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
            (Some(Outcome::ToolError), format!("a tool error: {}", wire::escape::snippet(text, 300)), Some(result))
        }
        Reply::Result(result) => (Some(Outcome::Ok), "a result".to_owned(), Some(result)),
        Reply::Error { code, message, .. } => (Some(Outcome::Error), describe_error(*code, message), None),
        Reply::NoAnswer(why) => (None, why.clone(), None),
    };
    let fits = match expected {
        Outcome::Refused => matches!(ended, Some(Outcome::ToolError | Outcome::Error)),
        expected => ended == Some(expected),
    };
    if fits {
        return None;
    }
    let expected = match expected {
        Outcome::Ok => "a result",
        Outcome::ToolError => "a result that reports a tool error",
        Outcome::Error => "a JSON-RPC error",
        Outcome::Refused => "a JSON-RPC error, or a tool error",
    };
    Some(Failure { value: value.cloned(), ..failure(case.at, expected.to_owned(), found) })
}

fn describe_error(code: i64, message: &str) -> String {
    format!("the error {code}: {}", wire::escape::snippet(message, 300))
}

/// The failures at a path into the result.
fn judge_path(expectation: &PathExpectation, result: &Value, vars: &Value) -> Vec<Failure> {
    let PathExpectation { text, path, matcher: At { exists, count, each }, at } = expectation;
    let found = path.query_located(result);
    let number = found.len();
    let path_itself =
        |expected: String, found: String| Failure { path: Some(text.clone()), ..failure(*at, expected, found) };
    if let Some(count) = count {
        if !count.hold(number as f64) {
            return vec![path_itself(format!("{count} of them"), number.to_string())];
        }
    } else if *exists == Some(false) {
        let mut found = found.iter().map(|node| (shortest(node.location()), node.node()));
        return found
            .next()
            .map(|(path, value)| Failure {
                path: Some(path),
                value: Some(value.clone()),
                ..failure(*at, "nothing".to_owned(), "something".to_owned())
            })
            .into_iter()
            .collect();
    } else if number == 0 {
        return vec![path_itself(each.to_string(), "nothing".to_owned())];
    }
    found.iter().filter_map(|node| mismatch_at(each, node.node(), vars, *at, &shortest(node.location()))).collect()
}

/// A path in its shortest form.
fn shortest(path: &NormalizedPath<'_>) -> String {
    let steps = path.iter().map(|element| match element {
        PathElement::Name(name) => child_segment(name),
        PathElement::Index(at) => format!("[{at}]"),
    });
    format!("${}", steps.collect::<String>())
}

fn mismatch_at(matcher: &Matcher, value: &Value, vars: &Value, at: Position, path: &str) -> Option<Failure> {
    let Mismatch { expected, expected_value } = matcher.judge(value, vars).err()?;
    let found = wire::escape::snippet(&value.to_string(), 300);
    Some(Failure { at, path: Some(path.to_owned()), expected, expected_value, found, value: Some(value.clone()) })
}

pub(super) fn failure(at: Position, expected: String, found: String) -> Failure {
    Failure { at, path: None, expected, expected_value: None, found, value: None }
}

/// A result without what may differ between eras and runs: members of the protocol, and values at the `volatile` paths.
pub(super) fn essence(result: &Value, volatile: &[JsonPath]) -> Value {
    let mut essence = result.clone();
    for path in volatile {
        let pointers: Vec<String> = path.query_located(result).locations().map(|at| at.to_json_pointer()).collect();
        for pointer in pointers {
            if let Some(value) = essence.pointer_mut(&pointer) {
                *value = Value::String("(volatile)".to_owned());
            }
        }
    }
    if let Value::Object(members) = &mut essence {
        members
            .retain(|name, _| !matches!(name.as_str(), "_meta" | "resultType" | "ttlMs" | "cacheScope" | "nextCursor"));
    }
    essence
}

/// The values that a case captures, and a failure for each name without exactly one value.
pub(super) fn captured(case: &Case, result: &Value) -> (Map<String, Value>, Vec<Failure>) {
    let (mut captured, mut failures) = (Map::new(), Vec::new());
    for (name, path) in &case.capture {
        let found = path.query(result);
        if found.len() == 1 {
            captured.extend(found.first().map(|value| (name.clone(), value.clone())));
        } else {
            let expected = format!("one value to capture as `{name}`");
            failures
                .push(Failure { path: Some(path.to_string()), ..failure(case.at, expected, found.len().to_string()) });
        }
    }
    (captured, failures)
}
