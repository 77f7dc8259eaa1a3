//! Holds what came of a request against what a case expects.

use std::time::Duration;

use document::Position;
use serde_json::{Map, Value};
use serde_json_path::{JsonPath, NormalizedPath, PathElement};

use super::matcher::{At, Matcher, Unlike};
use super::outcome::Failure;
use super::plan::{Case, Outcome, Place};
use crate::asking::Came;
use crate::step::step;

/// What came beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    pub(super) elapsed: Duration,
    /// The methods of notifications.
    pub(super) notifications: Vec<String>,
    /// Of the last HTTP response, where HTTP is spoken.
    pub(super) status: Option<u16>,
}

/// Everything that is not as the case expects.
pub(super) fn judge(case: &Case, came: &Came, beside: &Beside, vars: &Value) -> Vec<Failure> {
    let expect = &case.expect;
    let mut failures: Vec<Failure> = outcome(case, came).into_iter().collect();
    if failures.is_empty() {
        match came {
            Came::Error { code, message, .. } => {
                if let Some(wanted) = expect.code.filter(|wanted| wanted != code) {
                    failures.push(failure(case.at, format!("the error {wanted}"), said(*code, message)));
                }
                if let Some((matcher, at)) = &expect.message {
                    let value = Value::String(message.clone());
                    failures.extend(unlike(matcher, &value, vars, *at, "the error's message"));
                }
            }
            Came::Result(result) => failures.extend(expect.at.iter().flat_map(|place| stands(place, result, vars))),
            Came::Nothing(_) => {}
        }
    }
    if let Some(wanted) = expect.status.filter(|wanted| beside.status != Some(*wanted)) {
        let found = beside.status.map_or_else(|| "no HTTP response".to_owned(), |status| status.to_string());
        failures.push(failure(case.at, format!("the HTTP status {wanted}"), found));
    }
    if let Some(latency) = expect.latency.filter(|latency| beside.elapsed > *latency) {
        let found = format!("{:.0} ms", beside.elapsed.as_secs_f64() * 1000.0);
        failures.push(failure(case.at, format!("an answer within {:.0} ms", latency.as_secs_f64() * 1000.0), found));
    }
    let count = |method: &str| beside.notifications.iter().filter(|came| *came == method).count();
    if let Some(wanted) = expect.progress {
        let came = count("notifications/progress");
        if came < wanted {
            failures.push(failure(case.at, format!("{wanted} or more notifications of progress"), came.to_string()));
        }
    }
    for method in expect.notifications.iter().filter(|method| count(method) == 0) {
        let found = match beside.notifications.as_slice() {
            [] => "none".to_owned(),
            came => came.join(", "),
        };
        failures.push(failure(case.at, format!("the notification {method}"), found));
    }
    failures.sort_by_key(|failure| failure.at);
    failures
}

/// What is wrong with how the request ended.
fn outcome(case: &Case, came: &Came) -> Option<Failure> {
    let wanted = case.expect.outcome?;
    let is_error = |result: &Value| result.get("isError") == Some(&Value::Bool(true));
    let (ended, found, value) = match came {
        Came::Result(result) if is_error(result) => {
            let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
            (Some(Outcome::ToolError), format!("the tool failed: {}", wire::escape::snippet(text, 300)), Some(result))
        }
        Came::Result(result) => (Some(Outcome::Ok), "a result".to_owned(), Some(result)),
        Came::Error { code, message, .. } => (Some(Outcome::Error), said(*code, message), None),
        Came::Nothing(why) => (None, why.clone(), None),
    };
    let fits = match wanted {
        Outcome::Refused => matches!(ended, Some(Outcome::ToolError | Outcome::Error)),
        wanted => ended == Some(wanted),
    };
    if fits {
        return None;
    }
    let wanted = match wanted {
        Outcome::Ok => "a result",
        Outcome::ToolError => "a result that says that the tool failed",
        Outcome::Error => "a JSON-RPC error",
        Outcome::Refused => "a JSON-RPC error, or a tool that failed",
    };
    Some(Failure { value: value.cloned(), ..failure(case.at, wanted.to_owned(), found) })
}

fn said(code: i64, message: &str) -> String {
    format!("the error {code}: {}", wire::escape::snippet(message, 300))
}

/// What is wrong with what stands at a path.
fn stands(place: &Place, result: &Value, vars: &Value) -> Vec<Failure> {
    let Place { text, path, matcher: At { exists, count, each }, at } = place;
    let found = path.query_located(result);
    let number = found.len();
    let path_itself =
        |wanted: String, found: String| Failure { path: Some(text.clone()), ..failure(*at, wanted, found) };
    if let Some(count) = count {
        if !count.hold(number as f64) {
            return vec![path_itself(format!("{count} of them"), number.to_string())];
        }
    } else if *exists == Some(false) {
        let mut found = found.iter().map(|node| (dotted(node.location()), node.node()));
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
        return vec![path_itself(each.to_string(), "nothing stands there".to_owned())];
    }
    found.iter().filter_map(|node| unlike(each, node.node(), vars, *at, &dotted(node.location()))).collect()
}

/// A place, as people write it.
fn dotted(path: &NormalizedPath<'_>) -> String {
    let steps = path.iter().map(|element| match element {
        PathElement::Name(name) => step(name),
        PathElement::Index(at) => format!("[{at}]"),
    });
    format!("${}", steps.collect::<String>())
}

fn unlike(matcher: &Matcher, value: &Value, vars: &Value, at: Position, path: &str) -> Option<Failure> {
    let Unlike { wanted, exactly } = matcher.judge(value, vars).err()?;
    let found = wire::escape::snippet(&value.to_string(), 300);
    Some(Failure { at, path: Some(path.to_owned()), wanted, exactly, found, value: Some(value.clone()) })
}

pub(super) fn failure(at: Position, wanted: String, found: String) -> Failure {
    Failure { at, path: None, wanted, exactly: None, found, value: None }
}

/// A result without what eras and runs may tell differently: the protocol's own members, and what `volatile` leads to.
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

/// What a case captures, and for which names there is no value, or several.
pub(super) fn captured(case: &Case, result: &Value) -> (Map<String, Value>, Vec<Failure>) {
    let (mut captured, mut failures) = (Map::new(), Vec::new());
    for (name, path) in &case.capture {
        let found = path.query(result);
        if found.len() == 1 {
            captured.extend(found.first().map(|value| (name.clone(), value.clone())));
        } else {
            let wanted = format!("one value to capture as `{name}`");
            failures
                .push(Failure { path: Some(path.to_string()), ..failure(case.at, wanted, found.len().to_string()) });
        }
    }
    (captured, failures)
}
