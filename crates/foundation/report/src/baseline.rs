//! Known findings: a file of rule × revision × transport with a reason each, and the defects that are known there; patterns
//! stand for several. Entries that are no longer broken are stale and fail the check, so that a baseline only ever shrinks.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use wire::{Revision, Transport};

use crate::glob::{is_pattern, matches};
use crate::{DefectKey, Evidence, Finding, Outcome, Report, RuleIndex};

/// As many different defects as a report shows of one rule. Which of more are shown may vary.
const SHOWN: usize = 12;

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
    /// The defects that are known, each as [`DefectKey::site`] names it. `--write-baseline` writes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<String>,
    /// Further defects that are known, as patterns of `METHOD POINTER`. Without both, all defects are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// What was found when the entry was written, to help with the reason. Nothing compares it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finding: String,
    /// Why it may stay. Empty until a person fills it in.
    pub reason: String,
}

/// A broken rule of one run and where its defects are: of a finding, or while the check still runs.
#[derive(Clone, Debug)]
pub struct Seen<'s> {
    /// The rule.
    pub rule: &'s str,
    /// The revision.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
    /// The method and the pointer of each different defect.
    pub defects: Vec<(Option<&'s str>, &'s str)>,
    /// Whether there may be more.
    pub more: bool,
}

impl<'s> From<&'s Finding> for Seen<'s> {
    fn from(finding: &'s Finding) -> Self {
        let Finding { rule, revision, transport, ref evidence, more_defects: more, .. } = *finding;
        let defects = evidence.iter().map(|one| (one.method.as_deref(), one.pointer.as_str())).collect();
        Self { rule, revision, transport, defects, more }
    }
}

impl Known {
    fn names(&self, rule: &str, revision: Revision, transport: Transport) -> bool {
        matches(&self.rule, rule)
            && matches(&self.revision, revision.as_str())
            && matches(&self.transport, transport.as_str())
    }

    fn names_finding(&self, finding: &Finding) -> bool {
        self.names(finding.rule, finding.revision, finding.transport)
    }

    /// Whether it covers every defect of its rule, also one that comes later.
    pub const fn covers_all(&self) -> bool {
        self.places.is_empty() && self.defects.is_empty()
    }

    /// Whether it lists a defect of its rule.
    fn lists(&self, (method, pointer): (Option<&str>, &str)) -> bool {
        !self.defects.is_empty() && self.defects.contains(&DefectKey::new(method, pointer, "").site())
    }

    /// Whether it covers a defect of its rule.
    fn covers(&self, (method, pointer): (Option<&str>, &str)) -> bool {
        let place = format!("{} {pointer}", method.unwrap_or_default());
        self.covers_all()
            || self.places.iter().any(|pattern| matches(pattern.trim(), place.trim()))
            || self.lists((method, pointer))
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
        let mut named = report.results.iter().filter(|finding| self.names_finding(finding));
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

    /// Every broken rule of a report with its defects. Entries of `previous` keep their reasons, and stay if this report does
    /// not judge them.
    pub fn of(report: &Report, previous: Option<&Self>, rules: &RuleIndex) -> Self {
        let (by_hand, written): (Vec<_>, Vec<_>) =
            previous.iter().flat_map(|previous| previous.known.iter().cloned()).partition(Known::is_written_by_hand);
        let (by_hand, written) = (Self::with(by_hand), Self::with(written));
        let mut known: Vec<Known> = broken(report)
            .filter(|finding| !by_hand.knows(finding))
            .map(|finding| Known {
                rule: finding.rule.to_owned(),
                revision: finding.revision.to_string(),
                transport: finding.transport.to_string(),
                defects: by_hand.others(finding, rules),
                places: Vec::new(),
                finding: finding.message.clone(),
                reason: written.naming(finding).next().map_or("", |known| &known.reason).to_owned(),
            })
            .collect();
        let exists = |id: &str| rules.has(id);
        let stays = |entry: &Known| {
            let is_written = !entry.is_written_by_hand() && broken(report).any(|finding| entry.names_finding(finding));
            !entry.is_stale(report, &exists) && !is_written
        };
        let previous = previous.iter().flat_map(|previous| &previous.known);
        known.extend(previous.filter(|entry| stays(entry)).cloned());
        Self::with(known)
    }

    fn with(known: Vec<Known>) -> Self {
        Self { schema: FORMAT.to_owned(), known }
    }

    /// The defects of a finding that no entry here covers; none, which stands for all, where timing decides which are seen, or
    /// where not all are shown.
    fn others(&self, finding: &Finding, rules: &RuleIndex) -> Vec<String> {
        let is_full = finding.more_defects && finding.evidence.len() >= SHOWN;
        if is_full || rules.find(finding.rule).is_none_or(|rule| rule.timed) {
            return Vec::new();
        }
        let seen = Seen::from(finding).defects.into_iter();
        let open = seen.filter(|defect| !self.naming(finding).any(|known| known.covers(*defect)));
        let sites: BTreeSet<String> = open.map(|(method, place)| DefectKey::new(method, place, "").site()).collect();
        sites.into_iter().collect()
    }

    /// The file's text, harmless on a terminal.
    pub fn text(&self) -> String {
        let document = serde_json::to_string_pretty(self).unwrap_or_default();
        wire::escape::json(&document).into_owned() + "\n"
    }

    /// The entry whose reason stands for a finding of which all is known.
    pub fn entry(&self, finding: &Finding) -> Option<&Known> {
        let covers = |known: &&Known| Seen::from(finding).defects.iter().any(|defect| known.covers(*defect));
        let mut entries = self.naming(finding).filter(|_| self.knows(finding));
        let whole = entries.clone().find(|known| known.covers_all());
        whole.or_else(|| entries.find(covers))
    }

    /// Whether all of a finding is known.
    pub fn knows(&self, finding: &Finding) -> bool {
        self.knows_seen(&Seen::from(finding))
    }

    /// The same of a broken rule that no finding describes yet: an entry covers all, or some entry each defect.
    pub fn knows_seen(&self, seen: &Seen<'_>) -> bool {
        let mut naming = self.known.iter().filter(|known| known.names(seen.rule, seen.revision, seen.transport));
        // How many breaches are looked at is limited: what is listed stays known though there may be more of it.
        let covered = |&defect: &(Option<&str>, &str)| {
            naming.clone().any(|known| if seen.more { known.lists(defect) } else { known.covers(defect) })
        };
        let each = !seen.defects.is_empty() && seen.defects.iter().all(covered);
        each || naming.any(Known::covers_all)
    }

    /// Whether one defect of a finding is known.
    pub fn knows_defect(&self, finding: &Finding, evidence: &Evidence) -> bool {
        let defect = (evidence.method.as_deref(), evidence.pointer.as_str());
        self.naming(finding).any(|known| known.covers(defect))
    }

    /// The entries of a finding's rule, revision and transport.
    fn naming<'b, 'f>(&'b self, finding: &'f Finding) -> impl Iterator<Item = &'b Known> + Clone + use<'b, 'f> {
        self.known.iter().filter(move |known| known.names_finding(finding))
    }

    /// The entries that are no longer broken in a report, and those of rules that do not exist.
    pub fn stale<'b>(&'b self, report: &Report, exists: &dyn Fn(&str) -> bool) -> impl Iterator<Item = &'b Known> {
        self.known.iter().filter(|known| known.is_stale(report, exists))
    }
}

fn broken(report: &Report) -> impl Iterator<Item = &Finding> {
    report.results.iter().filter(|finding| finding.outcome.is_broken())
}
