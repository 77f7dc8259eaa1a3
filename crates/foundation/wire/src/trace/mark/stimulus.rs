//! Stimuli: what a probe or a scenario did on purpose, where the traffic does not say so itself.

use serde_json::{Value, json};

use super::{CHECK, CHECK_CLIENT, Declaration, MarkKind, declare};

/// What a probe or a scenario did on purpose.
#[derive(Clone, Debug, PartialEq)]
pub enum Stimulus {
    /// A cursor that no server issues comes next.
    InvalidCursor,
    /// The next request is sent in several pieces.
    RequestInPieces,
    /// The next call fails in the tool itself.
    FailingCall,
    /// The next call needs something of the client's.
    AskingCall,
    /// From here on the connection carries a bearer token that no issuer issued.
    MadeUpToken,
    /// From here on the connection carries an unsigned token for another audience.
    ForeignToken,
    /// The observer listens at an origin that is not the server's.
    Origin {
        /// Where.
        url: String,
    },
    /// The client was given this id before the case began.
    ClientIdGiven {
        /// The id.
        client_id: String,
    },
    /// A stimulus of a newer or another writer, as it stood.
    Unknown(UnreadStimulus),
}

/// The value of a stimulus as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadStimulus(Value);

/// The kinds of stimuli that we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StimulusKind {
    /// [`Stimulus::InvalidCursor`].
    InvalidCursor,
    /// [`Stimulus::RequestInPieces`].
    RequestInPieces,
    /// [`Stimulus::FailingCall`].
    FailingCall,
    /// [`Stimulus::AskingCall`].
    AskingCall,
    /// [`Stimulus::MadeUpToken`].
    MadeUpToken,
    /// [`Stimulus::ForeignToken`].
    ForeignToken,
    /// [`Stimulus::Origin`].
    Origin,
    /// [`Stimulus::ClientIdGiven`].
    ClientIdGiven,
}

impl StimulusKind {
    /// All of them. A stimulus is only read back if its kind is listed here.
    pub const ALL: [Self; 8] = [
        Self::InvalidCursor,
        Self::RequestInPieces,
        Self::FailingCall,
        Self::AskingCall,
        Self::MadeUpToken,
        Self::ForeignToken,
        Self::Origin,
        Self::ClientIdGiven,
    ];

    /// The one declaration of a stimulus.
    pub const fn declaration(self) -> Declaration {
        match self {
            Self::InvalidCursor => declare("invalid-cursor", "a cursor that no server gives out comes next", "", CHECK),
            Self::RequestInPieces => {
                declare("request-in-pieces", "the next request is sent in several pieces", "", CHECK)
            }
            Self::FailingCall => {
                declare("call-that-fails-in-the-tool", "the next call fails in the tool itself", "", CHECK)
            }
            Self::AskingCall => {
                declare("call-that-asks-the-client", "the next call needs something of the client's", "", CHECK)
            }
            Self::MadeUpToken => declare(
                "made-up-token",
                "from here on the connection carries a bearer token that nobody issued",
                "",
                CHECK,
            ),
            Self::ForeignToken => declare(
                "foreign-token",
                "from here on the connection carries an unsigned token for another audience",
                "",
                CHECK,
            ),
            Self::Origin => {
                declare("origin", "the observer listens at an origin that is not the server's", "`url`", CHECK_CLIENT)
            }
            Self::ClientIdGiven => declare(
                "client-id-given",
                "the client was told a client id before the case began",
                "`client_id`",
                CHECK_CLIENT,
            ),
        }
    }

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        self.declaration().name
    }
}

impl Stimulus {
    /// Its kind; `None` for a stimulus that we do not know.
    pub const fn kind(&self) -> Option<StimulusKind> {
        Some(match self {
            Self::InvalidCursor => StimulusKind::InvalidCursor,
            Self::RequestInPieces => StimulusKind::RequestInPieces,
            Self::FailingCall => StimulusKind::FailingCall,
            Self::AskingCall => StimulusKind::AskingCall,
            Self::MadeUpToken => StimulusKind::MadeUpToken,
            Self::ForeignToken => StimulusKind::ForeignToken,
            Self::Origin { .. } => StimulusKind::Origin,
            Self::ClientIdGiven { .. } => StimulusKind::ClientIdGiven,
            Self::Unknown(_) => return None,
        })
    }

    /// The value in files: its name, or an object with its name and its particulars.
    pub(super) fn value(&self) -> Value {
        let name = self.kind().map_or("", StimulusKind::as_str);
        match self {
            Self::Origin { url } => json!({ "what": name, "url": url }),
            Self::ClientIdGiven { client_id } => json!({ "what": name, "client_id": client_id }),
            Self::Unknown(unread) => unread.0.clone(),
            _ => json!(name),
        }
    }

    /// Reads the value of a stimulus. What is not understood is kept as it stood.
    pub(super) fn read(value: &Value) -> Self {
        understood(value)
            .filter(|stimulus| stimulus.value() == *value)
            .unwrap_or_else(|| Self::Unknown(UnreadStimulus(value.clone())))
    }
}

fn understood(value: &Value) -> Option<Stimulus> {
    let name = value.get("what").unwrap_or(value);
    let text = |member: &str| value.get(member)?.as_str().map(str::to_owned);
    let kind = StimulusKind::ALL.into_iter().find(|kind| name == kind.as_str())?;
    Some(match kind {
        StimulusKind::InvalidCursor => Stimulus::InvalidCursor,
        StimulusKind::RequestInPieces => Stimulus::RequestInPieces,
        StimulusKind::FailingCall => Stimulus::FailingCall,
        StimulusKind::AskingCall => Stimulus::AskingCall,
        StimulusKind::MadeUpToken => Stimulus::MadeUpToken,
        StimulusKind::ForeignToken => Stimulus::ForeignToken,
        StimulusKind::Origin => Stimulus::Origin { url: text("url")? },
        StimulusKind::ClientIdGiven => Stimulus::ClientIdGiven { client_id: text("client_id")? },
    })
}

/// An object that holds nothing but a stimulus's name means the name.
pub(super) fn shortened(mark: &str, value: Value) -> Value {
    match &value {
        Value::Object(members) if mark == MarkKind::Stimulus.as_str() && members.len() == 1 => {
            members.get("what").filter(|name| name.is_string()).cloned().unwrap_or(value)
        }
        _ => value,
    }
}
