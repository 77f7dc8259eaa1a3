//! Budgets of time: what each call of a chain gets, what is refused before it is sent, and what comes too late.

mod attacked;
mod scene;

use std::time::{Duration, Instant};

use gateway::settings::{BudgetSettings, ClientBudget, ToolBudget};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use wire::Revision;

use crate::scene::{Scene, call, learn};

const MODERN: Revision = Revision::R2026_07_28;
const LEGACY: Revision = Revision::R2025_11_25;

/// 1,550 ms of work.
const STEPS: [&str; 5] = ["t200", "t150", "t300", "t400", "t500"];

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Calls each step; returns the answer of the first one that has no result, and its place.
async fn chain(client: &client::Client, name: &str) -> Result<(), (usize, Value)> {
    let meta = json!({ "dev.proofhouse/chain": name, "dev.proofhouse/plan": "work" });
    for (at, tool) in STEPS.iter().enumerate() {
        let answer = call(client, tool, &meta).await;
        if !answer["result"].is_object() {
            return Err((at, answer));
        }
    }
    Ok(())
}

fn budgets(chain: Duration) -> BudgetSettings {
    let steps = STEPS.map(str::to_owned).to_vec();
    BudgetSettings { chain, chains: vec![("work".to_owned(), steps)], ..BudgetSettings::default() }
}

/// Whether the whole chain ran with 1.6 s; and how it ended with 1 s, and which tools the server was asked for then.
async fn tried(
    scene: &Scene,
    client: &client::Client,
    attempt: u64,
) -> (bool, Result<(), (usize, Value)>, Vec<String>) {
    scene.seen.take();
    scene.change(budgets(ms(1600)));
    let whole = chain(client, &format!("whole {attempt}")).await;
    let is_whole = whole.is_ok() && scene.seen.take() == STEPS;
    scene.change(budgets(ms(1000)));
    let short = chain(client, &format!("short {attempt}")).await;
    (is_whole, short, scene.seen.take())
}

/// With 1.6 s all steps run; with 1 s the fourth is refused, and neither it nor the fifth reaches the server. The machine may
/// be busy: where a tool takes longer than its name says, all is tried again.
#[tokio::test]
async fn a_chain_has_as_much_time_as_it_has() {
    for revision in [MODERN, LEGACY] {
        let scene = Scene::new(revision, Some(budgets(ms(100_000)))).await;
        let client = scene.client(revision).await;
        learn(&client, &STEPS).await;
        let mut tries = Vec::new();
        let refused = loop {
            assert!(tries.len() < 8, "{revision}: {tries:?}");
            match tried(&scene, &client, tries.len() as u64).await {
                (true, Err((3, refused)), sent) if sent == STEPS[..3] => break refused,
                other => tries.push(other),
            }
        };
        let data = &refused["error"]["data"];
        assert_eq!(data["category"], "RESOURCE_EXHAUSTED", "{refused}");
        assert_eq!((&data["outcome"], &data["limit"]), (&json!("not run"), &json!("chain")), "{refused}");
        assert_eq!(data["retryable"], false, "{refused}");
        let (left, expected) = (data["left_ms"].as_u64(), data["expected_ms"].as_u64());
        assert!(left.is_some_and(|left| left <= 350), "{refused}");
        assert!(expected.is_some_and(|ms| (390..450).contains(&ms)), "{refused}");
        assert!(scene.count("refused_total") >= 1);
        client.close().await;
        scene.end().await;
    }
}

/// Before enough calls are known, the class of a tool says how long it takes.
#[tokio::test]
async fn an_unknown_tool_takes_as_long_as_its_class() {
    let scene = Scene::new(MODERN, Some(BudgetSettings::default())).await;
    let client = scene.client(MODERN).await;
    for (tool, expected) in [("read1", 500), ("search1", 2000), ("plain1", 2000), ("write1", 5000), ("ghost1", 2000)] {
        let with = |left: u64| json!({ "dev.proofhouse/deadline-ms": left });
        let refused = call(&client, tool, &with(expected - 1)).await;
        assert_eq!(refused["error"]["data"]["expected_ms"], expected, "{tool}: {refused}");
        assert_eq!(refused["error"]["data"]["limit"], "deadline", "{tool}: {refused}");
        assert_eq!(scene.seen.take(), [] as [&str; 0]);
        let answer = call(&client, tool, &with(expected + 200)).await;
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        assert_eq!(scene.seen.take(), [tool]);
    }
    // The configuration knows better.
    let tool = ToolBudget { expected: Some(ms(50)), ..ToolBudget::default() };
    scene.change(BudgetSettings { tools: vec![("wri*".to_owned(), tool)], ..BudgetSettings::default() });
    let answer = call(&client, "write1", &json!({ "dev.proofhouse/deadline-ms": 300 })).await;
    assert!(answer["result"].is_object(), "{answer}");
    // A client's deadline may be ignored.
    scene.change(BudgetSettings { deadlines: false, ..BudgetSettings::default() });
    let answer = call(&client, "write1", &json!({ "dev.proofhouse/deadline-ms": 1 })).await;
    assert!(answer["result"].is_object(), "{answer}");
    let bad = call(&client, "read1", &json!({ "dev.proofhouse/deadline-ms": "soon" })).await;
    assert_eq!(bad["error"]["code"], -32602, "{bad}");
    let bad = call(&client, "read1", &json!({ "dev.proofhouse/plan": "other" })).await;
    assert!(bad["error"]["message"].as_str().is_some_and(|text| text.contains("not configured")), "{bad}");
    client.close().await;
    scene.end().await;
}

#[tokio::test]
async fn a_call_ends_with_its_time_and_is_cancelled_at_its_server() {
    for revision in [MODERN, LEGACY] {
        let tool = ToolBudget { limit: Some(ms(300)), ..ToolBudget::default() };
        let budgets = BudgetSettings { tools: vec![("t*".to_owned(), tool)], ..BudgetSettings::default() };
        let scene = Scene::new(revision, Some(budgets)).await;
        let client = scene.client(revision).await;
        assert!(call(&client, "t1", &json!({})).await["result"].is_object());
        scene.seen.take();
        let begun = Instant::now();
        let cut = call(&client, "t5000", &json!({})).await;
        assert!(begun.elapsed() < ms(2500), "{:?}", begun.elapsed());
        let data = &cut["error"]["data"];
        assert_eq!((&data["limit"], &data["limit_ms"]), (&json!("tool"), &json!(300)), "{cut}");
        assert_eq!((&data["outcome"], &data["category"]), (&json!("unknown"), &json!("UPSTREAM_FAILURE")), "{cut}");
        assert_eq!(scene.count("exceeded_total/tool"), 1);
        let mut seen = scene.seen.take();
        for _ in 0..100 {
            if seen.len() > 1 {
                break;
            }
            tokio::time::sleep(ms(20)).await;
            seen.extend(scene.seen.take());
        }
        assert_eq!(seen, ["t5000", "cancelled"], "{revision}");
        assert!(call(&client, "t1", &json!({})).await["result"].is_object());
        // A server that ends what is cancelled gives no late answer.
        assert_eq!(scene.count("orphaned_responses_total"), 0);
        client.close().await;
        scene.end().await;
    }
}

/// A server that pays no attention to cancellation answers after 900 ms; it says what it was sent.
const DEAF: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$1" "$2"; }
while IFS= read -r line; do
  case $line in *'"id":'*) id=${line#*'"id":'}; id=${id%%[!0-9]*} ;; esac
  case $line in
    *'"initialize"'*) say "$id" '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"deaf","version":"1"}}' ;;
    *'"tools/list"'*) say "$id" '"result":{"tools":[{"name":"late","inputSchema":{"type":"object"}}]}' ;;
    *'notifications/cancelled'*) cancelled="cancelled ${line#*'"reason":'}" ;;
    *'"late"'*) (sleep 0.9; say "$id" '"result":{"content":[]}') & ;;
    *'"tools/call"'*) text=$(printf %s "$cancelled" | tr -d '"{}'); say "$id" "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$text\"}]}" ;;
  esac
done
"#;

#[tokio::test]
async fn an_answer_that_comes_too_late_is_counted() {
    let budgets = BudgetSettings { tool: ms(300), ..BudgetSettings::default() };
    let scene = Scene::script(DEAF, budgets).await;
    let client = scene.client(LEGACY).await;
    call(&client, "soon", &json!({})).await;
    let cut = call(&client, "late", &json!({})).await;
    assert_eq!(cut["error"]["data"]["outcome"], "unknown", "{cut}");
    assert_eq!(scene.count("orphaned_responses_total"), 0);
    let told = call(&client, "soon", &json!({})).await;
    assert!(told.to_string().contains("cancelled The time limit of the call is over"), "{told}");
    for _ in 0..100 {
        if scene.count("orphaned_responses_total") > 0 {
            break;
        }
        tokio::time::sleep(ms(50)).await;
    }
    assert_eq!(scene.count("orphaned_responses_total"), 1);
    let status = scene.gateway.status();
    let learnt = status["budgets"]["tools"].as_array().and_then(|all| all.iter().find(|one| one["tool"] == "late"));
    let p50 = learnt.and_then(|one| one["p50_ms"].as_f64());
    assert!(p50.is_some_and(|p50| p50 > 800.0), "its real time is learnt: {status}");
    let page = http(&scene, "GET /metrics", "", "").await;
    assert!(page.contains("\norphaned_responses_total 1\n"), "{page}");
    assert!(page.contains("\nbudget_exceeded_total{limit=\"tool\"} 1\n"), "{page}");
    client.close().await;
    scene.end().await;
}

/// Asks for roots in the middle of a call.
const ASKING: &str = r#"
while IFS= read -r line; do
  case $line in *'"id":'*) id=${line#*'"id":'}; id=${id%%[!0-9]*} ;; esac
  case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"asking","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"roots":'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$call" ;;
    *'"tools/call"'*) call=$id; printf '{"jsonrpc":"2.0","id":900,"method":"roots/list"}\n' ;;
  esac
done
"#;

#[tokio::test]
async fn the_time_that_a_client_takes_to_answer_a_question_does_not_count() {
    let scene = Scene::script(ASKING, BudgetSettings { tool: ms(400), ..BudgetSettings::default() }).await;
    let client = scene.slow_client(LEGACY, ms(900)).await;
    let begun = Instant::now();
    let answer = call(&client, "ask", &json!({})).await;
    assert!(answer["result"].is_object() && begun.elapsed() >= ms(900), "{answer}");
    let status = scene.gateway.status();
    let p50 = status.pointer("/budgets/tools/0/p50_ms").and_then(Value::as_f64);
    assert!(p50.is_some_and(|p50| p50 < 400.0), "only its own time is learnt: {status}");
    client.close().await;
    scene.end().await;
}

/// Of a plan, each step has its share, and what it does not use is there for the others.
#[tokio::test]
async fn a_step_leaves_time_for_the_steps_after_it() {
    let tool = |expected: u64, least: u64| ToolBudget {
        expected: Some(ms(expected)),
        least: Some(ms(least)),
        ..ToolBudget::default()
    };
    let tools = vec![("t4000".to_owned(), tool(300, 50)), ("t1".to_owned(), tool(300, 50))];
    let chain = ms(2400);
    let scene = Scene::new(LEGACY, Some(BudgetSettings { chain, tools, ..BudgetSettings::default() })).await;
    let client = scene.client(LEGACY).await;
    let plan = |steps: &[&str], chain: &str| json!({ "dev.proofhouse/plan": steps, "dev.proofhouse/chain": chain });
    let limit = |answer: &Value| answer["error"]["data"]["limit_ms"].as_u64().expect("a limit");
    let third = call(&client, "t4000", &plan(&["t4000", "t1", "t1"], "a")).await;
    assert_eq!(third["error"]["data"]["limit"], "plan", "{third}");
    assert!((700..=800).contains(&limit(&third)), "{third}");
    assert!(call(&client, "t1", &plan(&["t1", "t4000"], "b")).await["result"].is_object());
    let rest = call(&client, "t4000", &json!({ "dev.proofhouse/chain": "b" })).await;
    assert_eq!(rest["error"]["data"]["limit"], "chain", "{rest}");
    assert!((2000..2400).contains(&limit(&rest)), "{rest}");
    client.close().await;
    scene.end().await;
}

#[tokio::test]
async fn calls_belong_to_the_chain_that_they_name_or_to_their_session() {
    let budgets = BudgetSettings { chain: ms(1500), session_gap: ms(1500), ..BudgetSettings::default() };
    let scene = Scene::new(LEGACY, Some(budgets)).await;
    let client = scene.client(LEGACY).await;
    let trace = |n: u8| json!({ "traceparent": format!("00-{}{n}-b7ad6b7169203331-01", "a".repeat(31)) });
    let is_ok = |answer: &Value| answer["result"].is_object();
    assert!(is_ok(&call(&client, "read1", &json!({})).await));
    assert!(is_ok(&call(&client, "read1", &trace(1)).await));
    tokio::time::sleep(ms(1200)).await;
    // Less than half a second is left in the session and in the trace; another trace has its own time.
    let refused = call(&client, "read1", &json!({})).await;
    assert_eq!(refused["error"]["data"]["limit"], "session", "{refused}");
    assert_eq!(refused["error"]["data"]["retryable"], true, "{refused}");
    let again = refused["error"]["data"]["retry_after_ms"].as_u64().expect("a time");
    assert_eq!(call(&client, "read1", &trace(1)).await["error"]["data"]["limit"], "chain");
    assert!(is_ok(&call(&client, "read1", &trace(2)).await));
    let named = json!({ "traceparent": trace(1)["traceparent"], "dev.proofhouse/chain": "another" });
    assert!(is_ok(&call(&client, "read1", &named).await));
    let other = scene.client(LEGACY).await;
    assert!(is_ok(&call(&other, "read1", &json!({})).await));
    assert_eq!(call(&other, "read1", &trace(1)).await["error"]["data"]["limit"], "chain");
    tokio::time::sleep(ms(again + 20)).await;
    assert!(is_ok(&call(&client, "read1", &json!({})).await), "another chain of the session");
    assert_eq!(call(&client, "read1", &trace(1)).await["error"]["data"]["limit"], "chain");
    client.close().await;
    other.close().await;
    scene.end().await;
}

#[tokio::test]
async fn clients_may_have_other_limits() {
    let of = |client: &str, chain: u64| {
        let client = Some(client.to_owned());
        ClientBudget { client, chain: Some(ms(chain)), tool: Some(ms(200)), ..ClientBudget::default() }
    };
    let clients = vec![of("nobody-*", 1), of("proof*", 60_000)];
    let scene = Scene::new(MODERN, Some(BudgetSettings { clients, ..BudgetSettings::default() })).await;
    let client = scene.client(MODERN).await;
    let cut = call(&client, "t3000", &json!({ "dev.proofhouse/chain": "a" })).await;
    assert_eq!(cut["error"]["data"]["limit_ms"], 200, "{cut}");
    client.close().await;
    scene.end().await;
}

/// One HTTP request; the whole response.
async fn http(scene: &Scene, line: &str, headers: &str, body: &str) -> String {
    let (host, length) = (scene.address(), body.len());
    let request = format!(
        "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    let mut stream = TcpStream::connect(host).await.expect("it listens");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("it answers");
    response
}

#[tokio::test]
async fn a_task_is_looked_at_once_a_second() {
    for (revision, limited) in [(MODERN, true), (MODERN, false), (LEGACY, true)] {
        let scene = Scene::new(revision, limited.then(BudgetSettings::default)).await;
        let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {},
            "protocolVersion": revision.as_str(), "clientInfo": { "name": "c", "version": "1" } } });
        let is_legacy = revision == LEGACY;
        let opened = if is_legacy { http(&scene, "POST /mcp", "", &open.to_string()).await } else { String::new() };
        let session = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap_or_default();
        let look = |id: u64, task: &str| {
            let mut message =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tasks/get", "params": { "taskId": task } });
            let mut headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: {revision}\r\n");
            if !is_legacy {
                message["params"]["_meta"] = json!({ wire::meta::PROTOCOL_VERSION: revision.as_str(),
                    wire::meta::CLIENT_INFO: { "name": "c", "version": "1" },
                    wire::meta::CLIENT_CAPABILITIES: { "extensions": { wire::meta::TASKS_EXTENSION: {} } } });
                headers = format!("mcp-protocol-version: {revision}\r\nmcp-method: tasks/get\r\nmcp-name: {task}\r\n");
            }
            let (scene, body) = (&scene, message.to_string());
            async move { http(scene, "POST /mcp", &headers, &body).await }
        };
        let first = look(1, "a").await;
        assert!(!first.contains("looked at") && !first.starts_with("HTTP/1.1 429"), "{revision}: {first}");
        let second = look(2, "a").await;
        assert_eq!(second.starts_with("HTTP/1.1 429"), limited, "{revision}: {second}");
        assert_eq!(second.to_lowercase().contains("\r\nretry-after: 1\r\n"), limited, "{revision}: {second}");
        assert_eq!(second.contains("retry_after_ms"), limited, "{revision}: {second}");
        let long = look(5, &"x".repeat(1025)).await;
        assert_eq!(long.contains("has more than 1024 bytes"), limited, "{revision}: {long}");
        assert!(!look(6, &"x".repeat(1024)).await.contains("has more"), "{revision}");
        assert!(!look(3, "b").await.starts_with("HTTP/1.1 429"), "another task");
        if limited {
            tokio::time::sleep(ms(1000)).await;
            assert!(!look(4, "a").await.starts_with("HTTP/1.1 429"));
        }
        scene.end().await;
    }
}

/// Without the section nothing is limited, counted or shown.
#[tokio::test]
async fn without_budgets_nothing_changes() {
    let scene = Scene::new(MODERN, None).await;
    let client = scene.client(MODERN).await;
    let answer = call(&client, "t50", &json!({ "dev.proofhouse/deadline-ms": 1, "dev.proofhouse/plan": 7 })).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(scene.gateway.status().get("budgets"), None);
    let page = http(&scene, "GET /metrics", "", "").await;
    assert!(!page.contains("orphaned") && !page.contains("budget"), "{page}");
    client.close().await;
    scene.end().await;
}
