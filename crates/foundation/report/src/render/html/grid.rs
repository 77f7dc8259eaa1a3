//! The report folded the way the page shows it: a row per rule, a column per run, and findings that say the same together.
//! Knows nothing of markup.

use std::borrow::Cow;
use std::collections::HashMap;

use wire::Level;

use crate::{Disposition, Finding, Outcome, ReportView, RuleText};

/// The whole report by rule and run.
pub(super) struct Grid<'r> {
    pub(super) view: &'r ReportView<'r>,
    /// In the book's order.
    pub(super) rows: Vec<Row<'r>>,
}

/// One rule.
pub(super) struct Row<'r> {
    pub(super) id: &'static str,
    pub(super) rule: Option<&'r RuleText>,
    /// What became of it in each run, in the order of the report's runs.
    pub(super) cells: Vec<Option<Cell<'r>>>,
}

/// What became of a rule in one run.
#[derive(Clone, Copy)]
pub(super) struct Cell<'r> {
    pub(super) finding: &'r Finding,
    pub(super) disposition: Disposition<'r>,
}

impl Cell<'_> {
    /// Broken, and the baseline knows it.
    pub(super) const fn is_known(&self) -> bool {
        matches!(self.disposition, Disposition::Known(_))
    }

    /// What tells its defects from those of another run.
    fn defects(&self) -> Vec<(Option<&str>, Option<&str>)> {
        let defects = self.finding.evidence.iter();
        let mut all: Vec<_> = defects.map(|one| (one.method.as_deref(), one.message.as_deref())).collect();
        all.retain(|(_, message)| message.is_some());
        all.sort_unstable();
        all
    }
}

/// Findings of one rule that say the same, from several runs.
pub(super) struct Group<'r> {
    pub(super) first: Cell<'r>,
    /// What they say; nothing where the rule passed.
    pub(super) says: Cow<'r, str>,
    /// Indices of the report's runs.
    pub(super) runs: Vec<usize>,
}

impl<'r> Grid<'r> {
    pub(super) fn of(view: &'r ReportView<'r>) -> Self {
        let report = view.report;
        let columns: HashMap<_, _> =
            report.runs.iter().enumerate().map(|(at, run)| ((run.transport, run.revision), at)).collect();
        let mut rows: Vec<Row<'r>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for finding in &report.results {
            let place = *places.entry(finding.rule).or_insert_with(|| {
                let rule = view.rule(finding);
                rows.push(Row { id: finding.rule, rule, cells: vec![None; report.runs.len()] });
                rows.len() - 1
            });
            if let Some(&column) = columns.get(&(finding.transport, finding.revision)) {
                rows[place].cells[column] = Some(Cell { finding, disposition: view.disposition(finding) });
            }
        }
        Self { view, rows }
    }

    /// Whether any finding is in the baseline.
    pub(super) fn has_known(&self) -> bool {
        self.rows.iter().flat_map(Row::seen).any(Cell::is_known)
    }

    /// How many cells came out so.
    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.rows.iter().flat_map(Row::seen).filter(|cell| cell.finding.outcome == outcome).count()
    }
}

impl<'r> Row<'r> {
    /// What became of it, where it was selected.
    pub(super) fn seen(&self) -> impl Iterator<Item = &Cell<'r>> {
        self.cells.iter().flatten()
    }

    /// The part of the id that rules on one subject share.
    pub(super) fn area(&self) -> &'static str {
        self.id.split('.').next().unwrap_or(self.id)
    }

    /// Whether it is broken in any run.
    pub(super) fn is_broken(&self) -> bool {
        self.seen().any(|cell| cell.finding.outcome.is_broken())
    }

    /// Its levels, without repetition: revisions may differ.
    pub(super) fn levels(&self) -> Vec<&'static str> {
        let mut levels: Vec<Level> = self.seen().map(|cell| cell.finding.level).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().map(Level::as_str).collect()
    }

    /// Findings with this outcome that say the same, together.
    pub(super) fn groups(&self, outcome: Outcome) -> Vec<Group<'r>> {
        let mut groups: Vec<Group<'r>> = Vec::new();
        for (at, cell) in self.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?))) {
            if cell.finding.outcome != outcome {
                continue;
            }
            let says = says(cell.finding);
            let same = |group: &&mut Group<'r>| {
                let first = group.first;
                group.says == says && first.is_known() == cell.is_known() && first.defects() == cell.defects()
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.runs.push(at),
                None => groups.push(Group { first: cell, says, runs: vec![at] }),
            }
        }
        groups
    }
}

/// What is the same in every run with the same message. The revision and the transport stand next to it anyway; a pass needs
/// no words.
fn says(finding: &Finding) -> Cow<'_, str> {
    match finding.outcome {
        Outcome::Pass => Cow::Borrowed(""),
        Outcome::NotApplicable => {
            let message = finding.message.replace(finding.revision.as_str(), "this revision");
            let over = format!(" over {}", finding.transport);
            Cow::Owned(match message.strip_suffix(&over) {
                Some(start) => format!("{start} over this transport"),
                None => message,
            })
        }
        _ => Cow::Borrowed(&finding.message),
    }
}

impl Group<'_> {
    /// The indices of its runs, as the page's script reads them.
    pub(super) fn columns(&self) -> String {
        self.runs.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// Every outcome, worst first, with its class in the style sheet and the word for people.
pub(super) const OUTCOMES: [(Outcome, &str, &str); 5] = [
    (Outcome::Fail, "f", "fail"),
    (Outcome::Warn, "w", "warn"),
    (Outcome::NotExercised, "e", "not exercised"),
    (Outcome::Pass, "p", "pass"),
    (Outcome::NotApplicable, "n", "not applicable"),
];

/// An outcome's class.
pub(super) fn class(outcome: Outcome) -> &'static str {
    OUTCOMES.iter().find(|(one, ..)| *one == outcome).map_or("", |(_, class, _)| class)
}
