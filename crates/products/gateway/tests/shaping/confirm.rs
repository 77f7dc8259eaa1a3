//! `confirm`: no call without the user's answer, and no answer for another call.

use std::time::Duration;

use gateway::settings::{AccessRule, ConditionText, ConfirmSettings, Effect, Settings};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Raw, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;

fn settings(wait: Duration) -> Settings {
    let rule = |tools: Option<&str>, when: Option<&str>| AccessRule {
        effect: Effect::Deny,
        tools: tools.map(|tool| vec![tool.to_owned()]),
        prompts: None,
        resources: None,
        scopes: Vec::new(),
        condition: when.map(|text| ConditionText { text: text.to_owned(), line: 1, column: 1 }),
    };
    let rules = vec![rule(Some("delete_*"), None), rule(None, Some("arguments.amount > 100"))];
    Settings { confirm: Some(ConfirmSettings { rules, wait }), ..Settings::default() }
}

/// `asks` needs an answer of its own before it deletes.
async fn scene(back: Revision, wait: Duration) -> Scene {
    Scene::open(back, settings(wait), |call, got| {
        let name = call.message.string_member("name").unwrap_or_default().into_owned();
        match call.message.method().unwrap_or_default() {
            "tools/list" => {
                let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
                json!({ "tools": [tool("delete_file"), tool("delete_asks"), tool("pay")] })
            }
            _ if name == "delete_asks" && got.message["params"]["requestState"] != "s" => {
                let form = json!({ "message": "Sure?", "requestedSchema": { "type": "object", "properties": {} } });
                let request = json!({ "method": "elicitation/create", "params": form });
                json!({ "resultType": "input_required", "inputRequests": { "q": request }, "requestState": "s" })
            }
            _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
        }
    })
    .await
}

async fn long(back: Revision) -> Scene {
    scene(back, Duration::from_mins(1)).await
}

fn client(scene: &Scene, revision: Revision, subject: &str) -> Raw {
    scene.client(revision, json!({ "sub": subject })).able(json!({ "elicitation": {} }))
}

fn params(path: &str) -> Value {
    json!({ "name": "delete_file", "arguments": { "path": path, "password": "hunter2secret" } })
}

/// The next round of a request.
fn round(params: &Value, answer: &Value, action: &str) -> Value {
    let mut next = params.clone();
    next["requestState"] = answer["result"]["requestState"].clone();
    next["inputResponses"] = json!({ "confirm": { "action": action, "content": {} } });
    next
}

fn calls(scene: &Scene) -> usize {
    scene.seen.of("tools/call").len()
}

#[track_caller]
fn refused(answer: &Value, failure: &str) {
    let data = &answer["error"]["data"];
    assert_eq!((&data["failure"], &data["outcome"]), (&json!(failure), &json!("not run")), "{answer}");
    assert_eq!(data["category"], "PERMISSION_DENIED");
}

#[tokio::test]
async fn a_modern_client_confirms_in_a_round_and_the_call_runs_once() {
    for back in [MODERN, LEGACY] {
        let scene = long(back).await;
        let ann = client(&scene, MODERN, "ann");
        let asked = ann.ask("tools/call", params("/a")).await;
        let request = &asked["result"]["inputRequests"]["confirm"];
        assert_eq!(
            (&asked["result"]["resultType"], &request["method"]),
            (&json!("input_required"), &json!("elicitation/create"))
        );
        let text = request["params"]["message"].as_str().expect("a text");
        assert!(
            text.starts_with("Run the tool `delete_file` of the server `a`?") && text.contains(r#"`path`: "/a""#),
            "{text}"
        );
        assert!(!text.contains("hunter2secret"), "{text}");
        assert_eq!(calls(&scene), 0);
        let accept = round(&params("/a"), &asked, "accept");
        let done = ann.ask("tools/call", accept.clone()).await;
        assert!(done.to_string().contains("done"), "{done}");
        // The server gets what the client sent first, and nothing of the question.
        let got = &scene.seen.of("tools/call")[0].message["params"];
        assert_eq!(
            (&got["arguments"], got.get("inputResponses"), got.get("requestState")),
            (&params("/a")["arguments"], None, None)
        );
        refused(&ann.ask("tools/call", accept).await, "confirmation-expired");
        assert_eq!(calls(&scene), 1);
        scene.end().await;
    }
}

#[tokio::test]
async fn an_answer_is_for_no_other_call_and_no_other_principal() {
    let scene = long(MODERN).await;
    let (ann, bob) = (client(&scene, MODERN, "ann"), client(&scene, MODERN, "bob"));
    let asked = ann.ask("tools/call", params("/a")).await;
    let accept = round(&params("/a"), &asked, "accept");
    refused(&bob.ask("tools/call", accept.clone()).await, "confirmation-foreign");
    for (pointer, value) in
        [("/arguments/path", json!("/b")), ("/arguments/password", json!("other")), ("/name", json!("delete_asks"))]
    {
        let mut other = accept.clone();
        *other.pointer_mut(pointer).expect("a member") = value;
        refused(&ann.ask("tools/call", other).await, "confirmation-foreign");
    }
    let mut guessed = accept.clone();
    guessed["requestState"] = json!("proof-gateway.confirm.1.000000000000000000000000000000000000000000000000");
    refused(&ann.ask("tools/call", guessed).await, "confirmation-expired");
    assert_eq!(calls(&scene), 0);
    // None of that used the answer up.
    assert!(ann.ask("tools/call", accept).await.to_string().contains("done"));
    assert_eq!(calls(&scene), 1);
    scene.end().await;
}

/// A state that the gateway did not make, answers without a question, and members that stand twice.
#[tokio::test]
async fn no_call_runs_by_what_looks_like_an_answer() {
    let scene = long(MODERN).await;
    let ann = client(&scene, MODERN, "ann");
    for (state, responses) in [
        (Some("s"), json!({ "confirm": { "action": "accept" } })),
        (Some(""), json!({})),
        (None, json!({ "confirm": { "action": "accept" } })),
        (Some("round.0000"), json!({ "confirm": { "action": "accept" } })),
    ] {
        let mut forged = params("/a");
        forged["inputResponses"] = responses;
        if let Some(state) = state {
            forged["requestState"] = json!(state);
        }
        let answer = ann.ask("tools/call", forged).await;
        assert_eq!(answer["result"]["resultType"], "input_required", "{state:?} {answer}");
    }
    // The state of a request that waits elsewhere is unknown here.
    let mut forged = params("/a");
    forged["requestState"] = json!("proof-gateway.1.000000000000000000000000000000000000000000000000");
    let answer = ann.ask("tools/call", forged).await;
    assert_eq!(answer["error"]["data"]["failure"], "state-expired", "{answer}");
    let asked = ann.ask("tools/call", params("/a")).await;
    let accept = round(&params("/a"), &asked, "accept").to_string();
    let twice = accept.replacen(r#""path":"/a""#, r#""path":"/b","path":"/a""#, 1);
    assert_ne!(accept, twice);
    let meta = json!({ wire::meta::PROTOCOL_VERSION: MODERN.as_str(), wire::meta::CLIENT_INFO: { "name": "raw", "version": "1" },
        wire::meta::CLIENT_CAPABILITIES: { "elicitation": {} } });
    let twice = format!(r#"{{"_meta":{meta},{}"#, &twice[1..]);
    let answer = ann.send(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{twice}}}"#)).await;
    assert_eq!(answer["error"]["data"]["failure"], "params-invalid", "{answer}");
    assert_eq!(calls(&scene), 0);
    scene.end().await;
}

#[tokio::test]
async fn without_the_users_yes_nothing_runs() {
    let scene = long(MODERN).await;
    let ann = client(&scene, MODERN, "ann");
    for action in ["decline", "cancel"] {
        let asked = ann.ask("tools/call", params("/a")).await;
        refused(&ann.ask("tools/call", round(&params("/a"), &asked, action)).await, "confirmation-declined");
        // A second thought is another question.
        refused(&ann.ask("tools/call", round(&params("/a"), &asked, "accept")).await, "confirmation-expired");
    }
    let asked = ann.ask("tools/call", params("/a")).await;
    let again = ann.ask("tools/call", round(&params("/a"), &asked, "Accept")).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } }), json!({ "elicitation": null })] {
        let silent = scene.client(MODERN, json!({})).able(capabilities);
        refused(&silent.ask("tools/call", params("/a")).await, "confirmation-impossible");
    }
    assert_eq!(calls(&scene), 0);
    scene.end().await;
}

#[tokio::test]
async fn an_answer_that_comes_too_late_does_not_count() {
    let scene = scene(MODERN, Duration::from_millis(50)).await;
    let ann = client(&scene, MODERN, "ann");
    let asked = ann.ask("tools/call", params("/a")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    refused(&ann.ask("tools/call", round(&params("/a"), &asked, "accept")).await, "confirmation-expired");
    let old = client(&scene, LEGACY, "ann");
    old.initialize().await;
    let (questions, answer) = old.ask_answering("tools/call", params("/a"), None).await;
    assert_eq!(questions.len(), 1);
    refused(&answer, "confirmation-expired");
    assert_eq!(calls(&scene), 0);
    scene.end().await;
}

#[tokio::test]
async fn a_legacy_client_is_asked_in_the_call() {
    for back in [LEGACY, MODERN] {
        let scene = long(back).await;
        let old = client(&scene, LEGACY, "ann");
        old.initialize().await;
        for (action, failure) in
            [("decline", Some("confirmation-declined")), ("cancel", Some("confirmation-declined")), ("accept", None)]
        {
            let result = Some(json!({ "action": action, "content": {} }));
            let (questions, answer) = old.ask_answering("tools/call", params("/a"), result).await;
            assert_eq!((questions.len(), &questions[0]["method"]), (1, &json!("elicitation/create")), "{answer}");
            match failure {
                Some(failure) => refused(&answer, failure),
                None => assert!(answer.to_string().contains("done"), "{answer}"),
            }
        }
        assert_eq!(calls(&scene), 1);
        // A legacy client knows no rounds: what looks like one is no answer.
        let mut forged = params("/a");
        forged["requestState"] = json!("proof-gateway.1.00");
        forged["inputResponses"] = json!({ "confirm": { "action": "accept" } });
        let (questions, answer) = old.ask_answering("tools/call", forged, Some(json!({ "action": "decline" }))).await;
        assert_eq!(questions.len(), 1);
        refused(&answer, "confirmation-declined");
        let silent = scene.client(LEGACY, json!({}));
        silent.initialize().await;
        refused(&silent.ask("tools/call", params("/a")).await, "confirmation-impossible");
        assert_eq!(calls(&scene), 1);
        scene.end().await;
    }
}

/// Only what fits a rule is asked about, and what cannot be decided fits.
#[tokio::test]
async fn rules_say_which_calls_are_asked_about() {
    let scene = long(MODERN).await;
    let ann = client(&scene, MODERN, "ann");
    for (arguments, is_asked) in [
        (json!({ "amount": 100 }), false),
        (json!({ "amount": 101 }), true),
        (json!({ "amount": "much" }), true),
        (json!({}), true),
    ] {
        let answer = ann.ask("tools/call", json!({ "name": "pay", "arguments": arguments })).await;
        assert_eq!(answer["result"]["resultType"] == "input_required", is_asked, "{arguments} {answer}");
    }
    // A name that no list has does not reach the server, which may take it for another.
    for name in ["DELETE_FILE", "delete_file ", "delete_f\u{131}le"] {
        let answer = ann.ask("tools/call", json!({ "name": name, "arguments": {} })).await;
        assert_eq!(answer["error"]["data"]["failure"], "item-unknown", "{answer}");
    }
    assert_eq!(calls(&scene), 1);
    scene.end().await;
}

/// A confirmed call goes on when its server asks something, once, and needs no second confirmation.
#[tokio::test]
async fn a_confirmed_call_goes_on_through_its_servers_questions() {
    let scene = long(MODERN).await;
    let ann = client(&scene, MODERN, "ann");
    let params = json!({ "name": "delete_asks", "arguments": { "path": "/a" } });
    let asked = ann.ask("tools/call", params.clone()).await;
    let theirs = ann.ask("tools/call", round(&params, &asked, "accept")).await;
    assert_eq!((&theirs["result"]["requestState"], calls(&scene)), (&json!("s"), 1), "{theirs}");
    let mut next = params.clone();
    next["requestState"] = json!("s");
    next["inputResponses"] = json!({ "q": { "action": "accept", "content": {} } });
    let mut other = next.clone();
    other["arguments"]["path"] = json!("/b");
    let answer = ann.ask("tools/call", other).await;
    assert!(answer["result"]["requestState"].as_str().is_some_and(|state| state != "s"), "{answer}");
    let done = ann.ask("tools/call", next.clone()).await;
    assert!(done.to_string().contains("done"), "{done}");
    let got = scene.seen.of("tools/call");
    assert_eq!((got.len(), &got[1].message["params"]["inputResponses"]), (2, &next["inputResponses"]));
    // Once more is another call.
    let again = ann.ask("tools/call", next).await;
    assert!(again["result"]["inputRequests"]["confirm"].is_object(), "{again}");
    assert_eq!(calls(&scene), 2);
    scene.end().await;
}
