//! Name, connection, certificate, HTTP, handshake, list.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use net::client::{Address, HttpAddress};
use net::server::http::{self, Server};
use net::server::tls::{ServerTls, TlsSettings};
use net::service::{Answer, Call, Reply, RpcError, Service};
use rcgen::{CertificateParams, KeyPair};
use url::Url;

use crate::served::{Asked, fails_at, healthy, json, outcomes, response, served, to, to_url};

#[tokio::test]
async fn a_server_in_order_is_clean() {
    let report = to_url(&format!("{}/mcp", served(|asked, _| healthy(asked)))).await;
    assert!(report.works() && report.failed().is_none(), "{report:#?}");
    let expected = [
        "dns skipped",
        "tcp ok",
        "tls skipped",
        "http ok",
        "resource-metadata skipped",
        "issuer-metadata skipped",
        "registration skipped",
        "token skipped",
        "handshake ok",
        "list ok",
    ];
    assert_eq!(outcomes(&report), expected);
    let seen = |name: &str| report.steps.iter().find(|step| step.name.as_str() == name).expect("taken").seen.join("\n");
    assert!(seen("handshake").contains("initialize: well 1.2, revision 2025-11-25"), "{report:#?}");
    assert!(seen("handshake").contains("server/discover: not spoken (error -32601)"), "{report:#?}");
    assert_eq!(seen("list"), "tools/list at 2025-11-25: 1: look");
}

#[tokio::test]
async fn an_unknown_host() {
    fails_at(&to_url("http://no-such-host.invalid/mcp").await, "dns", "has no address", "check the host's name");
}

#[tokio::test]
async fn a_closed_port() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    fails_at(
        &to_url(&format!("http://127.0.0.1:{port}/mcp")).await,
        "tcp",
        "nothing listens there",
        "start the server",
    );
}

/// Where a server listens is not where clients connect; but where it answers all the same, nothing is wrong.
#[tokio::test]
async fn an_address_that_means_every_address() {
    let refuses = |asked: &Asked, _: &str| {
        if asked.head.contains("host: 0.0.0.0") {
            json(403, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"host"}}"#)
        } else {
            healthy(asked)
        }
    };
    let at = served(refuses);
    let everywhere = at.replace("127.0.0.1", "0.0.0.0");
    let fix = format!("connect to {at}/mcp");
    fails_at(&to_url(&format!("{everywhere}/mcp")).await, "http", "where a server listens", &fix);
    let at = served(|asked, _| healthy(asked)).replace("127.0.0.1", "0.0.0.0");
    assert!(to_url(&format!("{at}/mcp")).await.works());
}

#[tokio::test]
async fn a_port_without_tls() {
    let at = served(|asked, _| healthy(asked)).replace("http://", "https://");
    fails_at(&to_url(&format!("{at}/mcp")).await, "tls", "does not speak TLS", "http://");
}

#[tokio::test]
async fn a_port_that_says_nothing_to_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = format!("https://{}/mcp", listener.local_addr().expect("bound"));
    fails_at(&to_url(&at).await, "tls", "no TLS handshake within", "does this port speak TLS?");
}

struct Mute;

impl Service for Mute {
    fn call(&self, call: Call) -> Reply {
        Answer::error(Some(call.id()), &RpcError::invalid_request("mute")).into()
    }
}

/// A server with a certificate for `host`; where it is, and the folder with the certificate.
async fn encrypted(host: &str) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let params = CertificateParams::new([host.to_owned()]).expect("a name");
    let key = KeyPair::generate().expect("a key");
    let (certificate, secret) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    std::fs::write(&certificate, params.self_signed(&key).expect("signed").pem()).expect("a file");
    std::fs::write(&secret, key.serialize_pem()).expect("a file");
    let tls = ServerTls::read(&TlsSettings { certificate, key: secret, clients: None }).expect("usable files");
    let options = http::Options { tls: Some(Arc::new(tls)), ..http::Options::default() };
    let address = "127.0.0.1:0".parse().expect("an address");
    (http::listen(Arc::new(Mute), address, options).await.expect("it listens"), folder)
}

async fn to_encrypted(host: &str, trusts: bool) -> doctor::Report {
    let (server, folder) = encrypted(host).await;
    let url = Url::parse(&format!("https://{}/mcp", server.local_addr())).expect("a URL");
    let ca = trusts.then(|| folder.path().join("c.pem"));
    to(Address::Http(HttpAddress { ca, ..HttpAddress::new(url) })).await
}

#[tokio::test]
async fn certificates() {
    fails_at(&to_encrypted("127.0.0.1", false).await, "tls", "issuer that is not trusted", "trust its issuer");
    let wrong = to_encrypted("other.example", true).await;
    fails_at(&wrong, "tls", "for another host", "fix the certificate");
    fails_at(&wrong, "tls", "for other.example, until 4096-01-01", "");
    let right = to_encrypted("127.0.0.1", true).await;
    assert!(outcomes(&right).contains(&"tls ok".to_owned()), "{right:#?}");
}

/// A server that answers everything with this.
async fn always(answer: &'static str, headers: &'static str, status: u16) -> doctor::Report {
    to_url(&format!("{}/mcp", served(move |_, _| response(status, headers, answer)))).await
}

#[tokio::test]
async fn no_mcp_over_http() {
    let page = "<!doctype html><html><title>Sign in to the network</title></html>";
    let html = "Content-Type: text/html\r\nServer: nginx\r\n";
    let report = always(page, html, 200).await;
    fails_at(&report, "http", "HTTP 200, text/html", "check the address");
    fails_at(&report, "http", "an HTML page, `Sign in to the network`", "");
    fails_at(&report, "http", "`nginx` answered", "");
    fails_at(&always("", "", 404).await, "http", "HTTP 404", "check the path");
    fails_at(&always("", "", 502).await, "http", "HTTP 502", "start the server; where a proxy is in between");
    fails_at(&always("no", "Content-Type: text/plain\r\n", 403).await, "http", "HTTP 403", "token");
}

#[tokio::test]
async fn redirects_to_other_places_are_not_followed() {
    let came = Arc::new(AtomicBool::new(false));
    let noted = came.clone();
    let elsewhere = served(move |_, _| {
        noted.store(true, Ordering::SeqCst);
        response(200, "", "")
    });
    let target = elsewhere.clone();
    let here = served(move |_, _| response(302, &format!("Location: {target}/mcp\r\n"), ""));
    let report = to_url(&format!("{here}/mcp")).await;
    fails_at(&report, "http", "redirected to another origin", "if you trust it, give that URL");
    assert!(!came.load(Ordering::SeqCst), "the redirect was followed");
    let same = served(|asked, origin| {
        if asked.line.starts_with("POST /old ") {
            response(307, &format!("Location: {origin}/mcp\r\n"), "")
        } else {
            healthy(asked)
        }
    });
    assert!(to_url(&format!("{same}/old")).await.works());
}

#[tokio::test]
async fn a_server_that_hangs() {
    let at = served(|_, _| {
        std::thread::sleep(std::time::Duration::from_secs(20));
        String::new()
    });
    fails_at(&to_url(&format!("{at}/mcp")).await, "http", "within", "wait longer");
}

#[tokio::test]
async fn answers_that_are_no_json_rpc() {
    fails_at(
        &always("{\"ok\":true}", "Content-Type: application/json\r\n", 200).await,
        "http",
        "not MCP",
        "check the address",
    );
}

#[tokio::test]
async fn a_handshake_that_is_declined() {
    let at = served(|asked, _| asked.answer(r#""error":{"code":-32603,"message":"no database"}"#));
    fails_at(&to_url(&format!("{at}/mcp")).await, "handshake", "no database", "look into the server's log");
}

#[tokio::test]
async fn a_list_that_fails() {
    let broken = |asked: &Asked| {
        if asked.body.contains("tools/list") {
            asked.answer(r#""error":{"code":-32603,"message":"boom"}"#)
        } else {
            healthy(asked)
        }
    };
    fails_at(&to_url(&format!("{}/mcp", served(move |asked, _| broken(asked)))).await, "list", "boom", "log");
}

#[tokio::test]
async fn secrets_are_replaced() {
    let at = served(|asked, _| {
        let shown = asked
            .head
            .split("authorization: ")
            .nth(1)
            .and_then(|rest| rest.lines().next())
            .unwrap_or("none")
            .to_owned();
        json(500, &format!("you sent {shown}"))
    });
    let mut secrets = wire::redact::Secrets::default();
    secrets.header("Authorization", "Bearer hidden-token-0123456789");
    let url = Url::parse(&format!("{at}/mcp")).expect("a URL");
    let headers = vec![("Authorization".to_owned(), "Bearer hidden-token-0123456789".to_owned())];
    let address = Address::Http(HttpAddress { headers, ..HttpAddress::new(url) });
    let report = crate::served::to_with(address, &secrets).await;
    fails_at(&report, "http", "you sent", "");
    assert!(!format!("{report:?}").contains("hidden-token"), "{report:#?}");
}
