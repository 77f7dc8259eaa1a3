//! Known findings: a file of rule × revision × transport with a reason each; patterns stand for several. Entries that are no
//! longer broken are stale and fail the check, so that a baseline only ever shrinks.

use serde::{Deserialize, Serialize};
use wire::{Revision, Transport};

use crate::glob::{is_pattern, matches};
use crate::{Evidence, Finding, Outcome, Report};

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
    /// The rule's id, or a pattern (`shape.*`) for several.
    pub rule: String,
    /// The revision; `*` for every one.
    pub revision: String,
    /// The transport; `*` for every one.
    pub transport: String,
    /// Only defects at these places are known, as patterns of `METHOD POINTER`; if empty, all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// What was found when the entry was written, to help with the reason. Nothing compares it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finding: String,
    /// Why it may stay. Empty until a person fills it in.
    pub reason: String,
}

impl Known {
    fn names(&self, finding: &Finding) -> bool {
        matches(&self.rule, finding.rule)
            && matches(&self.revision, finding.revision.as_str())
            && matches(&self.transport, finding.transport.as_str())
    }

    /// Whether all of a finding is known: with places, each of its defects, and there are no others.
    fn covers(&self, finding: &Finding) -> bool {
        let known = |evidence: &Evidence| {
            let place = format!("{} {}", evidence.method.as_deref().unwrap_or_default(), evidence.pointer);
            self.places.iter().any(|pattern| matches(pattern.trim(), place.trim()))
        };
        let all = || !finding.evidence.is_empty() && !finding.more_defects && finding.evidence.iter().all(known);
        self.names(finding) && (self.places.is_empty() || all())
    }

    /// Whether it may stand for more or for less than one finding: then `--write-baseline` leaves it as it is.
    fn is_written_by_hand(&self) -> bool {
        [&self.rule, &self.revision, &self.transport].into_iter().any(|text| is_pattern(text))
            || !self.places.is_empty()
    }

    /// Whether its reason is still empty.
    pub fn lacks_reason(&self) -> bool {
        self.reason.trim().is_empty()
    }

    /// A misspelt place would match nothing for ever, and never show.
    fn check(&self) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("the entry for {} names {what}", wire::escape::line(&self.rule)));
        if self.revision != "*" && self.revision.parse::<Revision>().is_err() {
            return wrong(&format!("no revision: `{}`", wire::escape::line(&self.revision)));
        }
        if self.transport != "*" && self.transport.parse::<Transport>().is_err() {
            return wrong(&format!("no transport: `{}`", wire::escape::line(&self.transport)));
        }
        Ok(())
    }

    /// Whether the rule was judged there and is kept, or does not exist: of a pattern, whether nothing that it names is broken.
    /// What was not judged may still be broken.
    fn is_stale(&self, report: &Report, exists: &dyn Fn(&str) -> bool) -> bool {
        let mut named = report.results.iter().filter(|finding| self.names(finding));
        let is_broken = named.clone().any(|finding| finding.outcome.is_broken());
        !exists(&self.rule) || !is_broken && named.any(|finding| finding.outcome == Outcome::Pass)
    }
}

impl Baseline {
    /// Reads a file's text; the error says where and what.
    pub fn parse(text: &str) -> Result<Self, String> {
        let baseline: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if baseline.schema != FORMAT {
            return Err(format!("`schema` is `{}`, not `{FORMAT}`", wire::escape::line(&baseline.schema)));
        }
        baseline.known.iter().try_for_each(Known::check)?;
        Ok(baseline)
    }

    /// Every broken rule of a report. Entries of `previous` keep their reasons, and stay if this report does not judge them.
    /// `exists` says whether there is a rule of that id.
    pub fn of(report: &Report, previous: Option<&Self>, exists: &dyn Fn(&str) -> bool) -> Self {
        let by_hand = |finding: &&Finding| {
            previous.and_then(|previous| previous.entry(finding)).is_some_and(Known::is_written_by_hand)
        };
        let mut known: Vec<Known> = broken(report)
            .filter(|finding| !by_hand(finding))
            .map(|finding| Known {
                rule: finding.rule.to_owned(),
                revision: finding.revision.to_string(),
                transport: finding.transport.to_string(),
                places: Vec::new(),
                finding: finding.message.clone(),
                reason: previous.and_then(|previous| previous.entry(finding)).map_or("", |k| &k.reason).to_owned(),
            })
            .collect();
        let silent = |entry: &&Known| {
            let is_written = !entry.is_written_by_hand() && broken(report).any(|finding| entry.names(finding));
            !entry.is_stale(report, exists) && !is_written
        };
        known.extend(previous.iter().flat_map(|previous| &previous.known).filter(silent).cloned());
        Self { schema: FORMAT.to_owned(), known }
    }

    /// The file's text, harmless on a terminal.
    pub fn text(&self) -> String {
        let document = serde_json::to_string_pretty(self).unwrap_or_default();
        wire::escape::json(&document).into_owned() + "\n"
    }

    /// The entry for a finding.
    pub fn entry(&self, finding: &Finding) -> Option<&Known> {
        self.known.iter().find(|known| known.covers(finding))
    }

    /// Whether a finding is known.
    pub fn knows(&self, finding: &Finding) -> bool {
        self.entry(finding).is_some()
    }

    /// The entries that are no longer broken in a report, and those of rules that do not exist.
    pub fn stale<'b>(&'b self, report: &Report, exists: &dyn Fn(&str) -> bool) -> impl Iterator<Item = &'b Known> {
        self.known.iter().filter(|known| known.is_stale(report, exists))
    }
}

fn broken(report: &Report) -> impl Iterator<Item = &Finding> {
    report.results.iter().filter(|finding| finding.outcome.is_broken())
}
