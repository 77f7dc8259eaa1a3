//! Addresses whose TLS cannot be trusted, or is none.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::fake_http::{listen, read, response};
use crate::harness::{Ran, check};

/// An https server with a certificate of its own making for `name`; its URL and the certificate.
fn server(name: &str) -> (String, String) {
    serving(&CertificateParams::new([name.to_owned()]).expect("a name"))
}

fn serving(params: &CertificateParams) -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a configuration");
    let config = Arc::new(config);
    let url = listen(move |stream: TcpStream| {
        let session = ServerConnection::new(config.clone()).expect("a session");
        let mut stream = StreamOwned::new(session, stream);
        if read(&mut stream).is_some() {
            // The client may have gone away.
            let _ = stream.write_all(response("404 Not Found", "", "over TLS").as_bytes());
        }
    });
    (url.replace("http://", "https://"), certificate.pem())
}

fn judged(url: &str) -> Ran {
    check(&["--timeout", "2", url]).run()
}

#[test]
fn no_tls_at_all() {
    let url = listen(|mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(response("400 Bad Request", "", "").as_bytes());
    });
    let ran = judged(&url.replace("http://", "https://"));
    ran.found_no_answer(&["the peer does not speak TLS there", "http:// or ws:// instead"]).within(10);
}

/// As `openssl req -x509` makes them: no --ca-file would help.
#[test]
fn a_certificate_of_an_authority() {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (url, _) = serving(&params);
    judged(&url).found_no_answer(&["an authority's own", "try: make one with basicConstraints=CA:FALSE"]).within(10);
}

#[test]
fn a_self_signed_certificate() {
    let (url, _) = server("127.0.0.1");
    let ran = judged(&url);
    ran.found_no_answer(&[]).within(10);
    assert_eq!(
        ran.stderr,
        format!(
            "error: no trusted TLS connection: the certificate is signed by an issuer that is not trusted\n  at {url}\n  \
             try: fix the certificate, or name its issuer with --ca-file\n"
        )
    );
}

#[test]
fn a_trusted_self_signed_certificate() {
    let (url, pem) = server("127.0.0.1");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, pem).expect("it can be written");
    let ran = check(&["--timeout", "2", "--ca-file", file.to_str().expect("a path"), &url]).run();
    ran.found_no_answer(&["HTTP 404", "over TLS"]).within(10);
}

#[test]
fn a_certificate_for_another_host() {
    let (url, pem) = server("elsewhere.example");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, pem).expect("it can be written");
    let ran = check(&["--timeout", "2", "--ca-file", file.to_str().expect("a path"), &url]).run();
    ran.found_no_answer(&["the certificate is for another host"]).within(10);
}

#[test]
fn https_to_an_http_port() {
    let (url, _) = server("127.0.0.1");
    judged(&url.replace("https://", "http://")).found_no_answer(&["https"]).within(10);
}

#[test]
fn http_to_a_tls_port() {
    let url = listen(|mut stream| {
        // What comes is no request, and is answered as servers answer that.
        if matches!(std::io::Read::read(&mut stream, &mut [0; 4096]), Ok(1..)) {
            let _ = stream.write_all(response("400 Bad Request", "", "").as_bytes());
        }
    });
    judged(&url.replace("http://", "https://")).found_no_answer(&["no trusted TLS connection"]).within(10);
}

#[test]
fn a_handshake_that_never_ends() {
    let url = listen(|stream| {
        // Takes the first bytes and says nothing until the client gives up.
        let mut stream = stream;
        while matches!(std::io::Read::read(&mut stream, &mut [0; 4096]), Ok(1..)) {}
    });
    judged(&url.replace("http://", "https://")).found_no_answer(&["within 2.0 s"]).within(10);
}
