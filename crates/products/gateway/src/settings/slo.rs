//! Service level objectives of tools. Values only.

use std::time::Duration;

use super::ToolClass;

/// How fast calls of tools shall be.
#[derive(Clone, Debug, PartialEq)]
pub struct SloSettings {
    /// The share of calls that shall be good, more than 0 and less than 1.
    pub objective: f64,
    /// Within which time a call of a tool that only reads shall end.
    pub read: Duration,
    /// The same for a tool of which its server says nothing, or that reads the open world.
    pub moderate: Duration,
    /// The same for a tool that changes something.
    pub write: Duration,
    /// What holds for tools, by their names as clients see them, with `*`. The first that fits counts.
    pub tools: Vec<(String, ToolObjective)>,
}

impl Default for SloSettings {
    fn default() -> Self {
        Self {
            objective: 0.99,
            read: Duration::from_millis(500),
            moderate: Duration::from_secs(2),
            write: Duration::from_secs(5),
            tools: Vec::new(),
        }
    }
}

impl SloSettings {
    /// The time of a class.
    pub const fn of_class(&self, class: ToolClass) -> Duration {
        match class {
            ToolClass::Read => self.read,
            ToolClass::Moderate => self.moderate,
            ToolClass::Write => self.write,
        }
    }
}

/// The objective of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolObjective {
    /// Within which time a call shall end, in place of the time of its class.
    pub within: Option<Duration>,
    /// Its class, whatever its server says.
    pub class: Option<ToolClass>,
}
