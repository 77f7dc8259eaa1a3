//! `credentials` of upstreams, and `auth.introspection`.

use std::time::Duration;

use oauth::Credential;

use super::{FULL, SECRET, mentions, settings};
use crate::settings::{CredentialGrant, Target};

const CLIENT: &str = "client: { id: gateway, secret: { from_env: FILES_KEY } }";

fn file(upstream: &str) -> String {
    format!("upstreams:\n  a: {{ {upstream} }}\n")
}

fn credentials(members: &str) -> String {
    file(&format!("url: \"https://a.example/mcp\", credentials: {{ {members} }}"))
}

fn introspection(members: &str) -> String {
    format!("{}auth: {{ issuer: i, introspection: {{ {members} }} }}\n", file("command: [x]"))
}

#[test]
fn credentials_and_introspection_are_read() {
    let settings = settings(FULL);
    let upstream = &settings.upstreams[2];
    assert!(matches!(upstream.target, Target::StreamableHttp(_)), "HTTP+SSE is not tried");
    let credentials = upstream.credentials.as_ref().expect("credentials");
    assert_eq!(credentials.grant, CredentialGrant::TokenExchange);
    assert_eq!(credentials.issuer.as_deref(), Some("https://auth.example"), "as it is written");
    assert_eq!(credentials.token_endpoint.as_ref().map(url::Url::as_str), Some("https://auth.example/token"));
    assert_eq!(
        (credentials.scopes.as_slice(), credentials.audience.as_deref()),
        (["crm.read".to_owned()].as_slice(), Some("crm"))
    );
    assert_eq!(credentials.resource.as_deref(), Some("https://crm.example/mcp"));
    let client = credentials.client.as_ref().expect("a client");
    let Credential::Secret(secret) = &client.credential else { panic!("{credentials:?}") };
    assert_eq!((client.id.as_str(), secret.reveal()), ("gateway", SECRET));
    assert_eq!(client.method.as_deref(), Some("client_secret_post"));
    let introspection = settings.auth.as_ref().and_then(|auth| auth.introspection.clone()).expect("introspection");
    assert_eq!(introspection.endpoint.as_str(), "https://auth.example/introspect");
    assert_eq!(introspection.ttl, Duration::from_secs(20));
    assert!(matches!(&introspection.client.credential, Credential::Key { alg, .. } if alg == "EdDSA"));
    assert!(!format!("{settings:?}").contains("PRIVATE KEY"));
}

#[test]
fn the_least_has_defaults() {
    let text = credentials(&format!("grant: client-credentials, issuer: \"http://127.0.0.1:9\", {CLIENT}"));
    let read = settings(&text).upstreams.remove(0).credentials.expect("credentials");
    assert_eq!((read.grant, read.token_endpoint, read.audience), (CredentialGrant::ClientCredentials, None, None));
    let text = introspection(&format!("endpoint: \"https://i.example/i\", {CLIENT}"));
    let auth = settings(&text).auth.expect("auth");
    assert_eq!((auth.keys, auth.introspection.expect("it is there").ttl), (None, Duration::from_secs(30)));
}

#[test]
fn credentials_are_checked() {
    let issuer = "issuer: \"https://i.example\"";
    let own = "grant: client-credentials";
    for (members, parts) in [
        (
            format!("{own}, {CLIENT}"),
            &["neither `issuer` nor `token_endpoint`", "may get the gateway's credentials"][..],
        ),
        (format!("{issuer}, {CLIENT}"), &["`credentials` has no `grant`", "token-exchange"]),
        (format!("{own}, {issuer}"), &["`credentials` has no `client`", "from_env"]),
        (format!("grant: code, {issuer}, {CLIENT}"), &["`code` is not a value of `grant`"]),
        (format!("grant: token-exchange, {issuer}, {CLIENT}"), &["the file has no `auth`", "add `auth`"]),
        (format!("{own}, issuer: \"http://i.example\", {CLIENT}"), &["`issuer` is not an https URL", "this machine"]),
        (format!("{own}, issuer: \"https://u:{SECRET}@i.example\", {CLIENT}"), &["`issuer` is not an https URL"]),
        (format!("{own}, token_endpoint: \"ftp://i.example\", {CLIENT}"), &["`token_endpoint` is not an https URL"]),
        (
            format!("{own}, {issuer}, client: {{ id: g, secret: {SECRET} }}"),
            &["`secret` stands in the file", "from_file"],
        ),
        (format!("{own}, {issuer}, client: {{ id: g }}"), &["neither `secret` nor `key`"]),
        (format!("{own}, {issuer}, client: {{ secret: {{ from_env: FILES_KEY }} }}"), &["`client` has no `id`"]),
        (
            format!("{own}, {issuer}, client: {{ id: g, key: {{ from_file: audit.key }} }}"),
            &["`key` is not a private key for ES256", "its `algorithm`"],
        ),
        (
            format!("{own}, {issuer}, client: {{ id: g, method: none, secret: {{ from_env: FILES_KEY }} }}"),
            &["`none` is not a value of `method`"],
        ),
    ] {
        mentions(&credentials(&members), parts);
    }
}

#[test]
fn consents_need_users_a_place_and_a_named_issuer_for_credentials() {
    let consents = "consents: { folder: c, keys: [{ from_env: CONSENT_KEY }], login: page }\n";
    let auth = "auth: { issuer: i, keys: \"https://i.example/jwks\" }\n";
    let by = |members: &str| credentials(&format!("grant: authorization-code{members}"));
    let read = settings(&format!("{}{auth}{consents}", by("")));
    let read = read.upstreams[0].credentials.clone().expect("credentials");
    assert_eq!((read.grant, read.client, read.issuer), (CredentialGrant::AuthorizationCode, None, None));
    let issuer = "issuer: \"https://i.example\"";
    for (text, parts) in [
        (format!("{}{auth}", by("")), &["users of `a` consent, and the file has no `consents`"][..]),
        (format!("{}{consents}", by("")), &["`authorization-code` is for users", "add `auth`"]),
        (format!("{}{auth}{consents}", by(&format!(", {CLIENT}"))), &["a `client` and no `issuer`"]),
        (format!("{}{auth}{consents}", by(&format!(", {issuer}, audience: x"))), &["`audience` cannot be used with"]),
        (
            format!("{}{auth}{consents}", by(", token_endpoint: \"https://i.example/t\"")),
            &["`token_endpoint` cannot be used with"],
        ),
        (
            format!("{}{auth}{consents}", by(&format!(", {issuer}, client: {{ id: g }}"))),
            &["neither `secret` nor `key`"],
        ),
    ] {
        mentions(&text, parts);
    }
}

#[test]
fn credentials_fit_their_upstream() {
    let some = format!("credentials: {{ grant: client-credentials, issuer: \"https://i.example\", {CLIENT} }}");
    for (members, parts) in [
        ("command: [x]", &["`credentials` needs a `url`"][..]),
        ("url: \"http://a.example/mcp\"", &["`credentials` need an https `url`"]),
        (
            "url: \"https://a.example/sse\", transport: sse",
            &["`credentials` need an http or https `url` with Streamable"],
        ),
        ("url: \"wss://a.example/ws\"", &["`credentials` need an http or https `url` with Streamable"]),
        (
            "url: \"https://a.example/mcp\", headers: { authorization: { from_env: DOCS_TOKEN } }",
            &["`credentials` and an Authorization header", "keep one"],
        ),
    ] {
        mentions(&file(&format!("{members}, {some}")), parts);
    }
}

#[test]
fn introspection_is_checked() {
    let endpoint = "endpoint: \"https://i.example/i\"";
    for (members, parts) in [
        (CLIENT.to_owned(), &["`introspection` has no `endpoint`"][..]),
        (endpoint.to_owned(), &["`introspection` has no `client`"]),
        (format!("{endpoint}, {CLIENT}, ttl: 6m"), &["`ttl` is longer than 5 min", "revoked"]),
        (format!("endpoint: \"http://i.example/i\", {CLIENT}"), &["`endpoint` is not an https URL"]),
    ] {
        mentions(&introspection(&members), parts);
    }
    let neither = format!("{}auth: {{ issuer: i }}\n", file("command: [x]"));
    mentions(&neither, &["`auth` has no `keys`", "`introspection`"]);
}
