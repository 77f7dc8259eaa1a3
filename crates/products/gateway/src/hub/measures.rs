//! What servers get of objectives and of tasks, and what is shown of objectives. Knows no message.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::{Gateway, Hub};
use crate::long_calls::Tasks;
use crate::settings::Settings;
use crate::slo::Slo;

impl Hub {
    /// The objectives, and what makes tasks of calls, where the settings have them.
    pub(super) fn measures(&self, settings: &Settings) -> (Option<Slo>, Option<Tasks>) {
        let slo = settings.slo.as_ref().map(|slo| Slo::new(slo, &self.slo));
        let tasks = settings.tasks.as_ref().map(|tasks| Tasks {
            settings: Arc::new(tasks.clone()),
            calls: Arc::clone(&self.long_calls.0),
            times: Arc::clone(&self.long_calls.1),
        });
        (slo, tasks)
    }
}

impl Gateway {
    /// The objectives of tools, and what was counted, if there are any.
    pub(crate) fn slo(&self) -> Option<Slo> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        state.settings.slo.as_ref().map(|slo| Slo::new(slo, &self.0.slo))
    }

    /// How the tools stand by their objectives, for `slo`; nothing without objectives.
    pub fn slo_status(&self) -> Option<serde_json::Value> {
        self.slo().map(|slo| slo.status(Instant::now()))
    }
}
