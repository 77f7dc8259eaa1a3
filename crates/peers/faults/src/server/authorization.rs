//! Faults of who is let in with which token, and of what the others are told. They show on a server that demands one.

use net::server::http::{Bytes, HeaderMap, HeaderValue, Parts, StatusCode};
use serde_json::{Value, json};
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use super::outgoing::{Alteration, Outgoing};
use super::{Fault, HTTP, Http, Kind, drop_member, fault};

const CHALLENGE: &str = "www-authenticate";
/// The challenge to a token that may not do everything.
const LITTLE: &str = "Bearer error=\"insufficient_scope\", scope=\"mcp completions\"";
/// The issuer that the metadata names, without TLS.
const PLAIN: &str = "http://authorization.invalid";

pub(super) const FAULTS: &[&Fault] = &[
    &with_token(
        "no-token-403",
        "authorization.missing-token-401",
        "a request without a token is answered with 403",
        Http {
            response: |asked, response| {
                if refused(response) && token(&asked.headers).is_none() {
                    *response.status = StatusCode::FORBIDDEN;
                }
            },
            ..HTTP
        },
    ),
    &with_token(
        "any-token-accepted",
        "authorization.invalid-token-401",
        "any bearer token is accepted",
        Http { authorizes: |_, headers| token(headers).is_some(), ..HTTP },
    )
    .breaks_too(&["authorization.foreign-token-refused"]),
    &with_token(
        "bad-token-400",
        "authorization.invalid-token-401",
        "a bad token is answered with 400",
        Http {
            response: |asked, response| {
                if refused(response) && token(&asked.headers).is_some() {
                    *response.status = StatusCode::BAD_REQUEST;
                }
            },
            ..HTTP
        },
    ),
    &with_token(
        "any-audience",
        "authorization.foreign-token-refused",
        "a JSON Web Token is accepted, for any audience and from any signer",
        Http { authorizes: |_, headers| token(headers).is_some_and(|token| token.split('.').count() == 3), ..HTTP },
    )
    .breaks_too(&["authorization.invalid-token-401"])
    .since(R2025_06_18),
    &with_token(
        "no-challenge",
        "authorization.invalid-token-challenged",
        "a 401 has no WWW-Authenticate",
        Http { response: |_, response| _ = response.headers.remove(CHALLENGE), ..HTTP },
    )
    .breaks_too(&["authorization.metadata-located"]),
    &with_token(
        "session-is-enough",
        "authorization.nothing-without-token",
        "a request with a session id needs no token",
        Http { authorizes: |_, headers| headers.contains_key("mcp-session-id"), ..HTTP },
    )
    .breaks_too(&["http.authenticated", "tasks.bound-to-authorization"])
    .since(R2025_06_18)
    .legacy(),
    &with_token(
        "tasks-by-session",
        "tasks.bound-to-authorization",
        "a request with the session id gets its tasks without a token",
        Http { authorizes: |_, headers| headers.contains_key("mcp-session-id"), ..HTTP },
    )
    .breaks_too(&["authorization.nothing-without-token", "http.authenticated"])
    .since(R2025_11_25)
    .legacy(),
    &with_token(
        "query-token",
        "safety.query-token-refused",
        "any token in the query is accepted",
        Http { authorizes: |uri, _| uri.query().is_some_and(|query| query.contains("access_token=")), ..HTTP },
    )
    .breaks_too(&["http.authenticated"]),
    &with_token(
        "metadata-unnamed",
        "authorization.metadata-located",
        "a 401 does not say where the metadata is",
        Http { response: |_, response| rename(response), ..HTTP },
    )
    .since(R2025_06_18)
    .until(R2025_06_18),
    &with_token(
        "metadata-missing",
        "authorization.metadata-located",
        "a 401 does not say where the metadata is, and no metadata is served",
        Http {
            response: |asked, response| {
                rename(response);
                lose(asked, response);
            },
            ..HTTP
        },
    )
    .since(R2025_11_25),
    &with_token(
        "metadata-404",
        "authorization.metadata-served",
        "there is no metadata where the 401 says that it is",
        Http { response: lose, ..HTTP },
    )
    .since(R2025_06_18),
    &with_token(
        "no-authorization-server",
        "authorization.metadata-names-servers",
        "the metadata names no authorization server",
        Http {
            response: |asked, response| alter(asked, response, |found| drop_member(found, "authorization_servers")),
            ..HTTP
        },
    )
    .since(R2025_06_18),
    &with_token(
        "issuer-over-http",
        "authorization.endpoints-https",
        "the metadata names an authorization server that has no https",
        Http {
            response: |asked, response| {
                alter(asked, response, |found| found["authorization_servers"] = json!([PLAIN]));
            },
            ..HTTP
        },
    )
    .since(R2025_06_18),
    &with_token(
        "resource-with-slash",
        "authorization.resource-without-slash",
        "the metadata names the server with a slash at the end",
        Http {
            response: |asked, response| {
                alter(asked, response, |found| {
                    let resource = found["resource"].as_str().unwrap_or_default().to_owned();
                    found["resource"] = json!(format!("{resource}/"));
                });
            },
            ..HTTP
        },
    )
    .since(R2025_06_18),
    &with_token(
        "challenge-without-scope",
        "authorization.challenge-scoped",
        "a 401 names no scope, though there are some",
        Http { response: |_, response| challenge(response, |text| text.replace("scope=", "x=")), ..HTTP },
    )
    .since(R2025_11_25),
    &with_token(
        "little-scope-401",
        "authorization.insufficient-scope-403",
        "completions are refused with 401 to a token that has too little scope",
        Http {
            response: |_, response| {
                if response.text.as_ref().is_some_and(|text| text.windows(12).any(|w| w == b"\"completion\"")) {
                    *response.status = StatusCode::UNAUTHORIZED;
                    response.headers.insert(CHALLENGE, HeaderValue::from_static(LITTLE));
                    response.body = Alteration::Replaced(Bytes::new());
                }
            },
            ..HTTP
        },
    )
    .breaks_too(&["authorization.metadata-located"])
    .until(R2025_06_18),
    &with_token(
        "offline-access",
        "authorization.no-offline-access",
        "a 401 asks for offline access",
        Http {
            response: |_, response| challenge(response, |text| text.replace("scope=\"", "scope=\"offline_access ")),
            ..HTTP
        },
    )
    .since(R2026_07_28),
    &with_token(
        "task-without-token",
        "task-extension.bound-to-authorization",
        "a call as a task needs no token",
        Http { authorizes: |_, headers| headers.get("mcp-method").is_some_and(|method| method == "tasks/get"), ..HTTP },
    )
    .breaks_too(&["http.authenticated"])
    .since(R2026_07_28),
    &with_token(
        "metadata-below-root",
        "authorization.server-metadata-at-root",
        "a 401 names no metadata, and the authorization server's stands below the endpoint's path, not at the root",
        Http {
            response: |asked, response| {
                rename(response);
                move_metadata(asked, response);
            },
            ..HTTP
        },
    )
    .breaks_too(&["authorization.server-metadata"])
    .until(R2025_03_26),
    &with_token(
        "authorization-undiscoverable",
        "authorization.default-endpoints",
        "a 401 names no metadata, and there are neither metadata nor the default authorization endpoints",
        Http {
            response: |asked, response| {
                rename(response);
                lose(asked, response);
            },
            ..HTTP
        },
    )
    .breaks_too(&["authorization.server-metadata"])
    .until(R2025_03_26),
];

/// Where the oldest revision that knows tokens looks for the authorization server's metadata.
const AT_ROOT: &str = "/.well-known/oauth-authorization-server";

fn move_metadata(asked: &Parts, response: &mut Outgoing<'_>) {
    let Some(below) = asked.uri.path().strip_prefix(AT_ROOT) else { return lose(asked, response) };
    if below.is_empty() {
        return lose(asked, response);
    }
    let found = json!({
        "issuer": "https://authorization.invalid",
        "authorization_endpoint": "https://authorization.invalid/authorize",
        "token_endpoint": "https://authorization.invalid/token",
        "response_types_supported": ["code"],
    });
    *response.status = StatusCode::OK;
    response.headers.insert("content-type", HeaderValue::from_static("application/json"));
    response.body = Alteration::Replaced(found.to_string().into());
}

const fn with_token(name: &'static str, rule: &'static str, about: &'static str, http: Http) -> Fault {
    fault(name, rule, about, Kind::Http(http)).http().since(R2025_03_26).token()
}

fn token(headers: &HeaderMap) -> Option<&str> {
    headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

fn refused(response: &Outgoing<'_>) -> bool {
    *response.status == StatusCode::UNAUTHORIZED
}

/// Another text for the challenge.
fn challenge(response: &mut Outgoing<'_>, edit: fn(&str) -> String) {
    let text = response.headers.get(CHALLENGE).and_then(|value| value.to_str().ok()).map(edit);
    if let Some(value) = text.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers.insert(CHALLENGE, value);
    }
}

/// The metadata's address under a name that says nothing to anybody.
fn rename(response: &mut Outgoing<'_>) {
    challenge(response, |text| text.replace("resource_metadata=", "x="));
}

fn is_metadata(asked: &Parts) -> bool {
    asked.uri.path().contains("/.well-known/")
}

fn lose(asked: &Parts, response: &mut Outgoing<'_>) {
    if is_metadata(asked) {
        *response.status = StatusCode::NOT_FOUND;
        response.body = Alteration::Replaced(Bytes::new());
    }
}

/// Another metadata document.
fn alter(asked: &Parts, response: &mut Outgoing<'_>, edit: fn(&mut Value)) {
    let found =
        response.text.as_ref().filter(|_| is_metadata(asked)).and_then(|text| serde_json::from_slice(text).ok());
    if let Some(mut found) = found {
        edit(&mut found);
        response.body = Alteration::Replaced(found.to_string().into());
    }
}
