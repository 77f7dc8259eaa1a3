//! Records the server end: the same frames that the client end records, so that the same rules judge them. Nothing here
//! alters what crosses.

mod connections;
mod exchange;
mod lines;
mod room;

use wire::Party;
use wire::trace::{Closed, Content, Frame};

pub use self::connections::HttpRecorder;
pub(crate) use self::connections::{ExchangeRole, session};
pub(crate) use self::exchange::{ConnectionName, ExchangeRecorder, RecordedBody, RequestBody};
pub use self::lines::{RecordedReader, RecordedWriter};
pub(crate) use self::room::{Held, LONGEST, Room};

use crate::tap::{Tap, Written};

/// Records one connection.
#[derive(Clone, Debug)]
pub struct ConnectionRecorder {
    tap: Tap,
    number: u32,
    /// The other party: the server, or another origin.
    far: Party,
}

impl ConnectionRecorder {
    /// A recorder for the tap's next connection.
    pub fn next(tap: &Tap) -> Self {
        Self { tap: tap.clone(), number: tap.next_connection(), far: Party::Server }
    }

    /// The same with another party in place of the server.
    fn of(self, far: Party) -> Self {
        Self { far, ..self }
    }

    /// Records what `from` did now, outside any exchange.
    pub fn record(&self, from: Party, content: Content) {
        self.write(from, 0, content, Written::NONE);
    }

    /// Records how the connection ended, and who ended it.
    pub fn closed(&self, from: Party, how: Closed) {
        self.record(from, Content::Closed(how));
    }

    fn now(&self) -> u64 {
        self.tap.now()
    }

    fn write(&self, from: Party, exchange: u32, content: Content, cause: Written) -> Written {
        self.tap.write(self.frame(from, exchange, content), cause)
    }

    fn frame(&self, from: Party, exchange: u32, content: Content) -> Frame {
        let (from, to) = if from == Party::Client { (from, self.far) } else { (self.far, Party::Client) };
        Frame { to, ..self.tap.frame(from, self.number, exchange, content) }
    }

    fn write_since(&self, at: u64, from: Party, exchange: u32, content: Content, cause: Written) -> Written {
        let mut frame = self.frame(from, exchange, content);
        frame.at = at.min(frame.done);
        self.tap.write(frame, cause)
    }
}
