//! How what a client says goes out, and how what it hears comes in. A perfect client adds nothing to either; what a faulty
//! one does stands in [`super::faults`].

use std::time::Duration;

use net::client::Outgoing;
use serde_json::Value;
use wire::{Era, Message, Transport};

/// One thing to be said, and what else goes out around it.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) before: Vec<Outgoing>,
    /// The thing itself, unless it is not said at all.
    pub(super) itself: Option<Outgoing>,
    pub(super) after: Vec<Outgoing>,
}

/// Where it is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Once it is known.
    pub(super) era: Option<Era>,
    pub(super) transport: Transport,
}

/// The manners of a client.
pub(super) trait Manners: Send + Sync {
    /// What goes out for a message.
    fn says(&self, place: Place, text: String) -> Said {
        let _ = place;
        Said { itself: Some(Outgoing::message(text)), ..Said::default() }
    }

    /// What is understood of an answer.
    fn hears(&self, place: Place, answer: Message) -> Message {
        let _ = place;
        answer
    }

    /// What is said to a question that the server has taken back; nothing.
    fn retorts(&self, question: &Value) -> Option<String> {
        let _ = question;
        None
    }

    /// An answer came that nobody waits for any more.
    fn hears_stray(&self) {}

    /// The request that opens a stream, or goes on with it.
    fn opens(&self, outgoing: Outgoing) -> Outgoing {
        outgoing
    }

    /// How long to stay away from a stream that the server closed; `None` where it is not come back for.
    fn stays_away(&self, wanted: Duration) -> Option<Duration> {
        Some(wanted)
    }

    /// Whether the end is told, and waited for.
    fn ends_in_order(&self) -> bool {
        true
    }
}

/// Does everything as it ought to be done.
pub(super) struct Perfect;

impl Manners for Perfect {}
