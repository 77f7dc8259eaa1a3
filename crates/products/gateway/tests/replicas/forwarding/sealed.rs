//! Requests that a holder of the key seals: what counts besides the seal is their body and their time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Group;
use crate::scene::REPLICA_KEY;
use crate::session::Session;

const SENDER: &str = "tester";

/// A call as a gateway would send it.
struct Sealed {
    port: u16,
    /// The gateway that must answer, and the session that it has.
    to: String,
    session: String,
    token: String,
}

impl Sealed {
    fn of(group: &Group, session: &Session) -> Self {
        let id = session.id.clone().expect("a session");
        let to = id.split('.').nth(1).expect("a gateway").to_owned();
        Self { port: group.scene.replicas[0].for_replicas(), to, session: id, token: group.scene.token("ann") }
    }

    /// The header: sender, number, and the sealed rest.
    fn seal(&self, number: u64, at: i128, body: &str) -> String {
        let host = format!("127.0.0.1:{}", self.port);
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("host", host.as_str()),
            ("authorization", bearer.as_str()),
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-session-id", self.session.as_str()),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        let head = json!({ "to": self.to, "at": at, "method": "POST", "target": "/mcp", "headers": headers,
            "body": URL_SAFE_NO_PAD.encode(Sha256::digest(body)), "addresses": ["127.0.0.1", "127.0.0.1"],
            "certificate": null });
        let parts: [&[u8]; 2] = [b"proof-gateway.forward.1", SENDER.as_bytes()];
        let joined: Vec<u8> =
            parts.iter().flat_map(|part| [&(part.len() as u64).to_be_bytes()[..], part].concat()).collect();
        let shared = hmac::Key::new(hmac::HMAC_SHA256, &STANDARD.decode(REPLICA_KEY).expect("base64"));
        let key = UnboundKey::new(&AES_256_GCM, hmac::sign(&shared, &joined).as_ref()).expect("a key");
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        let mut text = head.to_string().into_bytes();
        let nonce = Nonce::assume_unique_for_key(nonce);
        LessSafeKey::new(key).seal_in_place_append_tag(nonce, Aad::empty(), &mut text).expect("sealed");
        format!("{SENDER}.{number}.{}", URL_SAFE_NO_PAD.encode(text))
    }

    /// The response to a request that was sealed this many milliseconds ago for one body, and has another.
    async fn sent(&self, number: u64, ago: i64, sealed: &str, body: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis();
        let at = i128::try_from(now).expect("a time") - i128::from(ago);
        let request = format!(
            "POST /forward HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nproof-forward: {}\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            self.port,
            self.seal(number, at, sealed),
            body.len()
        );
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut response = Vec::new();
        let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut response)).await;
        read.expect("a response in time").expect("a response");
        String::from_utf8_lossy(&response).into_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_request_counts_with_its_body_and_in_its_time() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let sealed = Sealed::of(&group, &session);
    let call = |tool: &str| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
            .to_string()
    };
    let (slow, large) = (call("slow"), call("large"));
    let mut ran = 0;
    // The window is 30 s, and a busy machine takes a few seconds.
    for (number, (what, ago, body, counts)) in [
        ("as it was sealed", 0, &slow, true),
        ("another body, which arrives first", 0, &large, false),
        ("a body with a space more", 0, &format!("{slow} "), false),
        ("sent 15 s ago", 15_000, &slow, true),
        ("sent 31 s ago", 31_000, &slow, false),
        ("sent in 20 s", -20_000, &slow, true),
        ("sent in 45 s", -45_000, &slow, false),
    ]
    .into_iter()
    .enumerate()
    {
        let response = sealed.sent(number as u64, ago, &slow, body).await;
        let status = if counts { "HTTP/1.1 200 " } else { "HTTP/1.1 403 " };
        assert!(response.starts_with(status), "{what}: {response}");
        assert!(!counts || response.contains("done"), "{what}: {response}");
        ran += usize::from(counts);
        assert_eq!((group.asker.ran("slow"), group.asker.ran("large")), (ran, 0), "{what}");
    }
    let again = sealed.sent(0, 0, &slow, &slow).await;
    assert!(again.starts_with("HTTP/1.1 403 "), "a number that came before: {again}");
    assert_eq!(group.asker.ran("slow"), ran);
}
