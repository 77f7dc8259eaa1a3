//! What judgements come to: a rate with its interval. What was not judged never counts as a pass.

use std::collections::BTreeMap;

use super::work::{Decision, Prompts, Work};
use super::{Judgements, Kind, Verdict};
use crate::stats::wilson_of;

/// What verdicts of SoPR count: solved, unsure, unsolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Points {
    /// Of a solved task.
    pub solved: f64,
    /// Where the judge cannot decide.
    pub unsure: f64,
    /// Of an unsolved task.
    pub unsolved: f64,
}

impl Default for Points {
    /// As the authors of StableToolBench compute it.
    fn default() -> Self {
        Self { solved: 1.0, unsure: 0.5, unsolved: 0.0 }
    }
}

/// One answer, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The case.
    pub case: String,
    /// Its line in the file.
    pub line: usize,
    /// Which answer to it, from 1.
    pub attempt: usize,
    /// The verdict, if the question was judged.
    pub verdict: Option<Verdict>,
    /// Why.
    pub why: String,
    /// Whether a rule gave the verdict without a question.
    pub is_rule: bool,
}

/// All answers, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// What was measured.
    pub kind: Kind,
    /// Each answer, in the order of cases.
    pub judged: Vec<Judged>,
    /// The rate, from 0 to 1: answers that were not judged count 0.
    pub share: f64,
    /// The interval of 95 % of it.
    pub interval: (f64, f64),
    /// How often each verdict occurs.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// How many answers have no verdict.
    pub not_judged: usize,
    /// The mean grade of those that have one; only of a rubric.
    pub mean: Option<f64>,
}

/// What the judgements of all answers come to.
pub fn rate(prompts: &Prompts, works: &[Work], known: &Judgements, points: Points) -> Rate {
    let judged: Vec<Judged> = works.iter().map(|work| judged(work, prompts.decide(work, known))).collect();
    let mut verdicts = BTreeMap::new();
    for verdict in judged.iter().filter_map(|one| one.verdict) {
        *verdicts.entry(verdict).or_default() += 1;
    }
    let pass = prompts.single.scale.map_or(i64::MAX, |scale| scale.pass);
    let points_of = |verdict: Verdict| match verdict {
        Verdict::Solved => points.solved,
        Verdict::Unsure => points.unsure,
        Verdict::Unsolved => points.unsolved,
        Verdict::Win => 1.0,
        Verdict::Grade(grade) if grade >= pass => 1.0,
        Verdict::Tie | Verdict::Loss | Verdict::Grade(_) => 0.0,
    };
    // A sum of nothing would be -0.0.
    let sum = judged.iter().filter_map(|one| one.verdict).map(points_of).fold(0.0, |sum, points| sum + points);
    let share = if judged.is_empty() { 0.0 } else { sum / judged.len() as f64 };
    let grades: Vec<f64> = judged.iter().filter_map(|one| grade(one.verdict?)).collect();
    let mean = (!grades.is_empty()).then(|| grades.iter().sum::<f64>() / grades.len() as f64);
    let not_judged = judged.iter().filter(|one| one.verdict.is_none()).count();
    let interval = wilson_of(share, judged.len());
    Rate { kind: prompts.kind(), share, interval, verdicts, not_judged, mean, judged }
}

fn grade(verdict: Verdict) -> Option<f64> {
    match verdict {
        Verdict::Grade(grade) => Some(grade as f64),
        _ => None,
    }
}

fn judged(work: &Work, decision: Decision) -> Judged {
    let (verdict, why, is_rule) = match decision {
        Decision::Known(verdict, why, is_rule) => (Some(verdict), why, is_rule),
        Decision::NotJudged(why) => (None, why, false),
        Decision::Open(_) => (None, "the recording has no judgement of it".to_owned(), false),
    };
    Judged { case: work.case.clone(), line: work.line, attempt: work.attempt, verdict, why, is_rule }
}
