//! From a demand for a token to the token, with one document wrong in each.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::served::{Asked, fails_at, healthy, json, outcomes, response, served, to_url};

/// Whether a client was registered by any test.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// What a server publishes.
#[derive(Clone, Copy)]
struct Published {
    challenge: bool,
    resource: &'static str,
    issuer: &'static str,
    registration: &'static str,
}

const GOOD: Published = Published {
    challenge: true,
    resource: "{origin}/mcp",
    issuer: "{origin}",
    registration: r#","registration_endpoint":"{origin}/register""#,
};

fn answer(published: Published, asked: &Asked, origin: &str) -> String {
    let filled = |text: &str| text.replace("{origin}", origin);
    if asked.gets("/.well-known/oauth-protected-resource/mcp") && !published.resource.is_empty() {
        let resource = filled(published.resource);
        return json(
            200,
            &format!(
                r#"{{"resource":"{resource}","authorization_servers":["{origin}"],"scopes_supported":["read","write"]}}"#
            ),
        );
    }
    if asked.gets("/.well-known/oauth-authorization-server") && !published.issuer.is_empty() {
        let (issuer, more) = (filled(published.issuer), filled(published.registration));
        return json(
            200,
            &format!(
                r#"{{"issuer":"{issuer}","authorization_endpoint":"{origin}/a","token_endpoint":"{origin}/t","code_challenge_methods_supported":["S256"]{more}}}"#
            ),
        );
    }
    if asked.head.contains("authorization: bearer good") {
        return healthy(asked);
    }
    if asked.line.starts_with("POST /mcp ") {
        let metadata = format!(
            "WWW-Authenticate: Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"\r\n"
        );
        return response(401, if published.challenge { &metadata } else { "" }, "");
    }
    if asked.line.contains("/register") {
        REGISTERED.store(true, Ordering::SeqCst);
    }
    response(404, "", "")
}

async fn walked(published: Published) -> doctor::Report {
    let report = to_url(&format!("{}/mcp", served(move |asked, origin| answer(published, asked, origin)))).await;
    assert!(!REGISTERED.load(Ordering::SeqCst), "nothing may be registered");
    report
}

#[tokio::test]
async fn all_documents_in_order_lead_to_the_token() {
    for challenge in [true, false] {
        let report = walked(Published { challenge, ..GOOD }).await;
        fails_at(&report, "token", "no token was given", "sign in");
        let taken = outcomes(&report);
        for step in ["http ok", "resource-metadata ok", "issuer-metadata ok", "registration ok"] {
            assert!(taken.contains(&step.to_owned()), "{step}: {report:#?}");
        }
        let text = format!("{report:?}");
        assert!(text.contains("dynamic registration") && text.contains("scopes: read write"), "{report:#?}");
        assert!(text.contains("/.well-known/oauth-authorization-server: HTTP 200, application/json"), "{report:#?}");
    }
}

#[tokio::test]
async fn no_resource_metadata() {
    let report = walked(Published { challenge: false, resource: "", issuer: "", ..GOOD }).await;
    fails_at(&report, "resource-metadata", "/.well-known/oauth-protected-resource/mcp: HTTP 404", "RFC 9728");
    fails_at(&report, "resource-metadata", "/.well-known/oauth-protected-resource: HTTP 404", "");
}

#[tokio::test]
async fn metadata_of_another_resource() {
    let report = walked(Published { resource: "https://other.example/mcp", ..GOOD }).await;
    fails_at(&report, "resource-metadata", "is for another resource", "address the server as its metadata names it");
}

#[tokio::test]
async fn metadata_of_another_issuer() {
    let report = walked(Published { issuer: "https://other.example", ..GOOD }).await;
    fails_at(&report, "issuer-metadata", "https://other.example", "fix the authorization server's metadata");
}

#[tokio::test]
async fn no_issuer_metadata() {
    let report = walked(Published { issuer: "", ..GOOD }).await;
    let (step, seen, _) = crate::served::only_failure(&report);
    assert_eq!(step, "issuer-metadata", "{report:#?}");
    assert!(seen.contains("/.well-known/openid-configuration: HTTP 404"), "{report:#?}");
}

#[tokio::test]
async fn no_way_to_register() {
    let report = walked(Published { registration: "", ..GOOD }).await;
    fails_at(&report, "registration", "clients cannot register themselves", "register a client there by hand");
}
