//! Messages to webhooks: what happened becomes a message for each webhook, and messages are sent until they arrive. The store keeps
//! both, so that a kill loses none.

mod messages;
mod sending;
mod signing;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use fleet_store::{Millis, StoreError};

pub use self::sending::{Sent, send};
pub use self::signing::Key;
use crate::config::Fleet;
use crate::keeping::{Keeping, seconds};
use crate::state::ServerState;

/// Makes the messages about what happened since the last time, and about waivers that end soon.
pub async fn pass_on(
    keeping: &Keeping,
    fleet: &Fleet,
    states: &[ServerState<'_>],
    now: Millis,
) -> Result<(), StoreError> {
    let by_name: HashMap<&str, &ServerState<'_>> =
        states.iter().map(|state| (state.server.name.as_str(), state)).collect();
    loop {
        let happened = keeping.store.happened().await?;
        if happened.is_empty() {
            break;
        }
        let made = happened.iter().flat_map(|one| messages::of(fleet, by_name.get(one.server.as_str()).copied(), one));
        let made: Vec<_> = made.collect();
        let passed: Vec<_> = happened.iter().map(|one| one.id).collect();
        keeping.store.pass_on(&passed, &made, now).await?;
    }
    let expiring: Vec<_> = states.iter().flat_map(|state| messages::expiring(fleet, state, seconds(now))).collect();
    if !expiring.is_empty() {
        keeping.store.pass_on(&[], &expiring, now).await?;
    }
    Ok(())
}
