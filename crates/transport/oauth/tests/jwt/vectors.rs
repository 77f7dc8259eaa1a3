//! The examples of RFC 7515, 7517, 7519, 7520, 7797 and 8037, as far as our algorithms go. That of RFC 7638 is in `jose/tests.rs`.

use oauth::jose::{Flaw, Jwk, JwkSet, Jws, decode};
use serde_json::{Value, json};

use crate::signing::vectors;

const ALGORITHMS: [&str; 16] = [
    "ES256", "ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "Ed448", "RS256", "RS384", "RS512", "PS256", "PS384",
    "PS512", "HS256", "none", "",
];

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value}"))
}

#[test]
fn the_signatures_of_the_standards_verify_and_altered_ones_do_not() {
    let all = vectors()["signatures"].as_array().expect("a list").clone();
    assert_eq!(all.len(), 5);
    for vector in &all {
        let source = text(vector, "source");
        let key = Jwk::read(&vector["key"]).unwrap_or_else(|| panic!("{source}: a key"));
        let (input, signature) = text(vector, "token").rsplit_once('.').expect("three parts");
        let (alg, signature) = (text(vector, "alg"), decode(signature).expect("base64"));
        assert!(key.verifies(alg, input.as_bytes(), &signature), "{source}");
        for other in ALGORITHMS {
            let is_same = other == alg || (alg == "EdDSA" && other == "Ed25519");
            assert_eq!(key.verifies(other, input.as_bytes(), &signature), is_same, "{source}: {other}");
        }
        for at in 0..signature.len() {
            let mut altered = signature.clone();
            altered[at] ^= 1;
            assert!(!key.verifies(alg, input.as_bytes(), &altered), "{source}: byte {at} of the signature");
        }
        for at in 0..input.len() {
            let mut altered = input.as_bytes().to_vec();
            altered[at] ^= 1;
            assert!(!key.verifies(alg, &altered, &signature), "{source}: byte {at} of the text");
        }
    }
}

/// Those whose claims are an object are tokens.
#[test]
fn the_tokens_of_the_standards_are_read() {
    let all = vectors()["signatures"].as_array().expect("a list").clone();
    let mut objects = 0;
    for vector in &all {
        let (source, token) = (text(vector, "source"), text(vector, "token"));
        let keys = JwkSet::read(&json!({ "keys": [vector["key"]] })).expect("a set");
        let Ok(read) = Jws::read(token) else { continue };
        objects += 1;
        let claims = read.verified(&keys).unwrap_or_else(|flaw| panic!("{source}: {flaw}"));
        assert_eq!(
            *claims,
            json!({ "iss": "joe", "exp": 1_300_819_380, "http://example.com/is_root": true }),
            "{source}"
        );
    }
    assert_eq!(objects, 2);
}

#[test]
fn the_other_tokens_of_the_standards_are_refused() {
    let all = vectors()["refused"].as_array().expect("a list").clone();
    assert_eq!(all.len(), 5);
    for vector in &all {
        let keys = JwkSet::read(&json!({ "keys": [vector["key"]] })).expect("a set");
        let found = Jws::read(text(vector, "token")).and_then(|read| read.verified(&keys).cloned());
        let expected = if vector["flaw"] == "Key" { Flaw::Key } else { Flaw::Form };
        assert_eq!(found, Err(expected), "{}", text(vector, "source"));
    }
}

#[test]
fn keys_serve_what_the_standards_say() {
    let vectors = vectors();
    for vector in vectors["keys"].as_array().expect("a list") {
        let source = text(vector, "source");
        let suited = Jwk::read(&vector["key"])
            .map(|key| ALGORITHMS.into_iter().filter(|alg| key.suits(alg)).collect::<Vec<_>>());
        assert_eq!(json!(suited), vector["suits"], "{source}");
    }
    for vector in vectors["thumbprints"].as_array().expect("a list") {
        let key = Jwk::read(&vector["key"]).expect("a key");
        assert_eq!(key.thumbprint().as_deref(), Some(text(vector, "thumbprint")), "{}", text(vector, "source"));
    }
}
