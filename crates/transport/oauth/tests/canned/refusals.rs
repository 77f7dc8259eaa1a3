//! Errors that must end an authorization, and what must not be sent before.

use serde_json::json;
use wire::Revision;

use super::{FakeServer, RunningServer, challenged, json_response, metadata};

/// The error and the requested paths at a server that is correct except for `change`.
async fn failure_with(change: impl FnOnce(&mut FakeServer)) -> (String, Vec<String>) {
    let mut fake = FakeServer::correct();
    change(&mut fake);
    let server = fake.start().await;
    let error =
        server.refused(RunningServer::options(), "Bearer").await.expect_err("this must not go well").to_string();
    let paths = server.requests().iter().map(|request| request.target.split('?').next().unwrap().to_owned()).collect();
    (error, paths)
}

#[tokio::test]
async fn a_correct_server_issues_a_token() {
    let server = FakeServer::correct().start().await;
    let headers = server.refused(RunningServer::options(), "Bearer scope=\"a b\"").await.unwrap();
    assert_eq!(headers, [("authorization".to_owned(), "Bearer t0ken".to_owned())]);
    let (request, token) = (&server.requests_to("/authorize")[0], &server.requests_to("/token")[0]);
    for request in [request, token] {
        assert_eq!(request.parameter("resource").unwrap(), format!("{}/mcp", server.base));
    }
    assert_eq!(request.parameter("scope").as_deref(), Some("a b"));
    assert_eq!(request.parameter("redirect_uri"), token.parameter("redirect_uri"));
    assert_eq!(
        request.parameter("code_challenge").unwrap(),
        oauth::jose::sha256(&token.parameter("code_verifier").unwrap())
    );
    assert!(server.requests_to("/register")[0].body.contains("\"application_type\":\"native\""));
}

#[tokio::test]
async fn wrong_metadata_ends_the_authorization() {
    const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
    const ISSUER: &str = "/.well-known/oauth-authorization-server";
    for (why, path, document) in [
        (
            "another resource",
            RESOURCE,
            json!({ "resource": "https://evil.example", "authorization_servers": ["BASE"] }),
        ),
        ("names no authorization server", RESOURCE, json!({ "resource": "BASE/mcp" })),
        (
            "not protected by https",
            RESOURCE,
            json!({ "resource": "BASE/mcp", "authorization_servers": ["http://as.example"] }),
        ),
        ("is not a URL", RESOURCE, json!({ "resource": "BASE/mcp", "authorization_servers": ["as.example"] })),
        ("holds no query", RESOURCE, json!({ "resource": "BASE/mcp", "authorization_servers": ["BASE?x=1"] })),
        ("another issuer", ISSUER, json!({ "issuer": "BASE/", "token_endpoint": "BASE/token" })),
        ("names no `token_endpoint`", ISSUER, json!({ "issuer": "BASE" })),
        (
            "PKCE",
            ISSUER,
            json!({ "issuer": "BASE", "token_endpoint": "BASE/token", "authorization_endpoint": "BASE/authorize" }),
        ),
        (
            "offers no registration",
            ISSUER,
            json!({ "issuer": "BASE", "token_endpoint": "BASE/token",
            "authorization_endpoint": "BASE/authorize", "code_challenge_methods_supported": ["S256"] }),
        ),
    ] {
        let (error, paths) = failure_with(|fake| {
            fake.page(path, move |_, base| {
                let (status, headers, body) = json_response(document.clone());
                (status, headers, body.replace("BASE", base))
            });
        })
        .await;
        assert!(error.contains(why), "{why}: {error}");
        assert!(!paths.iter().any(|path| path == "/authorize" || path == "/token"), "{why}: {paths:?}");
    }
}

#[tokio::test]
async fn invalid_pages_end_the_authorization() {
    for (why, path, status, body) in [
        ("publishes no metadata", "/.well-known/oauth-authorization-server", 200, "<html>".to_owned()),
        ("publishes no metadata", "/.well-known/oauth-authorization-server", 302, String::new()),
        ("longer than 1 MiB", "/.well-known/oauth-authorization-server", 200, "x".repeat(2 << 20)),
        ("refuses the registration", "/register", 400, "{\"error\":\"\\u001b[31mno\"}".to_owned()),
        ("no client_id", "/register", 201, "{}".to_owned()),
        ("HTTP 200, not with a redirect", "/authorize", 200, "sign in!".to_owned()),
        ("declines: invalid_grant", "/token", 400, "{\"error\":\"invalid_grant\"}".to_owned()),
        ("HTTP 500", "/token", 500, "oops".to_owned()),
        ("an unsupported type", "/token", 200, "{\"access_token\":\"x\",\"token_type\":\"mac\"}".to_owned()),
    ] {
        let (error, _) = failure_with(|fake| fake.page(path, move |_, _| (status, String::new(), body.clone()))).await;
        assert!(error.contains(why), "{why}: {error}");
        assert!(!error.contains('\u{1b}') && error.lines().count() == 3, "{error}");
    }
}

#[tokio::test]
async fn a_response_from_another_issuer_is_not_redeemed() {
    for (why, location) in [
        ("another issuer", "REDIRECT?code=c&state=STATE&iss=https://evil.example"),
        ("does not say who", "REDIRECT?code=c&state=STATE"),
        ("`state`", "REDIRECT?code=c&state=x&iss=BASE"),
        ("twice", "REDIRECT?code=c&code=d&state=STATE&iss=BASE"),
        ("declines: access_denied", "REDIRECT?error=access_denied&state=STATE&iss=BASE"),
        ("without an end", "/authorize?again"),
        ("not protected by https", "http://evil.example/"),
    ] {
        let (error, paths) = failure_with(|fake| {
            fake.page("/authorize", move |request, base| {
                let given = |name| request.parameter(name).unwrap_or_default();
                let to = location.replace("REDIRECT", &given("redirect_uri")).replace("STATE", &given("state"));
                (302, format!("Location: {}\r\n", to.replace("BASE", base)), String::new())
            });
        })
        .await;
        assert!(error.contains(why), "{why}: {error}");
        assert!(!paths.iter().any(|path| path == "/token"), "{why}: {paths:?}");
        assert!(paths.len() < 20, "{paths:?}");
    }
}

#[tokio::test]
async fn repeated_refusals_end_the_authorization() {
    let server = FakeServer::correct().start().await;
    let mut operation = server.authorizer(RunningServer::options()).operation("POST");
    for _ in 0..3 {
        operation.headers().await.unwrap();
        assert!(operation.refused(401, &challenged("Bearer")).await.unwrap());
    }
    let error = operation.refused(401, &challenged("Bearer")).await.unwrap_err().to_string();
    assert!(error.contains("3 times"), "{error}");
    assert_eq!(server.requests_to("/token").len(), 3);
    let mut operation = server.authorizer(RunningServer::options()).operation("POST");
    assert!(operation.refused(401, &challenged("Bearer scope=\"a\"")).await.unwrap());
    operation.headers().await.unwrap();
    let more = "Bearer error=\"insufficient_scope\", scope=\"b\"";
    assert!(operation.refused(403, &challenged(more)).await.unwrap());
    let request = server.requests_to("/authorize").last().unwrap().parameter("scope");
    assert_eq!(request.as_deref(), Some("a b"), "granted scopes are requested again");
    // It has what is asked for now; more of the same would change nothing.
    assert!(operation.refused(403, &challenged(more)).await.is_err());
    assert!(!operation.refused(403, &challenged("Bearer")).await.unwrap());
    assert!(!operation.refused(500, &challenged("Bearer")).await.unwrap());
}

#[tokio::test]
async fn without_metadata_early_revisions_use_fixed_paths() {
    let mut fake = FakeServer::correct();
    fake.without("/.well-known/oauth-protected-resource/mcp");
    fake.without("/.well-known/oauth-authorization-server");
    fake.page("/authorize", |request, _| {
        let (back, state) = (request.parameter("redirect_uri").unwrap(), request.parameter("state").unwrap());
        (302, format!("Location: {back}?code=c0de&state={state}\r\n"), String::new())
    });
    let server = fake.start().await;
    let mut options = RunningServer::options();
    options.revision = Some(Revision::R2025_03_26);
    assert_eq!(server.refused(options.clone(), "Bearer").await.unwrap().len(), 1);
    assert_eq!(server.requests_to("/authorize")[0].parameter("resource"), None);
    options.revision = None;
    assert_eq!(server.refused(options.clone(), "Bearer").await.unwrap().len(), 1, "where nobody knows, too");
    options.revision = Some(Revision::R2025_06_18);
    let error = server.refused(options, "Bearer").await.unwrap_err().to_string();
    assert!(error.contains("does not say who issues one"), "{error}");
}

#[tokio::test]
async fn metadata_addresses_are_tried_in_order() {
    let mut fake = FakeServer::correct();
    fake.without("/.well-known/oauth-protected-resource/mcp");
    fake.without("/.well-known/oauth-authorization-server");
    fake.page("/.well-known/oauth-protected-resource", |_, base| {
        json_response(json!({ "resource": base, "authorization_servers": [format!("{base}/deep")] }))
    });
    fake.page("/deep/.well-known/openid-configuration", |_, base| {
        let mut found = metadata(base);
        found["issuer"] = json!(format!("{base}/deep"));
        found["authorization_response_iss_parameter_supported"] = json!(false);
        json_response(found)
    });
    fake.page("/authorize", |request, _| {
        let (back, state) = (request.parameter("redirect_uri").unwrap(), request.parameter("state").unwrap());
        (302, format!("Location: {back}?code=c0de&state={state}\r\n"), String::new())
    });
    let server = fake.start().await;
    assert_eq!(server.refused(RunningServer::options(), "Bearer").await.unwrap().len(), 1);
    let targets: Vec<String> = server.requests().iter().take(5).map(|request| request.target.clone()).collect();
    assert_eq!(
        targets,
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-authorization-server/deep",
            "/.well-known/openid-configuration/deep",
            "/deep/.well-known/openid-configuration"
        ]
    );
    assert_eq!(server.requests_to("/token")[0].parameter("resource").unwrap(), server.base, "exactly as published");
}
