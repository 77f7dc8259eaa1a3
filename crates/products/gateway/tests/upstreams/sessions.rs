//! Sessions that a server loses, and streams that it does not have.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::Params;
use gateway::settings::{Limits, Target};
use serde_json::json;
use wire::Revision;

use crate::scene::{Scene, address, call, limits, named, text};
use crate::scripted::{self, STREAM, answer, json_answer, read, write};

/// What the scripted server saw: `METHOD` or the method of the message, with the session.
type Seen = Arc<Mutex<Vec<String>>>;

/// A server of 2025-06-18 whose sessions end after `calls` calls, and that has no stream for GET.
async fn forgetful(calls: usize) -> (String, Seen) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    // The number of the session, and how many calls it has left.
    let session = Arc::new(Mutex::new((0, 0)));
    let origin = scripted::http(move |mut stream| {
        let (seen, session) = (Arc::clone(&kept), Arc::clone(&session));
        async move {
            while let Some(request) = read(&mut stream).await {
                let text = {
                    let method = if request.is("POST") { request.method() } else { request.head[..3].to_owned() };
                    let given = request.header("mcp-session-id").unwrap_or("none").to_owned();
                    seen.lock().unwrap().push(format!("{method} {given}"));
                    let mut session = session.lock().unwrap();
                    let known = given == session.0.to_string();
                    match method.as_str() {
                        "GET" => answer("405 Method Not Allowed", "", ""),
                        "initialize" => {
                            *session = (session.0 + 1, calls);
                            let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                                "serverInfo": { "name": "forgetful", "version": "1" } });
                            json_answer(&format!("mcp-session-id: {}\r\n", session.0), &request.result(&result))
                        }
                        "tools/call" if known && session.1 > 0 => {
                            session.1 -= 1;
                            let text = format!("in session {}", session.0);
                            json_answer("", &request.result(&json!({ "content": [{ "type": "text", "text": text }] })))
                        }
                        "tools/call" => answer("404 Not Found", "", ""),
                        "notifications/initialized" => answer("202 Accepted", "", ""),
                        _ => answer("400 Bad Request", "", ""),
                    }
                };
                write(&mut stream, &text).await;
            }
        }
    });
    (origin.await, seen)
}

fn count(seen: &Seen, begins: &str) -> usize {
    seen.lock().unwrap().iter().filter(|line| line.starts_with(begins)).count()
}

#[tokio::test]
async fn a_session_that_is_gone_is_begun_again_once() {
    let (origin, seen) = forgetful(1).await;
    let scene = Scene::of(Target::Http(address(&format!("{origin}/mcp")))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    for session in 1..=3 {
        let answer = call(&client, "any", json!({})).await;
        assert!(answer.contains(&format!("in session {session}")), "{answer}");
    }
    assert_eq!(count(&seen, "initialize"), 3, "{seen:?}");
    // The call that met the end of each session was sent once more, and never more.
    assert_eq!(count(&seen, "tools/call"), 5, "{seen:?}");
    scene.end().await;
}

/// How often a server was called, and how many responses it got.
#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    responses: AtomicUsize,
}

/// A server that sends a request in the middle of a call, takes no response to it, and then answers the call.
async fn asking(revision: Revision, asked: &'static str, refusal: &'static str) -> (String, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let counted = Arc::clone(&counts);
    let said = json!({ "content": [{ "type": "text", "text": "all the same" }], "resultType": "complete" });
    let opening = json!({ "protocolVersion": revision.as_str(), "supportedVersions": [revision.as_str()],
        "capabilities": { "tools": {} }, "serverInfo": { "name": "asking", "version": "1" }, "resultType": "complete",
        "ttlMs": 0, "cacheScope": "private",
        "_meta": { wire::meta::SERVER_INFO: { "name": "asking", "version": "1" } } });
    let origin = scripted::http(move |mut stream| {
        let (said, opening, counted) = (said.clone(), opening.clone(), Arc::clone(&counted));
        async move {
            while let Some(request) = read(&mut stream).await {
                let text = match request.method().as_str() {
                    "tools/call" => {
                        counted.calls.fetch_add(1, Ordering::Relaxed);
                        write(&mut stream, &format!("{STREAM}data: {asked}\n\n")).await;
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        return write(&mut stream, &format!("data: {}\n\n", request.result(&said))).await;
                    }
                    "initialize" => json_answer("mcp-session-id: s\r\n", &request.result(&opening)),
                    "server/discover" => json_answer("", &request.result(&opening)),
                    "notifications/initialized" => answer("202 Accepted", "", ""),
                    "" if request.is("POST") => {
                        counted.responses.fetch_add(1, Ordering::Relaxed);
                        answer(refusal, "", "")
                    }
                    _ => answer(refusal, "", ""),
                };
                write(&mut stream, &text).await;
            }
        }
    });
    (origin.await, counts)
}

#[tokio::test]
async fn a_server_that_takes_no_answer_to_its_ping_still_answers() {
    // At 2026-07-28 servers send no requests, and get no responses.
    for (revision, expected) in [(Revision::R2025_11_25, 1), (Revision::NEWEST, 0)] {
        let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
        let (origin, counts) = asking(revision, ping, "400 Bad Request").await;
        let scene = Scene::of(Target::Http(address(&format!("{origin}/mcp")))).await;
        let client = scene.client(revision).await;
        let answer = call(&client, "any", json!({})).await;
        assert!(answer.contains("all the same"), "{revision}: {answer}");
        assert_eq!(counts.responses.load(Ordering::Relaxed), expected, "{revision}");
        scene.end().await;
    }
}

#[tokio::test]
async fn a_call_whose_server_takes_no_answer_is_not_sent_again() {
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
    for refusal in ["404 Not Found", "400 Bad Request"] {
        let (origin, counts) = asking(Revision::R2025_11_25, question, refusal).await;
        let scene = Scene::of(Target::Http(address(&format!("{origin}/mcp")))).await;
        let client = scene.rootless_client(Revision::R2025_11_25).await;
        let answer = call(&client, "any", json!({})).await;
        assert!(answer.contains(r#""outcome":"unknown""#), "{refusal}: {answer}");
        assert_eq!(counts.calls.load(Ordering::Relaxed), 1, "{refusal}");
        scene.end().await;
    }
}

/// A server that opens sessions on an event stream, as the SDKs do, and serves nothing without one. Where it is modern, every
/// response names a session, and unknown methods come with status 404.
async fn streaming_sessions(revision: Revision) -> String {
    let opening = json!({ "protocolVersion": revision.as_str(), "supportedVersions": [revision.as_str()],
        "capabilities": { "tools": {} }, "serverInfo": { "name": "streaming", "version": "1" },
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "_meta": { wire::meta::SERVER_INFO: { "name": "streaming", "version": "1" } } });
    let modern = revision == Revision::NEWEST;
    scripted::http(move |mut stream| {
        let opening = opening.clone();
        async move {
            let session = "mcp-session-id: s\r\n";
            while let Some(request) = read(&mut stream).await {
                let known = modern || request.header("mcp-session-id") == Some("s");
                let text = match request.method().as_str() {
                    "initialize" if !modern => {
                        let head = STREAM.replace("\r\n\r\n", &format!("\r\n{session}\r\n"));
                        return write(&mut stream, &format!("{head}data: {}\n\n", request.result(&opening))).await;
                    }
                    "server/discover" if modern => json_answer(session, &request.result(&opening)),
                    "notifications/initialized" if known => answer("202 Accepted", "", ""),
                    "tools/call" if known => {
                        json_answer(session, &request.result(&json!({ "content": [], "resultType": "complete" })))
                    }
                    _ if modern => {
                        let error = json!({ "jsonrpc": "2.0", "id": request.message()["id"],
                            "error": { "code": -32601, "message": "no such method" } });
                        answer(
                            "404 Not Found",
                            &format!("content-type: application/json\r\n{session}"),
                            &error.to_string(),
                        )
                    }
                    _ => answer("400 Bad Request", "", ""),
                };
                write(&mut stream, &text).await;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_session_is_kept_that_opens_on_a_stream() {
    let scene =
        Scene::of(Target::Http(address(&format!("{}/mcp", streaming_sessions(Revision::R2025_11_25).await)))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let answer = call(&client, "any", json!({})).await;
    assert!(answer.contains(r#""content":[]"#), "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn a_modern_server_has_no_session_that_could_end() {
    let scene = Scene::of(Target::Http(address(&format!("{}/mcp", streaming_sessions(Revision::NEWEST).await)))).await;
    let client = scene.client(Revision::NEWEST).await;
    let answer = text(client.request("example/none", &Params::new()).await);
    assert!(answer.contains("no such method"), "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn a_session_that_is_always_gone_is_an_error() {
    let (origin, seen) = forgetful(0).await;
    let scene = Scene::of(Target::Http(address(&format!("{origin}/mcp")))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let answer = call(&client, "any", json!({})).await;
    assert!(answer.contains("ended the session") && answer.contains("not run"), "{answer}");
    assert_eq!(count(&seen, "tools/call"), 2, "{seen:?}");
    scene.end().await;
}

#[tokio::test]
async fn a_server_without_a_stream_is_asked_for_it_once() {
    let (origin, seen) = forgetful(2).await;
    let scene = Scene::of(Target::Http(address(&format!("{origin}/mcp")))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    for _ in 0..6 {
        call(&client, "any", json!({})).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(count(&seen, "initialize"), 3, "{seen:?}");
    assert_eq!(count(&seen, "GET"), 1, "also later sessions know it: {seen:?}");
    scene.end().await;
}

/// Some servers ask their client on that stream. A question before it is open would be lost.
#[tokio::test]
async fn calls_wait_for_the_stream_of_the_session() {
    let is_open = Arc::new(AtomicBool::new(false));
    let origin = scripted::http(move |mut stream| {
        let is_open = Arc::clone(&is_open);
        async move {
            while let Some(request) = read(&mut stream).await {
                if request.is("GET") {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    is_open.store(true, Ordering::Relaxed);
                    write(&mut stream, STREAM).await;
                    std::future::pending::<()>().await;
                }
                let text = format!("open: {}", is_open.load(Ordering::Relaxed));
                let text = match request.method().as_str() {
                    "initialize" => json_answer(
                        "mcp-session-id: a\r\n",
                        &request.result(&json!({
                        "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "asking", "version": "1" } })),
                    ),
                    "tools/call" => {
                        json_answer("", &request.result(&json!({ "content": [{ "type": "text", "text": text }] })))
                    }
                    "notifications/initialized" => answer("202 Accepted", "", ""),
                    _ => answer("400 Bad Request", "", ""),
                };
                write(&mut stream, &text).await;
            }
        }
    });
    let scene = Scene::of(Target::Http(address(&format!("{}/mcp", origin.await)))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let answer = call(&client, "any", json!({})).await;
    assert!(answer.contains("open: true"), "{answer}");
    scene.end().await;
}

/// Some servers ask on that stream, and do not even begin to answer the call before they have the response.
#[tokio::test]
async fn a_question_is_answered_before_its_call_is() {
    for question in ["ping", "roots/list"] {
        let (asked, ask) = tokio::sync::watch::channel(false);
        let (respond, responded) = tokio::sync::watch::channel(false);
        let origin = scripted::http(move |mut stream| {
            let (asked, mut ask) = (asked.clone(), ask.clone());
            let (respond, mut responded) = (respond.clone(), responded.clone());
            async move {
                while let Some(request) = read(&mut stream).await {
                    if request.is("GET") {
                        write(&mut stream, STREAM).await;
                        ask.wait_for(|asked| *asked).await.unwrap();
                        let message = json!({ "jsonrpc": "2.0", "id": "q", "method": question });
                        write(&mut stream, &format!("data: {message}\n\n")).await;
                        std::future::pending::<()>().await;
                    }
                    let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                        "serverInfo": { "name": "asking", "version": "1" } });
                    let text = match request.method().as_str() {
                        "initialize" => json_answer("mcp-session-id: a\r\n", &request.result(&opening)),
                        "tools/call" => {
                            asked.send_replace(true);
                            responded.wait_for(|responded| *responded).await.unwrap();
                            json_answer("", &request.result(&json!({ "content": [] })))
                        }
                        "" => {
                            respond.send_replace(request.message().get("result").is_some());
                            answer("202 Accepted", "", "")
                        }
                        "notifications/initialized" => answer("202 Accepted", "", ""),
                        _ => answer("400 Bad Request", "", ""),
                    };
                    write(&mut stream, &text).await;
                }
            }
        });
        let scene = Scene::of(Target::Http(address(&format!("{}/mcp", origin.await)))).await;
        let client = scene.rootless_client(Revision::R2025_11_25).await;
        let answer = call(&client, "any", json!({})).await;
        assert!(answer.contains(r#""content":[]"#), "{question}: {answer}");
        scene.end().await;
    }
}

/// `initialize` must not be cancelled (2025-11-25, basic/utilities/cancellation).
#[tokio::test]
async fn an_unanswered_initialize_is_not_cancelled() {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let origin = scripted::http(move |mut stream| {
        let seen = Arc::clone(&kept);
        async move {
            while let Some(request) = read(&mut stream).await {
                seen.lock().unwrap().push(request.method());
                if request.method() == "initialize" {
                    std::future::pending::<()>().await;
                }
                write(&mut stream, &answer("400 Bad Request", "", "")).await;
            }
        }
    });
    let target = Target::Http(address(&format!("{}/mcp", origin.await)));
    let limits = Limits { start: Duration::from_millis(300), ..limits() };
    let scene = Scene::with(vec![named("one", target)], limits).await;
    assert!(scene.try_client(Revision::R2025_11_25).await.is_err());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(count(&seen, "initialize") > 0 && count(&seen, "notifications/cancelled") == 0, "{seen:?}");
    scene.end().await;
}

/// A refusal that lists the version asked for means that it is served after all.
#[tokio::test]
async fn a_refused_version_that_is_listed_is_asked_for_once_more() {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let opening = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "_meta": { wire::meta::SERVER_INFO: { "name": "coy", "version": "1" } } });
    let origin = scripted::http(move |mut stream| {
        let (seen, opening) = (Arc::clone(&kept), opening.clone());
        async move {
            while let Some(request) = read(&mut stream).await {
                seen.lock().unwrap().push(request.method());
                let text = match request.method().as_str() {
                    "server/discover" if count(&seen, "server/discover") == 1 => {
                        let data = json!({ "supported": ["2026-07-28"], "requested": "2026-07-28" });
                        let error = json!({ "code": -32022, "message": "Unsupported protocol version", "data": data });
                        let body = json!({ "jsonrpc": "2.0", "id": request.message()["id"], "error": error });
                        answer("400 Bad Request", "content-type: application/json\r\n", &body.to_string())
                    }
                    "server/discover" => json_answer("", &request.result(&opening)),
                    "tools/call" => {
                        json_answer("", &request.result(&json!({ "content": [], "resultType": "complete" })))
                    }
                    _ => answer("400 Bad Request", "", ""),
                };
                write(&mut stream, &text).await;
            }
        }
    });
    let scene = Scene::of(Target::Http(address(&format!("{}/mcp", origin.await)))).await;
    let client = scene.client(Revision::NEWEST).await;
    let answer = call(&client, "any", json!({})).await;
    assert!(answer.contains(r#""content":[]"#), "{answer}");
    assert_eq!((count(&seen, "server/discover"), count(&seen, "initialize")), (2, 0), "{seen:?}");
    scene.end().await;
}
