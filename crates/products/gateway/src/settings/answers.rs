//! Answers that are kept, and the form of errors: `idempotency`, `cache`, `errors`.

use std::time::Duration;

/// What is kept of answers, and how failures are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerSettings {
    /// Calls with a key run once.
    pub idempotency: Option<IdempotencySettings>,
    /// Results that are used again.
    pub cache: Option<CacheSettings>,
    /// How a failed call of a tool is answered.
    pub errors: ErrorForm,
}

impl AnswerSettings {
    /// Whether nothing differs from a gateway without such settings.
    pub fn is_plain(&self) -> bool {
        self.idempotency.is_none() && self.cache.is_none()
    }
}

/// Calls of tools with a key run once: a second one gets the kept result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencySettings {
    /// Whether calls of tools that may write need a key.
    pub writes: Writes,
    /// How long a result is kept.
    pub ttl: Duration,
    /// The most keys that are kept.
    pub entries: usize,
    /// The most bytes of all kept results.
    pub bytes: usize,
}

impl Default for IdempotencySettings {
    fn default() -> Self {
        Self { writes: Writes::Optional, ttl: Duration::from_hours(24), entries: 10_000, bytes: 64 << 20 }
    }
}

/// Whether calls of tools without `readOnlyHint` need a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// They may have one.
    #[default]
    Optional,
    /// Without one they are refused.
    Require,
}

/// Results that are used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Whether the `ttlMs` of upstreams counts.
    pub upstream_ttl: bool,
    /// The longest time that a `ttlMs` may ask for.
    pub max_ttl: Duration,
    /// The most bytes of all kept results.
    pub bytes: usize,
    /// What is kept, whatever upstreams say: the first rule that fits decides.
    pub rules: Vec<CacheRule>,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { upstream_ttl: true, max_ttl: Duration::from_mins(5), bytes: 64 << 20, rules: Vec::new() }
    }
}

/// For how long some results are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheRule {
    /// Names of tools as clients see them, with `*`.
    pub tools: Vec<String>,
    /// URIs of resources, with `*`.
    pub resources: Vec<String>,
    /// The methods of lists.
    pub lists: Vec<String>,
    /// How long they are kept.
    pub ttl: Duration,
    /// Whether one client may get what another one's request brought.
    pub shared: bool,
    /// A call of one of these tools ends what is kept by this rule.
    pub invalidated_by: Vec<String>,
}

/// How a failed call of a tool is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorForm {
    /// By a JSON-RPC error.
    #[default]
    Error,
    /// By a result with `isError`.
    Result,
}
