//! What decides about access, what is counted of those whom the gateway asks, and by which keys servers know the gateway. Knows
//! no message.

use std::sync::{Arc, PoisonError};

use super::{Gateway, Hub, SettingsError};
use crate::access::{Access, DecisionPoint, decision_point};
use crate::settings::Settings;

impl Hub {
    /// What these settings say of access. A policy decision point that did not change stays, with what it has decided.
    pub(super) fn access_of(&self, settings: &Settings) -> Result<Option<Arc<Access>>, SettingsError> {
        let point = decision_point(settings.authzen.as_deref(), self.decision_point())?;
        Ok(Access::new(settings.access.as_deref(), point)?.map(Arc::new))
    }

    /// The policy decision point, which all servers share.
    fn decision_point(&self) -> Option<Arc<DecisionPoint>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.entrances.iter().find_map(|entrance| entrance.inner()?.decision_point().cloned())
    }
}

impl Gateway {
    /// The public keys of assertions, if the gateway signs some.
    pub(crate) fn published_keys(&self) -> Option<String> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        state.settings.assertions.as_ref().map(|keys| keys.published.to_string())
    }

    /// What was counted of traffic, if it has limits, of interceptors and of the policy decision point, if there are any.
    pub(crate) fn traffic_metrics(&self) -> String {
        let mut page = self.0.traffic().map(|traffic| traffic.metrics()).unwrap_or_default();
        page.push_str(&self.0.interceptors().map(|all| all.metrics()).unwrap_or_default());
        page.push_str(&self.0.decision_point().map(|point| point.metrics()).unwrap_or_default());
        page
    }
}
