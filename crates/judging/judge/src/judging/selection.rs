//! Which rules to judge by: ids, globs and levels.

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

/// Whether a glob (`*` for any run of characters, `?` for one) matches an id. Only the last `*` is tried again, so that no
/// pattern takes long.
pub fn matches(pattern: &str, id: &str) -> bool {
    let (pattern, id): (Vec<char>, Vec<char>) = (pattern.chars().collect(), id.chars().collect());
    let (mut at, mut next, mut star) = (0, 0, None);
    while next < id.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                star = Some((at, next));
                at += 1;
            }
            (Some(&c), _) if c == '?' || c == id[next] => {
                at += 1;
                next += 1;
            }
            (_, Some((last, from))) => {
                star = Some((last, from + 1));
                (at, next) = (last + 1, from + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}
