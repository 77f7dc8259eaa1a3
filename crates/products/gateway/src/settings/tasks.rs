//! Which calls become tasks of the gateway. Values only.

use std::time::Duration;

/// Which calls become tasks of the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSettings {
    /// A tool of which half of the calls take longer than this is offered as a task.
    pub over: Duration,
    /// Tools that are always offered, by their names as clients see them, with `*`.
    pub tools: Vec<String>,
    /// How long a task is kept, from its beginning.
    pub ttl: Duration,
    /// The least time between two looks at one task, and the first that is advised.
    pub poll: Duration,
    /// The most tasks of one principal, running or kept.
    pub per_principal: usize,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self {
            over: Duration::from_secs(10),
            tools: Vec::new(),
            ttl: Duration::from_mins(15),
            poll: Duration::from_secs(1),
            per_principal: 32,
        }
    }
}
