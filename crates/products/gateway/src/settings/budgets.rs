//! How long calls of tools may take, alone and in chains. Values only.

use std::time::Duration;

/// How long calls of tools may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetSettings {
    /// One call.
    pub tool: Duration,
    /// A chain of calls, from its first one on.
    pub chain: Duration,
    /// After how long without a call a session begins another chain.
    pub session_gap: Duration,
    /// What of a chain's time no tool gets.
    pub reserve: Duration,
    /// Whether clients may set a deadline.
    pub deadlines: bool,
    /// The least time between two looks at one task.
    pub poll_interval: Duration,
    /// How long tools take of which nothing is known yet.
    pub cold: ColdStart,
    /// What holds for tools, by their names as clients see them, with `*`. The first that fits counts.
    pub tools: Vec<(String, ToolBudget)>,
    /// Plans by name: the tools of a chain, in order.
    pub chains: Vec<(String, Vec<String>)>,
    /// Other limits for some clients. The first that fits counts.
    pub clients: Vec<ClientBudget>,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self {
            tool: Duration::from_secs(30),
            chain: Duration::from_secs(100),
            session_gap: Duration::from_secs(30),
            reserve: Duration::ZERO,
            deadlines: true,
            poll_interval: Duration::from_secs(1),
            cold: ColdStart::default(),
            tools: Vec::new(),
            chains: Vec::new(),
            clients: Vec::new(),
        }
    }
}

/// How long a tool is expected to take before enough of its calls are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColdStart {
    /// A tool that only reads.
    pub read: Duration,
    /// A tool of which its server says nothing, or that reads the open world.
    pub moderate: Duration,
    /// A tool that changes something.
    pub write: Duration,
}

impl Default for ColdStart {
    fn default() -> Self {
        Self { read: Duration::from_millis(500), moderate: Duration::from_secs(2), write: Duration::from_secs(5) }
    }
}

/// What a tool does, as far as its time depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// It reads.
    Read,
    /// It reads the open world, or nothing is known of it.
    Moderate,
    /// It changes something.
    Write,
}

/// What holds for a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolBudget {
    /// The most that a call gets.
    pub limit: Option<Duration>,
    /// The least that a call of a chain gets, as far as that is left; by default twice what nine of ten calls take.
    pub least: Option<Duration>,
    /// Its class, whatever its server says.
    pub class: Option<ToolClass>,
    /// How long it is expected to take before enough calls are known, in place of its class.
    pub expected: Option<Duration>,
}

/// Limits for some clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientBudget {
    /// The name that the client gives itself, with `*`.
    pub client: Option<String>,
    /// The scopes that its token must have, all of them.
    pub scopes: Vec<String>,
    /// One call.
    pub tool: Option<Duration>,
    /// A chain of calls.
    pub chain: Option<Duration>,
}
