//! How much clients may ask for, and what happens while an upstream fails. Values only.

use std::time::Duration;

/// How much clients may ask for, and what happens while an upstream fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficSettings {
    /// How often: all rules that fit a request must let it in.
    pub rates: Vec<RateRule>,
    /// How much at a time: the first rule that fits an upstream counts.
    pub concurrency: Vec<ConcurrencyRule>,
    /// How much calls of tools may cost.
    pub costs: Option<CostSettings>,
    /// When an upstream that fails is left alone.
    pub breakers: Option<BreakerSettings>,
    /// What is sent again by the gateway.
    pub retries: Option<RetrySettings>,
}

/// How often something may be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateRule {
    /// What has a count of its own: each combination of these.
    pub per: Vec<RateKey>,
    /// Only calls of these tools, by their names as clients see them, with `*`; without names, every request.
    pub tools: Option<Vec<String>>,
    /// How often.
    pub allow: Amount,
    /// How many at once, after a pause.
    pub burst: u32,
}

impl RateRule {
    /// Whether it can be decided before it is known where a request goes, and whether the client may send it.
    pub fn is_wide(&self) -> bool {
        self.tools.is_none() && !self.per.iter().any(|key| matches!(key, RateKey::Tool | RateKey::Upstream))
    }

    /// Whether it is about calls of tools alone.
    pub fn is_of_tools(&self) -> bool {
        self.tools.is_some() || self.per.contains(&RateKey::Tool)
    }
}

/// By what requests are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateKey {
    /// Whose token it is. All requests without a token are of one principal.
    Principal,
    /// The name that the client gives itself, within its principal.
    Client,
    /// The server of the gateway.
    Server,
    /// The tool of a server.
    Tool,
    /// The upstream that the request goes to.
    Upstream,
}

impl RateKey {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Principal, Self::Client, Self::Server, Self::Tool, Self::Upstream];

    /// Its name in files and errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Principal => "principal",
            Self::Client => "client",
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Upstream => "upstream",
        }
    }
}

/// So many in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub count: u32,
    /// In what time.
    pub period: Duration,
}

/// How much may be under way at one upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcurrencyRule {
    /// The upstream; without one, each upstream by itself.
    pub upstream: Option<String>,
    /// How many requests at a time.
    pub at_once: usize,
    /// How many of them may be of one principal.
    pub per_principal: Option<usize>,
    /// How many may wait.
    pub queue: usize,
    /// For how long.
    pub wait: Duration,
}

/// How much the calls of one principal may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostSettings {
    /// What one principal may spend.
    pub allow: Amount,
    /// What a call costs.
    pub default: u32,
    /// What a call of some tools costs, by their names as clients see them, with `*`. The first that fits counts.
    pub tools: Vec<(String, u32)>,
}

/// When an upstream that fails is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// How many failures open the breaker,
    pub failures: usize,
    /// among how many of the last requests.
    pub of: usize,
    /// How long nothing is sent then.
    pub open: Duration,
    /// How many requests are let through at a time after that, and must succeed.
    pub half_open: usize,
    /// Each tool has a breaker of its own.
    pub per_tool: bool,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures: 5, of: 20, open: Duration::from_secs(30), half_open: 1, per_tool: false }
    }
}

/// What is sent again by the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrySettings {
    /// How often one request is sent again at most.
    pub most: u32,
    /// Of a hundred requests to an upstream, how many may be sent again.
    pub budget_percent: u32,
    /// How long it waits before the first time,
    pub backoff: Duration,
    /// and at most.
    pub longest_backoff: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        let (backoff, longest_backoff) = (Duration::from_millis(100), Duration::from_secs(2));
        Self { most: 2, budget_percent: 10, backoff, longest_backoff }
    }
}
