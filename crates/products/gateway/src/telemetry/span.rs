//! A span, and its form in OTLP/JSON (opentelemetry-proto 1.x, trace.proto). Knows no request.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::context::SpanContext;
use crate::ids::hex;

/// The most events of one span.
const MOST_EVENTS: usize = 32;
/// The longest text of an attribute and of a name, in characters.
const LONGEST: usize = 128;

/// Whose side of a call it is (trace.proto, `SpanKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Server = 2,
    Client = 3,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Text(String),
    Number(i64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.chars().take(LONGEST).collect())
    }
}

type Attributes = Vec<(&'static str, Attribute)>;

/// A span.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) context: SpanContext,
    pub(super) parent: Option<[u8; 8]>,
    pub(super) state: Option<String>,
    pub(super) link: Option<SpanContext>,
    kind: Kind,
    name: String,
    start: u64,
    end: u64,
    attributes: Attributes,
    events: Vec<(u64, &'static str, Attributes)>,
    is_error: bool,
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Span {
    /// A span that begins now.
    pub(super) fn begin(kind: Kind, name: &str, context: SpanContext, parent: Option<[u8; 8]>) -> Self {
        Self {
            context,
            parent,
            state: None,
            link: None,
            kind,
            name: name.chars().take(LONGEST).collect(),
            start: now(),
            end: 0,
            attributes: Vec::with_capacity(12),
            events: Vec::new(),
            is_error: false,
        }
    }

    pub(super) fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        self.attributes.push((name, value.into()));
    }

    /// Something that happened now.
    pub(super) fn event(&mut self, name: &'static str, attributes: Attributes) {
        if self.events.len() < MOST_EVENTS {
            self.events.push((now(), name, attributes));
        }
    }

    /// It failed in this way.
    pub(super) fn fail(&mut self, error: &str) {
        self.set("error.type", error);
        self.is_error = true;
    }

    /// It ends now.
    pub(super) fn end(&mut self) {
        // The clock of the system may be set back.
        self.end = now().max(self.start);
    }

    pub(super) fn json(&self) -> Value {
        let mut span = json!({
            "traceId": hex(&self.context.trace),
            "spanId": hex(&self.context.span),
            "flags": u32::from(self.context.sampled),
            "name": self.name,
            "kind": self.kind as i32,
            "startTimeUnixNano": self.start.to_string(),
            "endTimeUnixNano": self.end.to_string(),
            "attributes": attributes(&self.attributes),
        });
        let event = |(time, name, own): &(u64, &'static str, Attributes)| json!({ "timeUnixNano": time.to_string(), "name": name, "attributes": attributes(own) });
        let link = |link: &SpanContext| json!([{ "traceId": hex(&link.trace), "spanId": hex(&link.span) }]);
        let members = [
            ("parentSpanId", self.parent.map(|parent| json!(hex(&parent)))),
            ("traceState", self.state.as_ref().map(|state| json!(state))),
            ("links", self.link.as_ref().map(link)),
            ("events", (!self.events.is_empty()).then(|| self.events.iter().map(event).collect())),
            // trace.proto, `STATUS_CODE_ERROR`. Its description may hold what a server says of arguments: it stays away.
            ("status", self.is_error.then(|| json!({ "code": 2 }))),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                span[name] = value;
            }
        }
        span
    }
}

pub(super) fn attributes(all: &[(&'static str, Attribute)]) -> Value {
    let value = |value: &Attribute| match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        // 64-bit numbers are texts in the JSON form of Protocol Buffers.
        Attribute::Number(number) => json!({ "intValue": number.to_string() }),
    };
    all.iter().map(|(key, one)| json!({ "key": key, "value": value(one) })).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Attribute, Kind, LONGEST, MOST_EVENTS, Span};
    use crate::telemetry::context::SpanContext;

    #[test]
    fn a_span_has_the_json_form_of_otlp() {
        let context = SpanContext { trace: [1; 16], span: [2; 8], sampled: true };
        let mut span = Span::begin(Kind::Client, "tools/call echo", context, Some([3; 8]));
        span.set("mcp.method.name", "tools/call");
        span.set("server.port", Attribute::Number(80));
        for _ in 0..=MOST_EVENTS {
            span.event("access", vec![("proof.verdict", "allowed".into())]);
        }
        span.fail("-32602");
        span.end();
        let value = span.json();
        assert_eq!((&value["traceId"], &value["spanId"]), (&json!("01".repeat(16)), &json!("02".repeat(8))));
        assert_eq!((&value["parentSpanId"], &value["kind"]), (&json!("03".repeat(8)), &json!(3)));
        assert_eq!(
            value["attributes"][0],
            json!({ "key": "mcp.method.name", "value": { "stringValue": "tools/call" } })
        );
        assert_eq!(value["attributes"][1]["value"], json!({ "intValue": "80" }));
        assert_eq!(value["attributes"][2], json!({ "key": "error.type", "value": { "stringValue": "-32602" } }));
        assert_eq!(value["status"], json!({ "code": 2 }));
        assert_eq!(value["events"].as_array().map(Vec::len), Some(MOST_EVENTS));
        let time = |name: &str| value[name].as_str().and_then(|text| text.parse::<u64>().ok()).expect("a time");
        assert!(time("startTimeUnixNano") > 0 && time("endTimeUnixNano") >= time("startTimeUnixNano"));
        let long = Span::begin(Kind::Server, &"x".repeat(LONGEST + 1), context, None).json();
        assert_eq!(long["name"].as_str().map(str::len), Some(LONGEST));
        assert!(
            ["parentSpanId", "events", "status", "links", "traceState"].iter().all(|name| long.get(name).is_none())
        );
    }
}
