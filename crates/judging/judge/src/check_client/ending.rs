//! Ends a check of a client early, so that what was judged until then can be reported. Must not know who asks for it.

use tokio::sync::watch;

/// A request to end early. Copies are the same.
#[derive(Clone, Debug)]
pub struct Ending(watch::Sender<bool>);

impl Default for Ending {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Ending {
    /// Asks for the end.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }

    /// Whether the end was asked for.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when the end is asked for.
    pub async fn asked(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}

/// What was not tried because the end came first, in words.
pub(super) fn describe(untried: &[&'static str]) -> Option<String> {
    const NAMED: usize = 8;
    let named = untried.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = match untried.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!untried.is_empty()).then(|| format!("it was interrupted before {named}{more}"))
}
