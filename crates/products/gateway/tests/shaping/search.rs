//! `search`: what clients see of a long list, what they find, and that a call of `call_tool` is the call that it means at every stage.

use std::fs;

use gateway::settings::{
    AccessRule, AuditSettings, Effect, InputRule, InputSettings, InterceptorSettings, InterceptorTarget,
    SearchSettings, SecretInputs, Settings, UnknownInputs,
};
use net::process::Command;
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Raw, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;
const PAIRS: [(Revision, Revision); 4] = [(MODERN, MODERN), (LEGACY, LEGACY), (LEGACY, MODERN), (MODERN, LEGACY)];
const TOOLS: [(&str, &str); 6] = [
    ("read_file", "Reads a file of the workspace"),
    ("send_mail", "Sends a mail to a person"),
    ("list_calendar", "Lists meetings of a day"),
    ("delete_mail", "Deletes a mail"),
    ("translate", "Translates a text into another language"),
    ("find_tools", "A server's own"),
];

fn settings(above: usize) -> Settings {
    let search = SearchSettings { above, results: 2, keep: vec!["read_*".to_owned()] };
    Settings { search: Some(search), ..Settings::default() }
}

async fn scene(back: Revision, settings: Settings) -> Scene {
    Scene::open(back, settings, |call, _| match call.message.method() {
        Some("tools/list") => {
            let schema =
                json!({ "type": "object", "properties": { "to": { "type": "string", "x-mcp-header": "To" } } });
            let tool = |(name, text)| json!({ "name": name, "description": text, "inputSchema": schema });
            json!({ "tools": TOOLS.map(tool) })
        }
        _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
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

async fn listed(client: &Raw) -> Vec<String> {
    let list = client.ask("tools/list", json!({})).await;
    names(&list["result"])
}

fn names(list: &Value) -> Vec<String> {
    list["tools"].as_array().into_iter().flatten().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

async fn found(client: &Raw, arguments: Value) -> Vec<String> {
    let answer = client.ask("tools/call", json!({ "name": "find_tools", "arguments": arguments })).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
    names(&serde_json::from_str(text).expect("JSON"))
}

#[tokio::test]
async fn a_long_list_is_searched_and_what_is_found_can_be_called() {
    for (front, back) in PAIRS {
        let scene = scene(back, settings(4)).await;
        let client = client(&scene, front).await;
        assert_eq!(listed(&client).await, ["find_tools", "call_tool", "read_file"], "{front:?} {back:?}");
        assert_eq!(found(&client, json!({ "query": "send a mail to somebody" })).await, ["send_mail", "delete_mail"]);
        assert_eq!(found(&client, json!({ "query": "send mail", "limit": 1 })).await, ["send_mail"]);
        assert!(found(&client, json!({ "query": "server's own" })).await.is_empty(), "its name is the gateway's");
        let arguments = json!({ "to": "Ann" });
        for params in [
            json!({ "name": "send_mail", "arguments": arguments }),
            json!({ "name": "call_tool", "arguments": { "name": "send_mail", "arguments": arguments } }),
        ] {
            let headers: &[_] =
                if params["name"] == "send_mail" && front == MODERN { &[("mcp-param-to", "Ann")] } else { &[] };
            let answer = client.ask_with("tools/call", params, headers).await;
            assert_eq!(answer["result"]["content"][0]["text"], "done", "{front:?} {back:?} {answer}");
            let got = scene.seen.of("tools/call").pop().expect("a call");
            assert_eq!(got.message["params"]["name"], "send_mail");
            assert_eq!(got.message["params"]["arguments"], arguments);
            assert!(!got.all().contains("call_tool"), "{}", got.all());
            if back == MODERN {
                assert_eq!((got.header("mcp-name"), got.header("mcp-param-to")), (Some("send_mail"), Some("Ann")));
            }
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn a_short_list_is_shown() {
    let scene = scene(LEGACY, settings(5)).await;
    let client = client(&scene, LEGACY).await;
    let all: Vec<_> = TOOLS[..5].iter().map(|(name, _)| *name).collect();
    assert_eq!(listed(&client).await, all, "without the name that the gateway answers to");
    scene.end().await;
}

#[tokio::test]
async fn invalid_questions_and_calls_are_refused() {
    let scene = scene(MODERN, settings(1)).await;
    let client = client(&scene, MODERN).await;
    for (tool, arguments) in [
        ("find_tools", json!({})),
        ("find_tools", json!({ "query": 7 })),
        ("find_tools", json!({ "query": "mail", "limit": 0 })),
        ("find_tools", json!({ "query": "mail", "limit": 51 })),
        ("call_tool", json!({})),
        ("call_tool", json!({ "name": "call_tool", "arguments": { "name": "send_mail" } })),
        ("call_tool", json!({ "name": "find_tools", "arguments": { "query": "mail" } })),
    ] {
        let answer = client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(answer["error"]["data"]["failure"], "params-invalid", "{tool} {arguments} {answer}");
    }
    assert!(scene.seen.of("tools/call").is_empty());
    scene.end().await;
}

/// Denied tools are neither counted nor found nor called, and the audit log has the tool that was meant.
#[tokio::test]
async fn no_stage_is_led_around() {
    let rule = |effect, tools: &[&str]| AccessRule {
        effect,
        tools: Some(tools.iter().map(|name| (*name).to_owned()).collect()),
        prompts: None,
        resources: None,
        scopes: Vec::new(),
        condition: None,
    };
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let drops = InputRule { unknown: UnknownInputs::Drop, secrets: SecretInputs::Pass, personal: Vec::new() };
    let settings = Settings {
        access: Some(vec![rule(Effect::Deny, &["delete_*"]), rule(Effect::Allow, &["*"])]),
        inputs: Some(InputSettings { rule: drops, tools: Vec::new() }),
        audit: Some(AuditSettings::new(log.clone())),
        ..settings(3)
    };
    let scene = scene(MODERN, settings).await;
    let client = client(&scene, MODERN).await;
    assert_eq!(found(&client, json!({ "query": "delete mail" })).await, ["send_mail"]);
    let list = client.ask("tools/list", json!({})).await;
    assert!(list.to_string().contains("4 tools are available"), "{list}");
    let wrapped = |name: &str| json!({ "name": "call_tool", "arguments": { "name": name, "arguments": { "to": "Ann", "x": 1 } } });
    let denied = client.ask("tools/call", wrapped("delete_mail")).await;
    assert_eq!(denied["error"]["data"]["failure"], "item-unknown", "{denied}");
    assert!(scene.seen.of("tools/call").is_empty());
    client.ask("tools/call", wrapped("send_mail")).await;
    let got = scene.seen.of("tools/call").pop().expect("a call");
    assert_eq!(got.message["params"]["arguments"], json!({ "to": "Ann" }), "unknown arguments are dropped here, too");
    scene.end().await;
    let texts = fs::read_dir(&log).expect("a folder").filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    let lines: Vec<Value> =
        texts.collect::<String>().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let record = |tool: &str| lines.iter().find(|line| line["tool_name"] == tool).cloned().unwrap_or_default();
    assert_eq!((&record("send_mail")["status"], &record("delete_mail")["access"]), (&json!("ok"), &json!("denied")));
    assert_eq!(record("call_tool"), Value::Null);
}

/// An interceptor sees the call that is meant, with what its server may get of it, and no question to the gateway itself.
#[tokio::test]
async fn interceptors_see_what_is_meant() {
    let script = r#"while IFS= read -r line; do id=${line#*'"id":'}; id=${id%%[!0-9]*}
        case $line in *'"name":"send_mail"'*'"arguments":{"to":"Ann"}'*) verdict=continue ;; *) verdict=refuse ;; esac
        printf '{"id":%s,"verdict":"%s"}\n' "$id" "$verdict"; done"#;
    let command = Command::new("sh", ["-c", script]);
    let one = InterceptorSettings {
        after: false,
        ..InterceptorSettings::new("shows", InterceptorTarget::Command(command, Vec::new()))
    };
    let drops = InputRule { unknown: UnknownInputs::Drop, secrets: SecretInputs::Pass, personal: Vec::new() };
    for (front, back) in PAIRS {
        let settings = Settings {
            interceptors: vec![one.clone()],
            inputs: Some(InputSettings { rule: drops.clone(), tools: Vec::new() }),
            ..settings(3)
        };
        let scene = scene(back, settings).await;
        let client = client(&scene, front).await;
        assert_eq!(found(&client, json!({ "query": "send mail" })).await[0], "send_mail");
        let arguments = json!({ "name": "send_mail", "arguments": { "to": "Ann", "x": 1 } });
        let answer = client.ask("tools/call", json!({ "name": "call_tool", "arguments": arguments })).await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{front} {back}: {answer}");
        scene.end().await;
    }
}

#[tokio::test]
async fn without_the_section_the_names_are_the_servers() {
    let scene = scene(MODERN, Settings::default()).await;
    let client = client(&scene, MODERN).await;
    assert_eq!(listed(&client).await.len(), TOOLS.len());
    let answer = client.ask("tools/call", json!({ "name": "find_tools", "arguments": { "query": "mail" } })).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    scene.end().await;
}
