//! What happened to a client after an event: whether it continued, left, or crashed. A client may leave
//! at any time, and most leave as soon as they are done: that it sent nothing more shows nothing.

use wire::trace::{Content, Frame};
use wire::{Kind, Party, Transport};

use super::View;
use crate::verdict::Located;

/// How a client's process ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the code 0.
    Well,
    /// With another code.
    Failed,
    /// By a signal that a process brings upon itself.
    Crashed,
}

/// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV.
const CRASHES: [i32; 6] = [4, 5, 6, 7, 8, 11];

impl View<'_> {
    /// The first message of the judged party after `event`, on whatever connection.
    pub fn next_message_after(&self, event: usize) -> Option<usize> {
        let own = &self.index.own;
        own.get(own.partition_point(|&e| e <= event)).copied()
    }

    /// How and where the client's process ended by itself. A signal that others send (TERM, INT, …) does not count.
    fn end(&self) -> Option<(usize, End)> {
        let exit = self.frames().find_map(|(event, frame)| match &frame.content {
            Content::Exit { code, signal } if frame.from == Party::Client => Some((event, *code, *signal)),
            _ => None,
        });
        let (event, code, signal) =
            exit.filter(|(event, ..)| self.client_unseen_from().is_none_or(|by| by > *event))?;
        match signal {
            None if code.unwrap_or_default() == 0 => Some((event, End::Well)),
            None => Some((event, End::Failed)),
            Some(signal) => CRASHES.contains(&signal).then_some((event, End::Crashed)),
        }
    }

    /// Where the client's process ended by itself, and whether it ended well: no crash and no error code.
    pub fn departure(&self) -> Option<(usize, bool)> {
        self.end().map(|(event, how)| (event, how == End::Well))
    }

    /// Where the client's process crashed.
    pub fn crash(&self) -> Option<usize> {
        self.end().filter(|(_, how)| *how == End::Crashed).map(|(event, _)| event)
    }

    /// How the client reacted to `event`: `Ok` with its next message, `Err` with the end of its process where it
    /// sent nothing more and crashed or failed, `None` where neither is seen. Bad news excuses a failure.
    pub fn reaction(&self, event: usize) -> Option<Result<usize, usize>> {
        if let Some(next) = self.next_message_after(event) {
            return Some(Ok(next));
        }
        let (at, how) = self.end().filter(|(at, _)| *at > event)?;
        let broke_down = how == End::Crashed || (how == End::Failed && !self.has_bad_news());
        broke_down.then_some(Err(at))
    }

    /// Whether the client received anything that may make it give up: an error, a failure, something unreadable.
    fn has_bad_news(&self) -> bool {
        let failed = |result: &serde_json::Value| result.get("isError").is_some_and(|failed| failed == true);
        let bad = self.by(Party::Server).any(|sent| match sent.message.kind() {
            Kind::Error => true,
            Kind::Result => sent.message.result().is_some_and(failed),
            Kind::Request | Kind::Notification => false,
        });
        let refused =
            || self.exchanges().iter().any(|x| x.status().is_some_and(|status| status >= 400 && status != 405));
        bad || self.invalid_by_peer().next().is_some() || refused()
    }

    /// Where the client's end of a connection was closed, or its process ended, after `event`: it sends
    /// nothing more. Not where the observer ended it, and not what ends an exchange alone.
    pub fn left_after(&self, event: usize, connection: u32) -> Option<usize> {
        // Over HTTP sockets come and go while a client continues.
        let lasting = !matches!(self.transport(), Transport::StreamableHttp | Transport::HttpSse);
        let own = |(at, frame): (usize, &Frame)| {
            let here = lasting && frame.exchange == 0 && frame.connection == connection;
            let over = match &frame.content {
                Content::Closed(_) => here,
                Content::Exit { .. } => true,
                _ => false,
            };
            (over && frame.from == Party::Client).then_some(at)
        };
        let left = self.frames().skip(event + 1).find_map(own)?;
        self.client_unseen_from().is_none_or(|by| by > left).then_some(left)
    }

    /// Until when the client was listened to after `event`: the end of a quiet window that opened after it, or the
    /// client's own leaving. What it had not done by then it did not do.
    pub fn watched_after(&self, event: usize, connection: u32) -> Option<usize> {
        let window = self.window_after(event, connection).map(|window| window.event());
        window.into_iter().chain(self.left_after(event, connection)).min()
    }
}
