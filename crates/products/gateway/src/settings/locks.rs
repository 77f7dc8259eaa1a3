//! What servers may tell models: only what was locked. Values only.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which lock servers are held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockSettings {
    /// The lock, written by `proof lock`.
    pub file: PathBuf,
    /// The name in the lock, by the name of the upstream. An upstream that is missing here has its own name.
    pub servers: BTreeMap<String, String>,
    /// What becomes of upstreams that the lock does not know.
    pub unlocked: Unlocked,
    /// Whether definitions are listed again before each call, read and get.
    pub each_call: bool,
    /// Signed manifests, by the name of the upstream.
    pub manifests: BTreeMap<String, ManifestSettings>,
}

impl LockSettings {
    /// The lock in `file`, with the usual rules.
    pub fn new(file: PathBuf) -> Self {
        let (servers, unlocked) = (BTreeMap::new(), Unlocked::default());
        Self { file, servers, unlocked, each_call: true, manifests: BTreeMap::new() }
    }
}

/// What becomes of upstreams that the lock does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlocked {
    /// Nothing of them is shown or called.
    #[default]
    Withhold,
    /// All of them is passed on.
    Pass,
}

/// A signed manifest of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestSettings {
    /// The manifest, or an envelope around it.
    pub file: PathBuf,
    /// The public keys of its publisher (a JWK set). Without it, the keys that the lock pins.
    pub keys: Option<PathBuf>,
}
