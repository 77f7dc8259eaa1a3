//! Judgements, read strictly: a text that is not exactly one of the allowed verdicts does not count.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;
use wire::json::duplicate_name;

use super::{Kind, Prompt};
use crate::call::Sample;

/// What a judge found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The task is solved.
    Solved,
    /// The judge cannot decide.
    Unsure,
    /// The task is not solved.
    Unsolved,
    /// The answer is better than the other run's.
    Win,
    /// Neither is better.
    Tie,
    /// It is worse.
    Loss,
    /// A grade.
    Grade(i64),
}

impl Verdict {
    /// The verdict of a kind with this name in labels, recordings and reports.
    pub fn named(kind: Kind, name: &str) -> Option<Self> {
        let of: &[Self] = match kind {
            Kind::Sopr => &[Self::Solved, Self::Unsure, Self::Unsolved],
            Kind::Sowr => &[Self::Win, Self::Tie, Self::Loss],
            Kind::Rubric => return name.parse().ok().map(Self::Grade),
        };
        of.iter().copied().find(|verdict| verdict.to_string() == name)
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solved => f.write_str("solved"),
            Self::Unsure => f.write_str("unsure"),
            Self::Unsolved => f.write_str("unsolved"),
            Self::Win => f.write_str("win"),
            Self::Tie => f.write_str("tie"),
            Self::Loss => f.write_str("loss"),
            Self::Grade(grade) => write!(f, "{grade}"),
        }
    }
}

/// The verdict and its reason in a judge's answer; or what is wrong with the answer. `is_swapped`: the other run's answer came first.
pub fn parse(prompt: &Prompt, is_swapped: bool, sample: &Sample) -> Result<(Verdict, String), &'static str> {
    if sample.is_refusal {
        return Err("the judge refused");
    }
    if sample.is_partial {
        return Err("the judgement is cut off");
    }
    if !sample.calls.is_empty() {
        return Err("the judge called a tool");
    }
    let text = unfenced(sample.text.trim());
    let Ok(Value::Object(members)) = serde_json::from_str(text) else {
        return Err("the judgement is not one JSON object");
    };
    if duplicate_name(text).is_some() {
        return Err("the judgement has a member twice");
    }
    let name = if prompt.kind == Kind::Rubric { "grade" } else { "verdict" };
    if members.keys().any(|member| member != name && member != "reason") {
        return Err("the judgement has an unknown member");
    }
    let reason = match members.get("reason") {
        None => String::new(),
        Some(Value::String(reason)) => wire::escape::snippet(reason, 400),
        Some(_) => return Err("the reason is not a text"),
    };
    let verdict = members.get(name).and_then(|value| verdict(prompt, is_swapped, value));
    verdict.map(|verdict| (verdict, reason)).ok_or("the judgement has no allowed verdict")
}

fn verdict(prompt: &Prompt, is_swapped: bool, value: &Value) -> Option<Verdict> {
    if let Some(scale) = prompt.scale {
        return value.as_i64().filter(|grade| (scale.lowest..=scale.highest).contains(grade)).map(Verdict::Grade);
    }
    match (value.as_str()?, prompt.kind) {
        ("solved", Kind::Sopr) => Some(Verdict::Solved),
        ("unsure", Kind::Sopr) => Some(Verdict::Unsure),
        ("unsolved", Kind::Sopr) => Some(Verdict::Unsolved),
        ("first", Kind::Sowr) => Some(if is_swapped { Verdict::Loss } else { Verdict::Win }),
        ("second", Kind::Sowr) => Some(if is_swapped { Verdict::Win } else { Verdict::Loss }),
        ("tie", Kind::Sowr) => Some(Verdict::Tie),
        _ => None,
    }
}

/// The text in one fence of code, which many models put around JSON.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).filter(|inner| !inner.contains("```")).unwrap_or(text).trim()
}
