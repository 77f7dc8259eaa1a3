//! A report together with what is made of it: what is known, what fails, why. Formats are made from this alone, and so is the
//! exit code.

use crate::baseline::{Baseline, Known};
use crate::conclusion::{Conclusion, Facts, FailOn, Weight};
use crate::{Evidence, Finding, Outcome, Report, RuleIndex, RuleText, Run, ScenarioRun, UnknownTool};

/// How many tools that were not called are named.
const NAMED: usize = 12;

/// What a format is made from.
pub struct ReportView<'r> {
    /// The report.
    pub report: &'r Report,
    rules: &'r RuleIndex,
    baseline: Option<&'r Baseline>,
    fail_on: FailOn,
    stale: Vec<&'r Known>,
    conclusion: Conclusion,
}

/// What a finding means for the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition<'r> {
    /// Not judged, in these words: neither good nor bad.
    NotJudged(&'static str),
    /// The rule is kept.
    Passed,
    /// Broken, and the baseline knows it, with the reason (if it has one): does not fail the check.
    Known(Option<&'r str>),
    /// Broken, at a level that does not fail the check.
    Warning,
    /// Broken, and fails the check.
    Failing,
}

impl<'r> ReportView<'r> {
    /// Draws the conclusion from a report, given the rules that exist, what is known, and what fails the check.
    pub fn new(report: &'r Report, rules: &'r RuleIndex, baseline: Option<&'r Baseline>, fail_on: FailOn) -> Self {
        let exists = |id: &str| rules.has(id);
        let stale: Vec<_> = baseline.iter().flat_map(|baseline| baseline.stale(report, &exists)).collect();
        let mut facts = Facts {
            subject: report.subject.kind,
            fail_on,
            judged: report.summary.judged(),
            cut_short: report.runs.iter().filter(|run| run.cut_short.is_some()).count(),
            stale: stale.len(),
            ..Facts::default()
        };
        for finding in &report.results {
            if let Some(weight) = weight(finding, baseline, fail_on) {
                facts.add(finding.rule, weight, finding.level);
            }
        }
        Self { report, rules, baseline, fail_on, stale, conclusion: Conclusion::of(&facts) }
    }

    /// Whether the check fails, and why.
    pub const fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }

    /// What a finding means for the check.
    pub fn disposition(&self, finding: &Finding) -> Disposition<'r> {
        match (weight(finding, self.baseline, self.fail_on), finding.outcome) {
            (Some(Weight::Failing), _) => Disposition::Failing,
            (Some(Weight::Warning), _) => Disposition::Warning,
            (Some(Weight::Known), _) => {
                let entry = self.baseline.and_then(|baseline| baseline.entry(finding));
                Disposition::Known(entry.filter(|entry| !entry.lacks_reason()).map(|entry| entry.reason.as_str()))
            }
            (None, Outcome::NotExercised) => Disposition::NotJudged("not exercised"),
            (None, Outcome::NotApplicable) => Disposition::NotJudged("not applicable"),
            (None, _) => Disposition::Passed,
        }
    }

    /// Whether it is broken and known. A rule that is not judged this time may stand in the baseline, too.
    pub fn is_known(&self, finding: &Finding) -> bool {
        matches!(self.disposition(finding), Disposition::Known(_))
    }

    /// Whether the baseline knows one defect of a finding, though perhaps not all.
    pub fn is_known_defect(&self, finding: &Finding, evidence: &Evidence) -> bool {
        self.baseline.is_some_and(|baseline| baseline.knows_defect(finding, evidence))
    }

    /// Whether a known finding is known by an entry that covers every defect of its rule, also one that comes later.
    pub fn is_known_whole(&self, finding: &Finding) -> bool {
        self.baseline.and_then(|baseline| baseline.entry(finding)).is_some_and(Known::covers_all)
    }

    /// What is wrong, in one line: the first defect that the baseline does not know.
    pub fn headline<'f>(&self, finding: &'f Finding) -> &'f str {
        let new = finding.evidence.iter().find(|evidence| !self.is_known_defect(finding, evidence));
        new.and_then(|evidence| evidence.message.as_deref()).unwrap_or(&finding.message)
    }

    /// Whether people see it under the finding that explains it: both are in the same run and mean the same for the check.
    pub fn is_explained(&self, finding: &Finding) -> bool {
        let explains = |cause: &Finding| {
            finding.consequence_of == Some(cause.rule) && self.is_same_kind(cause, finding) && cause.outcome.is_broken()
        };
        finding.outcome.is_broken() && self.report.results.iter().any(explains)
    }

    /// The rule under which people see a defect of a finding that has others, too.
    pub fn reported_under(&self, finding: &Finding, evidence: &Evidence) -> Option<&'static str> {
        let cause = evidence.consequence_of?;
        let tells =
            |other: &Finding| other.rule == cause && other.outcome.is_broken() && self.is_same_kind(other, finding);
        self.report.results.iter().any(tells).then_some(cause)
    }

    /// What people see under a finding, because it explains it.
    pub fn consequences<'s>(&'s self, cause: &'s Finding) -> impl Iterator<Item = &'r Finding> + use<'s, 'r> {
        let explained = move |finding: &&Finding| {
            finding.outcome.is_broken()
                && finding.consequence_of == Some(cause.rule)
                && self.is_same_kind(cause, finding)
        };
        self.report.results.iter().filter(explained)
    }

    /// Whether two findings are of one run and mean the same for the check.
    fn is_same_kind(&self, one: &Finding, other: &Finding) -> bool {
        let kind = |finding| std::mem::discriminant(&self.disposition(finding));
        (one.transport, one.revision) == (other.transport, other.revision) && kind(one) == kind(other)
    }

    /// Whether there is a baseline.
    pub const fn has_baseline(&self) -> bool {
        self.baseline.is_some()
    }

    /// The entries of the baseline that are no longer broken: they fail the check.
    pub fn stale(&self) -> &[&'r Known] {
        &self.stale
    }

    /// What makes an entry stale, and what to do about it, after "is".
    pub fn stale_advice(&self, entry: &Known) -> &'static str {
        if self.rules.has(&entry.rule) {
            "no longer broken: remove it from the baseline"
        } else {
            "unknown to this version of proof: remove it from the baseline"
        }
    }

    /// The rules that exist.
    pub const fn rules(&self) -> &'r RuleIndex {
        self.rules
    }

    /// What is said of a finding's rule.
    pub fn rule(&self, finding: &Finding) -> Option<&'r RuleText> {
        self.rules.find(finding.rule)
    }

    /// The rule's own words at the finding's revision.
    pub fn sentence(&self, finding: &Finding) -> Option<&'static str> {
        let rule = self.rule(finding)?;
        rule.sentence_at(finding.revision).or_else(|| rule.newest()).map(|sentence| sentence.text)
    }

    /// Scenarios that a client did not end well in, run by run; endings that a good client may have are left out.
    pub fn unhappy(&self) -> impl Iterator<Item = (&'r Run, &'r ScenarioRun)> {
        self.report.runs.iter().flat_map(|run| {
            run.scenarios.iter().filter(|scenario| !scenario.content && !scenario.expected).map(move |s| (run, s))
        })
    }

    /// The runs that ended early, and why.
    pub fn cut_short(&self) -> impl Iterator<Item = (&'r Run, &'r str)> {
        self.report.runs.iter().filter_map(|run| Some((run, run.cut_short.as_deref()?)))
    }

    /// What was served and not judged, in words: `http 2025-03-26, 2025-06-18; ws 2025-06-18`.
    pub fn also_served(&self) -> Option<String> {
        let served = self.report.also_served.iter().map(|served| {
            let revisions: Vec<_> = served.revisions.iter().map(|revision| revision.as_str()).collect();
            format!("{} {}", served.transport, revisions.join(", "))
        });
        Some(served.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
    }

    /// The tools that were not called, in words: `2 tools that may change something: add, book`.
    pub fn tools_not_called(&self) -> Option<String> {
        listed(&self.report.tools_not_called, "that may change something")
    }

    /// The tools that were called for their names, in words: `1 tool without annotations, for its name: get_user`.
    pub fn tools_called_by_name(&self) -> Option<String> {
        let tools = &self.report.tools_called_by_name;
        listed(
            tools,
            if tools.len() == 1 { "without annotations, for its name" } else { "without annotations, for their names" },
        )
    }

    /// The tools that were named and that the server does not list: `ech (echo?), nope`.
    pub fn tools_unknown(&self) -> Option<String> {
        let shown = |tool: &UnknownTool| match &tool.nearest {
            Some(nearest) => format!("{} ({nearest}?)", tool.name),
            None => tool.name.clone(),
        };
        let tools: Vec<String> = self.report.tools_unknown.iter().map(shown).collect();
        listed(&tools, "that the server does not list")
    }

    /// The findings of one run.
    pub fn of_run<'s>(&'s self, run: &Run) -> impl Iterator<Item = &'r Finding> + use<'s, 'r> {
        let place = (run.transport, run.revision);
        self.report.results.iter().filter(move |finding| (finding.transport, finding.revision) == place)
    }
}

/// So many tools of some kind, and the names of the first of them.
fn listed(tools: &[String], kind: &str) -> Option<String> {
    let named = tools.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = tools.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    let noun = if tools.len() == 1 { "tool" } else { "tools" };
    (!tools.is_empty()).then(|| format!("{} {noun} {kind}: {named}{rest}", tools.len()))
}

fn weight(finding: &Finding, baseline: Option<&Baseline>, fail_on: FailOn) -> Option<Weight> {
    let known = baseline.is_some_and(|baseline| baseline.knows(finding));
    Weight::of(finding.outcome, finding.level, known, fail_on)
}

#[cfg(test)]
mod defects_tests;
#[cfg(test)]
mod tests;
