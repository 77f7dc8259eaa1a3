//! Spans: which there are, what they say, what goes on to the server, and what a collector that is away costs.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use gateway::settings::{BudgetSettings, Sample, Settings, TelemetrySettings};
use serde_json::{Value, json};
use wire::Revision;

use crate::collector::Collector;
use crate::scene::Scene;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const UNSAMPLED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

fn with(telemetry: TelemetrySettings) -> Settings {
    Settings { telemetry: Some(telemetry), ..Settings::default() }
}

fn attribute<'s>(span: &'s Value, name: &str) -> Option<&'s str> {
    let all = span["attributes"].as_array().expect("attributes");
    let value = &all.iter().find(|one| one["key"] == name)?["value"];
    value["stringValue"].as_str().or(value["intValue"].as_str())
}

fn of_kind(spans: &[Value], kind: u8) -> &Value {
    let mut found = spans.iter().filter(|span| span["kind"] == kind);
    let first = found.next().unwrap_or_else(|| panic!("no span of kind {kind}: {spans:#?}"));
    assert!(found.next().is_none(), "several: {spans:#?}");
    first
}

/// The `_meta` that the server got last.
fn meta(scene: &Scene) -> Value {
    let mut seen = scene.seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.pop().expect("a call")["params"]["_meta"].clone()
}

#[tokio::test]
async fn a_call_is_a_span_within_the_clients_and_the_server_gets_it_as_its_parent() {
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        let collector = Collector::new(&[200]).await;
        let scene = Scene::new(revision, false, with(collector.settings())).await;
        let given = json!({ "traceparent": PARENT, "tracestate": "a=1", "baggage": "user=alice", "own.example/x": 7 });
        assert_eq!(scene.call("echo", &given, "").await.status, 200);
        let spans = collector.wait(2).await;
        let (root, call) = (of_kind(&spans, 2), of_kind(&spans, 3));
        for span in [root, call] {
            assert_eq!((&span["traceId"], &span["traceState"]), (&json!(TRACE), &json!("a=1")));
            assert_eq!(span["name"], "tools/call echo");
            assert_eq!(attribute(span, "mcp.method.name"), Some("tools/call"));
            assert_eq!(attribute(span, "gen_ai.tool.name"), Some("echo"));
            assert_eq!(attribute(span, "gen_ai.operation.name"), Some("execute_tool"));
            assert_eq!((attribute(span, "error.type"), span.get("status")), (None, None));
        }
        assert_eq!((&root["parentSpanId"], &call["parentSpanId"]), (&json!("b7ad6b7169203331"), &root["spanId"]));
        assert_eq!(attribute(root, "jsonrpc.request.id"), Some("7"));
        assert_eq!(attribute(root, "mcp.protocol.version"), Some("2026-07-28"));
        assert_eq!(attribute(root, "network.transport"), Some("tcp"));
        assert_eq!(attribute(call, "proof.upstream"), Some("up\"1"));
        let meta = meta(&scene);
        let parent = format!("00-{TRACE}-{}-01", call["spanId"].as_str().expect("an id"));
        assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(parent), &json!("a=1")));
        assert_eq!((&meta["baggage"], &meta["own.example/x"]), (&json!("user=alice"), &json!(7)));
        let requests = collector.requests();
        assert!(requests[0].head.starts_with("POST /v1/traces "), "{:?}", requests[0].head);
        let resource = requests[0].body.pointer("/resourceSpans/0/resource/attributes/0").expect("an attribute");
        assert_eq!(resource, &json!({ "key": "service.name", "value": { "stringValue": "proof-gateway" } }));
        scene.end().await;
    }
}

#[tokio::test]
async fn a_bad_trace_goes_nowhere_and_a_header_counts_where_meta_says_nothing() {
    let collector = Collector::new(&[200]).await;
    let scene = Scene::new(Revision::R2025_06_18, false, with(collector.settings())).await;
    let bad = json!({ "traceparent": "00-cafe-01", "tracestate": "evil", "baggage": "no baggage" });
    scene.call("echo", &bad, "").await;
    let spans = collector.wait(2).await;
    let root = of_kind(&spans, 2);
    assert!(root.get("parentSpanId").is_none() && root["traceId"].as_str().is_some_and(|id| id != "0".repeat(32)));
    let got = meta(&scene);
    assert!(got["traceparent"].as_str().is_some_and(|text| text.contains(root["traceId"].as_str().expect("an id"))));
    assert_eq!((got.get("tracestate"), got.get("baggage")), (None, None));
    let headers = format!("traceparent: {PARENT}\r\ntracestate: h=1\r\n");
    scene.call("echo", &json!({}), &headers).await;
    let spans = collector.wait(4).await;
    assert_eq!(of_kind(&spans[2..], 2)["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(meta(&scene)["tracestate"], "h=1");
    // A legacy session, whose request has no `_meta` at all.
    let session = scene.open("").await;
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#;
    let headers = format!("{headers}mcp-session-id: {session}\r\nmcp-protocol-version: 2025-06-18\r\n");
    assert_eq!(scene.ask("POST /mcp", &headers, body).await.status, 200);
    let spans = collector.wait(7).await;
    assert!(meta(&scene)["traceparent"].as_str().is_some_and(|text| text.contains(TRACE)));
    let root = spans.iter().find(|span| span["kind"] == 2 && attribute(span, "jsonrpc.request.id") == Some("2"));
    let root = root.expect("a span");
    let named = attribute(root, "mcp.session.id").expect("a session");
    assert!(named != session && named.len() == 32, "{named}");
    scene.end().await;
}

#[tokio::test]
async fn spans_say_how_a_call_failed_and_never_what_was_in_it() {
    let collector = Collector::new(&[200]).await;
    let scene = Scene::new(Revision::R2026_07_28, true, with(collector.settings())).await;
    let token = scene.token(|_| ());
    let bearer = format!("authorization: Bearer {token}\r\n");
    for (tool, error) in [("fails", "tool_error"), ("none", "-32602")] {
        scene.call(tool, &json!({}), &bearer).await;
        let before = if tool == "fails" { 0 } else { 2 };
        let spans = collector.wait(before + 2).await;
        for span in &spans[before..] {
            assert_eq!((attribute(span, "error.type"), &span["status"]), (Some(error), &json!({ "code": 2 })));
        }
        let code = attribute(&spans[before], "rpc.response.status_code");
        assert_eq!(code, Some(error).filter(|_| tool == "none"));
    }
    let sent = format!("{:?}", collector.requests());
    for secret in ["hunter2", token.as_str(), "done", "Unknown tool"] {
        assert!(!sent.contains(secret), "{secret}: {sent}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_refused_call_has_its_stage_and_no_span_of_an_upstream() {
    let collector = Collector::new(&[200]).await;
    let settings = Settings { budgets: Some(BudgetSettings::default()), ..with(collector.settings()) };
    let scene = Scene::new(Revision::R2026_07_28, false, settings).await;
    scene.call("echo", &json!({ "dev.proofhouse/deadline-ms": 1 }), "").await;
    let spans = collector.wait(1).await;
    scene.gateway.shutdown().await;
    assert_eq!(collector.spans().len(), 1, "{spans:#?}");
    assert_eq!(spans[0]["events"][0]["name"], "budget");
    scene.end().await;
}

#[tokio::test]
async fn what_is_not_sampled_has_no_span_and_still_a_trace() {
    let collector = Collector::new(&[200]).await;
    for (sample, given, flag) in [
        (Sample::Parent, UNSAMPLED, Some("00")),
        (Sample::Ratio(0.0), PARENT, Some("00")),
        (Sample::Ratio(1.0), UNSAMPLED, Some("01")),
    ] {
        let settings = TelemetrySettings { sample, ..collector.settings() };
        let before = collector.spans().len();
        let scene = Scene::new(Revision::R2026_07_28, false, with(settings)).await;
        scene.call("echo", &json!({ "traceparent": given }), "").await;
        let parent = meta(&scene)["traceparent"].as_str().map(str::to_owned).expect("a parent");
        assert!(parent.contains(TRACE) && parent != given, "{parent}");
        assert_eq!(parent.rsplit('-').next(), flag, "{sample:?}");
        // What waits is sent when the gateway ends.
        scene.end().await;
        let count = if flag == Some("01") { 2 } else { 0 };
        assert_eq!(collector.spans().len() - before, count, "{sample:?}");
    }
}

#[tokio::test]
async fn without_telemetry_a_trace_passes_as_it_comes() {
    let scene = Scene::new(Revision::R2026_07_28, false, Settings::default()).await;
    scene.call("echo", &json!({ "traceparent": PARENT }), "").await;
    assert_eq!(meta(&scene)["traceparent"], PARENT);
    assert!(!scene.metrics().await.contains("spans"));
    scene.end().await;
}

#[tokio::test]
async fn a_collector_that_is_away_costs_spans_and_nothing_else() {
    // One that refuses connections, one that never answers, one that fails.
    let gone = {
        let listener = std::net::TcpListener::bind(crate::scene::LOCAL).expect("a free port");
        format!("http://{}/v1/traces", listener.local_addr().expect("an address"))
    };
    let gone = TelemetrySettings::new(net::client::HttpAddress::new(url::Url::parse(&gone).expect("a URL")));
    let (silent, failing) = (Collector::new(&[0]).await, Collector::new(&[500]).await);
    for (telemetry, counts) in [(gone, true), (silent.settings(), false), (failing.settings(), true)] {
        let scene = Scene::new(Revision::R2026_07_28, false, with(telemetry)).await;
        scene.call("echo", &json!({}), "").await;
        let begun = Instant::now();
        for _ in 0..20 {
            assert_eq!(scene.call("echo", &json!({}), "").await.status, 200);
        }
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        let dropped = "proof_gateway_spans_dropped_total{reason=\"not_taken\"} 42\n";
        for _ in 0..if counts { 300 } else { 0 } {
            if scene.metrics().await.contains(dropped) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(scene.metrics().await.contains(dropped), counts, "{}", scene.metrics().await);
        let begun = Instant::now();
        scene.end().await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn a_collector_that_is_busy_gets_the_batch_once_more() {
    let collector = Collector::new(&[503, 200]).await;
    let scene = Scene::new(Revision::R2026_07_28, false, with(collector.settings())).await;
    scene.call("echo", &json!({}), "").await;
    collector.wait(2).await;
    let sent = "proof_gateway_spans_sent_total 2\n";
    for _ in 0..100 {
        if scene.metrics().await.contains(sent) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let page = scene.metrics().await;
    assert!(page.contains(sent), "{page}");
    crate::exposition::read(&page).unwrap_or_else(|why| panic!("{why}"));
    scene.end().await;
}
