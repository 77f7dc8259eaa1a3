//! HTTPS with a certificate made on the spot.

use std::sync::Arc;
use std::time::Duration;

use net::client::Identity;
use net::upstream::{Failure, HttpUpstream};
use net::{Address, Connection, HttpAddress, Limits, OpenError, Tap};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use wire::trace::Header;
use wire::{RequestId, Revision, Transport};

use super::end::{SOON, http, json_answer, options};

/// A server with a certificate for `name`, whose port and certificate (PEM) are returned.
async fn server(name: &str) -> (u16, String) {
    server_trusting(name, None).await
}

/// The same; clients must show a certificate that `client` stands for, where there is one.
async fn server_trusting(name: &str, client: Option<CertificateDer<'static>>) -> (u16, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    let chain = vec![CertificateDer::from(cert.der().to_vec())];
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = match client {
        None => config.with_no_client_auth(),
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client).unwrap();
            let provider = Arc::new(default_provider());
            config.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap(),
            )
        }
    };
    let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut buffer = vec![0; 9999];
                while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {
                    let body = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
                    stream.write_all(json_answer("200 OK", "", &body).as_bytes()).await.unwrap();
                }
            });
        }
    });
    (port, cert.pem())
}

async fn open(address: Address) -> Result<Connection, OpenError> {
    let limits = Limits { connect: Duration::from_millis(500), ..Limits::default() };
    let tap = Tap::new(Header::server(Transport::StreamableHttp, Revision::NEWEST_LEGACY, "test"));
    Connection::open(&address, Revision::NEWEST_LEGACY, &tap, &options(&limits)).await
}

async fn why(address: Address) -> String {
    match open(address).await.err() {
        Some(OpenError::Tls { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

fn trusting(url: &str, pem: &str) -> Address {
    let path = std::env::temp_dir().join(format!("proofhouse-ca-{}-{}.pem", std::process::id(), url.len()));
    std::fs::write(&path, pem).unwrap();
    Address::Http(HttpAddress { ca: Some(path), ..HttpAddress::new(url.parse().unwrap()) })
}

#[tokio::test]
async fn only_trusted_certificates_will_do() {
    let (port, pem) = server("localhost").await;
    let url = format!("https://localhost:{port}/");
    assert!(why(http(&url)).await.contains("issuer that is not trusted"));
    let connection = open(trusting(&url, &pem)).await.unwrap();
    connection.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.unwrap();
    assert!(connection.response(&RequestId::from(1), SOON).await.is_some());
    assert!(why(trusting(&format!("https://127.0.0.1:{port}/"), &pem)).await.contains("another host"));
    assert!(matches!(
        open(trusting("https://localhost/no-pem", "nothing")).await.err(),
        Some(OpenError::BadAddress { .. })
    ));
}

#[tokio::test]
async fn a_peer_without_tls_is_named() {
    let url = super::end::server(|_, mut stream| async move {
        super::end::write(&mut stream, "HTTP/1.1 400 Bad Request\r\n\r\n").await;
    });
    let url = url.await.replace("http:", "https:");
    assert!(why(http(&url)).await.contains("does not speak TLS"));
}

/// Calls a server that wants the certificate of `client` with the certificate in the files `shown`.
async fn call_showing(port: u16, ca: &std::path::Path, shown: Option<Identity>) -> Result<u16, String> {
    let url = format!("https://localhost:{port}/").parse().unwrap();
    let address = HttpAddress { ca: Some(ca.to_owned()), identity: shown, ..HttpAddress::new(url) };
    let upstream = HttpUpstream::new(&address, SOON).map_err(|error| error.to_string())?;
    let body = bytes::Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let sent = upstream.send(net::server::http::Method::POST, net::server::http::HeaderMap::new(), body).await;
    sent.map(|response| response.status.as_u16()).map_err(|failure| match failure {
        Failure::Forbidden(refusal) => refusal.to_string(),
        Failure::NotSent(why) | Failure::Unknown(why) => why,
    })
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_who_asks() {
    let folder = std::env::temp_dir().join(format!("proofhouse-identity-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let [ours, other] = ["client", "other"].map(|name| generate_simple_self_signed([name.to_owned()]).unwrap());
    let identity = |name: &str, pair: &CertifiedKey<rcgen::KeyPair>| Identity {
        certificate: write(&format!("{name}.pem"), &pair.cert.pem()),
        key: write(&format!("{name}-key.pem"), &pair.signing_key.serialize_pem()),
    };
    let (mine, foreign) = (identity("mine", &ours), identity("foreign", &other));
    let (port, pem) = server_trusting("localhost", Some(CertificateDer::from(ours.cert.der().to_vec()))).await;
    let ca = write("ca.pem", &pem);
    assert_eq!(call_showing(port, &ca, Some(mine.clone())).await, Ok(200));
    assert!(call_showing(port, &ca, None).await.is_err());
    assert!(call_showing(port, &ca, Some(foreign.clone())).await.is_err());
    // Mistakes in the files are reported before anything is sent, and never the files' content.
    for (certificate, key, part) in [
        (mine.key.clone(), mine.key.clone(), "holds no certificate"),
        (mine.certificate.clone(), mine.certificate.clone(), "holds no private key"),
        (mine.certificate.clone(), foreign.key.clone(), "client certificate"),
        (folder.join("none"), mine.key.clone(), "client certificate"),
    ] {
        let error = call_showing(port, &ca, Some(Identity { certificate, key })).await.unwrap_err();
        assert!(error.contains(part), "no {part:?} in {error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
