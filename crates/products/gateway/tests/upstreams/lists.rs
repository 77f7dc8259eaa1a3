//! One bad server among several spoils no list: the others are there in time, and the answer names who is missing.

use std::time::{Duration, Instant};

use gateway::settings::Target;
use serde_json::json;
use wire::Revision;

use crate::scene::{Scene, address, call, limits, list, named, names, script, text};
use crate::scripted::{self, answer, json_answer, read, server, write};

/// Bad in some way, and a part of the reason that is to be told.
async fn bad() -> Vec<(&'static str, Target, &'static str)> {
    let hanging = scripted::http(|mut stream| async move {
        let _ = read(&mut stream).await;
        std::future::pending::<()>().await;
    });
    let garbage = scripted::http(|mut stream| async move {
        while read(&mut stream).await.is_some() {
            write(&mut stream, &json_answer("", "<html>no")).await;
        }
    });
    let broken = scripted::http(|mut stream| async move {
        while read(&mut stream).await.is_some() {
            write(&mut stream, &answer("500 Internal Server Error", "", "boom")).await;
        }
    });
    let url = |origin: String| address(&format!("{origin}/mcp"));
    let flood = r#"while :; do echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'; done"#;
    vec![
        ("down", Target::Http(address("http://127.0.0.1:9/mcp")), "nothing listens"),
        ("not a program", script("exec no-such-program-here"), "exit code 127"),
        ("hanging", Target::Http(url(hanging.await)), "no answer within"),
        ("silent", script("sleep 60"), "no answer within"),
        ("garbage", Target::Http(url(garbage.await)), "HTTP status 200 and no message"),
        ("broken", Target::Http(url(broken.await)), "HTTP status 500"),
        ("garbage lines", script("while read -r line; do echo no; done"), "no answer within"),
        ("flooding", script(flood), "no answer within"),
        ("silent list", script(&server("bad", r#"*'"tools/list"'*) ;;"#)), "no answer within"),
        ("ending list", script(&server("bad", r#"*'"tools/list"'*) exit 4 ;;"#)), "exit code 4"),
    ]
}

#[tokio::test]
async fn one_bad_server_spoils_no_list() {
    for (what, target, reason) in bad().await {
        let good = named("good", script(&server("good", "")));
        let scene = Scene::with(vec![named("bad", target), good], limits()).await;
        for revision in [Revision::R2025_11_25, Revision::R2026_07_28] {
            let begun = Instant::now();
            let client = scene.client(revision).await;
            let listed = list(&client, "tools/list").await;
            assert_eq!(names(&listed), ["good", "good-crash"], "{what}: {listed}");
            assert!(begun.elapsed() < Duration::from_secs(4), "{what}: {:?}", begun.elapsed());
            let missing = &listed["_meta"]["dev.proofhouse/missing"];
            assert_eq!(missing[0]["server"], "bad", "{what}: {listed}");
            let told = missing[0]["reason"].as_str().unwrap_or_default();
            assert!(told.contains(reason), "{what}: {told}");
            let answer = call(&client, "good", json!({})).await;
            assert!(answer.contains("pid "), "{what}: {answer}");
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn nothing_is_noted_where_nothing_is_missing() {
    let [a, b] = ["a", "b"].map(|name| named(name, script(&server(name, ""))));
    let scene = Scene::with(vec![a, b], limits()).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let listed = list(&client, "tools/list").await;
    assert_eq!(names(&listed), ["a", "a-crash", "b", "b-crash"]);
    assert!(listed["_meta"]["dev.proofhouse/missing"].is_null(), "{listed}");
    scene.end().await;
}

#[tokio::test]
async fn a_refused_list_is_no_empty_list() {
    let refusing = r#"*'"tools/list"'*) say '"error":{"code":-32603,"message":"not now"}' ;;"#;
    let [a, b] = [("a", refusing), ("b", "")].map(|(name, cases)| named(name, script(&server(name, cases))));
    let scene = Scene::with(vec![a, b], limits()).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let listed = list(&client, "tools/list").await;
    assert_eq!(names(&listed), ["b", "b-crash"]);
    assert!(listed["_meta"]["dev.proofhouse/missing"].to_string().contains("-32603"), "{listed}");
    scene.end().await;
}

#[tokio::test]
async fn a_list_of_nobody_is_an_error() {
    // Both begin, and then neither answers.
    let [a, b] = ["a", "b"].map(|name| named(name, script(&server(name, r#"*'"tools/list"'*) ;;"#))));
    let scene = Scene::with(vec![a, b], limits()).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let answer = text(client.request("tools/list", &client::Params::new()).await);
    assert!(answer.contains("The server `a` was not reached: it gave no answer within 0.7 s"), "{answer}");
    scene.end().await;
}

/// Where all are slow to start, a client waits for the first one, and not in vain.
#[tokio::test]
async fn a_client_can_begin_where_all_are_slow_to_start() {
    let slow = |name: &str, seconds| named(name, script(&format!("sleep {seconds}; {}", server(name, ""))));
    let scene = Scene::with(vec![slow("a", 2), slow("b", 60)], limits()).await;
    for revision in [Revision::R2025_11_25, Revision::R2026_07_28] {
        let client = scene.client(revision).await;
        let listed = list(&client, "tools/list").await;
        assert_eq!(names(&listed), ["a", "a-crash"], "{listed}");
    }
    scene.end().await;
}

/// The second list waits hardly for a server that was too slow for the first one.
#[tokio::test]
async fn a_slow_server_is_waited_for_once() {
    let limits = gateway::settings::Limits { list: Duration::from_secs(3), ..limits() };
    let hanging = named("bad", script("sleep 60"));
    let scene = Scene::with(vec![hanging, named("good", script(&server("good", "")))], limits).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let begun = Instant::now();
    list(&client, "tools/list").await;
    assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
    scene.end().await;
}

/// A client over HTTP must not use a tool whose `x-mcp-header` is invalid (2026-07-28). The gateway is one, for clients of every revision.
#[tokio::test]
async fn a_tool_with_an_invalid_header_name_is_shown_to_nobody() {
    let tool = |name: &str, header: &str| {
        let property = json!({ "type": "string", "x-mcp-header": header });
        json!({ "name": name, "inputSchema": { "type": "object", "properties": { "a": property } } })
    };
    let tools = json!([tool("good", "Region"), tool("bad", "")]);
    let url = {
        let opening = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "_meta": { wire::meta::SERVER_INFO: { "name": "tools", "version": "1" } } });
        let listed = json!({ "tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        let origin = scripted::http(move |mut stream| {
            let (opening, listed) = (opening.clone(), listed.clone());
            async move {
                while let Some(request) = read(&mut stream).await {
                    let text = match request.method().as_str() {
                        "server/discover" => json_answer("", &request.result(&opening)),
                        "tools/list" => json_answer("", &request.result(&listed)),
                        _ => answer("400 Bad Request", "", ""),
                    };
                    write(&mut stream, &text).await;
                }
            }
        });
        format!("{}/mcp", origin.await)
    };
    let one = || named("one", Target::Http(address(&url)));
    for upstreams in [vec![one()], vec![one(), named("two", script(&server("two", "")))]] {
        let scene = Scene::with(upstreams, limits()).await;
        for revision in [Revision::R2025_11_25, Revision::NEWEST] {
            let client = scene.client(revision).await;
            let listed = list(&client, "tools/list").await;
            let names = names(&listed);
            assert!(names.contains(&"good") && !names.contains(&"bad"), "{revision}: {names:?}");
        }
        scene.end().await;
    }
}
