//! What crosses the transport, altered: messages on their way in, bytes and heads on their way out. Knows no fault by name.

use std::sync::Arc;
use std::time::Duration;

use net::server::http::{
    Body, BufferedBody, Bytes, HeaderMap, HttpFuture, Layer, Limits, MESSAGES_PATH, Method, Next, Parts, Request,
    Response, SSE_PATH, StatusCode, WEBSOCKET_PATH,
};
use serde_json::Value;
use wire::http::{PROTOCOL_VERSION, SESSION_ID};
use wire::message::{Packet, parse};
use wire::{Revision, Transport};

use super::outgoing::{Alteration, Outgoing};
use super::sessions::KnownIds;
use super::state::State;
use super::valid_tokens::ValidTokens;
use super::{Active, Fault, IncomingMessage, Kind};

const AUTHORIZATION: &str = "authorization";

/// The faults of a server's transport.
#[derive(Debug)]
pub(super) struct FaultyTransport {
    pub(super) active: Active,
    /// The path of the Streamable HTTP endpoint.
    path: String,
    tokens: ValidTokens,
}

impl FaultyTransport {
    /// Those of `active` that show on one of the transports.
    pub(super) fn new(active: &Active, on: &[Transport]) -> Self {
        let shows = |fault: &&Fault| on.iter().any(|transport| fault.applies.runs_on(*transport));
        let faults = active.faults.iter().copied().filter(shows).collect();
        let active = Active { faults, state: Arc::clone(&active.state) };
        Self { active, path: String::new(), tokens: ValidTokens::default() }
    }

    /// Around the Streamable HTTP endpoint at `path`, which lets in who carries `token`.
    pub(super) fn around(self, path: &str, token: Option<&str>) -> Self {
        Self { path: path.to_owned(), tokens: ValidTokens::of(token), ..self }
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &'static Kind> {
        self.active.faults.iter().flat_map(|fault| fault.kinds())
    }

    /// Those that show over one of the transports.
    fn over(&self, transport: Transport) -> Vec<&'static Fault> {
        self.active.faults.iter().copied().filter(|fault| fault.applies.runs_on(transport)).collect()
    }

    /// Whether any alters messages that come in over a transport.
    fn hears(&self, over: Transport) -> bool {
        self.over(over).iter().flat_map(|fault| fault.kinds()).any(|kind| matches!(kind, Kind::Receives(_)))
    }

    /// A message that came in, as the faults let it through; `None` where none of them touches it.
    pub(super) fn receive(&self, over: Transport, text: &[u8], mut headers: Option<&mut HeaderMap>) -> Option<Vec<u8>> {
        let faults = self.over(over);
        let kinds = faults.iter().flat_map(|fault| fault.kinds());
        let mut edits = kinds.filter_map(|kind| if let Kind::Receives(edit) = kind { Some(edit) } else { None });
        let first = edits.next()?;
        let mut message: Value = serde_json::from_slice(text).ok().filter(Value::is_object)?;
        for edit in std::iter::once(first).chain(edits) {
            let headers = headers.as_deref_mut();
            edit(&mut IncomingMessage { message: &mut message, headers, state: &self.active.state });
        }
        Some(message.to_string().into_bytes())
    }

    fn head(&self, head: &mut Parts) {
        for fault in showing(&self.active.faults, head) {
            for kind in fault.kinds() {
                match kind {
                    Kind::Http(http) => (http.head)(head, &self.active.state),
                    Kind::Sessions(ids) => self.active.state.of::<KnownIds>().come(*ids, head),
                    _ => {}
                }
            }
        }
        let authorizes = |kind: &Kind| matches!(kind, Kind::Http(http) if (http.authorizes)(&head.uri, &head.headers));
        if self.kinds().any(authorizes)
            && let Some(token) = self.tokens.one_for(head.headers.get(SESSION_ID))
        {
            head.headers.insert(AUTHORIZATION, token);
        }
    }

    /// Alters the message that a POST brings, if it is one. A body too long or too slow is the endpoint's to refuse.
    async fn body(&self, head: &mut Parts, mut body: BufferedBody, limits: &Limits) -> BufferedBody {
        let over = match head.uri.path() {
            MESSAGES_PATH => Transport::HttpSse,
            path if path == self.path => Transport::StreamableHttp,
            _ => return body,
        };
        if head.method != Method::POST || !self.hears(over) {
            return body;
        }
        body.read_ahead(limits.body, limits.body_time).await;
        let Some(text) = body.whole().filter(|text| text.len() <= limits.body).cloned() else { return body };
        let alone = |text: &[u8]| matches!(parse(text), Ok(Packet::Message(_)));
        let heard = match over {
            Transport::StreamableHttp if alone(&text) => self.receive(over, &text, Some(&mut head.headers)),
            Transport::StreamableHttp => None,
            _ => self.receive(over, &text, None),
        };
        match heard.filter(|heard| over == Transport::HttpSse || alone(heard)) {
            Some(heard) => BufferedBody::from(Bytes::from(heard)),
            None => body,
        }
    }

    /// Remembers the token of a request that was let in.
    fn learn(&self, sent: &Parts, status: StatusCode) {
        let guarded = [self.path.as_str(), SSE_PATH, MESSAGES_PATH, WEBSOCKET_PATH].contains(&sent.uri.path());
        let token = sent.headers.get(AUTHORIZATION).filter(|_| guarded && status.is_success());
        if let Some(token) = token {
            self.tokens.remember(sent.headers.get(SESSION_ID), token);
        }
    }

    fn response(&self, asked: &Parts, response: &mut Outgoing<'_>) {
        let faults = showing(&self.active.faults, asked);
        for kind in faults.iter().flat_map(|fault| fault.kinds()) {
            match kind {
                Kind::Http(http) => (http.response)(asked, response),
                Kind::Sessions(ids) => {
                    response.state.of::<KnownIds>().go(*ids, response.headers);
                    response.pause = response.pause.max(ids.pause(*response.status));
                }
                _ => {}
            }
        }
        if !matches!(response.body, Alteration::None) {
            return;
        }
        if let Some(text) = &response.text {
            response.body = Alteration::Replaced(say(&faults, text.to_vec()).into());
            return;
        }
        let (asked, state) = (asked.clone(), Arc::clone(&self.active.state));
        response.body = Alteration::Edited(Box::new(move |event| {
            let said: Bytes = say_event(&faults, &event, &state).into();
            faults.iter().flat_map(|fault| fault.kinds()).fold(said, |event, kind| match kind {
                Kind::Http(http) => http.event.map_or(event.clone(), |edit| edit(&asked, event, &state)),
                _ => event,
            })
        }));
    }

    async fn answer(&self, request: Request, next: Next<'_>) -> Response {
        let (mut head, body) = request.into_parts();
        let asked = head.clone();
        self.head(&mut head);
        let body = self.body(&mut head, body, next.limits()).await;
        let sent = head.clone();
        let (mut head, body) = next.run(Request::from_parts(head, body)).await.into_parts();
        self.learn(&sent, head.status);
        let mut outgoing = Outgoing {
            status: &mut head.status,
            headers: &mut head.headers,
            text: if let Body::Whole(text) = &body { text.clone() } else { None },
            body: Alteration::None,
            pause: Duration::ZERO,
            state: &self.active.state,
        };
        self.response(&asked, &mut outgoing);
        let (alteration, pause) = (outgoing.body, outgoing.pause);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        Response::from_parts(head, alteration.of(body))
    }
}

impl Layer for FaultyTransport {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(self.answer(request, next))
    }

    fn text_in(&self, text: Vec<u8>) -> Vec<u8> {
        self.receive(Transport::WebSocket, &text, None).unwrap_or(text)
    }

    fn text_out(&self, text: Vec<u8>) -> Vec<Vec<u8>> {
        let faults = self.over(Transport::WebSocket);
        let after = further(&faults, &text, &self.active.state);
        [vec![say(&faults, text)], after].concat()
    }
}

/// The faults that show at the revision which a request's head names; all where it names none.
fn showing(faults: &[&'static Fault], asked: &Parts) -> Vec<&'static Fault> {
    let named = asked.headers.get(PROTOCOL_VERSION).and_then(|version| version.to_str().ok());
    let revision: Option<Revision> = named.and_then(|version| version.parse().ok());
    let transport = match asked.uri.path() {
        SSE_PATH | MESSAGES_PATH => Transport::HttpSse,
        WEBSOCKET_PATH => Transport::WebSocket,
        _ => Transport::StreamableHttp,
    };
    let shows = |fault: &&Fault| {
        fault.applies.runs_on(transport) && revision.is_none_or(|revision| fault.applies.covers(revision, transport))
    };
    faults.iter().copied().filter(shows).collect()
}

/// One text on its way out.
pub(super) fn say(faults: &[&'static Fault], text: Vec<u8>) -> Vec<u8> {
    faults.iter().flat_map(|fault| fault.kinds()).fold(text, |text, kind| match kind {
        Kind::Sends(edit) => match serde_json::from_slice::<Value>(&text) {
            Ok(mut value) => {
                edit(&mut value);
                value.to_string().into_bytes()
            }
            Err(_) => text,
        },
        Kind::Writes(edit) => edit(&text),
        _ => text,
    })
}

/// What is said after a text that goes out.
pub(super) fn further(faults: &[&'static Fault], text: &[u8], state: &State) -> Vec<Vec<u8>> {
    let follow = |kind: &Kind| if let Kind::Follows(follow) = kind { Some(*follow) } else { None };
    let follows: Vec<_> = faults.iter().flat_map(|fault| fault.kinds()).filter_map(follow).collect();
    if follows.is_empty() {
        return Vec::new();
    }
    let Ok(message) = serde_json::from_slice(text) else { return Vec::new() };
    follows.iter().filter_map(|follow| Some(follow(&message, state)?.to_string().into_bytes())).collect()
}

/// One event of a stream, and what follows it: only the data is a text.
fn say_event(faults: &[&'static Fault], event: &[u8], state: &State) -> Vec<u8> {
    let mut after = Vec::new();
    let lines = event.split_inclusive(|b| *b == b'\n').flat_map(|line| {
        match line.strip_prefix(b"data: ").and_then(|data| data.strip_suffix(b"\n")).filter(|data| !data.is_empty()) {
            Some(data) => {
                after.extend(further(faults, data, state));
                [b"data: ", say(faults, data.to_vec()).as_slice(), b"\n"].concat()
            }
            None => line.to_vec(),
        }
    });
    let mut said: Vec<u8> = lines.collect();
    for text in after {
        said.extend([b"data: ", text.as_slice(), b"\n\n"].concat());
    }
    said
}
