//! How far a judge agrees with people who labelled the same answers.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::rate::Rate;
use super::{Kind, Verdict};
use crate::import::Unreadable;
use crate::stats::wilson;

/// What a person says of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The case.
    pub case: String,
    /// Which answer to it, from 1.
    pub attempt: usize,
    /// What it is.
    pub verdict: Verdict,
}

/// Reads labels as JSON Lines: `case`, `label`, and `attempt` if there are several answers to a case.
pub fn labels(text: &str, kind: Kind) -> Result<Vec<Label>, Unreadable> {
    let remedy = match kind {
        Kind::Sopr => r#"{"case": "NAME", "label": "solved"}, or unsure or unsolved"#,
        Kind::Sowr => r#"{"case": "NAME", "label": "win"}, or tie or loss"#,
        Kind::Rubric => r#"{"case": "NAME", "label": 4}"#,
    };
    let mut seen = std::collections::HashSet::new();
    let mut labels = Vec::new();
    for (line, value) in crate::jsonl::values(text)? {
        let wrong = |what: &str| Unreadable::new(what, remedy).at(line);
        let case = value.get("case").and_then(Value::as_str).ok_or_else(|| wrong("no `case`"))?.to_owned();
        let attempt = match value.get("attempt") {
            None => 1,
            Some(number) => number
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
                .filter(|number| *number > 0)
                .ok_or_else(|| wrong("`attempt` is not a number from 1"))?,
        };
        let label = match value.get("label") {
            Some(Value::String(name)) => Verdict::named(kind, name),
            Some(Value::Number(number)) => Verdict::named(kind, &number.to_string()),
            _ => None,
        };
        let verdict = label.ok_or_else(|| wrong("no label that this judge could give"))?;
        if !seen.insert((case.clone(), attempt)) {
            return Err(wrong("a second label of the same answer"));
        }
        labels.push(Label { case, attempt, verdict });
    }
    Ok(labels)
}

/// How far labels and verdicts agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Labels of answers that the run has.
    pub labelled: usize,
    /// How many have the same verdict.
    pub equal: usize,
    /// The interval of 95 % of their share.
    pub interval: (f64, f64),
    /// Cohen's kappa; `None` where labels and verdicts are all the same, and chance explains everything.
    pub kappa: Option<f64>,
    /// How often a verdict (`None`: not judged) was given to a label.
    pub confusion: BTreeMap<(Verdict, Option<Verdict>), usize>,
    /// Labels of answers that the run does not have.
    pub strangers: usize,
}

/// Compares verdicts with labels. An answer that was not judged agrees with no label.
pub fn agreement(rate: &Rate, labels: &[Label]) -> Agreement {
    let verdicts: HashMap<(&str, usize), Option<Verdict>> =
        rate.judged.iter().map(|one| ((one.case.as_str(), one.attempt), one.verdict)).collect();
    let mut confusion: BTreeMap<(Verdict, Option<Verdict>), usize> = BTreeMap::new();
    let mut strangers = 0;
    for label in labels {
        match verdicts.get(&(label.case.as_str(), label.attempt)) {
            Some(verdict) => *confusion.entry((label.verdict, *verdict)).or_default() += 1,
            None => strangers += 1,
        }
    }
    let labelled: usize = confusion.values().sum();
    let equal = confusion.iter().filter(|((label, verdict), _)| Some(*label) == *verdict).map(|(_, count)| count).sum();
    let kappa = kappa(&confusion, equal, labelled);
    Agreement { labelled, equal, interval: wilson(equal, labelled), kappa, confusion, strangers }
}

/// The agreement beyond that of chance, as a share of what is possible.
fn kappa(confusion: &BTreeMap<(Verdict, Option<Verdict>), usize>, equal: usize, total: usize) -> Option<f64> {
    let n = total as f64;
    let mut labels: BTreeMap<Verdict, f64> = BTreeMap::new();
    let mut verdicts: BTreeMap<Verdict, f64> = BTreeMap::new();
    for ((label, verdict), count) in confusion {
        *labels.entry(*label).or_default() += *count as f64;
        if let Some(verdict) = verdict {
            *verdicts.entry(*verdict).or_default() += *count as f64;
        }
    }
    let by_chance: f64 = labels.iter().map(|(label, count)| count / n * verdicts.get(label).unwrap_or(&0.0) / n).sum();
    let observed = equal as f64 / n;
    (total > 0 && by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance))
}
