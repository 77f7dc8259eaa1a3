//! Signing and reading tokens, and all that must not pass for one.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn set(signer: &Signer) -> JwkSet {
    JwkSet { keys: signer.public().into_iter().collect() }
}

#[test]
fn what_a_key_signs_it_verifies_and_another_does_not() {
    let (signer, other) = (Signer::fresh(), Signer::fresh());
    let token = signer.sign(json!({ "typ": "JWT" }), &json!({ "sub": "me" }));
    let read = Jws::read(&token).expect("a token");
    assert_eq!(read.verified(&set(&signer)).expect("signed")["sub"], "me");
    assert_eq!(read.verified(&set(&other)), Err(Flaw::Signature));
    assert_eq!(read.verified(&JwkSet::default()), Err(Flaw::Key));
}

#[test]
fn an_algorithm_is_not_the_tokens_to_choose() {
    let signer = Signer::fresh();
    let claims = encode(b"{}");
    for alg in ["none", "HS256", "RS256", "ES384", "es256", ""] {
        let token = format!("{}.{claims}.{}", encode(json!({ "alg": alg }).to_string().as_bytes()), encode(b"x"));
        let read = Jws::read(&token).expect("the form is right");
        assert_eq!(read.verified(&set(&signer)), Err(Flaw::Key), "{alg}");
    }
    let token = signer.sign(json!({ "crit": ["b64"] }), &json!({}));
    assert_eq!(Jws::read(&token).expect("a token").verified(&set(&signer)), Err(Flaw::Header));
}

#[test]
fn a_key_serves_what_it_says_that_it_serves() {
    let signer = Signer::fresh();
    let token = signer.sign(json!({ "kid": "one" }), &json!({}));
    let read = Jws::read(&token).expect("a token");
    let with = |change: fn(&mut Jwk)| {
        let mut keys = set(&signer);
        change(&mut keys.keys[0]);
        read.verified(&keys).is_ok()
    };
    assert!(with(|_| ()) && with(|key| key.kid = Some("one".to_owned())));
    assert!(!with(|key| key.kid = Some("two".to_owned())));
    assert!(!with(|key| key.alg = Some("ES384".to_owned())));
    assert!(!with(|key| key.use_ = Some("enc".to_owned())));
    assert!(!with(|key| key.x = key.y.clone()));
}

#[test]
fn a_thumbprint_is_that_of_the_standard() {
    // The example of RFC 7638, 3.1.
    let n = concat!(
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs",
        "tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajr",
        "n1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    );
    let key = Jwk::read(&json!({ "kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29" }));
    let thumbprint = key.and_then(|key| key.thumbprint());
    assert_eq!(thumbprint.as_deref(), Some("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"));
}

#[test]
fn a_private_key_is_no_public_one() {
    assert_eq!(Jwk::read(&json!({ "kty": "EC", "crv": "P-256", "x": "a", "y": "b", "d": "c" })), None);
    assert_eq!(Jwk::read(&json!({ "kty": "oct", "k": "c2VjcmV0" })), None);
    assert_eq!(JwkSet::read(&json!({ "keys": [{ "kty": 1 }, null] })), Some(JwkSet::default()));
    assert_eq!(JwkSet::read(&json!([])), None);
}

#[test]
fn a_key_in_pem_signs_by_its_own_algorithm() {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key");
    let pem = pair.serialize_pem();
    let signer = Signer::from_pem(&pem, "ES256").expect("a key");
    let token = signer.sign(json!({}), &json!({ "a": 1 }));
    assert!(Jws::read(&token).expect("a token").verified(&set(&signer)).is_ok());
    let (made, text) = Signer::fresh_with_text();
    let token = Signer::from_pem(text.reveal(), "ES256").expect("a key").sign(json!({}), &json!({ "a": 1 }));
    assert!(Jws::read(&token).expect("a token").verified(&set(&made)).is_ok());
    assert_eq!(Signer::from_pem(&pem, "EdDSA").map(|s| s.alg()), Err(Unsignable::OtherKind));
    assert_eq!(Signer::from_pem(&pem, "HS256").map(|s| s.alg()), Err(Unsignable::Algorithm));
    assert_eq!(Signer::from_pem("no key", "ES256").map(|s| s.alg()), Err(Unsignable::NoKey));
}

proptest! {
    #[test]
    fn reading_never_panics_and_nothing_verifies_by_chance(text in ".{0,200}", parts in "[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,90}") {
        let keys = set(&Signer::fresh());
        for token in [&text, &parts] {
            if let Ok(read) = Jws::read(token) {
                prop_assert!(read.verified(&keys).is_err());
            }
        }
    }
}
