//! The whole way of a client: refused, found out, registered, authorized, let in, asked for more, renewed.

use std::time::Duration;

use net::client::{Address, ConnectOptions, Connection, HttpAddress, Limits, Outgoing};
use net::{Children, Tap};
use oauth::{Agent, Authorizer, Browser, Client as Known, Credential, Grant, OAuthError, Operation, Options, Secret};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;
use wire::Revision;
use wire::trace::{Content, Header};

use super::{OURS, development};
use crate::wire_http::{Client, modern_request};

const NEWEST: Revision = Revision::R2026_07_28;

fn url(server: &Client) -> Url {
    Url::parse(&format!("http://{}/mcp", server.host)).unwrap()
}

fn authorizer(server: &Client, change: impl FnOnce(&mut Options)) -> Authorizer {
    let mut options = Options::new(Some(NEWEST));
    change(&mut options);
    Authorizer::new(url(server), options).unwrap()
}

/// Asks until the server lets us or we give up: the last status.
async fn ask(server: &Client, operation: &mut Operation, method: &str, params: Value) -> Result<u16, OAuthError> {
    let tap = Tap::new(Header::server(wire::Transport::StreamableHttp, NEWEST, "test"));
    let address = Address::Http(HttpAddress::new(url(server)));
    let options = ConnectOptions::new(Limits::default(), &Children::new());
    let connection = Connection::open(&address, NEWEST, &tap, &options).await.unwrap();
    for _ in 0..9 {
        let mut outgoing = Outgoing::message(modern_request(method, params.clone()).to_string());
        for (name, value) in operation.headers().await? {
            outgoing = outgoing.header(name, value);
        }
        let exchange = connection.send_with(outgoing).await.unwrap();
        let (status, headers) = exchange.head(Duration::from_secs(5)).await.unwrap();
        if !operation.refused(status, &headers).await? {
            return Ok(status);
        }
    }
    panic!("it never gives up");
}

async fn list(server: &Client, authorizer: &Authorizer) -> Result<u16, OAuthError> {
    ask(server, &mut authorizer.operation("POST"), "tools/list", json!({})).await
}

async fn touch(server: &Client, authorizer: &Authorizer) -> Result<u16, OAuthError> {
    let params = json!({ "name": "touch_resource", "arguments": {} });
    ask(server, &mut authorizer.operation("POST"), "tools/call", params).await
}

#[tokio::test]
async fn from_a_refusal_to_a_call_and_to_one_that_needs_more() {
    let server = development(600).await;
    let tap = Tap::new(Header::server(wire::Transport::StreamableHttp, NEWEST, "test"));
    let authorizer = authorizer(&server, |options| options.tap = Some(tap.clone()));
    assert_eq!(list(&server, &authorizer).await.unwrap(), 200);
    let first = authorizer.token().await.unwrap();
    assert_eq!(list(&server, &authorizer).await.unwrap(), 200);
    assert_eq!(authorizer.token().await.unwrap(), first, "a token that is good is used again");
    assert_eq!(touch(&server, &authorizer).await.unwrap(), 200);
    let second = authorizer.token().await.unwrap();
    assert_ne!(second, first);
    assert_eq!(list(&server, &authorizer).await.unwrap(), 200, "nothing that was granted is lost");
    let asked: Vec<String> = tap
        .finish()
        .frames
        .into_iter()
        .filter_map(|frame| match frame.content {
            Content::Request { method, target, .. } => {
                Some(format!("{method} {}", target.split('?').next().unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    let metadata = "GET /.well-known/oauth-protected-resource/mcp";
    let issuer = "GET /.well-known/oauth-authorization-server";
    let (agree, token) = ("GET /authorize", "POST /token");
    let expected = [metadata, issuer, "POST /register", agree, token, metadata, issuer, agree, token];
    assert_eq!(asked, expected, "registered once, authorized twice");
}

/// What follows `before` in a text, as far as it may stand in a code or token.
fn secrets_after(text: &str, before: &str) -> Vec<String> {
    let word = |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    text.match_indices(before).map(|(at, _)| word(&text[at + before.len()..])).collect()
}

#[tokio::test]
async fn a_trace_without_secrets_tells_of_the_way_and_no_secret() {
    let server = development(600).await;
    let tap = Tap::new(Header::server(wire::Transport::StreamableHttp, NEWEST, "test"));
    let authorizer = authorizer(&server, |options| options.tap = Some(tap.clone()));
    assert_eq!(list(&server, &authorizer).await.unwrap(), 200);
    let trace = tap.finish();
    assert!(trace.frames.iter().any(|frame| frame.to == wire::Party::AuthorizationServer));
    let written = wire::trace::file::write;
    let raw = written(&trace);
    let places = [
        "callback?code=",
        "&code=",
        "code_verifier=",
        r#""access_token":""#,
        r#""refresh_token":""#,
        "&state=",
        "?state=",
    ];
    let secrets: Vec<String> = places.iter().flat_map(|place| secrets_after(&raw, place)).collect();
    assert!(
        secrets.len() >= 6 && secrets.contains(&authorizer.token().await.unwrap().reveal().to_owned()),
        "{secrets:?}"
    );
    let redacted = written(&wire::redact::Redactor::new([7; 32]).redact_trace(&trace));
    for secret in &secrets {
        assert!(secret.len() > 20 && !redacted.contains(secret.as_str()), "{secret}");
    }
    assert!(redacted.contains("/register") && redacted.contains("code_challenge"));
}

#[tokio::test]
async fn a_token_about_to_expire_is_renewed_without_the_user() {
    let server = development(1).await;
    let authorizer = authorizer(&server, |_| ());
    let mut seen = Vec::new();
    for _ in 0..3 {
        assert_eq!(list(&server, &authorizer).await.unwrap(), 200);
        seen.push(authorizer.token().await.unwrap());
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2], "each was renewed");
}

#[tokio::test]
async fn what_was_granted_is_kept_from_one_run_to_the_next() {
    let server = development(600).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tokens.json");
    let first = authorizer(&server, |options| options.cache = Some(file.clone()));
    assert_eq!(list(&server, &first).await.unwrap(), 200);
    let again = authorizer(&server, |options| options.cache = Some(file.clone()));
    assert_eq!(list(&server, &again).await.unwrap(), 200);
    assert_eq!(first.token().await, again.token().await);
    // A token that the server takes no more is renewed; a file of tokens is no reason to fail.
    let text = std::fs::read_to_string(&file).unwrap();
    let spoilt = text.replace(again.token().await.unwrap().reveal(), "spoilt");
    std::fs::write(&file, spoilt).unwrap();
    let spoilt = authorizer(&server, |options| options.cache = Some(file.clone()));
    assert_eq!(list(&server, &spoilt).await.unwrap(), 200);
}

#[tokio::test]
async fn a_client_may_act_in_its_own_name() {
    let server = development(600).await;
    let known = |secret: &str| Known::new(OURS.0, Credential::Secret(Secret::new(secret)));
    let own = authorizer(&server, |options| {
        options.grant = Grant::ClientCredentials;
        options.issuer = Some(format!("http://{}", server.host));
        options.client = Some(known(OURS.1));
    });
    assert_eq!(touch(&server, &own).await.unwrap(), 200);
    let wrong = authorizer(&server, |options| {
        options.grant = Grant::ClientCredentials;
        options.issuer = Some(format!("http://{}", server.host));
        options.client = Some(known("another-password"));
    });
    let error = list(&server, &wrong).await.unwrap_err().to_string();
    assert!(error.contains("invalid_client") && !error.contains("another-password"), "{error}");
}

#[tokio::test]
async fn the_issuer_with_a_path_is_found_too() {
    let server = development(600).await;
    let issuer = format!("http://{}/tenant", server.host);
    let other = authorizer(&server, |options| {
        let client = Known::new(OURS.0, Credential::Secret(Secret::new(OURS.1)));
        options.client = Some(Known { issuer: Some(issuer.clone()), ..client });
        options.grant = Grant::ClientCredentials;
    });
    assert_eq!(list(&server, &other).await.unwrap(), 200);
    let token = other.token().await.unwrap();
    let claims = token.reveal().split('.').nth(1).and_then(oauth::jose::decode).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["iss"], issuer);
}

#[tokio::test]
async fn the_servers_own_origin_issues_at_2025_03_26() {
    let server = development(600).await;
    let older = authorizer(&server, |options| options.revision = Some(Revision::R2025_03_26));
    // Its challenge names newer metadata, which a client of then does not know.
    let mut operation = older.operation("POST");
    assert!(operation.headers().await.unwrap().is_empty());
    assert!(operation.refused(401, &vec![("www-authenticate".to_owned(), "Bearer".to_owned())]).await.unwrap());
    let headers = operation.headers().await.unwrap();
    let token = headers[0].1.clone();
    let reply = server.post(&[("Authorization", &token)], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_ne!(reply.status, 401, "{}", reply.text);
}

#[tokio::test]
async fn a_person_agrees_in_a_browser() {
    let server = development(600).await;
    let (told, mut telling) = tokio::sync::mpsc::unbounded_channel();
    let browser = Browser {
        show_url: std::sync::Arc::new(move |url: &Url| _ = told.send(url.clone())),
        timeout: Duration::from_secs(10),
        port: None,
    };
    let authorizer = authorizer(&server, |options| options.agent = Agent::Browser(browser));
    let person = async {
        let at = telling.recv().await.unwrap();
        let target = &at[url::Position::BeforePath..];
        let accept = [("Accept", "text/html,application/xhtml+xml")];
        let page = server.plain("GET", target, "", &accept, "").await;
        assert_eq!(page.status, 200, "{}", page.text);
        assert!(page.text.contains("proofhouse") && page.text.contains("127.0.0.1"));
        let key = page.text.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
        let form = "application/x-www-form-urlencoded";
        let allowed = server.plain("POST", "/authorize", form, &[], &format!("request={key}&answer=allow")).await;
        let back = Url::parse(allowed.header("location").unwrap()).unwrap();
        // A stranger who comes first is sent away, and the right one is still awaited.
        for (query, status) in [(Some("code=x&state=y"), "404"), (back.query(), "200")] {
            let mut socket = TcpStream::connect(("127.0.0.1", back.port().unwrap())).await.unwrap();
            let request = format!("GET {}?{} HTTP/1.1\r\nHost: x\r\n\r\n", back.path(), query.unwrap());
            socket.write_all(request.as_bytes()).await.unwrap();
            let mut text = String::new();
            socket.read_to_string(&mut text).await.unwrap();
            assert!(text.starts_with(&format!("HTTP/1.1 {status}")), "{text}");
        }
        let again = server.plain("POST", "/authorize", form, &[], &format!("request={key}&answer=allow")).await;
        assert_eq!(again.status, 400, "a page is answered once");
    };
    let (status, ()) = tokio::join!(list(&server, &authorizer), person);
    assert_eq!(status.unwrap(), 200);
}
