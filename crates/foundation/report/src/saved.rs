//! A JSON report read back from its file. It may come from another version of `proof`: names are kept as they stand, and
//! members that are not known here are passed over.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use wire::Level;

use crate::conclusion::{Conclusion, Facts, FailOn, Weight};
use crate::{FORMAT, Outcome, Tally};

/// A report as it was saved.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    /// The version of `proof` that made it.
    pub proof: String,
    /// What was judged.
    pub subject: Subject,
    /// One entry per transport and revision.
    pub runs: Vec<Run>,
    /// The counts.
    pub summary: Summary,
    /// Every rule × revision × transport.
    pub results: Vec<Finding>,
    /// Reports of older versions lack it.
    verdict: Option<Verdict>,
    /// Entries of the baseline that were stale.
    #[serde(default)]
    stale: Vec<IgnoredAny>,
}

/// What was judged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Subject {
    /// `server` or `client`.
    #[serde(default = "server", skip_serializing)]
    pub kind: String,
    /// The command or URL.
    #[serde(default)]
    pub target: String,
    /// The name it gives itself.
    pub name: Option<String>,
    /// The version it gives itself.
    pub version: Option<String>,
}

/// One transport at one revision.
#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    /// What carried the messages.
    pub transport: String,
    /// The revision spoken.
    pub revision: String,
    /// Why it ended early.
    pub cut_short: Option<String>,
}

/// The counts, by level.
#[derive(Clone, Debug, Deserialize)]
pub struct Summary {
    /// In per cent; `None` where no MUST was judged.
    pub score: Option<f64>,
    /// MUST and MUST NOT.
    pub must: Tally,
    /// SHOULD and SHOULD NOT.
    pub should: Tally,
    /// MAY.
    pub may: Tally,
    /// Safety rules.
    pub safety: Tally,
}

/// What became of a rule in one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// `MUST`, `SHOULD`, `MAY` or `SAFETY`.
    pub level: String,
    /// The revision it was judged at.
    pub revision: String,
    /// What carried the messages.
    pub transport: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why; for a pass what the rule says.
    pub message: String,
    /// The sentence in the specification.
    pub url: String,
    /// The reason that the baseline gave, where the baseline knew it.
    #[serde(default, skip_serializing)]
    pub known: Option<String>,
}

/// What the conclusion cannot be drawn from without.
#[derive(Clone, Debug, Deserialize)]
struct Verdict {
    #[serde(default)]
    fail_on: String,
}

/// A level that no version here knows is taken for the weakest.
fn level(name: &str) -> Level {
    let levels = [Level::Must, Level::Should, Level::Safety];
    levels.into_iter().find(|level| level.as_str() == name).unwrap_or(Level::May)
}

fn server() -> String {
    "server".to_owned()
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

impl Report {
    /// Reads a file's text; the error says what is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if head.schema != FORMAT {
            return Err(format!("`schema` is `{}`, not `{FORMAT}`", wire::escape::line(&head.schema)));
        }
        let report: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match report.summary.score {
            Some(score) if !(0.0..=100.0).contains(&score) => Err(format!("the score {score} is no percentage")),
            _ => Ok(report),
        }
    }

    /// How many findings were judged one way or the other.
    pub fn judged(&self) -> usize {
        self.results.iter().filter(|finding| finding.outcome.is_judged()).count()
    }

    /// Whether the check failed, and why: drawn from the report itself, as it was when the report was written.
    pub fn conclusion(&self) -> Conclusion {
        let should = self.verdict.as_ref().is_some_and(|verdict| verdict.fail_on == "should");
        let fail_on = if should { FailOn::Should } else { FailOn::Must };
        let mut facts = Facts {
            subject: &self.subject.kind,
            fail_on,
            judged: self.judged(),
            cut_short: self.runs.iter().filter(|run| run.cut_short.is_some()).count(),
            stale: self.stale.len(),
            ..Facts::default()
        };
        for finding in &self.results {
            let (level, known) = (level(&finding.level), finding.known.is_some());
            if let Some(weight) = Weight::of(finding.outcome, level, known, fail_on) {
                facts.add(&finding.rule, weight, level);
            }
        }
        Conclusion::of(&facts)
    }

    /// Whether all judged MUST rules passed, in runs that went to their end.
    pub fn is_perfect(&self) -> bool {
        self.summary.must.pass > 0 && self.summary.must.fail == 0 && !self.was_cut_short()
    }

    /// Whether a run ended early.
    pub fn was_cut_short(&self) -> bool {
        self.runs.iter().any(|run| run.cut_short.is_some())
    }
}

impl Finding {
    /// What makes it the same finding in another report.
    pub fn key(&self) -> (&str, &str, &str) {
        (&self.rule, &self.revision, &self.transport)
    }

    /// Where it was judged.
    pub fn place(&self) -> (&str, &str) {
        (&self.transport, &self.revision)
    }
}

impl Run {
    /// Where it ran.
    pub fn place(&self) -> (&str, &str) {
        (&self.transport, &self.revision)
    }
}
