//! Which response answers which request.

use std::collections::{BTreeMap, BTreeSet};

use wire::trace::{Content, Trace};
use wire::{Kind, Party, RequestId, Transport};

use super::{Call, Exchange, MessageAt, View};

/// Responses of one id on one connection that answer no request yet, in order.
type Waiting<'v> = BTreeMap<(u32, Option<&'v RequestId>), Vec<MessageAt<'v>>>;

/// Pairs each request with the first later response of the other party on its connection: in the request's own
/// exchange if there is one there, else on a stream where the asking party made no request of its own with that id. What
/// a server sends in the exchange of a POST answers nothing that was posted elsewhere. The other party counts for itself:
/// over HTTP+SSE its requests come on the one stream that answers ours, by ids that may be ours too. Places among all
/// messages: of the request, and of the response.
pub(super) fn pair(trace: &Trace, sent: &[MessageAt<'_>]) -> BTreeMap<usize, usize> {
    let posts = posts(trace);
    let astray = |request: &MessageAt<'_>, s: &MessageAt<'_>| {
        request.from == Party::Client && request.exchange != s.exchange && posts.contains(&s.exchange)
    };
    let requests = || sent.iter().filter(|s| s.message.kind() == Kind::Request);
    let requested: BTreeSet<_> =
        requests().filter(|s| s.exchange != 0).map(|s| (s.exchange, s.from, s.message.id())).collect();
    let mut waiting = Waiting::new();
    // Back to front, so that the first of them can be taken from the end.
    for response in sent.iter().rev().filter(|s| s.message.kind().is_response()) {
        waiting.entry((response.connection, response.message.id())).or_default().push(*response);
    }
    let mut answers = BTreeMap::new();
    for request in requests() {
        let id = request.message.id();
        let Some(left) = waiting.get_mut(&(request.connection, id)) else { continue };
        // Later requests have no use for what came before this one either.
        while left.last().is_some_and(|s| s.index < request.index) {
            left.pop();
        }
        let own = left.iter().rposition(|s| s.from != request.from && s.exchange == request.exchange);
        let elsewhere = || {
            left.iter().rposition(|s| {
                s.from != request.from && !astray(request, s) && !requested.contains(&(s.exchange, request.from, id))
            })
        };
        if let Some(place) = own.or_else(elsewhere) {
            answers.insert(request.index, left.remove(place).index);
        }
    }
    answers
}

/// The exchanges of POST requests.
fn posts(trace: &Trace) -> BTreeSet<u32> {
    let is_post = |content: &Content| matches!(content, Content::Request { method, .. } if method == "POST");
    trace.frames.iter().filter(|frame| is_post(&frame.content)).map(|frame| frame.exchange).collect()
}

impl View<'_> {
    /// The first event by which a request is surely no longer under way: its response, its refusal by HTTP, or the end of
    /// the exchange that was to bring the response. `None` where nothing ended it.
    pub fn over_at(&self, call: &Call<'_>) -> Option<usize> {
        let exchange = self.exchange(call.request.exchange);
        let refused =
            exchange.and_then(|x| x.response).filter(|(_, status, _)| *status >= 400).map(|(event, ..)| event);
        // What HTTP+SSE accepted is answered on the stream, whatever becomes of the exchange it came in.
        let elsewhere = self.transport() == Transport::HttpSse && exchange.is_some_and(Exchange::succeeded);
        let closed = exchange.and_then(|x| x.closed).filter(|_| !elsewhere).map(|(event, ..)| event);
        call.response.map(|response| response.event).into_iter().chain(refused).chain(closed).min()
    }
}
