//! Bad input of every kind, over stdio and over HTTP: the code and the status it must get, the id where it can be read, and
//! a server that goes on.

use serde_json::{Value, json};
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::LineClient;
use crate::wire_http::{Client, Head};

/// Texts that are no message, the code they get and the id that can be read in them.
pub fn table() -> Vec<(&'static str, i64, Value)> {
    let none = Value::Null;
    vec![
        ("{", -32700, none.clone()),
        ("nonsense", -32700, none.clone()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700, none.clone()),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#, -32700, none.clone()),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\u{1}ng\"}", -32700, none.clone()),
        (r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, -32700, none.clone()),
        ("1", -32600, none.clone()),
        ("null", -32600, none.clone()),
        ("\"ping\"", -32600, none.clone()),
        ("[]", -32600, none.clone()),
        ("{}", -32600, none.clone()),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a")),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, none.clone()),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, none.clone()),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, none.clone()),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, none),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#, -32600, json!(1)),
    ]
}

#[tokio::test]
async fn over_stdio() {
    for revision in Revision::ALL {
        let mut talk = LineClient::start(revision).await;
        for (text, code, id) in table() {
            talk.write_text(text).await;
            let answer = talk.next().await;
            assert_eq!(answer["error"]["code"], code, "{revision} {text}");
            assert_eq!(answer["id"], id, "{revision} {text}");
            // JSON-RPC's null id is for those revisions whose schema has no error without one.
            let absent = id.is_null() && (revision.at_least(R2025_11_25) || revision.era() == Era::Modern);
            assert_eq!(answer.get("id").is_none(), absent, "{revision} {answer}");
        }
        let deep =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        talk.write_text(&deep).await;
        assert_eq!(talk.next().await["error"]["code"], -32700);
        talk.assert_quiet().await;
    }
}

#[tokio::test]
async fn bytes_that_are_no_text() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let server = std::sync::Arc::new(reference::Server::new(reference::Options::default()));
    let served = tokio::spawn(net::server::stdio::serve(server, reader, writer, net::server::stdio::Limits::default()));
    ours.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n\n  \n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n")
        .await
        .unwrap();
    ours.shutdown().await.unwrap();
    let mut text = String::new();
    ours.read_to_string(&mut text).await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "blank lines are nothing: {text}");
    assert_eq!(lines[0]["error"]["code"], -32700);
    assert_eq!(lines[1]["id"], 2);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn answers_to_nothing_are_ignored_over_stdio() {
    let mut talk = LineClient::start(R2025_11_25).await;
    for text in [
        r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    ] {
        talk.write_text(text).await;
    }
    talk.assert_quiet().await;
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut talk = LineClient::start(R2025_06_18).await;
    for id in ["0", "-7", "\"\"", "\"7\"", "\"a \\\" \u{1f600}\"", "9007199254740993", "123456789012345678901234567890"]
    {
        talk.write_text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
        let line = talk.line().await.unwrap();
        assert_eq!(line.trim_end(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[tokio::test]
async fn params_that_are_an_array() {
    for revision in [R2025_06_18, R2026_07_28] {
        let mut talk = LineClient::start(revision).await;
        talk.write_text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#).await;
        let code = talk.next().await["error"]["code"].take();
        // A server nobody has initialized cannot tell whether the request was meant to be modern.
        assert_eq!(code, if revision.era() == Era::Legacy { -32602 } else { -32600 });
    }
}

#[tokio::test]
async fn over_http() {
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let modern = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "ping")];
    for headers in [&[("Mcp-Session-Id", session.as_str())][..], &modern[..], &[]] {
        for (text, code, id) in table() {
            let reply = client.post(headers, text).await;
            assert_eq!(reply.status, 400, "{text}: {}", reply.text);
            assert_eq!(reply.header("content-type"), Some("application/json"));
            let error = reply.json();
            assert_eq!(error["error"]["code"], code, "{text}");
            assert_eq!(error["id"], id, "{text}");
            assert_eq!(error.get("id").is_none(), id.is_null(), "{text}");
        }
        assert_eq!(client.post(headers, "").await.json()["error"]["code"], -32700);
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let reply = client.post(&[("Mcp-Session-Id", &session)], &ping.to_string()).await;
    assert_eq!((reply.status, reply.json()["result"].clone()), (200, json!({})));
    let garbage = client.raw("GARBAGE\r\n\r\n").await;
    assert_eq!(Head::read(&garbage).status, 400);
}
