//! A report beside what the command line makes of it: what is known, what fails. Every format takes its own sense of
//! failing from here, and so does the exit code: none can say otherwise than another.

use rules::Level;
use workbench::report::baseline::{Baseline, Known};
use workbench::report::{Finding, Outcome, Report, Run, ScenarioRun, Subject, Summary};

use super::groups::groups;
use super::text::count;
use crate::args::output::FailOn;

/// What a format is made from.
pub(crate) struct Sheet<'r> {
    pub(crate) report: &'r Report,
    /// What is known.
    pub(crate) baseline: Option<&'r Baseline>,
    /// Its entries that no longer occur: they fail the check.
    pub(crate) stale: Vec<&'r Known>,
    pub(crate) fail_on: FailOn,
}

/// What a finding means for the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing<'r> {
    /// The rule is kept.
    Kept,
    /// It is broken, and fails the check.
    Fails,
    /// It is broken, below `--fail-on`.
    Warns,
    /// It is broken and known, with the reason (if one is given): does not fail.
    Known(Option<&'r str>),
    /// Nobody judged it, in these words: neither good nor bad.
    Silent(&'static str),
}

impl<'r> Sheet<'r> {
    pub(crate) fn standing(&self, finding: &Finding) -> Standing<'r> {
        match finding.outcome {
            Outcome::Pass => Standing::Kept,
            Outcome::NotExercised => Standing::Silent("not exercised"),
            Outcome::NotApplicable => Standing::Silent("not applicable"),
            Outcome::Fail | Outcome::Warn => match self.baseline.and_then(|baseline| baseline.entry(finding)) {
                Some(entry) => Standing::Known((!entry.lacks_reason()).then_some(&entry.reason)),
                None if finding.outcome == Outcome::Fail => Standing::Fails,
                None if self.fail_on == FailOn::Should && finding.level == Level::Should => Standing::Fails,
                None => Standing::Warns,
            },
        }
    }

    /// Whether it is broken and known. A rule that is not judged this time may stand in the baseline, too.
    pub(crate) fn is_known(&self, finding: &Finding) -> bool {
        matches!(self.standing(finding), Standing::Known(_))
    }

    /// Whether nothing was judged at all.
    pub(crate) fn is_vacuous(&self) -> bool {
        self.report.summary.judged() == 0
    }

    /// What is said of a check that judged nothing.
    pub(crate) fn vacuous(&self) -> String {
        format!("Nothing was judged: this says nothing about the {}", self.report.subject.kind)
    }

    /// What a client did with scenarios that it did not come to a good end of, run by run; what a good client may do as
    /// well is left out.
    pub(crate) fn unhappy(&self) -> impl Iterator<Item = (&'r Run, &'r ScenarioRun)> {
        self.report.runs.iter().flat_map(|run| {
            run.scenarios.iter().filter(|scenario| !scenario.content && !scenario.expected).map(move |s| (run, s))
        })
    }

    /// The runs that ended early, and why.
    pub(crate) fn cut_short(&self) -> impl Iterator<Item = (&'r Run, &'r str)> {
        self.report.runs.iter().filter_map(|run| Some((run, run.cut_short.as_deref()?)))
    }

    /// Whether the check fails.
    pub(crate) fn fails(&self) -> bool {
        let new = self.report.results.iter().any(|finding| self.standing(finding) == Standing::Fails);
        new || !self.stale.is_empty() || self.is_vacuous() || self.cut_short().next().is_some()
    }

    /// The findings of one run.
    pub(crate) fn of_run<'s>(&'s self, run: &Run) -> impl Iterator<Item = &'r Finding> + use<'s, 'r> {
        let place = (run.transport, run.revision);
        self.report.results.iter().filter(move |finding| (finding.transport, finding.revision) == place)
    }

    /// The one line that a person needs.
    pub(crate) fn verdict(&self) -> String {
        if self.is_vacuous() {
            return self.vacuous();
        }
        let new =
            |outcome| groups(self.report, outcome).iter().filter(|g| !g.all.iter().all(|f| self.is_known(f))).count();
        let (fail, warn) = (new(Outcome::Fail), new(Outcome::Warn));
        let known = self.report.results.iter().filter(|finding| self.is_known(finding)).count();
        let mut said = Vec::new();
        if self.cut_short().next().is_some() {
            said.push(format!("the {} did not last", self.report.subject.kind));
        }
        if fail > 0 {
            said.push(format!("{} broken", count(fail, "rule")));
        }
        if warn > 0 {
            said.push(format!("{warn} to mend (SHOULD or MAY)"));
        }
        if !self.stale.is_empty() {
            said.push(format!("{} stale in the baseline", self.stale.len()));
        }
        if known > 0 {
            said.push(format!("{known} known"));
        }
        let word = if self.fails() { "Not clean" } else { "Clean" };
        if said.is_empty() { format!("{word}: nothing broken") } else { format!("{word}: {}", said.join(", ")) }
    }
}

/// What a report calls its subject: by its own name, where it has one.
pub(crate) fn name(subject: &Subject) -> String {
    subject.name.clone().unwrap_or_else(|| format!("a {} without a name", subject.kind))
}

/// The score, never without its coverage.
pub(crate) fn score(summary: &Summary) -> String {
    let must = summary.must;
    let coverage = format!("coverage {} of {} that bind", must.judged(), must.binding());
    match summary.score {
        Some(score) => {
            format!(
                "Score {score:.1} %: {} of {} judged MUST rules kept; {coverage}.",
                must.pass,
                must.pass + must.fail
            )
        }
        None => format!("No score: no MUST rule was judged; {coverage}."),
    }
}

#[cfg(test)]
mod tests;
