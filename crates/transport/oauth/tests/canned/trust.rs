//! Where a server cannot send us: credentials to an issuer that nobody named, tokens to more than the server, requests to
//! this machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oauth::{
    Authorizer, Backend, Client, Credential, Grant, IssuerQuestion, IssuerTrust, NetBackend, Options, Reach,
    Responding, Secret, WebRequest, WebResponse, fetch,
};
use serde_json::json;
use tokio::net::TcpListener;
use url::Url;
use wire::Party;

use super::{FakeServer, RunningServer, challenged, json_response, metadata};

/// Options of a client with a password, in its own name.
fn with_password() -> Options {
    let client = Some(Client::new("me", Credential::Secret(Secret::new("s3cret"))));
    Options { client, grant: Grant::ClientCredentials, ..RunningServer::options() }
}

fn asking(answer: bool) -> (IssuerTrust, Arc<Mutex<Vec<IssuerQuestion>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = asked.clone();
    let ask = move |question| {
        questions.lock().unwrap().push(question);
        Box::pin(std::future::ready(answer)) as oauth::Agreeing
    };
    (IssuerTrust::Ask(Arc::new(ask)), asked)
}

/// Whether credentials reached the server.
fn got_credentials(server: &RunningServer) -> bool {
    server.requests().iter().any(|request| {
        let text = format!("{}{}", request.head, request.body);
        text.contains("s3cret") || text.contains("bWU6czNjcmV0") || text.contains("w0rkload")
    })
}

#[tokio::test]
async fn an_issuer_that_the_server_chose_gets_no_credentials() {
    let assertion = Options { client: None, grant: Grant::Assertion(Secret::new("w0rkload")), ..with_password() };
    let (declined, _) = asking(false);
    for options in [
        with_password(),
        Options { grant: Grant::Code, ..with_password() },
        assertion,
        Options { trust: declined, ..with_password() },
        Options { issuer: Some("https://as.example".to_owned()), ..with_password() },
    ] {
        let server = FakeServer::correct().start().await;
        let error = server.refused(options.clone(), "Bearer").await.expect_err("refused").to_string();
        assert!(error.contains("authorization server"), "{error}");
        assert!(!got_credentials(&server) && server.requests_to("/token").is_empty(), "{options:?}: {error}");
    }
    let server = FakeServer::correct().start().await;
    let options = Options { issuer: Some(server.base.clone()), ..with_password() };
    server.refused(options, "Bearer").await.unwrap();
    assert!(got_credentials(&server), "the one that the user named does");
}

#[tokio::test]
async fn an_issuer_is_agreed_to_once_and_no_other_takes_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Some(directory.path().join("tokens.json"));
    let (trust, asked) = asking(true);
    let options = Options { cache, trust, ..with_password() };
    let server = FakeServer::correct().start().await;
    for _ in 0..2 {
        server.refused(options.clone(), "Bearer").await.unwrap();
    }
    let question = asked.lock().unwrap().pop().unwrap();
    assert_eq!((question.issuer.as_str(), question.client.as_str()), (server.base.as_str(), "me"));
    assert!(asked.lock().unwrap().is_empty(), "asked once");
    let other = FakeServer::correct().start().await;
    let error = other.refused(options.clone(), "Bearer").await.expect_err("another issuer").to_string();
    assert!(error.contains("belong to another authorization server") && error.contains(&server.base), "{error}");
    assert!(!got_credentials(&other) && asked.lock().unwrap().is_empty());
    other.refused(Options { issuer: Some(other.base.clone()), ..options }, "Bearer").await.unwrap();
}

const BELOW: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";

#[tokio::test]
async fn metadata_of_one_path_gets_no_token_for_a_whole_origin() {
    let whole = |base: &str| json_response(json!({ "resource": base, "authorization_servers": [base] }));
    let mut fake = FakeServer::correct();
    fake.page(BELOW, move |_, base| whole(base));
    fake.page("/elsewhere", move |_, base| whole(base));
    let server = fake.start().await;
    let elsewhere = format!("Bearer resource_metadata=\"{}/elsewhere\"", server.base);
    for challenge in ["Bearer", &elsewhere] {
        let error = server.refused(RunningServer::options(), challenge).await.expect_err("too wide").to_string();
        assert!(error.contains("for more than this server"), "{error}");
    }
    assert!(server.requests_to("/authorize").is_empty() && server.requests_to("/register").is_empty());
    // The origin itself says so.
    let mut fake = FakeServer::correct();
    fake.page(BELOW, move |_, base| whole(base));
    fake.page(ROOT, move |_, base| whole(base));
    let server = fake.start().await;
    server.refused(RunningServer::options(), "Bearer").await.unwrap();
    assert_eq!(server.requests_to("/token")[0].parameter("resource").unwrap(), server.base);
}

/// A listener, and how many connections it took.
async fn counting() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (port, count)
}

#[tokio::test]
async fn nothing_public_leads_to_this_machine() {
    let (port, count) = counting().await;
    for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1", "2130706433", "[::ffff:0:0]"] {
        for scheme in ["http", "https"] {
            let url = Url::parse(&format!("{scheme}://{host}:{port}/x")).unwrap();
            let refused = fetch(&url, Reach::Public, Duration::from_secs(5)).await.unwrap_err().to_string();
            assert!(refused.contains("this machine") || refused.contains("not protected by https"), "{url}: {refused}");
        }
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn what_a_name_leads_to_is_looked_at_when_it_is_connected_to() {
    let (port, count) = counting().await;
    let backend = NetBackend::new(&Options::new(None));
    let request = |reach| WebRequest {
        method: "GET",
        url: Url::parse(&format!("https://localhost:{port}/")).unwrap(),
        party: Party::Other,
        headers: Vec::new(),
        body: None,
        head_only: false,
        reach,
    };
    for reach in [Reach::Public, Reach::Private] {
        let refused = backend.send(request(reach)).await.err().unwrap();
        assert!(refused.contains("addresses of this machine"), "{refused}");
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
    // Nothing there speaks TLS, but it is connected to.
    let _ = tokio::time::timeout(Duration::from_millis(200), backend.send(request(Reach::Machine))).await;
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// A public server, and what it answers; keeps where requests went.
#[derive(Clone, Debug, Default)]
struct Public {
    /// What replaces a member of the issuer's metadata.
    altered: Option<(&'static str, &'static str)>,
    /// Where the authorization endpoint redirects to.
    redirect: Option<&'static str>,
    sent: Arc<Mutex<Vec<(String, Reach)>>>,
}

const BASE: &str = "https://1.1.1.1";

impl Backend for Public {
    fn send(&self, request: WebRequest) -> Responding<'_> {
        self.sent.lock().unwrap().push((request.url.to_string(), request.reach));
        let mut issuer = metadata(BASE);
        if let Some((member, value)) = self.altered {
            issuer[member] = json!(value);
        }
        let servers = [self.altered.filter(|(member, _)| *member == "issuer").map_or(BASE, |(_, value)| value)];
        let (status, location, body) = match request.url.path() {
            "/.well-known/oauth-protected-resource/mcp" => {
                (200, None, json!({ "resource": format!("{BASE}/mcp"), "authorization_servers": servers }))
            }
            "/.well-known/oauth-authorization-server" => (200, None, issuer),
            "/register" => (201, None, json!({ "client_id": "me" })),
            "/authorize" => (302, self.redirect, json!({})),
            _ => (404, None, json!({})),
        };
        let headers = location.map(|to| ("location".to_owned(), to.to_owned())).into_iter().collect();
        Box::pin(std::future::ready(Ok(WebResponse { status, headers, body: body.to_string().into_bytes() })))
    }
}

#[tokio::test]
async fn a_public_server_sends_us_to_no_nearer_address() {
    for near in ["https://0.0.0.0:1/", "https://[::ffff:7f00:1]/", "https://localhost/", "https://10.0.0.1/"] {
        for member in ["issuer", "registration_endpoint", "authorization_endpoint", "token_endpoint", "redirect"] {
            let place = if member == "issuer" { near.trim_end_matches('/') } else { near };
            let altered = Some((member, place)).filter(|_| member != "redirect");
            let redirect = match member {
                "token_endpoint" => None,
                _ => Some(near),
            };
            let backend = Public { altered, redirect, ..Public::default() };
            let url = Url::parse(&format!("{BASE}/mcp")).unwrap();
            // Codes need no redirect to be tried at the token endpoint.
            let mut options = RunningServer::options();
            if member == "token_endpoint" {
                options.client = Some(Client::new("me", Credential::Secret(Secret::new("s3cret"))));
                (options.grant, options.issuer) = (Grant::ClientCredentials, Some(BASE.to_owned()));
            }
            let mut operation =
                Authorizer::with_backend(url, options, Arc::new(backend.clone())).unwrap().operation("POST");
            operation.headers().await.unwrap();
            let refused = operation.refused(401, &challenged("Bearer")).await.unwrap_err().to_string();
            assert!(refused.contains("a server elsewhere sends us"), "{member} {near}: {refused}");
            let sent = backend.sent.lock().unwrap().clone();
            assert!(!sent.is_empty() && sent.iter().all(|(url, _)| url.starts_with(BASE)), "{member}: {sent:?}");
        }
    }
}

#[tokio::test]
async fn names_are_requested_with_the_reach_of_the_server() {
    let backend = Public { altered: Some(("issuer", "https://as.example")), ..Public::default() };
    let url = Url::parse(&format!("{BASE}/mcp")).unwrap();
    let mut operation =
        Authorizer::with_backend(url, RunningServer::options(), Arc::new(backend.clone())).unwrap().operation("POST");
    operation.headers().await.unwrap();
    assert!(operation.refused(401, &challenged("Bearer")).await.is_err());
    let sent = backend.sent.lock().unwrap().clone();
    let to_issuer = sent.iter().find(|(url, _)| url.starts_with("https://as.example")).unwrap();
    assert_eq!(to_issuer.1, Reach::Public, "its name may lead to public addresses only");
}
