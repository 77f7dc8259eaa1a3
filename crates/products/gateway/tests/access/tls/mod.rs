//! TLS at the address of clients: who is let in by a certificate, what tokens that are bound to one open, and that other
//! certificates are taken over without cutting a request.

mod attacks;
mod pki;
mod program;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientError, Options};
use gateway::Gateway;
use gateway::access::{CertificateGuard, GuardedTls, TokenGuard};
use gateway::settings::{AccessRule, AuditSettings, AuthSettings, ClientCertificates, Effect, Settings, TlsSettings};
use gateway::settings::{Sessions, Target, UpstreamSettings};
use net::Children;
use net::client::{Address, HttpAddress, Identity};
use net::server::http::{self, OtherTransports, Server};
use net::server::tls::{Certificate, ServerTls};
use net::service::Service;
use net::upstream::HttpUpstream;
use oauth::jose::Signer;
use oauth::now;
use oauth::resource::Source;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;
use wire::Revision;

use self::pki::{Authority, Made};
use super::{ISSUER, LOCAL, call, listed, rule, when};

/// A gateway that speaks TLS, in front of a reference server.
struct TlsScene {
    server: Server,
    gateway: Gateway,
    tls: Arc<ServerTls>,
    files: TlsSettings,
    signer: Signer,
    /// Signs the gateway's certificate.
    authority: Authority,
    /// Signs those of clients.
    clients: Authority,
    folder: TempDir,
    _upstream: Server,
}

/// What a scene has.
#[derive(Default)]
struct SceneOptions {
    /// Whether clients need tokens.
    auth: bool,
    /// Whether they need certificates; `None` where they are not asked for any.
    required: Option<bool>,
    access: Option<Vec<AccessRule>>,
    audit: bool,
    handshake_time: Option<Duration>,
    handshakes: Option<usize>,
}

/// An issuer of tokens, and the file of its keys.
fn issuer_in(folder: &Path) -> (Signer, PathBuf) {
    let (signer, keys) = (Signer::fresh(), folder.join("keys.json"));
    std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
    (signer, keys)
}

impl TlsScene {
    async fn new(options: SceneOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let upstream = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
        let (signer, keys) = issuer_in(folder.path());
        let [authority, clients] = ["servers", "clients"].map(|name| Authority::new(folder.path(), name, None));
        let Identity { certificate, key } = authority.signs("127.0.0.1", Made::Usual);
        let accepted = options.required.map(|required| ClientCertificates { roots: clients.file(), required });
        let files = TlsSettings { certificate, key, clients: accepted };
        let auth = AuthSettings {
            issuer: ISSUER.to_owned(),
            keys: Some(Source::File(keys)),
            introspection: None,
            audience: None,
            public_url: None,
            scopes: Vec::new(),
            egress: None,
        };
        let at = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let settings = Settings {
            upstreams: vec![UpstreamSettings {
                name: "a".to_owned(),
                target: Target::Http(HttpAddress::new(at)),
                revision: None,
                sessions: Sessions::default(),
                credentials: None,
                assertion: None,
            }],
            auth: options.auth.then(|| auth.clone()),
            tls: Some(files.clone()),
            access: options.access,
            audit: options.audit.then(|| AuditSettings::new(folder.path().join("log"))),
            ..Settings::default()
        };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let guard: Option<Arc<dyn http::Guard>> = if options.auth {
            let over = if options.required.is_some() { GuardedTls::Certificates } else { GuardedTls::Plain };
            Some(Arc::new(TokenGuard::start(&gateway, &auth).await.expect("keys").over(over)))
        } else {
            let guard = || Arc::new(CertificateGuard::new(gateway.clone())) as Arc<dyn http::Guard>;
            options.required.map(|_| guard())
        };
        let tls = Arc::new(ServerTls::read(&files).expect("good files"));
        let mut http_options =
            http::Options { path: String::new(), guard, tls: Some(Arc::clone(&tls)), ..http::Options::default() };
        http_options.limits.handshake_time = options.handshake_time.unwrap_or(http_options.limits.handshake_time);
        http_options.limits.handshakes = options.handshakes.unwrap_or(http_options.limits.handshakes);
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, http_options.clone()).await.expect("a free port");
        let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
            let other_transports = OtherTransports { sse: true, websocket: true };
            let http_options = http::Options {
                path: endpoint.path,
                prefix: endpoint.prefix,
                other_transports,
                ..http_options.clone()
            };
            (endpoint.service as Arc<dyn Service>, http_options)
        });
        server.endpoints().set(endpoints.collect());
        Self { server, gateway, tls, files, signer, authority, clients, folder, _upstream: upstream }
    }

    fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{path}", self.server.local_addr())
    }

    /// The challenge and the body of a response.
    async fn get(&self, path: &str) -> (String, Value) {
        let mut address = HttpAddress::new(Url::parse(&self.url("https", path)).expect("a URL"));
        address.ca = Some(self.authority.file());
        let upstream = HttpUpstream::new(&address, Duration::from_secs(5)).expect("a certificate");
        let sent = upstream.send(http::Method::GET, http::HeaderMap::new(), http::Bytes::new());
        let mut response = sent.await.expect("a response");
        let challenge = response.header("www-authenticate").unwrap_or_default().to_owned();
        let body = response.whole(1 << 20).await.expect("a body");
        (challenge, serde_json::from_slice(&body).unwrap_or_default())
    }

    fn token(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = json!({ "iss": ISSUER, "aud": self.url("https", "/mcp"), "exp": now() + 60, "sub": "me" });
        change(&mut claims);
        self.signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    /// A token that is bound to a certificate.
    fn bound(&self, to: &Identity) -> String {
        let sha256 = fingerprint(&to.certificate);
        self.token(|claims| claims["cnf"] = json!({ "x5t#S256": sha256 }))
    }

    /// A client that comes with this certificate and token.
    async fn client(&self, identity: Option<&Identity>, token: Option<&str>) -> Result<Client, ClientError> {
        self.client_at(&self.url("https", "/mcp"), Revision::R2025_11_25, identity, token).await
    }

    async fn client_at(
        &self,
        url: &str,
        revision: Revision,
        identity: Option<&Identity>,
        token: Option<&str>,
    ) -> Result<Client, ClientError> {
        let mut http = HttpAddress::new(Url::parse(url).expect("a URL"));
        http.ca = Some(self.authority.file());
        http.identity = identity.cloned();
        http.headers.extend(token.map(|token| ("authorization".to_owned(), format!("Bearer {token}"))));
        let address = match http.url.scheme() {
            "wss" => Address::WebSocket(http),
            _ if http.url.path().ends_with("/sse") => Address::Sse(http),
            _ => Address::Http(http),
        };
        Client::connect(Options { revision: Some(revision), ..Options::new(address, &Children::new()) }).await
    }
}

/// SHA-256 of a certificate, by another way than the gateway's.
fn fingerprint(file: &Path) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let pem = std::fs::read_to_string(file).expect("a file");
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(body).expect("base64");
    URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, &der))
}

async fn greets(client: &Client) -> bool {
    call(client, "echo", json!({ "message": "hello" })).await.contains("hello")
}

#[tokio::test]
async fn every_transport_speaks_tls() {
    let scene = TlsScene::new(SceneOptions::default()).await;
    for (scheme, path, revision) in [
        ("https", "/mcp", Revision::R2026_07_28),
        ("https", "/mcp", Revision::R2025_06_18),
        ("https", "/sse", Revision::R2024_11_05),
        ("wss", "/ws", Revision::R2025_11_25),
    ] {
        let client = scene.client_at(&scene.url(scheme, path), revision, None, None).await.expect("a connection");
        assert!(greets(&client).await, "{scheme} {path}");
        client.close().await;
    }
}

#[tokio::test]
async fn all_addresses_that_clients_get_have_https() {
    let scene = TlsScene::new(SceneOptions { auth: true, required: Some(false), ..SceneOptions::default() }).await;
    let error = scene.client(None, None).await.err().expect("no token").to_string();
    assert!(error.contains("HTTP 401"), "{error}");
    let metadata = scene.url("https", "/.well-known/oauth-protected-resource/mcp");
    let (challenge, _) = scene.get("/mcp").await;
    assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{challenge}");
    let (_, document) = scene.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(document["resource"], scene.url("https", "/mcp"), "{document}");
    assert_eq!(document["tls_client_certificate_bound_access_tokens"], true, "{document}");
    let plain = scene.token(|claims| claims["aud"] = json!(scene.url("http", "/mcp")));
    assert!(scene.client(None, Some(&plain)).await.is_err(), "a token for the address without TLS");
    let client = scene.client(None, Some(&scene.token(|_| ()))).await.expect("a token for this address");
    assert!(greets(&client).await);
    client.close().await;
}

#[tokio::test]
async fn without_tokens_the_certificate_is_the_principal() {
    let spiffe = "spiffe://example.org/agent";
    let access = vec![
        when(rule(Effect::Allow, &["echo"]), "'spiffe://example.org/agent' in certificate.uris"),
        when(rule(Effect::Allow, &["sum"]), "'build.example' in certificate.dns"),
    ];
    let options = SceneOptions { required: Some(true), access: Some(access), audit: true, ..SceneOptions::default() };
    let scene = TlsScene::new(options).await;
    let [agent, build] = [spiffe, "build.example"].map(|name| scene.clients.signs(name, Made::Usual));
    for (identity, tools) in [(&agent, ["echo"]), (&build, ["sum"])] {
        let client = scene.client(Some(identity), None).await.expect("it is let in");
        assert_eq!(listed(&client, "tools/list", "tools", "name").await, tools);
        client.close().await;
    }
    scene.server.shutdown().await;
    scene.gateway.shutdown().await;
    let log = std::fs::read_dir(scene.folder.path().join("log")).expect("a log").map(|file| file.expect("a file"));
    let texts = log.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect::<String>();
    let shown = json!({ "name": spiffe, "sha256": fingerprint(&agent.certificate) });
    let records = texts.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = records.filter(|record| record["certificate"] == shown).collect::<Vec<_>>();
    assert!(!ours.is_empty() && ours.iter().all(|record| record["token"] == "none"), "{texts}");
}

#[tokio::test]
async fn a_bound_token_opens_nothing_from_another_connection() {
    let scene = TlsScene::new(SceneOptions { auth: true, required: Some(false), ..SceneOptions::default() }).await;
    let [mine, other] = ["a.example", "b.example"].map(|name| scene.clients.signs(name, Made::Usual));
    let token = scene.bound(&mine);
    for (scheme, path) in [("https", "/mcp"), ("wss", "/ws")] {
        let url = scene.url(scheme, path);
        let client = scene.client_at(&url, Revision::R2025_11_25, Some(&mine), Some(&token)).await.expect("let in");
        assert!(greets(&client).await);
        client.close().await;
        for (why, identity) in [("another certificate", Some(&other)), ("no certificate", None)] {
            let refused = scene.client_at(&url, Revision::R2025_11_25, identity, Some(&token)).await;
            let error = refused.err().unwrap_or_else(|| panic!("{path}: {why} is let in")).to_string();
            assert!(error.contains("HTTP 401"), "{path}: {why}: {error}");
        }
    }
    // A token that is bound to nothing needs no certificate.
    let client = scene.client(None, Some(&scene.token(|_| ()))).await.expect("let in");
    client.close().await;
}

#[tokio::test]
async fn other_files_are_for_new_connections_and_bad_ones_change_nothing() {
    let scene = TlsScene::new(SceneOptions::default()).await;
    let before = scene.client_at(&scene.url("wss", "/ws"), Revision::R2025_11_25, None, None).await.expect("a client");
    let later = Authority::new(scene.folder.path(), "later", None);
    let other = later.signs("127.0.0.1", Made::Usual);
    let shown = scene.tls.certificate();
    // The key is still that of the old certificate.
    std::fs::copy(&other.certificate, &scene.files.certificate).expect("a copy");
    let error = scene.tls.renew(None).expect_err("they do not match").to_string();
    assert!(error.contains("is not the key of the certificate"), "{error}");
    assert!(matches!(scene.tls.renew(None), Ok(false)), "it is reported once");
    assert_eq!(scene.tls.certificate(), shown);
    scene.client(None, None).await.expect("the old certificate").close().await;
    std::fs::copy(&other.key, &scene.files.key).expect("a copy");
    assert!(matches!(scene.tls.renew(None), Ok(true)) && matches!(scene.tls.renew(None), Ok(false)));
    assert_ne!(scene.tls.certificate(), shown);
    assert!(greets(&before).await, "the connection goes on");
    assert!(scene.client(None, None).await.is_err(), "its new certificate is another authority's");
    before.close().await;
    for (made, why) in [(Made::Expired, "has expired"), (Made::NotYetValid, "not valid yet")] {
        let Identity { certificate, key } = later.signs("127.0.0.1", made);
        let files = TlsSettings { certificate, key, clients: None };
        let error = ServerTls::read(&files).expect_err("not valid now").to_string();
        assert!(error.contains(why), "{error}");
        assert!(scene.tls.renew(Some(&files)).is_err());
    }
    let missing = TlsSettings { key: "missing.key".into(), ..scene.files.clone() };
    assert!(scene.tls.renew(Some(&missing)).is_err_and(|error| error.to_string().starts_with("missing.key: ")));
    assert!(matches!(scene.tls.renew(Some(&scene.files)), Ok(true)));
}

#[test]
fn a_fingerprint_is_that_of_the_whole_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new(folder.path(), "a", None);
    let identity = authority.signs("a.example", Made::Usual);
    let pem = std::fs::read_to_string(&identity.certificate).expect("a file");
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, body).expect("base64");
    let read = Certificate::read(&der).expect("a certificate");
    assert_eq!((read.sha256.clone(), read.dns), (fingerprint(&identity.certificate), vec!["a.example".to_owned()]));
}
