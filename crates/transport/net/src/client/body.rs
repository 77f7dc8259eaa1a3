//! A request's body, all at once or in pieces with pauses between them. Knows bytes only.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// Where a body is cut, and how long the pause is before each piece but the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cuts {
    pub(crate) at: Vec<usize>,
    pub(crate) pause: Duration,
}

/// A body of known length.
pub(crate) struct Pieces {
    /// The first piece, most often the only one: it needs no queue.
    first: Option<Bytes>,
    left: VecDeque<Bytes>,
    pause: Duration,
    /// The pause before the next piece.
    held: Option<Pin<Box<Sleep>>>,
}

impl Pieces {
    /// `bytes`, cut where `cuts` says and they reach; whole where it says nothing.
    pub(crate) fn new(mut bytes: Bytes, cuts: &Cuts) -> Self {
        let mut left = VecDeque::new();
        if cuts.at.is_empty() {
            return Self { first: Some(bytes).filter(|bytes| !bytes.is_empty()), left, pause: cuts.pause, held: None };
        }
        let mut start = 0;
        for &cut in &cuts.at {
            if cut > start && cut - start < bytes.len() {
                left.push_back(bytes.split_to(cut - start));
                start = cut;
            }
        }
        if !bytes.is_empty() {
            left.push_back(bytes);
        }
        Self { first: left.pop_front(), left, pause: cuts.pause, held: None }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(held) = &mut self.held {
            std::task::ready!(held.as_mut().poll(context));
            self.held = None;
        }
        let this = &mut *self;
        let piece = this.first.take().or_else(|| this.left.pop_front());
        if !self.left.is_empty() {
            self.held = Some(Box::pin(sleep(self.pause)));
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.first.iter().chain(&self.left).map(|piece| piece.len() as u64).sum())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http_body_util::BodyExt;

    use super::{Cuts, Pieces};

    #[tokio::test]
    async fn pieces_are_cut_where_told_and_lose_nothing() {
        let cuts = Cuts { at: vec![0, 2, 2, 5, 99], pause: Duration::from_millis(1) };
        let mut body = Pieces::new(Bytes::from_static(b"abcdefg"), &cuts);
        let mut seen = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            seen.push(frame.into_data().expect("only data is sent"));
        }
        assert_eq!(seen, ["ab", "cde", "fg"]);
    }

    #[tokio::test]
    async fn a_body_without_cuts_is_whole() {
        let body = Pieces::new(Bytes::from_static(b"abc"), &Cuts::default());
        assert_eq!(body.collect().await.expect("it cannot fail").to_bytes(), "abc");
    }
}
