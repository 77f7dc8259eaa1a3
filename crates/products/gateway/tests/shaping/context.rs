//! `context`: it reaches every request, nothing that a client sends stands in for it, and nothing crosses between tenants.

use std::time::Duration;

use gateway::settings::{
    AccessRule, AnswerSettings, CacheRule, CacheSettings, ContextKind, ContextSettings, ContextValue, Effect,
    IdempotencySettings, Settings, TaskSettings,
};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Got, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;

fn settings() -> Settings {
    let value = |kind, header: &str| ContextValue { header: Some(header.to_owned()), ..ContextValue::new(kind) };
    let values = vec![
        value(ContextKind::Tenant, "x-tenant-id"),
        value(ContextKind::User, "x-user-id"),
        value(ContextKind::Scopes, "x-scopes"),
    ];
    Settings { context: Some(ContextSettings { upstreams: None, values }), ..Settings::default() }
}

/// Each tenant has a tool of its own, and results that name it.
fn answer(got: &Got) -> Value {
    let tenant = got.header("x-tenant-id").unwrap_or("nobody");
    let text = json!([{ "type": "text", "text": tenant }]);
    match got.message["method"].as_str().unwrap_or_default() {
        "tools/list" => json!({ "tools": [
            { "name": format!("of-{tenant}"), "inputSchema": { "type": "object" } },
            { "name": "read", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
        ] }),
        "prompts/list" => json!({ "prompts": [{ "name": "p" }] }),
        "resources/list" => json!({ "resources": [{ "name": "r", "uri": "x:r" }] }),
        "prompts/get" => json!({ "messages": [] }),
        "resources/read" => json!({ "contents": [{ "uri": "x:r", "text": tenant }] }),
        _ => json!({ "content": text }),
    }
}

fn of(tenant: &str) -> Value {
    json!({ "tenant_id": tenant, "scope": "b a" })
}

fn tenant_of(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {response}"))
}

fn open_to_all() -> Vec<AccessRule> {
    let effect = Effect::Allow;
    vec![AccessRule { effect, tools: None, prompts: None, resources: None, scopes: Vec::new(), condition: None }]
}

#[tokio::test]
async fn every_request_carries_the_context() {
    for (front, back) in [(MODERN, MODERN), (LEGACY, MODERN), (MODERN, LEGACY), (LEGACY, LEGACY)] {
        let scene = Scene::open(back, settings(), |_, got| answer(got)).await;
        let client = scene.client(front, of("acme"));
        if front == LEGACY {
            client.initialize().await;
        }
        for (method, params) in [
            ("tools/call", json!({ "name": "read", "arguments": {} })),
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "p" })),
            ("resources/read", json!({ "uri": "x:r" })),
        ] {
            let response = client.ask(method, params).await;
            assert!(response["result"].is_object(), "{method}: {response}");
            let all = scene.seen.of(method);
            assert!(!all.is_empty(), "{method}");
            for got in all {
                assert_eq!(got.header("x-tenant-id"), Some("acme"), "{method}");
                assert_eq!((got.header("x-user-id"), got.header("x-scopes")), (Some("ann"), Some("a b")), "{method}");
                assert_eq!(got.told("tenant_id"), "acme", "{method}: {}", got.text);
                assert_eq!((got.told("user_id"), got.told("scopes")), (&json!("ann"), &json!(["a", "b"])), "{method}");
            }
        }
        for got in scene.seen.of(if back == LEGACY { "initialize" } else { "server/discover" }) {
            assert_eq!(got.header("x-tenant-id"), Some("acme"));
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn nothing_of_a_client_stands_in_for_it() {
    for back in [MODERN, LEGACY] {
        let scene = Scene::open(back, settings(), |_, got| answer(got)).await;
        let client = scene.client(MODERN, of("acme"));
        let forged = [("X-Tenant-Id", "evil"), ("x_tenant_id", "evil"), ("X-USER-ID", "evil"), ("x-scopes", "evil")];
        let meta = json!({ "dev.proofhouse/tenant_id": "evil", "DEV.PROOFHOUSE/Tenant-ID": "evil",
            "dev.proofhouse/user\u{200b}_id": "evil", "kept": 1 });
        let params =
            json!({ "name": "read", "arguments": { "_meta": { "dev.proofhouse/scopes": "evil" } }, "_meta": meta });
        let response = client.ask_with("tools/call", params, &forged).await;
        assert_eq!(tenant_of(&response), "acme");
        let got = scene.seen.of("tools/call").pop().expect("a call");
        assert!(!got.text.contains("evil"), "{}", got.text);
        assert_eq!((got.told("tenant_id"), &got.message["params"]["_meta"]["kept"]), (&json!("acme"), &json!(1)));
        assert!(
            ["x-tenant-id", "x_tenant_id", "x-user-id", "x-scopes"].iter().all(|name| got.header(name) != Some("evil"))
        );
        scene.end().await;
    }
}

#[tokio::test]
async fn escaped_names_are_the_same_names() {
    let scene = Scene::open(LEGACY, settings(), |_, got| answer(got)).await;
    let client = scene.client(LEGACY, of("acme"));
    client.initialize().await;
    let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"n":1.50},"_met\u0061":{"\u0064ev.proofhouse\/tenant\u005fid":"evil"}}}"#;
    assert_eq!(tenant_of(&client.send(text).await), "acme");
    let got = scene.seen.of("tools/call").pop().expect("a call");
    assert!(!got.text.contains("evil") && got.text.contains("1.50"), "{}", got.text);
    assert_eq!(got.told("tenant_id"), "acme");
    scene.end().await;
}

#[tokio::test]
async fn a_token_without_the_claim_reaches_no_server() {
    let scene = Scene::open(MODERN, settings(), |_, got| answer(got)).await;
    for claims in [json!({}), json!({ "tenant_id": ["acme"] }), json!({ "tenant_id": "" })] {
        let modern = scene.client(MODERN, claims.clone());
        let response = modern.ask("tools/call", json!({ "name": "read", "arguments": {} })).await;
        assert_eq!(response["error"]["data"]["failure"], "context-missing", "{response}");
        let legacy = scene.client(LEGACY, claims);
        assert_eq!(legacy.initialize().await["error"]["code"], -32600);
    }
    assert!(scene.seen.of("tools/call").is_empty() && scene.seen.of("server/discover").is_empty());
    scene.end().await;
}

/// One subject in two tenants, as consultants have it.
#[tokio::test]
async fn tenants_share_no_session_and_no_list() {
    for back in [MODERN, LEGACY] {
        let settings = Settings { access: Some(open_to_all()), ..settings() };
        let scene = Scene::open(back, settings, |_, got| answer(got)).await;
        for tenant in ["acme", "other", "acme"] {
            let client = scene.client(MODERN, of(tenant));
            let list = client.ask("tools/list", json!({})).await;
            assert_eq!(list["result"]["tools"][0]["name"], format!("of-{tenant}"), "{list}");
            let call = client.ask("tools/call", json!({ "name": format!("of-{tenant}"), "arguments": {} })).await;
            assert_eq!(tenant_of(&call), tenant);
        }
        if back == LEGACY {
            let calls = scene.seen.of("tools/call");
            let session = |index: usize| calls[index].header("mcp-session-id").expect("a session").to_owned();
            assert_eq!(session(0), session(2));
            assert_ne!(session(0), session(1));
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn kept_answers_stay_with_their_tenant() {
    let rule = CacheRule {
        tools: vec!["read".to_owned()],
        resources: Vec::new(),
        lists: Vec::new(),
        ttl: Duration::from_mins(1),
        shared: true,
        invalidated_by: Vec::new(),
    };
    let cache = CacheSettings { rules: vec![rule], ..CacheSettings::default() };
    let answers = AnswerSettings {
        cache: Some(cache),
        idempotency: Some(IdempotencySettings::default()),
        ..AnswerSettings::default()
    };
    let scene = Scene::open(MODERN, Settings { answers, ..settings() }, |_, got| answer(got)).await;
    for (round, key) in [("cache", None), ("idempotency", Some("k1"))] {
        for tenant in ["acme", "other", "acme", "other"] {
            let client = scene.client(MODERN, of(tenant));
            let mut params = json!({ "name": if key.is_some() { "write" } else { "read" }, "arguments": {} });
            if let Some(key) = key {
                params["_meta"]["dev.proofhouse/idempotencyKey"] = json!(key);
            }
            assert_eq!(tenant_of(&client.ask("tools/call", params).await), tenant, "{round}");
        }
    }
    assert_eq!(scene.seen.of("tools/call").len(), 4, "each tenant's answers are kept");
    scene.end().await;
}

#[tokio::test]
async fn a_server_that_is_not_named_is_told_nothing() {
    let mut settings = settings();
    if let Some(context) = &mut settings.context {
        context.upstreams = Some(vec!["another".to_owned()]);
    }
    let scene = Scene::open(MODERN, settings, |_, got| answer(got)).await;
    let client = scene.client(MODERN, of("acme"));
    let params = json!({ "name": "read", "arguments": {}, "_meta": { "dev.proofhouse/tenant_id": "evil" } });
    assert_eq!(tenant_of(&client.ask("tools/call", params).await), "nobody");
    let got = scene.seen.of("tools/call").pop().expect("a call");
    assert!(!got.text.contains("dev.proofhouse/") && !got.text.contains("acme"), "{}", got.text);
    scene.end().await;
}

/// An answer to a question is a message of the client, too.
#[tokio::test]
async fn answers_to_questions_carry_no_lookalikes() {
    let scene = Scene::open(LEGACY, settings(), |_, got| answer(got)).await;
    let may_be_asked = || json!({ "elicitation": { "form": {} } });
    let client = scene.client(MODERN, of("acme")).able(may_be_asked());
    let params = || json!({ "name": "asks", "arguments": {} });
    let asked = client.ask("tools/call", params()).await;
    let key =
        asked["result"]["inputRequests"].as_object().and_then(|all| all.keys().next()).expect("a question").clone();
    let mut answered = params();
    answered["requestState"] = asked["result"]["requestState"].clone();
    answered["inputResponses"][&key] = json!({ "action": "accept", "content": { "n": "x" },
        "_meta": { "dev.proofhouse/tenant_id": "evil", "DEV.proofhouse/User-Id": "evil", "kept": 1 } });
    // Nobody else can answer in the client's place, nor learn what becomes of it.
    let other = scene.client(MODERN, of("other")).able(may_be_asked()).ask("tools/call", answered.clone()).await;
    assert_eq!(other["error"]["data"]["failure"], "state-foreign", "{other}");
    let bob = json!({ "tenant_id": "acme", "scope": "b a", "sub": "bob" });
    let bob = scene.client(MODERN, bob).able(may_be_asked()).ask("tools/call", answered.clone()).await;
    assert_eq!(bob["error"]["data"]["failure"], "state-foreign", "{bob}");
    let text = tenant_of(&client.ask("tools/call", answered.clone()).await).to_owned();
    assert!(text.contains("accept") && text.contains("kept") && !text.contains("evil"), "{text}");
    // Nor twice.
    let again = client.ask("tools/call", answered).await;
    assert_eq!(again["error"]["data"]["failure"], "state-expired", "{again}");
    scene.end().await;
}

#[tokio::test]
async fn a_task_of_a_tenant_is_found_by_it_alone() {
    let tasks = TaskSettings { tools: vec!["read".to_owned()], ..TaskSettings::default() };
    let scene = Scene::open(MODERN, Settings { tasks: Some(tasks), ..settings() }, |_, got| answer(got)).await;
    let [owner, other] = ["acme", "evil"].map(|tenant| scene.client(LEGACY, of(tenant)));
    owner.initialize().await;
    other.initialize().await;
    let task = owner.ask("tools/call", json!({ "name": "read", "arguments": {}, "task": {} })).await;
    let id = &task["result"]["task"]["taskId"];
    assert!(id.is_string(), "{task}");
    let foreign = other.ask("tasks/result", json!({ "taskId": id })).await;
    assert_eq!(foreign["error"]["data"]["failure"], "task-unknown", "{foreign}");
    assert_eq!(tenant_of(&owner.ask("tasks/result", json!({ "taskId": id })).await), "acme");
    scene.end().await;
}
