//! An event stream of another gateway: where it breaks off before the responses, errors take their place. Half an event cannot
//! be taken back: then the stream breaks off for the client, too.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use net::server::http::{Bytes, Frame, HttpBody};
use net::upstream::Passed;
use wire::RequestId;
use wire::framing::sse::{Block, EventEnd, open_data};
use wire::message::{Packet, begins_result, parse};

use super::answers::lost;

/// How much of an event is read to see which request it answers.
const READ: usize = 64 << 10;

/// The stream, and the requests that it must answer.
pub(super) struct Ending {
    body: Passed,
    open: Vec<RequestId>,
    event: Vec<u8>,
    /// Whether `event` is all of the event so far.
    is_whole: bool,
    end: EventEnd,
    is_over: bool,
}

impl Ending {
    pub(super) fn new(body: Passed, open: Vec<RequestId>) -> Self {
        Self { body, open, event: Vec::new(), is_whole: true, end: EventEnd::default(), is_over: false }
    }

    /// Reads a piece that passes.
    fn read(&mut self, mut piece: &[u8]) {
        while !self.open.is_empty() && !piece.is_empty() {
            let end = self.end.find(piece);
            let (part, rest) = piece.split_at(end.unwrap_or(piece.len()));
            let room = READ.saturating_sub(self.event.len());
            self.is_whole &= part.len() <= room;
            self.event.extend_from_slice(&part[..part.len().min(room)]);
            if end.is_some() {
                self.event_ended();
            }
            piece = rest;
        }
    }

    fn event_ended(&mut self) {
        let (event, is_whole) = (std::mem::take(&mut self.event), std::mem::replace(&mut self.is_whole, true));
        self.end = EventEnd::default();
        if !is_whole {
            let data = open_data(&event).unwrap_or_default();
            self.open.retain(|id| !begins_result(data, id));
            return;
        }
        let Some(data) = Block::parse(&event).data else { return };
        match parse(data.as_bytes()) {
            Ok(Packet::Message(message)) if message.kind().is_response() => {
                self.open.retain(|id| message.id() != Some(id));
            }
            // The responses to a batch come in one event.
            Ok(Packet::Batch(_)) => self.open.clear(),
            _ => {}
        }
    }

    /// The events in place of responses that do not come any more.
    fn farewell(&mut self) -> Bytes {
        let data = |id: &RequestId| String::from_utf8_lossy(&lost(Some(id))).into_owned();
        let events = self.open.iter().map(|id| Block { data: Some(data(id)), ..Block::default() }.render());
        let all: String = events.collect();
        self.open.clear();
        all.into()
    }
}

impl HttpBody for Ending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match frame {
            Some(Ok(frame)) => {
                if let Some(piece) = frame.data_ref() {
                    self.read(&piece.clone());
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(_)) if self.event.is_empty() && !self.open.is_empty() => {
                self.is_over = true;
                Poll::Ready(Some(Ok(Frame::data(self.farewell()))))
            }
            other => {
                self.is_over = true;
                Poll::Ready(other)
            }
        }
    }
}
