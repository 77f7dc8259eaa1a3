//! One expected call and one call: what of the arguments is right, and what is wrong with the rest.

use serde_json::Value;
use wire::json::same;
use wire::pointer;

use super::outcome::{Finding, Outcome};
use crate::call::{Parse, ToolCall};
use crate::case::ExpectedCall;
use crate::catalogue::{Catalogue, Tool};
use crate::matcher::{Matcher, shown};

/// How many places of one call that break the schema are reported.
const MOST_INVALID: usize = 10;

/// What one expected call and one call of the same tool come to.
#[derive(Debug)]
pub(super) struct Judged {
    /// What is wrong, in no order.
    pub(super) findings: Vec<Finding>,
    /// The share of arguments that are right, from 0 to 1.
    pub(super) share: f64,
}

impl Judged {
    pub(super) fn is_correct(&self) -> bool {
        self.findings.is_empty()
    }
}

/// What is wrong with a call, whatever was expected: it cannot be read, or its tool was not offered.
pub(super) fn unusable(call: &ToolCall, catalogue: Option<&Catalogue>) -> Option<Finding> {
    let why = match &call.parse {
        Parse::Malformed(why) => Some(why.as_str()),
        Parse::Truncated => Some("the arguments end in the middle"),
        Parse::Parsed | Parse::Empty if call.name.is_empty() => Some("a call without a name"),
        Parse::Parsed | Parse::Empty => None,
    };
    let finding = |outcome, expected: &str, actual: &str| Finding {
        outcome,
        call: Some(call.order),
        tool: call.name.clone(),
        pointer: String::new(),
        expected: expected.to_owned(),
        actual: actual.to_owned(),
    };
    match why {
        Some(why) => Some(finding(Outcome::Malformed, "arguments as a JSON object", why)),
        None if catalogue.is_some_and(|catalogue| catalogue.tool(&call.name).is_none()) => {
            Some(finding(Outcome::HallucinatedTool, "a tool that was offered", "no tool of that name"))
        }
        None => None,
    }
}

/// Judges the arguments of a call of the expected tool.
pub(super) fn judge(expected: &ExpectedCall, call: &ToolCall, tool: Option<&Tool>) -> Judged {
    let mut pair = Pair { expected, call, tool, findings: Vec::new(), right: 0, total: 0 };
    for (name, matcher) in &expected.arguments {
        let before = pair.findings.len();
        pair.expected_argument(name, matcher);
        pair.count(before);
    }
    let others = call.arguments.iter().filter(|(name, _)| !expected.arguments.iter().any(|(known, _)| known == *name));
    for (name, value) in others {
        let before = pair.findings.len();
        pair.other_argument(name, value);
        pair.count(before);
    }
    pair.schema();
    let share = if pair.total == 0 { 1.0 } else { pair.right as f64 / pair.total as f64 };
    Judged { findings: pair.findings, share }
}

struct Pair<'p> {
    expected: &'p ExpectedCall,
    call: &'p ToolCall,
    tool: Option<&'p Tool>,
    findings: Vec<Finding>,
    right: usize,
    total: usize,
}

impl Pair<'_> {
    fn count(&mut self, before: usize) {
        self.total += 1;
        self.right += usize::from(self.findings.len() == before);
    }

    fn find(&mut self, outcome: Outcome, pointer: String, expected: String, actual: String) {
        let tool = self.call.name.clone();
        self.findings.push(Finding { outcome, call: Some(self.call.order), tool, pointer, expected, actual });
    }

    fn default_of(&self, name: &str) -> Option<&Value> {
        self.tool?.argument(name)?.get("default")
    }

    fn expected_argument(&mut self, name: &str, matcher: &Matcher) {
        let at = format!("/{}", pointer::escape(name));
        let judged = match self.call.arguments.get(name) {
            Some(value) => {
                // An argument that the tool does not have is wrong even where the case expects it.
                if self.tool.is_some_and(|tool| !tool.knows(name)) && !matches!(matcher, Matcher::Absent) {
                    self.find(Outcome::HallucinatedArgument, at, "no such argument".to_owned(), shown(value));
                    return;
                }
                matcher.judge(value)
            }
            None if matcher.allows_absence() => Ok(()),
            // What is left out has its default.
            None => match self.default_of(name) {
                Some(default) if matcher.judge(default).is_ok() => Ok(()),
                _ => {
                    self.find(Outcome::MissingArgument, at, matcher.to_string(), crate::NOTHING.to_owned());
                    return;
                }
            },
        };
        if let Err(mismatch) = judged {
            let pointer = format!("{at}{}", mismatch.pointer);
            self.find(Outcome::WrongArgument, pointer, mismatch.expected, mismatch.actual);
        }
    }

    fn other_argument(&mut self, name: &str, value: &Value) {
        let at = format!("/{}", pointer::escape(name));
        if self.tool.is_some_and(|tool| !tool.knows(name)) {
            self.find(Outcome::HallucinatedArgument, at, "no such argument".to_owned(), shown(value));
        } else if !self.expected.ignores_others && !self.default_of(name).is_some_and(|default| same(default, value)) {
            let expected = self
                .default_of(name)
                .map_or_else(|| crate::NOTHING.to_owned(), |d| format!("nothing, or {}", shown(d)));
            self.find(Outcome::WrongArgument, at, expected, shown(value));
        }
    }

    /// What the tool itself would refuse, where it is not known yet.
    fn schema(&mut self) {
        let Some(validator) = self.tool.and_then(Tool::validator) else { return };
        let arguments = Value::Object(self.call.arguments.clone());
        for mismatch in validator.mismatches(&arguments, MOST_INVALID) {
            let is_known = self.findings.iter().any(|known| {
                let is_below = known.pointer.starts_with(&format!("{}/", mismatch.pointer));
                let is_same = mismatch.keyword != "required" || known.outcome == Outcome::MissingArgument;
                known.outcome != Outcome::WrongArgument && (known.pointer == mismatch.pointer || is_below && is_same)
            });
            if is_known {
                continue;
            }
            // The schema's own word on a value counts more than the case's.
            self.findings.retain(|known| known.pointer != mismatch.pointer || mismatch.pointer.is_empty());
            let is_missing = mismatch.keyword == "required";
            let outcome = if is_missing { Outcome::MissingArgument } else { Outcome::InvalidArgument };
            let actual = arguments.pointer(&mismatch.pointer).map_or_else(|| crate::NOTHING.to_owned(), shown);
            self.find(outcome, mismatch.pointer, mismatch.message, actual);
            if self.right == self.total && self.total > 0 {
                self.right -= 1;
            }
        }
    }
}

/// What a call comes to of which nothing was expected.
pub(super) fn about(call: &ToolCall, outcome: Outcome, expected: &str) -> Finding {
    Finding {
        outcome,
        call: Some(call.order),
        tool: call.name.clone(),
        pointer: String::new(),
        expected: expected.to_owned(),
        actual: format!("{}({})", call.name, call.arguments.keys().map(String::as_str).collect::<Vec<_>>().join(", ")),
    }
}
