//! What stands between a call that may be made and its server: a question to the user, and calls that were made before. Must
//! not know how requests travel.

pub(crate) mod confirmations;
mod question;
pub(crate) mod sequences;

use std::time::Instant;

use self::confirmations::Confirmations;
use self::sequences::Sequences;
use crate::access::{AccessRules, ConditionError};
use crate::ids::Ids;
use crate::settings::{ConfirmSettings, SequenceRule, Settings};

pub(crate) use self::question::question;

/// The rules of a gateway.
#[derive(Debug)]
pub(crate) struct Guards {
    pub(crate) confirm: Option<Confirm>,
    pub(crate) sequences: Vec<SequenceRule>,
}

/// Which calls the user is asked about.
#[derive(Debug)]
pub(crate) struct Confirm {
    pub(crate) settings: ConfirmSettings,
    pub(crate) rules: AccessRules,
}

impl Guards {
    /// The rules; `None` where there are none, and the first condition that cannot be used.
    pub(crate) fn new(settings: &Settings) -> Result<Option<Self>, ConditionError> {
        let confirm = settings.confirm.clone().map(|settings| {
            let rules = AccessRules::new(&settings.rules).map_err(|error| error.of_section("confirm"))?;
            Ok(Confirm { settings, rules })
        });
        let guards = Self { confirm: confirm.transpose()?, sequences: settings.sequences.clone() };
        Ok((guards.confirm.is_some() || !guards.sequences.is_empty()).then_some(guards))
    }
}

/// What calls leave behind. It outlives a change of the configuration.
#[derive(Default)]
pub(crate) struct GuardState {
    pub(crate) confirmations: Confirmations,
    pub(crate) sequences: Sequences,
}

impl GuardState {
    pub(crate) fn new(ids: Ids) -> Self {
        Self { confirmations: Confirmations::new(ids), sequences: Sequences::default() }
    }

    /// Forgets what is over.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.confirmations.sweep(now);
        self.sequences.sweep(now);
    }
}
