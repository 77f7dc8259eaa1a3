//! Which rules to judge by: ids, globs and levels.

use report::glob::matches;
use rules::{Level, Rule};
use wire::Revision;

/// Which rules to judge by.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Ids or globs; all where empty.
    pub only: Vec<String>,
    /// Ids or globs left out.
    pub skip: Vec<String>,
    /// The weakest level judged; `None` for all.
    pub level: Option<Level>,
    /// Whether all safety rules are judged, and not only those that every check judges.
    pub safety: bool,
    /// Whether the rules that go further than the specification are judged.
    pub documents: bool,
}

impl Selection {
    /// Whether a rule is selected at `revision` (where it stands at all).
    pub fn takes(&self, rule: &Rule, revision: Revision) -> bool {
        // One that the revision does not have goes by the level it has elsewhere.
        let sentence = rule.sentence_at(revision).or_else(|| rule.newest().map(|(_, sentence)| sentence));
        let Some(sentence) = sentence else { return false };
        if rule.advisory && !self.documents && self.only.is_empty() {
            return false;
        }
        let strong_enough = match (sentence.level, self.level) {
            (Level::Safety, _) => self.safety || rule.by_default || !self.only.is_empty(),
            (_, None) => true,
            (level, Some(weakest)) => level <= weakest,
        };
        strong_enough && self.names(rule)
    }

    /// Whether a report lists a rule that is not broken: a safety rule only where it was asked for.
    pub fn lists(&self, rule: &Rule) -> bool {
        !rule.by_default || self.safety || !self.only.is_empty()
    }

    fn names(&self, rule: &Rule) -> bool {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, rule.id));
        (self.only.is_empty() || named(&self.only)) && !named(&self.skip)
    }

    /// The patterns that match no rule: a typing mistake.
    pub fn unknown_patterns(&self) -> impl Iterator<Item = &str> {
        let unknown = |pattern: &&String| !rules::all_rules().any(|rule| matches(pattern, rule.id));
        self.only.iter().chain(&self.skip).filter(unknown).map(String::as_str)
    }
}
