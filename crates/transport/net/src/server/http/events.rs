//! One legacy event stream and the events that it keeps, so that a client can resume it
//! (basic/transports#resumability-and-redelivery). Event ids are `stream-event`: they name their stream.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use wire::framing::sse::Block;

use super::Limits;
use super::kept::Kept;
use crate::server::link::{Gone, MessageSink, may_be_left_out};
use crate::service::Answer;

/// The position of a reader in a stream: the number of its next event. 0 is the priming event.
pub(super) type Cursor = u64;

/// An event id, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: u32,
    pub(super) event: u64,
}

impl EventId {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (stream, event) = text.split_once('-')?;
        Some(Self { stream: stream.parse().ok()?, event: event.parse().ok()? })
    }

    fn render(self) -> String {
        format!("{}-{}", self.stream, self.event)
    }
}

#[expect(clippy::struct_excessive_bools, reason = "four facts that change independently of each other")]
struct State {
    texts: VecDeque<String>,
    /// The number of the first event still kept.
    first: u64,
    bytes: usize,
    /// What [`Kept`] was told of this stream.
    counted: usize,
    /// Whether its events were dropped because all streams together keep too much.
    dropped: bool,
    answer: Option<Answer>,
    ended: bool,
    /// Which reader is attached; a newer one makes older ones end.
    reader: u64,
    attached: bool,
    /// The number of the event that the attached reader gets next.
    at: u64,
    /// Whether the present or the next reader shall end at once and resume later.
    released: bool,
    waker: Option<Waker>,
}

/// A stream of events.
pub(super) struct EventStream {
    id: u32,
    most: usize,
    most_bytes: usize,
    kept: Arc<Kept>,
    state: Mutex<State>,
}

/// What a reader gets next.
pub(super) enum Next {
    /// An event, rendered.
    Event(Bytes),
    /// The end of the stream, or of this reader.
    End,
}

impl EventStream {
    pub(super) fn new(id: u32, limits: &Limits, kept: Arc<Kept>) -> Self {
        let state = State {
            texts: VecDeque::new(),
            first: 1,
            bytes: 0,
            counted: 0,
            dropped: false,
            answer: None,
            ended: false,
            reader: 0,
            attached: false,
            at: 1,
            released: false,
            waker: None,
        };
        Self { id, most: limits.events, most_bytes: limits.event_bytes, kept, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// Whether nothing but, perhaps, the answer was sent on it.
    pub(super) fn is_silent(&self) -> bool {
        self.state().texts.is_empty()
    }

    pub(super) fn is_attached(&self) -> bool {
        self.state().attached
    }

    /// Whether it has had no reader yet, and has not ended.
    pub(super) fn is_fresh(&self) -> bool {
        let state = self.state();
        state.reader == 0 && !state.ended
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// Ends the stream with the answer to its request. The answer becomes an event only when a reader reads events.
    pub(super) fn finish(&self, answer: Answer) {
        let mut state = self.state();
        if state.ended {
            return;
        }
        state.answer = Some(answer);
        state.ended = true;
        self.count(&mut state);
        wake(&mut state);
        drop(state);
        self.make_room();
    }

    /// Tells [`Kept`] how many bytes the stream holds.
    fn count(&self, state: &mut State) {
        let now = state.bytes + state.answer.as_ref().map_or(0, |answer| answer.text().len());
        self.kept.count(std::mem::replace(&mut state.counted, now), now);
    }

    /// Where all streams keep too much, ended ones make room; where that is not enough, this one does.
    fn make_room(&self) {
        if !self.kept.is_full() {
            return;
        }
        self.kept.make_room();
        let mut state = self.state();
        // A reader still gets the newest event.
        let least = usize::from(state.attached || state.reader == 0);
        while self.kept.is_full() && state.texts.len() > least {
            state.drop_first();
            self.count(&mut state);
        }
    }

    /// Drops everything: the stream cannot be resumed any more.
    pub(super) fn drop_all(&self) {
        let mut state = self.state();
        (state.dropped, state.answer, state.bytes) = (true, None, 0);
        state.first += state.texts.len() as u64;
        state.texts = VecDeque::new();
        self.count(&mut state);
    }

    /// Whether its events were dropped.
    pub(super) fn is_dropped(&self) -> bool {
        self.state().dropped
    }

    /// Ends the stream without an answer: cancelled, or the session is over.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        wake(&mut state);
    }

    /// Waits until it is certain whether the answer is the only message: `Ready(Some)` where it is.
    pub(super) fn poll_alone(&self, context: &Context<'_>) -> Poll<Option<Answer>> {
        let mut state = self.state();
        if !state.texts.is_empty() || state.released {
            return Poll::Ready(None);
        }
        if state.ended {
            let answer = state.answer.take();
            self.count(&mut state);
            return Poll::Ready(answer);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Makes the caller the reader of this stream; the previous reader ends.
    pub(super) fn attach(&self) -> u64 {
        let mut state = self.state();
        state.reader += 1;
        state.attached = true;
        wake(&mut state);
        state.reader
    }

    pub(super) fn detach(&self, reader: u64) {
        let mut state = self.state();
        if state.reader == reader {
            state.attached = false;
            state.waker = None;
        }
    }

    /// The next event for `reader` at `cursor`.
    pub(super) fn poll_next(&self, reader: u64, cursor: &mut Cursor, context: &Context<'_>) -> Poll<Next> {
        let mut state = self.state();
        if state.reader != reader || std::mem::take(&mut state.released) {
            return Poll::Ready(Next::End);
        }
        if let Some(answer) = state.answer.take() {
            let text = String::from_utf8(answer.into_text()).unwrap_or_default();
            state.bytes += text.len();
            state.texts.push_back(text);
        }
        // Events were dropped before this reader got them: it is too slow and ends.
        let Some(index) = cursor.checked_sub(state.first) else { return Poll::Ready(Next::End) };
        if let Some(text) = usize::try_from(index).ok().and_then(|index| state.texts.get(index)) {
            let event = self.render(*cursor, text);
            *cursor += 1;
            state.at = *cursor;
            return Poll::Ready(Next::Event(event));
        }
        if state.ended {
            return Poll::Ready(Next::End);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// The first event still kept after `event`.
    pub(super) fn resume_at(&self, event: u64) -> Cursor {
        event.saturating_add(1).max(self.state().first)
    }

    /// An event without data that gives the client an id to resume with (2025-11-25).
    pub(super) fn priming(&self, retry: std::time::Duration) -> Bytes {
        let id = EventId { stream: self.id, event: 0 }.render();
        let retry = Some(retry.as_millis().to_string());
        Block { id: Some(id), retry, data: Some(String::new()), ..Block::default() }.render().into()
    }

    fn render(&self, event: u64, text: &str) -> Bytes {
        let id = EventId { stream: self.id, event }.render();
        Block { id: Some(id), data: Some(text.to_owned()), ..Block::default() }.render().into()
    }
}

impl State {
    /// Whether the reader has so many events or bytes before it. Without a reader, as when one resumes later, none is behind.
    fn is_behind(&self, most: usize, most_bytes: usize) -> bool {
        if !self.attached && self.reader != 0 {
            return false;
        }
        let unread =
            usize::try_from((self.first + self.texts.len() as u64).saturating_sub(self.at)).unwrap_or(usize::MAX);
        unread >= most
            || (self.bytes > most_bytes
                && self.texts.iter().rev().take(unread).map(String::len).sum::<usize>() > most_bytes)
    }

    fn drop_first(&mut self) {
        let dropped = self.texts.pop_front();
        self.first += 1;
        self.bytes -= dropped.map_or(0, |text| text.len());
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let counted = self.state().counted;
        self.kept.count(counted, 0);
    }
}

fn wake(state: &mut State) {
    if let Some(waker) = state.waker.take() {
        waker.wake();
    }
}

impl MessageSink for EventStream {
    fn send(&self, text: String) -> Result<(), Gone> {
        let mut state = self.state();
        if state.ended {
            return Err(Gone);
        }
        if state.is_behind(self.most / 2, self.most_bytes / 2) && may_be_left_out(&text) {
            return Ok(());
        }
        state.bytes += text.len();
        state.texts.push_back(text);
        while state.texts.len() > self.most || state.bytes > self.most_bytes {
            state.drop_first();
        }
        self.count(&mut state);
        wake(&mut state);
        drop(state);
        self.make_room();
        Ok(())
    }

    fn release(&self) {
        let mut state = self.state();
        // The reader of a client that left has ended already.
        if !state.ended && (state.attached || state.reader == 0) {
            state.released = true;
            wake(&mut state);
        }
    }

    fn close(&self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    const PROGRESS: &str =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    /// Without this, a flood of progress pushes the oldest events out, and the reader ends before the answer.
    #[test]
    fn progress_is_left_out_where_the_reader_is_behind() {
        let limits = Limits { events: 8, ..Limits::default() };
        let stream = EventStream::new(1, &limits, Arc::new(Kept::new(1 << 20)));
        let reader = stream.attach();
        for _ in 0..100 {
            assert!(stream.send(PROGRESS.to_owned()).is_ok());
        }
        assert!(stream.send(CHANGED.to_owned()).is_ok());
        let (mut cursor, mut events) = (1, Vec::new());
        let context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Next::Event(event)) = stream.poll_next(reader, &mut cursor, &context) {
            events.push(String::from_utf8_lossy(&event).into_owned());
        }
        assert_eq!(events.len(), 5, "{events:?}");
        assert!(events[4].contains("list_changed"));
        assert!(stream.send(PROGRESS.to_owned()).is_ok());
        assert!(matches!(stream.poll_next(reader, &mut cursor, &context), Poll::Ready(Next::Event(_))), "room again");
    }
}
