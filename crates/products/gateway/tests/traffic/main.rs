//! How much clients may ask for, and what happens while a server fails, over real HTTP.

mod retries;
mod scene;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::settings::{Amount, BreakerSettings, ConcurrencyRule, CostSettings, RateKey, RateRule, TrafficSettings};
use serde_json::{Value, json};

use crate::scene::{Act, Options, Scene};

const DAY: Duration = Duration::from_hours(24);

fn rate(per: &[RateKey], tools: Option<&[&str]>, burst: u32, period: Duration) -> RateRule {
    let tools = tools.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    RateRule { per: per.to_vec(), tools, allow: Amount { count: 1, period }, burst }
}

fn rates(rates: Vec<RateRule>) -> TrafficSettings {
    TrafficSettings { rates, ..TrafficSettings::default() }
}

fn costs(count: u32) -> TrafficSettings {
    let tools = vec![("write".to_owned(), 3), ("secret".to_owned(), 100)];
    let costs = CostSettings { allow: Amount { count, period: DAY }, default: 1, tools };
    TrafficSettings { costs: Some(costs), ..TrafficSettings::default() }
}

fn breakers(failures: usize, of: usize, open: Duration) -> TrafficSettings {
    let breakers = BreakerSettings { failures, of, open, ..BreakerSettings::default() };
    TrafficSettings { breakers: Some(breakers), ..TrafficSettings::default() }
}

async fn scene(traffic: impl Into<Option<TrafficSettings>>) -> Scene {
    Scene::new(Options { traffic: traffic.into(), ..Options::default() }).await
}

#[tokio::test]
async fn each_principal_has_its_own_rate() {
    let scene = scene(rates(vec![rate(&[RateKey::Principal], None, 3, DAY)])).await;
    for _ in 0..3 {
        scene.call("ann", "read").await.worked();
    }
    let after = scene.call("ann", "read").await.is_too_many("rate-limited");
    assert!((86_000_000..=86_400_000).contains(&after), "{after}");
    scene.ask("ann", "tools/list", json!({})).await.is_too_many("rate-limited");
    assert_eq!(scene.script.take().len(), 3, "what is refused is not sent");
    scene.call("bob", "read").await.worked();
    assert_eq!(scene.status("/refused_total/rate"), 2);
    scene.end().await;
}

#[tokio::test]
async fn older_clients_get_the_status_too() {
    let scene = scene(rates(vec![rate(&[RateKey::Principal], None, 1, DAY)])).await;
    let authorization = scene.authorization("ann");
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {},
        "protocolVersion": "2025-11-25", "clientInfo": { "name": "c", "version": "1" } } });
    let opened = scene.http("POST /mcp", &authorization, &open.to_string()).await;
    opened.worked();
    let session = opened.head.lines().find(|line| line.starts_with("mcp-session-id")).expect("a session");
    let headers = format!("{authorization}{session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "read" } });
    scene.http("POST /mcp", &headers, &call.to_string()).await.is_too_many("rate-limited");
    scene.end().await;
}

/// A request that is denied counts in rates for every request, and in no other; nor does it cost anything.
#[tokio::test]
async fn who_asks_for_what_is_denied_is_limited_too() {
    let every = rate(&[RateKey::Principal], None, 4, DAY);
    let of_tools = rate(&[RateKey::Principal, RateKey::Tool], Some(&["*"]), 1, DAY);
    let costs = costs(1).costs;
    let traffic = Some(TrafficSettings { costs, ..rates(vec![every, of_tools]) });
    let scene = Scene::new(Options { traffic, denied: &["secret"], ..Options::default() }).await;
    for _ in 0..2 {
        assert_eq!(scene.call("ann", "secret").await.failure(), "item-unknown");
    }
    scene.call("ann", "read").await.worked();
    let narrow = scene.call("ann", "read").await;
    narrow.is_too_many("rate-limited");
    assert_eq!(narrow.data()["per"], json!(["principal", "tool"]));
    let wide = scene.call("ann", "secret").await;
    wide.is_too_many("rate-limited");
    assert_eq!(wide.data()["per"], json!(["principal"]));
    scene.end().await;
}

#[tokio::test]
async fn a_refused_call_may_come_again_when_it_says() {
    let scene = scene(rates(vec![rate(&[RateKey::Tool], None, 1, Duration::from_millis(700))])).await;
    scene.call("ann", "read").await.worked();
    let after = scene.call("bob", "read").await.is_too_many("rate-limited");
    scene.call("bob", "write").await.worked();
    tokio::time::sleep(Duration::from_millis(after)).await;
    scene.call("bob", "read").await.worked();
    scene.end().await;
}

#[tokio::test]
async fn a_principal_spends_what_it_has() {
    let scene = Scene::new(Options { traffic: Some(costs(5)), cached: &["read"], ..Options::default() }).await;
    scene.call("ann", "read").await.worked();
    for _ in 0..5 {
        scene.call("ann", "read").await.worked();
    }
    assert_eq!(scene.script.take(), ["read"], "the cache answers, and that costs nothing");
    scene.call("ann", "write").await.worked();
    let refused = scene.call("ann", "write").await;
    assert!(refused.is_too_many("cost-used-up") >= 86_000_000);
    assert_eq!((&refused.data()["cost"], &refused.data()["left"]), (&json!(3), &json!(1)));
    scene.call("ann", "plain").await.worked();
    scene.call("bob", "write").await.worked();
    let never = scene.call("bob", "secret").await;
    assert_eq!((never.status, never.failure()), (200, "cost-used-up"), "{never:?}");
    assert_eq!((&never.data()["retryable"], &never.data()["retry_after_ms"]), (&json!(false), &Value::Null));
    // Lists cost nothing, and another section changes no account.
    scene.ask("ann", "tools/list", json!({})).await.worked();
    let rates = vec![rate(&[RateKey::Server], None, 100, DAY)];
    scene.change(Some(TrafficSettings { rates, ..costs(5) }));
    scene.call("ann", "plain").await.is_too_many("cost-used-up");
    scene.end().await;
}

#[tokio::test]
async fn what_was_not_sent_costs_nothing() {
    let scene = scene(costs(2)).await;
    scene.call("ann", "plain").await.worked();
    scene.stop_upstream().await;
    for _ in 0..3 {
        let got = scene.call("ann", "plain").await;
        assert_eq!((got.failure(), &got.data()["outcome"]), ("server-unreachable", &json!("not run")), "{got:?}");
    }
    scene.start_upstream().await;
    scene.script.next(&[Act::Cut]);
    assert_eq!(scene.call("ann", "plain").await.failure(), "no-answer");
    scene.call("ann", "plain").await.is_too_many("cost-used-up");
    scene.end().await;
}

#[tokio::test]
async fn a_server_gets_so_many_at_a_time() {
    let rule = |at_once, queue, ms| {
        let wait = Duration::from_millis(ms);
        let rule = ConcurrencyRule { upstream: Some("hand".to_owned()), at_once, per_principal: None, queue, wait };
        TrafficSettings { concurrency: vec![rule], ..TrafficSettings::default() }
    };
    let scene = scene(rule(2, 20, 30_000)).await;
    let slow = Act::Slow(Duration::from_millis(20));
    scene.script.next(&[slow; 12]);
    for got in scene.calls("ann", "write", 12).await {
        got.worked();
    }
    assert_eq!(scene.script.take().len(), 12);
    assert_eq!(scene.script.running(), (0, 2));
    // Without a queue, the next one is refused at once; with one, after its time.
    for (queue, wait) in [(0, 30_000), (1, 50)] {
        scene.change(Some(rule(1, queue, wait)));
        scene.script.next(&[Act::Slow(Duration::from_millis(2500))]);
        let held = scene.call("ann", "write");
        let other = async {
            scene.script.wait_for(1).await;
            let begun = Instant::now();
            let got = scene.call("bob", "read").await;
            assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
            got
        };
        let (held, other) = tokio::join!(held, other);
        held.worked();
        assert_eq!(other.is_too_many("too-many-at-once"), 1000);
        assert_eq!(scene.script.take(), ["write"]);
    }
    assert_eq!(scene.status("/refused_total/concurrency"), 2);
    assert_eq!(scene.status("/places"), json!([{ "upstream": "hand", "running": 0, "waiting": 0 }]));
    scene.end().await;
}

#[tokio::test]
async fn a_server_that_fails_is_left_alone_and_tried_again() {
    let open = Duration::from_millis(1500);
    let scene = scene(breakers(3, 5, open)).await;
    // What a tool or its server says is no failure.
    scene.script.next(&[Act::Fail, Act::Refuse, Act::Status(429, None), Act::Status(404, None), Act::Fail]);
    for _ in 0..5 {
        assert_ne!(scene.call("ann", "write").await.failure(), "breaker-open");
    }
    scene.script.next(&[Act::Cut, Act::Status(500, None), Act::Cut]);
    for failure in ["no-answer", "status-failed", "no-answer"] {
        assert_eq!(scene.call("ann", "write").await.failure(), failure);
    }
    let opened = Instant::now();
    assert_eq!(scene.script.take().len(), 8);
    let got = scene.call("bob", "read").await;
    let data = got.data();
    assert_eq!(
        (got.failure(), &data["category"], &data["outcome"]),
        ("breaker-open", &json!("UPSTREAM_FAILURE"), &json!("not run"))
    );
    assert!(data["retry_after_ms"].as_u64().is_some_and(|after| (1..=1500).contains(&after)), "{data}");
    assert!(scene.script.take().is_empty() && opened.elapsed() < open);
    let state = scene.status("/breakers/0");
    assert_eq!((&state["upstream"], &state["state"]), (&json!("hand"), &json!("open")));
    let page = scene.http("GET /metrics", "", "").await.body;
    assert!(page.contains("breaker_state{upstream=\"hand\",tool=\"\"} 2\n"), "{page}");
    assert!(
        page.contains("breakers_opened_total 1\n") && page.contains("traffic_refused_total{reason=\"breaker\"} 1\n")
    );
    tokio::time::sleep(open).await;
    // One tries. It fails, and the next one has to wait again.
    scene.script.next(&[Act::Cut]);
    assert_eq!(scene.call("ann", "write").await.failure(), "no-answer");
    assert_eq!(scene.call("ann", "write").await.failure(), "breaker-open");
    tokio::time::sleep(open).await;
    scene.script.next(&[Act::Slow(Duration::from_millis(700))]);
    let others = async {
        scene.script.wait_for(1).await;
        scene.calls("bob", "read", 3).await
    };
    let (probe, others) = tokio::join!(scene.call("ann", "write"), others);
    probe.worked();
    assert!(others.iter().all(|got| got.failure() == "breaker-open"), "{others:?}");
    scene.call("bob", "read").await.worked();
    assert_eq!(scene.script.take(), ["write", "write", "read"]);
    assert_eq!(scene.status("/breakers/0/state"), "closed");
    scene.end().await;
}

/// A client that leaves while its request tries the server decides nothing, and the next one tries.
#[tokio::test]
async fn a_client_that_leaves_does_not_keep_a_breaker_open() {
    let open = Duration::from_millis(200);
    let scene = Arc::new(scene(breakers(1, 1, open)).await);
    scene.script.next(&[Act::Cut, Act::Slow(Duration::from_mins(1))]);
    assert_eq!(scene.call("ann", "write").await.failure(), "no-answer");
    tokio::time::sleep(open).await;
    let own = Arc::clone(&scene);
    let leaving = tokio::spawn(async move { own.call("ann", "write").await });
    scene.script.wait_for(1).await;
    assert_eq!(scene.call("bob", "read").await.failure(), "breaker-open");
    leaving.abort();
    assert!(leaving.await.is_err());
    scene.script.wait_for(0).await;
    scene.call("bob", "read").await.worked();
    assert_eq!(scene.script.take(), ["write", "write", "read"]);
}

#[tokio::test]
async fn without_traffic_nothing_changes() {
    let scene = scene(None).await;
    scene.script.next(&[Act::Cut; 8]);
    for _ in 0..8 {
        assert_eq!(scene.call("ann", "read").await.failure(), "no-answer");
    }
    assert_eq!(scene.script.take().len(), 8);
    assert_eq!(scene.gateway.status().get("traffic"), None);
    let page = scene.http("GET /metrics", "", "").await.body;
    assert!(page.contains("requests_total") && !page.contains("traffic") && !page.contains("breaker"), "{page}");
    scene.change(Some(rates(vec![rate(&[RateKey::Principal], None, 1, DAY)])));
    scene.call("ann", "read").await.worked();
    scene.call("ann", "read").await.is_too_many("rate-limited");
    scene.change(None);
    scene.call("ann", "read").await.worked();
    scene.end().await;
}
