//! One legacy event stream and the events that it keeps, so that a client can resume it
//! (basic/transports#resumability-and-redelivery). Event ids are `stream-event`: they name their stream.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use wire::framing::sse::Block;

use super::Limits;
use crate::server::link::{Gone, MessageSink};
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

struct State {
    texts: VecDeque<String>,
    /// The number of the first event still kept.
    first: u64,
    bytes: usize,
    answer: Option<Answer>,
    ended: bool,
    /// Which reader is attached; a newer one makes older ones end.
    reader: u64,
    attached: bool,
    /// Whether the present or the next reader shall end at once and resume later.
    released: bool,
    waker: Option<Waker>,
}

/// A stream of events.
pub(super) struct EventStream {
    id: u32,
    most: usize,
    most_bytes: usize,
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
    pub(super) fn new(id: u32, limits: &Limits) -> Self {
        let state = State {
            texts: VecDeque::new(),
            first: 1,
            bytes: 0,
            answer: None,
            ended: false,
            reader: 0,
            attached: false,
            released: false,
            waker: None,
        };
        Self { id, most: limits.events, most_bytes: limits.event_bytes, state: Mutex::new(state) }
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
        wake(&mut state);
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
            return Poll::Ready(state.answer.take());
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
            state.texts.push_back(text);
        }
        // Events were dropped before this reader got them: it is too slow and ends.
        let Some(index) = cursor.checked_sub(state.first) else { return Poll::Ready(Next::End) };
        if let Some(text) = usize::try_from(index).ok().and_then(|index| state.texts.get(index)) {
            let event = self.render(*cursor, text);
            *cursor += 1;
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
        (event + 1).max(self.state().first)
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
        state.bytes += text.len();
        state.texts.push_back(text);
        while state.texts.len() > self.most || state.bytes > self.most_bytes {
            let dropped = state.texts.pop_front();
            state.first += 1;
            state.bytes -= dropped.map_or(0, |text| text.len());
        }
        wake(&mut state);
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
