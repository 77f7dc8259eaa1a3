//! Records frames in a [`Trace`] as they cross, or hands each on. A tap stamps, numbers and bounds frames; it must not read
//! them.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use wire::trace::{Content, Frame, Header, Limit, Mark, Trace};
use wire::{Party, Transport};

/// How many bytes of frames are kept by default.
const DEFAULT_LIMIT: usize = 64 << 20;
/// What a frame costs in addition to its content: itself, and the event and the message that rules read in it. Many small
/// messages need as much memory as a few long ones.
const FRAME_COST: usize = 1 << 10;
/// How much more marks, ends and exits may take after the limit: a trace without its end is hard to judge.
const RESERVE: usize = 1 << 20;

/// The recorder of one trace. Clones write into the same one.
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

/// Takes frames that are not kept, and counts them.
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
    /// Nothing is recorded any more, without a limit having been reached.
    idle: bool,
}

/// A recorded frame, to be named as a cause or completed later.
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

    /// A tap that keeps nothing and has no limit: every frame is given to `take`, in order. [`Tap::complete`] has no effect
    /// on frames that were given away.
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

    /// A frame that begins and is complete now, not yet recorded.
    pub fn frame(&self, from: Party, connection: u32, exchange: u32, content: Content) -> Frame {
        let now = self.now();
        Frame { at: now, done: now, connection, exchange, ..Frame::new(from, content) }
    }

    /// Records `frame`. `cause` is a frame recorded before.
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

    /// Marks `frame` as complete now.
    pub fn complete(&self, frame: Written) {
        let now = self.now();
        let Some(index) = frame.0 else { return };
        if let Some(frame) = self.state().frames.get_mut(index) {
            frame.done = now;
        }
    }

    /// Records a fact about our own side.
    pub fn mark(&self, connection: u32, mark: impl Into<Mark>) {
        let content = Content::Mark(mark.into());
        self.write(self.frame(Party::Client, connection, 0, content), Written::NONE);
    }

    /// Drops all frames and records nothing from now on, for a connection of unbounded length. A tap that keeps nothing
    /// continues.
    pub fn stop_recording(&self) {
        let mut state = self.state();
        if state.sink.is_some() {
            return;
        }
        state.idle = true;
        state.frames = Vec::new();
        state.bytes = 0;
    }

    /// Whether the limit was reached: nothing that a peer sends is recorded any more.
    pub fn is_full(&self) -> bool {
        self.state().full
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        self.0.header.transport
    }

    /// The frames after the first `count`, in the order in which they were recorded.
    pub fn since(&self, count: usize) -> Vec<Frame> {
        self.state().frames.get(count..).unwrap_or_default().to_vec()
    }

    /// The trace so far, in the order in which the frames began.
    pub fn snapshot(&self) -> Trace {
        let frames = self.state().frames.clone();
        Trace { header: self.0.header.clone(), frames: in_order(frames) }
    }

    /// Records nothing from now on.
    pub fn close(&self) {
        self.state().finished = true;
    }

    /// The trace. Later frames are not recorded.
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

/// Sorts by beginning (a body is recorded when it is complete) and adapts the indices of causes.
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
