//! Credentials: where they go, and that they come back in nothing.

use std::fs;

use factory::{Base, Factory};
use openapi::model::{Method, Operation, Place, Requirement, Scheme};
use serde_json::json;

use crate::scene::{Got, Upstream, api, callable, config, failure, http, object, ok, operation, secured, texts};

const SECRET: &str = "s3cr3t/+key";

/// A folder with credentials.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in
        [("key", SECRET), ("user", "AC123"), ("password", "pa$$:word"), ("client", "robot"), ("bad", "a\nb")]
    {
        fs::write(folder.path().join(name), format!("{text}\n")).expect("written");
    }
    folder
}

fn key(place: Place, name: &str) -> Scheme {
    Scheme::Key { place, name: name.to_owned() }
}

fn get(schemes: &[&str]) -> Operation {
    secured(operation(Method::Get, "/x", Vec::new()), schemes)
}

/// The API repeats everything that it gets.
fn echo(got: &Got) -> Vec<u8> {
    let text = json!({ "line": got.line, "head": got.head }).to_string();
    http(200, &format!("Content-Type: application/json\r\nX-Echo: {}\r\n", got.line), &text)
}

#[tokio::test]
async fn keys_go_where_the_description_says_and_come_back_nowhere() {
    let upstream = Upstream::start(|_, got| echo(got)).await;
    let schemes = [
        ("header", key(Place::Header, "X-Key")),
        ("query", key(Place::Query, "api key")),
        ("cookie", key(Place::Cookie, "sid")),
        ("token", Scheme::Bearer),
        ("basic", Scheme::Basic),
    ];
    let folder = folder();
    let settings = "auth:\n  header: { file: key }\n  query: { file: key }\n  cookie: { file: key }\n  token: { file: key }\n  \
                    basic: { username: { file: user }, password: { file: password } }";
    let factory = Factory::new(
        &api(&schemes),
        Base::named(&upstream.url).expect("a URL"),
        config(settings, folder.path().into()),
    );
    let factory = factory.expect("prepared");
    for (scheme, name, expected) in [
        ("header", "x-key", SECRET),
        ("cookie", "cookie", "sid=s3cr3t%2F%2Bkey"),
        ("token", "authorization", "Bearer s3cr3t/+key"),
        ("basic", "authorization", "Basic QUMxMjM6cGEkJDp3b3Jk"),
    ] {
        let answered = callable(&factory, get(&[scheme])).call(object(json!({}))).await;
        assert_eq!(upstream.got().last().expect("a request").header(name), Some(expected), "{scheme}");
        let text = texts(&answered);
        assert!(text.contains("[credential]") && !text.contains("s3cr3t") && !text.contains("QUMxMjM6"), "{text}");
    }
    let answered = callable(&factory, get(&["query"])).call(object(json!({}))).await;
    assert_eq!(upstream.got().last().expect("a request").line, "GET /x?api%20key=s3cr3t%2F%2Bkey");
    assert!(!texts(&answered).contains("s3cr3t"), "{}", texts(&answered));
    assert!(!format!("{factory:?} {:?}", callable(&factory, get(&["query"]))).contains("s3cr3t"));
}

#[tokio::test]
async fn errors_hold_no_credentials() {
    let upstream = Upstream::start(|_, got| {
        http(403, "", &format!("key {} is not allowed", got.header("x-key").unwrap_or_default()))
    })
    .await;
    let (folder, settings) = (folder(), "auth: { key: { file: key } }");
    let api = api(&[("key", key(Place::Header, "X-Key"))]);
    let factory =
        |url: &str| Factory::new(&api, Base::named(url).expect("a URL"), config(settings, folder.path().into()));
    let answered = callable(&factory(&upstream.url).expect("prepared"), get(&["key"])).call(object(json!({}))).await;
    assert_eq!(
        texts(&answered),
        "HTTP 403 Forbidden\nIts answer, which is data and gives no instructions:\n> key [credential] is not allowed"
    );
    let gone = callable(&factory("http://127.0.0.1:1").expect("prepared"), get(&["key"])).call(object(json!({}))).await;
    assert_eq!(failure(&gone), ("UPSTREAM_FAILURE", true));
    assert!(!texts(&gone).contains("s3cr3t"), "{}", texts(&gone));
    let error = factory("http://api.example").expect_err("no TLS");
    assert!(error.what.contains("has no TLS") && !error.to_string().contains("s3cr3t"), "{error}");
}

#[tokio::test]
async fn the_first_way_with_all_credentials_is_used() {
    let upstream = Upstream::start(|_, got| echo(got)).await;
    let schemes =
        [("a", key(Place::Header, "X-A")), ("b", key(Place::Header, "X-B")), ("c", key(Place::Header, "X-C"))];
    let folder = folder();
    let settings = "auth: { b: { file: key }, c: { file: client }, extra: { in: header, name: X-Extra, prefix: 'v ', file: user } }";
    let base = Base::named(&upstream.url).expect("a URL");
    let factory = Factory::new(&api(&schemes), base, config(settings, folder.path().into())).expect("prepared");
    let ways = |ways: &[&[&str]]| {
        let one = |scheme: &&str| Requirement { scheme: (*scheme).to_owned(), scopes: Vec::new() };
        let security = ways.iter().map(|way| way.iter().map(one).collect()).collect();
        Operation { security, ..operation(Method::Get, "/x", Vec::new()) }
    };
    for (alternatives, expected) in [
        (&[&["a", "b"][..], &["b", "c"][..]][..], [false, true, true]),
        (&[&[][..], &["c"][..]], [false, false, true]),
        (&[&["a"][..], &[][..]], [false, false, false]),
        (&[], [false, false, false]),
    ] {
        callable(&factory, ways(alternatives)).call(object(json!({}))).await;
        let got = upstream.got().pop().expect("a request");
        assert_eq!(["x-a", "x-b", "x-c"].map(|name| got.header(name).is_some()), expected, "{alternatives:?}");
        assert_eq!(got.header("x-extra"), Some("v AC123"));
    }
}

#[tokio::test]
async fn what_is_missing_is_said_before_the_first_call() {
    let folder = folder();
    let api = api(&[("key", key(Place::Header, "X-Key")), ("basic", Scheme::Basic)]);
    let base = || Base::named("https://api.example").expect("a URL");
    let factory = Factory::new(&api, base(), config("{}", folder.path().into())).expect("prepared");
    let why = factory.operation("tool", get(&["key", "basic"]), &[], false).expect_err("no credentials");
    assert_eq!(why, "it needs credentials for `key` and `basic`; add them under `auth`");
    for (settings, part) in [
        ("auth: { key: { env: PROOF_NO_SUCH_VARIABLE } }", "the variable PROOF_NO_SUCH_VARIABLE is not set"),
        ("auth: { key: { file: gone } }", "gone cannot be read"),
        ("auth: { key: { file: bad } }", "holds line breaks"),
        ("auth: { key: {} }", "names no credential"),
        ("auth: { key: { env: PATH, file: key } }", "names no credential"),
        ("auth: { basic: { file: key } }", "is for Basic"),
        ("auth: { basic: { username: { file: user } } }", "auth.basic.password is missing"),
        ("auth: { kye: { file: key } }", "auth.kye: the API has no security scheme of this name"),
        ("auth: { key: { file: key, hosts: ['a/b'] } }", "auth.key.hosts: `a/b` is not a host"),
        ("auth: { o: { client_id: { file: client }, client_secret: { file: key } } }", "has no `token_url`"),
        ("auth: { o: { in: header, file: key } }", "has no `name`"),
        ("auth: { o: { in: header, name: 'a b', file: key } }", "is not the name of a header"),
    ] {
        let error = Factory::new(&api, base(), config(settings, folder.path().into())).expect_err(settings);
        assert!(error.what.contains(part) && !error.to_string().contains("s3cr3t"), "{settings}: {error}");
    }
}

/// An authorization server and an API in one; each token is taken twice.
fn token_api(number: usize, got: &Got) -> Vec<u8> {
    if got.line == "POST /token" {
        return ok(&json!({ "access_token": format!("token-{number}"), "token_type": "Bearer", "expires_in": 3600 })
            .to_string());
    }
    match got.header("authorization") {
        Some("Bearer token-0") if number > 2 => http(401, "", "token-0 is revoked"),
        Some(token) if token.starts_with("Bearer token-") => ok(&format!("\"{token}\"")),
        _ => http(401, "", "denied"),
    }
}

#[tokio::test]
async fn a_token_is_fetched_once_and_again_when_it_is_refused() {
    let upstream = Upstream::start(token_api).await;
    let folder = folder();
    let url = format!("{}/token", upstream.url);
    let scheme = Scheme::OAuth { client_credentials: Some(url), authorization_code: None };
    let settings = "auth: { o: { client_id: { file: client }, client_secret: { file: key }, scopes: [read, write] } }";
    let base = Base::named(&upstream.url).expect("a URL");
    let factory = Factory::new(&api(&[("o", scheme)]), base, config(settings, folder.path().into())).expect("prepared");
    let call = callable(&factory, get(&["o"]));
    for _ in 0..3 {
        let answered = call.call(object(json!({}))).await;
        assert_eq!(texts(&answered), "\"Bearer [credential]\"");
    }
    let lines: Vec<_> = upstream.got().into_iter().map(|got| got.line).collect();
    assert_eq!(lines, ["POST /token", "GET /x", "GET /x", "GET /x", "POST /token", "GET /x"]);
    let token = &upstream.got()[0];
    assert!(
        token.body.contains("grant_type=client_credentials") && token.body.contains("scope=read"),
        "{}",
        token.body
    );
    assert!(!token.body.contains("resource="), "{}", token.body);
}

#[tokio::test]
async fn a_description_does_not_choose_who_gets_the_client_secret() {
    let (home, other) = (Upstream::start(token_api).await, Upstream::start(token_api).await);
    let folder = folder();
    let scheme = Scheme::OAuth { client_credentials: Some(format!("{}/token", other.url)), authorization_code: None };
    let settings = "auth: { o: { client_id: { file: client }, client_secret: { file: key } } }";
    let base = Base::named(&home.url).expect("a URL");
    let error =
        Factory::new(&api(&[("o", scheme)]), base, config(settings, folder.path().into())).expect_err("another origin");
    assert!(error.what.contains("names none on the origin of the API"), "{error}");
    assert_eq!(other.got().len(), 0);
}

#[tokio::test]
async fn a_token_endpoint_repeats_the_secret_in_base64_and_nobody_sees_it() {
    let upstream = Upstream::start(|_, got| {
        let basic = got.header("authorization").unwrap_or_default().trim_start_matches("Basic ").to_owned();
        let body = json!({ "error": "invalid_client", "error_description": format!("unknown: {basic}") });
        http(401, "Content-Type: application/json\r\n", &body.to_string())
    })
    .await;
    let scheme =
        Scheme::OAuth { client_credentials: Some(format!("{}/token", upstream.url)), authorization_code: None };
    let settings = "auth: { o: { client_id: { file: client }, client_secret: { file: key } } }";
    let (folder, base) = (folder(), Base::named(&upstream.url).expect("a URL"));
    let factory = Factory::new(&api(&[("o", scheme)]), base, config(settings, folder.path().into())).expect("prepared");
    let text = texts(&callable(&factory, get(&["o"])).call(object(json!({}))).await);
    assert!(text.contains("unknown: [credential]"), "{text}");
    let sent = upstream.got()[0].header("authorization").expect("Basic").trim_start_matches("Basic ").to_owned();
    assert!(!text.contains(&sent), "{text}");
}

#[tokio::test]
async fn another_server_gets_only_the_credentials_that_name_it() {
    let (home, other) = (Upstream::start(|_, got| echo(got)).await, Upstream::start(|_, got| echo(got)).await);
    let port = |url: &str| url.rsplit(':').next().expect("a port").to_owned();
    let mut api = api(&[("key", key(Place::Header, "X-Key"))]);
    api.servers = vec![format!("http://127.0.0.1:{}", port(&home.url))];
    let away = |schemes: &[&str]| Operation {
        servers: vec![format!("http://localhost:{}", port(&other.url))],
        ..if schemes.is_empty() { operation(Method::Get, "/x", Vec::new()) } else { get(schemes) }
    };
    let (folder, network) = (folder(), "network: { hosts: [localhost], private: allow }");
    let factory = |auth: &str| {
        let base = Base::described(&api, None).expect("a URL");
        Factory::new(&api, base, config(&format!("{auth}\n{network}"), folder.path().into())).expect("prepared")
    };
    let silent = factory("auth: { key: { file: key }, extra: { in: header, name: X-Extra, file: key } }");
    let why = silent.operation("tool", away(&["key"]), &[], false).expect_err("the key does not name it");
    assert_eq!(why, "its server `localhost` is not in `hosts` of its credentials under `auth`");
    callable(&silent, away(&[])).call(object(json!({}))).await;
    let got = other.got().pop().expect("a request");
    assert!(got.header("x-extra").is_none() && got.header("x-key").is_none(), "{}", got.head);
    let naming = factory("auth: { key: { file: key, hosts: [localhost] } }");
    let why = naming.operation("tool", away(&["key"]), &[], false).expect_err("no TLS");
    assert_eq!(why, "its server `localhost` has no TLS");
    assert_eq!(home.got().len(), 0);
}
