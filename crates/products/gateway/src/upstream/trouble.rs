//! Why a request has no answer from its upstream, and the error that its client gets. The outcome is definite: not done, or
//! unknown, and then it says so.

use std::time::Duration;

use net::client::OpenError;
use net::egress::EgressRefusal;
use net::service::RpcError;
use net::upstream::{Failure, Lost};
use serde_json::json;

use crate::budget::Kind;
use crate::failure;

/// The longest `Retry-After` that is passed on as a time, in seconds.
const DAY: u64 = 86_400;

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
    /// `egress` does not allow the connection.
    Forbidden(Box<EgressRefusal>),
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
        match error {
            OpenError::Forbidden { refusal, .. } => Self::Forbidden(refusal),
            error => Self::NotSent(error.to_string()),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Forbidden(refusal) => Self::Forbidden(refusal),
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

    /// The same of a request whose server has run a part of it before.
    pub(crate) fn of_round(self) -> Self {
        match self.after_request() {
            Self::Refused(mut error) => {
                if let Some(data) = error.data.as_mut() {
                    data["outcome"] = json!("unknown");
                }
                Self::Refused(error)
            }
            other => other,
        }
    }

    /// Whether the server may have run the request.
    pub(crate) fn may_have_run(&self) -> bool {
        match self {
            Self::Unknown(_) | Self::Timeout(_) => true,
            Self::OverLimit { is_sent, .. } => *is_sent,
            Self::Status { status, .. } => !(400..500).contains(status),
            Self::NotSent(_) | Self::SessionGone | Self::Refused(_) | Self::Forbidden(_) => false,
        }
    }

    /// What happened, in a few words.
    pub(crate) fn reason(&self) -> String {
        let reason = match self {
            Self::NotSent(why) | Self::Unknown(why) => why.clone(),
            Self::SessionGone => "it ended the session".to_owned(),
            Self::Forbidden(refusal) => refusal.to_string(),
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
        let (what, failure) = match self {
            Self::Refused(error) => return error.clone(),
            Self::NotSent(why) => {
                (format!("The server `{upstream}` was not reached: {why}"), failure::SERVER_UNREACHABLE)
            }
            Self::Forbidden(refusal) => {
                // Which addresses there are inside is for the log alone.
                let (place, part) = (&refusal.place, refusal.part.as_str());
                let what = format!("The server `{upstream}` was not connected to: `{place}` does not allow its {part}");
                (what, failure::EGRESS_REFUSED)
            }
            Self::SessionGone => (format!("The server `{upstream}` ended the session"), failure::SESSION_ENDED),
            Self::Unknown(why) => {
                (format!("The server `{upstream}` gave no answer: {why}; the outcome is unknown"), failure::NO_ANSWER)
            }
            Self::Timeout(after) => {
                let after = seconds(*after);
                let what = format!("The server `{upstream}` gave no answer within {after}; the outcome is unknown");
                (what, failure::TIMED_OUT)
            }
            Self::OverLimit { after, limit, is_sent } => {
                let (after, of) = (after.as_millis(), limit.in_words());
                let what = format!("The server `{upstream}` gave no answer within {after} ms, {of}");
                match (is_sent, limit) {
                    (false, _) => (format!("{what}; it did not get the call"), failure::NOT_BEGUN_IN_TIME),
                    (true, Kind::Tool) => (format!("{what}; the outcome is unknown"), failure::TOOL_OVER_TIME),
                    (true, _) => (format!("{what}; the outcome is unknown"), failure::BUDGET_USED_UP),
                }
            }
            Self::Status { status, .. } => {
                let what = format!("The server `{upstream}` answered with HTTP status {status} and no message");
                // A server that took the request and answers nonsense may have run it.
                let failure = match status {
                    429 => failure::SERVER_BUSY,
                    400..500 => failure::STATUS_REFUSED,
                    _ => failure::STATUS_FAILED,
                };
                (what, failure)
            }
        };
        let mut data = json!({ "upstream": upstream });
        if let Self::OverLimit { after, limit, .. } = self {
            data["limit"] = json!(limit.as_str());
            data["limit_ms"] = json!(after.as_millis() as u64);
        }
        if let Self::Status { status, retry_after } = self {
            data["status"] = json!(status);
            if let Some(after) = retry_after {
                data["retryAfter"] = json!(after);
                // A date needs a clock; the client has one.
                if let Some(seconds) = after.trim().parse::<u64>().ok().filter(|seconds| *seconds <= DAY) {
                    data["retry_after_ms"] = json!(seconds * 1000);
                }
            }
        }
        failure.error_with(wire::escape::line(&what).into_owned(), data)
    }
}

/// In tenths of a second.
fn seconds(time: Duration) -> String {
    format!("{} s", ((time.as_millis() + 50) / 100) as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::Trouble;

    fn data(trouble: &Trouble) -> Value {
        trouble.error("a").data.expect("data")
    }

    #[test]
    fn a_status_says_whether_it_ran_and_when_to_try_again() {
        let of =
            |status: u16, after: Option<&str>| data(&Trouble::Status { status, retry_after: after.map(str::to_owned) });
        for (status, after, failure, outcome, retryable, wait) in [
            (429, Some("7"), "server-busy", "not run", true, json!(7000)),
            (429, None, "server-busy", "not run", true, json!(1000)),
            (429, Some("Fri, 31 Dec 1999 23:59:59 GMT"), "server-busy", "not run", true, json!(1000)),
            (429, Some("99999999999999999"), "server-busy", "not run", true, json!(1000)),
            (403, None, "status-refused", "not run", false, Value::Null),
            (503, Some("7"), "status-failed", "unknown", false, json!(7000)),
            (200, None, "status-failed", "unknown", false, Value::Null),
        ] {
            let data = of(status, after);
            let trouble = Trouble::Status { status, retry_after: None };
            assert_eq!(trouble.may_have_run(), outcome == "unknown", "{status}");
            let found = (&data["failure"], &data["outcome"], &data["retryable"], &data["retry_after_ms"]);
            assert_eq!(found, (&json!(failure), &json!(outcome), &json!(retryable), &wait), "{status} {after:?}");
            assert_eq!((&data["upstream"], &data["status"]), (&json!("a"), &json!(status)));
            assert_eq!(data["retryAfter"], after.map_or(Value::Null, |after| json!(after)));
        }
    }

    #[test]
    fn what_was_not_sent_may_be_sent_again() {
        for (trouble, failure, outcome) in [
            (Trouble::NotSent("no".to_owned()), "server-unreachable", "not run"),
            (Trouble::SessionGone, "session-ended", "not run"),
            (Trouble::Unknown("no".to_owned()), "no-answer", "unknown"),
            (Trouble::Timeout(Duration::from_secs(1)), "timed-out", "unknown"),
        ] {
            let data = data(&trouble);
            assert_eq!((&data["failure"], &data["outcome"]), (&json!(failure), &json!(outcome)));
            assert_eq!(trouble.may_have_run(), outcome == "unknown");
            assert_eq!(data["retryable"], outcome == "not run");
        }
    }
}
