//! What reports say about rules: their sentences, how they are judged, how to fix what breaks them. Passed in by the judge.

use std::collections::HashMap;

use wire::{Level, Revision};

use crate::glob;

/// One rule as reports describe it.
#[derive(Clone, Debug)]
pub struct RuleText {
    /// The rule's id.
    pub id: &'static str,
    /// How it is judged.
    pub how: &'static str,
    /// How to fix a peer that breaks it; may be empty.
    pub fix: &'static str,
    /// Whether timing may change which of its defects are seen.
    pub timed: bool,
    /// What it says at each revision that has it, oldest first.
    pub sentences: Vec<Sentence>,
}

/// What a rule says at one revision.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// The revision.
    pub revision: Revision,
    /// Its level there.
    pub level: Level,
    /// Our wording.
    pub text: &'static str,
    /// The path of the specification's page.
    pub page: &'static str,
    /// The address of the sentence.
    pub url: String,
}

impl RuleText {
    /// The sentence as it stands at `revision`, if it does.
    pub fn sentence_at(&self, revision: Revision) -> Option<&Sentence> {
        self.sentences.iter().find(|sentence| sentence.revision == revision)
    }

    /// The sentence at the newest revision that has it.
    pub fn newest(&self) -> Option<&Sentence> {
        self.sentences.last()
    }
}

/// Every rule that exists, in the order of the specification.
#[derive(Clone, Debug, Default)]
pub struct RuleIndex {
    rules: Vec<RuleText>,
    places: HashMap<&'static str, usize>,
}

impl RuleIndex {
    /// The rule with this id.
    pub fn find(&self, id: &str) -> Option<&RuleText> {
        self.places.get(id).map(|&at| &self.rules[at])
    }

    /// Whether there is a rule of this id, or one that this pattern matches.
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some() || glob::is_pattern(id) && self.rules.iter().any(|rule| glob::matches(id, rule.id))
    }

    /// All rules, in order.
    pub fn all(&self) -> impl Iterator<Item = &RuleText> {
        self.rules.iter()
    }
}

impl FromIterator<RuleText> for RuleIndex {
    fn from_iter<I: IntoIterator<Item = RuleText>>(rules: I) -> Self {
        let rules: Vec<RuleText> = rules.into_iter().collect();
        let places = rules.iter().enumerate().map(|(at, rule)| (rule.id, at)).collect();
        Self { rules, places }
    }
}
