//! Live traffic without sockets: what a watcher sees, what it misses, what is concealed.

use std::sync::Arc;

use net::server::http::{Grant, HeaderMap, HeaderValue, PresentedToken};
use net::server::link::Link;
use net::service::{Answer, Call, Context, Reply};
use serde_json::{Value, json};
use wire::message::{Packet, parse};
use wire::{Message, Party, RequestId, Revision, Transport};

use super::{Live, Side, WATCHERS, Watcher, answered, noticed};
use crate::settings::Settings;

const OPAQUE: &str = "opaque-credential-7Qx2LmZ9";

fn live() -> Arc<Live> {
    Arc::new(Live::new(&Settings::default()))
}

fn message(text: &str) -> Message {
    match parse(text.as_bytes()) {
        Ok(Packet::Message(message)) => message,
        other => panic!("no message: {other:?}"),
    }
}

fn call(subject: &str) -> Call {
    let token = format!("Bearer {OPAQUE}");
    let headers = [("authorization", HeaderValue::from_str(&token).expect("a header"))];
    let headers = headers.into_iter().map(|(name, value)| (name.parse().expect("a name"), value));
    let grant = Grant {
        subject: "fingerprint".to_owned(),
        scopes: Vec::new(),
        claims: json!({ "sub": subject }),
        certificate: None,
        token: PresentedToken::default(),
    };
    let context = Context {
        revision: Revision::NEWEST,
        transport: Transport::StreamableHttp,
        whole: false,
        session: None,
        headers: Some(headers.collect::<HeaderMap>()),
        subject: None,
        grant: Some(Arc::new(grant)),
    };
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    Call { message: message(text), context, link: Link::nowhere() }
}

/// What a watcher has at once.
async fn lines(watcher: &Watcher) -> Vec<Value> {
    let mut all = Vec::new();
    while watcher.queue.has_some() {
        all.push(serde_json::from_str(&watcher.next().await).expect("JSON"));
    }
    all
}

#[tokio::test]
async fn what_an_upstream_does_is_within_the_request_of_a_client() {
    let live = live();
    let watcher = live.watch().expect("it is the first");
    let upstream = Side::upstream(&live, "docs");
    let reply = answered(&live, "default", call("ada"), |call| {
        assert!(call.link.send("{}".to_owned()).is_err(), "nobody is there");
        Reply::later(async move {
            let exchange = upstream.begin(call.id()).expect("somebody watches");
            exchange.shows(Party::Client, call.message.text());
            exchange.answers(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            exchange.answers(b"a second answer");
            Answer::result(&RequestId::from(1), &json!({}))
        })
    });
    let Reply::Later(answer) = reply else { panic!("it waits") };
    answer.await;
    let lines = lines(&watcher).await;
    let client = json!({ "principal": "ada", "server": "default" });
    let sides: Vec<_> = lines.iter().map(|line| (&line["side"], &line["exchange"], &line["within"])).collect();
    let (one, two, none) = (json!(1), json!(2), json!(0));
    let docs = json!({ "upstream": "docs" });
    let expected = [
        (&client, &one, &none),
        (&client, &one, &none),
        (&docs, &two, &one),
        (&docs, &two, &one),
        (&client, &one, &none),
    ];
    assert_eq!(sides, expected);
}

#[tokio::test]
async fn a_request_that_is_dropped_ends_once() {
    let live = live();
    let watcher = live.watch().expect("it is the first");
    drop(answered(&live, "default", call("ada"), |_| Reply::later(std::future::pending())));
    let lines = lines(&watcher).await;
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[1]["frame"]["mark"], &lines[1]["frame"]["value"]["id"]),
        (&json!("unanswered"), &json!(1)),
        "{}",
        lines[1]
    );
}

#[tokio::test]
async fn credentials_of_clients_are_replaced_wherever_they_are_said() {
    let live = live();
    let watcher = live.watch().expect("it is the first");
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"said":"your token is {OPAQUE}"}}}}"#);
    answered(&live, "default", call(OPAQUE), |_| Answer::raw(answer.into_bytes(), None).into());
    noticed(&live, "default", &message(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#), &call("ada").context);
    let lines = lines(&watcher).await;
    assert_eq!(lines.len(), 3);
    assert!(lines[1].to_string().contains("your token is"), "{}", lines[1]);
    assert!(!lines.iter().any(|line| line.to_string().contains(OPAQUE)), "{lines:?}");
}

#[tokio::test]
async fn what_does_not_fit_is_counted_in_its_place() {
    let live = live();
    let watcher = live.watch().expect("it is the first");
    let side = Side::upstream(&live, "docs");
    let long = "x".repeat(1 << 20);
    (0..20).for_each(|_| side.shows(Party::Server, &long));
    let before = lines(&watcher).await;
    assert_eq!((before.len(), &before[16]), (17, &json!({ "missed": 4 })));
    side.shows(Party::Server, "{}");
    assert_eq!(lines(&watcher).await.len(), 1);
    (0..5000).for_each(|_| side.shows(Party::Server, "{}"));
    assert_eq!(lines(&watcher).await.last(), Some(&json!({ "missed": 904 })));
}

#[tokio::test]
async fn a_watcher_sees_no_end_of_what_began_before_it() {
    let live = live();
    let first = live.watch().expect("it is the first");
    let exchange = Side::upstream(&live, "docs").begin(&RequestId::from(1)).expect("somebody watches");
    let second = live.watch().expect("two may");
    exchange.answers(b"{}");
    assert_eq!((lines(&first).await.len(), lines(&second).await.len()), (1, 0));
}

#[tokio::test]
async fn nothing_is_kept_for_nobody_and_few_may_watch() {
    let live = live();
    assert!(!live.is_watched() && Side::upstream(&live, "docs").begin(&RequestId::from(1)).is_none());
    let watchers: Vec<_> = (0..WATCHERS).filter_map(|_| live.watch()).collect();
    assert_eq!(watchers.len(), WATCHERS);
    assert!(live.watch().is_none());
    drop(watchers);
    assert!(!live.is_watched() && live.watch().is_some());
}
