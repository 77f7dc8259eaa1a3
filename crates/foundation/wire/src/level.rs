//! How strongly the specification demands something. Rules state it, reports show it.

/// How strongly the specification puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// MUST, MUST NOT, REQUIRED.
    Must,
    /// SHOULD, SHOULD NOT, RECOMMENDED.
    Should,
    /// MAY, OPTIONAL.
    May,
    /// No sentence demands it; a good peer does it anyway. Reported apart, never scored.
    Safety,
}

impl Level {
    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
            Self::Safety => "SAFETY",
        }
    }
}
