//! Why there is no result: no connection, an error response, an invalid response, or a request that this client does not make.
//! What the server said is escaped where it is shown.

use std::fmt;
use std::time::Duration;

use net::client::{OpenError, SendError};
use serde_json::Value;
use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, RESOURCE_NOT_FOUND};
use wire::escape::snippet;

/// How much of what a server said an error shows.
const SNIPPET: usize = 300;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientError {
    /// There is no connection, or it broke off.
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
    /// The server's response is invalid.
    Invalid {
        /// What was asked.
        method: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// This client does not make the request.
    NotSent {
        /// Why not.
        why: String,
        /// What to do instead.
        advice: Advice,
    },
    /// There are no credentials that the server accepts.
    Unauthorized {
        /// What the server or the authorization server says.
        why: String,
    },
    /// This client cancelled the request.
    Cancelled,
}

impl ClientError {
    /// An invalid response.
    pub(crate) fn invalid(method: &str, why: impl Into<String>) -> Self {
        Self::Invalid { method: method.to_owned(), why: why.into() }
    }

    /// A request that is not made.
    pub fn not_sent(why: impl Into<String>, advice: impl Into<Advice>) -> Self {
        Self::NotSent { why: why.into(), advice: advice.into() }
    }

    /// Whether the server was reached and answered, if only to say no.
    pub const fn is_answer(&self) -> bool {
        matches!(self, Self::Rpc { .. })
    }

    /// What a person can do about it, if anything.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Self::Cancelled => None,
            Self::Open(error) => Some(Advice::Connect(error.advice())),
            Self::Rpc { code: METHOD_NOT_FOUND, .. } => Some(Advice::SeeDeclared),
            Self::Rpc { code: INVALID_PARAMS | RESOURCE_NOT_FOUND, .. } => Some(Advice::CheckArguments),
            Self::Rpc { code: MISSING_CLIENT_CAPABILITY, data, .. } => Some(match missing_extension(data.as_deref()) {
                Some(name) => Advice::KnowExtension(name),
                None => Advice::DeclareAbilities,
            }),
            Self::Rpc { .. } => Some(Advice::SeeLog),
            Self::Timeout { .. } => Some(Advice::WaitLonger),
            Self::Invalid { .. } => Some(Advice::CheckServer),
            Self::NotSent { advice, .. } => Some(advice.clone()),
            Self::Unauthorized { .. } => Some(Advice::BringCredentials),
        }
    }

    /// The error for a person, as `Display` has it, with advice in the program's own words.
    pub fn describe(&self, words: impl Fn(&Advice) -> String) -> String {
        if let Self::Open(error) = self {
            return error.describe(|advice| words(&Advice::Connect(advice.clone())));
        }
        let (what, at) = self.parts();
        let at = if at.is_empty() { at } else { format!("\n  at {at}") };
        let advice = self.advice().map(|advice| format!("\n  try: {}", words(&advice))).unwrap_or_default();
        format!("{what}{at}{advice}")
    }

    /// What happened, and where.
    fn parts(&self) -> (String, String) {
        let shown = |text: &str| snippet(text, SNIPPET);
        match self {
            Self::Open(error) => (error.what(), error.at()),
            Self::Rpc { method, code, message, data } => {
                let data = data.as_ref().map(|data| format!(" ({})", shown(&data.to_string()))).unwrap_or_default();
                (format!("the server answers with error {code}: {}{data}", shown(message)), shown(method))
            }
            Self::Timeout { method, after } => {
                (format!("no answer for {:.1} s; the request is cancelled", after.as_secs_f64()), shown(method))
            }
            Self::Invalid { method, why } => (format!("the server's answer is invalid: {}", shown(why)), shown(method)),
            Self::NotSent { why, .. } => (shown(why), String::new()),
            Self::Unauthorized { why } => {
                (format!("the server demands other credentials: {}", shown(why)), String::new())
            }
            Self::Cancelled => ("cancelled".to_owned(), String::new()),
        }
    }
}

/// The extension that is missing, if nothing else is.
fn missing_extension(data: Option<&Value>) -> Option<String> {
    let required = data?.get("requiredCapabilities")?.as_object()?;
    let extensions = required.get("extensions")?.as_object().filter(|_| required.len() == 1)?;
    extensions.keys().next().cloned()
}

/// What a person can do about an error. How that is done in a program, the program says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// About the connection.
    Connect(net::client::Advice),
    /// Look at what the server declares.
    SeeDeclared,
    /// Look at what the server declares, or make the request without this library's check.
    AskUndeclared,
    /// Check names and arguments against the server's lists.
    CheckArguments,
    /// Let the client answer questions: the server demands abilities that were not declared.
    DeclareAbilities,
    /// Declare this extension: the server demands it.
    KnowExtension(String),
    /// Answer the server's question.
    AnswerQuestions,
    /// Wait longer.
    WaitLonger,
    /// Check the server against the specification.
    CheckServer,
    /// Bring a token, or get one.
    BringCredentials,
    /// Look into the server's log.
    SeeLog,
    /// Anything that needs nothing of the program.
    Other(String),
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SeeDeclared | Self::AskUndeclared => "look at what the server declares",
            Self::CheckArguments => "check the name and the arguments",
            Self::DeclareAbilities => "declare that questions are answered: the server has some",
            Self::AnswerQuestions => "answer the question",
            Self::WaitLonger => "wait longer, or look into the server's log",
            Self::CheckServer => "check the server against the specification",
            Self::BringCredentials => "give a token, or get one by OAuth",
            Self::SeeLog => "look into the server's log",
            Self::KnowExtension(name) => return write!(f, "use a client that knows {}", snippet(name, SNIPPET)),
            Self::Connect(advice) => return advice.fmt(f),
            Self::Other(text) => return f.write_str(&snippet(text, SNIPPET)),
        })
    }
}

impl From<&str> for Advice {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

impl From<String> for Advice {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(Advice::to_string))
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
            SendError::Unsendable { why } => Self::not_sent(
                format!("HTTP cannot carry that: {why}"),
                "leave out characters that a header may not contain",
            ),
            other => OpenError::Reset { at, why: other.to_string() }.into(),
        }
    }
}
