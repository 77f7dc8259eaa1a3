//! The lock and the manifests that servers are held against: read with the configuration, and looked at as time passes. Knows
//! no message.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use super::{Gateway, Hub, SettingsError};
use crate::locks::{LockError, LockFiles, Locks, now};
use crate::settings::Settings;

/// What is enforced, and the files that it was read from.
#[derive(Default)]
pub(super) struct Enforced {
    locks: Option<Arc<Locks>>,
    files: LockFiles,
    /// Why manifests were refused when that was looked at last.
    refused: Vec<(String, Option<String>)>,
}

impl Hub {
    /// What servers are held against, if they are.
    pub(crate) fn locks(&self) -> Option<Arc<Locks>> {
        self.enforced.read().unwrap_or_else(PoisonError::into_inner).locks.clone()
    }

    /// Whether nothing of an upstream may reach a client.
    pub(crate) fn withholds(&self, upstream: &str) -> bool {
        self.locks().is_some_and(|locks| locks.whole(upstream, now()).is_some())
    }

    /// What these settings enforce. Where the files say the same as before, it stays what it is.
    pub(super) fn enforced_by(&self, settings: &Settings) -> Result<Enforced, SettingsError> {
        // Looked at first: what changes while it is read is noticed afterwards.
        let files = LockFiles::look(settings.lock.as_ref());
        let names = settings.upstreams.iter().map(|upstream| upstream.name.as_str());
        let new = settings.lock.as_ref().map(|lock| Locks::load(lock, names)).transpose();
        let new = new.map_err(SettingsError::Lock)?.map(Arc::new);
        let held = self.locks().filter(|held| Some(held) == new.as_ref());
        let locks = held.or(new);
        let refused = locks.as_ref().map(|locks| locks.manifests(now())).unwrap_or_default();
        Ok(Enforced { locks, files, refused })
    }

    /// From now on, this is enforced.
    pub(super) fn enforce(&self, enforced: Enforced, settings: &Settings) {
        let mut held = self.enforced.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = held.locks.as_ref().map(Arc::as_ptr) == enforced.locks.as_ref().map(Arc::as_ptr);
        if let Some(locks) = enforced.locks.as_ref().filter(|_| !is_same) {
            let names = settings.upstreams.iter().map(|upstream| upstream.name.as_str());
            self.stats.withheld.begin(names.filter(|name| locks.judges(name)));
            tell(&enforced.refused);
        }
        *held = enforced;
    }

    /// Looks whether a manifest has expired, or has begun to hold: its server is listed again then.
    pub(super) fn look_at_manifests(&self) {
        let mut held = self.enforced.write().unwrap_or_else(PoisonError::into_inner);
        let Some(locks) = held.locks.clone() else { return };
        let states = locks.manifests(now());
        let changed: Vec<_> = states.iter().filter(|state| !held.refused.contains(state)).cloned().collect();
        held.refused = states;
        drop(held);
        tell(&changed);
        for upstream in self.upstreams().iter().filter(|one| changed.iter().any(|(name, _)| *name == one.name)) {
            self.announce_all(upstream.index);
        }
    }
}

/// Says in the log which manifests are refused.
fn tell(manifests: &[(String, Option<String>)]) {
    for (upstream, refused) in manifests {
        if let Some(why) = refused {
            tracing::warn!(upstream, "all of it is withheld: {}", wire::escape::line(why));
        } else {
            tracing::info!(upstream, "its manifest is verified");
        }
    }
}

/// Whether the lock of these settings can be enforced.
pub fn check_lock(settings: &Settings) -> Result<(), LockError> {
    let names = settings.upstreams.iter().map(|upstream| upstream.name.as_str());
    settings.lock.as_ref().map_or(Ok(()), |lock| Locks::load(lock, names).map(drop))
}

impl Gateway {
    /// The files of the lock as they are now, where they are others than those that it was read from.
    pub fn changed_lock_files(&self) -> Option<LockFiles> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        let settings = state.settings.lock.as_ref()?;
        let now = LockFiles::look(Some(settings));
        let held = self.0.enforced.read().unwrap_or_else(PoisonError::into_inner);
        (held.files != now).then_some(now)
    }

    /// What is withheld because of the lock, for `status`.
    pub(super) fn lock_status(&self) -> Option<Value> {
        let locks = self.0.locks()?;
        let manifest =
            |(upstream, refused): (String, Option<String>)| json!({ "upstream": upstream, "refused": refused });
        let manifests: Vec<_> = locks.manifests(now()).into_iter().map(manifest).collect();
        Some(json!({ "withheld": self.0.stats.withheld.status(), "manifests": manifests }))
    }
}
