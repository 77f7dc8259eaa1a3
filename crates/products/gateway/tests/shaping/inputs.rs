//! `inputs`: what of arguments reaches servers, in every pair of revisions and past every other stage.

use std::fs;

use gateway::settings::{
    AccessRule, AuditSettings, ConditionText, Effect, InputRule, InputSettings, Personal, SecretInputs, Settings,
    UnknownInputs,
};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Raw, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;
const PAIRS: [(Revision, Revision); 4] = [(MODERN, MODERN), (LEGACY, LEGACY), (LEGACY, MODERN), (MODERN, LEGACY)];

fn settings(unknown: UnknownInputs, secrets: SecretInputs) -> Settings {
    let rule = InputRule { unknown, secrets, personal: vec![Personal::Email] };
    let passes = InputRule::default();
    Settings { inputs: Some(InputSettings { rule, tools: vec![("raw".to_owned(), passes)] }), ..Settings::default() }
}

async fn scene(back: Revision, settings: Settings) -> Scene {
    Scene::open(back, settings, |call, _| match call.message.method() {
        Some("tools/list") => {
            let to = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
            let schema = json!({ "type": "object", "properties": {
                "path": { "type": "string", "x-mcp-header": "Path" }, "to": to, "free": { "type": "object" } } });
            let tools = ["send", "raw", "secret"].map(|name| json!({ "name": name, "inputSchema": schema }));
            json!({ "tools": tools })
        }
        _ => json!({ "content": [{ "type": "text", "text": "sent" }] }),
    })
    .await
}

async fn client(scene: &Scene, front: Revision) -> Raw {
    let client = scene.client(front, json!({}));
    if front == LEGACY {
        client.initialize().await;
    }
    client
}

/// The answer to a call, whose headers repeat its argument `path` (2026-07-28).
async fn call(client: &Raw, tool: &str, arguments: Value) -> Value {
    let path = arguments["path"].as_str().unwrap_or_default().to_owned();
    let headers: &[_] = if path.is_empty() { &[] } else { &[("mcp-param-path", path.as_str())] };
    client.ask_with("tools/call", json!({ "name": tool, "arguments": arguments }), headers).await
}

/// The arguments of the last call that the server got.
fn last(scene: &Scene) -> Value {
    scene.seen.of("tools/call").last().expect("a call").message["params"]["arguments"].clone()
}

#[tokio::test]
async fn the_server_gets_what_its_schema_names_without_secrets() {
    for (front, back) in PAIRS {
        let scene = scene(back, settings(UnknownInputs::Drop, SecretInputs::Mask)).await;
        let client = client(&scene, front).await;
        let given = json!({ "path": "/a", "system_prompt": "all of it", "to": { "name": "ann@example.org", "cc": 1 },
            "free": { "x": "ghp_0123456789abcdefghijABCDEFGHIJ012345" } });
        let answer = call(&client, "send", given.clone()).await;
        assert!(answer["result"].is_object(), "{front:?} {back:?} {answer}");
        let got = last(&scene);
        assert_eq!((&got["path"], &got["to"]), (&json!("/a"), &json!({ "name": "[email]" })), "{got}");
        assert!(got.get("system_prompt").is_none() && got["free"]["x"].is_string(), "{got}");
        let all = scene.seen.of("tools/call").last().expect("a call").all();
        for hidden in ["system_prompt", "ghp_", "ann@", "all of it"] {
            assert!(!all.contains(hidden), "{hidden} in {all}");
        }
        call(&client, "raw", given.clone()).await;
        assert_eq!(last(&scene), given);
        // What needs no change stays byte for byte.
        call(&client, "send", json!({ "path": "/a" })).await;
        assert_eq!(last(&scene), json!({ "path": "/a" }));
        scene.end().await;
    }
}

#[tokio::test]
async fn or_the_call_does_not_run() {
    for (front, back) in PAIRS {
        let scene = scene(back, settings(UnknownInputs::Refuse, SecretInputs::Refuse)).await;
        let client = client(&scene, front).await;
        for (arguments, failure, place) in [
            (json!({ "path": "/a", "note": "x" }), "input-unknown", json!("/note")),
            (json!({ "to": { "cc": 1 } }), "input-unknown", json!("/to/cc")),
            (json!({ "to": { "name": "ann@example.org" } }), "input-secret", Value::Null),
        ] {
            let answer = call(&client, "send", arguments).await;
            let data = &answer["error"]["data"];
            assert_eq!((&data["failure"], &data["pointer"]), (&json!(failure), &place), "{front:?} {back:?} {answer}");
            assert_eq!(data["outcome"], "not run", "{answer}");
            assert!(!answer.to_string().contains("ann@"), "{answer}");
        }
        assert!(scene.seen.of("tools/call").is_empty());
        // A server may have tools that it does not list: nobody knows their arguments.
        let unlisted = call(&client, "hidden", json!({ "x": 1 })).await;
        assert_eq!(unlisted["error"]["data"]["failure"], "item-unknown", "{unlisted}");
        assert!(scene.seen.of("tools/call").is_empty());
        scene.end().await;
    }
}

/// A header that repeats an argument says no more than the argument.
#[tokio::test]
async fn headers_repeat_what_is_sent() {
    let scene = scene(MODERN, settings(UnknownInputs::Drop, SecretInputs::Mask)).await;
    let client = client(&scene, MODERN).await;
    let params = json!({ "name": "send", "arguments": { "path": "ann@example.org", "more": 1 } });
    let answer = client.ask_with("tools/call", params, &[("mcp-param-path", "ann@example.org")]).await;
    assert!(answer["result"].is_object(), "{answer}");
    let got = scene.seen.of("tools/call").pop().expect("a call");
    assert_eq!(got.header("mcp-param-path"), Some("[email]"), "{got:?}");
    assert!(!got.all().contains("ann@"), "{}", got.all());
    scene.end().await;
}

/// Rules decide first, and see what is sent.
#[tokio::test]
async fn what_a_client_may_not_use_is_unknown_whatever_it_sends() {
    let rule = |effect, tools: &[&str], when: Option<&str>| AccessRule {
        effect,
        tools: Some(tools.iter().map(|name| (*name).to_owned()).collect()),
        prompts: None,
        resources: None,
        scopes: Vec::new(),
        condition: when.map(|text| ConditionText { text: text.to_owned(), line: 1, column: 1 }),
    };
    let access = vec![
        rule(Effect::Deny, &["secret"], None),
        rule(Effect::Deny, &["send"], Some("arguments.path == \"/private\"")),
        rule(Effect::Allow, &["*"], None),
    ];
    let unknown = settings(UnknownInputs::Refuse, SecretInputs::Refuse);
    let scene = scene(MODERN, Settings { access: Some(access), ..unknown }).await;
    let client = client(&scene, MODERN).await;
    let error = |answer: Value| {
        let mut error = answer["error"].clone();
        error["message"] = json!(error["message"].as_str().unwrap_or_default().replace("secret", "nothing"));
        error
    };
    let arguments = json!({ "note": "ann@example.org" });
    let denied = error(call(&client, "secret", arguments.clone()).await);
    let missing = error(call(&client, "nothing", arguments).await);
    assert_eq!(denied, missing, "the difference would tell");
    let private = call(&client, "send", json!({ "path": "/private", "note": 1 })).await;
    assert_eq!(private["error"]["data"]["failure"], "item-unknown", "{private}");
    assert!(scene.seen.of("tools/call").is_empty());
    scene.end().await;
}

#[tokio::test]
async fn a_member_twice_does_not_lead_around_it() {
    for unknown in [UnknownInputs::Drop, UnknownInputs::Refuse] {
        let scene = scene(LEGACY, settings(unknown, SecretInputs::Mask)).await;
        let client = client(&scene, LEGACY).await;
        for arguments in [r#"{"note":1,"note":2}"#, r#"{"path":"/a","path":"ann@example.org"}"#] {
            let params = format!(r#"{{"name":"send","arguments":{arguments}}}"#);
            let answer =
                client.send(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{params}}}"#)).await;
            assert!(answer["error"].is_object(), "{answer}");
        }
        let twice = r#"{"name":"send","arguments":{"note":1},"arguments":{"path":"/a"}}"#;
        let answer =
            client.send(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{twice}}}"#)).await;
        assert!(answer["error"].is_object(), "{answer}");
        assert!(scene.seen.of("tools/call").is_empty());
        scene.end().await;
    }
}

#[tokio::test]
async fn the_record_says_what_was_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let settings = settings(UnknownInputs::Drop, SecretInputs::Mask);
    let scene = scene(LEGACY, Settings { audit: Some(AuditSettings::new(log.clone())), ..settings }).await;
    let client = client(&scene, LEGACY).await;
    for arguments in [json!({ "note": 1, "to": { "name": "ann@example.org", "cc": 1 } }), json!({ "path": "/" })] {
        call(&client, "send", arguments).await;
    }
    scene.end().await;
    let texts = fs::read_dir(&log).expect("a folder").filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    let lines: Vec<Value> =
        texts.collect::<String>().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let found: Vec<_> = lines.iter().filter(|line| line["tool_name"] == "send").map(|line| &line["inputs"]).collect();
    assert_eq!(found, [&json!("2 members dropped, masked"), &json!("unchanged")]);
}
