//! What a check is asked to do: the meaning of the command line's options, free of how they were typed.

use std::collections::BTreeSet;

use net::client::{Address, Limits};
use rules::{Level, Rule};
use wire::Revision;
use wire::redact::Secrets;

use super::hints::Hints;
use super::keep::Keep;

/// What a check is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The peers to judge, as one subject: a reference server over two transports, say.
    pub targets: Vec<Address>,
    /// How the subject is named in reports: the command line's own words.
    pub target: String,
    /// What a command line that looks for one finding again needs besides the rule and the place: what leads to the subject
    /// and what may be done to it, in the words of this one.
    pub again: String,
    /// The revisions to judge at; every one that the peer serves where empty.
    pub revisions: Vec<Revision>,
    /// Which rules to judge by.
    pub selection: Selection,
    /// Which tools may be called.
    pub calls: Calls,
    /// What is known of the peer beforehand.
    pub hints: Hints,
    /// Whether probes that strain a peer may run against one that is neither our child nor on loopback.
    pub intrusive: bool,
    /// How many cases run side by side, for each target.
    pub jobs: usize,
    /// The seed of what is drawn: arguments made from schemas, and the order of side-by-side cases. 0 draws nothing.
    pub seed: u64,
    /// Time and size limits.
    pub limits: Limits,
    /// What the user handed in that must not come out.
    pub secrets: Secrets,
    /// Who keeps the traces, if anybody does.
    pub keep: Keep,
}

/// Which rules to judge by.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Ids or globs; all where empty.
    pub only: Vec<String>,
    /// Ids or globs left out.
    pub skip: Vec<String>,
    /// The weakest level judged; `None` for all.
    pub level: Option<Level>,
    /// Whether safety rules are judged.
    pub safety: bool,
}

impl Selection {
    /// Whether a rule is selected at `revision` (where it stands at all).
    pub fn takes(&self, rule: &Rule, revision: Revision) -> bool {
        // One that the revision does not have goes by the level it has elsewhere.
        let sentence = rule.sentence_at(revision).or_else(|| rule.newest().map(|(_, sentence)| sentence));
        let Some(sentence) = sentence else { return false };
        let strong_enough = match (sentence.level, self.level) {
            (Level::Safety, _) => self.safety || !self.only.is_empty(),
            (_, None) => true,
            (level, Some(weakest)) => level <= weakest,
        };
        strong_enough && self.names(rule)
    }

    fn names(&self, rule: &Rule) -> bool {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, rule.id));
        (self.only.is_empty() || named(&self.only)) && !named(&self.skip)
    }

    /// The patterns that name no rule of the book: a typing mistake.
    pub fn strangers(&self) -> impl Iterator<Item = &str> {
        let unknown = |pattern: &&String| !rules::book().any(|rule| matches(pattern, rule.id));
        self.only.iter().chain(&self.skip).filter(unknown).map(String::as_str)
    }
}

/// Whether a glob (`*` for any run of characters, `?` for one) matches an id. Only the last `*` is ever tried again, so that
/// no pattern takes long.
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

/// Which tools may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calls {
    /// None.
    None,
    /// Those that the server says only read, and those named here.
    Safe(BTreeSet<String>),
    /// All of them.
    All,
}

impl Default for Calls {
    fn default() -> Self {
        Self::Safe(BTreeSet::new())
    }
}

impl Calls {
    /// Whether a tool, as its server lists it, may be called.
    pub fn allow(&self, tool: &serde_json::Value) -> bool {
        let reads = tool.pointer("/annotations/readOnlyHint") == Some(&serde_json::Value::Bool(true));
        let name = tool.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
        match self {
            Self::None => false,
            Self::Safe(named) => reads || named.contains(name),
            Self::All => true,
        }
    }
}
