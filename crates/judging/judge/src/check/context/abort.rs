//! Why a script ends before its last step.

use net::client::{OpenError, SendError};

use super::super::silence::Silence;

/// Why a script ended early. No judgement: the trace shows what the peer did.
#[derive(Debug)]
pub enum Abort {
    /// The connection is gone or never came.
    Gone(String),
    /// The peer lacks something the script needs.
    Lacks(&'static str),
    /// The peer answers the greeting with an error.
    Unwelcome,
    /// The peer has stopped answering: see [`Silence`].
    Silent,
    /// It answers, but with ids that no request had.
    Unfit,
    /// The check has no more time.
    OutOfTime,
    /// More came than the limits allow.
    Flooded,
}

impl Abort {
    /// Why nothing more is asked of a peer that is silent.
    pub fn of(silence: &Silence) -> Self {
        if silence.is_babble() { Self::Unfit } else { Self::Silent }
    }
}

impl Abort {
    /// Whether another attempt may go better.
    pub const fn may_be_chance(&self) -> bool {
        !matches!(self, Self::Unwelcome | Self::OutOfTime)
    }
}

impl std::fmt::Display for Abort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gone(why) => write!(f, "the connection is gone: {why}"),
            Self::Lacks(what) => write!(f, "the peer lacks {what}"),
            Self::Unwelcome => f.write_str("the peer answers the greeting with an error; what needs one was not tried"),
            Self::Silent => f.write_str("the peer has stopped answering"),
            Self::Unfit => f.write_str("the peer answers under other ids than it is asked with"),
            Self::OutOfTime => f.write_str("the time limit of the check was reached"),
            Self::Flooded => f.write_str("the peer sends without end"),
        }
    }
}

impl From<SendError> for Abort {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Open(error) => error.into(),
            other => Self::Gone(other.to_string()),
        }
    }
}

impl From<OpenError> for Abort {
    fn from(error: OpenError) -> Self {
        // One line: reports show the reason inside a sentence.
        Self::Gone(error.what())
    }
}

#[cfg(test)]
mod tests {
    use net::client::{OpenError, SendError};

    use super::Abort;

    #[test]
    fn why_a_run_was_cut_short_is_one_line() {
        let refused = || OpenError::Refused { at: "http://127.0.0.1:1/mcp".to_owned() };
        for abort in [Abort::from(refused()), Abort::from(SendError::Open(refused()))] {
            assert_eq!(abort.to_string(), "the connection is gone: connection refused: nothing listens there");
        }
    }
}
