//! How a child process ends: by itself, by a signal, or because it uses too much memory.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::process::{Group, Signal};

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// How a child process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(Option<ExitStatus>),
    /// It was killed for its memory; the limit in bytes.
    TooMuchMemory(u64),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuchMemory(limit) => write!(f, "it was ended: it used more than {} MiB of memory", limit >> 20),
            Self::Exited(status) => match status.map(|status| (status.code(), status.signal())) {
                Some((Some(code), _)) => write!(f, "it ended with exit code {code}"),
                Some((None, Some(signal))) => write!(f, "it was ended by signal {signal}"),
                _ => f.write_str("it ended"),
            },
        }
    }
}

/// Waits for the end of a child process, and ends it where it uses too much memory.
pub(super) struct Supervisor {
    pub(super) child: tokio::process::Child,
    pub(super) group: Arc<Group>,
    pub(super) memory: Option<u64>,
}

impl Supervisor {
    pub(super) async fn run(mut self, ended: watch::Sender<Option<End>>) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut over = None;
        let status = loop {
            tokio::select! {
                status = self.child.wait() => break status.ok(),
                _ = looks.tick(), if self.memory.is_some() && over.is_none() => {
                    over = self.memory.filter(|most| self.group.resident_bytes().is_some_and(|bytes| bytes > *most));
                    if over.is_some() {
                        self.group.signal(Signal::Kill);
                    }
                }
            }
        };
        // What the leader started and left behind would have no owner.
        self.group.signal(Signal::Kill);
        ended.send_replace(Some(over.map_or(End::Exited(status), End::TooMuchMemory)));
    }
}
