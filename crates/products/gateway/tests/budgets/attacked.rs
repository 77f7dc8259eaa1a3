//! What a client must not be able to do to others, or learn of them.

use std::time::{Duration, Instant};

use gateway::settings::{
    AccessRule, AnswerSettings, BudgetSettings, CacheRule, CacheSettings, Effect, IdempotencySettings, Settings,
    ToolBudget,
};
use serde_json::{Value, json};

use crate::scene::{Scene, call, learn};
use crate::{LEGACY, MODERN, http, ms};

/// The tools of which something was learnt.
fn learnt(scene: &Scene) -> Vec<String> {
    let status = scene.gateway.status();
    let tools = status["budgets"]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| Some(tool["tool"].as_str()?.to_owned())).collect()
}

/// How long a tool takes to fail says nothing, and of names that no server lists nothing is kept.
#[tokio::test]
async fn failures_and_made_up_names_teach_nothing() {
    for revision in [MODERN, LEGACY] {
        let scene = Scene::new(revision, Some(BudgetSettings::default())).await;
        let client = scene.client(revision).await;
        let long = "x".repeat(1000);
        for tool in ["fail1", "odd1", "huge1", "made_up1", &long] {
            for _ in 0..2 {
                call(&client, tool, &json!({})).await;
            }
        }
        learn(&client, &["read1"]).await;
        assert_eq!(learnt(&scene), ["read1"], "{revision}");
        // An error is one, whatever its code.
        let page = http(&scene, "GET /metrics", "", "").await;
        let errors = "proof_gateway_errors_total{upstream=\"slow\",method=\"tools/call\"} 4\n";
        assert!(page.contains(errors), "{revision}: {page}");
        client.close().await;
        scene.end().await;
    }
}

/// A failure is not a step of a plan that is done.
#[tokio::test]
async fn a_step_that_failed_is_still_to_come() {
    let tool = |expected: u64| ToolBudget { expected: Some(ms(expected)), least: Some(ms(1)), ..ToolBudget::default() };
    let tools = vec![("fail1".to_owned(), tool(300)), ("t4000".to_owned(), tool(300))];
    let budgets = BudgetSettings { tools, chain: ms(2000), ..BudgetSettings::default() };
    let scene = Scene::new(LEGACY, Some(budgets)).await;
    let client = scene.client(LEGACY).await;
    let plan = json!({ "dev.proofhouse/plan": ["fail1", "fail1", "t1"], "dev.proofhouse/chain": "c" });
    assert_eq!(call(&client, "fail1", &plan).await["result"]["isError"], true);
    // Both are still there: with `t1` (2 s), three steps share the time with this one.
    let cut = call(&client, "t4000", &json!({ "dev.proofhouse/chain": "c" })).await;
    let limit = cut["error"]["data"]["limit_ms"].as_u64().expect("a limit");
    assert!(limit < 2000 * 300 / 2850, "{cut}");
    client.close().await;
    scene.end().await;
}

fn answers() -> AnswerSettings {
    let rule = CacheRule {
        tools: vec!["read*".to_owned()],
        resources: Vec::new(),
        lists: Vec::new(),
        ttl: Duration::from_mins(1),
        shared: true,
        invalidated_by: Vec::new(),
    };
    let cache = Some(CacheSettings { rules: vec![rule], ..CacheSettings::default() });
    AnswerSettings { cache, idempotency: Some(IdempotencySettings::default()), ..AnswerSettings::default() }
}

async fn waiting_scene() -> Scene {
    let budgets = Some(BudgetSettings { chain: ms(300), ..BudgetSettings::default() });
    Scene::with(MODERN, Settings { budgets, answers: answers(), ..Settings::default() }).await
}

/// Waits until the server got a call.
async fn got(scene: &Scene) {
    for _ in 0..500 {
        if !scene.seen.take().is_empty() {
            return;
        }
        tokio::time::sleep(ms(5)).await;
    }
    panic!("the server got no call");
}

#[tokio::test]
async fn waiting_for_an_equal_call_is_within_the_budget() {
    let keyed = json!({ "dev.proofhouse/idempotencyKey": "k" });
    let chain = ("traceparent", json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    let deadline = ("dev.proofhouse/deadline-ms", json!(300));
    for (tool, meta, (name, limit), kind) in
        [("t900", keyed, deadline, "deadline"), ("read900", json!({}), chain, "chain")]
    {
        let scene = waiting_scene().await;
        let (first, second) = (scene.client(MODERN).await, scene.client(MODERN).await);
        let mut hurried = meta.clone();
        hurried[name] = limit;
        let waiting = async {
            got(&scene).await;
            let begun = Instant::now();
            (call(&second, tool, &hurried).await, begun.elapsed())
        };
        let (answer, (refused, took)) = tokio::join!(call(&first, tool, &meta), waiting);
        assert!(answer["result"].is_object(), "{answer}");
        let data = &refused["error"]["data"];
        assert_eq!((&data["failure"], &data["outcome"]), (&json!("waited-too-long"), &json!("not run")), "{refused}");
        assert_eq!(data["limit"], kind, "{refused}");
        assert!(took >= ms(300) && took < ms(800), "{took:?}");
        assert_eq!(scene.count("refused_total"), 1);
        let again = call(&second, tool, &hurried).await;
        assert!(again["result"].is_object() && scene.seen.take().is_empty(), "{again}");
        first.close().await;
        second.close().await;
        scene.end().await;
    }
}

/// After it has waited in vain, a call has what is left.
#[tokio::test]
async fn time_that_was_waited_is_over() {
    let scene = waiting_scene().await;
    let (first, second) = (scene.client(MODERN).await, scene.client(MODERN).await);
    let deadline = json!({ "dev.proofhouse/deadline-ms": 1000 });
    let waiting = async {
        got(&scene).await;
        call(&second, "read_fail700", &deadline).await
    };
    let (answer, refused) = tokio::join!(call(&first, "read_fail700", &deadline), waiting);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(refused["error"]["data"]["failure"], "budget-too-small", "{refused}");
    assert!(refused["error"]["data"]["left_ms"].as_u64().is_some_and(|left| left < 450), "{refused}");
    assert_eq!(scene.seen.take(), [] as [&str; 0]);
    first.close().await;
    second.close().await;
    scene.end().await;
}

/// What a client may not use weighs as what does not exist, also once others have used it.
#[tokio::test]
async fn a_plan_says_nothing_of_hidden_tools() {
    let allow = |tools: &[&str]| AccessRule {
        effect: Effect::Allow,
        tools: Some(tools.iter().map(|tool| (*tool).to_owned()).collect()),
        prompts: None,
        resources: None,
        scopes: Vec::new(),
        condition: None,
    };
    let rule = |expected: u64| ToolBudget { expected: Some(ms(expected)), least: Some(ms(1)), ..ToolBudget::default() };
    let tools = vec![("t4000".to_owned(), rule(500)), ("hidden_ruled".to_owned(), rule(9000))];
    let budgets = BudgetSettings { tools, ..BudgetSettings::default() };
    let access = Some(vec![allow(&["t4000", "read1"])]);
    let scene = Scene::with(MODERN, Settings { budgets: Some(budgets), access, ..Settings::default() }).await;
    let client = scene.client(MODERN).await;
    let mut limits = Vec::new();
    for step in ["nothing", "hidden_read", "hidden_write", "hidden_ruled", "read1"] {
        let meta = json!({ "dev.proofhouse/plan": ["t4000", step], "dev.proofhouse/deadline-ms": 1000 });
        let cut: Value = call(&client, "t4000", &meta).await;
        limits.push(cut["error"]["data"]["limit_ms"].as_u64().unwrap_or_else(|| panic!("{cut}")));
    }
    // 500 of 2,500 ms; what is read is half of it.
    assert!(limits[..4].iter().all(|limit| (170..=200).contains(limit)), "{limits:?}");
    assert!((470..=500).contains(&limits[4]), "{limits:?}");
    client.close().await;
    scene.end().await;
}
