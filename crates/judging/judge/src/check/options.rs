//! What a check is asked to do: the meaning of the command line's options, free of how they were typed.

use std::time::Duration;

use net::Children;
use net::client::{Address, Limits};
use wire::redact::{Redactor, Secrets};
use wire::{Era, Revision};

use super::hints::Hints;
use crate::Words;
pub use crate::judging::matches;
use crate::judging::{Reproduce, Selection, TraceSink};
pub use client::CallPolicy;

/// Which revisions of those that a peer serves are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionChoice {
    /// The newest of each era: what today's clients use.
    NewestOfEachEra,
    /// Every one.
    All,
    /// These, whatever else it serves.
    These(Vec<Revision>),
}

impl RevisionChoice {
    /// Those that the user named.
    pub fn named(&self) -> &[Revision] {
        if let Self::These(named) = self { named } else { &[] }
    }

    /// Those of `served`, oldest first, that are judged.
    pub fn of(&self, served: &[Revision]) -> Vec<Revision> {
        let newest = |era: Era| served.iter().copied().filter(|revision| revision.era() == era).max();
        match self {
            Self::NewestOfEachEra => [Era::Legacy, Era::Modern].into_iter().filter_map(newest).collect(),
            Self::All => served.to_vec(),
            Self::These(named) => served.iter().copied().filter(|revision| named.contains(revision)).collect(),
        }
    }
}

/// What a check is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The peers to judge, as one subject: a reference server over two transports, say.
    pub targets: Vec<Address>,
    /// How the subject is named in reports: the command line's own words.
    pub target: String,
    /// Makes the command lines that reproduce findings.
    pub reproduce: Reproduce,
    /// Advice in the words of the program.
    pub words: Words,
    /// The revisions to judge at.
    pub revisions: RevisionChoice,
    /// Which rules to judge by.
    pub selection: Selection,
    /// Which tools may be called.
    pub calls: CallPolicy,
    /// What is known of the peer beforehand.
    pub hints: Hints,
    /// Whether probes that strain a peer may run against one that is neither our child nor on loopback.
    pub intrusive: bool,
    /// How many cases run side by side, for each target.
    pub jobs: usize,
    /// The seed of what is drawn: arguments made from schemas, and the order of side-by-side cases. 0 draws nothing.
    pub seed: u64,
    /// How long the check may take in all; unlimited if `None`.
    pub max_time: Option<Duration>,
    /// Time and size limits.
    pub limits: Limits,
    /// Owns the servers that are started.
    pub children: Children,
    /// What the user handed in that must not come out.
    pub secrets: Secrets,
    /// Replaces them, and what looks like a secret.
    pub redactor: Redactor,
    /// Who keeps the traces, if anybody does.
    pub keep: TraceSink,
}

#[cfg(test)]
mod tests {
    use wire::Revision;

    use super::RevisionChoice::{All, NewestOfEachEra, These};

    #[test]
    fn the_newest_of_each_era_is_what_the_server_has() {
        let [first, second, third, fourth, modern] = Revision::ALL;
        assert_eq!(NewestOfEachEra.of(&Revision::ALL), [fourth, modern]);
        assert_eq!(NewestOfEachEra.of(&[first, second]), [second]);
        assert_eq!(NewestOfEachEra.of(&[modern]), [modern]);
        assert_eq!(All.of(&[first, modern]), [first, modern]);
        assert_eq!(These(vec![third, second]).of(&[first, second, modern]), [second]);
    }
}
