//! All answers against all cases: each scored, and what they come to together.

use std::collections::{BTreeMap, HashMap};

use crate::call::Sample;
use crate::case::CaseFile;
use crate::catalogue::Catalogue;
use crate::score::{Outcome, Scored, score};
use crate::stats::{mcnemar, pass_all, pass_at, wilson};

/// One scored answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The case.
    pub case: String,
    /// The line of the case file in which it stands.
    pub line: usize,
    /// Which answer to the case it is, from 1.
    pub attempt: usize,
    /// What it comes to.
    pub scored: Scored,
    /// What was odd about its source.
    pub notes: Vec<String>,
}

/// All scored answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Answers, in the order of cases.
    pub answers: Vec<Answered>,
    /// Cases without any answer.
    pub unanswered: Vec<String>,
    /// Cases that say that they are not to be scored, and why.
    pub skipped: Vec<(String, String)>,
    /// Answers to cases that the file does not have, by the name that they give.
    pub strangers: Vec<String>,
}

/// Answers that name no case, where there are several cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unnamed {
    /// How many answers there are.
    pub answers: usize,
}

/// Scores all answers to the cases that `selects` picks by name and tags. Answers that name no case belong to the only one.
pub fn run(
    file: &CaseFile,
    samples: &[Sample],
    catalogue: Option<&Catalogue>,
    selects: &dyn Fn(&str, &[String]) -> bool,
) -> Result<Run, Unnamed> {
    let unnamed = samples.iter().filter(|sample| sample.case.is_none()).count();
    let only = match file.cases.as_slice() {
        [only] => Some(only.name.as_str()),
        _ if unnamed > 0 => return Err(Unnamed { answers: unnamed }),
        _ => None,
    };
    let mut by_case: HashMap<&str, Vec<&Sample>> = HashMap::new();
    for sample in samples {
        by_case.entry(sample.case.as_deref().or(only).unwrap_or_default()).or_default().push(sample);
    }
    let mut run = Run::default();
    for case in &file.cases {
        let answers = by_case.remove(case.name.as_str()).unwrap_or_default();
        if !selects(&case.name, &case.tags) {
            continue;
        }
        if let Some(why) = &case.skip {
            run.skipped.push((case.name.clone(), why.clone()));
        } else if answers.is_empty() {
            run.unanswered.push(case.name.clone());
        }
        for (index, sample) in answers.into_iter().enumerate().filter(|_| case.skip.is_none()) {
            let scored = score(case, sample, catalogue);
            let (name, notes) = (case.name.clone(), sample.notes.clone());
            run.answers.push(Answered { case: name, line: case.at.line, attempt: index + 1, scored, notes });
        }
    }
    run.strangers = by_case.into_keys().map(str::to_owned).collect();
    run.strangers.sort();
    Ok(run)
}

/// What all answers come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many answers were scored.
    pub answers: usize,
    /// How many of them are correct.
    pub passed: usize,
    /// The interval of 95 % of the share that passes.
    pub interval: (f64, f64),
    /// The mean score, from 0 to 1.
    pub mean: f64,
    /// How often each outcome occurs.
    pub outcomes: BTreeMap<Outcome, usize>,
    /// How often a tool was called for an expected one, where they differ: expected, actual, count. Most frequent first.
    pub confusions: Vec<(String, String, usize)>,
    /// For several answers to each case: k, the chance that one of k passes, and that all do.
    pub attempts: Vec<(usize, f64, f64)>,
}

impl Run {
    /// What all answers come to.
    pub fn summary(&self) -> Summary {
        let (answers, passed) = (self.answers.len(), self.answers.iter().filter(|one| one.scored.passes()).count());
        let mut outcomes = BTreeMap::new();
        let mut confusions: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for one in &self.answers {
            *outcomes.entry(one.scored.outcome).or_default() += 1;
            for (expected, actual) in one.scored.pairs.iter().filter(|(expected, actual)| expected != actual) {
                *confusions.entry((expected, actual)).or_default() += 1;
            }
        }
        let mut confusions: Vec<_> =
            confusions.into_iter().map(|((one, other), count)| (one.to_owned(), other.to_owned(), count)).collect();
        confusions.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        let sum: f64 = self.answers.iter().map(|one| one.scored.score).sum();
        let mean = if answers == 0 { 0.0 } else { sum / answers as f64 };
        let (interval, attempts) = (wilson(passed, answers), self.attempts());
        Summary { answers, passed, interval, mean, outcomes, confusions, attempts }
    }

    /// The chances for each k up to the least number of answers, where every case has several.
    fn attempts(&self) -> Vec<(usize, f64, f64)> {
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for one in &self.answers {
            let count = counts.entry(&one.case).or_default();
            count.0 += usize::from(one.scored.passes());
            count.1 += 1;
        }
        let least = counts.values().map(|(_, total)| *total).min().unwrap_or(0);
        if least < 2 {
            return Vec::new();
        }
        let mut ks: Vec<usize> = (0..usize::BITS).map(|power| 1 << power).take_while(|k| *k < least).collect();
        ks.push(least);
        let mean = |of: &dyn Fn(usize, usize) -> Option<f64>| {
            counts.values().filter_map(|(passed, total)| of(*passed, *total)).sum::<f64>() / counts.len() as f64
        };
        ks.into_iter().map(|k| (k, mean(&|c, n| pass_at(k, c, n)), mean(&|c, n| pass_all(k, c, n)))).collect()
    }
}

/// Two runs of the same cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How many answers both runs have.
    pub both: usize,
    /// Answers that pass in the second run alone: case and attempt.
    pub gained: Vec<(String, usize)>,
    /// Answers that pass in the first run alone.
    pub lost: Vec<(String, usize)>,
    /// McNemar's exact test: the chance of such a difference between runs of equal quality.
    pub p: f64,
}

/// Compares two runs, answer by answer.
pub fn compare(first: &Run, second: &Run) -> Comparison {
    let before: HashMap<(&str, usize), bool> =
        first.answers.iter().map(|one| ((one.case.as_str(), one.attempt), one.scored.passes())).collect();
    let (mut both, mut gained, mut lost) = (0, Vec::new(), Vec::new());
    for one in &second.answers {
        let Some(passed) = before.get(&(one.case.as_str(), one.attempt)) else { continue };
        both += 1;
        match (passed, one.scored.passes()) {
            (false, true) => gained.push((one.case.clone(), one.attempt)),
            (true, false) => lost.push((one.case.clone(), one.attempt)),
            _ => {}
        }
    }
    let p = mcnemar(gained.len(), lost.len());
    Comparison { both, gained, lost, p }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{case, import};

    fn file(cases: &str) -> CaseFile {
        case::parse(cases, "cases.yaml").unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn samples(lines: &[serde_json::Value]) -> Vec<Sample> {
        let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        import::read(text.as_bytes(), Some(import::Format::Lines)).unwrap()
    }

    const TWO: &str = "cases:\n  - { name: a, call: f }\n  - { name: b, call: g, tags: [x] }\n";

    #[test]
    fn answers_find_their_cases() {
        let line = |case: &str, tool: &str| json!({ "case": case, "calls": [{ "name": tool }] });
        let samples = samples(&[line("a", "f"), line("a", "g"), line("c", "f")]);
        let run = run(&file(TWO), &samples, None, &|_, _| true).unwrap();
        assert_eq!(
            (run.unanswered.as_slice(), run.strangers.as_slice()),
            (&["b".to_owned()][..], &["c".to_owned()][..])
        );
        let summary = run.summary();
        assert_eq!((summary.answers, summary.passed), (2, 1));
        assert_eq!(summary.confusions, [("f".to_owned(), "g".to_owned(), 1)]);
        assert_eq!(summary.attempts, [(1, 0.5, 0.5), (2, 1.0, 0.0)]);
        let picked = super::run(&file(TWO), &samples, None, &|_, tags| tags.contains(&"x".to_owned())).unwrap();
        assert_eq!((picked.answers.len(), picked.unanswered.len(), picked.summary().mean), (0, 1, 0.0));
    }

    #[test]
    fn answers_without_a_name_belong_to_the_only_case() {
        let samples = samples(&[json!({ "calls": [{ "name": "f" }] })]);
        assert_eq!(run(&file(TWO), &samples, None, &|_, _| true), Err(Unnamed { answers: 1 }));
        let only = run(&file("cases:\n  - { name: a, call: f }\n"), &samples, None, &|_, _| true).unwrap();
        assert_eq!(only.summary().passed, 1);
    }

    #[test]
    fn two_runs_are_compared_answer_by_answer() {
        let of = |tools: [&str; 2]| {
            let lines = [("a", tools[0]), ("b", tools[1])];
            samples(&lines.map(|(case, tool)| json!({ "case": case, "calls": [{ "name": tool }] })))
        };
        let scored = |samples: &[Sample]| run(&file(TWO), samples, None, &|_, _| true).unwrap();
        let (first, second) = (scored(&of(["f", "f"])), scored(&of(["g", "g"])));
        let comparison = compare(&first, &second);
        assert_eq!((comparison.both, comparison.gained.len(), comparison.lost.len()), (2, 1, 1));
        assert_eq!((comparison.lost[0].0.as_str(), comparison.p), ("a", 1.0));
    }
}
