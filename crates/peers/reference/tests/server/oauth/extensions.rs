//! Tokens by extensions of authorization: who shows what was handed over gets one, and nothing else opens anything.

use oauth::jose::Signer;
use oauth::now;
use reference::authorization::Extension;
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

use super::{OURS, bound, extended};
use crate::wire_http::{Client, Reply};

const SIGNED: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// Asks at a token endpoint; parameters that are empty are left out.
async fn asked(server: &Client, path: &str, pairs: &[(&str, &str)]) -> Reply {
    let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
    let form = Serializer::new(String::new()).extend_pairs(pairs).finish();
    server.plain("POST", path, "application/x-www-form-urlencoded", &[], &form).await
}

/// The same with one parameter replaced.
fn changed<'p>(pairs: &[(&'p str, &'p str)], name: &str, value: &'p str) -> Vec<(&'p str, &'p str)> {
    pairs.iter().map(|(own, old)| (*own, if *own == name { value } else { *old })).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Whether the token that was given opens the server.
async fn opens(server: &Client, given: &Reply) -> bool {
    assert_eq!(given.status, 200, "{}", given.text);
    let bearer = format!("Bearer {}", text(&given.json(), "access_token"));
    let accept = ("Accept", "application/json, text/event-stream");
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let headers = [accept, ("Authorization", bearer.as_str())];
    server.plain("POST", "/mcp", "application/json", &headers, &ping.to_string()).await.status == 200
}

#[tokio::test]
async fn a_client_shows_by_its_key_who_it_is() {
    let (server, handed) = extended(Extension::Key).await;
    let issuer = format!("http://{}", server.host);
    let signer = Signer::from_pem(text(&handed, "private_key_pem"), text(&handed, "signing_algorithm")).unwrap();
    let id = text(&handed, "client_id");
    let claims = json!({ "iss": id, "sub": id, "aud": issuer, "exp": now() + 60, "jti": "one" });
    let by = |signer: &Signer, header: Value, name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        signer.sign(header, &claims)
    };
    let ask = async |assertion: &str, kind: &str, named: &str| {
        let pairs = [
            ("grant_type", "client_credentials"),
            ("client_assertion_type", kind),
            ("client_assertion", assertion),
            ("client_id", named),
        ];
        asked(&server, "/token", &pairs).await
    };
    for audience in [issuer.clone(), format!("{issuer}/"), format!("{issuer}/token")] {
        let good = by(&signer, json!({}), "aud", json!(audience));
        assert!(opens(&server, &ask(&good, SIGNED, "").await).await, "{audience}");
    }
    let good = by(&signer, json!({ "typ": "JWT" }), "aud", json!([issuer]));
    assert!(opens(&server, &ask(&good, SIGNED, id).await).await);
    for (name, value) in [
        ("iss", json!("another")),
        ("sub", json!("another")),
        ("sub", Value::Null),
        ("aud", json!("https://nobody.invalid")),
        ("aud", json!(format!("{issuer}/tenant"))),
        ("exp", json!(now() - 60)),
        ("exp", Value::Null),
        ("nbf", json!(now() + 60)),
    ] {
        let refused = ask(&by(&signer, json!({}), name, value.clone()), SIGNED, "").await;
        assert_eq!((refused.status, text(&refused.json(), "error")), (401, "invalid_client"), "{name}: {value}");
    }
    let stranger = by(&Signer::fresh(), json!({}), "jti", json!("two"));
    for (assertion, kind, named) in
        [(stranger.as_str(), SIGNED, ""), (&good, "urn:example:other", ""), (&good, SIGNED, "another"), ("", "", id)]
    {
        assert_eq!(ask(assertion, kind, named).await.status, 401, "{kind} {named}");
    }
    let by_code =
        [("grant_type", "authorization_code"), ("client_assertion_type", SIGNED), ("client_assertion", &good)];
    assert_eq!(text(&asked(&server, "/token", &by_code).await.json(), "error"), "unsupported_grant_type");
    let metadata = server.plain("GET", "/.well-known/oauth-authorization-server", "", &[], "").await.json();
    assert_eq!(metadata["token_endpoint_auth_methods_supported"], json!(["private_key_jwt"]));
}

#[tokio::test]
async fn a_workload_shows_the_word_of_its_platform() {
    let (server, handed) = extended(Extension::Workload).await;
    let pairs = [("grant_type", JWT_BEARER), ("client_id", text(&handed, "client_id")), ("assertion", "")];
    let ask = async |assertion: &str| asked(&server, "/token", &changed(&pairs, "assertion", assertion)).await;
    let good = text(&handed, "valid_jwt");
    assert!(opens(&server, &ask(good).await).await);
    let unnamed = [("grant_type", JWT_BEARER), ("assertion", good)];
    assert!(opens(&server, &asked(&server, "/token", &unnamed).await).await);
    let stranger = Signer::fresh().sign(
        json!({}),
        &json!({ "iss": "https://platform.invalid", "sub": "x", "aud": format!("http://{}", server.host), "exp": now() + 60 }),
    );
    for bad in [text(&handed, "wrong_audience_jwt"), text(&handed, "expired_jwt"), &stranger, "no token"] {
        assert_eq!(text(&ask(bad).await.json(), "error"), "invalid_grant", "{bad}");
    }
    assert_eq!(text(&ask("").await.json(), "error"), "invalid_request");
    let elsewhere = changed(&pairs, "assertion", good).into_iter().chain([("resource", "https://other.example")]);
    let elsewhere: Vec<_> = elsewhere.collect();
    assert_eq!(text(&asked(&server, "/token", &elsewhere).await.json(), "error"), "invalid_target");
}

#[tokio::test]
async fn a_users_sign_in_is_exchanged_and_then_shown() {
    let (server, handed) = extended(Extension::Enterprise).await;
    let (issuer, resource) = (format!("http://{}", server.host), format!("http://{}/mcp", server.host));
    let exchange = [
        ("grant_type", EXCHANGE),
        ("requested_token_type", ID_JAG),
        ("audience", &issuer),
        ("resource", &resource),
        ("subject_token", text(&handed, "idp_id_token")),
        ("subject_token_type", ID_TOKEN),
        ("client_id", text(&handed, "idp_client_id")),
    ];
    assert_eq!(text(&handed, "idp_token_endpoint"), format!("{issuer}/idp/token"));
    let exchanged = asked(&server, "/idp/token", &exchange).await.json();
    assert_eq!((text(&exchanged, "issued_token_type"), text(&exchanged, "token_type")), (ID_JAG, "N_A"));
    let assertion = text(&exchanged, "access_token");
    let present = [
        ("grant_type", JWT_BEARER),
        ("assertion", assertion),
        ("client_id", text(&handed, "client_id")),
        ("client_secret", text(&handed, "client_secret")),
    ];
    assert!(opens(&server, &asked(&server, "/token", &present).await).await);
    for (name, value, error) in [
        ("grant_type", JWT_BEARER, "unsupported_grant_type"),
        ("requested_token_type", "", "invalid_request"),
        ("subject_token_type", "", "invalid_request"),
        ("audience", "", "invalid_request"),
        ("audience", "https://nobody.invalid", "invalid_target"),
        ("resource", "", "invalid_request"),
        ("resource", "https://nobody.invalid/mcp", "invalid_target"),
        ("subject_token", "", "invalid_request"),
        // An assertion is no identity token.
        ("subject_token", assertion, "invalid_grant"),
        ("client_id", "another", "invalid_grant"),
    ] {
        let refused = asked(&server, "/idp/token", &changed(&exchange, name, value)).await;
        assert_eq!((refused.status, text(&refused.json(), "error")), (400, error), "{name}={value}");
    }
    let id_token = text(&handed, "idp_id_token");
    for (name, value, error) in [
        // An identity token is no assertion.
        ("assertion", id_token, "invalid_grant"),
        ("assertion", "", "invalid_request"),
        ("client_secret", "another", "invalid_client"),
        ("client_secret", "", "invalid_client"),
        ("grant_type", "client_credentials", "unsupported_grant_type"),
    ] {
        let refused = asked(&server, "/token", &changed(&present, name, value)).await;
        assert_eq!(text(&refused.json(), "error"), error, "{name}={value}");
    }
    // The assertion itself opens nothing.
    let bearer = format!("Bearer {assertion}");
    let reply = server.plain("POST", "/mcp", "application/json", &[("Authorization", &bearer)], "{}").await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn nobody_gets_a_token_in_the_usual_way_there() {
    for extension in [Extension::Key, Extension::Workload, Extension::Enterprise] {
        let (server, handed) = extended(extension).await;
        let body = json!({ "redirect_uris": ["http://127.0.0.1:1/cb"] }).to_string();
        assert_eq!(server.plain("POST", "/register", "application/json", &[], &body).await.status, 400);
        assert!(handed["client_id"].is_string());
        let metadata = server.plain("GET", "/.well-known/oauth-protected-resource/mcp", "", &[], "").await.json();
        assert_eq!(metadata["authorization_servers"], json!([format!("http://{}", server.host)]));
        let provided = extension == Extension::Enterprise;
        let provider = server.plain("GET", "/idp/.well-known/openid-configuration", "", &[], "").await;
        assert_eq!(provider.status == 200, provided, "{extension:?}");
    }
}

#[tokio::test]
async fn a_bound_token_wants_a_proof_at_every_step() {
    let server = bound().await;
    let pairs = [("grant_type", "client_credentials"), ("client_id", OURS.0), ("client_secret", OURS.1)];
    let form = Serializer::new(String::new()).extend_pairs(pairs).finish();
    let signer = Signer::fresh();
    let proof = |method: &str, path: &str, more: Value| {
        let at = format!("http://{}{path}", server.host);
        let mut claims =
            json!({ "jti": now().to_string() + path + &more.to_string(), "htm": method, "htu": at, "iat": now() });
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        signer.sign(json!({ "typ": "dpop+jwt", "jwk": signer.public() }), &claims)
    };
    let ask = async |proof: &str| {
        let headers = [("DPoP", proof)];
        let headers = if proof.is_empty() { &[][..] } else { &headers };
        server.plain("POST", "/token", "application/x-www-form-urlencoded", headers, &form).await
    };
    assert_eq!(text(&ask("").await.json(), "error"), "invalid_dpop_proof");
    let told = ask(&proof("POST", "/token", json!({}))).await;
    assert_eq!((told.status, text(&told.json(), "error")), (400, "use_dpop_nonce"));
    let nonce = told.header("dpop-nonce").unwrap();
    let given = ask(&proof("POST", "/token", json!({ "nonce": nonce }))).await.json();
    assert_eq!(text(&given, "token_type"), "DPoP");
    let token = text(&given, "access_token");
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } })
    .to_string();
    let send = async |scheme: &str, proof: &str| {
        let authorization = format!("{scheme} {token}");
        let accept = ("Accept", "application/json, text/event-stream");
        let mut headers = vec![accept, ("Authorization", authorization.as_str())];
        if !proof.is_empty() {
            headers.push(("DPoP", proof));
        }
        server.plain("POST", "/mcp", "application/json", &headers, &hello).await
    };
    let bare = send("Bearer", "").await;
    assert!(bare.status == 401 && bare.header("www-authenticate").unwrap().starts_with("DPoP "));
    let unproved = send("DPoP", "").await;
    assert!(unproved.status == 401 && unproved.header("www-authenticate").unwrap().contains("invalid_dpop_proof"));
    let ath = oauth::jose::sha256(token);
    let told = send("DPoP", &proof("POST", "/mcp", json!({ "ath": ath }))).await;
    let nonce = told.header("dpop-nonce").unwrap();
    assert!(told.status == 401 && told.header("www-authenticate").unwrap().contains("use_dpop_nonce"));
    let good = proof("POST", "/mcp", json!({ "ath": ath, "nonce": nonce }));
    assert_eq!(send("DPoP", &good).await.status, 200);
    assert_eq!(send("DPoP", &good).await.status, 401, "shown twice");
    // Whoever stole the token has another key.
    let thief = Signer::fresh();
    let claims = json!({ "jti": "x", "htm": "POST", "htu": format!("http://{}/mcp", server.host), "iat": now(),
        "ath": ath, "nonce": nonce });
    let stolen = thief.sign(json!({ "typ": "dpop+jwt", "jwk": thief.public() }), &claims);
    assert_eq!(send("DPoP", &stolen).await.status, 401);
}
