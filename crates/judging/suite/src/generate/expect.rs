//! What can be expected of a case after it was seen twice: what was the same both times, and no more.

mod proposed;
mod volatile;

use std::collections::HashSet;

use serde_json::Value;
use wire::redact::Redactor;

use super::plan::{Aim, Planned};
use super::play::Seen;
use crate::asking::{Ask, Came};

/// A case and what came of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What was asked.
    pub planned: Planned,
    /// What is written of it.
    pub verdict: Verdict,
    /// Of a case that breaks something: whether its like that breaks nothing was accepted.
    pub conclusive: bool,
}

/// What is written of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is expected to end so again.
    Expect {
        /// `ok`, `tool-error` or `error`.
        outcome: Ended,
        /// What stands in the result, by JSONPath.
        at: Vec<(String, Value)>,
    },
    /// It breaks what is demanded, and was accepted: a finding about the server.
    Accepted,
    /// It is written and not played: why.
    Skipped(String),
    /// It is not written: why.
    Left(String),
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With a result that is no tool's error.
    Ok,
    /// With a tool's error.
    ToolError,
    /// With a JSON-RPC error of this code, where that was the same both times.
    Error(Option<i64>),
    /// With one or the other.
    Refused,
}

/// How a case ended: only a `call` ends with a tool's error, by the rules of test files.
fn seen_as(planned: &Planned, came: &Came) -> Option<Ended> {
    let calls = matches!(planned.ask, Ask::Call { .. });
    ended(came).map(|ended| if ended == Ended::ToolError && !calls { Ended::Refused } else { ended })
}

fn ended(came: &Came) -> Option<Ended> {
    match came {
        Came::Result(result) if result.get("isError") == Some(&Value::Bool(true)) => Some(Ended::ToolError),
        Came::Result(_) => Some(Ended::Ok),
        Came::Error { code, .. } => Some(Ended::Error(Some(*code))),
        Came::Nothing(_) => None,
    }
}

/// What was the same of two ends.
fn common(one: Ended, other: Ended) -> Option<Ended> {
    match (one, other) {
        (a, b) if a == b => Some(a),
        (Ended::Error(_), Ended::Error(_)) => Some(Ended::Error(None)),
        (Ended::Ok, _) | (_, Ended::Ok) => None,
        _ => Some(Ended::Refused),
    }
}

/// What is written of each case.
pub(super) fn expected(planned: Vec<Planned>, first: Vec<Seen>, second: &[Seen]) -> Vec<Case> {
    // It only says what looks like a secret: no placeholder is written, so the key does not matter.
    let redactor = Redactor::new([0; 32]);
    let mut cases: Vec<Case> = planned
        .into_iter()
        .zip(first.iter().zip(second))
        .map(|(planned, (first, second))| {
            let verdict = verdict(&planned, first, second, &redactor);
            Case { planned, verdict, conclusive: false }
        })
        .collect();
    let accepted = |case: &&Case| matches!(case.verdict, Verdict::Expect { outcome: Ended::Ok, .. });
    let accepted: HashSet<String> =
        cases.iter().filter(accepted).map(|case| format!("{:?}", case.planned.ask)).collect();
    for case in &mut cases {
        case.conclusive = case.planned.witness.as_ref().is_none_or(|ask| accepted.contains(&format!("{ask:?}")));
    }
    cases
}

fn verdict(planned: &Planned, first: &Seen, second: &Seen, redactor: &Redactor) -> Verdict {
    if let Some(why) = &planned.skip {
        return Verdict::Skipped(why.clone());
    }
    let (one, other) = match (first, second) {
        (Seen::Slow, _) | (_, Seen::Slow) => {
            return Verdict::Skipped("slow: no answer in the time that there was".to_owned());
        }
        (Seen::Broke(why), _) | (_, Seen::Broke(why)) => {
            let why = wire::escape::snippet(why.lines().next().unwrap_or_default(), 120);
            return Verdict::Skipped(format!("broke: the server was gone after it ({why})"));
        }
        (Seen::Not(why), _) | (_, Seen::Not(why)) if !why.is_empty() => return Verdict::Left(why.clone()),
        (Seen::Came(Came::Nothing(why)), _) | (_, Seen::Came(Came::Nothing(why))) => {
            return Verdict::Left(why.lines().next().unwrap_or_default().to_owned());
        }
        (Seen::Came(one), Seen::Came(other)) => (one, other),
        _ => return Verdict::Left("it was not played twice".to_owned()),
    };
    let both = seen_as(planned, one).zip(seen_as(planned, other)).and_then(|(one, other)| common(one, other));
    let Some(outcome) = both else { return Verdict::Left("it is not the same every time".to_owned()) };
    match (planned.aim, outcome) {
        (Aim::Breaks, Ended::Ok) => Verdict::Accepted,
        (Aim::Strains, Ended::Ok) => Verdict::Left("it is accepted, as it may be".to_owned()),
        (_, outcome) => {
            let at = match (one, other) {
                (Came::Result(one), Came::Result(other)) if outcome == Ended::Ok => {
                    proposed::proposed(one, other, redactor)
                }
                _ => Vec::new(),
            };
            Verdict::Expect { outcome, at }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{Aim, Ask, Came, Case, Ended, Planned, Seen, Verdict, expected};

    fn call(text: &str) -> Ask {
        Ask::Call { tool: text.to_owned(), arguments: Map::new() }
    }

    fn planned(name: &str, aim: Aim, ask: Ask, witness: Option<Ask>) -> Planned {
        let text = || name.to_owned();
        Planned {
            name: text(),
            primitive: text(),
            constraint: text(),
            violation: text(),
            sort: "",
            aim,
            skip: None,
            ask,
            witness,
        }
    }

    fn result() -> Seen {
        Seen::Came(Came::Result(json!({ "content": [] })))
    }

    fn tool_error() -> Seen {
        Seen::Came(Came::Result(json!({ "isError": true })))
    }

    fn error(code: i64) -> Seen {
        Seen::Came(Came::Error { code, message: String::new() })
    }

    fn one(aim: Aim, ask: Ask, first: Seen, second: Seen) -> Verdict {
        expected(vec![planned("a", aim, ask, None)], vec![first], &[second]).remove(0).verdict
    }

    fn outcome(first: Seen, second: Seen) -> Option<Ended> {
        match one(Aim::Breaks, call("a"), first, second) {
            Verdict::Expect { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    #[test]
    fn only_what_was_the_same_is_expected() {
        assert_eq!(outcome(error(1), error(1)), Some(Ended::Error(Some(1))));
        assert_eq!(outcome(error(1), error(2)), Some(Ended::Error(None)));
        assert_eq!(outcome(error(1), tool_error()), Some(Ended::Refused));
        assert_eq!(outcome(tool_error(), tool_error()), Some(Ended::ToolError));
        assert_eq!(outcome(error(1), result()), None);
        assert!(matches!(one(Aim::Fits, call("a"), result(), tool_error()), Verdict::Left(_)));
        assert!(matches!(one(Aim::Fits, call("a"), result(), Seen::Slow), Verdict::Skipped(_)));
        let nothing = || Seen::Came(Came::Nothing("why".to_owned()));
        assert_eq!(one(Aim::Breaks, call("a"), nothing(), Seen::Not(String::new())), Verdict::Left("why".to_owned()));
    }

    #[test]
    fn what_is_accepted_is_a_finding_only_where_it_is_demanded() {
        assert_eq!(one(Aim::Breaks, call("a"), result(), result()), Verdict::Accepted);
        assert!(matches!(one(Aim::Strains, call("a"), result(), result()), Verdict::Left(_)));
    }

    #[test]
    fn a_raw_request_has_no_tool_that_fails() {
        let raw = Ask::Raw { method: "tools/call".to_owned(), params: Map::new() };
        let verdict = one(Aim::Breaks, raw, tool_error(), tool_error());
        assert_eq!(verdict, Verdict::Expect { outcome: Ended::Refused, at: Vec::new() });
    }

    #[test]
    fn a_refusal_proves_something_where_its_like_is_accepted() {
        let conclusive = |like: fn() -> Seen| {
            let fits = planned("fits", Aim::Fits, call("fits"), None);
            let breaks = planned("breaks", Aim::Breaks, call("breaks"), Some(call("fits")));
            let cases: Vec<Case> = expected(vec![fits, breaks], vec![like(), error(1)], &[like(), error(1)]);
            cases[1].conclusive
        };
        assert!(conclusive(result));
        assert!(!conclusive(tool_error));
    }
}
