//! The messages in a frame: a request begins a row, its answer, progress and cancellation join it, all others have their own.

use wire::message::{Malformed, Packet};
use wire::trace::{Content, Event};
use wire::{Kind, Message, Party, meta};

use super::{Assembler, Step};
use crate::naming::{name_of, shortened};
use crate::rows::{RowKind, Status};

impl Assembler {
    /// A frame that may carry messages.
    pub(super) fn carrier(&mut self, step: &mut Step<'_>, bytes: &[u8]) -> Option<u64> {
        let is_body = matches!(step.frame.content, Content::Body { .. });
        match Event::of(step.frame) {
            Event::Packet(packet) | Event::Sse { packet: Some(Ok(packet)), .. } => self.packet(step, packet),
            // Comments, and events without a message, belong to their stream.
            Event::Sse { packet: None, .. } => {
                let n = self.exchange_row(step)?;
                step.join(n, |_| ());
                Some(n)
            }
            Event::Malformed(malformed) | Event::Sse { packet: Some(Err(malformed)), .. } => {
                Some(self.malformed(step, bytes, &malformed))
            }
            // A body that is no message: a form, a page, a document of an authorization server.
            Event::Body(_) | Event::Plain if is_body => {
                let n = self.exchange_row(step)?;
                step.join(n, |_| ());
                Some(n)
            }
            Event::Body(_) | Event::Plain => None,
        }
    }

    /// The row of the exchange around a message, if it is known already.
    fn around(&self, step: &Step<'_>) -> Option<u64> {
        self.exchanges.get(&step.frame.exchange)?.row
    }

    fn malformed(&mut self, step: &mut Step<'_>, bytes: &[u8], malformed: &Malformed) -> u64 {
        let n = self.line(step, RowKind::Bytes, bytes, Status::Error);
        let parent = self.around(step).unwrap_or(0);
        let why = malformed.fault.to_string();
        step.table.change(n, |row| {
            row.parent = parent;
            if row.name.is_empty() {
                row.name = shortened(&why);
            }
        });
        n
    }

    fn packet(&mut self, step: &mut Step<'_>, packet: Packet) -> Option<u64> {
        let messages = match packet {
            Packet::Message(message) => return Some(self.message(step, &message)),
            Packet::Batch(messages) => messages,
        };
        let mut last = None;
        for message in messages {
            last = Some(match message {
                Ok(message) => self.message(step, &message),
                Err(malformed) => self.malformed(step, b"", &malformed),
            });
        }
        last
    }

    fn message(&mut self, step: &mut Step<'_>, message: &Message) -> u64 {
        match message.kind() {
            Kind::Request => self.request(step, message),
            Kind::Notification => self.notification(step, message),
            Kind::Result | Kind::Error => self.answer(step, message),
        }
    }

    /// The row for a message, with the HTTP around it where it is the first of its exchange.
    fn message_row(&mut self, step: &mut Step<'_>, kind: RowKind, message: &Message) -> u64 {
        let parent = self.around(step);
        let mut row = self.row(step, kind);
        row.method = shortened(message.method().unwrap_or_default());
        row.name = name_of(message);
        row.id = message.id().map(|id| shortened(&id.to_json())).unwrap_or_default();
        if kind == RowKind::Call {
            row.status = Status::Pending;
        }
        if let Some(exchange) = self.exchanges.get_mut(&step.frame.exchange) {
            if exchange.row.is_none() {
                row.parts = crate::rows::Parts::default();
                for frame in exchange.before.drain(..).chain([step.index]) {
                    row.parts.push(frame);
                }
                exchange.row = Some(step.table.next());
            } else if !step.is_ours() {
                row.parent = parent.unwrap_or(0);
            }
        }
        step.table.push(row)
    }

    fn request(&mut self, step: &mut Step<'_>, message: &Message) -> u64 {
        self.learn_revision(step, message);
        let n = self.message_row(step, RowKind::Call, message);
        self.requests.sent(step.frame.connection, step.frame.from, message, (n, step.at));
        n
    }

    /// A modern request names its revision.
    fn learn_revision(&mut self, step: &Step<'_>, message: &Message) {
        if step.is_ours()
            && let Some(revision) = message.meta_member(meta::PROTOCOL_VERSION).and_then(|named| named.as_str())
            && let Ok(revision) = revision.parse()
        {
            self.revision = Some(revision);
        }
    }

    fn notification(&mut self, step: &mut Step<'_>, message: &Message) -> u64 {
        let (connection, from) = (step.frame.connection, step.frame.from);
        if message.method() == Some("notifications/progress") {
            let token = message.body_value("progressToken").map(|token| token.to_string());
            let asked = token.and_then(|token| self.requests.progressed(connection, from.peer(), &token, step.at));
            if let Some(n) = asked {
                step.join(n, |_| ());
                return n;
            }
        }
        if message.method() == Some("notifications/cancelled") {
            let id = message.body_value("requestId").and_then(|id| wire::RequestId::from_value(&id));
            let asked = id.and_then(|id| self.requests.row(connection, from, &id));
            if let Some(n) = asked {
                step.join(n, |row| {
                    if matches!(row.status, Status::Pending | Status::Hung) {
                        row.status = Status::Cancelled;
                    }
                });
                self.claim_exchange(step, n);
                return n;
            }
        }
        let n = self.message_row(step, RowKind::Note, message);
        if let Some(row) = step.table.get(n) {
            self.tasks.notified(n, row.direction, message);
        }
        n
    }

    /// The exchange of this frame belongs to a row that was there before: the heads around it join that row.
    fn claim_exchange(&mut self, step: &mut Step<'_>, n: u64) {
        if let Some(exchange) = self.exchanges.get_mut(&step.frame.exchange)
            && exchange.row.is_none()
        {
            exchange.row = Some(n);
            for frame in exchange.before.drain(..) {
                step.table.change(n, |row| row.parts.push(frame));
            }
        }
    }

    fn answer(&mut self, step: &mut Step<'_>, message: &Message) -> u64 {
        let (connection, to) = (step.frame.connection, step.frame.from.peer());
        let asked = message.id().and_then(|id| self.requests.answered(connection, to, id, step.at));
        let Some(asked) = asked else { return self.stray(step, message) };
        let n = asked.row;
        self.agree(step, n, message);
        let failed = message.kind() == Kind::Error || message.body_member("isError") == Some("true");
        let (done, revision) = (step.done(), self.revision);
        step.join(n, |row| {
            let late = row.status == Status::Cancelled || asked.given_up;
            row.took = Some(done.saturating_sub(row.at));
            row.status = match (late, failed) {
                (true, _) => Status::Late,
                (false, true) => Status::Error,
                (false, false) => Status::Ok,
            };
            row.revision = row.revision.or(revision);
        });
        if let Some(row) = step.table.get(n) {
            self.tasks.answered(n, row, message);
        }
        if step.is_ours() {
            self.claim_exchange(step, n);
        }
        n
    }

    /// The answer to `initialize` names the revision.
    fn agree(&mut self, step: &Step<'_>, n: u64, message: &Message) {
        let is_opening = step.table.get(n).is_some_and(|row| &*row.method == "initialize");
        if is_opening && step.frame.from == Party::Server {
            let named = message.string_member("protocolVersion").and_then(|named| named.parse().ok());
            self.revision = named.or(self.revision);
        }
    }

    /// An answer to no request that is known: to none at all, or to one that could not be read.
    fn stray(&mut self, step: &mut Step<'_>, message: &Message) -> u64 {
        let n = self.message_row(step, RowKind::Bytes, message);
        step.table.change(n, |row| {
            row.status = Status::Error;
            row.name = "an answer to no request".into();
        });
        n
    }
}
