//! Why there is no result, split by who is to blame: nobody could be reached, the server says no, the server broke the
//! protocol, or we will not ask. What the server said is escaped where it is shown.

use std::fmt;
use std::time::Duration;

use net::client::{OpenError, SendError};
use serde_json::Value;
use wire::escape::snippet;

/// How much of what a server said stands in an error.
const SNIPPET: usize = 300;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientError {
    /// No conversation came about, or it broke off.
    Open(Box<OpenError>),
    /// The server answered with an error.
    Rpc {
        /// What was asked.
        method: String,
        /// Its code.
        code: i64,
        /// What it says.
        message: String,
        /// What more it says.
        data: Option<Box<Value>>,
    },
    /// Nothing came for too long; the request was cancelled.
    Timeout {
        /// What was asked.
        method: String,
        /// How long we waited.
        after: Duration,
    },
    /// The server answered what no server may.
    Invalid {
        /// What was asked.
        method: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// We do not ask that.
    Unasked {
        /// Why not.
        why: String,
        /// What to do instead.
        remedy: String,
    },
    /// No credentials were to be had.
    Unauthorized {
        /// What the server or the way to credentials says.
        why: String,
    },
    /// It was cancelled by ourselves.
    Cancelled,
}

impl ClientError {
    /// An answer that no server may give.
    pub(crate) fn invalid(method: &str, why: impl Into<String>) -> Self {
        Self::Invalid { method: method.to_owned(), why: why.into() }
    }

    /// A request that we do not make.
    pub fn unasked(why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Unasked { why: why.into(), remedy: remedy.into() }
    }

    /// Whether the server was reached and answered, if only to say no.
    pub const fn is_answer(&self) -> bool {
        matches!(self, Self::Rpc { .. })
    }

    fn parts(&self) -> (String, String, String) {
        let shown = |text: &str| snippet(text, SNIPPET);
        match self {
            Self::Open(error) => (error.to_string(), String::new(), String::new()),
            Self::Rpc { method, code, message, data } => {
                let data = data.as_ref().map(|data| format!(" ({})", shown(&data.to_string()))).unwrap_or_default();
                (
                    format!("the server answers with error {code}: {}{data}", shown(message)),
                    shown(method),
                    advice(*code),
                )
            }
            Self::Timeout { method, after } => (
                format!("no answer for {:.1} s; the request is cancelled", after.as_secs_f64()),
                shown(method),
                "a longer --timeout, or look into the server's log".to_owned(),
            ),
            Self::Invalid { method, why } => (
                format!("the server's answer is no valid one: {}", shown(why)),
                shown(method),
                "`proof check` tells what else the server gets wrong".to_owned(),
            ),
            Self::Unasked { why, remedy } => (shown(why), String::new(), shown(remedy)),
            Self::Unauthorized { why } => (
                format!("the server wants other credentials: {}", shown(why)),
                String::new(),
                "give a token with --bearer-env, or get one with --oauth".to_owned(),
            ),
            Self::Cancelled => ("cancelled".to_owned(), String::new(), String::new()),
        }
    }
}

fn advice(code: i64) -> String {
    match code {
        -32601 => "`proof client discover` shows what the server declares",
        -32602 | -32002 => "check the name and the arguments: `proof client tools`, `resources`, `prompts`",
        -32021 => "the tool wants to ask something: --answer, --say or --root let it",
        _ => "look into the server's log",
    }
    .to_owned()
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, at, remedy) = self.parts();
        f.write_str(&what)?;
        if !at.is_empty() {
            write!(f, "\n  at {at}")?;
        }
        if !remedy.is_empty() {
            write!(f, "\n  try: {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ClientError {}

impl From<OpenError> for ClientError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

impl ClientError {
    /// A message that did not go out to `at`.
    pub(crate) fn unsent(error: SendError, at: String) -> Self {
        match error {
            SendError::Open(error) => error.into(),
            SendError::Timeout { after } => OpenError::Timeout { at, waited_for: "room for a message", after }.into(),
            SendError::Unsendable { why } => {
                Self::unasked(format!("HTTP cannot carry that: {why}"), "leave out what no header may hold")
            }
            other => OpenError::Reset { at, why: other.to_string() }.into(),
        }
    }
}
