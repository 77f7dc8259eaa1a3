//! What a hostile server can make grow: the questions that wait for clients, and what it says of its tasks.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use gateway::settings::Limits;
use net::service::{Answer, Call, Reply};
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2025_11_25, R2026_07_28};

use crate::raw::Raw;
use crate::scene::Scene;
use crate::script::Script;

/// What one call may ask, in bytes.
const OF_CALL: usize = 4 << 20;

/// What a server heard.
type Heard = Arc<Mutex<Vec<Value>>>;

fn form(size: usize) -> Value {
    json!({ "message": "m".repeat(size), "requestedSchema": { "type": "object", "properties": {} } })
}

/// A server that asks one question of each size that the name of the called tool lists, all at the same time.
fn asking(heard: &Heard) -> Script {
    let heard = Arc::clone(heard);
    Script::new(R2025_11_25, json!({ "tools": {} }), move |call: Call| {
        let Some(name) = call.message.string_member("name") else {
            return Answer::result(call.id(), &json!({ "tools": [] })).into();
        };
        let sizes: Vec<usize> = name.split('.').map(|size| size.parse().expect("a size")).collect();
        let (heard, link) = (Arc::clone(&heard), call.link.clone());
        // It hears the answers to a call that was cancelled, too.
        let asked = tokio::spawn(async move {
            join_all(sizes.into_iter().map(async |size| {
                let answer = link.request("elicitation/create", form(size)).await.expect("an answer");
                heard.lock().expect("a lock").push(answer.result().or(answer.error()).cloned().unwrap_or_default());
            }))
            .await;
        });
        Reply::later(async move {
            asked.await.expect("no panic");
            Answer::result(call.id(), &json!({ "content": [] }))
        })
    })
}

/// What the server hears next.
async fn next(heard: &Heard) -> Value {
    for _ in 0..500 {
        if let Some(next) = heard.lock().expect("a lock").pop() {
            return next;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server hears nothing");
}

async fn asked(scene: &Scene) -> Raw {
    scene.raw(R2026_07_28, json!({ "elicitation": {} })).await
}

/// How much waits, as the metrics say.
fn waiting(scene: &Scene) -> usize {
    let metrics = scene.metrics();
    let line = metrics.lines().find_map(|line| line.strip_prefix("proof_gateway_question_bytes "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("no gauge: {metrics}"))
}

fn refused(scene: &Scene, limit: &str) -> usize {
    let start = format!("proof_gateway_questions_refused_total{{limit=\"{limit}\"}} ");
    let metrics = scene.metrics();
    let line = metrics.lines().find_map(|line| line.strip_prefix(&start));
    line.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no counter: {metrics}"))
}

#[tokio::test]
async fn a_question_that_is_too_large_ends_its_call_and_both_sides_learn_why() {
    for revision in [R2026_07_28, R2025_11_25] {
        let heard = Heard::default();
        let scene = Scene::scripted(asking(&heard)).await;
        let client = scene.raw(revision, json!({ "elicitation": {} })).await;
        let request = client.request("tools/call", json!({ "name": OF_CALL.to_string(), "arguments": {} }));
        let got = client.post(&request, &[]).await;
        assert_eq!(got.messages.len(), 1, "the client is not asked");
        let error = &got.response()["error"];
        assert_eq!(error["data"]["failure"], "questions-too-large", "{error}");
        assert_eq!((&error["code"], &error["data"]["outcome"]), (&json!(-32603), &json!("unknown")), "{error}");
        let said = next(&heard).await;
        assert!(said["message"].as_str().is_some_and(|what| what.contains("larger than 4 MiB")), "{said}");
        assert_eq!((refused(&scene, "call"), waiting(&scene)), (1, 0));
        // The next call is not concerned.
        let small = client.request("tools/call", json!({ "name": "10", "arguments": {} }));
        let mut small = client.start(&small, &[]).await;
        if revision == R2025_11_25 {
            let question = crate::raw::next(&mut small).await.expect("a question");
            assert_eq!(question["method"], "elicitation/create", "{question}");
        } else {
            let body = small.whole(1 << 20).await.expect("a body");
            assert!(String::from_utf8_lossy(&body).contains("input_required"));
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn questions_of_one_call_are_counted_together_however_often_it_is_retried() {
    let heard = Heard::default();
    let scene = Scene::scripted(asking(&heard)).await;
    let client = asked(&scene).await;
    let third = (OF_CALL / 2 - 2048).to_string();
    let name = [&*third, &third, &third].join(".");
    let call = json!({ "name": name, "arguments": {} });
    let mut answer = client.call("tools/call", call.clone()).await;
    // Questions that come late are of a round of their own. None is answered.
    for _ in 0..5 {
        let Some(state) = answer["result"]["requestState"].as_str() else { break };
        assert!(waiting(&scene) <= OF_CALL);
        let mut retry = call.clone();
        (retry["requestState"], retry["inputResponses"]) = (json!(state), json!({}));
        answer = client.call("tools/call", retry).await;
    }
    assert_eq!(answer["error"]["data"]["failure"], "questions-too-large", "{answer}");
    assert_eq!((refused(&scene, "call"), waiting(&scene)), (1, 0));
    // A legacy client has two of them when the third one ends the call.
    let legacy = scene.raw(R2025_11_25, json!({ "elicitation": {} })).await;
    let got = legacy.post(&legacy.request("tools/call", call), &[]).await;
    assert_eq!(got.response()["error"]["data"]["failure"], "questions-too-large", "{}", got.messages.len());
    assert_eq!((refused(&scene, "call"), waiting(&scene)), (2, 0));
    scene.end().await;
}

#[tokio::test]
async fn what_waits_for_one_principal_is_bounded_and_room_comes_back() {
    let heard = Heard::default();
    let scene = Scene::scripted(asking(&heard)).await;
    let client = asked(&scene).await;
    let large = json!({ "name": (OF_CALL - 4096).to_string(), "arguments": {} });
    let mut states = Vec::new();
    for _ in 0..4 {
        let answer = client.call("tools/call", large.clone()).await;
        states.push(answer["result"]["requestState"].clone());
        assert!(states.iter().all(Value::is_string), "{answer}");
    }
    let more = json!({ "name": "20000", "arguments": {} });
    let answer = client.call("tools/call", more.clone()).await;
    assert_eq!(answer["error"]["data"]["failure"], "too-many-wait", "{answer}");
    let said = next(&heard).await;
    assert!(said["message"].as_str().is_some_and(|what| what.starts_with("Too many questions")), "{said}");
    assert_eq!(refused(&scene, "principal"), 1);
    let before = waiting(&scene);
    let mut retry = large;
    retry["requestState"] = states.pop().expect("one");
    retry["inputResponses"] = json!({ "elicitation-1": { "action": "decline" } });
    let key = |answer: &Value| answer["result"]["inputRequests"].as_object().and_then(|all| all.keys().next().cloned());
    let asked = client.call("tools/call", retry.clone()).await;
    if let Some(key) = key(&asked) {
        // The server numbers its questions as it likes.
        (retry["requestState"], retry["inputResponses"]) =
            (asked["result"]["requestState"].clone(), json!({ key: { "action": "decline" } }));
        let done = client.call("tools/call", retry).await;
        assert_eq!(done["result"]["content"], json!([]), "{done}");
    }
    assert!(waiting(&scene) < before - (OF_CALL - 8192));
    let answer = client.call("tools/call", more).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn what_a_modern_server_asks_of_a_legacy_client_is_bounded() {
    let large = json!({ "resultType": "input_required", "requestState": "s", "inputRequests": {
        "one": { "method": "elicitation/create", "params": form(10) },
        "two": { "method": "elicitation/create", "params": form(OF_CALL) },
    } });
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({ "tools": {} }), large)).await;
    let client = scene.raw(R2025_11_25, json!({ "elicitation": {} })).await;
    let got = client.post(&client.request("tools/call", json!({ "name": "a", "arguments": {} })), &[]).await;
    assert_eq!(got.messages.len(), 1, "the client is not asked");
    assert_eq!(got.response()["error"]["data"]["failure"], "questions-too-large", "{}", got.response());
    assert_eq!((refused(&scene, "call"), waiting(&scene)), (1, 0));
    scene.end().await;
}

const MOMENT: &str = "2025-11-25T00:00:00Z";

fn task(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "ttl": 60_000, "pollInterval": 10,
        "createdAt": MOMENT, "lastUpdatedAt": MOMENT })
}

/// A server of 2025-11-25 with one tool, which is a task. What it first says of the task, and then.
fn server(first: Value, then: Value, result: impl Fn(Call) -> Reply + Send + Sync + 'static) -> Script {
    let declared = json!({ "tools": {}, "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } });
    Script::new(R2025_11_25, declared, move |call: Call| {
        let body = match call.message.method().unwrap_or_default() {
            "tools/list" => json!({ "tools": [{ "name": "must", "inputSchema": { "type": "object" },
                "execution": { "taskSupport": "required" } }] }),
            "tools/call" => json!({ "task": first }),
            "tasks/result" => return result(call),
            _ => then.clone(),
        };
        Answer::result(call.id(), &body).into()
    })
}

fn never(_: Call) -> Reply {
    Reply::later(std::future::pending())
}

async fn follower(scene: &Scene) -> Raw {
    let able = json!({ "extensions": { meta::TASKS_EXTENSION: {} }, "elicitation": {} });
    scene.raw(R2026_07_28, able).await
}

async fn begun(client: &Raw) -> String {
    let answer = client.tool("must").await;
    answer["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {answer}")).to_owned()
}

#[tokio::test]
async fn what_a_task_asks_is_bounded_and_its_state_says_so() {
    let heard = Heard::default();
    let kept = Arc::clone(&heard);
    let scene = Scene::scripted(server(task("working"), task("input_required"), move |call| {
        let kept = Arc::clone(&kept);
        Reply::later(async move {
            let ask = |size: usize| {
                let mut form = form(size);
                form["_meta"] = json!({ meta::RELATED_TASK: { "taskId": "t1" } });
                call.link.request("elicitation/create", form)
            };
            let refused = ask(OF_CALL).await.expect("an answer");
            kept.lock().expect("a lock").push(refused.error().cloned().unwrap_or_default());
            let _ = ask(10).await;
            std::future::pending().await
        })
    }))
    .await;
    let client = follower(&scene).await;
    let id = begun(&client).await;
    let mut state = Value::Null;
    for _ in 0..100 {
        state = client.call("tasks/get", json!({ "taskId": id })).await["result"].take();
        if state["status"] == "input_required" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(state["inputRequests"].as_object().map(serde_json::Map::len), Some(1), "the small one: {state}");
    assert!(state["statusMessage"].as_str().is_some_and(|what| what.contains("was refused")), "{state}");
    assert!(next(&heard).await["message"].as_str().is_some_and(|what| what.contains("larger than 4 MiB")));
    assert_eq!(refused(&scene, "call"), 1);
    assert!((1..8192).contains(&waiting(&scene)), "{}", waiting(&scene));
    scene.end().await;
}

#[tokio::test]
async fn an_unknown_status_is_quoted_short_and_a_first_one_makes_no_task() {
    let odd = format!("we\u{1b}[31mird {}", "q".repeat(100_000));
    let scene = Scene::scripted(server(task("working"), task(&odd), never)).await;
    let client = follower(&scene).await;
    let id = begun(&client).await;
    let answer = client.call("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(answer["error"]["data"]["failure"], "answer-invalid");
    let what = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(what.contains("qqqq") && what.len() < 200 && !what.contains('\u{1b}'), "{what}");
    for first in [json!(odd), json!(null), json!(7), json!("WORKING")] {
        let mut bad = task("working");
        bad["status"] = first;
        let scene = Scene::scripted(server(bad, task("working"), never)).await;
        let answer = follower(&scene).await.tool("must").await;
        assert_eq!(answer["error"]["data"]["failure"], "answer-invalid", "{answer}");
        assert!(answer.to_string().len() < 1000);
    }
}

#[tokio::test]
async fn members_of_a_task_have_their_types_and_a_bounded_size() {
    let mut odd = task("working");
    (odd["pollInterval"], odd["createdAt"], odd["lastUpdatedAt"]) = (json!(-1), json!(7), json!("x".repeat(1 << 20)));
    odd["statusMessage"] = json!("é".repeat(3 << 20));
    let scene = Scene::scripted(server(odd.clone(), odd, never)).await;
    let client = follower(&scene).await;
    let first = client.tool("must").await["result"].clone();
    let id = first["taskId"].as_str().expect("an id");
    for state in [&first, &client.call("tasks/get", json!({ "taskId": id })).await["result"]] {
        assert_eq!(state.get("pollIntervalMs"), None);
        for moment in ["createdAt", "lastUpdatedAt"] {
            assert!(state[moment].as_str().is_some_and(|text| text.len() < 40 && text.ends_with('Z')));
        }
        let said = state["statusMessage"].as_str().expect("a message");
        assert_eq!((said.chars().count(), said.chars().last()), (1025, Some('…')));
    }
    for odd in [json!(null), json!({ "a": 1 })] {
        let mut with = task("working");
        (with["statusMessage"], with["pollInterval"]) = (odd, json!(1e300));
        let scene = Scene::scripted(server(with, task("working"), never)).await;
        let first = follower(&scene).await.tool("must").await["result"].clone();
        assert_eq!((first.get("statusMessage"), first.get("pollIntervalMs")), (None, None), "{first}");
    }
}

#[tokio::test]
async fn a_result_that_never_comes_has_the_time_of_one_request() {
    let limits = Limits { request: Duration::from_secs(3), ..Limits::default() };
    let scene = Scene::scripted_within(server(task("working"), task("completed"), never), limits).await;
    let client = &follower(&scene).await;
    let id = &begun(client).await;
    let ask = async |wait: u64| {
        tokio::time::sleep(Duration::from_secs(wait)).await;
        let begun = Instant::now();
        (client.call("tasks/get", json!({ "taskId": id })).await, begun.elapsed())
    };
    // The second one waits for the first one, and then for the result.
    let (first, second) = tokio::join!(ask(0), ask(2));
    for (answer, took) in [first, second] {
        assert_eq!(answer["error"]["data"]["failure"], "timed-out", "{answer}");
        assert!(took < Duration::from_millis(3700), "{took:?}");
    }
    scene.end().await;
}
