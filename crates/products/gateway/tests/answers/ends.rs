//! What ends cached results where nobody says so in time: a write whose answer nobody gets, another configuration, a stream of
//! changes that ends, a server that starts again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use gateway::settings::{AnswerSettings, CacheRule, CacheSettings, Limits};
use net::service::{Answer, Call, Reply};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use wire::Revision;

use super::scene::{Raw, Scene, allow, result, text};

const MODERN: Revision = Revision::R2026_07_28;

fn settings(shared: bool) -> AnswerSettings {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let rule = CacheRule {
        tools: names(&["usage"]),
        resources: Vec::new(),
        lists: names(&["resources/list"]),
        ttl: Duration::from_mins(5),
        shared,
        invalidated_by: names(&["write"]),
    };
    AnswerSettings {
        cache: Some(CacheSettings { rules: vec![rule], ..CacheSettings::default() }),
        ..AnswerSettings::default()
    }
}

/// `write` gets its work done, also when nobody waits for it; `usage` says whether it is done.
fn slow_write() -> (Arc<AtomicBool>, impl Fn(Call) -> Reply + Send + Sync + 'static) {
    let done = Arc::new(AtomicBool::new(false));
    let written = Arc::clone(&done);
    let answer = move |call: Call| {
        if call.message.string_member("name").as_deref() != Some("write") {
            let state = if done.load(Ordering::Relaxed) { "new" } else { "old" };
            return result(&call, state, json!({}));
        }
        let done = Arc::clone(&done);
        let working = tokio::spawn(async move {
            sleep(Duration::from_millis(600)).await;
            done.store(true, Ordering::Relaxed);
        });
        Reply::later(async move {
            let _ = working.await;
            Answer::result(call.id(), &json!({ "resultType": "complete", "content": [] }))
        })
    };
    (written, answer)
}

async fn usage(client: &Raw) -> String {
    text(&client.call("usage", json!({})).await).to_owned()
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

#[tokio::test]
async fn a_write_that_goes_on_after_its_client_leaves_nothing_old() {
    for (revision, gives_up) in [(MODERN, false), (Revision::R2025_11_25, false), (MODERN, true)] {
        let (done, answer) = slow_write();
        let scene = Scene::open(revision, settings(true), answer).await;
        if gives_up {
            let mut settings = scene.settings.clone();
            settings.limits = Limits { request: Duration::from_millis(200), ..Limits::default() };
            scene.gateway.reload(&settings).expect("valid settings");
        }
        let client = scene.client("/mcp", MODERN, "").await;
        assert_eq!((usage(&client).await, usage(&client).await), ("old".to_owned(), "old".to_owned()));
        assert_eq!(scene.seen.calls("usage"), 1);
        if gives_up {
            let given_up = client.call("write", json!({})).await;
            assert_eq!(given_up["error"]["data"]["outcome"], "unknown", "{given_up}");
        } else {
            tokio::select! {
                _ = client.call("write", json!({})) => panic!("nobody waits for it"),
                () = scene.seen.wait("write") => {}
            }
        }
        sleep(Duration::from_millis(100)).await;
        assert_eq!(usage(&client).await, "old", "the server is still at it");
        until("the write ends", || done.load(Ordering::Relaxed)).await;
        assert_eq!(usage(&client).await, "new", "{revision} {gives_up}");
        scene.end().await;
    }
}

/// `slow` answers late.
const CHILD: &str = r#"n=0
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"initialize"'*) r='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) r='{"tools":[{"name":"usage","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"crash"'*) exit 3 ;;
    *'"tools/call"'*)
        case "$line" in *'"write"'*) sleep 0.6 ;; esac
        n=$((n + 1))
        r="{\"content\":[{\"type\":\"text\",\"text\":\"$$ $n\"}]}" ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done"#;

#[tokio::test]
async fn after_the_late_answer_to_a_write_results_are_kept_again() {
    let scene = Scene::script(CHILD, settings(true)).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let first = usage(&client).await;
    assert_eq!(usage(&client).await, first);
    assert!(timeout(Duration::from_millis(200), client.call("write", json!({}))).await.is_err());
    // It reads this when the write is done.
    let second = usage(&client).await;
    assert_ne!(second, first);
    let third = usage(&client).await;
    assert_eq!(usage(&client).await, third, "kept again");
    scene.end().await;
}

#[tokio::test]
async fn what_a_server_said_before_it_started_again_is_not_used() {
    let scene = Scene::script(CHILD, settings(true)).await;
    let client = scene.client("/mcp", MODERN, "").await;
    let first = usage(&client).await;
    assert_eq!(usage(&client).await, first);
    let crash = client.call("read", json!({ "how": "crash" })).await;
    assert!(crash["error"].is_object(), "{crash}");
    let other = client.call("read", json!({})).await;
    let child = |text: &str| text.split(' ').next().map(str::to_owned);
    assert_ne!(child(text(&other)), child(&first), "it has started again");
    assert_eq!(child(&usage(&client).await), child(text(&other)));
    scene.end().await;
}

#[tokio::test]
async fn who_waits_while_the_configuration_changes_shares_nothing_by_the_old_one() {
    let (gate, count) = (Arc::new(Semaphore::new(0)), AtomicUsize::new(0));
    let opened = Arc::clone(&gate);
    let answer = move |call: Call| {
        let (gate, number) = (Arc::clone(&gate), count.fetch_add(1, Ordering::Relaxed));
        Reply::later(async move {
            if number == 0 {
                let _ = gate.acquire().await;
            }
            let content = json!([{ "type": "text", "text": number.to_string() }]);
            let body = json!({ "resultType": "complete", "content": content, "isError": number == 0 });
            Answer::result(call.id(), &body)
        })
    };
    let scene = Scene::guarded(MODERN, settings(true), None, answer).await;
    let (me, you) = (scene.client("/mcp", MODERN, "me").await, scene.client("/mcp", MODERN, "you").await);
    let other = scene.client("/mcp", MODERN, "other").await;
    let changing = async {
        scene.seen.wait("usage").await;
        sleep(Duration::from_millis(200)).await;
        let mut changed = scene.settings.clone();
        changed.answers = settings(false);
        scene.gateway.reload(&changed).expect("valid settings");
        opened.add_permits(1);
    };
    let second = async {
        scene.seen.wait("usage").await;
        usage(&you).await
    };
    let (first, second, ()) = tokio::join!(usage(&me), second, changing);
    assert_eq!((first.as_str(), second.as_str()), ("0", "1"));
    assert_eq!(usage(&other).await, "2", "it is no principal's but its own");
    assert_eq!(usage(&other).await, "2");
    scene.end().await;
}

#[tokio::test]
async fn a_list_that_was_asked_for_before_a_change_is_not_kept_after_it() {
    let (gate, slow) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicBool::new(false)));
    let (opened, slowed) = (Arc::clone(&gate), Arc::clone(&slow));
    let answer = move |call: Call| {
        let (gate, slow) = (Arc::clone(&gate), Arc::clone(&slow));
        Reply::later(async move {
            if slow.swap(false, Ordering::Relaxed) {
                let _ = gate.acquire().await;
            }
            Answer::result(call.id(), &json!({ "resultType": "complete", "resources": [], "ttlMs": 0 }))
        })
    };
    let scene = Scene::guarded(MODERN, AnswerSettings::default(), Some(vec![allow(&["*"])]), answer).await;
    let client = scene.client("/mcp", MODERN, "me").await;
    let list = || client.ask("resources/list", json!({}), &[]);
    let lists = || scene.seen.of("resources/list", "").len();
    list().await;
    list().await;
    assert_eq!(lists(), 1);
    until("it is followed", || scene.seen.is_followed()).await;
    slowed.store(true, Ordering::Relaxed);
    scene.seen.announce("notifications/resources/list_changed", json!({})).await;
    let changing = async {
        until("it is asked again", || lists() == 2).await;
        scene.seen.announce("notifications/resources/list_changed", json!({})).await;
        sleep(Duration::from_millis(200)).await;
        opened.add_permits(1);
    };
    sleep(Duration::from_millis(200)).await;
    tokio::join!(list(), changing);
    list().await;
    assert_eq!(lists(), 3, "the second list is from before the change");
    list().await;
    assert_eq!(lists(), 3);
    scene.end().await;
}

#[tokio::test]
async fn where_no_change_can_be_heard_lists_are_asked_for_again() {
    for access in [None, Some(vec![allow(&["*"])])] {
        let answer = |call: Call| result(&call, "", json!({ "resources": [], "ttlMs": 0, "cacheScope": "private" }));
        let answers = if access.is_some() { AnswerSettings::default() } else { settings(false) };
        let scene = Scene::guarded(MODERN, answers, access, answer).await;
        let client = scene.client("/mcp", MODERN, "me").await;
        let list = || client.ask("resources/list", json!({}), &[]);
        let lists = || scene.seen.of("resources/list", "").len();
        list().await;
        until("it is followed", || scene.seen.is_followed()).await;
        list().await;
        assert_eq!(lists(), 1);
        scene.seen.end_streams();
        sleep(Duration::from_millis(200)).await;
        list().await;
        assert_eq!(lists(), 2);
        until("it is followed again", || scene.seen.is_followed()).await;
        sleep(Duration::from_millis(100)).await;
        list().await;
        assert_eq!(lists(), 3, "nobody heard what changed meanwhile");
        list().await;
        assert_eq!(lists(), 3);
        scene.end().await;
    }
}

#[tokio::test]
async fn who_does_not_answer_a_question_holds_nobody() {
    let answer = |call: Call| {
        if call.message.body_member("inputResponses").is_some() {
            return result(&call, "by the answer", json!({}));
        }
        let question = json!({ "method": "roots/list", "params": {} });
        let body = json!({ "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "s" });
        Answer::result(call.id(), &body).into()
    };
    let scene = Scene::guarded(MODERN, settings(true), None, answer).await;
    let roots = || json!({ "roots": {} });
    let mute = scene.capable("/mcp", Revision::R2025_06_18, "mute", roots()).await;
    let other = scene.capable("/mcp", Revision::R2025_06_18, "other", roots()).await;
    let answered = async {
        scene.seen.wait("usage").await;
        timeout(Duration::from_secs(10), other.answering_roots("usage")).await.expect("nobody holds it")
    };
    tokio::select! {
        _ = mute.call("usage", json!({})) => panic!("it does not answer"),
        answer = answered => assert_eq!(text(&answer), "by the answer"),
    }
    scene.end().await;
}

/// A server may repeat what a client sent, and a long name costs memory.
#[tokio::test]
async fn what_has_a_key_or_a_long_name_is_not_kept() {
    let count = AtomicUsize::new(0);
    let answer = move |call: Call| {
        let fresh = json!({ "ttlMs": 60_000, "cacheScope": "public", "contents": [] });
        result(&call, &count.fetch_add(1, Ordering::Relaxed).to_string(), fresh)
    };
    let scene = Scene::open(MODERN, settings(true), answer).await;
    let client = scene.client("/mcp", MODERN, "").await;
    for meta in [json!({ "dev.proofhouse/idempotencyKey": "EVIL" }), json!({ "traceparent": "EVIL" })] {
        let evil = json!({ "name": "usage", "arguments": {}, "_meta": meta });
        let got = text(&client.ask("tools/call", evil, &[]).await).to_owned();
        assert_ne!(usage(&client).await, got, "{meta}");
    }
    let before = scene.seen.calls("usage");
    for header in ["one", "two"] {
        let call = json!({ "name": "usage", "arguments": {} });
        client.ask("tools/call", call, &[("idempotency-key", header)]).await;
    }
    assert_eq!(scene.seen.calls("usage"), before + 2);
    for (length, reads) in [(2 << 10, 1), ((2 << 10) + 1, 2)] {
        let uri = format!("file:///{}", "x".repeat(length - "file:///".len()));
        for _ in 0..2 {
            client.ask("resources/read", json!({ "uri": uri }), &[]).await;
        }
        assert_eq!(scene.seen.of("resources/read", &uri).len(), reads, "{length}");
    }
    scene.end().await;
}
