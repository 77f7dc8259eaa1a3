//! The authorization server for clients, where the configuration has one. Knows no message.

use std::sync::Arc;

use super::{Gateway, SettingsError};
use crate::answers::Kept;
use crate::bridge::Bridge;
use crate::settings::Settings;

/// Opens it, with its sessions where the store is.
pub(super) fn open(settings: &Settings, kept: &Kept) -> Result<Option<Arc<Bridge>>, SettingsError> {
    let store = (settings.store.as_ref(), kept.shared.as_ref());
    let bridge = settings.bridge.as_deref().map(|bridge| Bridge::open(bridge, settings.auth.as_ref(), store));
    bridge.transpose().map_err(SettingsError::Bridge)
}

impl Gateway {
    /// The authorization server for clients.
    pub(crate) fn bridge(&self) -> Option<&Arc<Bridge>> {
        self.0.bridge.as_ref()
    }
}
