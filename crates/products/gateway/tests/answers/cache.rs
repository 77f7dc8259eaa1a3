//! Results that are cached.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use gateway::settings::{AnswerSettings, CacheRule, CacheSettings};
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use wire::Revision;

use super::scene::{Scene, allow, result, text};

const MODERN: Revision = Revision::R2026_07_28;

fn rule(tools: &[&str], ttl: Duration) -> CacheRule {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    CacheRule {
        tools: names(tools),
        resources: names(&["file:///rule/*"]),
        lists: Vec::new(),
        ttl,
        shared: false,
        invalidated_by: names(&["write"]),
    }
}

fn rules(rules: Vec<CacheRule>) -> AnswerSettings {
    AnswerSettings { cache: Some(CacheSettings { rules, ..CacheSettings::default() }), ..AnswerSettings::default() }
}

fn usage() -> AnswerSettings {
    rules(vec![rule(&["usage", "create"], Duration::from_mins(5))])
}

/// Every request has another result.
fn counting(more: Value) -> impl Fn(Call) -> Reply + Send + Sync + 'static {
    let count = AtomicUsize::new(0);
    move |call: Call| result(&call, &count.fetch_add(1, Ordering::Relaxed).to_string(), more.clone())
}

fn fresh(scope: &str) -> Value {
    json!({ "ttlMs": 60_000, "cacheScope": scope })
}

#[tokio::test]
async fn a_rule_keeps_the_results_of_a_tool_that_reads() {
    for (upstream, revision) in [
        (MODERN, MODERN),
        (Revision::R2025_11_25, MODERN),
        (Revision::R2025_11_25, Revision::R2025_06_18),
        (MODERN, Revision::R2024_11_05),
    ] {
        let scene = Scene::open(upstream, usage(), counting(json!({}))).await;
        let client = scene.client("/mcp", revision, "").await;
        for _ in 0..6 {
            assert_eq!(text(&client.call("usage", json!({ "a": 1, "b": 2 })).await), "0", "{revision}");
        }
        assert_eq!(text(&client.call("usage", json!({ "b": 2, "a": 1 })).await), "0");
        assert_eq!(text(&client.call("usage", json!({ "a": 2, "b": 2 })).await), "1", "other arguments");
        // `create` may write, and no rule names `read`.
        for tool in ["create", "create", "read", "read"] {
            client.call(tool, json!({})).await;
        }
        assert_eq!((scene.seen.calls("create"), scene.seen.calls("read"), scene.seen.calls("usage")), (2, 2, 2));
        scene.end().await;
    }
}

#[tokio::test]
async fn what_a_rule_keeps_has_an_end() {
    let settings = rules(vec![rule(&["usage"], Duration::from_millis(200))]);
    let scene = Scene::open(MODERN, settings, counting(json!({}))).await;
    let client = scene.client("/mcp", MODERN, "").await;
    assert_eq!(text(&client.call("usage", json!({})).await), "0");
    sleep(Duration::from_millis(300)).await;
    assert_eq!(text(&client.call("usage", json!({})).await), "1");
    scene.end().await;
}

#[tokio::test]
async fn the_time_of_the_server_counts_and_what_is_left_is_said() {
    let scene = Scene::open(MODERN, rules(Vec::new()), counting(fresh("private"))).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let read = async |uri: &str| client.ask("resources/read", json!({ "uri": uri }), &[]).await;
    let first = read("file:///a").await;
    assert_eq!(first["result"]["ttlMs"], 60_000);
    sleep(Duration::from_millis(50)).await;
    let second = read("file:///a").await;
    assert_eq!(text(&second), "0");
    let left = second["result"]["ttlMs"].as_u64().expect("a number");
    assert!((50_000..=59_950).contains(&left), "{left}");
    assert_eq!(text(&read("file:///b").await), "1");
    // What a tool says of its freshness counts for nothing: 2026-07-28 has no such member there.
    client.call("usage", json!({})).await;
    client.call("usage", json!({})).await;
    assert_eq!(scene.seen.calls("usage"), 2);
    // A client of an older revision gets it in its form, from a request of its own.
    let old = scene.client("/mcp", Revision::R2025_06_18, "").await;
    for _ in 0..2 {
        let read = old.ask("resources/read", json!({ "uri": "file:///a" }), &[]).await;
        assert!(read["result"].get("ttlMs").is_none(), "{read}");
    }
    assert_eq!(scene.seen.of("resources/read", "file:///a").len(), 2);
    scene.end().await;
}

#[tokio::test]
async fn a_private_result_reaches_no_other_principal_and_no_other_server() {
    for access in [None, Some(vec![allow(&["*"])])] {
        let listed = json!([{ "uri": "file:///a", "name": "a" }]);
        let mut more = fresh("private");
        more["resources"] = listed;
        let answer = move |call: Call| result(&call, "mine", more.clone());
        let scene = Scene::guarded(MODERN, usage(), access, answer).await;
        for (path, subject, reads) in
            [("/mcp", "me", 1), ("/mcp", "you", 2), ("/other/mcp", "me", 3), ("/mcp", "me", 3), ("/mcp", "you", 3)]
        {
            let client = scene.client(path, MODERN, subject).await;
            client.ask("resources/read", json!({ "uri": "file:///a" }), &[]).await;
            client.call("usage", json!({})).await;
            assert_eq!(scene.seen.of("resources/read", "").len(), reads, "{path} {subject}");
            assert_eq!(scene.seen.calls("usage"), reads, "{path} {subject}");
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn a_public_result_is_shared_within_one_server() {
    let scene = Scene::guarded(MODERN, rules(Vec::new()), None, counting(fresh("public"))).await;
    for (path, subject, reads) in [("/mcp", "me", 1), ("/mcp", "you", 1), ("/other/mcp", "you", 2)] {
        let client = scene.client(path, MODERN, subject).await;
        client.ask("resources/read", json!({ "uri": "file:///a" }), &[]).await;
        assert_eq!(scene.seen.of("resources/read", "").len(), reads, "{path} {subject}");
    }
    scene.end().await;
    let shared = CacheRule { shared: true, ..rule(&["usage"], Duration::from_mins(1)) };
    let scene = Scene::guarded(MODERN, rules(vec![shared]), None, counting(json!({}))).await;
    for subject in ["me", "you"] {
        scene.client("/mcp", MODERN, subject).await.call("usage", json!({})).await;
    }
    assert_eq!(scene.seen.calls("usage"), 1);
    scene.end().await;
}

/// Rules are asked each time: what is cached for all is not shown to who may not use it.
#[tokio::test]
async fn who_may_not_use_a_tool_gets_no_cached_result() {
    let shared = CacheRule { shared: true, ..rule(&["usage"], Duration::from_mins(1)) };
    let mut rule = allow(&["usage"]);
    let text = "claims.sub == 'me'".to_owned();
    rule.condition = Some(gateway::settings::ConditionText { text, line: 1, column: 1 });
    let scene = Scene::guarded(MODERN, rules(vec![shared]), Some(vec![rule]), counting(json!({}))).await;
    assert!(scene.client("/mcp", MODERN, "me").await.call("usage", json!({})).await["result"].is_object());
    let denied = scene.client("/mcp", MODERN, "you").await.call("usage", json!({})).await;
    assert!(denied["error"]["message"].as_str().is_some_and(|text| text.contains("Unknown tool")), "{denied}");
    scene.end().await;
}

/// Such headers pass to the server: a client must not choose by them what another one gets.
#[tokio::test]
async fn a_request_with_headers_of_its_own_is_not_cached() {
    let shared = CacheRule { shared: true, ..rule(&["usage"], Duration::from_mins(1)) };
    let scene = Scene::open(MODERN, rules(vec![shared]), counting(fresh("public"))).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let usage = json!({ "name": "usage", "arguments": {} });
    for (headers, expected) in [
        (&[("mcp-tenant", "evil")] as &[_], "0"),
        (&[], "1"),
        (&[("mcp-tenant", "evil")], "2"),
        (&[("x-tenant", "other")], "1"),
    ] {
        assert_eq!(text(&client.ask("tools/call", usage.clone(), headers).await), expected, "{headers:?}");
    }
    scene.end().await;
}

/// Two sessions of an older server that may know different things are two, even where clients have no tokens.
#[tokio::test]
async fn what_a_session_of_its_own_says_stays_in_the_session() {
    let asked = json!({ "sampling": {} });
    let scene = Scene::open(Revision::R2025_06_18, usage(), counting(json!({}))).await;
    let one = scene.capable("/mcp", Revision::R2025_06_18, "", asked.clone()).await;
    let two = scene.capable("/mcp", Revision::R2025_06_18, "", asked).await;
    for _ in 0..2 {
        assert_eq!(text(&one.call("usage", json!({})).await), "0");
        assert_eq!(text(&two.call("usage", json!({})).await), "1");
    }
    scene.end().await;
}

#[tokio::test]
async fn failures_are_never_kept() {
    let count = AtomicUsize::new(0);
    let failing = move |call: Call| match count.fetch_add(1, Ordering::Relaxed) {
        0 => result(&call, "no", json!({ "isError": true })),
        1 => Answer::error(Some(call.id()), &RpcError::internal("no")).into(),
        number => result(&call, &number.to_string(), json!({})),
    };
    let scene = Scene::open(MODERN, usage(), failing).await;
    let client = scene.client("/mcp", MODERN, "").await;
    assert_eq!(client.call("usage", json!({})).await["result"]["isError"], true);
    assert_eq!(client.call("usage", json!({})).await["error"]["code"], -32603);
    for _ in 0..2 {
        assert_eq!(text(&client.call("usage", json!({})).await), "2");
    }
    scene.end().await;
}

/// What the client answered is no part of its request.
#[tokio::test]
async fn a_result_after_a_question_is_not_kept() {
    for revision in [Revision::R2025_06_18, MODERN] {
        let asking = |call: Call| {
            if call.message.body_member("inputResponses").is_some() {
                return result(&call, "by the answer", json!({}));
            }
            let question = json!({ "method": "roots/list", "params": {} });
            let body =
                json!({ "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "s" });
            Answer::result(call.id(), &body).into()
        };
        let scene = Scene::open(MODERN, usage(), asking).await;
        let client = scene.capable("/mcp", revision, "", json!({ "roots": {} })).await;
        if revision == MODERN {
            let params = json!({ "name": "usage", "arguments": {}, "requestState": "s",
                "inputResponses": { "q": { "roots": [] } } });
            for _ in 0..2 {
                assert_eq!(client.call("usage", json!({})).await["result"]["resultType"], "input_required");
                assert_eq!(text(&client.ask("tools/call", params.clone(), &[]).await), "by the answer");
            }
            assert_eq!(scene.seen.calls("usage"), 4);
        } else {
            for calls in [2, 4] {
                assert_eq!(text(&client.answering_roots("usage").await), "by the answer");
                assert_eq!(scene.seen.calls("usage"), calls);
            }
        }
        scene.end().await;
    }
}

#[tokio::test]
async fn a_tool_that_writes_ends_what_a_rule_keeps() {
    let scene = Scene::guarded(MODERN, usage(), None, counting(json!({}))).await;
    let me = scene.client("/mcp", MODERN, "me").await;
    let you = scene.client("/other/mcp", MODERN, "you").await;
    assert_eq!(text(&me.call("usage", json!({})).await), "0");
    assert_eq!(text(&me.call("usage", json!({})).await), "0");
    assert_eq!(text(&you.call("write", json!({})).await), "1");
    assert_eq!(text(&me.call("usage", json!({})).await), "2");
    scene.end().await;
}

#[tokio::test]
async fn changes_that_the_server_announces_end_what_is_kept() {
    let scene = Scene::open(MODERN, rules(Vec::new()), counting(fresh("private"))).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let list = || client.ask("resources/list", json!({}), &[]);
    let read = || client.ask("resources/read", json!({ "uri": "file:///a" }), &[]);
    assert_eq!((text(&list().await), text(&list().await)), ("0", "0"));
    assert_eq!((text(&read().await), text(&read().await)), ("1", "1"));
    scene.seen.announce("notifications/resources/list_changed", json!({})).await;
    for _ in 0..100 {
        if text(&list().await) != "0" {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((text(&list().await), text(&read().await)), ("2", "1"));
    scene.seen.announce("notifications/resources/updated", json!({ "uri": "file:///a" })).await;
    for _ in 0..100 {
        if text(&read().await) != "1" {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((text(&list().await), text(&read().await)), ("2", "3"));
    // Each page is an entry.
    let page = client.ask("resources/list", json!({ "cursor": "2" }), &[]).await;
    assert_eq!(text(&page), "4");
    scene.end().await;
}

#[tokio::test]
async fn equal_requests_at_the_same_time_are_one() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = Arc::clone(&gate);
    let slow = move |call: Call| {
        let gate = Arc::clone(&gate);
        Reply::later(async move {
            let _ = gate.acquire().await;
            let body = json!({ "resultType": "complete", "content": [{ "type": "text", "text": "once" }] });
            Answer::result(call.id(), &body)
        })
    };
    let scene = Scene::open(MODERN, usage(), slow).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let calls = join_all((0..20).map(|_| client.call("usage", json!({}))));
    let leaving = async {
        // Who leaves first does not spoil it for the others.
        tokio::select! {
            _ = client.call("usage", json!({ "a": 1 })) => panic!("it is answered"),
            () = scene.seen.wait_for("usage", 2) => {}
        }
        sleep(Duration::from_millis(100)).await;
        opened.add_permits(100);
    };
    let (answers, ()) = tokio::join!(calls, leaving);
    assert!(answers.iter().all(|answer| text(answer) == "once"));
    assert_eq!(scene.seen.calls("usage"), 2);
    assert_eq!(text(&client.call("usage", json!({ "a": 1 })).await), "once");
    scene.end().await;
}

#[tokio::test]
async fn another_configuration_begins_with_an_empty_cache() {
    let scene = Scene::open(MODERN, usage(), counting(json!({}))).await;
    let client = scene.client("/mcp", MODERN, "").await;
    assert_eq!(text(&client.call("usage", json!({})).await), "0");
    scene.gateway.reload(&scene.settings).expect("valid settings");
    assert_eq!(text(&client.call("usage", json!({})).await), "0", "nothing has changed");
    let mut settings = scene.settings.clone();
    settings.answers = rules(vec![rule(&["usage"], Duration::from_mins(1))]);
    scene.gateway.reload(&settings).expect("valid settings");
    assert_eq!(text(&client.call("usage", json!({})).await), "1");
    settings.answers = AnswerSettings::default();
    scene.gateway.reload(&settings).expect("valid settings");
    assert_eq!(text(&client.call("usage", json!({})).await), "2");
    assert_eq!(text(&client.call("usage", json!({})).await), "3", "nothing is kept any more");
    scene.end().await;
}

/// Lists that the gateway makes itself stay as long as all their parts.
#[tokio::test]
async fn lists_behind_rules_of_access_are_kept_too() {
    let lists =
        CacheRule { tools: Vec::new(), lists: vec!["prompts/list".to_owned()], ..rule(&[], Duration::from_mins(1)) };
    let prompts =
        |call: Call| result(&call, "", json!({ "prompts": [], "resources": [], "ttlMs": 0, "cacheScope": "private" }));
    let scene = Scene::guarded(MODERN, rules(vec![lists]), Some(vec![allow(&["*"])]), prompts).await;
    let client = scene.client("/mcp", MODERN, "me").await;
    for _ in 0..2 {
        client.ask("prompts/list", json!({}), &[]).await;
        sleep(Duration::from_millis(2200)).await;
    }
    assert_eq!(scene.seen.of("prompts/list", "").len(), 1);
    scene.client("/mcp", MODERN, "you").await.ask("prompts/list", json!({}), &[]).await;
    assert_eq!(scene.seen.of("prompts/list", "").len(), 2);
    scene.end().await;
}
