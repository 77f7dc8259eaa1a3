//! From frames to rows: a request, its answer, its progress and the HTTP around them become one row. Pure: no clock, no I/O.

mod messages;
#[cfg(test)]
mod tests;
mod waiting;

use std::collections::HashMap;

use wire::trace::{Closed, Content, Frame, Mark};
use wire::{Party, Revision};

use crate::naming::shortened;
use crate::rows::{Direction, Row, RowKind, Status, Table};
use crate::tasks::TaskBook;
use waiting::Requests;

/// How many HTTP exchanges of one session may be open. Beyond that, all of them are forgotten.
const OPEN: usize = 1 << 16;
/// How much of a line is looked at for its name, in bytes.
const BEGINNING: usize = 1024;

/// What is known of one session while its frames come.
#[derive(Debug)]
pub struct Assembler {
    target: u32,
    session: u32,
    /// When the session began, in microseconds since the launch.
    began: u64,
    revision: Option<Revision>,
    requests: Requests,
    exchanges: HashMap<u32, Exchange>,
    tasks: TaskBook,
    frames: u32,
    /// Whether the messages are those of an app.
    has_app: bool,
}

/// An HTTP exchange under way.
#[derive(Debug, Default)]
struct Exchange {
    /// Frames that came before it was known what it carries.
    before: Vec<u32>,
    method: Box<str>,
    target: Box<str>,
    row: Option<u64>,
}

/// One frame on its way into the table.
struct Step<'s> {
    table: &'s mut Table,
    frame: &'s Frame,
    index: u32,
    at: u64,
    redacted: bool,
}

impl Step<'_> {
    /// Adds the frame to a row, and changes it.
    fn join(&mut self, n: u64, change: impl FnOnce(&mut Row)) {
        let (index, redacted, size) = (self.index, self.redacted, self.frame.content.weight() as u64);
        self.table.change(n, |row| {
            if row.parts.newest() != Some(index) {
                row.parts.push(index);
                row.size += size;
            }
            row.redacted |= redacted;
            change(row);
        });
    }

    /// When the frame was complete.
    fn done(&self) -> u64 {
        self.at.saturating_add(self.frame.done.saturating_sub(self.frame.at))
    }

    const fn is_ours(&self) -> bool {
        matches!(self.frame.from, Party::Client)
    }
}

impl Assembler {
    /// For a session of `target` that begins at `began`.
    pub fn new(target: u32, session: u32, began: u64) -> Self {
        Self {
            target,
            session,
            began,
            revision: None,
            requests: Requests::default(),
            exchanges: HashMap::new(),
            tasks: TaskBook::default(),
            frames: 0,
            has_app: false,
        }
    }

    /// The session is that of an app: all of its rows are marked so.
    pub(crate) const fn is_of_app(&mut self) {
        self.has_app = true;
    }

    /// Whether it is.
    pub(crate) const fn has_app(&self) -> bool {
        self.has_app
    }

    /// The revision that the messages agreed on.
    pub const fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// The tasks that the messages showed.
    pub(crate) const fn tasks(&self) -> &TaskBook {
        &self.tasks
    }

    /// Takes the next frame in; returns the row that it belongs to, if it has one.
    pub fn take(&mut self, table: &mut Table, frame: &Frame, redacted: bool) -> Option<u64> {
        let index = self.frames;
        self.frames += 1;
        // The times of a recording are a stranger's.
        let at = self.began.saturating_add(frame.at);
        let mut step = Step { table, frame, index, at, redacted };
        match &frame.content {
            Content::Request { method, target, .. } => self.request_head(&mut step, method, target),
            Content::Response { status, .. } => self.response_head(&mut step, *status),
            Content::Closed(how) => Some(self.closed(&mut step, how)),
            Content::Exit { code, signal } => Some(self.exited(&mut step, *code, *signal)),
            Content::Stderr(bytes) => Some(self.line(&mut step, RowKind::Stderr, bytes, Status::Ok)),
            Content::Raw(bytes) => Some(self.line(&mut step, RowKind::Bytes, bytes, Status::Error)),
            Content::Mark(mark) => Some(self.mark(&mut step, mark)),
            Content::Opened => None,
            Content::Line { bytes, .. }
            | Content::Body { bytes, .. }
            | Content::Sse(bytes)
            | Content::WebSocket { bytes, .. } => self.carrier(&mut step, bytes),
        }
    }

    /// What had no sign of life since `before` hangs.
    pub fn hang(&self, table: &mut Table, before: u64) {
        self.requests.hang(table, before);
    }

    /// The session is over: what is pending gets no answer.
    pub fn end(&self, table: &mut Table) {
        self.requests.over(table, None);
        for n in self.exchanges.values().filter_map(|exchange| exchange.row) {
            if table.get(n).is_some_and(|row| row.status == Status::Pending) {
                table.change(n, |row| row.status = Status::Ok);
            }
        }
    }

    fn row(&self, step: &Step<'_>, kind: RowKind) -> Row {
        let direction = if step.is_ours() { Direction::Out } else { Direction::In };
        let kind = if self.has_app { RowKind::App } else { kind };
        let mut row = Row::new(self.target, self.session, kind, direction, step.at);
        row.revision = self.revision;
        row.redacted = step.redacted;
        row.size = step.frame.content.weight() as u64;
        row.parts.push(step.index);
        row
    }

    /// A row for a line or for bytes, named by their beginning.
    fn line(&self, step: &mut Step<'_>, kind: RowKind, bytes: &[u8], status: Status) -> u64 {
        let mut row = self.row(step, kind);
        row.name = shortened(&String::from_utf8_lossy(&bytes[..bytes.len().min(BEGINNING)]));
        row.status = status;
        step.table.push(row)
    }

    fn request_head(&mut self, step: &mut Step<'_>, method: &str, target: &str) -> Option<u64> {
        if self.exchanges.len() >= OPEN {
            self.exchanges.clear();
        }
        let mut exchange =
            Exchange { before: vec![step.index], method: shortened(method), target: shortened(target), row: None };
        // What a POST is about, its body says, which follows.
        if method != "POST" {
            exchange.row = Some(self.http_row(step, &exchange));
        }
        let row = exchange.row;
        self.exchanges.insert(step.frame.exchange, exchange);
        row
    }

    /// A row for an exchange that carries no message.
    fn http_row(&self, step: &mut Step<'_>, exchange: &Exchange) -> u64 {
        let mut row = self.row(step, RowKind::Http);
        row.direction = Direction::Out;
        row.method = exchange.method.clone();
        row.name = exchange.target.clone();
        row.status = Status::Pending;
        row.parts = crate::rows::Parts::default();
        for frame in exchange.before.iter().copied().chain([step.index]) {
            row.parts.push(frame);
        }
        step.table.push(row)
    }

    /// The row of the exchange of this frame; makes one where it has none yet.
    fn exchange_row(&mut self, step: &mut Step<'_>) -> Option<u64> {
        let exchange = self.exchanges.get(&step.frame.exchange)?;
        if let Some(row) = exchange.row {
            return Some(row);
        }
        let row = self.http_row(step, exchange);
        self.exchanges.entry(step.frame.exchange).or_default().row = Some(row);
        Some(row)
    }

    fn response_head(&mut self, step: &mut Step<'_>, status: u16) -> Option<u64> {
        let row = self.exchange_row(step)?;
        let took = step.done();
        step.join(row, |row| {
            if status >= 400 {
                row.status = Status::Error;
                row.took = Some(took.saturating_sub(row.at));
            }
        });
        Some(row)
    }

    fn closed(&mut self, step: &mut Step<'_>, how: &Closed) -> u64 {
        if step.frame.exchange != 0 {
            return self.exchange_closed(step, how);
        }
        self.requests.over(step.table, Some(step.frame.connection));
        let mut row = self.row(step, RowKind::End);
        row.name = how.as_str().into();
        row.status = if matches!(how, Closed::End | Closed::Aborted) { Status::Ok } else { Status::Error };
        step.table.push(row)
    }

    fn exchange_closed(&mut self, step: &mut Step<'_>, how: &Closed) -> u64 {
        let known = self.exchanges.contains_key(&step.frame.exchange);
        let row = self.exchange_row(step);
        self.exchanges.remove(&step.frame.exchange);
        let Some(n) = row.filter(|_| known) else {
            // A connection that never came about has no head.
            let mut row = self.row(step, RowKind::End);
            row.name = how.as_str().into();
            row.status = if matches!(how, Closed::End | Closed::Aborted) { Status::Ok } else { Status::Error };
            return step.table.push(row);
        };
        let status = match how {
            Closed::End => Status::Ok,
            Closed::Aborted => Status::Cancelled,
            Closed::Reset | Closed::Failed | Closed::TimedOut => Status::Error,
        };
        let done = step.done();
        step.join(n, |row| {
            let ends = row.kind == RowKind::Http || status != Status::Ok;
            let fails = row.status == Status::Hung && status == Status::Error;
            if (row.status == Status::Pending && ends) || fails {
                row.status = status;
                row.took = Some(done.saturating_sub(row.at));
            }
        });
        n
    }

    fn exited(&mut self, step: &mut Step<'_>, code: Option<i32>, signal: Option<i32>) -> u64 {
        self.requests.over(step.table, Some(step.frame.connection));
        let mut row = self.row(step, RowKind::End);
        row.name = match (code, signal) {
            (Some(code), _) => format!("exit {code}").into(),
            (None, Some(signal)) => format!("signal {signal}").into(),
            (None, None) => "exit".into(),
        };
        row.status = if code == Some(0) { Status::Ok } else { Status::Error };
        step.table.push(row)
    }

    fn mark(&mut self, step: &mut Step<'_>, mark: &Mark) -> u64 {
        if let Mark::Unanswered { id, .. } = mark
            && let Some(n) = self.requests.given_up(step.frame.connection, id)
        {
            step.join(n, |row| {
                if row.status == Status::Pending {
                    row.status = Status::Hung;
                }
            });
            return n;
        }
        let mut row = self.row(step, RowKind::Mark);
        let value = mark.value();
        let value = if value.is_null() { String::new() } else { format!(" {value}") };
        row.name = shortened(&format!("{}{value}", mark.name()));
        row.direction = Direction::Out;
        step.table.push(row)
    }
}
