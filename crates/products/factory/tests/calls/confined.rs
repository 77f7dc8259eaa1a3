//! Attempts to lead requests elsewhere.

use std::path::PathBuf;

use factory::{Base, Factory};
use openapi::model::{Api, Method, Operation, Place};
use serde_json::json;

use crate::scene::{Upstream, callable, config, factory, failure, http, object, ok, operation, parameter, texts};

#[tokio::test]
async fn no_argument_leads_out_of_its_place() {
    let api = Upstream::start(|_, _| ok("{}")).await;
    let factory = factory(&format!("{}/v1", api.url), "{}");
    let parameters = vec![parameter("id", Place::Path, json!({})), parameter("X-A", Place::Header, json!({}))];
    let get = callable(&factory, operation(Method::Get, "/users/{id}", parameters));
    for arguments in [
        json!({ "id": "../admin" }),
        json!({ "id": ".." }),
        json!({ "id": "%2e%2e" }),
        json!({ "id": "..;/admin" }),
        json!({ "id": ".%2e" }),
        json!({ "id": "..\\admin" }),
        json!({ "id": "a%2fb" }),
        json!({ "id": "a/b" }),
        json!({ "id": "//evil" }),
        json!({ "id": "" }),
        json!({ "id": "a", "X-A": "b\r\nHost: evil" }),
    ] {
        let answered = get.call(object(arguments.clone())).await;
        assert_eq!(failure(&answered), ("INVALID_INPUT", false), "{arguments}");
        assert!(texts(&answered).starts_with("argument `"), "{}", texts(&answered));
    }
    assert_eq!(api.got().len(), 0, "nothing of it is sent");
    for (id, line) in [("a?b#c", "GET /v1/users/a%3Fb%23c"), ("a;b", "GET /v1/users/a%3Bb")] {
        get.call(object(json!({ "id": id }))).await;
        assert_eq!(api.got().last().expect("a request").line, line);
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let other = Upstream::start(|_, _| ok("{\"stolen\":1}")).await;
    let target = format!("{}/x", other.url);
    let api = Upstream::start(move |_, got| match got.line.as_str() {
        "GET /same" => http(302, "Location: /found?a=b\r\n", ""),
        "GET /found?a=b" => ok("\"found\""),
        "GET /loop" => http(307, "Location: /loop\r\n", ""),
        "GET /metadata" => http(302, "Location: http://169.254.169.254/latest\r\n", ""),
        "GET /file" => http(302, "Location: file:///etc/passwd\r\n", ""),
        _ => http(302, &format!("Location: {target}\r\n"), ""),
    })
    .await;
    let factory = factory(&api.url, "auth: { k: { in: header, name: X-Key, env: PATH } }");
    let call = async |method, path: &str| {
        callable(&factory, operation(method, path, Vec::new())).call(object(json!({}))).await
    };
    assert_eq!(texts(&call(Method::Get, "/same").await), "\"found\"");
    for path in ["/other", "/metadata", "/file"] {
        let answered = call(Method::Get, path).await;
        assert_eq!(failure(&answered), ("PERMISSION_DENIED", false), "{path} {}", texts(&answered));
    }
    assert!(texts(&call(Method::Get, "/loop").await).contains("redirects more than"));
    let answered = call(Method::Post, "/other").await;
    assert!(texts(&answered).contains("which is not followed"), "{}", texts(&answered));
    assert_eq!(other.got().len(), 0);
    assert!(api.got().iter().all(|got| got.header("x-key").is_some()));
}

#[tokio::test]
async fn a_permitted_origin_gets_no_credentials() {
    let other = Upstream::start(|_, _| ok("\"file\"")).await;
    let target = format!("{}/file", other.url);
    let api = Upstream::start(move |_, _| http(302, &format!("Location: {target}\r\n"), "")).await;
    let settings =
        "auth: { k: { in: header, name: X-Key, env: PATH }, b: { env: PATH } }\nnetwork: { hosts: [127.0.0.1] }";
    let factory = factory(&api.url, settings);
    let parameters = vec![parameter("c", Place::Cookie, json!({}))];
    let answered = callable(&factory, operation(Method::Get, "/x", parameters)).call(object(json!({ "c": "1" }))).await;
    assert_eq!(texts(&answered), "\"file\"");
    let (first, second) = (&api.got()[0], &other.got()[0]);
    for name in ["x-key", "authorization", "cookie"] {
        assert!(first.header(name).is_some() && second.header(name).is_none(), "{name}");
    }
}

#[tokio::test]
async fn what_a_description_names_leads_to_no_private_address() {
    let upstream = Upstream::start(|_, _| ok("{}")).await;
    for server in
        [upstream.url.clone(), upstream.url.replace("127.0.0.1", "localhost"), "http://169.254.169.254/x".to_owned()]
    {
        let api = Api { servers: vec![server.clone()], ..Api::default() };
        let base = Base::described(&api, None).expect("a URL");
        let factory = Factory::new(&api, base, config("limits: { seconds: 5 }", PathBuf::new())).expect("prepared");
        let answered = callable(&factory, operation(Method::Get, "/x", Vec::new())).call(object(json!({}))).await;
        assert_eq!(failure(&answered), ("PERMISSION_DENIED", false), "{server}: {}", texts(&answered));
    }
    assert_eq!(upstream.got().len(), 0);
    for server in ["/v1", "ftp://a.example", "https://user:pass@a.example", ""] {
        let api = Api { servers: vec![server.to_owned()], ..Api::default() };
        let error = Base::described(&api, None).expect_err(server);
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
}

#[tokio::test]
async fn an_operation_with_a_server_of_its_own_stays_at_home() {
    let (home, other) = (Upstream::start(|_, _| ok("1")).await, Upstream::start(|_, _| ok("2")).await);
    let away = || Operation { servers: vec![other.url.clone()], ..operation(Method::Get, "/x", Vec::new()) };
    let named = factory(&home.url, "{}");
    assert_eq!(texts(&callable(&named, away()).call(object(json!({}))).await), "1", "the user named an address");
    let api = Api { servers: vec!["https://api.example".to_owned()], ..Api::default() };
    let base = Base::described(&api, None).expect("a URL");
    let factory = Factory::new(&api, base, config("{}", PathBuf::new())).expect("prepared");
    let why = factory.operation("tool", away(), &[], false).expect_err("another server");
    assert!(why.contains("is not in `network.hosts`"), "{why}");
    assert_eq!(other.got().len(), 0);
}

#[tokio::test]
async fn a_description_is_fetched_from_where_the_user_says_and_nowhere_else() {
    let other = Upstream::start(|_, _| ok("{}")).await;
    let target = other.url.clone();
    let api = Upstream::start(move |_, got| match got.line.as_str() {
        "GET /openapi.json?v=1" => ok("{\"openapi\":\"3.1.0\"}"),
        "GET /gone" => http(404, "", ""),
        _ => http(302, &format!("Location: {target}/x\r\n"), ""),
    })
    .await;
    let (url, text) = factory::fetch(&format!("{}/openapi.json?v=1", api.url), 100).await.expect("a description");
    assert_eq!((url.path(), text.as_slice()), ("/openapi.json", &b"{\"openapi\":\"3.1.0\"}"[..]));
    for (path, limit, part) in
        [("/gone", 100, "HTTP 404"), ("/away", 100, "not in"), ("/openapi.json?v=1", 5, "longer than 5")]
    {
        let error = factory::fetch(&format!("{}{path}", api.url), limit).await.expect_err(path);
        assert!(error.what.contains(part), "{error}");
    }
    assert_eq!(other.got().len(), 0);
}

#[tokio::test]
async fn a_redirect_stays_below_the_base_path() {
    let api = Upstream::start(|_, got| match got.line.as_str() {
        "GET /v1/near" => http(302, "Location: /v1/found\r\n", ""),
        "GET /v1/found" => ok("\"found\""),
        "GET /v1/out" => http(302, "Location: /admin\r\n", ""),
        "GET /v1/up" => http(302, "Location: ../admin\r\n", ""),
        "GET /v1/next" => http(302, "Location: /v10/x\r\n", ""),
        "GET /v1/tricky" => http(302, "Location: /v1/..;/admin\r\n", ""),
        "GET /v1/encoded" => http(302, "Location: /v1/..%2fadmin\r\n", ""),
        _ => ok("\"out\""),
    })
    .await;
    let auth = "auth: { k: { in: header, name: X-Key, env: PATH } }";
    let base = format!("{}/v1", api.url);
    let call = async |settings: &str, path: &str| {
        callable(&factory(&base, settings), operation(Method::Get, path, Vec::new())).call(object(json!({}))).await
    };
    assert_eq!(texts(&call(auth, "/near").await), "\"found\"");
    assert!(api.got()[1].header("x-key").is_some(), "its own path gets the key");
    for path in ["/out", "/up", "/next", "/tricky", "/encoded"] {
        let answered = call(auth, path).await;
        assert_eq!(failure(&answered), ("PERMISSION_DENIED", false), "{path} {}", texts(&answered));
        assert!(api.got().last().expect("a request").line.ends_with(path), "{path} is not followed");
    }
    let listed = format!("{auth}\nnetwork: {{ hosts: [127.0.0.1] }}");
    assert_eq!(texts(&call(&listed, "/out").await), "\"out\"");
    assert!(api.got().last().expect("a request").header("x-key").is_none(), "no key goes out of the path");
}

#[tokio::test]
async fn slashes_need_the_configuration() {
    let api = Upstream::start(|_, _| ok("{}")).await;
    let factory = factory(&api.url, "slashes: ['to*']");
    let get = operation(Method::Get, "/sites/{id}", vec![parameter("id", Place::Path, json!({}))]);
    callable(&factory, get).call(object(json!({ "id": "https://x.example/" }))).await;
    assert_eq!(api.got()[0].line, "GET /sites/https%3A%2F%2Fx.example%2F");
}

#[tokio::test]
async fn a_value_of_a_cookie_makes_no_other_one() {
    let api = Upstream::start(|_, _| ok("{}")).await;
    let reserved = openapi::model::Parameter { allow_reserved: true, ..parameter("c", Place::Cookie, json!({})) };
    let get = operation(Method::Get, "/x", vec![reserved]);
    callable(&factory(&api.url, "{}"), get).call(object(json!({ "c": "1; other=1" }))).await;
    assert_eq!(api.got()[0].header("cookie"), Some("c=1%3B%20other%3D1"));
}

#[test]
fn entries_that_fit_no_tool_are_errors() {
    let tools = [("list_pets", vec!["page", "limit"])];
    let check =
        |settings: &str| factory("https://api.example", settings).check_tools(&tools).map_err(|error| error.what);
    for good in [
        "{}",
        "shape: [{ tools: 'list_*', limit: 1 }]",
        "pagination: [{ tools: list_pets, cursor: page, size: limit }]",
    ] {
        assert_eq!(check(good), Ok(()), "{good}");
    }
    for (settings, part) in [
        ("shape: [{ tools: 'lsit_*', limit: 1 }]", "shape: `lsit_*` fits no tool"),
        ("pagination: [{ tools: pets, off: true }]", "pagination: `pets` fits no tool"),
        ("slashes: [pets]", "slashes: `pets` fits no tool"),
        ("pagination: [{ tools: 'l*', cursor: pgae }]", "pagination: `l*` has no argument `pgae`"),
    ] {
        assert_eq!(check(settings), Err(part.to_owned()), "{settings}");
    }
}
