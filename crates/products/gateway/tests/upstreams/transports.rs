//! HTTP+SSE and WebSocket upstreams, and which of them an address stands for.

use std::sync::{Arc, Mutex};

use gateway::settings::Target;
use net::server::http::{self, OtherTransports};
use serde_json::json;
use tokio::sync::mpsc;
use wire::Revision;

use crate::scene::{LOCAL, Scene, address, call, list, names};
use crate::scripted::{self, STREAM, answer, read, write};

/// The reference server over all transports; its host and port.
async fn reference() -> (http::Server, String) {
    let other_transports = OtherTransports { sse: true, websocket: true };
    let http = http::Options { other_transports, ..http::Options::default() };
    let options = reference::Options { http, ..reference::Options::default() };
    let server = reference::Server::new(options).http(LOCAL).await.expect("a free port");
    let host = server.local_addr().to_string();
    (server, host)
}

async fn works(target: Target, what: &str) {
    let scene = Scene::of(target).await;
    for revision in [Revision::R2025_03_26, Revision::R2025_11_25, Revision::R2026_07_28] {
        let client = scene.client(revision).await;
        let echoed = call(&client, "echo", json!({ "message": "a line\nand ü" })).await;
        assert!(echoed.contains(r"a line\nand ü"), "{what} at {revision}: {echoed}");
        let before = scene.notifications("notifications/progress");
        call(&client, "slow", json!({ "steps": 3, "delay_ms": 1 })).await;
        assert_eq!(scene.notifications("notifications/progress") - before, 3, "{what} at {revision}");
        let listed = list(&client, "tools/list").await;
        assert!(names(&listed).contains(&"echo"), "{what} at {revision}: {listed}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_server_over_http_sse_serves_every_client() {
    let (_server, host) = reference().await;
    works(Target::Sse(address(&format!("http://{host}/sse"))), "sse").await;
}

#[tokio::test]
async fn a_server_over_websocket_serves_every_client() {
    let (_server, host) = reference().await;
    works(Target::WebSocket(address(&format!("ws://{host}/ws"))), "websocket").await;
}

#[tokio::test]
async fn an_endpoint_that_refuses_streamable_http_is_tried_as_http_sse() {
    let (_server, host) = reference().await;
    let url = format!("http://{host}/sse");
    works(Target::Http(address(&url)), "fallback").await;
    // Where the file says which transport it is, no other one is tried.
    let scene = Scene::of(Target::StreamableHttp(address(&url))).await;
    let error = scene.try_client(Revision::R2025_11_25).await.err().expect("no Streamable HTTP there").to_string();
    assert!(error.contains("HTTP status 4"), "{error}");
    scene.end().await;
}

#[tokio::test]
async fn an_error_of_streamable_http_stays_what_it_is() {
    refusing(false).await;
}

/// A stream of Streamable HTTP without a session names no endpoint, and may never bring anything.
#[tokio::test]
async fn a_stream_that_names_no_endpoint_hides_no_error() {
    refusing(true).await;
}

async fn refusing(quiet: bool) {
    let gets = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&gets);
    let origin = scripted::http(move |mut stream| {
        let gets = Arc::clone(&counted);
        async move {
            while let Some(request) = read(&mut stream).await {
                *gets.lock().unwrap() += usize::from(request.is("GET"));
                if request.is("GET") && quiet {
                    write(&mut stream, STREAM).await;
                    std::future::pending::<()>().await;
                }
                write(&mut stream, &answer("404 Not Found", "content-type: text/plain\r\n", "nothing here")).await;
            }
        }
    });
    let scene = Scene::of(Target::Http(address(&format!("{}/mcp", origin.await)))).await;
    let error = scene.try_client(Revision::R2025_11_25).await.err().expect("nothing is there").to_string();
    assert!(error.contains("HTTP status 404"), "{error}");
    assert!(*gets.lock().unwrap() > 0, "HTTP+SSE was not tried");
    scene.end().await;
}

/// A server of 2024-11-05 that answers on the stream, and accepts the POST only then, if `accepts`.
async fn stubborn(accepts: bool, endpoint: &'static str) -> String {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
    let origin = scripted::http(move |mut stream| {
        let (sender, receiver) = (sender.clone(), Arc::clone(&receiver));
        async move {
            while let Some(request) = read(&mut stream).await {
                if request.is("GET") {
                    write(&mut stream, &format!("{STREAM}: hello\n\nevent: endpoint\ndata: {endpoint}\n\n")).await;
                    while let Some(text) = receiver.lock().await.recv().await {
                        write(&mut stream, &format!("event: message\ndata: {text}\n\n")).await;
                    }
                    return;
                }
                let result = match request.method().as_str() {
                    "initialize" => json!({ "protocolVersion": "2024-11-05", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "stubborn", "version": "1" } }),
                    "tools/call" => json!({ "content": [{ "type": "text", "text": "at last" }] }),
                    _ => json!({}),
                };
                let is_call = request.method() == "tools/call";
                if request.message().get("id").is_some() {
                    sender.send(request.result(&result)).unwrap();
                }
                if is_call && !accepts {
                    std::future::pending::<()>().await;
                }
                write(&mut stream, &answer("202 Accepted", "", "")).await;
            }
        }
    });
    origin.await
}

#[tokio::test]
async fn an_answer_on_the_stream_counts_before_the_post_is_answered() {
    let origin = stubborn(false, "/messages?id=1").await;
    let scene = Scene::of(Target::Sse(address(&format!("{origin}/sse")))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let answer = call(&client, "any", json!({})).await;
    assert!(answer.contains("at last"), "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn an_endpoint_on_another_origin_is_refused() {
    let origin = stubborn(true, "http://127.0.0.1:9/messages").await;
    let scene = Scene::of(Target::Sse(address(&format!("{origin}/sse")))).await;
    let error = scene.try_client(Revision::R2025_11_25).await.err().expect("it is refused").to_string();
    assert!(error.contains("on another origin"), "{error}");
    scene.end().await;
}

#[tokio::test]
async fn a_stream_that_ends_ends_its_calls_and_the_next_one_works() {
    let (server, host) = reference().await;
    for target in
        [Target::Sse(address(&format!("http://{host}/sse"))), Target::WebSocket(address(&format!("ws://{host}/ws")))]
    {
        let scene = Scene::of(target).await;
        let client = scene.client(Revision::R2025_11_25).await;
        call(&client, "echo", json!({ "message": "a" })).await;
        scene.end().await;
    }
    let scene = Scene::of(Target::Sse(address(&format!("http://{host}/sse")))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let slow = call(&client, "slow", json!({ "steps": 100, "delay_ms": 100 }));
    let cut = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        server.shutdown().await;
    };
    let (answer, ()) = tokio::join!(slow, cut);
    assert!(answer.contains("the outcome is unknown"), "{answer}");
    scene.end().await;
}
