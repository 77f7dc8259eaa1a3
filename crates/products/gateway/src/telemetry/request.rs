//! The spans of one request: one for the client's request, one for each time it is carried to an upstream. A span that is
//! dropped before its end says that the client left.

use std::sync::{Arc, Mutex, PoisonError};

use net::service::{Answer, Call};
use sha2::{Digest as _, Sha256};
use wire::{RequestId, Transport, method};

use super::Telemetry;
use super::context::{Incoming, Outgoing, SpanContext};
use super::span::{Attribute, Kind, Span};
use crate::ids::hex;
use crate::metrics::is_failed;
use crate::settings::Sample;

/// How a request ended whose client did not wait for the answer.
const LEFT: &str = "cancelled";
/// A method that no revision has: a client may make up any number of them.
const UNKNOWN: &str = "_OTHER";

/// What the stages of one request add to its spans. Nothing where there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Option<Arc<Request>>);

#[derive(Debug)]
struct Request {
    telemetry: Arc<Telemetry>,
    context: SpanContext,
    state: Option<String>,
    baggage: Option<String>,
    /// Nothing where the trace is not sampled, and once it has ended.
    span: Mutex<Option<Box<Span>>>,
}

/// The span of a client's request.
#[derive(Debug)]
pub(crate) struct RequestSpan(Arc<Request>);

/// The span of a request to an upstream.
#[derive(Debug)]
pub(crate) struct UpstreamSpan {
    request: Arc<Request>,
    context: SpanContext,
    span: Option<Box<Span>>,
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without random numbers, the id is the invalid one, which collectors drop.
    let _ = getrandom::fill(&mut bytes);
    bytes
}

impl Sample {
    /// Whether a trace has spans. By its id, every party decides the same way.
    fn takes(self, trace: [u8; 16], parent: Option<SpanContext>) -> bool {
        match self {
            Self::Parent => parent.is_none_or(|parent| parent.sampled),
            Self::Ratio(ratio) => {
                // The last 56 bits of an id are random (Trace Context level 2, 2.2.1.2).
                let random = u128::from_be_bytes(trace) as u64 & (u64::MAX >> 8);
                // As many of them as a number has digits for.
                ((random >> 4) as f64) < ratio * (1_u64 << 52) as f64
            }
        }
    }
}

impl Telemetry {
    /// The span of a request to this server begins.
    pub(crate) fn begin(self: &Arc<Self>, server: &str, call: &Call) -> RequestSpan {
        let incoming = Incoming::of(call);
        let trace = incoming.parent.map_or_else(random, |parent| parent.trace);
        let context = SpanContext { trace, span: random(), sampled: self.sample.takes(trace, incoming.parent) };
        let span = context.sampled.then(|| {
            let parent = incoming.parent.map(|parent| parent.span);
            let mut span = Box::new(started(Kind::Server, call, None, (context, parent)));
            span.state.clone_from(&incoming.state);
            span.link = incoming.link;
            let (RequestId::String(id) | RequestId::Number(id)) = call.id();
            span.set("jsonrpc.request.id", id.as_ref());
            span.set("mcp.protocol.version", call.context.revision.as_str());
            if let Some(id) = call.context.session.as_ref().and_then(|session| session.id()) {
                // Who knows the id may speak in the session.
                let digest = Sha256::digest(id.as_bytes());
                span.set("mcp.session.id", hex(digest.get(..16).unwrap_or_default()).as_str());
            }
            let (transport, protocol) = match call.context.transport {
                Transport::Stdio => ("pipe", None),
                Transport::WebSocket => ("tcp", Some("websocket")),
                Transport::StreamableHttp | Transport::HttpSse => ("tcp", Some("http")),
            };
            span.set("network.transport", transport);
            if let Some(protocol) = protocol {
                span.set("network.protocol.name", protocol);
            }
            span.set("proof.server", server);
            span
        });
        let Incoming { state, baggage, .. } = incoming;
        let telemetry = Arc::clone(self);
        RequestSpan(Arc::new(Request { telemetry, context, state, baggage, span: Mutex::new(span) }))
    }
}

/// A span with the name and the attributes that both sides have. `target` is the name in place of the client's.
fn started(kind: Kind, call: &Call, target: Option<&str>, (context, parent): (SpanContext, Option<[u8; 8]>)) -> Span {
    let asked = call.message.method().filter(|name| method::known_ever(name)).unwrap_or(UNKNOWN);
    let own = call.message.string_member("name");
    let (named, target) = match asked {
        "tools/call" => ("gen_ai.tool.name", target.or(own.as_deref())),
        "prompts/get" => ("gen_ai.prompt.name", target.or(own.as_deref())),
        // A URI is no name of few values, and may hold what a client looks for.
        _ => ("", None),
    };
    let name = target.map_or_else(|| asked.to_owned(), |target| format!("{asked} {target}"));
    let mut span = Span::begin(kind, &name, context, parent);
    span.set("mcp.method.name", asked);
    if let Some(target) = target {
        span.set(named, target);
    }
    if asked == "tools/call" {
        span.set("gen_ai.operation.name", "execute_tool");
    }
    span
}

fn ended(telemetry: &Telemetry, mut span: Box<Span>, answer: Option<&Answer>) {
    match answer.map(Answer::code) {
        None => span.fail(LEFT),
        Some(Some(code)) => {
            let code = code.to_string();
            span.set("rpc.response.status_code", code.as_str());
            span.fail(&code);
        }
        Some(None) if answer.is_some_and(is_failed) => span.fail("tool_error"),
        Some(None) => {}
    }
    span.end();
    telemetry.take(span);
}

impl Request {
    fn take(&self) -> Option<Box<Span>> {
        self.span.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl RequestSpan {
    /// What the stages of the request get.
    pub(crate) fn trace(&self) -> Trace {
        Trace(Some(Arc::clone(&self.0)))
    }

    /// The request is answered.
    pub(crate) fn end(self, answer: &Answer) {
        if let Some(span) = self.0.take() {
            ended(&self.0.telemetry, span, Some(answer));
        }
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            ended(&self.0.telemetry, span, None);
        }
    }
}

impl Trace {
    /// A stage has decided.
    pub(crate) fn stage(&self, name: &'static str, verdict: &'static str) {
        let Some(request) = &self.0 else { return };
        if let Some(span) = request.span.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            span.event(name, vec![("proof.verdict", verdict.into())]);
        }
    }

    /// The request is carried to an upstream, where its target has this name. `number` is its number in the log.
    pub(crate) fn carried(
        &self,
        (upstream, number): (&str, u64),
        call: &Call,
        target: Option<&str>,
    ) -> Option<UpstreamSpan> {
        let request = Arc::clone(self.0.as_ref()?);
        let context = SpanContext { span: random(), ..request.context };
        let span = context.sampled.then(|| {
            let mut span = Box::new(started(Kind::Client, call, target, (context, Some(request.context.span))));
            span.state.clone_from(&request.state);
            span.set("proof.upstream", upstream);
            span.set("proof.request", Attribute::Number(i64::try_from(number).unwrap_or(i64::MAX)));
            span
        });
        Some(UpstreamSpan { request, context, span })
    }
}

impl UpstreamSpan {
    /// What the request to the upstream says of its trace.
    pub(crate) fn outgoing(&self) -> Outgoing {
        let Request { state, baggage, .. } = &*self.request;
        Outgoing { context: self.context, state: state.clone(), baggage: baggage.clone() }
    }

    /// The request is answered.
    pub(crate) fn end(mut self, answer: &Answer) {
        if let Some(span) = self.span.take() {
            ended(&self.request.telemetry, span, Some(answer));
        }
    }
}

impl Drop for UpstreamSpan {
    fn drop(&mut self) {
        if let Some(span) = self.span.take() {
            ended(&self.request.telemetry, span, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, SpanContext};

    #[test]
    fn a_sample_is_a_share_of_traces_or_what_the_parent_says() {
        let trace = |first: u8| {
            let mut trace = [7; 16];
            trace[9] = first;
            trace
        };
        let parent = |sampled| Some(SpanContext { trace: trace(0), span: [1; 8], sampled });
        assert!(Sample::Parent.takes(trace(0), None) && Sample::Parent.takes(trace(255), parent(true)));
        assert!(!Sample::Parent.takes(trace(0), parent(false)));
        let quarter = Sample::Ratio(0.25);
        assert_eq!((0..=255).filter(|first| quarter.takes(trace(*first), parent(true))).count(), 64);
        assert!(!Sample::Ratio(0.0).takes([0; 16], parent(true)));
        assert!(Sample::Ratio(1.0).takes([255; 16], parent(false)));
    }
}
