//! Why a peer could not be reached or a message not be sent: *what happened – where – try this*, in at most three lines.
//! What the peer said is escaped. Findings about a peer that answers are no errors and do not belong here.

mod answered;

use std::fmt;
use std::time::Duration;

use wire::escape::snippet;
use wire::{Revision, Transport};

use self::answered::{advice, last_words, named, status_line};

use crate::tls;

/// How much of what a peer said stands in an error.
const SNIPPET: usize = 200;

/// No conversation came about. `at` is the command or URL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The address cannot be used: not a URL we speak, an unreadable CA file, a header that is none.
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
    /// Nobody listens there.
    Refused {
        /// The URL.
        at: String,
    },
    /// The connection was cut before an answer came.
    Reset {
        /// The URL.
        at: String,
        /// How.
        why: String,
    },
    /// The host has no address.
    Dns {
        /// The URL.
        at: String,
        /// The host.
        host: String,
    },
    /// No trusted TLS connection came about.
    Tls {
        /// The URL.
        at: String,
        /// Why.
        why: String,
    },
    /// Something took longer than it may.
    Timeout {
        /// The command or URL.
        at: String,
        /// What we waited for.
        waited_for: &'static str,
        /// How long.
        after: Duration,
    },
    /// It closed its stdout before it answered, and runs on.
    Hung {
        /// The command.
        at: String,
    },
    /// It sends without end, and no answer among it.
    Flood {
        /// The command or URL.
        at: String,
    },
    /// HTTP answered with a status that is no MCP answer.
    Http {
        /// The URL.
        at: String,
        /// The status code.
        status: u16,
        /// The beginning of the body.
        snippet: String,
    },
    /// Every opening was answered 401.
    Unauthorized {
        /// The URL.
        at: String,
        /// The revisions that were tried so, oldest first.
        revisions: Vec<Revision>,
        /// The beginning of the body.
        snippet: String,
    },
    /// Something came that is not MCP.
    NotMcp {
        /// The command or URL.
        at: String,
        /// What came instead.
        came: String,
    },
    /// What we said came back as it was, and no answer.
    Echo {
        /// The command or URL.
        at: String,
    },
    /// Redirects without an end.
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
    /// Every opening was answered, and declined.
    Declined {
        /// The command or URL.
        at: String,
        /// What the peer says.
        came: String,
    },
    /// The peer speaks MCP, but no revision that we know.
    NoCommonRevision {
        /// The command or URL.
        at: String,
        /// What it offers.
        offered: Vec<String>,
    },
}

impl OpenError {
    /// How much it tells a person, to choose among the failures of several attempts.
    pub(crate) const fn tells(&self) -> u8 {
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

    /// The three parts: what happened, where, what to try.
    #[expect(clippy::too_many_lines, reason = "one arm per error")]
    fn parts(&self) -> (String, &str, &'static str) {
        match self {
            Self::BadAddress { at, why } => (snippet(why, SNIPPET), at, "correct the command line"),
            Self::NotStarted { at, why } => (
                format!("the command could not be started: {}", snippet(why, SNIPPET)),
                at,
                "check that it is installed and spelled right",
            ),
            Self::Exited { at, stderr, .. } => {
                (self.exited(stderr), at, "run the command by itself and see why it ends")
            }
            Self::Refused { at } => {
                ("connection refused: nobody listens there".to_owned(), at, "start the server, check host and port")
            }
            Self::Reset { at, why } => {
                let advice = match at.split_once("://") {
                    Some(("http", _)) => "https:// instead of http://? Otherwise look into the server's log",
                    Some(("ws", _)) => "wss:// instead of ws://? Otherwise look into the server's log",
                    _ => "look into the server's log",
                };
                (format!("the connection was cut before an answer came: {}", snippet(why, SNIPPET)), at, advice)
            }
            Self::Dns { at, host } => {
                (format!("host `{}` has no address", snippet(host, 80)), at, "check the host's name")
            }
            Self::Tls { at, why } => {
                let advice = match why.as_str() {
                    tls::PLAIN => "http:// or ws:// instead, or another port",
                    tls::AUTHORITY => "make one with basicConstraints=CA:FALSE, and name its issuer with --ca-file",
                    _ => "mend the certificate, or name its issuer with --ca-file",
                };
                (format!("no trusted TLS connection: {}", snippet(why, SNIPPET)), at, advice)
            }
            Self::Timeout { at, waited_for, after } => (
                format!("no {waited_for} within {:.1} s", after.as_secs_f64()),
                at,
                "is it an MCP server? If it is slow to start, raise --timeout",
            ),
            Self::Hung { at } => (
                "the command closed its stdout before it answered, and runs on".to_owned(),
                at,
                "run the command by itself and see what it does",
            ),
            Self::Flood { at } => (
                "it sends without end, and no answer among it".to_owned(),
                at,
                "is it an MCP server? Its log belongs on stderr",
            ),
            Self::Unauthorized { at, snippet, .. } => (status_line(401, snippet), at, advice(401, snippet)),
            Self::Http { at, status, snippet } => (status_line(*status, snippet), at, advice(*status, snippet)),
            Self::NotMcp { at, came } => {
                let advice = if at.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(' ')) {
                    "check the address: MCP endpoints often end in /mcp or /sse"
                } else {
                    "is it an MCP server? Only messages belong on stdout, all else on stderr"
                };
                (format!("this is not MCP: {}", named(came, SNIPPET)), at, advice)
            }
            Self::Echo { at } => (
                "our own request came back instead of an answer".to_owned(),
                at,
                "is it an MCP server? A terminal in between (ssh -t, docker -t) echoes, too",
            ),
            Self::RedirectLoop { at, to } => {
                (format!("redirects without an end, last to {}", snippet(to, 120)), at, "give the final URL")
            }
            Self::Redirected { at, to } => {
                (format!("redirected to another origin: {}", snippet(to, 120)), at, "if you trust it, give that URL")
            }
            Self::Declined { at, came } => (
                format!("every revision's opening is declined: {}", snippet(came, SNIPPET)),
                at,
                "look into the server's log; does it want a token (--bearer-env) or arguments?",
            ),
            Self::NoCommonRevision { at, offered } => (
                format!("no revision in common; the peer offers {}", snippet(&offered.join(", "), 120)),
                at,
                "a newer proof may know it",
            ),
        }
    }

    fn exited(&self, stderr: &str) -> String {
        let how = match self {
            Self::Exited { code: Some(code), .. } => format!("with code {code}"),
            Self::Exited { signal: Some(signal), .. } => format!("by signal {signal}"),
            _ => "by itself".to_owned(),
        };
        format!("the command ended {how} before it answered: {}", snippet(last_words(stderr), SNIPPET))
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, at, advice) = self.parts();
        write!(f, "{what}\n  at {}\n  try: {advice}", snippet(at, SNIPPET))
    }
}

impl std::error::Error for OpenError {}

/// Why a message did not go out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// This transport cannot do that.
    NotHere {
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
            Self::NotHere { what, transport } => write!(f, "{what}: not over {transport}"),
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
