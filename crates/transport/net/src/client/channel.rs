//! What every transport shares: the connection's number, the tap, the inbox, and the parsing of messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wire::message::{self, Malformed, Packet};
use wire::trace::{Closed, Content, Limit, Mark};
use wire::{Message, Party, Revision, Transport};

use super::authorizer::Authorizer;
use super::inbox::Inbox;
use super::lenient::Leniency;
use super::{ConnectOptions, Limits};
use crate::tap::{Tap, Written};

/// One connection's recorder and inbox.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) tap: Tap,
    pub(crate) number: u32,
    pub(crate) transport: Transport,
    pub(crate) revision: Revision,
    pub(crate) limits: Limits,
    pub(crate) inbox: Inbox,
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
    /// What tells which request a broken response answers, where that is wanted.
    pub(crate) leniency: Option<Leniency>,
    stopped: AtomicBool,
    forgetful: AtomicBool,
}

impl Channel {
    pub(crate) fn new(tap: &Tap, transport: Transport, revision: Revision, options: &ConnectOptions) -> Arc<Self> {
        let ConnectOptions { limits, authorizer, lenient, .. } = options;
        tap.limit(limits.trace_bytes);
        let inbox = Inbox::new(limits.trace_bytes);
        let number = tap.next_connection();
        Arc::new(Self {
            tap: tap.clone(),
            number,
            transport,
            revision,
            limits: limits.clone(),
            inbox,
            authorizer: authorizer.clone(),
            leniency: lenient.then(Leniency::default),
            stopped: AtomicBool::new(false),
            forgetful: AtomicBool::new(false),
        })
    }

    /// Records what `from` did now, in `exchange`.
    pub(crate) fn write(&self, from: Party, exchange: u32, content: Content, cause: Written) -> Written {
        self.tap.write(self.tap.frame(from, self.number, exchange, content), cause)
    }

    /// Records what began at `at` and is complete now.
    pub(crate) fn write_since(&self, at: u64, from: Party, exchange: u32, content: Content, cause: Written) -> Written {
        let mut frame = self.tap.frame(from, self.number, exchange, content);
        frame.at = at.min(frame.done);
        self.tap.write(frame, cause)
    }

    pub(crate) fn closed(&self, from: Party, exchange: u32, how: Closed) {
        self.write(from, exchange, Content::Closed(how), Written::NONE);
    }

    /// A fact about the whole connection.
    pub(crate) fn mark(&self, mark: Mark) {
        self.tap.mark(self.number, mark);
    }

    /// Stops reading because of a limit.
    pub(crate) fn limit(&self, what: Limit) {
        self.stop();
        self.mark(Mark::Limit(what));
    }

    /// Stops reading: from now on missing messages are not the peer's fault.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// From now on records nothing and keeps no message that was taken.
    pub(crate) fn stop_recording(&self) {
        self.forgetful.store(true, Ordering::Release);
        self.tap.stop_recording();
        self.inbox.forget_taken();
    }

    pub(crate) fn is_forgetful(&self) -> bool {
        self.forgetful.load(Ordering::Acquire)
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Takes note of what came in, for those who are lenient.
    fn note(&self, bytes: &[u8], messages: &[Result<Message, Malformed>]) {
        if let Some(leniency) = &self.leniency {
            let all = !messages.is_empty() && messages.iter().all(Result::is_ok);
            leniency.received(bytes, messages.iter().flatten(), all);
        }
    }

    /// Takes note of what is sent, for those who are lenient.
    pub(crate) fn note_sent(&self, bytes: &[u8]) {
        if let Some(leniency) = &self.leniency {
            leniency.sent(bytes);
        }
    }

    /// Parses messages and puts them into the inbox; `seen` is called with each first. Whether there is room for more.
    pub(crate) fn take_in(&self, bytes: &[u8], mut seen: impl FnMut(&Message)) -> Result<bool, Malformed> {
        let packet = message::parse(bytes).inspect_err(|_| self.note(bytes, &[]))?;
        let messages = match packet {
            Packet::Message(message) => vec![Ok(message)],
            Packet::Batch(parts) => parts,
        };
        self.note(bytes, &messages);
        let mut room = true;
        for message in messages.into_iter().flatten() {
            seen(&message);
            room = self.inbox.put(message);
        }
        Ok(room && !self.tap.is_full())
    }
}
