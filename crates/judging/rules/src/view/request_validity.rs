//! Whether a request was valid, and whether its answer is about its content or was refused for another reason.

use serde_json::Value;
use wire::error_code::HEADER_MISMATCH;
use wire::message::Fault;
use wire::meta;
use wire::{Era, Kind, Transport};

use super::{Call, Exchange, MessageAt, View};

impl MessageAt<'_> {
    /// Whether this request carries both fields that the modern era requires in `_meta`.
    pub fn has_required_meta(&self) -> bool {
        let meta = self.message.meta();
        meta.is_some_and(|m| m.get(meta::PROTOCOL_VERSION).is_some() && m.get(meta::CLIENT_CAPABILITIES).is_some())
    }

    /// Whether its parameters, if there are any, are an object. JSON-RPC knows arrays, too; MCP does not.
    pub fn has_named_params(&self) -> bool {
        self.message.params().is_none_or(Value::is_object)
    }
}

impl Exchange<'_> {
    /// Whether the request did not get as far as the protocol: it was turned away before the endpoint, or refused for its
    /// method or media types, or the server failed over it.
    pub fn refused_by_http(&self) -> bool {
        self.turned_away() || self.status().is_some_and(|status| matches!(status, 405 | 406 | 415 | 500..))
    }
}

impl<'v> View<'v> {
    /// Whether a request gives no other reason to refuse it: in the modern era its metadata is present and names this
    /// revision, in the legacy era its connection's handshake is done; its `params` are an object (JSON-RPC knows arrays, too),
    /// and its text has no unpaired escape.
    pub fn is_valid_request(&self, request: MessageAt<'v>) -> bool {
        let met = match self.era() {
            Era::Legacy => self.handshake(request.connection).is_some_and(|h| h.request.index < request.index),
            Era::Modern => request.has_required_meta() && self.revision_of(request) == Some(self.revision()),
        };
        met && request.has_named_params() && !has_unpaired_escape(request.message.text())
    }

    /// Whether bytes that are not JSON went before a message on the same byte stream: where the next message begins, only
    /// who reads it line by line can tell. Who had answered them by an error before the message was sent can tell.
    pub fn follows_unreadable_bytes(&self, sent: MessageAt<'_>) -> bool {
        let unreadable = |fault: &Fault| matches!(fault, Fault::NotUtf8 | Fault::NotJson(_) | Fault::TooDeep);
        self.transport() == Transport::Stdio
            && self.invalid_by_peer().any(|g| {
                let refused = || self.error_without_id_after(g.event, g.connection);
                g.connection == sent.connection
                    && g.event < sent.event
                    && unreadable(&g.malformed.fault)
                    && refused().is_none_or(|error| error.event >= sent.event)
            })
    }

    /// Whether a message came with a status by which HTTP refused the request before MCP saw it.
    pub fn is_http_refusal(&self, sent: MessageAt<'v>) -> bool {
        self.exchange(sent.exchange).is_some_and(Exchange::refused_by_http)
    }

    /// Whether a response says nothing about its request's content: a refusal by HTTP (in the legacy era any error status
    /// is its own), or over headers.
    pub fn is_envelope_refusal(&self, response: MessageAt<'v>) -> bool {
        let refused = self.exchange(response.exchange).and_then(Exchange::status).is_some_and(|status| status >= 400);
        self.is_http_refusal(response)
            || (refused && self.era() == Era::Legacy)
            || response.message.error_code() == Some(HEADER_MISMATCH)
    }

    /// Whether a request was valid and its answer, if there is one, is about its content.
    pub fn judges_content(&self, call: &Call<'v>) -> bool {
        let error = call.response.filter(|response| response.message.kind() == Kind::Error);
        self.is_valid_request(call.request) && !error.is_some_and(|error| self.is_envelope_refusal(error))
    }
}

/// An escaped NUL, or an escaped surrogate without its partner.
pub(crate) fn has_unpaired_escape(text: &str) -> bool {
    let mut rest = text;
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    while let Some(at) = rest.find('\\') {
        let here = &rest[at..];
        let Some(code) = unit(here) else {
            // Another escape: of one character, which may be a backslash.
            rest = here.get(2..).unwrap_or_default();
            continue;
        };
        let partner = here.get(6..).and_then(unit).is_some_and(|next| (0xdc00..=0xdfff).contains(&next));
        match code {
            0 | 0xdc00..=0xdfff => return true,
            0xd800..=0xdbff if !partner => return true,
            0xd800..=0xdbff => rest = &here[12..],
            _ => rest = &here[6..],
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_unpaired_escape;

    #[test]
    fn odd_escapes_are_told_from_good_ones() {
        for odd in [r"a\u0000", r"\ud800", r"\ud83dx", r"\ud83d\ud83d\ude00", r"\\\ude00"] {
            assert!(has_unpaired_escape(odd), "{odd}");
        }
        for good in [r"\ud83d\ude00", r"\\u0000", r"\n\u00e4", "plain", r"\\", r"\"] {
            assert!(!has_unpaired_escape(good), "{good}");
        }
    }
}
