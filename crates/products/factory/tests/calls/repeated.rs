//! What is sent again, and what is not.

use std::collections::HashSet;

use openapi::model::Method;
use serde_json::json;

use crate::scene::{Upstream, callable, factory, failure, http, object, ok, operation, texts};

/// The statuses in turn, the last one for ever.
async fn failing(statuses: &'static [u16], headers: &'static str) -> Upstream {
    Upstream::start(move |number, _| match statuses[number.min(statuses.len() - 1)] {
        200 => ok("{}"),
        status => http(status, headers, ""),
    })
    .await
}

#[tokio::test]
async fn safe_methods_are_tried_again_and_others_are_not() {
    for (method, statuses, expected, requests) in [
        (Method::Get, &[503, 429, 200][..], None, 3),
        (Method::Put, &[502, 200], None, 2),
        (Method::Delete, &[504, 504, 504], Some(("UPSTREAM_FAILURE", true)), 3),
        (Method::Get, &[500], Some(("UPSTREAM_FAILURE", false)), 1),
        (Method::Get, &[404], Some(("RESOURCE_NOT_FOUND", false)), 1),
        (Method::Post, &[503, 200], Some(("UPSTREAM_FAILURE", false)), 1),
        (Method::Patch, &[429, 200], Some(("RESOURCE_EXHAUSTED", true)), 1),
    ] {
        let api = failing(statuses, "").await;
        let answered =
            callable(&factory(&api.url, "{}"), operation(method, "/x", Vec::new())).call(object(json!({}))).await;
        assert_eq!(answered.failure.as_ref().map(|_| failure(&answered)), expected, "{method:?} {statuses:?}");
        assert_eq!(api.got().len(), requests, "{method:?} {statuses:?}");
    }
}

#[tokio::test]
async fn with_a_key_that_the_api_recognizes_a_post_is_sent_again() {
    let api = failing(&[503, 503, 200], "").await;
    let factory = factory(&api.url, "retries: { idempotency_header: Idempotency-Key }");
    let post = callable(&factory, operation(Method::Post, "/x", Vec::new()));
    assert_eq!(post.call(object(json!({}))).await.failure, None);
    post.call(object(json!({}))).await;
    let keys: Vec<_> = api.got().iter().map(|got| got.header("idempotency-key").expect("a key").to_owned()).collect();
    assert_eq!(keys.len(), 4);
    assert_eq!(keys[..3].iter().collect::<HashSet<_>>().len(), 1, "one key for one call");
    assert_ne!(keys[0], keys[3], "another call has another key");
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_left_to_the_caller() {
    let api = failing(&[429], "Retry-After: 60\r\n").await;
    let answered = callable(&factory(&api.url, "limits: { seconds: 5 }"), operation(Method::Get, "/x", Vec::new()))
        .call(object(json!({})))
        .await;
    assert_eq!(failure(&answered), ("RESOURCE_EXHAUSTED", true));
    assert_eq!(answered.failure.and_then(|details| details.retry_after_ms), Some(60_000));
    assert_eq!(api.got().len(), 1);
}

#[tokio::test]
async fn retries_have_a_budget() {
    let api = failing(&[503], "").await;
    let factory = factory(&api.url, "limits: { seconds: 60 }");
    let get = callable(&factory, operation(Method::Get, "/x", Vec::new()));
    let calls: Vec<_> = (0..16)
        .map(|_| get.clone())
        .map(|get| tokio::spawn(async move { get.call(object(json!({}))).await }))
        .collect();
    for call in calls {
        assert!(call.await.expect("no panic").failure.is_some());
    }
    // 10 retries at once, and one for each 5 answers.
    let requests = api.got().len();
    assert!((16 + 10..=16 + 16).contains(&requests), "{requests} requests for 16 calls");
}

#[tokio::test]
async fn a_connection_that_is_refused_is_tried_again() {
    let started = std::time::Instant::now();
    let factory = factory("http://127.0.0.1:1", "retries: { attempts: 3 }");
    let answered = callable(&factory, operation(Method::Get, "/x", Vec::new())).call(object(json!({}))).await;
    assert_eq!(failure(&answered), ("UPSTREAM_FAILURE", true));
    assert!(texts(&answered).starts_with("127.0.0.1: not reached"), "{}", texts(&answered));
    assert!(started.elapsed().as_millis() >= 375, "two pauses of at least 125 and 250 ms");
}

/// A slow call has time and a place of its own: it keeps no other call waiting.
#[tokio::test(flavor = "multi_thread")]
async fn slow_calls_have_time_and_places_of_their_own() {
    let upstream = Upstream::start(|_, got| {
        if got.line == "GET /slow" {
            std::thread::sleep(std::time::Duration::from_millis(700));
        }
        ok("1")
    })
    .await;
    let settings = "limits: { seconds: 0.4, calls: 1 }\nslow: [{ tools: 'slow_*', seconds: 20 }]";
    let factory = factory(&upstream.url, settings);
    let get = |tool: &str, path: &str| {
        factory.operation(tool, operation(Method::Get, path, Vec::new()), &[], false).expect("it can be called")
    };
    let (slow, late, fast) = (get("slow_one", "/slow"), get("late", "/slow"), get("fast", "/fast"));
    assert!(slow.is_slow() && !fast.is_slow());
    let (slow, fast) = tokio::join!(slow.call(object(json!({}))), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        fast.call(object(json!({}))).await
    });
    assert_eq!((texts(&slow), texts(&fast)), ("1".to_owned(), "1".to_owned()));
    let late = late.call(object(json!({}))).await;
    assert!(texts(&late).contains("no whole answer within 400ms"), "{}", texts(&late));
}
