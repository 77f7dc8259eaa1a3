//! The reference client against servers over HTTP that refuse, forget, redirect and mend their ways.

mod carrier;
mod fake;
mod polling;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Abilities, Answering, Client, ClientError, Options, Question, Refused, Respondent, Topics};
use fake::{Answer, Fake, Received};
use net::Children;
use net::client::{Address, Authorizer, Authorizing, HttpAddress, Limits, Refusal};
use serde_json::{Map, Value, json};
use url::Url;
use wire::Revision;
use wire::trace::Headers;

pub(crate) fn options(fake: &Fake) -> Options {
    let url = Url::parse(&fake.url).expect("a URL");
    let limits = Limits { request: Duration::from_secs(5), ..Limits::default() };
    Options { limits, ..Options::new(Address::Http(HttpAddress::new(url)), &Children::new()) }
}

pub(crate) fn discovered() -> Value {
    json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
}

fn greeted() -> Value {
    json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "fake", "version": "1" } })
}

pub(crate) fn tools(schema: &Value) -> Value {
    json!({ "resultType": "complete", "tools": [{ "name": "t", "inputSchema": schema }] })
}

/// Hands out a new token at each refusal.
#[derive(Debug, Default)]
struct Tokens {
    number: AtomicUsize,
    refusals: Mutex<Vec<Refusal>>,
    /// After so many there are no more.
    enough: usize,
}

impl Authorizer for Tokens {
    fn headers(&self, _method: &str, _url: &Url) -> Headers {
        match self.number.load(Ordering::Relaxed) {
            0 => Headers::new(),
            number => vec![("authorization".to_owned(), format!("Bearer {number}"))],
        }
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).push(refusal.clone());
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        Box::pin(async move { if number > self.enough { Err("the user said no".to_owned()) } else { Ok(()) } })
    }
}

#[tokio::test]
async fn an_authorizer_is_asked_at_a_refusal_and_its_headers_go_with_everything_after() {
    let fake = Fake::start(|asked| match (asked.header("authorization").as_deref(), asked.method()) {
        (None, _) => Answer::status(401).header("www-authenticate", "Bearer scope=\"a\""),
        (Some("Bearer 1"), "tools/list") => Answer::status(403).header("www-authenticate", "Bearer scope=\"b\""),
        (_, "server/discover") => asked.result(&discovered()),
        _ => asked.result(&tools(&json!({ "type": "object" }))),
    });
    let tokens = Arc::new(Tokens { enough: 9, ..Tokens::default() });
    let client =
        Client::connect(Options { authorizer: Some(tokens.clone()), ..options(&fake) }).await.expect("it is let in");
    client.tools().await.expect("it is let in again");
    let refusals = tokens.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let told: Vec<_> = refusals.iter().map(|refusal| (refusal.status, refusal.before)).collect();
    assert_eq!(told, [(401, 0), (403, 0)]);
    assert!(refusals[1].headers.iter().any(|(_, value)| value.contains("\"b\"")), "{refusals:?}");
    let ids = fake.ids();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "an id twice: {ids:?}");
}

#[tokio::test]
async fn refusals_have_an_end() {
    let fake = Fake::start(|_| Answer::status(401));
    let patient = Arc::new(Tokens { enough: 99, ..Tokens::default() });
    let connected = Client::connect(Options { authorizer: Some(patient), ..options(&fake) }).await;
    assert!(matches!(connected.err(), Some(ClientError::Open(_))));
    assert!(fake.asked().len() <= 5, "{}", fake.asked().len());
    let stubborn = Arc::new(Tokens::default());
    let connected = Client::connect(Options { authorizer: Some(stubborn), ..options(&fake) }).await;
    assert_eq!(connected.err(), Some(ClientError::Unauthorized { why: "the user said no".to_owned() }));
}

#[tokio::test]
async fn a_session_that_is_gone_is_begun_anew() {
    let sessions = Arc::new(AtomicUsize::new(0));
    let count = sessions.clone();
    let fake = Fake::start(move |asked| match asked.method() {
        "server/discover" => Answer::status(400),
        "initialize" => {
            assert_eq!(asked.header("mcp-session-id"), None, "a new session is not asked for in an old one");
            let number = count.fetch_add(1, Ordering::Relaxed) + 1;
            asked.result(&greeted()).header("mcp-session-id", &format!("s{number}"))
        }
        "notifications/initialized" => Answer::status(202),
        "tools/list" if asked.header("mcp-session-id").as_deref() == Some("s1") => Answer::status(404),
        "tools/list" => asked.result(&tools(&json!({ "type": "object" }))),
        _ => Answer::status(405),
    });
    let client = Client::connect(options(&fake)).await.expect("it is greeted");
    assert_eq!(client.revision(), Revision::R2025_11_25);
    let (tools, _) = client.tools().await.expect("in the second session");
    assert_eq!((tools.len(), sessions.load(Ordering::Relaxed)), (1, 2));
    client.close().await;
    assert!(fake.asked().iter().any(|asked| asked.verb == "DELETE"), "it is ended");
}

#[tokio::test]
async fn a_call_whose_headers_do_not_fit_is_made_again_once_the_tools_are_known() {
    let listed = Arc::new(AtomicUsize::new(0));
    let count = listed.clone();
    let fake = Fake::start(move |asked| match asked.method() {
        "server/discover" => asked.result(&discovered()),
        "tools/list" => {
            let annotated =
                json!({ "type": "object", "properties": { "r": { "type": "string", "x-mcp-header": "R" } } });
            let plain = json!({ "type": "object", "properties": { "r": { "type": "string" } } });
            asked.result(&tools(if count.fetch_add(1, Ordering::Relaxed) == 0 { &plain } else { &annotated }))
        }
        _ if asked.header("mcp-param-r").as_deref() == Some("eu") => asked.result(&json!({ "content": [] })),
        _ => asked.error(-32020, "Header mismatch").with_status(400),
    });
    let client = Client::connect(options(&fake)).await.expect("it is greeted");
    let (tools, _) = client.tools().await.expect("a list");
    let arguments = Map::from_iter([("r".to_owned(), json!("eu"))]);
    client.call(&tools[0], arguments).await.expect("the second time it fits");
    assert_eq!(listed.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_list_is_kept_for_as_long_as_it_may_be() {
    for (ttl, lists) in [(json!(60_000), 1), (json!(0), 2), (json!(-5), 2), (Value::Null, 2)] {
        let fake = Fake::start(move |asked| {
            let mut result = tools(&json!({ "type": "object" }));
            if !ttl.is_null() {
                result["ttlMs"] = ttl.clone();
            }
            asked.result(&if asked.method() == "server/discover" { discovered() } else { result })
        });
        let client = Client::connect(options(&fake)).await.expect("it is greeted");
        client.tools().await.expect("a list");
        client.tools().await.expect("a list");
        assert_eq!(fake.methods().iter().filter(|method| *method == "tools/list").count(), lists);
    }
}

#[tokio::test]
async fn a_body_that_speaks_modern_keeps_it_modern_and_any_other_does_not() {
    for (code, legacy) in [(-32021, false), (-32020, false), (-32601, true), (-32600, true)] {
        let fake = Fake::start(move |asked| match asked.method() {
            "server/discover" => asked.error(code, "no").with_status(400),
            "initialize" => asked.result(&greeted()),
            "notifications/initialized" => Answer::status(202),
            _ => asked.result(&tools(&json!({ "type": "object" }))),
        });
        let client = Client::connect(options(&fake)).await.expect("one era or the other");
        assert_eq!(client.revision() == Revision::R2025_11_25, legacy, "{code}");
        assert_eq!(fake.methods().contains(&"initialize".to_owned()), legacy, "{code}");
    }
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_alone() {
    let fake = Fake::start(|asked| match &*asked.path {
        "/mcp" => Answer::status(307).header("location", "/deeper"),
        _ => asked.result(&discovered()),
    });
    let client = Client::connect(options(&fake)).await.expect("it is found");
    assert!(client.address().to_string().ends_with("/deeper"));
    let fake = Fake::start(|_| Answer::status(307).header("location", "http://127.0.0.1:1/mcp"));
    let error = Client::connect(options(&fake)).await.err().expect("it stays here").to_string();
    assert!(error.contains("http://127.0.0.1:1/mcp"), "{error}");
}

#[tokio::test]
async fn what_a_server_agrees_to_tell_is_looked_at() {
    let fake = Fake::start(|asked: &Received| {
        if asked.method() == "server/discover" {
            return asked.result(&discovered());
        }
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": asked.body["id"] });
        let agreed = json!({ "toolsListChanged": true });
        let acknowledged = json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                                   "params": { "_meta": meta, "notifications": agreed } });
        let over = json!({ "jsonrpc": "2.0", "id": asked.body["id"], "result": { "resultType": "complete" } });
        Answer::events(&[acknowledged, over])
    });
    let client = Client::connect(options(&fake)).await.expect("it is greeted");
    let topics = Topics { tools: true, prompts: true, ..Topics::default() };
    let mut listening = client.listen(&topics).await.expect("it is acknowledged");
    assert_eq!(listening.acknowledged, json!({ "toolsListChanged": true }));
    assert_eq!(listening.ended().await, Ok(()));
}

/// Answers questions, all with no.
struct Asked;

impl Respondent for Asked {
    fn abilities(&self) -> Abilities {
        Abilities::ALL
    }

    fn answer(&self, _: Question) -> Answering {
        Box::pin(async { Err(Refused::by_user()) })
    }
}

/// A server whose stream for questions opens late, and the tools that it names then.
fn late_stream() -> Fake {
    let is_open = AtomicUsize::new(0);
    Fake::start(move |asked| {
        if asked.verb == "GET" {
            std::thread::sleep(Duration::from_millis(200));
            is_open.store(1, Ordering::Relaxed);
            return Answer::events(&[]);
        }
        match asked.method() {
            "initialize" => asked.result(&greeted()),
            "tools/list" if is_open.load(Ordering::Relaxed) == 0 => asked.error(-32603, "the question is lost"),
            "tools/list" => asked.result(&tools(&json!({ "type": "object" }))),
            _ => Answer::status(202),
        }
    })
}

#[tokio::test]
async fn who_answers_questions_waits_until_the_server_can_ask() {
    let fake = late_stream();
    let options = Options { respondent: Arc::new(Asked), revision: Some(Revision::R2025_11_25), ..options(&fake) };
    let client = Client::connect(options).await.expect("it is let in");
    client.tools().await.expect("the stream was open");
    client.close().await;
}

#[tokio::test]
async fn who_listens_waits_until_the_server_can_speak() {
    let fake = late_stream();
    let options = Options { revision: Some(Revision::R2025_11_25), ..options(&fake) };
    let client = Client::connect(options).await.expect("it is let in");
    client.listen(&Topics { tools: true, ..Topics::default() }).await.expect("it listens");
    client.tools().await.expect("the stream was open");
    client.close().await;
}
