//! Clients that a listener with TLS must not let in, nor let take all room.

use std::time::{Duration, Instant};

use gateway::settings::ClientCertificates;
use net::client::Identity;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::Revision;

use super::pki::{Authority, Made};
use super::{SceneOptions, TlsScene, greets};

#[tokio::test]
async fn only_good_certificates_of_the_authority_get_in() {
    let scene = TlsScene::new(SceneOptions { required: Some(true), ..SceneOptions::default() }).await;
    let good = scene.clients.signs("agent.example", Made::Usual);
    scene.client(Some(&good), None).await.expect("it is let in").close().await;
    let folder = scene.folder.path();
    let other = Authority::new(folder, "other", None);
    let wrong_key = Identity { key: other.signs("agent.example", Made::Usual).key, ..good.clone() };
    let refused = [
        ("no certificate", None),
        ("another authority", Some(other.signs("agent.example", Made::Usual))),
        ("the authority of the gateway's own certificate", Some(scene.authority.signs("agent.example", Made::Usual))),
        ("expired", Some(scene.clients.signs("agent.example", Made::Expired))),
        ("not valid yet", Some(scene.clients.signs("agent.example", Made::NotYetValid))),
        ("for servers", Some(scene.clients.signs("agent.example", Made::ForServers))),
        ("the certificate of another key", Some(wrong_key)),
    ];
    for (why, identity) in refused {
        for revision in [Revision::R2026_07_28, Revision::R2025_11_25] {
            let client = scene.client_at(&scene.url("https", "/mcp"), revision, identity.as_ref(), None).await;
            let error = client.err().unwrap_or_else(|| panic!("{why} is let in")).to_string();
            assert!(!error.contains("HTTP "), "{why}: the handshake fails before any request is read: {error}");
        }
    }
}

#[tokio::test]
async fn an_authority_signs_only_for_the_names_that_it_may() {
    let scene = TlsScene::new(SceneOptions { required: Some(true), ..SceneOptions::default() }).await;
    let limited = Authority::new(scene.folder.path(), "limited", Some("team.example"));
    let clients = Some(ClientCertificates { roots: limited.file(), required: true });
    scene.tls.renew(Some(&gateway::settings::TlsSettings { clients, ..scene.files.clone() })).expect("good files");
    let [inside, outside] = ["a.team.example", "a.other.example"].map(|name| limited.signs(name, Made::Usual));
    scene.client(Some(&inside), None).await.expect("it is let in").close().await;
    assert!(scene.client(Some(&outside), None).await.is_err());
    // Authorities that count no more let in nobody new.
    let former = scene.clients.signs("agent.example", Made::Usual);
    assert!(scene.client(Some(&former), None).await.is_err());
}

#[tokio::test]
async fn a_certificate_that_is_shown_must_be_good_even_if_none_is_needed() {
    let scene = TlsScene::new(SceneOptions { auth: true, required: Some(false), ..SceneOptions::default() }).await;
    let other = Authority::new(scene.folder.path(), "other", None).signs("agent.example", Made::Usual);
    let token = scene.token(|_| ());
    assert!(scene.client(Some(&other), Some(&token)).await.is_err());
    scene.client(None, Some(&token)).await.expect("it is let in").close().await;
}

#[tokio::test]
async fn a_request_without_tls_gets_a_hint() {
    let scene = TlsScene::new(SceneOptions::default()).await;
    let mut stream = TcpStream::connect(scene.server.local_addr()).await.expect("it listens");
    stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n").await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("an answer");
    assert!(response.starts_with("HTTP/1.1 400 ") && response.ends_with("use https or wss.\n"), "{response}");
    let length = response.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next());
    let body = response.split_once("\r\n\r\n").expect("a body").1;
    assert_eq!(length, Some(body.len().to_string().as_str()));
    scene.client(None, None).await.expect("it goes on").close().await;
}

#[tokio::test]
async fn a_handshake_without_tls_there_ends() {
    let scene = super::super::Scene::new(None).await;
    let mut stream = TcpStream::connect(scene.server.local_addr()).await.expect("it listens");
    // The beginning of a ClientHello.
    stream.write_all(&[22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]).await.expect("it reads");
    let mut answer = Vec::new();
    let ended = timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok() && answer.starts_with(b"HTTP/1.1 400 "), "{answer:?}");
}

#[tokio::test]
async fn a_slow_handshake_is_cut() {
    let scene =
        TlsScene::new(SceneOptions { handshake_time: Some(Duration::from_millis(300)), ..SceneOptions::default() })
            .await;
    for first in [&b""[..], &[22, 3, 1][..], b"GET / HT"] {
        let mut stream = TcpStream::connect(scene.server.local_addr()).await.expect("it listens");
        stream.write_all(first).await.expect("it reads");
        let begin = Instant::now();
        let ended = timeout(Duration::from_secs(5), stream.read(&mut [0; 64])).await.expect("it is cut");
        assert!(ended.is_err() || ended.is_ok_and(|count| count == 0));
        assert!(begin.elapsed() >= Duration::from_millis(200), "not at once: {first:?}");
    }
    scene.client(None, None).await.expect("it goes on").close().await;
}

/// Linux has many addresses of its own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn idle_handshakes_of_one_address_leave_room_for_others() {
    let scene = TlsScene::new(SceneOptions { handshakes: Some(40), ..SceneOptions::default() }).await;
    let client = scene.client(None, None).await.expect("a client");
    let mut held = Vec::new();
    for _ in 0..60 {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind("127.0.0.2:0".parse().expect("an address")).expect("an address of this machine");
        let mut stream = socket.connect(scene.server.local_addr()).await.expect("it listens");
        // The beginning of a handshake: without it, a client takes no place.
        stream.write_all(&[22]).await.expect("a byte");
        held.push(stream);
    }
    assert!(greets(&client).await, "who is in goes on");
    let other = timeout(Duration::from_secs(5), scene.client(None, None)).await.expect("in time");
    let other = other.expect("another address gets in");
    assert!(greets(&other).await);
    // One address has three quarters of the places, and the others are cut at once.
    let mut cut = 0;
    for stream in &mut held {
        cut += usize::from(timeout(Duration::from_millis(5), stream.read(&mut [0; 1])).await.is_ok());
    }
    assert_eq!(cut, 30);
    for client in [client, other] {
        client.close().await;
    }
}
