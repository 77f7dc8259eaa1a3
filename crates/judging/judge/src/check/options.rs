//! What a check is asked to do: the meaning of the command line's options, free of how they were typed.

use net::Children;
use net::client::{Address, Limits};
use wire::Revision;
use wire::redact::{Redactor, Secrets};

use super::hints::Hints;
use crate::Words;
pub use crate::judging::matches;
use crate::judging::{Reproduce, Selection, TraceSink};
pub use client::CallPolicy;

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
    /// The revisions to judge at; every one that the peer serves where empty.
    pub revisions: Vec<Revision>,
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
