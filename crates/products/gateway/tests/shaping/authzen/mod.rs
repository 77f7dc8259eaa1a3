//! `authzen`: a policy decision point must allow what the rules allow. What it is asked, how often, and that nothing passes
//! while it does not answer or answers wrongly.

mod point;
mod ways;

use std::fs;
use std::time::{Duration, Instant};

use gateway::settings::{AccessRule, AuditSettings, AuthzenSettings, Effect, SearchSettings, Settings};
use serde_json::{Value, json};
use wire::Revision;

use self::point::{Point, each, ok, response};
use super::scene::{Raw, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;
const NOW: Duration = Duration::ZERO;
const ONE: &str = "/access/v1/evaluation";
const SEVERAL: &str = "/access/v1/evaluations";

/// A server with tools, a prompt and resources.
async fn scene(back: Revision, tools: usize, settings: Settings) -> Scene {
    Scene::open(back, settings, move |call, _| match call.message.method().unwrap_or_default() {
        "tools/list" => {
            let tool = |number| {
                json!({ "name": format!("tool_{number}"), "description": "Reads mail",
                    "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": number == 0 } })
            };
            json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() })
        }
        "prompts/list" => json!({ "prompts": [{ "name": "review" }, { "name": "secret" }] }),
        "prompts/get" => json!({ "messages": [] }),
        "resources/list" => {
            json!({ "resources": [{ "uri": "file:///a", "name": "a" }, { "uri": "file:///b", "name": "b" }] })
        }
        "resources/read" => json!({ "contents": [] }),
        "completion/complete" => json!({ "completion": { "values": [] } }),
        _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
    })
    .await
}

fn asking(authzen: AuthzenSettings) -> Settings {
    Settings { authzen: Some(Box::new(authzen)), ..Settings::default() }
}

async fn client(scene: &Scene, front: Revision, claims: Value) -> Raw {
    let client = scene.client(front, claims);
    if front == LEGACY {
        client.initialize().await;
    }
    client
}

async fn listed(client: &Raw, method: &str, member: &str, key: &str) -> Vec<String> {
    let list = client.ask(method, json!({})).await;
    let items = list["result"][member].as_array().unwrap_or_else(|| panic!("no list: {list}")).iter();
    items.filter_map(|item| Some(item[key].as_str()?.to_owned())).collect()
}

async fn call(client: &Raw, tool: &str, arguments: Value) -> Value {
    client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
}

fn is_done(answer: &Value) -> bool {
    answer["result"]["content"][0]["text"] == "done"
}

fn is_unavailable(answer: &Value) -> bool {
    let data = &answer["error"]["data"];
    answer["result"].is_null()
        && data["failure"] == "policy-unavailable"
        && data["category"] == "UPSTREAM_FAILURE"
        && data["outcome"] == "not run"
        && data["retryable"] == true
}

/// `tool_0` for everybody, `tool_1` for Ann, the prompt and the resource that are not secret.
fn usual(question: &Value) -> bool {
    match question["resource"]["id"].as_str().unwrap_or_default() {
        "tool_1" => question["subject"]["id"] == "ann",
        id => ["tool_0", "review", "file:///a"].contains(&id),
    }
}

#[tokio::test]
async fn both_must_allow_and_what_is_denied_reads_as_unknown() {
    for (front, back) in [(MODERN, MODERN), (LEGACY, MODERN), (MODERN, LEGACY)] {
        let point = Point::deciding(usual).await;
        let deny = |tool: &str| AccessRule {
            effect: Effect::Deny,
            tools: Some(vec![tool.to_owned()]),
            prompts: None,
            resources: None,
            scopes: Vec::new(),
            condition: None,
        };
        let all = AccessRule { effect: Effect::Allow, tools: None, ..deny("") };
        let access = Some(vec![deny("tool_3"), all]);
        let scene = scene(back, 4, Settings { access, ..asking(point.settings()) }).await;
        let ann = client(&scene, front, json!({})).await;
        let bob = client(&scene, front, json!({ "sub": "bob" })).await;
        assert_eq!(listed(&ann, "tools/list", "tools", "name").await, ["tool_0", "tool_1"]);
        assert_eq!(listed(&bob, "tools/list", "tools", "name").await, ["tool_0"]);
        assert_eq!(listed(&ann, "prompts/list", "prompts", "name").await, ["review"]);
        assert_eq!(listed(&ann, "resources/list", "resources", "uri").await, ["file:///a"]);
        assert!(is_done(&call(&ann, "tool_1", json!({})).await));
        assert!(scene.seen.of("tools/call").len() == 1);
        let denied = call(&bob, "tool_1", json!({})).await;
        let unknown = call(&bob, "tool_9", json!({})).await;
        assert_eq!(
            denied["error"].to_string().replace("tool_1", "X"),
            unknown["error"].to_string().replace("tool_9", "X")
        );
        assert!(call(&ann, "tool_3", json!({})).await["error"]["data"]["failure"] == "item-unknown");
        let asked = point.taken();
        let about: Vec<_> = asked.iter().flat_map(|(_, question)| each(question)).collect();
        assert!(about.iter().all(|one| one["resource"]["id"] != "tool_3"), "the rules deny it, and nobody is asked");
        assert!(about.iter().any(|one| one["resource"]["id"] == "tool_9"), "time must not tell what exists");
        for (uri, may) in [("file:///a", true), ("FILE:///a", false), ("file:///b", false), ("file:///x/../a", false)] {
            let answer = ann.ask("resources/read", json!({ "uri": uri })).await;
            assert_eq!(answer["error"].is_null(), may, "{uri}: {answer}");
        }
        for (name, may) in [("review", true), ("secret", false)] {
            let answer = ann.ask("prompts/get", json!({ "name": name })).await;
            assert_eq!(answer["error"].is_null(), may, "{name}: {answer}");
            let reference = json!({ "ref": { "type": "ref/prompt", "name": name },
                "argument": { "name": "n", "value": "v" } });
            let answer = ann.ask("completion/complete", reference).await;
            assert_eq!(answer["error"]["data"]["failure"] == "item-unknown", !may, "{name}: {answer}");
        }
        assert_eq!(scene.seen.of("tools/call").len(), 1, "the server got what was allowed");
        assert_eq!((scene.seen.of("resources/read").len(), scene.seen.of("prompts/get").len()), (1, 1));
        scene.end().await;
    }
}

#[tokio::test]
async fn a_question_says_who_wants_what() {
    let point = Point::deciding(|_| true).await;
    let mut authzen = point.settings();
    authzen.mapping.subject = "client_id".to_owned();
    authzen.mapping.subject_type = "identity".to_owned();
    authzen.mapping.claims = vec![("roles".to_owned(), "groups".to_owned()), ("none".to_owned(), "none".to_owned())];
    authzen.mapping.arguments = vec!["pa*".to_owned()];
    authzen.address.headers = vec![("Authorization".to_owned(), "Bearer of the gateway".to_owned())];
    let scene = scene(MODERN, 2, asking(authzen)).await;
    let claims = json!({ "client_id": "desk", "groups": ["a"], "secret": "x", "scope": "mcp files" });
    let ann = client(&scene, MODERN, claims).await;
    assert!(is_done(&call(&ann, "tool_0", json!({ "path": "/data", "text": "hidden" })).await));
    let subject = json!({ "type": "identity", "id": "desk",
        "properties": { "scopes": ["mcp", "files"], "roles": ["a"] } });
    let tool = |number: usize| {
        json!({ "type": "tool", "id": format!("tool_{number}"),
            "properties": { "server": "default", "annotations": { "readOnlyHint": number == 0 } } })
    };
    let question = json!({ "subject": subject, "action": { "name": "tools/call" }, "resource": tool(0),
        "context": { "arguments": { "path": "/data" } } });
    assert_eq!(point.taken(), [(ONE.to_owned(), question)]);
    listed(&ann, "tools/list", "tools", "name").await;
    let question = json!({ "subject": subject, "action": { "name": "tools/list" },
        "evaluations": [{ "resource": tool(0) }, { "resource": tool(1) }],
        "options": { "evaluations_semantic": "execute_all" } });
    assert_eq!(point.taken(), [(SEVERAL.to_owned(), question)]);
    ann.ask("resources/read", json!({ "uri": "FILE:///a" })).await;
    let question = json!({ "subject": subject, "action": { "name": "resources/read" },
        "resource": { "type": "resource", "id": "file:///a", "properties": { "server": "default" } } });
    assert_eq!(point.taken(), [(ONE.to_owned(), question)]);
    // A token that does not name its subject is nobody's, and nobody is asked about it.
    let nobody = client(&scene, MODERN, json!({})).await;
    assert!(call(&nobody, "tool_0", json!({})).await["error"]["data"]["failure"] == "item-unknown");
    assert!(listed(&nobody, "tools/list", "tools", "name").await.is_empty());
    assert_eq!(point.taken(), []);
    scene.end().await;
}

/// A list is decided about in batches, and in no more requests than these.
#[tokio::test]
async fn a_long_list_is_a_few_requests() {
    let point =
        Point::deciding(|question| !question["resource"]["id"].as_str().unwrap_or_default().ends_with('7')).await;
    let scene = scene(MODERN, 1000, asking(point.settings())).await;
    let ann = client(&scene, MODERN, json!({})).await;
    let tools = listed(&ann, "tools/list", "tools", "name").await;
    assert_eq!(tools.len(), 900);
    assert!(tools.iter().all(|name| !name.ends_with('7')));
    let asked = point.taken();
    assert_eq!(asked.len(), 20);
    assert!(asked.iter().all(|(path, question)| path == SEVERAL && each(question).len() == 50));
    scene.end().await;
}

/// What a client may not use is not found either, and the best tools alone are decided about.
#[tokio::test]
async fn what_is_found_is_decided_about() {
    let point = Point::deciding(|question| question["resource"]["id"] == "tool_42").await;
    let search = Some(SearchSettings { above: 1, results: 5, keep: Vec::new() });
    let scene = scene(MODERN, 100, Settings { search, ..asking(point.settings()) }).await;
    let ann = client(&scene, MODERN, json!({})).await;
    let answer = call(&ann, "find_tools", json!({ "query": "mail" })).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    assert!(text.contains("tool_42") && text.matches("tool_").count() == 1, "{text}");
    assert_eq!(point.taken().len(), 2);
    let through = |tool: &str| json!({ "name": tool, "arguments": {} });
    assert!(is_done(&call(&ann, "call_tool", through("tool_42")).await));
    assert_eq!(call(&ann, "call_tool", through("tool_41")).await["error"]["data"]["failure"], "item-unknown");
    assert_eq!(scene.seen.of("tools/call").len(), 1);
    point.say(|_, _| (NOW, response("500 Internal Server Error", "", "")));
    assert!(is_unavailable(&call(&ann, "find_tools", json!({ "query": "mail" })).await));
    scene.end().await;
}

/// Answers about one item and about two that are no decisions.
fn wrong() -> Vec<(&'static str, String, String)> {
    let both = |name, body: &str| (name, ok(body), ok(body));
    let raw = |name, text: String| (name, text.clone(), text);
    let allow = r#"{"decision":true}"#;
    let each = |name, one: &str| (name, ok(one), ok(&format!(r#"{{"evaluations":[{allow},{one}]}}"#)));
    let large = format!(r#"{{"decision":true,"evaluations":[{allow},{allow}],"context":"{}"}}"#, "x".repeat(2 << 10));
    let redirect = "location: http://127.0.0.1:1/\r\n";
    vec![
        each("a text", r#"{"decision":"true"}"#),
        each("a number", r#"{"decision":1}"#),
        each("null", r#"{"decision":null}"#),
        each("a list", r#"{"decision":[true]}"#),
        each("nothing", "{}"),
        each("in capitals", r#"{"Decision":true}"#),
        each("twice", r#"{"decision":false,"decision":true}"#),
        each("no object", "true"),
        each("a list in place of an object", "[true]"),
        ("lists in place of all objects", ok("[true]"), ok(&format!("[[{allow},{allow}]]"))),
        both("no JSON", "allow"),
        both("an empty body", ""),
        both("more than JSON", r#"{"decision":true,"evaluations":[{"decision":true},{"decision":true}]} {}"#),
        both("too large", &large),
        (
            "more and fewer decisions than asked for",
            ok(&format!(r#"{{"evaluations":[{allow}]}}"#)),
            ok(&format!(r#"{{"evaluations":[{allow},{allow},{allow}]}}"#)),
        ),
        ("one decision for all", ok("[]"), ok(allow)),
        ("fewer", ok("{}"), ok(&format!(r#"{{"decision":true,"evaluations":[{allow}]}}"#))),
        raw("500", response("500 Internal Server Error", "", allow)),
        raw("401", response("401 Unauthorized", "", allow)),
        raw("201", response("201 Created", "", allow)),
        raw("204", response("204 No Content", "", "")),
        raw("a redirect", response("307 Temporary Redirect", redirect, allow)),
        raw("another redirect", response("302 Found", redirect, allow)),
        raw("a broken answer", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"dec".to_owned()),
        raw("no HTTP", "decision: true\r\n\r\n".to_owned()),
        raw("a closed connection", String::new()),
    ]
}

#[tokio::test]
async fn nothing_passes_without_a_decision() {
    let folder = tempfile::tempdir().expect("a folder");
    let point = Point::deciding(|_| true).await;
    let authzen = AuthzenSettings {
        answer_bytes: 2 << 10,
        timeout: Duration::from_millis(400),
        cache: Some(Duration::from_millis(1)),
        ..point.settings()
    };
    let audit = Some(AuditSettings::new(folder.path().join("log")));
    let scene = scene(MODERN, 2, Settings { audit, ..asking(authzen) }).await;
    let ann = client(&scene, MODERN, json!({})).await;
    let (tried, mut passed) = (wrong(), Vec::new());
    for (name, one, several) in tried.clone() {
        let texts = (one, several);
        point.say(move |path, _| (NOW, if path == ONE { texts.0.clone() } else { texts.1.clone() }));
        for (method, params) in [
            ("tools/call", json!({ "name": "tool_0", "arguments": {} })),
            ("prompts/get", json!({ "name": "review" })),
            ("resources/read", json!({ "uri": "file:///a" })),
            ("tools/list", json!({})),
        ] {
            let answer = ann.ask(method, params).await;
            if !is_unavailable(&answer) {
                passed.push(format!("{name}: {method}: {answer}"));
            }
        }
        // Nor does a failure tell what exists.
        let [known, unknown] = [call(&ann, "tool_0", json!({})).await, call(&ann, "tool_9", json!({})).await];
        if known["error"] != unknown["error"] {
            passed.push(format!("{name}: {known} and {unknown}"));
        }
    }
    assert!(passed.is_empty(), "{}", passed.join("\n"));
    point.say(|_, _| (Duration::from_secs(20), ok(r#"{"decision":true}"#)));
    let begun = Instant::now();
    assert!(is_unavailable(&call(&ann, "tool_0", json!({})).await));
    assert!(begun.elapsed() < Duration::from_secs(10), "a slow one is not waited for");
    assert_eq!(scene.seen.of("tools/call").len(), 0);
    // It answers again: nothing of its failures was kept.
    point.say(|_, _| (NOW, ok(r#"{"decision":true}"#)));
    assert!(is_done(&call(&ann, "tool_0", json!({})).await));
    scene.end().await;
    let log = fs::read_to_string(folder.path().join("log/audit-000001.jsonl")).expect("a log");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of = |verdict: &str| lines.clone().filter(|line| line["access"] == verdict).count();
    assert_eq!((of("unavailable"), of("allowed"), of("denied")), (tried.len() * 6 + 1, 1, 0), "{log}");
}

/// A connection that the decision point closes when the next question comes is no failure.
#[tokio::test]
async fn a_closed_connection_is_no_failure() {
    let answer = response("200 OK", "x-closes: 1\r\n", r#"{"decision":true}"#);
    let point = Point::start(move |_, _| (NOW, answer.clone())).await;
    let scene = scene(MODERN, 1, asking(point.settings())).await;
    let ann = client(&scene, MODERN, json!({})).await;
    for _ in 0..30 {
        let answer = call(&ann, "tool_0", json!({})).await;
        assert!(is_done(&answer), "{answer}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_decision_point_that_is_not_there_allows_nothing() {
    let point = Point::deciding(|_| true).await;
    let mut authzen = point.settings();
    authzen.address.url.set_port(Some(1)).expect("a port");
    let scene = scene(MODERN, 1, asking(authzen)).await;
    let ann = client(&scene, MODERN, json!({})).await;
    assert!(is_unavailable(&call(&ann, "tool_0", json!({})).await));
    assert!(is_unavailable(&ann.ask("tools/list", json!({})).await));
    assert_eq!(scene.seen.of("tools/call").len(), 0);
    scene.end().await;
}

/// A kept decision is for the same subject, action, item and context, and for nothing else.
#[tokio::test]
async fn a_decision_is_kept_for_exactly_what_was_asked() {
    let point = Point::deciding(|question| question["subject"]["id"] == "ann").await;
    let mut authzen = AuthzenSettings { cache: Some(Duration::from_mins(5)), ..point.settings() };
    authzen.mapping.arguments = vec!["path".to_owned()];
    authzen.mapping.claims = vec![("team".to_owned(), "team".to_owned())];
    let scene = scene(MODERN, 2, asking(authzen)).await;
    let ann = client(&scene, MODERN, json!({})).await;
    let path = |path: &str, other: usize| json!({ "path": path, "other": other });
    assert!(is_done(&call(&ann, "tool_0", path("/a", 1)).await));
    assert_eq!(point.taken().len(), 1);
    // The same question, perhaps by another client of the same subject, is not asked twice.
    let again = client(&scene, MODERN, json!({})).await;
    assert!(is_done(&call(&again, "tool_0", path("/a", 2)).await));
    assert_eq!(point.taken().len(), 0);
    for (why, claims, tool, arguments, may) in [
        ("another subject", json!({ "sub": "bob" }), "tool_0", path("/a", 1), false),
        ("another scope", json!({ "scope": "mcp" }), "tool_0", path("/a", 1), true),
        ("another claim", json!({ "team": "data" }), "tool_0", path("/a", 1), true),
        ("another item", json!({}), "tool_1", path("/a", 1), true),
        ("other arguments", json!({}), "tool_0", path("/b", 1), true),
        ("no arguments", json!({}), "tool_0", json!({}), true),
    ] {
        let other = client(&scene, MODERN, claims).await;
        for asked in [1, 0] {
            assert_eq!(is_done(&call(&other, tool, arguments.clone()).await), may, "{why}");
            assert_eq!(point.taken().len(), asked, "{why}");
        }
    }
    assert_eq!(listed(&ann, "tools/list", "tools", "name").await.len(), 2);
    assert_eq!(point.taken().len(), 1, "another action");
    assert_eq!(listed(&ann, "tools/list", "tools", "name").await.len(), 2);
    assert_eq!(point.taken().len(), 0);
    scene.end().await;
}

#[tokio::test]
async fn without_a_cache_each_request_is_decided_about() {
    let point = Point::deciding(|_| true).await;
    let scene = scene(MODERN, 1, asking(point.settings())).await;
    let ann = client(&scene, MODERN, json!({})).await;
    assert!(is_done(&call(&ann, "tool_0", json!({})).await));
    point.say(|_, _| (NOW, ok(r#"{"decision":false}"#)));
    assert!(!is_done(&call(&ann, "tool_0", json!({})).await), "what was withdrawn is denied at once");
    assert_eq!((point.taken().len(), scene.seen.of("tools/call").len()), (2, 1));
    scene.end().await;
}

#[tokio::test]
async fn requests_at_once_are_bounded() {
    let point = Point::start(|_, _| (Duration::from_millis(20), ok(r#"{"decision":true}"#))).await;
    let authzen = AuthzenSettings { at_once: 1, ..point.settings() };
    let scene = scene(MODERN, 1, asking(authzen)).await;
    let ann = client(&scene, MODERN, json!({})).await;
    let begun = Instant::now();
    let calls = (0..5).map(|_| call(&ann, "tool_0", json!({})));
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(is_done));
    assert!(begun.elapsed() >= Duration::from_millis(100), "one after the other");
    scene.end().await;
}

/// Endpoints come from the metadata where that is asked for; never from another origin, nor by another's metadata.
#[tokio::test]
async fn metadata_names_endpoints_of_its_own_origin() {
    let other = Point::deciding(|_| true).await;
    let point = Point::deciding(|_| true).await;
    let metadata = |identifier: &str, one: &str, several: Option<&str>| {
        let mut document = json!({ "policy_decision_point": identifier, "access_evaluation_endpoint": one });
        if let Some(several) = several {
            document["access_evaluations_endpoint"] = json!(several);
        }
        document.to_string()
    };
    let base = format!("{}/tenant", point.url);
    let (one, several) = (format!("{base}/one"), format!("{base}/several"));
    let elsewhere = format!("{}{ONE}", other.url);
    for (why, document, calls, lists) in [
        ("as it should be", metadata(&base, &one, Some(&several)), true, true),
        ("no batches", metadata(&base, &one, None), true, false),
        ("another identifier", metadata(&point.url, &one, Some(&several)), false, false),
        ("another origin", metadata(&base, &elsewhere, Some(&several)), false, false),
        ("another origin for batches", metadata(&base, &one, Some(&elsewhere)), false, false),
        ("no endpoint", json!({ "policy_decision_point": base }).to_string(), false, false),
        ("no JSON", "none".to_owned(), false, false),
    ] {
        point.say(move |path, question| {
            let allow = json!({ "decision": true });
            let body = match path {
                "/.well-known/authzen-configuration/tenant" => document.clone(),
                "/tenant/one" => allow.to_string(),
                "/tenant/several" => json!({ "evaluations": vec![allow; each(question).len()] }).to_string(),
                _ => "{}".to_owned(),
            };
            (NOW, ok(&body))
        });
        let mut authzen = AuthzenSettings { discover: true, ..point.settings() };
        authzen.address.url.set_path("/tenant");
        let scene = scene(MODERN, 2, asking(authzen)).await;
        let ann = client(&scene, MODERN, json!({})).await;
        for _ in 0..2 {
            let answer = call(&ann, "tool_0", json!({})).await;
            assert!(if calls { is_done(&answer) } else { is_unavailable(&answer) }, "{why}: {answer}");
            let answer = ann.ask("tools/list", json!({})).await;
            assert!(if lists { answer["error"].is_null() } else { is_unavailable(&answer) }, "{why}: {answer}");
        }
        let reads = point.taken().iter().filter(|(path, _)| path.starts_with("/.well-known/")).count();
        assert_eq!(reads, if calls { 1 } else { 4 }, "{why}: metadata that can be used is read once");
        scene.end().await;
    }
    assert_eq!(other.taken(), [], "nobody else is asked");
}
