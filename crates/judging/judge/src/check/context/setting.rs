//! What all cases of one run share: where the peer is, what may be done to it, and how long it may take.

use std::sync::Arc;

use net::Children;
use net::client::{Address, Limits};
use wire::{Revision, Transport};

use super::super::hints::Hints;
use super::super::learnt::Learnt;
use super::super::lock::ChangeLock;
use super::super::options::CallPolicy;
use super::super::silence::Silence;
use super::super::spawn_limit::SpawnLimit;
use super::super::time_limit::TimeLimit;
use super::pace::Pace;
use super::progress_tokens::ProgressTokens;

/// What all cases of one run have in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How to reach the peer.
    pub address: Address,
    /// The transport.
    pub transport: Transport,
    /// The revision to speak.
    pub revision: Revision,
    /// Whether the peer answers `server/discover`, too, where another revision is judged.
    pub is_modern_too: bool,
    /// Which tools may be called.
    pub calls: CallPolicy,
    /// What is known of the peer beforehand.
    pub hints: Hints,
    /// Whether the peer may be strained.
    pub may_strain: bool,
    /// The seed of what is drawn: arguments made from schemas, and the order of side-by-side cases. 0 draws nothing.
    pub seed: u64,
    /// Whose turn it is to change what all clients of the peer see.
    pub lock: ChangeLock,
    /// How many children may be starting at a time.
    pub spawns: SpawnLimit,
    /// Time and size limits.
    pub limits: Limits,
    /// Owns the peer's processes.
    pub children: Children,
    /// How long all of it may take.
    pub time: TimeLimit,
    /// How fast the peer answers.
    pub pace: Pace,
    /// Whether the peer still answers.
    pub silence: Arc<Silence>,
    /// Makes the progress tokens of all connections.
    pub tokens: ProgressTokens,
    /// What was learnt of the peer by asking it.
    pub learnt: Learnt,
}

impl Setting {
    /// Whether the user gave what proves who asks.
    pub fn is_authorized(&self) -> bool {
        matches!(&self.address, Address::Http(http) if http.authorization().is_some())
    }

    /// A generator for one purpose: a tool's name, say.
    pub fn rng(&self, purpose: &str) -> schema::Rng {
        schema::Rng::new(self.seed, purpose)
    }
}
