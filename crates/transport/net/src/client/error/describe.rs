//! An [`OpenError`] for people: *what happened – where – try this*, and the last lines of a program that ended. What the peer
//! said is escaped.

use std::fmt;

use wire::escape::snippet;

use super::answered::{advice, last_lines, last_words, named, status_line};
use super::{OpenError, SNIPPET};
use crate::client::Advice;
use crate::tls;

impl OpenError {
    /// What a person can do about it.
    pub fn advice(&self) -> Advice {
        match self {
            Self::BadAddress { .. } => "correct the address, its headers or certificates".into(),
            Self::NotStarted { .. } => "check that it is installed and spelled right".into(),
            Self::Exited { .. } => "run the command by itself and see why it ends".into(),
            Self::Hung { .. } => "run the command by itself and see what it does".into(),
            Self::Refused { .. } => "start the server, check host and port".into(),
            Self::Reset { at, .. } => after_reset(at).into(),
            Self::Forbidden { .. } => "correct the address, or the rules for connections".into(),
            Self::Dns { .. } => "check the host's name".into(),
            Self::Tls { why, .. } => after_tls(why),
            Self::Timeout { .. } => Advice::WaitLonger,
            Self::Flood { .. } => "is it an MCP server? Its log belongs on stderr".into(),
            Self::Unauthorized { snippet, .. } => advice(401, snippet),
            Self::Http { status, snippet, .. } => advice(*status, snippet),
            Self::NotMcp { at, .. } => instead_of_mcp(at).into(),
            Self::Echo { .. } => "is it an MCP server? A terminal in between (ssh -t, docker -t) echoes, too".into(),
            Self::RedirectLoop { .. } => "give the final URL".into(),
            Self::Redirected { .. } => "if you trust it, give that URL".into(),
            Self::Declined { .. } => Advice::GiveCredentialsOrArguments,
            Self::NoCommonRevision { .. } => "a newer proof may know it".into(),
        }
    }

    /// The error for a person, as `Display` has it, with advice in the program's own words.
    pub fn describe(&self, words: impl Fn(&Advice) -> String) -> String {
        let ((what, lines), at, advice) = (self.with_last_lines(), self.at(), words(&self.advice()));
        if lines.is_empty() {
            return format!("{what}\n  at {at}\n  try: {advice}");
        }
        let quoted = lines.iter().fold(String::new(), |text, line| text + "\n    " + line);
        format!("{what}\n  at {at}\n  its last lines on stderr:{quoted}\n  try: {advice}")
    }

    /// What happened, and the last lines on stderr of a command that ended, where it wrote more than [`Self::what`] quotes.
    pub fn with_last_lines(&self) -> (String, Vec<String>) {
        match self {
            Self::Exited { stderr, .. } if last_lines(stderr).len() > 1 => {
                (self.end(), last_lines(stderr).into_iter().map(|line| snippet(line, SNIPPET)).collect())
            }
            _ => (self.what(), Vec::new()),
        }
    }

    /// What happened, in one line.
    pub fn what(&self) -> String {
        match self {
            Self::BadAddress { why, .. } => snippet(why, SNIPPET),
            Self::NotStarted { why, .. } => format!("the command could not be started: {}", snippet(why, SNIPPET)),
            Self::Exited { stderr, .. } => format!("{}: {}", self.end(), snippet(last_words(stderr), SNIPPET)),
            Self::Refused { .. } => "connection refused: nothing listens there".to_owned(),
            Self::Reset { why, .. } => {
                format!("the connection was cut before an answer came: {}", snippet(why, SNIPPET))
            }
            Self::Forbidden { refusal, .. } => snippet(&refusal.to_string(), 2 * SNIPPET),
            Self::Dns { host, .. } => format!("host `{}` has no address", snippet(host, 80)),
            Self::Tls { why, .. } => format!("no trusted TLS connection: {}", snippet(why, SNIPPET)),
            Self::Timeout { waited_for, after, .. } => format!("no {waited_for} within {:.1} s", after.as_secs_f64()),
            Self::Hung { .. } => "the command closed its stdout before it answered, and still runs".to_owned(),
            Self::Flood { .. } => "it sends without end, and no answer is among it".to_owned(),
            Self::Unauthorized { snippet, .. } => status_line(401, snippet),
            Self::Http { status, snippet, .. } => status_line(*status, snippet),
            Self::NotMcp { came, .. } => format!("this is not MCP: {}", named(came, SNIPPET)),
            Self::Echo { .. } => "our own request came back instead of an answer".to_owned(),
            Self::RedirectLoop { to, .. } => format!("redirects without an end, last to {}", snippet(to, 120)),
            Self::Redirected { to, .. } => format!("redirected to another origin: {}", snippet(to, 120)),
            Self::Declined { came, .. } => {
                format!("the server declines every revision: {}", snippet(came, SNIPPET))
            }
            Self::NoCommonRevision { offered, .. } => {
                format!("no revision in common; the peer offers {}", snippet(&offered.join(", "), 120))
            }
        }
    }

    /// The command or URL, cut short.
    pub fn at(&self) -> String {
        let (Self::BadAddress { at, .. }
        | Self::NotStarted { at, .. }
        | Self::Exited { at, .. }
        | Self::Refused { at }
        | Self::Reset { at, .. }
        | Self::Forbidden { at, .. }
        | Self::Dns { at, .. }
        | Self::Tls { at, .. }
        | Self::Timeout { at, .. }
        | Self::Hung { at }
        | Self::Flood { at }
        | Self::Http { at, .. }
        | Self::Unauthorized { at, .. }
        | Self::NotMcp { at, .. }
        | Self::Echo { at }
        | Self::RedirectLoop { at, .. }
        | Self::Redirected { at, .. }
        | Self::Declined { at, .. }
        | Self::NoCommonRevision { at, .. }) = self;
        snippet(at, SNIPPET)
    }

    /// How a program ended.
    fn end(&self) -> String {
        match self {
            Self::Exited { code: Some(code), .. } => format!("the command ended with code {code} before it answered"),
            Self::Exited { signal: Some(signal), .. } => {
                format!("the command ended by signal {signal} before it answered")
            }
            _ => "the command ended by itself before it answered".to_owned(),
        }
    }
}

fn after_reset(at: &str) -> &'static str {
    match at.split_once("://") {
        Some(("http", _)) => "https:// instead of http://? Otherwise look into the server's log",
        Some(("ws", _)) => "wss:// instead of ws://? Otherwise look into the server's log",
        _ => "look into the server's log",
    }
}

fn after_tls(why: &str) -> Advice {
    match why {
        tls::PLAIN => "http:// or ws:// instead, or another port".into(),
        tls::AUTHORITY => Advice::ReplaceCertificate,
        _ => Advice::TrustIssuer,
    }
}

fn instead_of_mcp(at: &str) -> &'static str {
    if at.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(' ')) {
        "check the address: MCP endpoints often end in /mcp or /sse"
    } else {
        "is it an MCP server? Only messages belong on stdout, all else on stderr"
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(Advice::to_string))
    }
}
