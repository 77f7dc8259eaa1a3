//! The other gateways that clients see as one with this one.

use std::sync::Arc;

use super::{Gateway, SettingsError};
use crate::answers::Kept;
use crate::replicas::Replicas;
use crate::settings::Settings;

impl Gateway {
    /// The other gateways, if there are any.
    pub fn replicas(&self) -> Option<&Arc<Replicas>> {
        self.0.replicas.as_ref()
    }
}

/// This gateway among the others, which it finds in the store.
pub(super) fn replicas_of(settings: &Settings, kept: &Kept) -> Result<Option<Arc<Replicas>>, SettingsError> {
    let Some(replicas) = &settings.replicas else { return Ok(None) };
    let store = kept.shared.as_ref().ok_or(SettingsError::Replicas)?;
    Replicas::new(replicas, store).map(|replicas| Some(Arc::new(replicas))).ok_or(SettingsError::Replicas)
}
