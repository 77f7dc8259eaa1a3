//! Which response answers which request.

use std::collections::{BTreeMap, BTreeSet};

use wire::{Kind, RequestId};

use super::MessageAt;

/// Responses of one id on one connection that answer no request yet, in order.
type Waiting<'v> = BTreeMap<(u32, Option<&'v RequestId>), Vec<MessageAt<'v>>>;

/// Pairs each request with the first later response of the other party on its connection: in the request's own
/// exchange if there is one there, else on a stream where the asking party made no request of its own with that id. The
/// other party counts for itself: over HTTP+SSE its requests come on the one stream that answers ours, by ids that may be
/// ours too. Places among all messages: of the request, and of the response.
pub(super) fn pair(sent: &[MessageAt<'_>]) -> BTreeMap<usize, usize> {
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
            left.iter().rposition(|s| s.from != request.from && !requested.contains(&(s.exchange, request.from, id)))
        };
        if let Some(place) = own.or_else(elsewhere) {
            answers.insert(request.index, left.remove(place).index);
        }
    }
    answers
}
