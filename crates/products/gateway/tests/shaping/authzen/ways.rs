//! Ways to an item other than its plain request: each is decided about, and fails without a decision.

use std::time::Duration;

use gateway::settings::{InputRule, InputSettings, SecretInputs, Settings, TaskSettings, UnknownInputs};
use serde_json::{Value, json};

use super::point::{Point, each, ok, response};
use super::{LEGACY, MODERN, NOW, asking, call, client, is_done, is_unavailable, scene, usual};

/// The failure that the answer names.
fn failure(answer: &Value) -> &Value {
    &answer["error"]["data"]["failure"]
}

/// Settings under which a call may be looked at before it is known whether the client may make it.
fn settings(point: &Point) -> Vec<(&'static str, Settings)> {
    let drops = InputRule { unknown: UnknownInputs::Drop, secrets: SecretInputs::Pass, personal: Vec::new() };
    let inputs = Some(InputSettings { rule: drops, tools: Vec::new() });
    let tasks = Some(TaskSettings { tools: vec!["*".to_owned()], ..TaskSettings::default() });
    let asking = || asking(point.settings());
    vec![
        ("inputs", Settings { inputs: inputs.clone(), ..asking() }),
        ("tasks", Settings { tasks: tasks.clone(), ..asking() }),
        ("both", Settings { inputs, tasks, ..asking() }),
    ]
}

#[tokio::test]
async fn no_stage_leads_around_a_decision() {
    let point = Point::deciding(usual).await;
    for (name, settings) in settings(&point) {
        let scene = scene(MODERN, 2, settings).await;
        let bob = client(&scene, LEGACY, json!({ "sub": "bob" })).await;
        let as_task = |tool: &str| json!({ "name": tool, "arguments": { "x": 1 }, "task": { "ttl": 60_000 } });
        point.say(decides());
        for tool in ["tool_1", "tool_9"] {
            assert_eq!(failure(&call(&bob, tool, json!({ "x": 1 })).await), "item-unknown", "{name}");
            let answer = bob.ask("tools/call", as_task(tool)).await;
            assert_eq!(failure(&answer), "item-unknown", "{name}: {answer}");
        }
        assert!(is_done(&call(&bob, "tool_0", json!({ "x": 1 })).await), "{name}");
        point.say(|_, _| (NOW, response("503 Service Unavailable", "", "")));
        assert!(is_unavailable(&call(&bob, "tool_0", json!({ "x": 1 })).await), "{name}");
        let answer = bob.ask("tools/call", as_task("tool_0")).await;
        assert!(is_unavailable(&answer), "{name}: {answer}");
        assert_eq!(scene.seen.of("tools/call").len(), 1, "{name}");
        scene.end().await;
    }
}

fn decides() -> impl Fn(&str, &Value) -> (Duration, String) + Send + Sync + 'static {
    |_, question| {
        let all: Vec<_> = each(question).iter().map(|one| json!({ "decision": usual(one) })).collect();
        let body = if question["evaluations"].is_array() { json!({ "evaluations": all }) } else { all[0].clone() };
        (NOW, ok(&body.to_string()))
    }
}

/// A subscription of either kind is decided about, and several resources in one request.
#[tokio::test]
async fn a_subscription_is_decided_about() {
    let point = Point::deciding(usual).await;
    let scene = scene(MODERN, 1, asking(point.settings())).await;
    let ann = client(&scene, LEGACY, json!({})).await;
    let subscribe = |uri: &str| ann.ask("resources/subscribe", json!({ "uri": uri }));
    // This server has no subscriptions: what is allowed gets as far as that.
    let (allowed, denied) = (subscribe("file:///a").await, subscribe("file:///b").await);
    assert_eq!((failure(&allowed), failure(&denied)), (&json!("method-unknown"), &json!("resource-unknown")));
    let asked = point.taken();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|(_, question)| question["action"]["name"] == "resources/subscribe"), "{asked:?}");
    point.say(|_, _| (NOW, response("503 Service Unavailable", "", "")));
    assert!(is_unavailable(&subscribe("file:///a").await));
    point.taken();
    let modern = client(&scene, MODERN, json!({})).await;
    // One that names more than a subscription may is refused before anything is asked.
    let many: Vec<_> = (0..5000).map(|number| format!("file:///{number}")).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": many } });
    let refused = modern.ask("subscriptions/listen", params).await;
    assert_eq!((failure(&refused), point.taken().len()), (&json!("too-many-subscriptions"), 0));
    // Each twice: the same is asked once.
    let uris: Vec<_> = (0..40).map(|number| number % 20).map(|number| format!("file:///{number}")).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": uris } });
    let listening = modern.ask("subscriptions/listen", params);
    let asked = async {
        loop {
            let asked = point.taken();
            if !asked.is_empty() {
                return asked;
            }
            tokio::task::yield_now().await;
        }
    };
    // The subscription itself stays open: nothing of it is followed.
    let asked = tokio::select! {
        asked = asked => asked,
        answer = listening => panic!("it ended: {answer}"),
    };
    assert_eq!((asked.len(), each(&asked[0].1).len()), (1, 20), "{asked:?}");
    assert_eq!(asked[0].1["action"]["name"], "resources/subscribe");
    scene.end().await;
}
