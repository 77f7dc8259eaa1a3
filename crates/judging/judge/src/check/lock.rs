//! Whose turn it is to change what every client of a peer sees. Runs at several revisions share one server over HTTP: a tool
//! that the one brings in, another would take away before the first has looked. Knows nothing of what is changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use wire::Transport;

/// How long to wait for a turn: a peer that makes others take longer is past being told apart from a silent one.
const PATIENCE: Duration = Duration::from_mins(1);

/// The turns at one target. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Turns(Option<Arc<Mutex<()>>>);

/// A turn, until it is dropped.
pub struct Turn {
    _held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Turns at a target that is reached over `transport`. Children keep what they show to themselves: there is nothing to
    /// wait for.
    pub fn over(transport: Transport) -> Self {
        Self((transport != Transport::Stdio).then(Arc::default))
    }

    /// Waits for a turn; `None` where none comes.
    pub async fn take(&self) -> Option<Turn> {
        let Some(turns) = &self.0 else { return Some(Turn { _held: None }) };
        let held = tokio::time::timeout(PATIENCE, turns.clone().lock_owned()).await.ok()?;
        Some(Turn { _held: Some(held) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use wire::Transport;

    use super::Turns;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn one_has_the_turn_at_a_time() {
        let turns = Turns::over(Transport::StreamableHttp);
        let first = turns.take().await.expect("nobody else has it");
        assert!(timeout(SOON, turns.clone().take()).await.is_err(), "two at a time");
        drop(first);
        assert!(timeout(SOON, turns.take()).await.is_ok_and(|turn| turn.is_some()));
    }

    #[tokio::test]
    async fn children_wait_for_nobody() {
        let turns = Turns::over(Transport::Stdio);
        let _first = turns.take().await.expect("a turn");
        assert!(timeout(SOON, turns.take()).await.is_ok_and(|turn| turn.is_some()));
    }
}
