//! One answer against its case: which calls are which, what is wrong with each, and the one outcome of the whole.

mod assign;
mod attempt;
mod outcome;
mod pair;

use crate::call::{Sample, ToolCall};
use crate::case::{Case, Order};
use crate::catalogue::Catalogue;
use assign::Weights;
use pair::{Judged, about, judge, unusable};

pub use outcome::{Finding, Outcome};

/// A pair that is right outweighs any number of pairs that are nearly so.
const RIGHT: i64 = 1 << 44;
/// A call that must happen goes before one that may.
const REQUIRED: i64 = 1 << 22;
/// The weight of a pair whose arguments are all right but one thing.
const NEARLY: f64 = (1 << 20) as f64;

/// What an answer comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// What became of it.
    pub outcome: Outcome,
    /// How much of it is right, from 0 to 1; 1 only where all is.
    pub score: f64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Which tool was called for which: expected and actual; empty where there was none.
    pub pairs: Vec<(String, String)>,
}

impl Scored {
    /// Whether all is as expected.
    pub fn passes(&self) -> bool {
        self.outcome == Outcome::Correct
    }
}

/// Scores an answer. Without a catalogue, no tool and no argument counts as hallucinated.
pub fn score(case: &Case, sample: &Sample, catalogue: Option<&Catalogue>) -> Scored {
    if let Some(why) = &sample.broken {
        return nothing(case, Outcome::Broken, "an answer", why);
    }
    if sample.calls.is_empty() {
        return without_calls(case, sample, catalogue);
    }
    let answer = Answer::of(case, sample, catalogue);
    let pairs = match case.order {
        Order::Strict | Order::InOrder => assign::in_order(&answer.weights, sample.calls.len()),
        Order::Unordered | Order::Subset | Order::Superset => assign::unordered(&answer.weights, sample.calls.len()),
    };
    let scored = answer.conclude(&pairs);
    let is_ordered = matches!(case.order, Order::Strict | Order::InOrder);
    if is_ordered && !scored.passes() {
        let any_order = answer.conclude(&assign::unordered(&answer.weights, sample.calls.len()));
        if any_order.passes() {
            return answer.in_wrong_order(any_order);
        }
    }
    scored
}

/// An answer that calls nothing: what was asked for, an abstention, a refusal, or a call that was written as text.
fn without_calls(case: &Case, sample: &Sample, catalogue: Option<&Catalogue>) -> Scored {
    if let Some(attempt) = attempt::find(&sample.text, catalogue) {
        return nothing(case, Outcome::Malformed, "a call, or a text for people", &attempt);
    }
    if sample.is_partial {
        return nothing(case, Outcome::Broken, "a whole answer", "it ended early");
    }
    if case.expect.is_empty() {
        let pairs = vec![(String::new(), String::new())];
        return Scored { outcome: Outcome::Correct, score: 1.0, findings: Vec::new(), pairs };
    }
    let outcome = if sample.is_refusal { Outcome::Refused } else { Outcome::Abstained };
    nothing(case, outcome, "a call", "none")
}

/// An answer in which no call counts.
fn nothing(case: &Case, outcome: Outcome, expected: &str, actual: &str) -> Scored {
    let required: Vec<&str> = case.expect.iter().filter(|one| !one.is_optional).map(|one| one.tool.as_str()).collect();
    let finding = Finding {
        outcome,
        call: None,
        tool: required.join(", "),
        pointer: String::new(),
        expected: expected.to_owned(),
        actual: wire::escape::snippet(actual, 200),
    };
    let pairs = required.iter().map(|tool| ((*tool).to_owned(), String::new())).collect();
    Scored { outcome, score: 0.0, findings: vec![finding], pairs }
}

/// An answer with calls, each of them held against each of the expected ones.
struct Answer<'a> {
    case: &'a Case,
    calls: &'a [ToolCall],
    /// What is wrong with each call, whatever was expected.
    unusable: Vec<Option<Finding>>,
    judged: Vec<Vec<Option<Judged>>>,
    weights: Weights,
}

impl<'a> Answer<'a> {
    fn of(case: &'a Case, sample: &'a Sample, catalogue: Option<&Catalogue>) -> Self {
        let unusable: Vec<_> = sample.calls.iter().map(|call| unusable(call, catalogue)).collect();
        let judged: Vec<Vec<Option<Judged>>> = case
            .expect
            .iter()
            .map(|expected| {
                let tool = catalogue.and_then(|catalogue| catalogue.tool(&expected.tool));
                let calls = sample.calls.iter().zip(&unusable);
                calls
                    .map(|(call, unusable)| {
                        (unusable.is_none() && call.name == expected.tool).then(|| judge(expected, call, tool))
                    })
                    .collect()
            })
            .collect();
        let weight = |(row, judged): (usize, &Option<Judged>)| match judged {
            None => 0,
            Some(judged) => {
                let worth = if judged.is_correct() { RIGHT } else { 1 + (judged.share * NEARLY) as i64 };
                worth + if case.expect[row].is_optional { 0 } else { REQUIRED }
            }
        };
        let weights =
            judged.iter().enumerate().map(|(row, all)| all.iter().map(|one| weight((row, one))).collect()).collect();
        Self { case, calls: &sample.calls, unusable, judged, weights }
    }

    fn conclude(&self, pairs: &[(usize, usize)]) -> Scored {
        let mut findings: Vec<Finding> = self.unusable.iter().flatten().cloned().collect();
        let mut named: Vec<(String, String)> = Vec::new();
        let mut points = 0.0;
        for (row, column) in pairs {
            if let Some(judged) = &self.judged[*row][*column] {
                findings.extend(judged.findings.iter().cloned());
                points += if judged.is_correct() { 1.0 } else { judged.share.min(0.99) };
                named.push((self.case.expect[*row].tool.clone(), self.calls[*column].name.clone()));
            }
        }
        let is_free = |column: &usize| !pairs.iter().any(|(_, taken)| taken == column);
        let mut left: Vec<&ToolCall> = (0..self.calls.len()).filter(is_free).map(|at| &self.calls[at]).collect();
        self.forbidden(&mut findings);
        let missing = self.missing(pairs, &mut left, &mut findings, &mut named);
        let extra = self.extra(&left, &mut findings, &mut named);
        findings.sort_by_key(|finding| (finding.outcome, finding.call));
        let outcome = findings.first().map_or(Outcome::Correct, |first| first.outcome);
        // Calls that may stand between do not count; optional ones that were left out neither.
        let total = pairs.len() + missing + extra;
        let share = if total == 0 { 0.0 } else { points / total as f64 };
        let score = if outcome == Outcome::Correct { 1.0 } else { share.min(0.99) };
        Scored { outcome, score, findings, pairs: named }
    }

    fn forbidden(&self, findings: &mut Vec<Finding>) {
        for call in self.calls.iter().filter(|call| self.case.forbid.contains(&call.name)) {
            findings.push(about(call, Outcome::ForbiddenTool, "never this tool"));
        }
    }

    /// Expected calls that no call is: each takes one that is left over, as the wrong tool. Gives how many there are.
    fn missing(
        &self,
        pairs: &[(usize, usize)],
        left: &mut Vec<&ToolCall>,
        findings: &mut Vec<Finding>,
        named: &mut Vec<(String, String)>,
    ) -> usize {
        let mut count = 0;
        let expected = self.case.expect.iter().enumerate();
        for (_, one) in expected.filter(|(row, one)| !one.is_optional && !pairs.iter().any(|(taken, _)| taken == row)) {
            // A subset need not be whole, but something must be called right.
            if self.case.order == Order::Subset && (!pairs.is_empty() || count > 0) {
                continue;
            }
            count += 1;
            // Where others may stand between, a call of another tool is in nobody's place.
            if left.is_empty() || !self.case.order.is_closed() {
                findings.push(Finding {
                    outcome: Outcome::MissingCall,
                    call: None,
                    tool: one.tool.clone(),
                    pointer: String::new(),
                    expected: format!("a call of {}", one.tool),
                    actual: "none".to_owned(),
                });
                named.push((one.tool.clone(), String::new()));
                continue;
            }
            let call = left.remove(0);
            named.push((one.tool.clone(), call.name.clone()));
            if self.unusable[call.order].is_none() {
                let outcome = if call.name == one.tool { Outcome::WrongOrder } else { Outcome::WrongTool };
                findings.push(about(call, outcome, &format!("a call of {}", one.tool)));
            }
        }
        count
    }

    /// Calls that nobody expected. Gives how many count.
    fn extra(&self, left: &[&ToolCall], findings: &mut Vec<Finding>, named: &mut Vec<(String, String)>) -> usize {
        let mut count = 0;
        for call in left {
            let is_wrong = self.unusable[call.order].is_some() || self.case.forbid.contains(&call.name);
            if self.case.order.is_closed() || self.case.expect.is_empty() {
                count += 1;
                named.push((String::new(), call.name.clone()));
                if !is_wrong {
                    findings.push(about(call, Outcome::ExtraCall, "no such call"));
                }
            } else {
                count += usize::from(is_wrong);
            }
        }
        count
    }

    fn in_wrong_order(&self, scored: Scored) -> Scored {
        let tools = |names: Vec<&str>| wire::escape::snippet(&names.join(", "), 200);
        let finding = Finding {
            outcome: Outcome::WrongOrder,
            call: None,
            tool: String::new(),
            pointer: String::new(),
            expected: tools(self.case.expect.iter().map(|one| one.tool.as_str()).collect()),
            actual: tools(self.calls.iter().map(|call| call.name.as_str()).collect()),
        };
        Scored { outcome: Outcome::WrongOrder, score: 0.5, findings: vec![finding], ..scored }
    }
}

#[cfg(test)]
mod tests;
