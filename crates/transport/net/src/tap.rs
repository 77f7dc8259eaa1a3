//! Writes frames down into a [`Trace`] as they cross, or hands each on as it does. A tap stamps, numbers and bounds; it must
//! not read what frames say.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use wire::trace::{Content, Frame, Header, Limit, Mark, Trace};
use wire::{Party, Transport};

/// How many bytes of frames are kept unless told otherwise.
const DEFAULT_LIMIT: usize = 64 << 20;
/// What a frame costs beside its content: itself, and the event and the message that rules read in it. A flood of tiny
/// messages is as heavy as one of long ones.
const FRAME_COST: usize = 1 << 10;
/// What marks, ends and exits may still take once the limit is reached: a trace without its end is hard to judge.
const RESERVE: usize = 1 << 20;

/// The pen of one trace. Clones write into the same one.
#[derive(Clone, Debug)]
pub struct Tap(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    begun: Instant,
    header: Header,
    connections: AtomicU32,
    exchanges: AtomicU32,
    state: Mutex<State>,
}

/// Who takes frames that are not kept, and how many it has been given.
struct Sink {
    take: Box<dyn FnMut(&Frame) + Send>,
    given: usize,
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a sink that was given {} frames", self.given)
    }
}

#[derive(Debug)]
struct State {
    frames: Vec<Frame>,
    /// Takes every frame in place of `frames`.
    sink: Option<Sink>,
    bytes: usize,
    limit: usize,
    full: bool,
    finished: bool,
    /// Nothing is written down any more, and nothing comes to an end because of that.
    idle: bool,
}

/// A frame that was written down, to be named as a cause or completed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written(Option<usize>);

impl Written {
    /// No frame at all.
    pub const NONE: Self = Self(None);
}

impl Tap {
    /// A tap whose time begins now.
    pub fn new(header: Header) -> Self {
        Self::of(header, None)
    }

    /// A tap that keeps nothing and so has no limit: every frame goes to `take` as it is written down, which no other frame
    /// overtakes. What is [`Tap::complete`]d later has been given already.
    pub fn streaming(header: Header, take: impl FnMut(&Frame) + Send + 'static) -> Self {
        Self::of(header, Some(Sink { take: Box::new(take), given: 0 }))
    }

    fn of(header: Header, sink: Option<Sink>) -> Self {
        let state = State {
            frames: Vec::new(),
            sink,
            bytes: 0,
            limit: DEFAULT_LIMIT,
            full: false,
            finished: false,
            idle: false,
        };
        Self(Arc::new(Inner {
            begun: Instant::now(),
            header,
            connections: AtomicU32::new(0),
            exchanges: AtomicU32::new(0),
            state: Mutex::new(state),
        }))
    }

    /// Keeps at most `bytes` of frames from now on, then one `limit` mark and nothing but marks and ends.
    pub fn limit(&self, bytes: usize) {
        self.state().limit = bytes;
    }

    /// The next connection's number, from 1.
    pub fn next_connection(&self) -> u32 {
        self.0.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The next exchange's number, from 1.
    pub fn next_exchange(&self) -> u32 {
        self.0.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Microseconds since the trace began.
    pub fn now(&self) -> u64 {
        u64::try_from(self.0.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// A frame that begins and is complete now, not yet written down.
    pub fn frame(&self, from: Party, connection: u32, exchange: u32, content: Content) -> Frame {
        let now = self.now();
        Frame { at: now, done: now, connection, exchange, ..Frame::new(from, content) }
    }

    /// Writes `frame` down. `cause` is a frame written down before.
    pub fn write(&self, mut frame: Frame, cause: Written) -> Written {
        frame.cause = cause.0;
        let cost = FRAME_COST + frame.content.weight();
        let mut state = self.state();
        if state.finished || state.idle {
            return Written::NONE;
        }
        if let Some(sink) = &mut state.sink {
            (sink.take)(&frame);
            sink.given += 1;
            return Written(Some(sink.given - 1));
        }
        let light =
            matches!(frame.content, Content::Mark(_) | Content::Opened | Content::Closed(_) | Content::Exit { .. });
        let room = state.limit.saturating_add(if light { RESERVE } else { 0 }).saturating_sub(state.bytes);
        if cost > room || (state.full && !light) {
            if !state.full {
                state.full = true;
                state.frames.push(Frame {
                    content: Content::Mark(Mark::Limit(Limit::Trace)),
                    from: Party::Client,
                    to: Party::Server,
                    ..frame
                });
            }
            return Written::NONE;
        }
        state.bytes += cost;
        state.frames.push(frame);
        Written(Some(state.frames.len() - 1))
    }

    /// Says that `frame` is complete now.
    pub fn complete(&self, frame: Written) {
        let now = self.now();
        let Some(index) = frame.0 else { return };
        if let Some(frame) = self.state().frames.get_mut(index) {
            frame.done = now;
        }
    }

    /// Writes a fact about our own side down.
    pub fn mark(&self, connection: u32, mark: impl Into<Mark>) {
        let content = Content::Mark(mark.into());
        self.write(self.frame(Party::Client, connection, 0, content), Written::NONE);
    }

    /// Forgets what was written and writes nothing from now on, for a connection that may last for as long as it likes. A
    /// tap that keeps nothing goes on.
    pub fn stop_recording(&self) {
        let mut state = self.state();
        if state.sink.is_some() {
            return;
        }
        state.idle = true;
        state.frames = Vec::new();
        state.bytes = 0;
    }

    /// Whether the limit is reached: nothing that a peer sends is kept any more.
    pub fn is_full(&self) -> bool {
        self.state().full
    }

    /// What carries the messages.
    pub fn transport(&self) -> Transport {
        self.0.header.transport
    }

    /// What was written after the first `count` frames, in the order in which it was.
    pub fn since(&self, count: usize) -> Vec<Frame> {
        self.state().frames.get(count..).unwrap_or_default().to_vec()
    }

    /// What was written so far, in the order in which the frames began.
    pub fn snapshot(&self) -> Trace {
        let frames = self.state().frames.clone();
        Trace { header: self.0.header.clone(), frames: in_order(frames) }
    }

    /// Nothing that crosses from now on is written down.
    pub fn close(&self) {
        self.state().finished = true;
    }

    /// The trace. What crosses later is not written down any more.
    pub fn finish(self) -> Trace {
        let mut state = self.state();
        state.finished = true;
        let frames = std::mem::take(&mut state.frames);
        drop(state);
        Trace { header: self.0.header.clone(), frames: in_order(frames) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sorts by beginning (a body is written down when it is complete) and lets causes follow their frames.
fn in_order(frames: Vec<Frame>) -> Vec<Frame> {
    if frames.is_sorted_by_key(|frame| frame.at) {
        return frames;
    }
    let mut order: Vec<usize> = (0..frames.len()).collect();
    order.sort_by_key(|&index| frames[index].at);
    let mut place = vec![0; order.len()];
    for (now, &before) in order.iter().enumerate() {
        place[before] = now;
    }
    let mut frames: Vec<Frame> = frames;
    for frame in &mut frames {
        frame.cause = frame.cause.map(|cause| place[cause]);
    }
    frames.sort_by_key(|frame| frame.at);
    frames
}
