//! How a request stands, and what an answer to it is about: whether there was any other reason to refuse it.

use wire::{Era, Kind};

use super::{CLIENT_CAPABILITIES, Call, Exchange, PROTOCOL_VERSION, Said, View};

impl Said<'_> {
    /// Whether this request carries both fields that the modern era requires in `_meta`.
    pub fn is_complete(&self) -> bool {
        let meta = self.message.meta();
        meta.is_some_and(|m| m.get(PROTOCOL_VERSION).is_some() && m.get(CLIENT_CAPABILITIES).is_some())
    }
}

impl Exchange<'_> {
    /// Whether the request did not get as far as the protocol: it was turned away before the endpoint, or refused for its
    /// method or media types, or the server broke down over it.
    pub fn refused_by_http(&self) -> bool {
        self.turned_away() || self.status().is_some_and(|status| matches!(status, 405 | 406 | 415 | 500..))
    }
}

impl<'v> View<'v> {
    /// Whether a request gives no other reason to refuse it: in the modern era its metadata is there and names this
    /// revision, in the legacy era its connection's handshake is done.
    pub fn is_in_order(&self, request: Said<'v>) -> bool {
        match self.era() {
            Era::Legacy => self.handshake(request.connection).is_some_and(|h| h.request.index < request.index),
            Era::Modern => request.is_complete() && self.spoken(request) == Some(self.revision()),
        }
    }

    /// Whether a message came with a status by which HTTP says that the protocol had no say.
    pub fn is_http_refusal(&self, said: Said<'v>) -> bool {
        self.exchange(said.exchange).is_some_and(Exchange::refused_by_http)
    }

    /// Whether a response says nothing about its request's content: a refusal by HTTP (in the legacy era any error status
    /// is its own), or over headers.
    pub fn is_beside(&self, response: Said<'v>) -> bool {
        let refused = self.exchange(response.exchange).and_then(Exchange::status).is_some_and(|status| status >= 400);
        self.is_http_refusal(response)
            || (refused && self.era() == Era::Legacy)
            || response.message.error_code() == Some(-32020)
    }

    /// Whether a request was in order and its answer, if there is one, is about its content.
    pub fn is_weighed(&self, call: &Call<'v>) -> bool {
        let error = call.response.filter(|response| response.message.kind() == Kind::Error);
        self.is_in_order(call.request) && !error.is_some_and(|error| self.is_beside(error))
    }
}
