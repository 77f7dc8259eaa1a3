//! Grants without a user's consent, and which server receives which secret.

use std::sync::atomic::{AtomicUsize, Ordering};

use oauth::jose::{self, Jwk, Jws};
use oauth::{Client, Credential, Enterprise, Grant, IssuerTrust, Secret};
use serde_json::{Value, json};
use url::Url;

use super::{FakeServer, ReceivedRequest, RunningServer, challenged, json_response};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn known(proof: Credential) -> Client {
    Client::new("me", proof)
}

fn password() -> Credential {
    Credential::Secret(Secret::new("s3cret"))
}

#[tokio::test]
async fn client_credentials_are_signed_with_the_key() {
    let server = FakeServer::correct().start().await;
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let key = Credential::Key { pem: Secret::new(pair.serialize_pem()), alg: "ES256".to_owned() };
    let mut options = RunningServer::options();
    options.grant = Grant::ClientCredentials;
    options.client = Some(known(key));
    options.issuer = Some(server.base.clone());
    server.refused(options, "Bearer scope=\"a\"").await.unwrap();
    let request = &server.requests_to("/token")[0];
    let assertion = request.parameter("client_assertion").unwrap();
    let claims: Value = serde_json::from_slice(&jose::decode(assertion.split('.').nth(1).unwrap()).unwrap()).unwrap();
    assert_eq!((&claims["iss"], &claims["sub"], &claims["aud"]), (&json!("me"), &json!("me"), &json!(server.base)));
    assert!(claims["exp"].as_u64().unwrap() > claims["iat"].as_u64().unwrap());
    assert_eq!(request.parameter("grant_type").as_deref(), Some("client_credentials"));
    assert_eq!(request.parameter("scope").as_deref(), Some("a"));
    assert!(server.requests_to("/register").is_empty() && server.requests_to("/authorize").is_empty());
}

#[tokio::test]
async fn a_refused_assertion_is_not_sent_again() {
    let mut fake = FakeServer::correct();
    fake.page("/token", |_, _| (400, String::new(), json!({ "error": "invalid_grant" }).to_string()));
    let server = fake.start().await;
    let mut options = RunningServer::options();
    options.grant = Grant::Assertion(Secret::new("w0rkload"));
    options.client = Some(known(Credential::None));
    options.issuer = Some(server.base.clone());
    let error = server.refused(options, "Bearer").await.unwrap_err().to_string();
    assert!(error.contains("invalid_grant") && !error.contains("w0rkload"), "{error}");
    let request = server.requests_to("/token");
    assert_eq!(request.len(), 1);
    assert_eq!(request[0].parameter("grant_type").as_deref(), Some(JWT_BEARER));
    assert_eq!(request[0].parameter("assertion").as_deref(), Some("w0rkload"));
}

#[tokio::test]
async fn an_enterprise_id_token_is_exchanged_at_its_provider_only() {
    let mut fake = FakeServer::correct();
    fake.page("/idp", |request, _| {
        assert_eq!(request.parameter("subject_token").as_deref(), Some("idt0ken"));
        let kind = "urn:ietf:params:oauth:token-type:id-jag";
        json_response(json!({ "access_token": "w0rd", "issued_token_type": kind, "token_type": "N_A" }))
    });
    let server = fake.start().await;
    let mut options = RunningServer::options();
    options.client = Some(known(password()));
    options.issuer = Some(server.base.clone());
    options.grant = Grant::Enterprise(Box::new(Enterprise {
        token_endpoint: Url::parse(&format!("{}/idp", server.base)).unwrap(),
        client: Client::new("me-there", Credential::None),
        id_token: Secret::new("idt0ken"),
    }));
    server.refused(options, "Bearer").await.unwrap();
    let (provider, issuer) = (&server.requests_to("/idp")[0], &server.requests_to("/token")[0]);
    assert_eq!(provider.parameter("audience").unwrap(), server.base);
    assert_eq!(provider.parameter("resource").unwrap(), format!("{}/mcp", server.base));
    assert_eq!(provider.parameter("client_id").as_deref(), Some("me-there"));
    assert_eq!(issuer.parameter("assertion").as_deref(), Some("w0rd"));
    assert_eq!(issuer.header("authorization"), Some("Basic bWU6czNjcmV0"));
    assert!(!issuer.body.contains("idt0ken"), "what the provider knows stays there");
}

fn proof(request: &ReceivedRequest) -> Value {
    let read = request.header("dpop").map(|proof| Jws::read(proof).unwrap()).unwrap();
    let key = Jwk::read(&read.header["jwk"]).unwrap();
    read.verified_by(&key).unwrap().clone()
}

#[tokio::test]
async fn a_bound_token_is_sent_with_proofs() {
    let mut fake = FakeServer::correct();
    let count = AtomicUsize::new(0);
    fake.page("/token", move |_, _| match count.fetch_add(1, Ordering::Relaxed) {
        0 => (400, "DPoP-Nonce: n1\r\n".to_owned(), json!({ "error": "use_dpop_nonce" }).to_string()),
        _ => json_response(json!({ "access_token": "b0und", "token_type": "DPoP" })),
    });
    let server = fake.start().await;
    let mut operation = server.authorizer(RunningServer::options()).operation("POST");
    assert!(operation.refused(401, &challenged("DPoP algs=\"ES256\"")).await.unwrap());
    let request = server.requests_to("/token");
    assert_eq!((proof(&request[0]).get("nonce"), proof(&request[1])["nonce"].as_str()), (None, Some("n1")));
    let headers = operation.headers().await.unwrap();
    assert_eq!(headers[0].1, "DPoP b0und");
    let mut nonce = challenged("DPoP error=\"use_dpop_nonce\"");
    nonce.push(("dpop-nonce".to_owned(), "n2".to_owned()));
    assert!(operation.refused(401, &nonce).await.unwrap());
    let next = operation.headers().await.unwrap();
    assert_ne!(headers[1], next[1], "no proof is used twice");
    let read = Jws::read(&next[1].1).unwrap();
    let claims = read.verified_by(&Jwk::read(&read.header["jwk"]).unwrap()).unwrap();
    assert_eq!((&claims["nonce"], &claims["ath"]), (&json!("n2"), &json!(jose::sha256("b0und"))));
    assert_eq!(server.requests_to("/token").len(), 2, "a nonce is no reason for another token");
}

/// A server whose metadata names another issuer from the second request on, and both issuers.
async fn server_that_changes_its_issuer() -> (RunningServer, RunningServer, RunningServer) {
    let (one, two) = (FakeServer::correct().start().await, FakeServer::correct().start().await);
    let (mut fake, count) = (FakeServer::correct(), AtomicUsize::new(0));
    let issuers = [one.base.clone(), two.base.clone()];
    fake.page("/.well-known/oauth-protected-resource/mcp", move |_, base| {
        let at = count.fetch_add(1, Ordering::Relaxed).min(1);
        json_response(json!({ "resource": format!("{base}/mcp"), "authorization_servers": [issuers[at]] }))
    });
    (fake.start().await, one, two)
}

#[tokio::test]
async fn clients_of_one_issuer_are_not_sent_to_another() {
    let (server, one, two) = server_that_changes_its_issuer().await;
    let mut operation = server.authorizer(RunningServer::options()).operation("POST");
    assert!(operation.refused(401, &challenged("Bearer")).await.unwrap());
    operation.headers().await.unwrap();
    assert!(operation.refused(401, &challenged("Bearer")).await.unwrap());
    assert_eq!((one.requests_to("/register").len(), two.requests_to("/register").len()), (1, 1));
    let (server, one, two) = server_that_changes_its_issuer().await;
    let mut options = RunningServer::options();
    options.client = Some(known(password()));
    options.trust = IssuerTrust::First;
    let mut operation = server.authorizer(options).operation("POST");
    assert!(operation.refused(401, &challenged("Bearer")).await.unwrap());
    operation.headers().await.unwrap();
    let error = operation.refused(401, &challenged("Bearer")).await.unwrap_err().to_string();
    assert!(error.contains("another authorization server"), "{error}");
    assert_eq!(
        (one.requests_to("/token").len(), two.requests_to("/token").len(), two.requests_to("/authorize").len()),
        (1, 0, 0)
    );
}
