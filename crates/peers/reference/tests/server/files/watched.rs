//! Who hears of changes in the directory.

use std::fs;

use serde_json::{Value, json};
use wire::revision::R2026_07_28;
use wire::{Era, Revision};

use super::{Place, listed, read};
use crate::line_client::LineClient;

/// What is said next, and of which resource.
async fn heard(talk: &mut LineClient) -> (String, Value) {
    let mut message = talk.next().await;
    (message["method"].as_str().unwrap().to_owned(), message["params"]["uri"].take())
}

const LIST: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";
const URI: &str = "file:///a%20file";

#[tokio::test]
async fn legacy_sessions_hear_of_what_they_subscribed_to() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        let place = Place::new();
        place.put("a file", "one");
        place.put("another", "one");
        let mut talk = place.talk(revision).await;
        assert_eq!(talk.result("resources/subscribe", json!({ "uri": URI })).await, json!({}));
        place.put("another", "unheard of");
        place.put("a file", "two");
        assert_eq!(heard(&mut talk).await, (UPDATED.to_owned(), json!(URI)));
        assert_eq!(read(&mut talk, URI).await["text"], "two");
        place.put("new", "x");
        assert_eq!(heard(&mut talk).await, (LIST.to_owned(), Value::Null));
        assert_eq!(listed(&mut talk).await.len(), 3);
        fs::remove_file(place.served("a file")).unwrap();
        assert_eq!(heard(&mut talk).await, (LIST.to_owned(), Value::Null));
        assert_eq!(listed(&mut talk).await.len(), 2);
        let gone = talk.error("resources/read", json!({ "uri": URI })).await;
        assert_eq!(gone["code"], -32002);
        // What comes back is not what it was.
        place.put("a file", "three");
        assert_eq!(heard(&mut talk).await.0, LIST);
        assert_eq!(heard(&mut talk).await, (UPDATED.to_owned(), json!(URI)));
        assert_eq!(talk.result("resources/unsubscribe", json!({ "uri": URI })).await, json!({}));
        place.put("a file", "four");
        place.put("last", "x");
        assert_eq!(heard(&mut talk).await.0, LIST);
        assert_eq!(talk.error("resources/subscribe", json!({ "uri": "file:///nowhere" })).await["code"], -32002);
    }
}

#[tokio::test]
async fn modern_subscriptions_hear_what_they_asked_for() {
    let place = Place::new();
    place.put("a file", "one");
    let mut talk = place.talk(R2026_07_28).await;
    let filter = json!({ "resourceSubscriptions": [URI, "file:///nowhere"] });
    let quiet = talk.send("subscriptions/listen", json!({ "notifications": filter })).await;
    assert_eq!(talk.next().await["params"]["notifications"], json!({ "resourceSubscriptions": [URI] }));
    place.put("new", "x");
    place.put("a file", "two");
    let message = talk.next().await;
    assert_eq!((&message["method"], &message["params"]["uri"]), (&json!(UPDATED), &json!(URI)));
    assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], quiet);
    talk.cancel(quiet).await;
    talk.send("subscriptions/listen", json!({ "notifications": { "resourcesListChanged": true } })).await;
    assert_eq!(talk.next().await["params"]["notifications"], json!({ "resourcesListChanged": true }));
    place.put("a file", "three");
    place.put("newer", "x");
    assert_eq!(heard(&mut talk).await, (LIST.to_owned(), Value::Null));
    assert_eq!(listed(&mut talk).await.len(), 3);
}

#[tokio::test]
async fn a_burst_is_one_change() {
    let place = Place::new();
    let mut talk = place.talk(Revision::NEWEST_LEGACY).await;
    fs::create_dir(place.outside("folder")).unwrap();
    for number in 0..50 {
        fs::write(place.outside(&format!("folder/{number}")), "x").unwrap();
    }
    fs::rename(place.outside("folder"), place.served("folder")).unwrap();
    assert_eq!(heard(&mut talk).await.0, LIST);
    assert_eq!(listed(&mut talk).await.len(), 50);
    talk.assert_quiet().await;
}
