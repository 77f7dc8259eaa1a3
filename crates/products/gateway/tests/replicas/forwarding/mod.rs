//! Requests that only one gateway can answer, wherever they land.

mod attacks;
mod ends;
mod sealed;

use std::time::{Duration, Instant};

use bytes::Bytes;
use net::server::http::{HeaderMap, HeaderName, HeaderValue, Method, Server};
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use crate::asker::Asker;
use crate::scene::Scene;
use crate::session::{Session, http, next};

const ACCEPT: HeaderName = HeaderName::from_static("accept");
const CONTENT_TYPE: HeaderName = HeaderName::from_static("content-type");
const AUDIT: &str = "audit: { folder: AUDIT, required: true }\n";

/// Three gateways before a server that asks.
pub(super) struct Group {
    pub(super) scene: Scene,
    pub(super) asker: Asker,
    _server: Server,
}

impl Group {
    pub(super) async fn start(more: &str) -> Self {
        let (asker, server) = Asker::start().await;
        let scene = Scene::forwarding(3, server.local_addr(), more).await;
        Self { scene, asker, _server: server }
    }

    /// A client of 2026-07-28 at one gateway.
    pub(super) fn modern(&self, replica: usize, owner: &str) -> Session {
        Session::modern(self.scene.replicas[replica].address(), &self.scene.token(owner))
    }

    /// A session that begins at one gateway.
    pub(super) async fn open(&self, replica: usize, owner: &str) -> Session {
        Session::open(self.scene.replicas[replica].address(), &self.scene.token(owner)).await
    }

    /// The same session at another gateway.
    pub(super) fn at(&self, replica: usize, owner: &str, session: &Session) -> Session {
        let id = session.id.as_deref().expect("a session");
        Session::with_id(self.scene.replicas[replica].address(), &self.scene.token(owner), id)
    }

    /// The sum of a counter.
    pub(super) async fn count(&self, name: &str) -> u64 {
        let mut sum = 0;
        for replica in &self.scene.replicas {
            sum += counter(&replica.page("/metrics").await, name);
        }
        sum
    }
}

pub(super) fn counter(page: &str, name: &str) -> u64 {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    line.unwrap_or_else(|| panic!("no {name}: {page}"))
}

/// What a question waits for, and how it is answered.
pub(super) fn answered(asked: &Value) -> Value {
    let questions = asked["result"]["inputRequests"].as_object().expect("questions");
    let answer = json!({ "action": "accept", "content": {} });
    let answers: Map<_, _> = questions.keys().map(|key| (key.clone(), answer.clone())).collect();
    json!({ "name": "ask", "arguments": {}, "requestState": asked["result"]["requestState"], "inputResponses": answers })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legacy_session_works_wherever_its_requests_land() {
    let group = Group::start(AUDIT).await;
    let session = Session::open(group.scene.balancer(), &group.scene.token("ann")).await;
    let mut stream = session.listen().await;
    assert!(stream.status.is_success() && stream.is_event_stream(), "{:?}", stream.status);
    for round in 1..=6 {
        let asked = session.tool("ask").await;
        assert!(asked.text().contains("accept"), "{asked:?}");
        assert_eq!((asked.before.len(), group.asker.ran("ask")), (1, round), "{asked:?}");
        assert!(session.tool("sample").await.text().contains("Ada"));
        let large = session.tool("large").await;
        assert_eq!(large.text().len(), 200_000);
    }
    for _ in 0..3 {
        let level = session.request("logging/setLevel", json!({ "level": "debug" })).await;
        assert_eq!(level.message["result"], json!({}), "{level:?}");
        let slow = session.tool("slow").await;
        assert_eq!((slow.text(), slow.before.len()), ("done", 1), "a log message comes before: {slow:?}");
    }
    // What is subscribed to by one request is announced on the stream of another one.
    let subscribed = session.request("resources/subscribe", json!({ "uri": "x:a" })).await;
    assert_eq!(subscribed.message["result"], json!({}), "{subscribed:?}");
    group.asker.announce();
    let heard = next(&mut stream).await.expect("a message");
    assert_eq!(heard["method"], "notifications/resources/updated", "{heard}");
    let (sent, received) =
        (group.count("replicas_forwarded_total").await, group.count("replicas_received_total").await);
    assert!(sent > 20 && sent == received, "{sent} sent, {received} received");
    assert_eq!(session.delete().await, 204);
    for _ in 0..3 {
        assert_eq!(session.tool("slow").await.status, 404);
    }
    // Each call is recorded once, by the gateway that answered it.
    let mut records = 0;
    for replica in &group.scene.replicas {
        assert!(replica.ends().await);
        let files = std::fs::read_dir(replica.audit()).expect("a folder").flatten();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        let is_one = |line: &&str| line.contains(r#""kind":"request""#) && line.contains(r#""method":"tools/call""#);
        records += texts.map(|text| text.lines().filter(is_one).count()).sum::<usize>();
    }
    assert_eq!(records, 6 * 3 + 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_at_any_gateway() {
    let group = Group::start("").await;
    for replica in [1, 2] {
        let before = group.asker.ran("ask");
        let asked = group.modern(0, "ann").tool("ask").await;
        assert_eq!(asked.message["result"]["resultType"], "input_required", "{asked:?}");
        let done = group.modern(replica, "ann").request("tools/call", answered(&asked.message)).await;
        assert!(done.text().contains("accept"), "{done:?}");
        let again = group.modern(replica, "ann").request("tools/call", answered(&asked.message)).await;
        assert_eq!(again.failure(), "state-expired", "an answer counts once: {again:?}");
        assert_eq!(group.asker.ran("ask"), before + 1);
    }
    let balanced = Session::modern(group.scene.balancer(), &group.scene.token("ann"));
    for _ in 0..6 {
        let asked = balanced.tool("ask").await;
        let done = balanced.request("tools/call", answered(&asked.message)).await;
        assert!(done.text().contains("accept"), "{done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_agrees_at_any_gateway() {
    let group = Group::start("confirm: { rules: [{ tools: [slow] }] }\n").await;
    let asked = group.modern(0, "ann").tool("slow").await;
    assert_eq!(asked.message["result"]["resultType"], "input_required", "{asked:?}");
    let mut agreed = answered(&asked.message);
    agreed["name"] = json!("slow");
    for answer in agreed["inputResponses"].as_object_mut().expect("answers").values_mut() {
        answer["content"] = json!({ "confirm": true });
    }
    let done = group.modern(1, "ann").request("tools/call", agreed).await;
    assert_eq!((done.text(), group.asker.ran("slow")), ("done", 1), "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_known_at_any_gateway() {
    let group = Group::start("tasks: { tools: [slow] }\n").await;
    let call = json!({ "name": "slow", "arguments": { "ms": 400 } });
    let made = group.modern(0, "ann").request("tools/call", call).await;
    let id = made.message["result"]["taskId"].as_str().unwrap_or_else(|| panic!("a task: {made:?}")).to_owned();
    let begun = Instant::now();
    loop {
        let task = group.modern(1, "ann").request("tasks/get", json!({ "taskId": id })).await;
        if task.message["result"]["status"] == "completed" {
            assert!(task.message.to_string().contains("done"), "{task:?}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{task:?}");
        sleep(Duration::from_millis(1100)).await;
    }
    let foreign = group.modern(1, "bob").request("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(foreign.failure(), "task-unknown", "{foreign:?}");
}

/// A session stays at its gateway, whatever its requests are about.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_reaches_nothing_of_another_gateway() {
    let group = Group::start("tasks: { tools: [slow] }\n").await;
    let call = json!({ "name": "slow", "arguments": { "ms": 400 } });
    let made = group.modern(0, "ann").request("tools/call", call).await;
    let id = made.message["result"]["taskId"].as_str().unwrap_or_else(|| panic!("a task: {made:?}")).to_owned();
    let asked = group.modern(0, "ann").tool("ask").await;
    let session = group.open(1, "ann").await;
    for client in [&session, &group.at(2, "ann", &session)] {
        let task = client.request("tasks/get", json!({ "taskId": id })).await;
        assert_eq!((task.status, task.failure()), (200, "task-unknown"), "{task:?}");
        let own = client.request("tools/call", answered(&asked.message)).await;
        assert!(own.status == 200 && own.before.len() == 1, "its own question is asked: {own:?}");
        assert_eq!(client.tool("slow").await.text(), "done");
    }
    let done = group.modern(2, "ann").request("tools/call", answered(&asked.message)).await;
    assert!(done.text().contains("accept"), "the question still waits where it was asked: {done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_ends_its_call_at_the_other_gateway() {
    let group = Group::start("").await;
    let call = json!({ "name": "ask", "arguments": { "ms": 30_000 } });
    let asked = group.modern(0, "ann").request("tools/call", call.clone()).await;
    let mut retry = answered(&asked.message);
    retry["arguments"] = call["arguments"].clone();
    let client = group.modern(1, "ann");
    let left = timeout(Duration::from_secs(2), client.request("tools/call", retry)).await;
    assert!(left.is_err(), "the server takes its time: {left:?}");
    let begun = Instant::now();
    while group.asker.given_up() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "the server still works");
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(group.asker.ran("ask"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_an_old_client_finds_its_stream() {
    let group = Group::start("").await;
    let token = group.scene.token("ann");
    let at = |replica: usize, path: &str| http(group.scene.replicas[replica].address(), path, &token);
    let accept = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
    let mut stream = at(0, "/sse").send(Method::GET, accept, Bytes::new()).await.expect("a stream");
    let endpoint = stream.next_event(1 << 16).await.expect("an event").and_then(|event| event.data).expect("a path");
    for (id, replica) in [1, 2, 0, 1].into_iter().enumerate() {
        let method = if id == 0 { "initialize" } else { "ping" };
        let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": "a", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let json = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let posted = at(replica, &endpoint).send(Method::POST, json, message.into()).await.expect("an answer");
        assert_eq!(posted.status.as_u16(), 202, "at {replica}");
        let answer = next(&mut stream).await.expect("a message");
        assert!(answer["id"] == id && answer.get("result").is_some(), "{answer}");
    }
    let thief = http(group.scene.replicas[1].address(), &endpoint, &group.scene.token("bob"));
    let refused = thief.send(Method::POST, HeaderMap::new(), "{}".into()).await.expect("an answer");
    assert_eq!(refused.status.as_u16(), 404);
}
