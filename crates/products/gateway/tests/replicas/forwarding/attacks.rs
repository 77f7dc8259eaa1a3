//! Who is not a gateway, or not the client, gets nothing.

use net::server::http::{HeaderMap, HeaderValue, Method};
use net::upstream::HttpUpstream;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::{Group, answered, counter};
use crate::recording::Recording;
use crate::session::Session;

#[tokio::test(flavor = "multi_thread")]
async fn a_stolen_session_serves_only_who_opened_it_at_any_gateway() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    for replica in 0..3 {
        let thief = group.at(replica, "bob", &session);
        assert_eq!(thief.tool("slow").await.status, 404);
        assert_eq!(thief.listen().await.status.as_u16(), 404);
        assert_eq!(thief.delete().await, 404);
        let own = group.at(replica, "ann", &session);
        assert_eq!(own.tool("slow").await.text(), "done");
    }
    assert_eq!(group.count("proof_gateway_cross_tenant_attempts_total").await, 9);
    // Without a token, nothing is sent on.
    let sent = group.count("replicas_forwarded_total").await;
    let stranger = Session::with_id(group.scene.replicas[1].address(), "none", session.id.as_deref().expect("an id"));
    assert_eq!(stranger.tool("slow").await.status, 401);
    assert_eq!(group.count("replicas_forwarded_total").await, sent);
    let asked = group.modern(0, "ann").tool("ask").await;
    let stolen = group.modern(1, "bob").request("tools/call", answered(&asked.message)).await;
    assert_eq!(stolen.failure(), "state-foreign", "{stolen:?}");
    let own = group.modern(1, "ann").request("tools/call", answered(&asked.message)).await;
    assert!(own.text().contains("accept"), "{own:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_no_gateway_made_leads_nowhere() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let id = session.id.clone().expect("an id");
    let other = group.open(1, "ann").await.id.expect("an id");
    let part = |id: &str, at: usize| id.split('.').nth(at).unwrap_or_default().to_owned();
    let sent = group.count("replicas_forwarded_total").await;
    for forged in [
        format!("{}.{}.{}", part(&id, 0), part(&other, 1), part(&id, 2)),
        format!("{}.{}.{}", part(&other, 0), part(&id, 1), part(&id, 2)),
        format!("{}.{}", part(&id, 0), part(&id, 1)),
        part(&id, 0),
    ] {
        for replica in 0..3 {
            let client = Session::with_id(group.scene.replicas[replica].address(), &group.scene.token("ann"), &forged);
            assert_eq!(client.tool("slow").await.status, 404, "{forged} at {replica}");
        }
    }
    assert_eq!(group.count("replicas_forwarded_total").await, sent);
    assert_eq!(session.tool("slow").await.text(), "done");
}

/// The status of a response to these bytes.
async fn replayed(port: u16, bytes: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    stream.write_all(bytes).await.expect("it reads");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.expect("a status");
    String::from_utf8_lossy(&answer[9..12]).parse().expect("a status")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_or_replayed_request_of_a_gateway_is_refused() {
    // The gateways reach each other by a way that keeps what passes.
    let way = Recording::start().await;
    let group = Group::start(&format!(
        "replicas: {{ self: 'http://{}', listen: '127.0.0.1:REPLICA', keys: [{{ from_env: REPLICA_KEY }}] }}\n",
        way.address
    ))
    .await;
    // Which gateway listens where: the way leads to the first one.
    let port = group.scene.replicas[0].for_replicas();
    way.lead_to(port);
    let session = group.open(0, "ann").await;
    let far = group.at(1, "ann", &session);
    assert_eq!(far.tool("slow").await.text(), "done");
    let bytes = way.bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.starts_with("POST /forward ") && text.contains("proof-forward: "), "{text}");
    let token = group.scene.token("ann");
    assert!(!text.contains(token.split('.').nth(2).expect("a signature")), "the token is sealed");
    assert!(!text.contains(session.id.as_deref().expect("an id")), "the session is sealed");
    let ran = group.asker.ran("slow");
    assert_eq!(replayed(port, &bytes).await, 403, "as it was");
    let seal = text.find("proof-forward: ").expect("a header") + 100;
    let mut altered = bytes.clone();
    altered[seal] = if altered[seal] == b'A' { b'B' } else { b'A' };
    assert_eq!(replayed(port, &altered).await, 403, "another seal");
    // The gateway that it was not meant for.
    assert_eq!(replayed(group.scene.replicas[2].for_replicas(), &bytes).await, 421);
    assert_eq!(group.asker.ran("slow"), ran);
    assert!(counter(&group.scene.replicas[0].page("/metrics").await, "replicas_refused_total") >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_listener_for_gateways_serves_no_client() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let port = group.scene.replicas[0].for_replicas();
    let at = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let direct = Session::with_id(at, &group.scene.token("ann"), session.id.as_deref().expect("an id"));
    assert_eq!(direct.tool("slow").await.status, 403);
    assert_eq!(direct.listen().await.status.as_u16(), 403);
    for path in ["/forward", "/metrics", "/health", "/mcp"] {
        let url = Url::parse(&format!("http://{at}{path}")).expect("a URL");
        let http =
            HttpUpstream::new(&net::HttpAddress::new(url), std::time::Duration::from_secs(5)).expect("an address");
        for seal in ["a.1.AAAA", "..", ""] {
            let headers =
                HeaderMap::from_iter([("proof-forward".parse().expect("a name"), HeaderValue::from_static(seal))]);
            for method in [Method::GET, Method::POST] {
                let got = http.send(method, headers.clone(), "{}".into()).await.expect("an answer");
                assert_eq!(got.status.as_u16(), 403, "{path} {seal}");
            }
        }
    }
    // The header means nothing where clients are served.
    let public = Session::with_id(
        group.scene.replicas[1].address(),
        &group.scene.token("ann"),
        session.id.as_deref().expect("an id"),
    );
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "slow", "arguments": {} } });
    assert!(public.post(&message).await.status.is_success());
    assert_eq!(group.asker.ran("slow"), 1);
}

/// Before a head is opened, anyone may have sent it.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_end_holds_no_memory_for_long() {
    let group = Group::start("").await;
    let port = group.scene.replicas[0].for_replicas();
    let head = format!("POST /forward HTTP/1.1\r\nhost: a\r\nproof-forward: {}", "a".repeat(200 << 10));
    let mut stranger = TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    stranger.write_all(head.as_bytes()).await.expect("it reads");
    let ends = async { while let Ok(1..) = stranger.read(&mut [0; 512]).await {} };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(20), ends).await;
    assert!(ended.is_ok(), "the connection is still open");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_writes_to_the_store_leads_no_request_away() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let id = session.id.clone().expect("an id");
    let gateway = id.split('.').nth(1).expect("a gateway").to_owned();
    let trap = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let lure = format!("http://{}", trap.local_addr().expect("an address"));
    let caught = tokio::spawn(async move { trap.accept().await });
    // Until its gateway says again where it is.
    let mut seen = Vec::new();
    for _ in 0..20 {
        let command = format!("HSET proof-gateway:replica:{gateway} a \"{lure} AAAA\"");
        assert!(group.scene.redis.ask(&command).await.is_some());
        seen.push(group.at(1, "ann", &session).tool("slow").await.status);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(seen.contains(&503), "{seen:?}");
    assert!(!caught.is_finished(), "a request went to a stranger");
}
