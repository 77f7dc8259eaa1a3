//! JSON-RPC batches, which only 2025-03-26 has: several replies joined into one array. Each request runs in a task of its own,
//! so that it can be cancelled and counts like any other. Knows no transport.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::oneshot;
use wire::RequestId;
use wire::message::Malformed;

use super::InFlight;
use super::link::{Gone, MessageSink};
use crate::service::{Answer, Pending, Reply, RpcError};

/// The refusal of a batch with more than `most` messages.
pub(crate) fn too_long(most: usize) -> RpcError {
    RpcError::invalid_request(format!("Invalid request: a batch has at most {most} messages here"))
}

/// Bounds of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchBounds {
    /// The most messages.
    pub messages: usize,
    /// The most bytes of all responses together.
    pub bytes: usize,
}

impl Default for BatchBounds {
    fn default() -> Self {
        Self { messages: 100, bytes: 8 << 20 }
    }
}

/// Where one request sends; its cancellation closes it.
pub(crate) struct RequestSink {
    sink: Arc<dyn MessageSink>,
    closed: AtomicBool,
}

impl RequestSink {
    pub(crate) fn new(sink: Arc<dyn MessageSink>) -> Arc<Self> {
        Arc::new(Self { sink, closed: AtomicBool::new(false) })
    }
}

impl MessageSink for RequestSink {
    fn send(&self, text: String) -> Result<(), Gone> {
        if self.closed.load(Ordering::Acquire) { Err(Gone) } else { self.sink.send(text) }
    }

    fn release(&self) {
        self.sink.release();
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

/// One part of a batch that wants an answer, or has it.
enum Part {
    Ready(Answer),
    Waiting(RequestId, oneshot::Receiver<Answer>),
    /// The client cancelled it.
    Cancelled,
}

/// The answers of one batch.
pub(crate) struct Batch {
    parts: Vec<Part>,
    /// How many bytes the answers have so far, and may have.
    bytes: usize,
    most_bytes: usize,
}

impl Batch {
    pub(crate) const fn new(bounds: BatchBounds) -> Self {
        Self { parts: Vec::new(), bytes: 0, most_bytes: bounds.bytes }
    }

    /// Adds an answer to the request `id`.
    pub(crate) fn add(&mut self, id: Option<&RequestId>, answer: Answer) {
        let answer = self.within(id, answer);
        self.parts.push(Part::Ready(answer));
    }

    /// A part that is no message: JSON-RPC answers it with a null id where it has none.
    pub(crate) fn add_malformed(&mut self, malformed: &Malformed) {
        let error = RpcError::new(malformed.fault.code(), format!("Invalid request: {}", malformed.fault));
        let answer = match &malformed.id {
            Some(id) => Answer::error(Some(id), &error),
            None => Answer::error_with_null_id(&error),
        };
        self.add(malformed.id.as_ref(), answer);
    }

    /// Adds a request that is answered later, and starts to answer it.
    pub(crate) fn start(&mut self, id: RequestId, sink: Arc<RequestSink>, pending: Pending, in_flight: &InFlight) {
        let (sender, receiver) = oneshot::channel();
        let guard = PartGuard { id: id.clone(), in_flight: in_flight.clone(), sender: Some(sender) };
        let answer = |mut guard: PartGuard| async move { guard.complete(pending.await) };
        in_flight.start(&id, sink, || tokio::spawn(answer(guard)).abort_handle());
        self.parts.push(Part::Waiting(id, receiver));
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The array of all answers: at once where none has to be waited for. The text is empty where the client cancelled every
    /// request: then nothing is to be sent.
    pub(crate) fn reply(mut self) -> Reply {
        if self.parts.iter().all(|part| matches!(part, Part::Ready(_))) {
            return Reply::Now(self.join());
        }
        Reply::later(async move {
            poll_fn(|context| self.poll(context)).await;
            self.join()
        })
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut parts = std::mem::take(&mut self.parts);
        let mut waiting = false;
        for part in &mut parts {
            let Part::Waiting(id, receiver) = part else { continue };
            match std::pin::Pin::new(receiver).poll(context) {
                Poll::Ready(Ok(answer)) => *part = Part::Ready(self.within(Some(&id.clone()), answer)),
                Poll::Ready(Err(_)) => *part = Part::Cancelled,
                Poll::Pending => waiting = true,
            }
        }
        self.parts = parts;
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    }

    /// The answer, or an error in its place where all answers together are too long.
    fn within(&mut self, id: Option<&RequestId>, answer: Answer) -> Answer {
        let most = self.most_bytes;
        if self.bytes + answer.text().len() <= most {
            self.bytes += answer.text().len();
            return answer;
        }
        let why = format!("The responses to this batch have more than {most} bytes; send the request by itself");
        Answer::error(id, &RpcError::internal(why))
    }

    fn join(&mut self) -> Answer {
        let answers: Vec<Answer> = std::mem::take(&mut self.parts)
            .into_iter()
            .filter_map(|part| if let Part::Ready(answer) = part { Some(answer) } else { None })
            .collect();
        if answers.is_empty() {
            return Answer::raw(Vec::new(), None);
        }
        let mut text = Vec::with_capacity(answers.iter().map(|answer| answer.text().len() + 1).sum::<usize>() + 1);
        for answer in answers {
            text.push(if text.is_empty() { b'[' } else { b',' });
            text.extend_from_slice(answer.text());
        }
        text.push(b']');
        Answer::raw(text, None)
    }
}

/// Completes a part when its task ends, even by a panic.
struct PartGuard {
    id: RequestId,
    in_flight: InFlight,
    sender: Option<oneshot::Sender<Answer>>,
}

impl PartGuard {
    fn complete(&mut self, answer: Answer) {
        if self.in_flight.finish(&self.id)
            && let Some(sender) = self.sender.take()
        {
            let _ = sender.send(answer);
        }
    }
}

impl Drop for PartGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.complete(Answer::error(Some(&self.id), &RpcError::internal("Internal error")));
        }
    }
}
