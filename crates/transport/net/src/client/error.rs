//! Why a peer could not be reached or a message could not be sent. Findings about a peer that answers are not errors and do
//! not belong here.

mod answered;
mod describe;

use std::fmt;
use std::time::Duration;

use wire::escape::snippet;
use wire::{Revision, Transport};

use crate::egress::EgressRefusal;

/// How much of what a peer said an error shows.
const SNIPPET: usize = 200;

/// Why a connection could not be opened. `at` is the command or URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The address cannot be used: an unknown scheme, an unreadable CA file, an invalid header.
    BadAddress {
        /// The command or URL.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// The program could not be started.
    NotStarted {
        /// The command.
        at: String,
        /// What the system says.
        why: String,
    },
    /// The program ended before it answered.
    Exited {
        /// The command.
        at: String,
        /// The exit code, if it exited.
        code: Option<i32>,
        /// The signal, if one killed it.
        signal: Option<i32>,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// Nothing listens there.
    Refused {
        /// The URL.
        at: String,
    },
    /// The connection was closed before an answer came.
    Reset {
        /// The URL.
        at: String,
        /// How.
        why: String,
    },
    /// The rules for connections do not allow it.
    Forbidden {
        /// The URL.
        at: String,
        /// Which rule, and why.
        refusal: Box<EgressRefusal>,
    },
    /// The host has no address.
    Dns {
        /// The URL.
        at: String,
        /// The host.
        host: String,
    },
    /// No trusted TLS connection could be made.
    Tls {
        /// The URL.
        at: String,
        /// Why.
        why: String,
    },
    /// Something took too long.
    Timeout {
        /// The command or URL.
        at: String,
        /// What we waited for.
        waited_for: &'static str,
        /// How long.
        after: Duration,
    },
    /// The program closed its stdout before it answered, and still runs.
    Hung {
        /// The command.
        at: String,
    },
    /// The peer sends without end, and no answer.
    Flood {
        /// The command or URL.
        at: String,
    },
    /// An HTTP status that is not an MCP answer.
    Http {
        /// The URL.
        at: String,
        /// The status code.
        status: u16,
        /// The beginning of the body.
        snippet: String,
    },
    /// Every attempt was answered with 401.
    Unauthorized {
        /// The URL.
        at: String,
        /// The revisions that were tried, oldest first.
        revisions: Vec<Revision>,
        /// The beginning of the body.
        snippet: String,
    },
    /// Something that is not MCP was received.
    NotMcp {
        /// The command or URL.
        at: String,
        /// What was received instead.
        came: String,
    },
    /// Our own message came back, and no answer.
    Echo {
        /// The command or URL.
        at: String,
    },
    /// Too many redirects.
    RedirectLoop {
        /// The URL.
        at: String,
        /// Where the last one led.
        to: String,
    },
    /// A redirect to another origin, which we do not follow.
    Redirected {
        /// The URL.
        at: String,
        /// Where it leads.
        to: String,
    },
    /// Every attempt was answered with an error or an unexpected result.
    Declined {
        /// The command or URL.
        at: String,
        /// What the peer says.
        came: String,
    },
    /// The peer speaks MCP, but no revision that is known here.
    NoCommonRevision {
        /// The command or URL.
        at: String,
        /// What it offers.
        offered: Vec<String>,
    },
}

impl OpenError {
    /// How long an answer was waited for in vain.
    pub(crate) const fn waited(&self) -> Duration {
        if let Self::Timeout { after, .. } = self { *after } else { Duration::ZERO }
    }

    /// How much it explains, to choose among the failures of several attempts.
    pub(crate) const fn specificity(&self) -> u8 {
        match self {
            Self::Timeout { .. } => 0,
            Self::Reset { .. } => 1,
            Self::Http { status, .. } if *status != 401 && *status != 403 => 2,
            Self::Unauthorized { .. } => 6,
            Self::NotMcp { .. } | Self::Flood { .. } => 3,
            Self::Exited { .. } | Self::Hung { .. } => 4,
            _ => 5,
        }
    }
}

impl std::error::Error for OpenError {}

/// Why a message did not go out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// This transport cannot do that.
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// The transport.
        transport: Transport,
    },
    /// The connection has ended, or our end of it is closed.
    Closed,
    /// The peer does not take what we write.
    Timeout {
        /// How long we tried.
        after: Duration,
    },
    /// The HTTP library refuses to send this; raw bytes can.
    Unsendable {
        /// What about it.
        why: String,
    },
    /// A new connection was needed and did not come about.
    Open(OpenError),
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { what, transport } => write!(f, "{what}: not over {transport}"),
            Self::Closed => f.write_str("the connection is closed"),
            Self::Timeout { after } => write!(f, "the peer took nothing for {:.1} s", after.as_secs_f64()),
            Self::Unsendable { why } => write!(f, "not sendable: {}", snippet(why, SNIPPET)),
            Self::Open(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SendError {}

impl From<OpenError> for SendError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}
