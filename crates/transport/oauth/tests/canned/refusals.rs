//! Where the way to a token must end, and what may not have been sent before it did.

use serde_json::json;
use wire::Revision;

use super::{Fake, Running, challenged, json_said, metadata};

/// What becomes of a server that is good but for `change`: why it was given up, and which paths were asked.
async fn given_up(change: impl FnOnce(&mut Fake)) -> (String, Vec<String>) {
    let mut fake = Fake::good();
    change(&mut fake);
    let server = fake.start().await;
    let error = server.refused(Running::options(), "Bearer").await.expect_err("this must not go well").to_string();
    let paths = server.asked().iter().map(|asked| asked.target.split('?').next().unwrap().to_owned()).collect();
    (error, paths)
}

#[tokio::test]
async fn a_good_server_gives_a_token() {
    let server = Fake::good().start().await;
    let headers = server.refused(Running::options(), "Bearer scope=\"a b\"").await.unwrap();
    assert_eq!(headers, [("authorization".to_owned(), "Bearer t0ken".to_owned())]);
    let (asked, token) = (&server.asked_at("/authorize")[0], &server.asked_at("/token")[0]);
    for request in [asked, token] {
        assert_eq!(request.parameter("resource").unwrap(), format!("{}/mcp", server.base));
    }
    assert_eq!(asked.parameter("scope").as_deref(), Some("a b"));
    assert_eq!(asked.parameter("redirect_uri"), token.parameter("redirect_uri"));
    assert_eq!(
        asked.parameter("code_challenge").unwrap(),
        oauth::jose::sha256(&token.parameter("code_verifier").unwrap())
    );
    assert!(server.asked_at("/register")[0].body.contains("\"application_type\":\"native\""));
}

#[tokio::test]
async fn metadata_that_is_not_right_leads_nowhere() {
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
        let (error, paths) = given_up(|fake| {
            fake.page(path, move |_, base| {
                let (status, headers, body) = json_said(document.clone());
                (status, headers, body.replace("BASE", base))
            });
        })
        .await;
        assert!(error.contains(why), "{why}: {error}");
        assert!(!paths.iter().any(|path| path == "/authorize" || path == "/token"), "{why}: {paths:?}");
    }
}

#[tokio::test]
async fn pages_that_are_none_lead_nowhere() {
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
        let (error, _) = given_up(|fake| fake.page(path, move |_, _| (status, String::new(), body.clone()))).await;
        assert!(error.contains(why), "{why}: {error}");
        assert!(!error.contains('\u{1b}') && error.lines().count() == 3, "{error}");
    }
}

#[tokio::test]
async fn an_answer_from_somebody_else_is_not_redeemed() {
    for (why, location) in [
        ("another issuer", "REDIRECT?code=c&state=STATE&iss=https://evil.example"),
        ("does not say who", "REDIRECT?code=c&state=STATE"),
        ("`state`", "REDIRECT?code=c&state=x&iss=BASE"),
        ("twice", "REDIRECT?code=c&code=d&state=STATE&iss=BASE"),
        ("declines: access_denied", "REDIRECT?error=access_denied&state=STATE&iss=BASE"),
        ("without an end", "/authorize?again"),
        ("not protected by https", "http://evil.example/"),
    ] {
        let (error, paths) = given_up(|fake| {
            fake.page("/authorize", move |asked, base| {
                let given = |name| asked.parameter(name).unwrap_or_default();
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
async fn a_server_that_never_lets_in_is_given_up() {
    let server = Fake::good().start().await;
    let mut operation = server.authorizer(Running::options()).operation("POST");
    for _ in 0..3 {
        operation.headers().await.unwrap();
        assert!(operation.refused(401, &challenged("Bearer")).await.unwrap());
    }
    let error = operation.refused(401, &challenged("Bearer")).await.unwrap_err().to_string();
    assert!(error.contains("3 times"), "{error}");
    assert_eq!(server.asked_at("/token").len(), 3);
    let mut little = server.authorizer(Running::options()).operation("POST");
    assert!(little.refused(401, &challenged("Bearer scope=\"a\"")).await.unwrap());
    little.headers().await.unwrap();
    let more = "Bearer error=\"insufficient_scope\", scope=\"b\"";
    assert!(little.refused(403, &challenged(more)).await.unwrap());
    let asked = server.asked_at("/authorize").last().unwrap().parameter("scope");
    assert_eq!(asked.as_deref(), Some("a b"), "what was granted is asked for again");
    // It has what is asked for now; more of the same would change nothing.
    assert!(little.refused(403, &challenged(more)).await.is_err());
    assert!(!little.refused(403, &challenged("Bearer")).await.unwrap());
    assert!(!little.refused(500, &challenged("Bearer")).await.unwrap());
}

#[tokio::test]
async fn before_there_was_metadata_the_paths_were_fixed() {
    let mut fake = Fake::good();
    fake.without("/.well-known/oauth-protected-resource/mcp");
    fake.without("/.well-known/oauth-authorization-server");
    fake.page("/authorize", |asked, _| {
        let (back, state) = (asked.parameter("redirect_uri").unwrap(), asked.parameter("state").unwrap());
        (302, format!("Location: {back}?code=c0de&state={state}\r\n"), String::new())
    });
    let server = fake.start().await;
    let mut options = Running::options();
    options.revision = Some(Revision::R2025_03_26);
    assert_eq!(server.refused(options.clone(), "Bearer").await.unwrap().len(), 1);
    assert_eq!(server.asked_at("/authorize")[0].parameter("resource"), None);
    options.revision = None;
    assert_eq!(server.refused(options.clone(), "Bearer").await.unwrap().len(), 1, "where nobody knows, too");
    options.revision = Some(Revision::R2025_06_18);
    let error = server.refused(options, "Bearer").await.unwrap_err().to_string();
    assert!(error.contains("does not say who issues one"), "{error}");
}

#[tokio::test]
async fn the_second_place_to_look_is_looked_at_second() {
    let mut fake = Fake::good();
    fake.without("/.well-known/oauth-protected-resource/mcp");
    fake.without("/.well-known/oauth-authorization-server");
    fake.page("/.well-known/oauth-protected-resource", |_, base| {
        json_said(json!({ "resource": base, "authorization_servers": [format!("{base}/deep")] }))
    });
    fake.page("/deep/.well-known/openid-configuration", |_, base| {
        let mut found = metadata(base);
        found["issuer"] = json!(format!("{base}/deep"));
        found["authorization_response_iss_parameter_supported"] = json!(false);
        json_said(found)
    });
    fake.page("/authorize", |asked, _| {
        let (back, state) = (asked.parameter("redirect_uri").unwrap(), asked.parameter("state").unwrap());
        (302, format!("Location: {back}?code=c0de&state={state}\r\n"), String::new())
    });
    let server = fake.start().await;
    assert_eq!(server.refused(Running::options(), "Bearer").await.unwrap().len(), 1);
    let looked: Vec<String> = server.asked().iter().take(5).map(|asked| asked.target.clone()).collect();
    assert_eq!(
        looked,
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-authorization-server/deep",
            "/.well-known/openid-configuration/deep",
            "/deep/.well-known/openid-configuration"
        ]
    );
    assert_eq!(server.asked_at("/token")[0].parameter("resource").unwrap(), server.base, "exactly as published");
}
