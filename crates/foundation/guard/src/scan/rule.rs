//! What is known of a rule, apart from how it looks for its subject.

pub use wire::Severity;

/// How sure the rule is of what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// A hint.
    Low,
    /// Often right.
    Medium,
    /// A fact about the text.
    High,
}

impl Confidence {
    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The eight classes of vulnerabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Context poisoning.
    ContextPoisoning,
    /// Prompt injection.
    PromptInjection,
    /// Unauthorized context injection.
    UnauthorizedContext,
    /// Data leakage and privacy.
    DataLeakage,
    /// Cross-session contamination.
    CrossSession,
    /// Supply chain and model switch.
    SupplyChain,
    /// Protocol abuse and name collisions.
    NameCollisions,
    /// Denial of service and resource exhaustion.
    ResourceExhaustion,
}

impl Class {
    /// All, in the order of the taxonomy.
    pub const ALL: [Self; 8] = [
        Self::ContextPoisoning,
        Self::PromptInjection,
        Self::UnauthorizedContext,
        Self::DataLeakage,
        Self::CrossSession,
        Self::SupplyChain,
        Self::NameCollisions,
        Self::ResourceExhaustion,
    ];

    /// The words in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContextPoisoning => "context poisoning",
            Self::PromptInjection => "prompt injection",
            Self::UnauthorizedContext => "unauthorized context injection",
            Self::DataLeakage => "data leakage and privacy",
            Self::CrossSession => "cross-session contamination",
            Self::SupplyChain => "supply chain and model switch",
            Self::NameCollisions => "protocol abuse and name collisions",
            Self::ResourceExhaustion => "denial of service and resource exhaustion",
        }
    }
}

/// When in a server's life something is done to its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// When a server is chosen and configured: its lists and its configuration are read.
    Install,
    /// When another version of it comes: its lists are read again.
    Update,
    /// When it is called: its results are read, from a trace.
    Exec,
}

impl Phase {
    /// All, in their order.
    pub const ALL: [Self; 3] = [Self::Install, Self::Update, Self::Exec];

    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "Install",
            Self::Update => "Update",
            Self::Exec => "Exec",
        }
    }
}

/// The four threats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threat {
    /// Prompt injection through what tools say.
    T1,
    /// Data exfiltration.
    T2,
    /// Privilege escalation by chaining tools.
    T3,
    /// Denial of service.
    T4,
}

impl Threat {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
            Self::T4 => "T4",
        }
    }
}

/// A rule of the scan.
#[derive(Debug)]
pub struct Rule {
    /// `scan.…`; stable.
    pub id: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// The most severe that a finding of it can be.
    pub severity: Severity,
    /// How sure its findings are.
    pub confidence: Confidence,
    /// What one finding adds to a server's score.
    pub weight: u32,
    /// The entry of [`OWASP`](super::OWASP).
    pub owasp: &'static str,
    /// The class of vulnerability.
    pub class: Class,
    /// The phases in which it has something to read.
    pub phases: &'static [Phase],
    /// The threats that it serves.
    pub threats: &'static [Threat],
    /// Why it matters, and what is looked for.
    pub why: &'static str,
    /// What to do.
    pub fix: &'static str,
}
