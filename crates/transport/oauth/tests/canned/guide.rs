//! The steps of a guide, at a correct server and at servers that break the rules.

use std::future::pending;

use oauth::{Guide, GuideStep};
use serde_json::json;
use url::Url;

use super::{FakeServer, RunningServer, json_response, metadata};

const STEPS: [GuideStep; 7] = [
    GuideStep::Challenge,
    GuideStep::Resource,
    GuideStep::Issuer,
    GuideStep::Registration,
    GuideStep::Authorization,
    GuideStep::Token,
    GuideStep::Refresh,
];

/// A correct server that demands a token, and issues another one for its refresh token.
fn guarded() -> FakeServer {
    let mut fake = FakeServer::correct();
    fake.page("/mcp", |_, base| {
        let named = format!("{base}/.well-known/oauth-protected-resource/mcp");
        let challenge = format!("WWW-Authenticate: Bearer resource_metadata=\"{named}\", scope=\"read\"\r\n");
        (401, challenge, String::new())
    });
    fake.page("/token", |request, _| {
        let token = if request.body.contains("refresh_token") { "n3w" } else { "t0ken" };
        json_response(json!({ "access_token": token, "token_type": "Bearer", "refresh_token": "r3fresh" }))
    });
    fake
}

fn guide(server: &RunningServer) -> Guide {
    Guide::new(Url::parse(&format!("{}/mcp", server.base)).unwrap(), RunningServer::options()).unwrap()
}

/// The lines of all steps, or the step that failed and why.
async fn taken(fake: FakeServer) -> Result<Vec<String>, (GuideStep, String)> {
    let server = fake.start().await;
    let mut guide = guide(&server);
    let mut lines = Vec::new();
    for step in STEPS {
        lines.extend(guide.take(step, pending()).await.map_err(|error| (step, error.to_string()))?);
    }
    Ok(lines)
}

#[tokio::test]
async fn the_steps_lead_to_a_token_and_show_no_secret() {
    let server = guarded().start().await;
    let mut guide = guide(&server);
    let mut lines = Vec::new();
    for step in STEPS {
        lines.extend(guide.take(step, pending()).await.unwrap());
    }
    let text = lines.join("\n");
    for shown in ["HTTP 401", "scope: read", "client_id: registered", "another token than before"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    for secret in ["t0ken", "n3w", "r3fresh", "c0de"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let token = guide.guided_token().expect("a token");
    let headers = |url: &str| net::client::Authorizer::headers(&token, "POST", &Url::parse(url).unwrap());
    let mcp = format!("{}/mcp", server.base);
    assert_eq!(headers(&mcp), [("authorization".to_owned(), "Bearer n3w".to_owned())]);
    assert!(headers("https://elsewhere.example/mcp").is_empty());
    assert_eq!(server.requests_to("/authorize")[0].parameter("resource").as_deref(), Some(&*mcp));
}

#[tokio::test]
async fn the_step_at_which_a_server_breaks_a_rule_fails() {
    type Change = fn(&mut FakeServer);
    let broken: [(GuideStep, &str, Change); 7] = [
        (GuideStep::Challenge, "does not ask for a token", |fake| {
            fake.page("/mcp", |_, _| json_response(json!({})));
        }),
        (GuideStep::Resource, "no metadata where WWW-Authenticate says", |fake| {
            fake.without("/.well-known/oauth-protected-resource/mcp");
        }),
        (GuideStep::Issuer, "publishes no metadata", |fake| fake.without("/.well-known/oauth-authorization-server")),
        (GuideStep::Issuer, "S256", |fake| {
            fake.page("/.well-known/oauth-authorization-server", |_, base| {
                let mut document = metadata(base);
                document["code_challenge_methods_supported"] = json!(["plain"]);
                json_response(document)
            });
        }),
        (GuideStep::Registration, "refuses the registration", |fake| {
            fake.page("/register", |_, _| (400, String::new(), "{}".to_owned()));
        }),
        (GuideStep::Authorization, "state", |fake| {
            fake.page("/authorize", |request, base| {
                let back = request.parameter("redirect_uri").unwrap();
                (302, format!("Location: {back}?code=c0de&state=other&iss={base}\r\n"), String::new())
            });
        }),
        (GuideStep::Token, "invalid_grant", |fake| {
            fake.page("/token", |_, _| (400, String::new(), "{\"error\":\"invalid_grant\"}".to_owned()));
        }),
    ];
    for (step, why, change) in broken {
        let mut fake = guarded();
        change(&mut fake);
        let (failed, error) = taken(fake).await.expect_err(why);
        assert_eq!(failed, step, "{error}");
        assert!(error.contains(why), "{error}");
        assert!(!error.contains("c0de"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_may_be_pasted_but_not_one_with_a_foreign_state() {
    let mut fake = guarded();
    // Nothing leads back: the browser is elsewhere.
    fake.page("/authorize", |_, _| (302, "Location: /authorize\r\n".to_owned(), String::new()));
    let server = fake.start().await;
    let mut guide = guide(&server);
    for step in &STEPS[..4] {
        guide.take(*step, pending()).await.unwrap();
    }
    let pasted = |text: &str| std::future::ready(text.to_owned());
    for wrong in ["http://127.0.0.1/callback?code=c0de&state=x", "no address", "https://evil.example/?code=c0de"] {
        let error = guide.take(GuideStep::Authorization, pasted(wrong)).await.expect_err(wrong).to_string();
        assert!(!error.contains("c0de"), "{error}");
    }
    assert!(guide.take(GuideStep::Token, pending()).await.is_err(), "there is no code");
}
