//! What tries clients on their way to a token: documents in other places, other answers of the authorization server. Each
//! alters what the server of the scenario and its authorization server for development say over HTTP.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::server::http::{Bytes, HeaderValue, Parts, StatusCode};
use oauth::now;
use serde_json::{Value, json};
use url::Url;

use crate::server::outgoing::{Alteration, Outgoing};
use crate::server::{Fault, HTTP, Http, Kind, fault};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const ISSUER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
/// Where nobody looks who was not told.
const ELSEWHERE: &str = "/elsewhere/resource.json";
/// Where the metadata is once the server has another issuer.
const MOVED: &str = "/elsewhere/moved.json";
/// How many seconds a token is good where tokens age.
const AGE: u64 = 2;
/// An issuer that is not there (RFC 2606).
const NOBODY: &str = "https://nobody.invalid";

pub(super) const ISSUERS: &[&Fault] = &[
    DOCUMENTS_NOT_TAKEN,
    CHALLENGE_WITHOUT_METADATA,
    SCOPE_UNNAMED_IN_CHALLENGE,
    SCOPES_UNSAID,
    RESOURCE_AT_ROOT,
    RESOURCE_ELSEWHERE,
    RESOURCE_NOWHERE,
    RESOURCE_MISMATCH,
    RESOURCE_IN_CAPITALS,
    TOKENS_AGE,
    ISSUER_MOVES,
    TENANT_ALONE,
    OPENID_ALONE,
    OPENID_APPENDED,
    ISSUER_NOWHERE,
    ISSUER_OF_ANOTHER,
    PKCE_UNSAID,
    REGISTRATION_UNSAID,
    REGISTRATION_REFUSED,
    BASIC_ALONE,
    POST_ALONE,
    NONE_ALONE,
    OFFLINE_UNSAID,
    ISS_UNSAID,
    ISS_MISSING,
    ISS_OF_ANOTHER,
    ISS_WITH_SLASH,
    STATE_MISSING,
    STATE_OF_ANOTHER,
    SCOPE_NEVER_ENOUGH,
];

/// The quirk `documents-not-taken`.
pub const DOCUMENTS_NOT_TAKEN: &Fault = &way("documents-not-taken", |asked, response| {
    issuer(asked, response, |said| said["client_id_metadata_document_supported"] = json!(false));
});

/// The quirk `challenge-without-metadata`.
pub const CHALLENGE_WITHOUT_METADATA: &Fault = &way("challenge-without-metadata", |_, response| {
    challenge(response, |part| !part.starts_with("resource_metadata="));
});

/// The quirk `scope-unnamed-in-challenge`.
pub const SCOPE_UNNAMED_IN_CHALLENGE: &Fault =
    &way("scope-unnamed-in-challenge", |_, response| challenge(response, |part| !part.starts_with("scope=")));

/// The quirk `scopes-unsaid`.
pub const SCOPES_UNSAID: &Fault =
    &way("scopes-unsaid", |asked, response| resource(asked, response, |said| drop(said, "scopes_supported")));

/// The quirk `resource-at-root`.
pub const RESOURCE_AT_ROOT: &Fault = &way("resource-at-root", |asked, response| {
    if asked.uri.path().strip_prefix(RESOURCE).is_some_and(|below| !below.is_empty()) {
        gone(response);
    }
});

/// The quirk `resource-elsewhere`.
pub const RESOURCE_ELSEWHERE: &Fault = &way("resource-elsewhere", |asked, response| {
    if asked.uri.path() == ELSEWHERE {
        metadata(response, &host(asked));
    } else if asked.uri.path().starts_with(RESOURCE) {
        gone(response);
    }
    let named = format!("resource_metadata=\"http://{}{ELSEWHERE}\"", host(asked));
    challenge_by(response, |part| if part.starts_with("resource_metadata=") { named.clone() } else { part });
});

/// The quirk `resource-nowhere`.
pub const RESOURCE_NOWHERE: &Fault = &way("resource-nowhere", |asked, response| {
    if asked.uri.path().starts_with(RESOURCE) {
        gone(response);
    }
    challenge(response, |part| !part.starts_with("resource_metadata="));
});

/// The quirk `resource-mismatch`.
pub const RESOURCE_MISMATCH: &Fault = &way("resource-mismatch", |asked, response| {
    resource(asked, response, |said| said["resource"] = json!(format!("{NOBODY}/mcp")));
});

/// The quirk `resource-in-capitals`.
pub const RESOURCE_IN_CAPITALS: &Fault = &way("resource-in-capitals", |asked, response| {
    let named = format!("HTTP://{}/mcp", host(asked));
    resource(asked, response, |said| said["resource"] = json!(named));
});

/// The quirk `tokens-age`.
pub const TOKENS_AGE: &Fault = &way("tokens-age", |asked, response| {
    if *response.status == StatusCode::OK && issued(asked).is_some_and(|at| at + AGE <= now()) {
        *response.status = StatusCode::UNAUTHORIZED;
        refuse(asked, response, "error=\"invalid_token\"");
    }
});

/// The quirk `issuer-moves`.
pub const ISSUER_MOVES: &Fault = &way("issuer-moves", |asked, response| {
    let host = host(asked);
    let of_the_first = claim(asked, "iss") == Some(json!(format!("http://{host}")));
    if asked.uri.path() == MOVED {
        metadata(response, &host);
    } else if asked.uri.path() == "/token" {
        // The first issuer has nothing more to give.
        edit(response, |said| drop(said, "refresh_token"));
    } else if *response.status == StatusCode::OK && of_the_first && issued(asked).is_some_and(|at| at + AGE <= now()) {
        *response.status = StatusCode::UNAUTHORIZED;
        refuse(asked, response, "error=\"invalid_token\"");
        let named = format!("resource_metadata=\"http://{host}{MOVED}\"");
        challenge_by(response, |part| if part.starts_with("resource_metadata=") { named.clone() } else { part });
    }
});

/// The quirk `tenant-alone`.
pub const TENANT_ALONE: &Fault = &way("tenant-alone", |asked, response| {
    let issuer = format!("http://{}/tenant", host(asked));
    resource(asked, response, |said| said["authorization_servers"] = json!([issuer]));
});

/// The quirk `openid-alone`.
pub const OPENID_ALONE: &Fault = &way("openid-alone", |asked, response| {
    if asked.uri.path().starts_with(ISSUER) {
        gone(response);
    }
});

/// The quirk `openid-appended`.
pub const OPENID_APPENDED: &Fault = &way("openid-appended", |asked, response| {
    if asked.uri.path().starts_with(ISSUER) || asked.uri.path().starts_with(OPENID) {
        gone(response);
    }
});

/// The quirk `issuer-nowhere`.
pub const ISSUER_NOWHERE: &Fault = &way("issuer-nowhere", |asked, response| {
    if is_issuers(asked) {
        gone(response);
    }
});

/// The quirk `issuer-of-another`.
pub const ISSUER_OF_ANOTHER: &Fault =
    &way("issuer-of-another", |asked, response| issuer(asked, response, |said| said["issuer"] = json!(NOBODY)));

/// The quirk `pkce-unsaid`.
pub const PKCE_UNSAID: &Fault = &way("pkce-unsaid", |asked, response| {
    issuer(asked, response, |said| drop(said, "code_challenge_methods_supported"));
});

/// The quirk `registration-unsaid`.
pub const REGISTRATION_UNSAID: &Fault = &way("registration-unsaid", |asked, response| {
    issuer(asked, response, |said| drop(said, "registration_endpoint"));
});

/// The quirk `registration-refused`.
pub const REGISTRATION_REFUSED: &Fault = &way("registration-refused", |asked, response| {
    if asked.uri.path().ends_with("/register") {
        *response.status = StatusCode::BAD_REQUEST;
        replace(response, &json!({ "error": "invalid_redirect_uri", "error_description": "not this one" }));
    }
});

/// The quirk `basic-alone`.
pub const BASIC_ALONE: &Fault =
    &way("basic-alone", |asked, response| authentication(asked, response, "client_secret_basic"));

/// The quirk `post-alone`.
pub const POST_ALONE: &Fault =
    &way("post-alone", |asked, response| authentication(asked, response, "client_secret_post"));

/// The quirk `none-alone`.
pub const NONE_ALONE: &Fault = &way("none-alone", |asked, response| authentication(asked, response, "none"));

/// The quirk `offline-unsaid`.
pub const OFFLINE_UNSAID: &Fault = &way("offline-unsaid", |asked, response| {
    issuer(asked, response, |said| said["scopes_supported"] = json!(["mcp:read", "mcp:call"]));
});

/// The quirk `iss-unsaid`.
pub const ISS_UNSAID: &Fault = &way("iss-unsaid", |asked, response| {
    issuer(asked, response, |said| said["authorization_response_iss_parameter_supported"] = json!(false));
});

/// The quirk `iss-missing`.
pub const ISS_MISSING: &Fault = &way("iss-missing", |asked, response| lands(asked, response, "iss", |_| None));

/// The quirk `iss-of-another`.
pub const ISS_OF_ANOTHER: &Fault =
    &way("iss-of-another", |asked, response| lands(asked, response, "iss", |_| Some(NOBODY.to_owned())));

/// The quirk `iss-with-slash`.
pub const ISS_WITH_SLASH: &Fault =
    &way("iss-with-slash", |asked, response| lands(asked, response, "iss", |iss| Some(format!("{iss}/"))));

/// The quirk `state-missing`.
pub const STATE_MISSING: &Fault = &way("state-missing", |asked, response| lands(asked, response, "state", |_| None));

/// The quirk `state-of-another`.
pub const STATE_OF_ANOTHER: &Fault =
    &way("state-of-another", |asked, response| lands(asked, response, "state", |_| Some("of-another".to_owned())));

/// The quirk `scope-never-enough`.
pub const SCOPE_NEVER_ENOUGH: &Fault = &way("scope-never-enough", |asked, response| {
    if asked.headers.contains_key("authorization") && *response.status == StatusCode::OK {
        *response.status = StatusCode::FORBIDDEN;
        refuse(asked, response, "error=\"insufficient_scope\", scope=\"mcp:call\"");
    }
});

const fn way(name: &'static str, response: fn(&Parts, &mut Outgoing<'_>)) -> Fault {
    fault(name, "", "", Kind::Http(Http { response, ..HTTP })).http()
}

fn host(asked: &Parts) -> String {
    asked.headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or("localhost").to_owned()
}

fn is_issuers(asked: &Parts) -> bool {
    asked.uri.path().contains(ISSUER) || asked.uri.path().contains(OPENID)
}

fn drop(document: &mut Value, member: &str) {
    crate::server::drop_member(document, member);
}

fn replace(response: &mut Outgoing<'_>, value: &Value) {
    response.body = Alteration::Replaced(value.to_string().into_bytes().into());
}

/// Alters a document that is there, as others have left it.
fn edit(response: &mut Outgoing<'_>, alter: impl FnOnce(&mut Value)) {
    let text = match &response.body {
        Alteration::Replaced(text) => Some(text.clone()),
        _ => response.text.clone(),
    };
    let document = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok()).filter(Value::is_object);
    if let (Some(mut document), &StatusCode::OK) = (document, &*response.status) {
        alter(&mut document);
        replace(response, &document);
    }
}

/// Alters what the authorization server says about itself.
fn issuer(asked: &Parts, response: &mut Outgoing<'_>, alter: impl FnOnce(&mut Value)) {
    if is_issuers(asked) {
        edit(response, alter);
    }
}

/// Alters what the resource says about itself.
fn resource(asked: &Parts, response: &mut Outgoing<'_>, alter: impl FnOnce(&mut Value)) {
    if asked.uri.path().starts_with(RESOURCE) {
        edit(response, alter);
    }
}

fn authentication(asked: &Parts, response: &mut Outgoing<'_>, method: &str) {
    issuer(asked, response, |said| said["token_endpoint_auth_methods_supported"] = json!([method]));
}

/// Sends in a challenge what is wrong with a token, and nothing else.
fn refuse(asked: &Parts, response: &mut Outgoing<'_>, why: &str) {
    let text = format!("Bearer {why}, resource_metadata=\"http://{}{RESOURCE}/mcp\"", host(asked));
    if let Ok(text) = HeaderValue::from_str(&text) {
        response.headers.insert("www-authenticate", text);
    }
    response.headers.remove("content-type");
    response.body = Alteration::Replaced(Bytes::new());
}

/// Answers with metadata of the resource that name the issuer with a path.
fn metadata(response: &mut Outgoing<'_>, host: &str) {
    *response.status = StatusCode::OK;
    response.headers.insert("content-type", HeaderValue::from_static("application/json"));
    let said = json!({
        "resource": format!("http://{host}/mcp"),
        "authorization_servers": [format!("http://{host}/tenant")],
        "scopes_supported": ["mcp:read", "mcp:call"],
    });
    replace(response, &said);
}

/// When the token was issued that a request carries, in seconds since 1970.
fn issued(asked: &Parts) -> Option<u64> {
    claim(asked, "iat")?.as_u64()
}

/// What the token that a request carries says under a name.
fn claim(asked: &Parts, name: &str) -> Option<Value> {
    let token = asked.headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice::<Value>(&claims).ok()?.get(name).cloned()
}

fn gone(response: &mut Outgoing<'_>) {
    *response.status = StatusCode::NOT_FOUND;
    response.headers.remove("content-type");
    response.body = Alteration::Replaced(Bytes::new());
}

/// Keeps only some parameters of a challenge.
fn challenge(response: &mut Outgoing<'_>, keeps: impl Fn(&str) -> bool) {
    challenge_by(response, |part| if keeps(&part) { part } else { String::new() });
}

/// Alters each parameter of a challenge; what becomes empty is left out.
fn challenge_by(response: &mut Outgoing<'_>, alter: impl Fn(String) -> String) {
    let Some(text) = response.headers.get("www-authenticate").and_then(|text| text.to_str().ok()) else { return };
    let Some(parts) = text.strip_prefix("Bearer ") else { return };
    let parts: Vec<_> = parts.split(", ").map(|part| alter(part.to_owned())).filter(|part| !part.is_empty()).collect();
    let text = format!("Bearer {}", parts.join(", "));
    if let Ok(text) = HeaderValue::from_str(text.trim_end()) {
        response.headers.insert("www-authenticate", text);
    }
}

/// Alters a parameter of the answer to a request for authorization.
fn lands(asked: &Parts, response: &mut Outgoing<'_>, name: &str, alter: impl Fn(&str) -> Option<String>) {
    let location = response.headers.get("location").and_then(|to| Url::parse(to.to_str().ok()?).ok());
    let Some(mut url) = location.filter(|_| asked.uri.path().ends_with("/authorize")) else { return };
    let pairs: Vec<(String, String)> = url
        .query_pairs()
        .filter_map(|(own, value)| {
            let value = if own == name { alter(&value)? } else { value.into_owned() };
            Some((own.into_owned(), value))
        })
        .collect();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    if let Ok(location) = HeaderValue::from_str(url.as_str()) {
        response.headers.insert("location", location);
    }
}
