//! Users who consent in a browser, each for themselves, at an authorization server that the test plays.

use std::fs;
use std::time::Duration;

use factory::{Base, CallableOperation, Caller, Factory};
use openapi::model::{Method, Operation, Scheme};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use crate::scene::{Got, Upstream, api, callable, config, failure, http, object, ok, operation, secured, texts};

/// A user, known by a session.
fn session(number: u64) -> Caller {
    Caller { session: Some(number), ..Caller::default() }
}

/// A member of a form.
fn member(body: &str, name: &str) -> String {
    let pairs = url::form_urlencoded::parse(body.as_bytes());
    pairs.filter(|(known, _)| known == name).map(|(_, value)| value.into_owned()).next().unwrap_or_default()
}

/// Issues `access-CODE-1` with `refresh-CODE`, and answers what it gets. `lasts` is how long tokens last.
fn answered(got: &Got, lasts: u64) -> Vec<u8> {
    if got.line != "POST /token" {
        let token = got.header("authorization").unwrap_or_default();
        return if token.contains("revoked") { http(401, "", "no") } else { ok(&json!({ "you": token }).to_string()) };
    }
    let code = match member(&got.body, "grant_type").as_str() {
        "authorization_code" => member(&got.body, "code"),
        _ => member(&got.body, "refresh_token").trim_start_matches("refresh-").replace("revoked", "renewed"),
    };
    if code == "declined" {
        let body = json!({ "error": "invalid_grant", "error_description": format!("the code {code} is over") });
        return http(400, "Content-Type: application/json\r\n", &body.to_string());
    }
    let body = json!({
        "access_token": format!("access-{code}"), "refresh_token": format!("refresh-{code}"),
        "token_type": "Bearer", "expires_in": lasts,
    });
    ok(&body.to_string())
}

fn called(upstream: &Upstream) -> CallableOperation {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("client"), "robot\n").expect("written");
    let at = &upstream.url;
    let settings = format!(
        "auth: {{ user: {{ grant: authorization_code, client_id: {{ file: client }}, authorize_url: '{at}/authorize', \
         token_url: '{at}/token', scopes: [read] }} }}\nlimits: {{ seconds: 2 }}"
    );
    let base = Base::named(at).expect("a URL");
    let scheme = Scheme::OAuth { client_credentials: None, authorization_code: None };
    let factory = Factory::new(&api(&[("user", scheme)]), base, config(&settings, folder.path().into()));
    callable(&factory.expect("prepared"), get())
}

fn get() -> Operation {
    secured(operation(Method::Get, "/x", Vec::new()), &["user"])
}

/// The browser comes back from `url` with a code. What its page says.
async fn browser(url: &Url, code: &str) -> String {
    let query: std::collections::HashMap<_, _> = url.query_pairs().into_owned().collect();
    let target = Url::parse(&query["redirect_uri"]).expect("a URL");
    assert_eq!((target.host_str(), target.path()), (Some("127.0.0.1"), "/callback"));
    visit(&target, &format!("code={code}&state={}", query["state"])).await
}

async fn visit(target: &Url, query: &str) -> String {
    let address = format!("127.0.0.1:{}", target.port().expect("a port"));
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let head = format!("GET {}?{query} HTTP/1.1\r\n\r\n", target.path());
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).await.expect("it answers");
    said
}

async fn call(operation: &CallableOperation, caller: &Caller) -> String {
    texts(&operation.call_for(caller, object(json!({}))).await)
}

/// What the API got last in `Authorization`.
fn last(upstream: &Upstream) -> String {
    upstream.got().last().expect("a request").header("authorization").unwrap_or_default().to_owned()
}

#[tokio::test]
async fn each_user_consents_and_gets_a_token_of_their_own() {
    let upstream = Upstream::start(|_, got| answered(got, 3600)).await;
    let operation = called(&upstream);
    let (ann, bob) = (session(1), session(2));
    let asked = operation.call_for(&ann, object(json!({}))).await;
    let url = operation.consent(&ann).await.expect("a place to consent");
    assert_eq!(failure(&asked), ("PERMISSION_DENIED", false));
    assert!(texts(&asked).contains(url.as_str()), "{}", texts(&asked));
    for part in ["response_type=code", "client_id=robot", "scope=read", "code_challenge_method=S256"] {
        assert!(url.as_str().contains(part), "{url}");
    }
    assert_eq!(operation.consent(&ann).await.as_ref(), Some(&url), "the same place until it is over");
    assert!(browser(&url, "ann").await.contains("Thank you"));
    assert!(operation.consent(&ann).await.is_none() && operation.consented(&ann).await);
    assert_eq!(call(&operation, &ann).await, r#"{"you":"Bearer [credential]"}"#);
    assert_eq!(last(&upstream), "Bearer access-ann");

    let before = upstream.got().len();
    let other = operation.consent(&bob).await.expect("Bob has not consented");
    assert_ne!(other, url);
    assert!(call(&operation, &bob).await.contains("open http"));
    assert_eq!(upstream.got().len(), before, "no token of Ann's is sent for Bob");
    browser(&other, "bob").await;
    call(&operation, &bob).await;
    assert_eq!(last(&upstream), "Bearer access-bob");
    call(&operation, &ann).await;
    assert_eq!(last(&upstream), "Bearer access-ann");
}

#[tokio::test]
async fn a_client_without_a_name_gets_no_token() {
    let upstream = Upstream::start(|_, got| answered(got, 3600)).await;
    let operation = called(&upstream);
    let url = operation.consent(&Caller::only()).await.expect("a place to consent");
    browser(&url, "owner").await;
    assert!(call(&operation, &Caller::only()).await.contains("[credential]"));
    let before = upstream.got().len();
    assert!(call(&operation, &Caller::default()).await.contains("cannot be told from others"));
    let principal = |name: &str, session| Caller { principal: Some(name.to_owned()), session, is_only: false };
    assert!(operation.consent(&principal("a", Some(1))).await.is_some());
    assert_eq!(upstream.got().len(), before);
    let url = operation.consent(&principal("a", None)).await.expect("a place to consent");
    browser(&url, "a").await;
    assert!(operation.consent(&principal("a", Some(7))).await.is_none(), "a principal has one consent in all sessions");
    assert!(operation.consent(&principal("b", Some(7))).await.is_some());
    assert!(operation.consent(&session(7)).await.is_some());
}

#[tokio::test]
async fn only_the_answer_to_a_request_counts_and_once() {
    let upstream = Upstream::start(|_, got| answered(got, 3600)).await;
    let operation = called(&upstream);
    let ann = session(1);
    let url = operation.consent(&ann).await.expect("a place to consent");
    let query: std::collections::HashMap<_, _> = url.query_pairs().into_owned().collect();
    let target = Url::parse(&query["redirect_uri"]).expect("a URL");
    for forged in ["code=evil", "code=evil&state=", "code=evil&state=AAAA", ""] {
        assert!(visit(&target, forged).await.starts_with("HTTP/1.1 404"), "{forged}");
    }
    assert_eq!(upstream.got().len(), 0, "no code is redeemed");
    let said = browser(&url, "declined").await;
    assert!(said.contains("There is no access") && said.contains("invalid_grant"), "{said}");
    assert!(browser(&url, "late").await.starts_with("HTTP/1.1 404"), "a request is answered once");
    let again = operation.consent(&ann).await.expect("a new place to consent");
    assert_ne!(again, url);
    assert!(!operation.consented(&ann).await, "it does not wait for ever");
}

#[tokio::test]
async fn tokens_are_renewed_and_asked_for_again_where_the_consent_has_ended() {
    let upstream = Upstream::start(|_, got| answered(got, 3600)).await;
    let operation = called(&upstream);
    let ann = session(1);
    browser(&operation.consent(&ann).await.expect("a place to consent"), "revoked").await;
    assert!(call(&operation, &ann).await.contains("[credential]"));
    assert_eq!(last(&upstream), "Bearer access-renewed");
    let lines: Vec<_> = upstream.got().into_iter().map(|got| got.line).collect();
    assert_eq!(lines, ["POST /token", "GET /x", "POST /token", "GET /x"]);

    let short = Upstream::start(|_, got| answered(got, 5)).await;
    let operation = called(&short);
    browser(&operation.consent(&ann).await.expect("a place to consent"), "ann").await;
    call(&operation, &ann).await;
    let grants: Vec<_> = short.got().iter().map(|got| member(&got.body, "grant_type")).collect();
    assert_eq!(grants, ["authorization_code", "refresh_token", ""]);

    let over = Upstream::start(|_, got| {
        if member(&got.body, "grant_type") == "refresh_token" {
            http(400, "", r#"{"error":"invalid_grant"}"#)
        } else {
            answered(got, 5)
        }
    })
    .await;
    let operation = called(&over);
    browser(&operation.consent(&ann).await.expect("a place to consent"), "ann").await;
    let asked = call(&operation, &ann).await;
    assert!(asked.contains("open http") && !asked.contains("access-ann") && !asked.contains("refresh-ann"), "{asked}");
    assert!(!over.got().iter().any(|got| got.line == "GET /x"));
}

#[tokio::test]
async fn a_waiting_call_goes_on_when_the_browser_comes_back() {
    let upstream = Upstream::start(|_, got| answered(got, 3600)).await;
    let operation = called(&upstream);
    let ann = session(1);
    let url = operation.consent(&ann).await.expect("a place to consent");
    let (came, _) = tokio::join!(operation.consented(&ann), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        browser(&url, "ann").await
    });
    assert!(came);
}

#[test]
fn a_description_does_not_choose_where_users_consent() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("client"), "robot\n").expect("written");
    let of = |authorize: &str, token: &str, more: &str| {
        let flow = Some((authorize.to_owned(), token.to_owned()));
        let scheme = Scheme::OAuth { client_credentials: None, authorization_code: flow };
        let settings =
            format!("auth: {{ user: {{ grant: authorization_code, client_id: {{ file: client }}{more} }} }}");
        let base = Base::named("https://api.example/v1").expect("a URL");
        Factory::new(&api(&[("user", scheme)]), base, config(&settings, folder.path().into()))
    };
    assert!(of("/oauth/authorize", "https://api.example/oauth/token", "").is_ok());
    for (authorize, token) in [("https://evil.example/a", "/token"), ("/authorize", "https://evil.example/token")] {
        let error = of(authorize, token, "").expect_err("another origin");
        assert!(error.what.contains("does not say where users consent"), "{error}");
    }
    let named = ", authorize_url: 'https://as.example/a', token_url: 'https://as.example/t'";
    assert!(of("https://evil.example/a", "https://evil.example/t", named).is_ok());
    for (more, part) in [
        (", authorize_url: 'https://as.example/a'", "does not say where users consent"),
        (", authorize_url: 'http://as.example/a', token_url: 'https://as.example/t'", "not protected by https"),
        (", authorize_url: 'https://as.example/a', token_url: t", "token_url is not a URL"),
    ] {
        let error = of("/a", "/t", more).expect_err(more);
        assert!(error.what.contains(part), "{more}: {error}");
    }
}
