//! Requests whose parts contradict each other, and names that almost are others: what is decided is what is sent.

use gateway::settings::{AccessRule, ConditionText, Effect, Settings};
use serde_json::{Value, json};
use wire::{Revision, meta};

use crate::scene::{Raw, Scene};

const MODERN: Revision = Revision::NEWEST;

/// What a server may read as `file:///data/private/x`.
const URIS: [&str; 14] = [
    "file:///data/private/x",
    "file:///data/%70rivate/x",
    "file:///data/%2570rivate/x",
    "file:///%64ata/private/x",
    "file:///data//private/x",
    "file:///data/./private/x",
    "file:///data/a/../private/x",
    "file:///data/a/%2e%2e/private/x",
    "file:///data\\private\\x",
    "file:///data/private%2fx",
    "file:///data/pri\u{200b}vate/x",
    "file:///data/\tprivate/x",
    " file:///data/private/x",
    "file:///data/private/x\u{0}",
];

fn rule(effect: Effect) -> AccessRule {
    AccessRule { effect, tools: None, prompts: None, resources: None, scopes: Vec::new(), condition: None }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// A gateway that denies deletions, private files and one path.
async fn scene() -> Scene {
    let condition = ConditionText { text: "arguments.path == \"secret\"".to_owned(), line: 1, column: 1 };
    let rules = vec![
        AccessRule { tools: Some(names(&["delete_*"])), ..rule(Effect::Deny) },
        AccessRule { resources: Some(names(&["file:///data/private/*"])), ..rule(Effect::Deny) },
        AccessRule { tools: Some(names(&["read"])), condition: Some(condition), ..rule(Effect::Deny) },
        rule(Effect::Allow),
    ];
    let settings = Settings { access: Some(rules), ..Settings::default() };
    Scene::open(MODERN, settings, |call, _| match call.message.method() {
        Some("tools/list") => {
            let tools = ["delete_all", "read"].map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
            json!({ "tools": tools })
        }
        Some("resources/templates/list") => {
            json!({ "resourceTemplates": [{ "name": "f", "uriTemplate": "file:///{+path}" }] })
        }
        // The server has them all: only rules keep them away.
        Some("resources/list") => {
            let all = ["file:///data/a%20b"].into_iter().chain(URIS);
            json!({ "resources": all.map(|uri| json!({ "name": "r", "uri": uri })).collect::<Vec<_>>() })
        }
        Some("resources/read") => json!({ "contents": [] }),
        _ => json!({ "content": [] }),
    })
    .await
}

/// How many calls and reads the server got.
fn reached(scene: &Scene) -> usize {
    scene.seen.of("tools/call").len() + scene.seen.of("resources/read").len()
}

/// A request of the newest revision whose parameters are this text.
fn text(method: &str, params: &str) -> String {
    let own = json!({ meta::PROTOCOL_VERSION: MODERN.as_str(), meta::CLIENT_INFO: { "name": "raw", "version": "1" },
        meta::CLIENT_CAPABILITIES: {} });
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},"_meta":{own}}}}}"#)
}

async fn stays_away(scene: &Scene, client: &Raw, what: &str, request: (&str, &[(&str, &str)])) {
    let before = reached(scene);
    let (status, body) = client.status(request.0, request.1).await;
    assert_eq!(reached(scene), before, "{what}: {status} {body}");
    assert!(!body.contains("\"result\""), "{what}: {body}");
}

#[tokio::test]
async fn a_denied_tool_has_no_other_name() {
    let scene = scene().await;
    let client = scene.client(MODERN, json!({}));
    assert!(
        client.ask("tools/call", json!({ "name": "read", "arguments": { "path": "a" } })).await["result"].is_object()
    );
    for name in [
        "delete_all",
        "DELETE_ALL",
        "Delete_all",
        "delete-all",
        "deleteAll",
        "\u{ff44}elete_all",
        "delete\u{200b}_all",
        "d\u{435}lete_all",
        " delete_all",
        "delete_all ",
        "delete_all\u{0}",
        "./delete_all",
    ] {
        let before = reached(&scene);
        let answer = client.ask("tools/call", json!({ "name": name, "arguments": {} })).await;
        assert_eq!(answer["error"]["code"], -32602, "{name:?}: {answer}");
        assert_eq!(reached(&scene), before, "{name:?}");
    }
    let escaped = text("tools/call", r#""name":"delete\u005fall","arguments":{}"#);
    stays_away(&scene, &client, "escapes", (&escaped, &[])).await;
    scene.end().await;
}

#[tokio::test]
async fn a_denied_resource_has_no_other_uri() {
    let scene = scene().await;
    let client = scene.client(MODERN, json!({}));
    assert!(client.ask("resources/read", json!({ "uri": "file:///data/a%20b" })).await["result"].is_object());
    for uri in URIS {
        let before = reached(&scene);
        let answer = client.ask("resources/read", json!({ "uri": uri })).await;
        assert!(answer["error"].is_object(), "{uri:?}: {answer}");
        assert_eq!(reached(&scene), before, "{uri:?}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_member_that_stands_twice_decides_nothing() {
    let scene = scene().await;
    let client = scene.client(MODERN, json!({}));
    for (what, params) in [
        ("an argument, the second denied", r#""name":"read","arguments":{"path":"a","path":"secret"}"#),
        ("an argument, the first denied", r#""name":"read","arguments":{"path":"secret","path":"a"}"#),
        ("an argument with escapes", r#""name":"read","arguments":{"path":"a","p\u0061th":"secret"}"#),
        ("the arguments", r#""name":"read","arguments":{"path":"a"},"arguments":{"path":"secret"}"#),
        ("the name", r#""name":"read","name":"delete_all","arguments":{"path":"a"}"#),
        ("the name, the first denied", r#""name":"delete_all","name":"read","arguments":{"path":"a"}"#),
    ] {
        stays_away(&scene, &client, what, (&text("tools/call", params), &[("mcp-name", "read")])).await;
    }
    let good = text("tools/call", r#""name":"read","arguments":{"path":"a"}"#);
    for (what, found, with) in [
        ("params", r#","method""#, r#","params":{"name":"delete_all"},"method""#),
        ("the method", r#""method":"tools/call""#, r#""method":"tools/list","method":"tools/call""#),
        ("the id", r#""id":1"#, r#""id":2,"id":1"#),
    ] {
        stays_away(&scene, &client, what, (&good.replacen(found, with, 1), &[])).await;
    }
    scene.end().await;
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let scene = scene().await;
    let client = scene.client(MODERN, json!({}));
    let denied = text("tools/call", r#""name":"delete_all","arguments":{}"#);
    let good = text("tools/call", r#""name":"read","arguments":{"path":"a"}"#);
    for (what, body, headers) in [
        ("a name that is allowed", &denied, [("mcp-name", "read")]),
        ("a name that is another", &good, [("mcp-name", "delete_all")]),
        ("a name by case", &good, [("mcp-name", "READ")]),
        ("a method that only reads", &denied, [("mcp-method", "tools/list")]),
        ("another revision", &good, [("mcp-protocol-version", "2025-06-18")]),
    ] {
        stays_away(&scene, &client, what, (body, &headers)).await;
    }
    scene.end().await;
}

#[tokio::test]
async fn one_request_is_not_two() {
    let scene = scene().await;
    let token = scene.signer.sign(json!({ "typ": "at+jwt" }), &Scene::claims(&json!({})));
    let inner = text("tools/call", r#""name":"read","arguments":{"path":"a"}"#);
    let (host, length) = (scene.host(), inner.len());
    let begin = format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
        accept: application/json, text/event-stream\r\ncontent-type: application/json\r\nmcp-method: tools/call\r\n\
        mcp-name: read\r\nmcp-protocol-version: 2026-07-28\r\n"
    );
    for (what, framing) in [
        ("two lengths", format!("content-length: 0\r\ncontent-length: {length}\r\n")),
        ("a length and chunks", format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n")),
        ("chunks that are not the last coding", "transfer-encoding: chunked, identity\r\n".to_owned()),
        ("a length with a sign", format!("content-length: +{length}\r\n")),
        ("a space before the colon", format!("content-length : {length}\r\n")),
    ] {
        let response = scene.bytes(&format!("{begin}{framing}\r\n{inner}")).await;
        assert!(!response.starts_with("HTTP/1.1 200"), "{what}: {response}");
        assert_eq!(reached(&scene), 0, "{what}");
    }
    let honest = scene.bytes(&format!("{begin}content-length: {length}\r\n\r\n{inner}")).await;
    assert!(honest.starts_with("HTTP/1.1 200") && reached(&scene) == 1, "{honest}");
    scene.end().await;
}

#[tokio::test]
async fn arguments_in_another_form_count_against_the_client() {
    let scene = scene().await;
    let client = scene.client(MODERN, json!({}));
    for arguments in [
        json!({ "path": "secret" }),
        json!({}),
        json!({ "Path": "secret" }),
        json!("{\"path\":\"secret\"}"),
        Value::Null,
    ] {
        let before = reached(&scene);
        let answer = client.ask("tools/call", json!({ "name": "read", "arguments": arguments })).await;
        assert!(answer["error"].is_object() && reached(&scene) == before, "{arguments}: {answer}");
    }
    scene.end().await;
}
