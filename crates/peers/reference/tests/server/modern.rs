//! Streamable HTTP as 2026-07-28 has it: every request stands alone, headers mirror the body.

use std::time::Duration;

use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use crate::schema;
use crate::wire_http::{Client, Reply, modern_headers, modern_request};

async fn send(client: &Client, request: &Value, change: impl FnOnce(&mut Vec<(String, String)>)) -> Reply {
    let mut headers = modern_headers(request);
    change(&mut headers);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    client.post(&headers, &request.to_string()).await
}

fn echo() -> Value {
    modern_request("tools/call", json!({ "name": "echo", "arguments": { "message": "x" } }))
}

#[track_caller]
fn refused(reply: &Reply, status: u16, code: i64) {
    let answer = reply.json();
    assert_eq!((reply.status, answer["error"]["code"].as_i64()), (status, Some(code)), "{}", reply.text);
    assert_eq!(answer["id"], 1);
    schema::check(R2026_07_28, None, &answer);
}

#[tokio::test]
async fn a_single_answer_is_plain_json() {
    let client = Client::start().await;
    let reply = send(&client, &echo(), |_| ()).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert_eq!(reply.header("mcp-session-id"), None);
    schema::check(R2026_07_28, Some("tools/call"), &reply.json());
    assert_eq!(reply.json()["result"]["content"][0]["text"], "x");
    // Sessions and resumption are not of this revision: their headers are ignored.
    let reply = send(&client, &echo(), |headers| {
        headers.push(("Mcp-Session-Id".to_owned(), "nobody".to_owned()));
        headers.push(("Last-Event-ID".to_owned(), "1-1".to_owned()));
    })
    .await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let client = Client::start().await;
    let set = |headers: &mut Vec<(String, String)>, name: &str, value: Option<&str>| {
        headers.retain(|(known, _)| known != name);
        headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    };
    for (name, value, good) in [
        ("Mcp-Method", Some("tools/call"), true),
        ("Mcp-Method", Some("  tools/call  "), true),
        ("Mcp-Method", Some("Tools/Call"), false),
        ("Mcp-Method", Some("tools/list"), false),
        ("Mcp-Method", Some(""), false),
        ("Mcp-Method", None, false),
        ("Mcp-Name", Some("echo"), true),
        ("Mcp-Name", Some("=?base64?ZWNobw==?="), true),
        ("Mcp-Name", Some("=?base64?ZWNobw?="), false),
        ("Mcp-Name", Some("=?base64?ZW!!bw==?="), false),
        ("Mcp-Name", Some("ECHO"), false),
        ("Mcp-Name", Some("ech\u{f6}"), false),
        ("Mcp-Name", None, false),
        ("MCP-Protocol-Version", Some("2026-07-28"), true),
        ("MCP-Protocol-Version", Some("2025-11-25"), false),
        ("MCP-Protocol-Version", Some("v999.0.0"), false),
        ("MCP-Protocol-Version", None, false),
    ] {
        let reply = send(&client, &echo(), |headers| set(headers, name, value)).await;
        if good {
            assert_eq!(reply.status, 200, "{name}: {value:?}: {}", reply.text);
        } else {
            refused(&reply, 400, -32020);
        }
    }
    let twice = |headers: &mut Vec<(String, String)>| headers.push(("mcp-method".to_owned(), "tools/list".to_owned()));
    refused(&send(&client, &echo(), twice).await, 400, -32020);
    let lower =
        |headers: &mut Vec<(String, String)>| headers.iter_mut().for_each(|(name, _)| name.make_ascii_lowercase());
    assert_eq!(send(&client, &echo(), lower).await.status, 200);
    for (method, params) in [
        ("resources/read", json!({ "uri": "proof://docs/readme" })),
        ("prompts/get", json!({ "name": "describe_image" })),
    ] {
        let request = modern_request(method, params);
        assert_eq!(send(&client, &request, |_| ()).await.status, 200);
        refused(&send(&client, &request, |headers| set(headers, "Mcp-Name", None)).await, 400, -32020);
        refused(&send(&client, &request, |headers| set(headers, "Mcp-Name", Some("x"))).await, 400, -32020);
    }
}

#[tokio::test]
async fn metadata_comes_before_headers_and_headers_before_the_version() {
    let client = Client::start().await;
    for key in ["protocolVersion", "clientCapabilities"] {
        let mut request = modern_request("server/discover", json!({}));
        let headers = modern_headers(&request);
        request["params"]["_meta"].as_object_mut().unwrap().remove(&format!("io.modelcontextprotocol/{key}"));
        let reply = send(&client, &request, |all| *all = headers.clone()).await;
        refused(&reply, 400, -32602);
        let reply = send(&client, &request, Vec::clear).await;
        refused(&reply, 400, -32602);
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {} });
    let headers = modern_headers(&modern_request("server/discover", json!({})));
    refused(&send(&client, &bare, |all| *all = headers).await, 400, -32602);

    let key = "io.modelcontextprotocol/protocolVersion";
    let mut request = modern_request("tools/list", json!({}));
    request["params"]["_meta"][key] = json!("v999.0.0");
    let reply = send(&client, &request, |_| ()).await;
    refused(&reply, 400, -32022);
    assert_eq!(reply.json()["error"]["data"]["requested"], "v999.0.0");
    assert_eq!(reply.json()["error"]["data"]["supported"][0], "2026-07-28");
    let reply = send(&client, &request, |headers| headers[0].1 = "2026-07-28".to_owned()).await;
    refused(&reply, 400, -32020);
}

#[tokio::test]
async fn metadata_is_one_object() {
    let client = Client::start().await;
    let good = modern_request("server/discover", json!({}));
    let headers = modern_headers(&good);
    let meta = &good["params"]["_meta"];
    let list = json!(["2026-07-28", {}]);
    for params in [
        json!({ "_meta": list }).to_string(),
        json!({ "_meta": null }).to_string(),
        json!([meta]).to_string(),
        format!(r#"{{"_meta":{meta},"\u005fmeta":{meta}}}"#),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{params}}}"#);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        refused(&client.post(&headers, &text).await, 400, -32602);
    }
    let mut escaped = good.to_string();
    escaped = escaped.replacen("_meta", "\\u005fmeta", 1).replace("\"2026-07-28\"", "\"2026-07\\u002d28\"");
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(client.post(&headers, &escaped).await.status, 200, "{escaped}");
}

#[tokio::test]
async fn what_marks_a_request_as_modern() {
    let client = Client::start().await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    // Each of these makes it modern, and then it lacks what modern requests must have.
    for headers in [[("MCP-Protocol-Version", "2026-07-28")], [("Mcp-Method", "ping")], [("Mcp-Name", "x")]] {
        refused(&client.post(&headers, ping).await, 400, -32602);
    }
    // A legacy version says otherwise.
    let legacy = [("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "ping")];
    refused(&client.post(&legacy, ping).await, 400, -32600);
    // So does `_meta` that has only a progress token.
    let token = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":1}}}"#;
    refused(&client.post(&[], token).await, 400, -32600);
    let session = client.initialize("2025-11-25").await;
    assert_eq!(client.post(&[("Mcp-Session-Id", &session)], token).await.status, 200);
    // Modern requests are served beside a session, and without it.
    let reply = send(&client, &echo(), |headers| headers.push(("Mcp-Session-Id".to_owned(), session))).await;
    assert_eq!(reply.json()["result"]["resultType"], "complete");
}

#[tokio::test]
async fn unknown_methods_are_not_found() {
    let client = Client::start().await;
    for method in
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "nobody/knows"]
    {
        refused(&send(&client, &modern_request(method, json!({})), |_| ()).await, 404, -32601);
    }
    for (method, params) in [
        ("tools/call", json!({ "name": "nobody" })),
        ("prompts/get", json!({ "name": "nobody" })),
        ("resources/read", json!({ "uri": "proof://nowhere" })),
        ("resources/list", json!({ "cursor": "x" })),
    ] {
        refused(&send(&client, &modern_request(method, params), |_| ()).await, 200, -32602);
    }
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
    refused(
        &send(&client, &modern_request("tools/call", json!({ "name": "ask", "_meta": meta })), |_| ()).await,
        400,
        -32021,
    );
}

#[tokio::test]
async fn notifications_are_accepted_and_responses_are_not() {
    let client = Client::start().await;
    let version = [("MCP-Protocol-Version", "2026-07-28")];
    let reply =
        client.post(&version, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    assert_eq!((reply.status, reply.text.as_str()), (202, ""));
    let reply = client.post(&version, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!((reply.status, reply.json().get("id")), (400, None));
}

#[tokio::test]
async fn parameters_are_mirrored_where_the_tool_says_so() {
    let client = Client::start().await;
    let call = |arguments: Value| modern_request("tools/call", json!({ "name": "route", "arguments": arguments }));
    for (arguments, header, good) in [
        (json!({ "region": "Hello" }), Some("Hello"), true),
        (json!({ "region": "Hello" }), Some("=?base64?SGVsbG8=?="), true),
        (json!({ "region": "Hello" }), Some("=?base64?SGVsbG8?="), false),
        (json!({ "region": "Hello" }), Some("=?base64?SGVs!!!bG8=?="), false),
        (json!({ "region": "SGVsbG8=" }), Some("SGVsbG8="), true),
        (json!({ "region": "Hello" }), Some("hello"), false),
        (json!({ "region": "Hello" }), None, false),
        (json!({}), None, true),
        (json!({}), Some("Hello"), false),
    ] {
        let reply = send(&client, &call(arguments.clone()), |headers| {
            headers.extend(header.map(|value| ("Mcp-Param-Region".to_owned(), value.to_owned())));
        })
        .await;
        if good {
            assert_eq!(reply.status, 200, "{arguments} {header:?}: {}", reply.text);
        } else {
            refused(&reply, 400, -32020);
        }
    }
}

#[tokio::test]
async fn what_precedes_an_answer_makes_a_stream() {
    let client = Client::start().await;
    let arguments = json!({ "steps": 2, "delay_ms": 1 });
    let params = json!({ "name": "slow", "arguments": arguments, "_meta": { "progressToken": "p" } });
    let mut stream = client.modern("tools/call", params).await;
    assert_eq!(stream.head.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.head.header("x-accel-buffering"), Some("no"));
    for step in 1..=2 {
        let event = stream.event().await.unwrap();
        assert!(event.id.is_none(), "streams are not resumable");
        let message: Value = serde_json::from_str(&event.data.unwrap()).unwrap();
        schema::check(R2026_07_28, None, &message);
        assert_eq!(message["params"]["progress"], step);
    }
    let answer = stream.message().await.unwrap();
    schema::check(R2026_07_28, Some("tools/call"), &answer);
    assert!(stream.message().await.is_none());
    let meta = json!({ "io.modelcontextprotocol/logLevel": "debug" });
    let mut logged = client.modern("tools/call", json!({ "name": "log", "_meta": meta })).await;
    let mut count = 0;
    while let Some(message) = logged.message().await {
        schema::check(R2026_07_28, Some("tools/call"), &message);
        count += 1;
    }
    assert_eq!(count, 9);
}

#[tokio::test]
async fn closing_the_stream_cancels() {
    let client = Client::start().await;
    // A subscription that is cancelled leaves no trace; one that stays hears of the change.
    let filter = json!({ "notifications": { "promptsListChanged": true } });
    let mut stays = client.modern("subscriptions/listen", filter.clone()).await;
    let mut goes = client.modern("subscriptions/listen", filter).await;
    for stream in [&mut stays, &mut goes] {
        let first = stream.message().await.unwrap();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        schema::check(R2026_07_28, None, &first);
    }
    drop(goes);
    tokio::time::sleep(Duration::from_millis(50)).await;
    client.modern("tools/call", json!({ "name": "toggle_prompt" })).await.whole().await;
    let change = stays.message().await.unwrap();
    assert_eq!(change["method"], "notifications/prompts/list_changed");
    assert_eq!(change["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    schema::check(R2026_07_28, None, &change);
}

#[tokio::test]
async fn ids_may_repeat_across_requests() {
    let client = Client::start().await;
    let arguments = json!({ "steps": 1, "delay_ms": 60 });
    let slow = || client.modern("tools/call", json!({ "name": "slow", "arguments": arguments }));
    let (first, second) = tokio::join!(slow(), slow());
    assert_eq!((first.head.status, second.head.status), (200, 200));
}
