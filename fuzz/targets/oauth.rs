//! What leads to a token: any refusal, document, key and token can be read; what claims to be for us is; and nothing is
//! believed that nobody signed.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use oauth::jose::{JwkSet, Jws};
use oauth::{AuthChallenge, IssuerMetadata, ResourceMetadata};
use serde_json::{Value, json};
use url::Url;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    bounded(4096 * bytes.len() + (256 << 10), || {
        refusal(&text);
        token(&text);
        if let Ok(document) = serde_json::from_str::<Value>(&text) {
            documents(&document);
        }
    });
});

fn refusal(text: &str) {
    let headers = vec![("www-authenticate".to_owned(), text.to_owned()), ("dpop-nonce".to_owned(), text.to_owned())];
    assert!(AuthChallenge::read(200, &headers).is_none() && AuthChallenge::read(500, &headers).is_none());
    assert!(AuthChallenge::read(401, &headers).is_some_and(|demand| !demand.more_scope), "a 401 is a demand");
    let more = AuthChallenge::read(403, &headers);
    assert!(more.is_none_or(|demand| demand.more_scope && demand.scopes.is_none_or(|scopes| !scopes.is_empty())));
}

fn token(text: &str) {
    let key =
        json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }] });
    let keys = JwkSet::read(&key).expect("a set");
    if let Ok(read) = Jws::read(text) {
        assert!(read.verified(&keys).is_err() && read.verified(&JwkSet::default()).is_err(), "{text} is believed");
    }
}

fn documents(document: &Value) {
    let home = Url::parse("https://rs.example/deep/mcp").expect("a URL");
    if let Ok(resource) = ResourceMetadata::read(document) {
        assert!(!resource.servers.is_empty());
        let own = Url::parse(&resource.id);
        assert!(!resource.covers(&home) || own.is_ok_and(|own| own.origin() == home.origin()), "{}", resource.id);
    }
    if let Ok(issuer) = IssuerMetadata::read(document) {
        assert!(!issuer.id.is_empty());
    }
    if let Some(keys) = JwkSet::read(document) {
        for key in &keys.keys {
            assert!(!key.verifies("ES256", b"text", b"signature") && !key.verifies("RS256", b"text", b"signature"));
            let _ = key.thumbprint();
        }
    }
}
