//! What a check is asked to do: the meaning of the command line's options, free of how they were typed.

use net::client::{Address, Limits};
use wire::Revision;
use wire::redact::Secrets;

use super::hints::Hints;
pub use crate::judging::matches;
use crate::judging::{Selection, TraceSink};
pub use client::CallPolicy;

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
    /// What the user handed in that must not come out.
    pub secrets: Secrets,
    /// Who keeps the traces, if anybody does.
    pub keep: TraceSink,
}
