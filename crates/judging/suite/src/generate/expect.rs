//! Turns two observations of a case into an expectation of what was the same both times.

mod proposed;
mod volatile;

use std::collections::HashSet;

use serde_json::Value;
use wire::redact::Redactor;

use super::machine::MachineFacts;
use super::plan::{Aim, Planned};
use super::play::Observation;
use crate::requests::{Reply, Request};

/// A case with its verdict.
#[derive(Clone, Debug)]
pub struct Case {
    /// The request.
    pub planned: Planned,
    /// What to write.
    pub verdict: Verdict,
    /// Of an invalid request: whether its valid counterpart was accepted.
    pub conclusive: bool,
}

/// What to write of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Expect the same end again.
    Expect {
        /// `ok`, `tool-error` or `error`.
        outcome: Ended,
        /// Matchers of the result, by JSONPath.
        at: Vec<(String, Value)>,
    },
    /// The server accepted an invalid request: a finding.
    Accepted,
    /// Written but skipped, with the reason.
    Skipped(String),
    /// Not written, with the reason.
    Omitted(String),
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With a result other than a tool error.
    Ok,
    /// With a tool error.
    ToolError,
    /// With a JSON-RPC error; the code if it was the same both times.
    Error(Option<i64>),
    /// With a tool error or a JSON-RPC error.
    Refused,
}

/// How a case ended. In test files only a `call` can end with a tool error.
fn end_of(planned: &Planned, reply: &Reply) -> Option<Ended> {
    let calls = matches!(planned.request, Request::Call { .. });
    ended(reply).map(|ended| if ended == Ended::ToolError && !calls { Ended::Refused } else { ended })
}

fn ended(reply: &Reply) -> Option<Ended> {
    match reply {
        Reply::Result(result) if result.get("isError") == Some(&Value::Bool(true)) => Some(Ended::ToolError),
        Reply::Result(_) => Some(Ended::Ok),
        Reply::Error { code, .. } => Some(Ended::Error(Some(*code))),
        Reply::NoAnswer(_) => None,
    }
}

/// What two ends have in common.
fn common(one: Ended, other: Ended) -> Option<Ended> {
    match (one, other) {
        (a, b) if a == b => Some(a),
        (Ended::Error(_), Ended::Error(_)) => Some(Ended::Error(None)),
        (Ended::Ok, _) | (_, Ended::Ok) => None,
        _ => Some(Ended::Refused),
    }
}

/// The verdict on each case.
pub(super) fn expectations(
    planned: Vec<Planned>,
    first: Vec<Observation>,
    second: &[Observation],
    (redactor, machine): (&Redactor, &MachineFacts),
) -> Vec<Case> {
    let mut cases: Vec<Case> = planned
        .into_iter()
        .zip(first.iter().zip(second))
        .map(|(planned, (first, second))| {
            let verdict = match verdict(&planned, first, second, (redactor, machine)) {
                _ if planned.request.quotes_secret(redactor) => {
                    Verdict::Omitted("the request would quote what looks like a secret".to_owned())
                }
                Verdict::Skipped(why) => Verdict::Skipped(redactor.redact_text(&why).into_owned()),
                verdict => verdict,
            };
            Case { planned, verdict, conclusive: false }
        })
        .collect();
    let accepted = |case: &&Case| matches!(case.verdict, Verdict::Expect { outcome: Ended::Ok, .. });
    let accepted: HashSet<String> =
        cases.iter().filter(accepted).map(|case| format!("{:?}", case.planned.request)).collect();
    for case in &mut cases {
        case.conclusive =
            case.planned.witness.as_ref().is_none_or(|request| accepted.contains(&format!("{request:?}")));
    }
    cases
}

fn verdict(
    planned: &Planned,
    first: &Observation,
    second: &Observation,
    unwritten: (&Redactor, &MachineFacts),
) -> Verdict {
    if let Some(why) = &planned.skip {
        return Verdict::Skipped(why.clone());
    }
    let (one, other) = match (first, second) {
        (Observation::TimedOut, _) | (_, Observation::TimedOut) => {
            return Verdict::Skipped("slow: no answer within the time limit".to_owned());
        }
        (Observation::Disconnected(why), _) | (_, Observation::Disconnected(why)) => {
            let why = wire::escape::snippet(why.lines().next().unwrap_or_default(), 120);
            return Verdict::Skipped(format!("broke: the server stopped after this request ({why})"));
        }
        (Observation::NotPlayed(why), _) | (_, Observation::NotPlayed(why)) if !why.is_empty() => {
            return Verdict::Omitted(why.clone());
        }
        (Observation::Reply(Reply::NoAnswer(why)), _) | (_, Observation::Reply(Reply::NoAnswer(why))) => {
            return Verdict::Omitted(why.lines().next().unwrap_or_default().to_owned());
        }
        (Observation::Reply(one), Observation::Reply(other)) => (one, other),
        _ => return Verdict::Omitted("the case was not played twice".to_owned()),
    };
    let both = end_of(planned, one).zip(end_of(planned, other)).and_then(|(one, other)| common(one, other));
    let Some(outcome) = both else { return Verdict::Omitted("the answer differs each time".to_owned()) };
    match (planned.aim, outcome) {
        (Aim::Invalid, Ended::Ok) => Verdict::Accepted,
        (Aim::Questionable, Ended::Ok) => Verdict::Omitted("the server accepts it, as it may".to_owned()),
        (_, outcome) => {
            let at = match (one, other) {
                (Reply::Result(one), Reply::Result(other)) if outcome == Ended::Ok => {
                    proposed::propose(one, other, unwritten)
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

    use super::{
        Aim, Case, Ended, MachineFacts, Observation, Planned, Redactor, Reply, Request, Verdict, expectations,
    };

    fn call(text: &str) -> Request {
        Request::Call { tool: text.to_owned(), arguments: Map::new() }
    }

    fn planned(name: &str, aim: Aim, request: Request, witness: Option<Request>) -> Planned {
        let text = || name.to_owned();
        Planned {
            name: text(),
            primitive: text(),
            constraint: text(),
            violation: text(),
            sort: "",
            aim,
            skip: None,
            request,
            witness,
        }
    }

    fn result() -> Observation {
        Observation::Reply(Reply::Result(json!({ "content": [] })))
    }

    fn tool_error() -> Observation {
        Observation::Reply(Reply::Result(json!({ "isError": true })))
    }

    fn error(code: i64) -> Observation {
        Observation::Reply(Reply::Error { code, message: String::new() })
    }

    fn one(aim: Aim, request: Request, first: Observation, second: Observation) -> Verdict {
        expectations(
            vec![planned("a", aim, request, None)],
            vec![first],
            &[second],
            (&Redactor::masking(), &MachineFacts::default()),
        )
        .remove(0)
        .verdict
    }

    fn outcome(first: Observation, second: Observation) -> Option<Ended> {
        match one(Aim::Invalid, call("a"), first, second) {
            Verdict::Expect { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    #[test]
    fn an_expectation_holds_what_both_answers_share() {
        assert_eq!(outcome(error(1), error(1)), Some(Ended::Error(Some(1))));
        assert_eq!(outcome(error(1), error(2)), Some(Ended::Error(None)));
        assert_eq!(outcome(error(1), tool_error()), Some(Ended::Refused));
        assert_eq!(outcome(tool_error(), tool_error()), Some(Ended::ToolError));
        assert_eq!(outcome(error(1), result()), None);
        assert!(matches!(one(Aim::Valid, call("a"), result(), tool_error()), Verdict::Omitted(_)));
        assert!(matches!(one(Aim::Valid, call("a"), result(), Observation::TimedOut), Verdict::Skipped(_)));
        let nothing = || Observation::Reply(Reply::NoAnswer("why".to_owned()));
        assert_eq!(
            one(Aim::Invalid, call("a"), nothing(), Observation::NotPlayed(String::new())),
            Verdict::Omitted("why".to_owned())
        );
    }

    #[test]
    fn accepting_an_invalid_request_is_a_finding() {
        assert_eq!(one(Aim::Invalid, call("a"), result(), result()), Verdict::Accepted);
        assert!(matches!(one(Aim::Questionable, call("a"), result(), result()), Verdict::Omitted(_)));
    }

    #[test]
    fn nothing_is_written_that_looks_like_a_secret() {
        let token = "ghp_0123456789abcdefghij";
        let mut arguments = Map::new();
        arguments.insert("list".to_owned(), json!([{ "a": format!("the {token}") }]));
        let with = Request::Call { tool: "a".to_owned(), arguments };
        assert!(matches!(one(Aim::Valid, with, result(), result()), Verdict::Omitted(_)));
        let mut arguments = Map::new();
        arguments.insert("password".to_owned(), json!("text"));
        let without = Request::Call { tool: "a".to_owned(), arguments };
        assert!(matches!(one(Aim::Valid, without, result(), result()), Verdict::Expect { .. }));
        let lost = Observation::Disconnected(format!("it said {token}"));
        let Verdict::Skipped(why) = one(Aim::Valid, call("a"), result(), lost) else { panic!("it broke") };
        assert!(!why.contains(token) && why.contains("it said"), "{why}");
    }

    #[test]
    fn a_raw_request_has_no_tool_error() {
        let raw = Request::Raw { method: "tools/call".to_owned(), params: Map::new() };
        let verdict = one(Aim::Invalid, raw, tool_error(), tool_error());
        assert_eq!(verdict, Verdict::Expect { outcome: Ended::Refused, at: Vec::new() });
    }

    #[test]
    fn a_refusal_is_conclusive_if_its_counterpart_is_accepted() {
        let conclusive = |like: fn() -> Observation| {
            let fits = planned("fits", Aim::Valid, call("fits"), None);
            let breaks = planned("breaks", Aim::Invalid, call("breaks"), Some(call("fits")));
            let ends = || vec![like(), error(1)];
            let cases: Vec<Case> =
                expectations(vec![fits, breaks], ends(), &ends(), (&Redactor::masking(), &MachineFacts::default()));
            cases[1].conclusive
        };
        assert!(conclusive(result));
        assert!(!conclusive(tool_error));
    }
}
