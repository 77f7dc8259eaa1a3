//! The five dated protocol revisions, their two eras, and the transports that carry them.

use std::fmt;
use std::str::FromStr;

/// A dated revision of the Model Context Protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05: the first; stdio and HTTP+SSE.
    R2024_11_05,
    /// 2025-03-26: Streamable HTTP, batching, authorization, tool annotations.
    R2025_03_26,
    /// 2025-06-18: elicitation, structured output, `MCP-Protocol-Version` header; batching gone.
    R2025_06_18,
    /// 2025-11-25: tasks, icons, URL elicitation, sampling with tools.
    R2025_11_25,
    /// 2026-07-28: stateless; per-request metadata, `server/discover`, multi round-trip requests.
    R2026_07_28,
}

pub use Revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

/// How a revision begins a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// 2025-11-25 and earlier: a session opened by the `initialize` handshake.
    Legacy,
    /// 2026-07-28 and later: stateless, metadata on every request.
    Modern,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28];

    /// Every revision, newest first.
    pub const NEWEST_FIRST: [Self; 5] = {
        let mut turned = Self::ALL;
        turned.reverse();
        turned
    };

    /// The newest revision of the legacy era.
    pub const NEWEST_LEGACY: Self = R2025_11_25;

    /// The newest revision.
    pub const NEWEST: Self = R2026_07_28;

    /// The name on the wire: `YYYY-MM-DD`.
    pub const fn as_str(self) -> &'static str {
        match self {
            R2024_11_05 => "2024-11-05",
            R2025_03_26 => "2025-03-26",
            R2025_06_18 => "2025-06-18",
            R2025_11_25 => "2025-11-25",
            R2026_07_28 => "2026-07-28",
        }
    }

    /// The era this revision belongs to.
    pub const fn era(self) -> Era {
        match self {
            R2024_11_05 | R2025_03_26 | R2025_06_18 | R2025_11_25 => Era::Legacy,
            R2026_07_28 => Era::Modern,
        }
    }

    /// Whether this revision is `since` or later.
    pub const fn at_least(self, since: Self) -> bool {
        self as u8 >= since as u8
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text was not a revision that we know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRevision(pub String);

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown revision `{}`; known are", self.0.escape_debug())?;
        for (i, revision) in Revision::ALL.iter().enumerate() {
            write!(f, "{} {revision}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownRevision {}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

/// What carries messages between two parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transport {
    /// Lines over the standard streams of a child process. All revisions.
    Stdio,
    /// One HTTP endpoint. 2025-03-26 and later.
    StreamableHttp,
    /// The old HTTP+SSE pair of endpoints. 2024-11-05 only.
    HttpSse,
    /// A custom transport that no revision defines: one message per text frame.
    WebSocket,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Self; 4] = [Self::Stdio, Self::StreamableHttp, Self::HttpSse, Self::WebSocket];

    /// The name in reports, traces and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::StreamableHttp => "http",
            Self::HttpSse => "sse",
            Self::WebSocket => "ws",
        }
    }

    /// Whether `revision` may be spoken over this transport.
    pub const fn carries(self, revision: Revision) -> bool {
        match self {
            Self::Stdio | Self::WebSocket => true,
            Self::StreamableHttp => revision.at_least(R2025_03_26),
            Self::HttpSse => matches!(revision, R2024_11_05),
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|t| t.as_str() == text)
            .ok_or_else(|| format!("unknown transport `{}`; known are stdio, http, sse, ws", text.escape_debug()))
    }
}
