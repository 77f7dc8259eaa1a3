//! A server that can no longer be reached: nothing can be played a second time then. What confirms its end is that it stays
//! away. Over stdio every play has a process of its own, so that this concerns networks alone.

use std::time::Duration;

use wire::Transport;
use wire::trace::{Closed, Content, Trace};

use super::run::Stage;
use crate::judging::Judged;

/// What the end of a server breaks.
const ENDED: [&str; 2] = ["jsonrpc.answered-before-end", "safety.keeps-answering"];

/// How long it is waited before each attempt to reach it: what starts it again may take a moment.
const ATTEMPTS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(400), Duration::from_millis(1200)];

impl Stage {
    /// Confirms what says that the server ended, where nothing listens there any more.
    pub(super) async fn confirm_the_end(&self, cases: &[Judged]) {
        if self.setting.transport == Transport::Stdio {
            return;
        }
        let suspicions =
            cases.iter().flat_map(|case| case.suspicions().into_iter().map(move |one| (one, &case.defects)));
        let open: Vec<_> = suspicions.filter(|(one, _)| ENDED.contains(&one.rule)).collect();
        if open.is_empty() || !self.is_gone().await {
            return;
        }
        for (suspicion, defects) in &open {
            self.confirm_at_once(suspicion, defects.get(suspicion.rule));
        }
    }

    /// Whether no attempt brings a connection about. A server that answers in whatever way is there.
    async fn is_gone(&self) -> bool {
        let stage = self.undisturbed();
        for pause in ATTEMPTS {
            tokio::time::sleep(pause).await;
            match stage.greeted("still-there").await {
                Err(trace) if is_unreached(&trace) => {}
                _ => return false,
            }
        }
        true
    }
}

/// Whether no connection came about.
fn is_unreached(trace: &Trace) -> bool {
    trace.frames.iter().any(|frame| matches!(frame.content, Content::Closed(Closed::Failed)))
}
