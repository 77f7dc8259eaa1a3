//! Why a request has no answer from its upstream, and the error that its client gets. The outcome is definite: not done, or
//! unknown, and then it says so.

use std::time::Duration;

use net::client::OpenError;
use net::service::RpcError;
use net::upstream::{Failure, Lost};
use serde_json::json;

use crate::budget::Kind;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The server did not get the request.
    NotSent(String),
    /// The server may have acted on the request.
    Unknown(String),
    /// The server has ended the session: it did not run the request.
    SessionGone,
    /// The gateway itself refuses the request.
    Refused(RpcError),
    /// The time for the request is over.
    Timeout(Duration),
    /// The time that the call had is over.
    OverLimit {
        /// How long that was.
        after: Duration,
        /// Which limit it was.
        limit: Kind,
        /// The server may have got the request.
        is_sent: bool,
    },
    /// An HTTP status without a JSON-RPC message.
    Status {
        /// The status.
        status: u16,
        /// `Retry-After`.
        retry_after: Option<String>,
    },
}

impl From<OpenError> for Trouble {
    fn from(error: OpenError) -> Self {
        Self::NotSent(error.to_string())
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotSent(why) => Self::NotSent(why),
            Failure::Unknown(why) => Self::Unknown(why),
        }
    }
}

impl From<Lost> for Trouble {
    fn from(lost: Lost) -> Self {
        Self::Unknown(match lost {
            Lost::Broken => "the connection broke".to_owned(),
            Lost::TooLarge => "the answer is larger than the limit".to_owned(),
        })
    }
}

impl Trouble {
    /// The same, where it came up before a client's request was sent.
    pub(crate) fn before_request(self) -> Self {
        match self {
            Self::Unknown(why) => Self::NotSent(why),
            Self::Timeout(after) => Self::NotSent(format!("it did not begin within {}", seconds(after))),
            Self::Status { status, .. } if !(400..500).contains(&status) => {
                Self::NotSent(format!("it answered with HTTP status {status} and no message"))
            }
            other => other,
        }
    }

    /// The same, where it came up after a client's request was sent: the server may have run that. It is not sent again.
    pub(crate) fn after_request(self) -> Self {
        match self {
            Self::NotSent(_) | Self::SessionGone | Self::Status { .. } => Self::Unknown(self.reason()),
            other => other,
        }
    }

    /// What happened, in a few words.
    pub(crate) fn reason(&self) -> String {
        let reason = match self {
            Self::NotSent(why) | Self::Unknown(why) => why.clone(),
            Self::SessionGone => "it ended the session".to_owned(),
            Self::Refused(error) => error.message.clone().into_owned(),
            Self::Timeout(after) | Self::OverLimit { after, .. } => {
                format!("it gave no answer within {}", seconds(*after))
            }
            Self::Status { status, .. } => format!("it answered with HTTP status {status} and no message"),
        };
        wire::escape::line(&reason).into_owned()
    }

    /// The error for the client of `upstream`.
    pub(crate) fn error(&self, upstream: &str) -> RpcError {
        let (what, outcome, retryable) = match self {
            Self::Refused(error) => return error.clone(),
            Self::NotSent(why) => (format!("The server `{upstream}` was not reached: {why}"), "not run", true),
            Self::SessionGone => (format!("The server `{upstream}` ended the session"), "not run", true),
            Self::Unknown(why) => {
                (format!("The server `{upstream}` gave no answer: {why}; the outcome is unknown"), "unknown", false)
            }
            Self::Timeout(after) => {
                let after = seconds(*after);
                let what = format!("The server `{upstream}` gave no answer within {after}; the outcome is unknown");
                (what, "unknown", false)
            }
            Self::OverLimit { after, limit, is_sent } => {
                let (after, of) = (after.as_millis(), limit.in_words());
                let what = format!("The server `{upstream}` gave no answer within {after} ms, {of}");
                if *is_sent {
                    (format!("{what}; the outcome is unknown"), "unknown", false)
                } else {
                    (format!("{what}; it did not get the call"), "not run", true)
                }
            }
            Self::Status { status, .. } => {
                let what = format!("The server `{upstream}` answered with HTTP status {status} and no message");
                // A server that took the request and answers nonsense may have run it.
                (what, if (400..500).contains(status) { "not run" } else { "unknown" }, *status == 429)
            }
        };
        let mut data = json!({ "upstream": upstream, "outcome": outcome, "retryable": retryable });
        if let Self::OverLimit { after, limit, .. } = self {
            data["category"] = json!(limit.category());
            data["limit"] = json!(limit.as_str());
            data["limit_ms"] = json!(after.as_millis() as u64);
        }
        if let Self::Status { status, retry_after } = self {
            data["status"] = json!(status);
            if let Some(after) = retry_after {
                data["retryAfter"] = json!(after);
            }
        }
        RpcError::internal(wire::escape::line(&what).into_owned()).with_data(data)
    }
}

/// In tenths of a second.
fn seconds(time: Duration) -> String {
    format!("{} s", ((time.as_millis() + 50) / 100) as f64 / 10.0)
}
