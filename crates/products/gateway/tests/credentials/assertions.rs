//! Assertions: each request to a server proves that it comes through the gateway, for whom, and that it is this one.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use client::{Client, Options};
use gateway::access::TokenGuard;
use gateway::settings::{CredentialGrant, Settings};
use gateway::{Gateway, Pages};
use net::Children;
use net::client::{Address, HttpAddress};
use net::server::http::{self, Server};
use net::service::Service;
use oauth::jose::{JwkSet, Signer};
use oauth::now;
use oauth::resource::{TokenRequirements, vouched};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;
use wire::Revision;

use crate::scene::{self, ISSUER, call_with, echo, failure, ran};
use crate::verifier::{Door, Got, Verifier, get};

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const GATEWAY: &str = "https://mcp.example";

struct Scene {
    verifier: Arc<Verifier>,
    gateway: Gateway,
    server: Server,
    upstream: Server,
    signer: Signer,
    folder: TempDir,
}

fn edwards() -> String {
    Signer::fresh_edwards_with_text().1.reveal().to_owned()
}

fn curve() -> String {
    Signer::fresh_with_text().1.reveal().to_owned()
}

impl Scene {
    /// A gateway with these keys in front of a server that verifies what stands in `header`.
    async fn new(keys: &[String], header: &'static str, members: &str) -> Self {
        let verifier = Arc::new(Verifier::new(GATEWAY, header));
        let options = http::Options { layer: Some(Arc::new(Door(Arc::clone(&verifier)))), ..http::Options::default() };
        let service: Arc<dyn Service> = Arc::new(reference::Server::new(reference::Options::default()));
        let upstream = http::listen(service, LOCAL, options).await.expect("a free port");
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        std::fs::write(folder.path().join("issuer.json"), json!({ "keys": [signer.public()] }).to_string())
            .expect("a file");
        let settings = read(&folder, keys, &upstream, header, members);
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let guard = TokenGuard::start(&gateway, settings.auth.as_ref().expect("auth")).await.expect("keys");
        let options = http::Options { path: String::new(), guard: Some(Arc::new(guard)), ..http::Options::default() };
        let pages = http::Options { layer: Some(Arc::new(Pages::without_names(gateway.clone()))), ..options.clone() };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, pages).await.expect("a free port");
        let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
            let options = http::Options { path: endpoint.path, prefix: endpoint.prefix, ..options.clone() };
            (endpoint.service as Arc<dyn Service>, options)
        });
        server.endpoints().set(endpoints.collect());
        verifier.known_as(format!("http://{}/mcp", upstream.local_addr()));
        verifier.read_keys(server.local_addr()).await;
        Self { verifier, gateway, server, upstream, signer, folder }
    }

    fn token(&self, claims: Value) -> String {
        let mut all = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 60, "jti": oauth::random() });
        all.as_object_mut().expect("claims").extend(claims.as_object().cloned().unwrap_or_default());
        self.signer.sign(json!({ "typ": "at+jwt" }), &all)
    }

    async fn call(&self, token: &str) -> Value {
        call_with(self.server.local_addr(), token, "heard", "").await
    }

    async fn client(&self, revision: Revision, token: &str) -> Client {
        let url = Url::parse(&format!("http://{}/mcp", self.server.local_addr())).expect("a URL");
        let mut http = HttpAddress::new(url);
        http.headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        let options = Options { revision: Some(revision), ..Options::new(Address::Http(http), &Children::new()) };
        Client::connect(options).await.expect("it begins")
    }
}

fn read(folder: &TempDir, keys: &[String], upstream: &Server, header: &str, members: &str) -> Settings {
    let listed: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(index, key)| {
            let name = format!("{index}.pem");
            std::fs::write(folder.path().join(&name), key).expect("a file");
            format!("{{ from_file: {name} }}")
        })
        .collect();
    let text = format!(
        "upstreams:\n  crm:\n    url: http://{}/mcp\n    assertion: {{ header: {header}, {members} }}\n\
         assertions: {{ issuer: {GATEWAY}, keys: [{}] }}\n\
         auth: {{ issuer: {ISSUER}, keys: {}, audience: gateway }}\n\
         traffic: {{ retries: {{ most: 2, budget: 100%, backoff: 1ms..5ms }} }}\n\
         cache: {{ rules: [{{ lists: [tools], tools: [\"*\"], ttl: 1m, shared: true }}] }}\n",
        upstream.local_addr(),
        listed.join(", "),
        folder.path().join("issuer.json").display(),
    );
    let file: PathBuf = folder.path().join("gateway.yaml");
    gateway::config::read(&text, &file.display().to_string()).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

fn claims(got: &[Got]) -> Vec<&Value> {
    got.iter().map(|got| got.verified.as_ref().unwrap_or_else(|why| panic!("{why}: {got:?}"))).collect()
}

fn ids(got: &[Got]) -> HashSet<String> {
    claims(got).iter().map(|claims| claims["jti"].to_string()).collect()
}

#[tokio::test]
async fn every_request_proves_who_asks_and_that_it_is_this_one() {
    for (key, header) in [(curve(), "authorization"), (edwards(), "x-gateway-assertion")] {
        let scene = Scene::new(&[key], header, "claims: [sub, scope, tenant_id], lifetime: 20s").await;
        let user = json!({ "sub": "ann", "scope": "write read", "tenant_id": "acme" });
        let token = scene.token(user);
        assert!(ran(&scene.call(&token).await));
        let client = scene.client(Revision::R2025_11_25, &token).await;
        assert!(echo(&client, "heard").await.contains("heard"));
        drop(client);
        let got = scene.verifier.take();
        for claims in claims(&got) {
            assert_eq!(
                (&claims["sub"], &claims["scope"], &claims["tenant_id"]),
                (&json!("ann"), &json!("read write"), &json!("acme"))
            );
            assert_eq!(claims["sub_id"], json!({ "format": "iss_sub", "iss": ISSUER, "sub": "ann" }));
            assert_eq!(claims["exp"].as_u64().zip(claims["iat"].as_u64()).map(|(end, begin)| end - begin), Some(20));
        }
        assert_eq!(ids(&got).len(), got.len(), "each has its own");
        assert!(
            got.len() > 2
                && got.iter().all(|got| got.headers.values().all(|value| value != &format!("Bearer {token}")))
        );
        let status = scene.gateway.status().to_string();
        assert!(status.contains(&format!("\"signed\":{}", got.len())) && !status.contains("PRIVATE"), "{status}");
    }
}

/// A server of an older revision: its session, the stream that it has outside requests, and their end.
#[tokio::test]
async fn sessions_and_streams_are_signed_too() {
    let scene = Scene::new(&[edwards()], "authorization", "claims: [sub]").await;
    let token = scene.token(json!({ "sub": "ann" }));
    let mut settings = read(&scene.folder, &[edwards()], &scene.upstream, "authorization", "claims: [sub]");
    settings.upstreams[0].revision = Some(Revision::R2025_11_25);
    scene.gateway.reload(&settings).expect("valid settings");
    scene.verifier.read_keys(scene.server.local_addr()).await;
    assert!(ran(&scene.call(&token).await));
    scene.gateway.shutdown().await;
    let got = scene.verifier.take();
    claims(&got);
    let methods: HashSet<_> = got.iter().map(|got| got.method.as_str()).collect();
    assert_eq!(methods, ["POST", "GET", "DELETE"].into(), "all are verified");
    assert!(claims(&got).iter().any(|claims| claims["session_sha256"].is_string()));
}

#[tokio::test]
async fn a_stolen_assertion_is_of_no_use() {
    let scene = Scene::new(&[curve()], "x-gateway-assertion", "claims: [sub]").await;
    let token = scene.token(json!({ "sub": "ann" }));
    assert!(ran(&scene.call(&token).await));
    let got = scene.verifier.take();
    let call = got.iter().find(|got| got.body.windows(5).any(|part| part == b"heard")).expect("the call");
    let verify = |headers: &_, body: &[u8], at| scene.verifier.verify("POST", headers, body, at);
    assert_eq!(verify(&call.headers, &call.body, now()), Err("used before"), "replayed");

    // From here on, the thief is faster than the server.
    scene.verifier.steal(Some("precious"));
    call_with(scene.server.local_addr(), &token, "precious", "").await;
    let stolen = scene.verifier.take().pop().expect("a request");
    let other = String::from_utf8_lossy(&stolen.body).replace("precious", "anything");
    assert_eq!(verify(&stolen.headers, other.as_bytes(), now()), Err("another request"));
    assert_eq!(scene.verifier.verify("GET", &stolen.headers, &stolen.body, now()), Err("another request"));
    let mut in_session = stolen.headers.clone();
    in_session.insert("mcp-session-id", "another".parse().expect("a value"));
    assert_eq!(verify(&in_session, &stolen.body, now()), Err("another session"));
    assert_eq!(verify(&stolen.headers, &stolen.body, now() + 60), Err("time"), "late");
    scene.verifier.known_as("https://other.example/mcp".to_owned());
    assert_eq!(verify(&stolen.headers, &stolen.body, now()), Err("audience"), "at another server");
    scene.verifier.known_as(format!("http://{}/mcp", scene.upstream.local_addr()));
    let text = stolen.headers["x-gateway-assertion"].to_str().expect("a text").to_owned();
    for at in (0..text.len()).step_by(7) {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let mut headers = stolen.headers.clone();
        headers.insert("x-gateway-assertion", http_value(&changed));
        // The last letter of a signature has bits that say nothing.
        assert!(verify(&headers, &stolen.body, now()).is_err() || at + 1 == text.len(), "byte {at} changed");
    }
    assert!(verify(&stolen.headers, &stolen.body, now()).is_ok(), "none of this was the reason");
}

fn http_value(bytes: &[u8]) -> http::HeaderValue {
    http::HeaderValue::from_bytes(bytes).expect("a value")
}

/// Our own verification of tokens agrees.
#[tokio::test]
async fn another_implementation_accepts_it_by_type_issuer_and_audience() {
    let scene = Scene::new(&[curve(), edwards()], "x-gateway-assertion", "claims: [sub]").await;
    assert!(ran(&scene.call(&scene.token(json!({ "sub": "ann" }))).await));
    let got = scene.verifier.take();
    let token = got[0].headers["x-gateway-assertion"].to_str().expect("a text");
    let keys = scene.verifier.read_keys(scene.server.local_addr()).await;
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(2), "{keys}");
    assert!(!keys.to_string().contains("\"d\""), "{keys}");
    let keys = JwkSet::read(&keys).expect("keys");
    let audience = format!("http://{}/mcp", scene.upstream.local_addr());
    let wanted = |audience: &str| TokenRequirements {
        issuers: vec![GATEWAY.to_owned()],
        audiences: vec![audience.to_owned()],
        key: None,
        certificate: None,
    };
    assert!(vouched(token, &["gateway-assertion+jwt"], &keys, &wanted(&audience)).is_ok());
    assert!(vouched(token, &["at+jwt", "jwt", ""], &keys, &wanted(&audience)).is_err(), "it is no access token");
    assert!(vouched(token, &["gateway-assertion+jwt"], &keys, &wanted("https://other.example/mcp")).is_err());
    let page = get(scene.server.local_addr(), "/.well-known/proof-assertions/jwks.json").await;
    assert!(page.contains("application/jwk-set+json") && page.contains("max-age=300"), "{page}");
}

#[tokio::test]
async fn a_request_that_is_sent_again_has_another_assertion() {
    let scene = Scene::new(&[edwards()], "authorization", "claims: [sub]").await;
    let token = scene.token(json!({ "sub": "ann" }));
    assert!(ran(&scene.call(&token).await));
    scene.verifier.take();
    scene.verifier.fail("again", 2);
    let message = call_with(scene.server.local_addr(), &token, "again", "").await;
    assert_eq!(message["result"]["content"][0]["text"], "again", "{message}");
    let got: Vec<_> = scene.verifier.take();
    let sent: Vec<_> = got.into_iter().filter(|got| got.body.windows(5).any(|part| part == b"again")).collect();
    assert_eq!((sent.len(), ids(&sent).len()), (3, 3));
}

#[tokio::test]
async fn no_request_goes_out_without_what_the_server_must_learn() {
    let scene = Scene::new(&[edwards()], "authorization", "claims: [sub, tenant_id]").await;
    for (claims, row) in [
        (json!({ "client_id": "robot", "tenant_id": "acme" }), "user-needed"),
        (json!({ "sub": "ann" }), "context-missing"),
        (json!({ "sub": "ann", "tenant_id": null }), "context-missing"),
        (json!({ "sub": "ann", "tenant_id": "x".repeat(2000) }), "context-missing"),
    ] {
        let message = scene.call(&scene.token(claims.clone())).await;
        assert_eq!(failure(&message), (row, "PERMISSION_DENIED", false), "{claims}: {message}");
    }
    assert!(scene.verifier.take().is_empty());
    assert!(ran(&scene.call(&scene.token(json!({ "sub": "ann", "tenant_id": "acme" }))).await));
}

#[tokio::test]
async fn users_and_tenants_share_no_answer() {
    let scene = Scene::new(&[edwards()], "authorization", "claims: [sub, tenant_id]").await;
    for (user, tenant) in [("ann", "acme"), ("bob", "acme"), ("ann", "other")] {
        let token = scene.token(json!({ "sub": user, "tenant_id": tenant }));
        assert!(ran(&scene.call(&token).await) && ran(&scene.call(&token).await));
        let got = scene.verifier.take();
        let calls = got.iter().filter(|got| got.body.windows(5).any(|part| part == b"heard")).count();
        assert_eq!(calls, 1, "the second answer is the user's own from the cache");
        for claims in claims(&got) {
            assert_eq!((&claims["sub"], &claims["tenant_id"]), (&json!(user), &json!(tenant)));
        }
    }
}

#[tokio::test]
async fn keys_rotate_without_a_restart() {
    let (old, new) = (curve(), edwards());
    let scene = Scene::new(std::slice::from_ref(&old), "authorization", "claims: [sub]").await;
    let key_of = |got: &[Got]| {
        let token = got[0].headers["authorization"].to_str().expect("a text").trim_start_matches("Bearer ").to_owned();
        oauth::jose::Jws::read(&token).expect("a token").header("kid").map(str::to_owned)
    };
    let mut used = Vec::new();
    // The new key is published first, then it signs, then the old one goes.
    for keys in [&[old.clone()][..], &[old.clone(), new.clone()], &[new.clone(), old], &[new]] {
        let settings = read(&scene.folder, keys, &scene.upstream, "authorization", "claims: [sub]");
        scene.gateway.reload(&settings).expect("valid settings");
        let published = scene.verifier.read_keys(scene.server.local_addr()).await;
        assert_eq!(published["keys"].as_array().map(Vec::len), Some(keys.len()));
        let token = scene.token(json!({ "sub": oauth::random() }));
        assert!(ran(&scene.call(&token).await));
        let got = scene.verifier.take();
        claims(&got);
        used.push(key_of(&got));
    }
    assert!(used[0] == used[1] && used[1] != used[2] && used[2] == used[3], "{used:?}");
}

/// With a token in `Authorization`, the assertion stands in another header; after a 401, both are new.
#[tokio::test]
async fn a_token_and_an_assertion_go_together() {
    let (header, folder) = ("x-gateway-assertion", tempfile::tempdir().expect("a folder"));
    let asserting = Scene::new(&[curve()], header, "claims: [sub]").await;
    let scene = scene::Scene::with(CredentialGrant::TokenExchange, |settings, _| {
        let read = read(&folder, &[curve()], &asserting.upstream, header, "claims: [sub]");
        settings.upstreams[0].assertion.clone_from(&read.upstreams[0].assertion);
    })
    .await;
    let token = scene.token("ann", "");
    assert!(ran(&scene::call(&scene, &token).await));
    scene.door.with(|door| {
        let revoked: Vec<_> = door.tokens.drain(..).collect();
        door.revoked.extend(revoked);
        door.headers.clear();
    });
    assert!(ran(&scene::call(&scene, &token).await));
    scene.door.with(|door| {
        assert_eq!(door.tokens.len(), 2, "one was refused");
        let is_assertion = |value: &&String| value.starts_with("ey") && value.split('.').count() == 3;
        let assertions: HashSet<_> = door.headers.iter().filter(is_assertion).collect();
        assert_eq!(assertions.len(), 2, "{:?}", door.headers);
    });
}

/// What a client or its headers say of themselves is not taken for an assertion.
#[tokio::test]
async fn a_client_cannot_bring_an_assertion() {
    let scene = Scene::new(&[edwards()], "x-gateway-assertion", "claims: [sub]").await;
    let token = scene.token(json!({ "sub": "eve" }));
    let forged = format!("x-gateway-assertion: {token}\r\n");
    let message = call_with(scene.server.local_addr(), &token, "heard", &forged).await;
    assert!(ran(&message), "{message}");
    for claims in claims(&scene.verifier.take()) {
        assert_eq!(claims["sub"], "eve");
    }
}
