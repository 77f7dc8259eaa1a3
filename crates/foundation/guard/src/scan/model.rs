//! What goes in and what comes out.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::rule::{Rule, Severity};

/// The kind of thing that a model may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A tool as listed.
    Tool,
    /// A prompt as listed.
    Prompt,
    /// A resource as listed.
    Resource,
    /// A resource template as listed.
    Template,
    /// A server's instructions.
    Instructions,
    /// A result or message that a trace holds.
    Result,
    /// An entry of a client's configuration: launch command, variables, headers.
    Configuration,
}

impl Kind {
    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Instructions => "instructions",
            Self::Result => "result",
            Self::Configuration => "configuration",
        }
    }
}

/// One thing that a model may see.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name; empty for instructions.
    pub name: String,
    /// As received.
    pub value: Value,
}

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The server's name in this scan.
    pub server: String,
    /// The kind of the item.
    pub kind: Kind,
    /// The item's name.
    pub item: String,
    /// JSON pointer of the string within the item; a member's name is pointed at as the member.
    pub pointer: String,
    /// Bytes of the string.
    pub span: Range<usize>,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How bad this one is; at most the rule's.
    pub severity: Severity,
    /// The weight of the evidence, or of the rule.
    pub weight: u32,
    /// Where.
    pub place: Place,
    /// The text around it in one line, with hidden characters made visible.
    pub excerpt: String,
    /// Where in the excerpt it stands, in characters.
    pub caret: Range<usize>,
    /// What was found, in one sentence.
    pub message: String,
    /// What was hidden, decoded.
    pub decoded: Option<String>,
    /// SHA-256 of the whole text that the finding is about.
    pub(super) digest: [u8; 32],
}

impl Finding {
    /// An identity that stays as long as rule, severity, item, place and text do; offsets are not in it.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let place = &self.place;
        for part in [
            self.rule.id,
            self.severity.as_str(),
            &place.server,
            place.kind.as_str(),
            &place.item,
            &place.pointer,
            &self.message,
        ] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(self.digest);
        hash.finalize()[..12].iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }
}

/// What a scan comes to.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The findings, the most severe first.
    pub findings: Vec<Finding>,
    /// By rule, how many more there are of each severity that are not in `findings`.
    pub more: BTreeMap<&'static str, BTreeMap<Severity, usize>>,
    /// How many items were read, by kind.
    pub items: BTreeMap<Kind, usize>,
    /// How many strings were read.
    pub strings: usize,
    /// What was left out, in words; such a scan is never clean.
    pub incomplete: Vec<String>,
    /// By rule that calls the server, how often it tried to prove its subject.
    pub tried: BTreeMap<&'static str, usize>,
    /// The names of the servers.
    pub servers: Vec<String>,
}

impl Scan {
    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.items.values().sum::<usize>() == 0
    }

    /// The highest severity of all findings.
    pub fn worst(&self) -> Option<Severity> {
        let more = self.more.values().flat_map(|counts| counts.keys().copied());
        self.findings.iter().map(|finding| finding.severity).chain(more).max()
    }
}
