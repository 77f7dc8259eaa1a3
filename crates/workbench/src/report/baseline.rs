//! Known findings: a file of rule × revision × transport with a reason each. New findings fail; entries that no longer
//! occur fail too, so that a baseline only ever shrinks.

use serde::{Deserialize, Serialize};

use super::{Finding, Outcome, Report};

/// The name and version of the format.
pub const FORMAT: &str = "proof.baseline/1";

/// A baseline file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// [`FORMAT`].
    pub schema: String,
    /// The known findings.
    pub known: Vec<Known>,
}

/// A known finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The rule's id.
    pub rule: String,
    /// The revision.
    pub revision: String,
    /// The transport.
    pub transport: String,
    /// Why it is known and left.
    pub reason: String,
}

impl Known {
    fn names(&self, finding: &Finding) -> bool {
        self.rule == finding.rule
            && self.revision == finding.revision.as_str()
            && self.transport == finding.transport.as_str()
    }
}

impl Baseline {
    /// Reads a file's text; the error says where and what.
    pub fn parse(text: &str) -> Result<Self, String> {
        let baseline: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if baseline.schema != FORMAT {
            return Err(format!("`schema` is `{}`, not `{FORMAT}`", baseline.schema));
        }
        match baseline.known.iter().find(|known| known.reason.trim().is_empty()) {
            Some(known) => Err(format!("the entry for {} has no reason", known.rule)),
            None => Ok(baseline),
        }
    }

    /// Every broken rule of a report, each still wanting a reason of its own.
    pub fn of(report: &Report) -> Self {
        let known = broken(report).map(|finding| Known {
            rule: finding.rule.to_owned(),
            revision: finding.revision.to_string(),
            transport: finding.transport.to_string(),
            reason: finding.message.clone(),
        });
        Self { schema: FORMAT.to_owned(), known: known.collect() }
    }

    /// The file's text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Whether a finding is known.
    pub fn knows(&self, finding: &Finding) -> bool {
        self.known.iter().any(|known| known.names(finding))
    }

    /// The entries of which a report says that they no longer occur: the rule was judged there and is not broken, or there
    /// is no such rule.
    pub fn stale(&self, report: &Report) -> impl Iterator<Item = &Known> {
        self.known.iter().filter(|known| {
            let kept = |finding: &Finding| known.names(finding) && finding.outcome == Outcome::Pass;
            rules::find(&known.rule).is_none() || report.results.iter().any(kept)
        })
    }
}

fn broken(report: &Report) -> impl Iterator<Item = &Finding> {
    report.results.iter().filter(|finding| matches!(finding.outcome, Outcome::Fail | Outcome::Warn))
}
