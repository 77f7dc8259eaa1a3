//! What was kept of a tool before it changed is not used: cached results, results by key, tasks, rounds of questions. Nor is
//! there another way to it.

use std::time::Duration;

use gateway::settings::{
    AnswerSettings, CacheRule, CacheSettings, IdempotencySettings, SearchSettings, TaskSettings, TrafficSettings,
};
use serde_json::json;

use super::shop::{Locked, MODERN};
use super::{listed, refusal, until};
use crate::scene::text;

fn kept() -> AnswerSettings {
    let (resources, lists, invalidated_by) = (Vec::new(), Vec::new(), Vec::new());
    let (tools, ttl) = (vec!["*".to_owned()], Duration::from_mins(5));
    let rule = CacheRule { tools, resources, lists, ttl, shared: false, invalidated_by };
    AnswerSettings {
        idempotency: Some(IdempotencySettings::default()),
        cache: Some(CacheSettings { rules: vec![rule], ..CacheSettings::default() }),
        ..AnswerSettings::default()
    }
}

#[tokio::test]
async fn a_result_that_is_kept_is_not_served_once_its_tool_changed() {
    let scene = Locked::with(kept(), false, |_, _| {}).await;
    let client = scene.client().await;
    let with_key = json!({ "idempotency_key": "k1" });
    for arguments in [json!({}), with_key.clone()] {
        for _ in 0..2 {
            assert_eq!(text(&client.call("buy", arguments.clone()).await), "ran buy");
        }
    }
    assert_eq!(scene.seen.calls("buy"), 2, "once from the cache, once by its key");
    scene.shop.says().tools[0]["description"] = json!("Other.");
    assert_eq!(refusal(&client.call("buy", json!({})).await).0, "lock-changed");
    assert_eq!(refusal(&client.call("buy", with_key.clone()).await).0, "lock-changed");
    scene.approve();
    assert_eq!(text(&client.call("buy", with_key).await), "ran buy");
    assert_eq!(scene.seen.calls("buy"), 2, "it is the kept result again");
    scene.scene.end().await;
}

#[tokio::test]
async fn a_call_as_a_task_is_judged_as_any_other() {
    let settings = TaskSettings { tools: vec!["*".to_owned()], ..TaskSettings::default() };
    let scene = Locked::open(|all| all.tasks = Some(settings)).await;
    let capable = json!({ "extensions": { wire::meta::TASKS_EXTENSION: {} } });
    let client = scene.scene.capable("/mcp", MODERN, "", capable).await;
    assert_eq!(listed(&client, "tools/list").await.0.len(), 3);
    let outcome = async |answer: serde_json::Value| {
        let id = answer["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {answer}")).to_owned();
        tokio::time::sleep(Duration::from_millis(1100)).await;
        client.ask("tasks/get", json!({ "taskId": id }), &[]).await
    };
    let done = outcome(client.call("buy", json!({})).await).await;
    assert_eq!(done["result"]["status"], "completed", "{done}");
    scene.shop.says().tools[0]["description"] = json!("Other.");
    // The list is not known to have changed: the call becomes a task, which is refused.
    let done = outcome(client.call("buy", json!({})).await).await;
    assert_eq!(done["result"]["error"]["data"]["failure"], "lock-changed", "{done}");
    assert_eq!(scene.seen.calls("buy"), 1);
    // Now it is.
    let answer = client.call("buy", json!({})).await;
    assert_eq!(refusal(&answer).0, "lock-changed");
    scene.scene.end().await;
}

#[tokio::test]
async fn a_round_of_questions_does_not_go_on_and_its_outcome_is_unknown() {
    let scene = Locked::open(|_| {}).await;
    let client = scene.scene.capable("/mcp", MODERN, "", json!({ "roots": {} })).await;
    let asked = client.call("ask", json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let next = json!({ "name": "ask", "arguments": {}, "requestState": asked["result"]["requestState"],
        "inputResponses": { "roots": { "roots": [] } } });
    scene.shop.says().tools[2]["description"] = json!("Other.");
    let refused = client.ask("tools/call", next.clone(), &[]).await;
    assert_eq!((refusal(&refused).0, &refused["error"]["data"]["outcome"]), ("lock-changed", &json!("unknown")));
    assert_eq!(scene.seen.calls("ask"), 1);
    scene.approve();
    assert_eq!(text(&client.ask("tools/call", next, &[]).await), "ran ask");
    scene.scene.end().await;
}

#[tokio::test]
async fn a_search_finds_nothing_that_is_withheld_and_calls_nothing() {
    let search = SearchSettings { above: 1, results: 5, keep: Vec::new() };
    let scene = Locked::open(|all| all.search = Some(search)).await;
    let client = scene.client().await;
    let find = async || {
        let found = client.call("find_tools", json!({ "query": "buys looks" })).await;
        text(&found).to_owned()
    };
    assert!(find().await.contains("\"buy\""));
    let call = json!({ "name": "buy", "arguments": {} });
    assert_eq!(text(&client.call("call_tool", call.clone()).await), "ran buy");
    scene.shop.says().tools[0]["description"] = json!("Buys. Other.");
    assert_eq!(refusal(&client.call("call_tool", call).await).0, "lock-changed");
    let found = until(find, |found| !found.contains("\"buy\"")).await;
    assert!(found.contains("\"look\"") && !found.contains("buy"), "{found}");
    assert_eq!(scene.seen.calls("buy"), 1);
    scene.scene.end().await;
}

#[tokio::test]
async fn limits_and_interceptors_stand_behind_the_lock() {
    // A stage that answers before the call is sent must not answer for a tool that is withheld.
    let (interceptor, asked) = crate::looker::looker(
        "short",
        |_| json!({ "verdict": "answer", "result": { "content": [{ "type": "text", "text": "short" }] } }),
    )
    .await;
    let scene = Locked::open(|all| {
        all.interceptors = vec![interceptor];
        all.traffic = Some(TrafficSettings::default());
    })
    .await;
    let client = scene.client().await;
    assert_eq!(text(&client.call("buy", json!({})).await), "short");
    let before = asked.all().len();
    scene.shop.says().tools[0]["description"] = json!("Other.");
    assert_eq!(refusal(&client.call("buy", json!({})).await).0, "lock-changed");
    assert_eq!(asked.all().len(), before, "no interceptor sees it");
    scene.scene.end().await;
}
