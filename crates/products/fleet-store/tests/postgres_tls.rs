//! TLS to Postgres: the certificate is verified before anything is said of the user. The server is one of this test, which speaks
//! as much of Postgres as comes before a password.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fleet_store::{Location, Options, Store, StoreError};
use rcgen::{CertificateParams, KeyPair};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What the server answers to whom it hears in TLS.
const REFUSAL: &str = "the user was heard in TLS";
/// The code of a request for TLS, and the version of the protocol.
const TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// This machine, by an address that does not look like it: only then is TLS asked for.
fn host() -> IpAddr {
    IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped())
}

/// A certificate for `name`, made by itself.
fn certificate(name: &str) -> (String, CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate().expect("a key");
    let made = CertificateParams::new(vec![name.to_owned()]).expect("a name").self_signed(&key).expect("a certificate");
    (made.pem(), made.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).expect("a key"))
}

/// Serves one Postgres with a certificate for `name`; its address and the certificate's file.
async fn serving(name: &str, folder: &Path) -> (SocketAddr, String) {
    let (pem, certificate, key) = certificate(name);
    let file = folder.join("ca.pem");
    std::fs::write(&file, pem).expect("a file");
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).expect("TLS");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = answer(stream, &acceptor).await;
        }
    });
    (address, file.display().to_string())
}

async fn answer(mut stream: TcpStream, acceptor: &TlsAcceptor) -> std::io::Result<()> {
    let mut asked = [0; 8];
    stream.read_exact(&mut asked).await?;
    assert_eq!(asked, TLS, "nothing comes in the clear");
    stream.write_all(b"S").await?;
    let mut stream = acceptor.accept(stream).await?;
    let mut startup = vec![0; 4];
    stream.read_exact(&mut startup).await?;
    let length = u32::from_be_bytes([startup[0], startup[1], startup[2], startup[3]]) as usize;
    startup.resize(length, 0);
    stream.read_exact(&mut startup[4..]).await?;
    assert!(startup.windows(5).any(|part| part == b"anna\0"), "the user comes in TLS");
    let fields = format!("SFATAL\0VFATAL\0C28P01\0M{REFUSAL}\0\0");
    let mut message = vec![b'E'];
    message.extend_from_slice(&u32::try_from(fields.len() + 4).expect("short").to_be_bytes());
    message.extend_from_slice(fields.as_bytes());
    stream.write_all(&message).await?;
    stream.flush().await
}

/// Why a store with this address is not opened.
async fn refused(address: &str, folder: &Path) -> String {
    let location = Location::parse(address).expect("an address");
    let options = Options { patience: Duration::from_secs(2), ..Options::new(location, folder.join("artefacts")) };
    let error = Store::open(options).await.expect_err("this server refuses every user");
    assert!(!error.to_string().contains("pass-of-anna"), "{error}");
    match error {
        StoreError::Refused { why, .. } | StoreError::Unreachable { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_a_known_root_for_this_host_is_spoken_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, ca) = serving(&host().to_string(), folder.path()).await;
    let address = format!("postgres://anna:pass-of-anna@[{}]:{}/fleet", host(), server.port());
    assert_eq!(refused(&format!("{address}?sslrootcert={ca}"), folder.path()).await, REFUSAL);
    // The same server without its root.
    let unknown = refused(&address, folder.path()).await;
    assert!(unknown.contains("certificate") && unknown != REFUSAL, "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_host_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, ca) = serving("db.example", folder.path()).await;
    let address = format!("postgres://anna:pass-of-anna@[{}]:{}/fleet?sslrootcert={ca}", host(), server.port());
    let why = refused(&address, folder.path()).await;
    assert!(why.contains("certificate") && why != REFUSAL, "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_gets_no_password() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.write_all(b"N").await.expect("written");
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        all
    });
    let address = format!("postgres://anna:pass-of-anna@[{}]:{port}/fleet", host());
    let why = refused(&address, folder.path()).await;
    assert!(why.contains("TLS") || why.contains("tls"), "{why}");
    assert_eq!(heard.await.expect("its end"), TLS, "nothing but the question");
}
