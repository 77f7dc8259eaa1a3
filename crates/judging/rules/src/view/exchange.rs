//! One HTTP request with its whole response, put together from a trace.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::message::{Malformed, Packet};
use wire::meta;
use wire::revision::R2026_07_28;
use wire::trace::{Closed, Content, Event, Frame, Headers, SseFields, header};
use wire::{Kind, Party};

use super::{Call, MessageAt, View};
use crate::verdict::{Breach, Located};

/// One HTTP request with its whole response, or as much of it as crossed.
#[derive(Clone, Debug, Default)]
pub struct Exchange<'v> {
    /// The exchange's number within the trace.
    pub number: u32,
    /// The connection (for Streamable HTTP: the session) it belongs to.
    pub connection: u32,
    /// Who answers it: the MCP server, or an authorization server, or anyone else.
    pub partner: Option<Party>,
    /// The request's head: event, HTTP method, target, headers.
    pub request: Option<(usize, &'v str, &'v str, &'v Headers)>,
    /// The response's head: event, status, headers.
    pub response: Option<(usize, u16, &'v Headers)>,
    /// The request's body: event and bytes.
    pub request_body: Option<(usize, &'v [u8])>,
    /// The response's body where it is not an event stream: event and bytes.
    pub response_body: Option<(usize, &'v [u8])>,
    /// What is wrong with the response's body as a JSON-RPC message, where it is not one (also where it is not JSON at all).
    pub unreadable: Option<&'v Malformed>,
    /// Whether the client's body, or a part of its batch, is not a message.
    pub has_invalid_message: bool,
    /// Blocks of the response's event stream with their events.
    pub blocks: Vec<(usize, &'v SseFields)>,
    /// The client's messages.
    pub client_messages: Vec<MessageAt<'v>>,
    /// The server's messages.
    pub server_messages: Vec<MessageAt<'v>>,
    /// How it ended: event, whose doing, how.
    pub closed: Option<(usize, Party, &'v Closed)>,
}

impl<'v> Exchange<'v> {
    /// Whether this is a `POST`, a `GET`, …
    pub fn is(&self, method: &str) -> bool {
        self.method() == Some(method)
    }

    /// The request target without its query.
    pub fn path(&self) -> Option<&'v str> {
        self.request.map(|(_, _, target, _)| target.split('?').next().unwrap_or_default())
    }

    /// Forgets the head of a response to a message, where nothing else of that crossed.
    fn forget_unfinished(&mut self) {
        if self.is("POST") && self.closed.is_none() && self.response_body.is_none() && self.server_messages.is_empty() {
            self.response = None;
        }
    }

    /// The requests among the client's messages.
    pub fn requests(&self) -> impl Iterator<Item = MessageAt<'v>> + '_ {
        self.client_messages.iter().copied().filter(|s| s.message.kind() == Kind::Request)
    }

    /// The client's message where it is one request, alone and readable.
    pub fn question(&self) -> Option<MessageAt<'v>> {
        match self.client_messages.as_slice() {
            [sent] if !sent.batched && !self.has_invalid_message && sent.message.kind() == Kind::Request => Some(*sent),
            _ => None,
        }
    }

    /// Whether the client sent only notifications and responses.
    pub fn has_no_request(&self) -> bool {
        !self.client_messages.is_empty() && !self.has_invalid_message && self.requests().next().is_none()
    }

    /// The responses among the server's messages.
    pub fn responses(&self) -> impl Iterator<Item = MessageAt<'v>> + '_ {
        self.server_messages.iter().copied().filter(|s| s.message.kind().is_response())
    }

    /// The response here that carries the request's id.
    pub fn response_to(&self, request: MessageAt<'v>) -> Option<MessageAt<'v>> {
        self.responses().find(|s| s.message.id() == request.message.id())
    }

    /// Whether a response here is a result.
    pub fn served(&self) -> bool {
        self.server_messages.iter().any(|s| s.message.kind() == Kind::Result)
    }

    /// The code of the first error here.
    pub fn error_code(&self) -> Option<i64> {
        self.responses().find_map(|s| s.message.error_code())
    }

    /// Whether the status is 2xx.
    pub fn succeeded(&self) -> bool {
        self.status().is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the status says that something other than the MCP endpoint's own rules refused the request: authorization,
    /// a rate limit, a gateway.
    pub fn turned_away(&self) -> bool {
        self.status().is_some_and(|status| matches!(status, 401 | 403 | 407 | 408 | 429 | 502..=504))
    }

    /// Whether the server ended it in order.
    pub fn ended(&self) -> bool {
        matches!(self.closed, Some((_, Party::Server, Closed::End)))
    }

    /// Whether the body of the response was read to its end.
    pub fn is_whole(&self, view: &View<'_>) -> bool {
        match self.response_body {
            Some((event, _)) => matches!(view.frame(event).content, Content::Body { complete: true, .. }),
            None => self.ended(),
        }
    }

    /// Whether the client cut it off on purpose.
    pub fn aborted(&self) -> bool {
        matches!(self.closed, Some((_, Party::Client, Closed::Aborted)))
    }

    /// Whether the response began before `event` and did not end before it.
    pub fn open_at(&self, event: usize) -> bool {
        self.response.is_some_and(|(head, ..)| head < event) && self.closed.is_none_or(|(end, ..)| end > event)
    }

    /// The session that the request names.
    pub fn session(&self) -> Option<&'v str> {
        self.request_header("mcp-session-id")
    }

    /// Whether this is a `GET` that resumes a stream.
    pub fn resumes(&self) -> Option<&'v str> {
        if self.is("GET") { self.request_header("last-event-id") } else { None }
    }

    /// `POST`, `GET`, …
    pub fn method(&self) -> Option<&'v str> {
        self.request.map(|(_, method, _, _)| method)
    }

    /// The first value of a request header.
    pub fn request_header(&self, name: &str) -> Option<&'v str> {
        self.request.and_then(|(_, _, _, headers)| header(headers, name))
    }

    /// The response's status.
    pub fn status(&self) -> Option<u16> {
        self.response.map(|(_, status, _)| status)
    }

    /// The first value of a response header.
    pub fn response_header(&self, name: &str) -> Option<&'v str> {
        self.response.and_then(|(_, _, headers)| header(headers, name))
    }

    /// The response's media type: lower case, without parameters.
    pub fn media_type(&self) -> Option<String> {
        let value = self.response_header("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// Whether the response is an event stream.
    pub fn is_stream(&self) -> bool {
        self.media_type().as_deref() == Some("text/event-stream")
    }

    /// A breach at a response header.
    pub fn header_breach(&self, name: &str, why: impl Into<String>) -> Breach {
        Breach::at(self.event(), format!("header:{name}"), why)
    }

    /// A breach at the response's status (or at the request, where none came).
    pub fn status_breach(&self, why: impl Into<String>) -> Breach {
        Breach::at(self.event(), "status", why)
    }

    fn take(&mut self, event: usize, frame: &'v Frame, understood: &'v Event) {
        self.has_invalid_message |= frame.from == Party::Client && holds_invalid_message(understood);
        match &frame.content {
            Content::Request { method, target, headers } => {
                self.request = Some((event, method, target, headers));
                self.partner = Some(frame.to);
            }
            Content::Response { status, headers } => self.response = Some((event, *status, headers)),
            Content::Body { bytes, .. } if frame.from == Party::Client => self.request_body = Some((event, bytes)),
            Content::Body { bytes, .. } => {
                self.response_body = Some((event, bytes));
                if let Event::Body(malformed) = understood {
                    self.unreadable = Some(malformed);
                }
            }
            Content::Closed(how) => self.closed = Some((event, frame.from, how)),
            _ => {}
        }
        if let Event::Sse { fields, .. } = understood {
            self.blocks.push((event, fields));
        }
    }
}

impl Located for Exchange<'_> {
    fn event(&self) -> usize {
        self.response.map_or_else(|| self.request.map_or(0, |(event, ..)| event), |(event, ..)| event)
    }
}

/// Whether a client's frame carries anything that should be a message and is not.
fn holds_invalid_message(understood: &Event) -> bool {
    match understood {
        Event::Body(_) | Event::Malformed(_) => true,
        Event::Packet(Packet::Batch(parts)) => parts.iter().any(Result::is_err),
        _ => false,
    }
}

impl<'v> View<'v> {
    /// Every HTTP exchange, in order of their first frames.
    pub fn exchanges(&self) -> &[Exchange<'v>] {
        // Who asks for all of them may look at all of them.
        if self.budget.spend(self.exchanges.len() as u64) { &self.exchanges } else { &[] }
    }

    /// The exchange of that number, over HTTP.
    pub fn exchange(&self, number: u32) -> Option<&Exchange<'v>> {
        self.numbers.get(&number).map(|&place| &self.exchanges[place])
    }

    /// The exchanges with the MCP server at a path to which messages were posted: the MCP endpoint.
    pub fn endpoint_exchanges(&self) -> Vec<&Exchange<'v>> {
        self.budget.walk(self.endpoint.iter()).map(|&place| &self.exchanges[place]).collect()
    }

    /// Puts every exchange of the trace together.
    pub(super) fn gather(&mut self) {
        let mut exchanges: Vec<Exchange<'v>> = Vec::new();
        let mut numbers = BTreeMap::new();
        for ((event, frame), (_, understood)) in self.frames().zip(self.events()) {
            if frame.exchange == 0 || matches!(frame.content, Content::Mark(_)) {
                continue;
            }
            let place = *numbers.entry(frame.exchange).or_insert_with(|| {
                let (number, connection) = (frame.exchange, frame.connection);
                exchanges.push(Exchange { number, connection, ..Exchange::default() });
                exchanges.len() - 1
            });
            exchanges[place].take(event, frame, understood);
        }
        for sent in self.messages() {
            let Some(exchange) = numbers.get(&sent.exchange).and_then(|&place| exchanges.get_mut(place)) else {
                continue;
            };
            if sent.from == Party::Client {
                exchange.client_messages.push(sent);
            } else {
                exchange.server_messages.push(sent);
            }
        }
        if self.is_cut() {
            exchanges.iter_mut().for_each(Exchange::forget_unfinished);
        }
        self.endpoint = endpoint(&exchanges);
        (self.exchanges, self.numbers) = (exchanges, numbers);
    }

    /// The revisions that the server says it serves, as text: in answer to `server/discover`, or in refusing a version.
    pub fn served_revisions(&self) -> Option<Vec<&'v str>> {
        let discovered = |x: &MessageAt<'v>| x.message.result()?.get("supportedVersions")?.as_array();
        let refused = |x: &MessageAt<'v>| x.message.error()?.get("data")?.get("supported")?.as_array();
        let list = self.by(Party::Server).find_map(|x| discovered(&x).or_else(|| refused(&x)))?;
        Some(list.iter().filter_map(|v| v.as_str()).collect())
    }

    /// The revisions that `server/discover` listed anywhere in the trace, as text.
    pub const fn discovered(&self) -> Option<&BTreeSet<&'v str>> {
        self.discovered.as_ref()
    }

    pub(super) fn find_discovered(&self) -> Option<BTreeSet<&'v str>> {
        let lists =
            self.client_calls("server/discover").filter_map(|call| call.result()?.get("supportedVersions")?.as_array());
        let all: BTreeSet<_> = lists.flatten().filter_map(Value::as_str).collect();
        (!all.is_empty()).then_some(all)
    }

    /// Whether the server serves no revision of the legacy era; `None` where that is not known. Its own list may name but
    /// the modern revisions of several that it serves, so the legacy handshake must have been refused as well.
    pub const fn modern_only(&self) -> Option<bool> {
        self.modern_only
    }

    pub(super) fn find_modern_only(&self) -> Option<bool> {
        let served = self.served_revisions().unwrap_or_default();
        if self.initialized().is_some() || served.iter().any(|v| *v < R2026_07_28.as_str()) {
            return Some(false);
        }
        (!served.is_empty() && self.handshake_refused()).then_some(true)
    }

    /// Whether an `initialize` in the manner of the legacy era was answered with an error.
    fn handshake_refused(&self) -> bool {
        self.legacy_handshakes().any(|c| {
            let bare = || self.exchange(c.request.exchange);
            c.error().is_some() || bare().is_some_and(|x| matches!(x.status(), Some(400 | 404 | 405)))
        })
    }

    /// Every `initialize` in the manner of the legacy era: neither `_meta` nor, over HTTP, the version header names a
    /// modern revision. A server of both eras may take one that does for a modern request.
    pub fn legacy_handshakes(&self) -> impl Iterator<Item = Call<'v>> + '_ {
        let modern = |s: MessageAt<'_>| {
            let headed = || {
                self.exchange(s.exchange)
                    .and_then(|x| x.request_header("mcp-protocol-version"))
                    .is_some_and(|v| v >= R2026_07_28.as_str())
            };
            s.message.meta().is_some_and(|m| m.get(meta::PROTOCOL_VERSION).is_some()) || headed()
        };
        self.calls_by(Party::Client).filter(move |c| c.request.is("initialize") && !modern(c.request))
    }
}

/// The places of exchanges with the MCP server at a path to which messages were posted.
fn endpoint(all: &[Exchange<'_>]) -> Vec<usize> {
    let ours = |x: &Exchange<'_>| x.partner == Some(Party::Server);
    let posts = all.iter().filter(|x| ours(x) && x.is("POST") && !x.client_messages.is_empty());
    let paths: BTreeSet<_> = posts.map(Exchange::path).collect();
    let here = all.iter().enumerate().filter(|(_, x)| ours(x) && paths.contains(&x.path()));
    here.map(|(place, _)| place).collect()
}
