//! OpenTelemetry's conventions for generative AI: spans that execute a tool, in OTLP's JSON form. One sample for each trace.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::drafts::{Drafts, text};
use super::{MOST_SAMPLES, Unreadable};
use crate::call::Sample;

/// How many spans are read.
const MOST_SPANS: usize = 1_000_000;
/// How deep values of attributes may nest.
const DEEPEST: usize = 64;

struct Span<'v> {
    trace: &'v str,
    start: u64,
    end: u64,
    id: Option<String>,
    name: String,
    arguments: Option<Value>,
}

/// The calls of one document.
pub(super) fn read(document: &Value) -> Result<Vec<Sample>, Unreadable> {
    collect(std::slice::from_ref(document))
}

/// The calls of a file with one document a line.
pub(super) fn read_lines(file: &str) -> Result<Vec<Sample>, Unreadable> {
    let mut documents = Vec::new();
    for (index, line) in file.lines().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let bad = |_| Unreadable::new("not JSON", "one OTLP document a line").at(index + 1);
        documents.push(serde_json::from_str(line).map_err(bad)?);
    }
    collect(&documents)
}

fn collect(documents: &[Value]) -> Result<Vec<Sample>, Unreadable> {
    let list =
        |value: &'_ Value, member: &str| value.get(member).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut order: Vec<String> = Vec::new();
    let mut traces: HashMap<String, Vec<Span<'_>>> = HashMap::new();
    let mut count = 0;
    for document in documents {
        let resources = document.get("resourceSpans").and_then(Value::as_array).into_iter().flatten();
        let scopes = resources.filter_map(|resource| resource.get("scopeSpans").and_then(Value::as_array)).flatten();
        for span in scopes.filter_map(|scope| scope.get("spans").and_then(Value::as_array)).flatten() {
            count += 1;
            if count > MOST_SPANS {
                return Err(Unreadable::new("more than 1,000,000 spans", "several files"));
            }
            let attributes = list(span, "attributes");
            if let Some(span) = read_span(span, &attributes) {
                if !traces.contains_key(span.trace) {
                    order.push(span.trace.to_owned());
                }
                traces.entry(span.trace.to_owned()).or_default().push(span);
            }
        }
    }
    if order.is_empty() {
        return Err(Unreadable::new("no span executes a tool", "spans with gen_ai.operation.name = execute_tool"));
    }
    if order.len() > MOST_SAMPLES {
        return Err(Unreadable::new("more than 1,000,000 traces", "several files"));
    }
    order.into_iter().map(|trace| sample(&trace, traces.remove(&trace).unwrap_or_default())).collect()
}

/// Calls in the order in which they began; one that began after another had ended belongs to a later turn.
fn sample(trace: &str, mut spans: Vec<Span<'_>>) -> Result<Sample, Unreadable> {
    spans.sort_by_key(|span| span.start);
    let mut drafts = Drafts::default();
    let mut earliest_end = u64::MAX;
    for span in spans {
        if span.start >= earliest_end {
            drafts.next_turn();
            earliest_end = u64::MAX;
        }
        earliest_end = earliest_end.min(span.end);
        drafts.add(span.id.as_deref(), &span.name, span.arguments.as_ref())?;
    }
    let mut sample = drafts.finish();
    sample.case = Some(trace.to_owned());
    Ok(sample)
}

fn read_span<'v>(span: &'v Value, attributes: &[Value]) -> Option<Span<'v>> {
    let of = |name: &str| {
        let found = attributes.iter().find(|one| text(one, "key") == Some(name))?;
        Some(plain(found.get("value")?, DEEPEST))
    };
    let of_text = |name: &str| of(name).and_then(|value| value.as_str().map(str::to_owned));
    if of_text("gen_ai.operation.name").as_deref() != Some("execute_tool") {
        return None;
    }
    let time = |member: &str| match span.get(member) {
        Some(Value::String(text)) => text.parse().unwrap_or(0),
        Some(value) => value.as_u64().unwrap_or(0),
        None => 0,
    };
    Some(Span {
        trace: text(span, "traceId").unwrap_or_default(),
        start: time("startTimeUnixNano"),
        end: time("endTimeUnixNano"),
        id: of_text("gen_ai.tool.call.id"),
        name: of_text("gen_ai.tool.name").unwrap_or_default(),
        arguments: of("gen_ai.tool.call.arguments"),
    })
}

/// OTLP's `AnyValue` as plain JSON.
fn plain(value: &Value, room: usize) -> Value {
    let Some((kind, value)) = value.as_object().and_then(|members| members.iter().next()) else { return Value::Null };
    if room == 0 {
        return Value::Null;
    }
    let items = |value: &Value| value.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    match kind.as_str() {
        "stringValue" | "boolValue" | "doubleValue" => value.clone(),
        // A 64-bit integer is a text in the JSON form of protocol buffers.
        "intValue" => {
            value.as_str().and_then(|text| text.parse::<i64>().ok()).map_or_else(|| value.clone(), Value::from)
        }
        "arrayValue" => items(value).iter().map(|item| plain(item, room - 1)).collect(),
        "kvlistValue" => {
            let member = |one: &Value| {
                Some((text(one, "key")?.to_owned(), plain(one.get("value").unwrap_or(&Value::Null), room - 1)))
            };
            Value::Object(items(value).iter().filter_map(member).collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
