//! The vectors of RFC 7515 (A.3) and RFC 8037 (A.4), and documents signed and verified.

use oauth::jose::{Jwk, Signer};
use serde_json::{Value, json};

use crate::bytes::decode;
use crate::jws::{Signing, sign, signing_input};
use crate::manifest::{Manifest, Statement, draft};
use crate::trust::{State, judge};
use crate::{Entry, Identity, Surface, dsse};

/// Checks with the primitives that the program uses.
pub(super) fn verifies(key: &Value, alg: &str, message: &[u8], signature: &[u8]) -> bool {
    Jwk::read(key).is_some_and(|key| key.verifies(alg, message, signature))
}

/// A fresh key with a name: the signer and the public half.
pub(super) fn key(alg: &str, kid: &str) -> (Signer, Value) {
    let signer = if alg == "EdDSA" { Signer::fresh_edwards_with_text().0 } else { Signer::fresh() };
    let mut public = serde_json::to_value(signer.public().expect("a public half")).expect("JSON");
    public["kid"] = kid.into();
    (signer, public)
}

pub(super) fn signed(document: &Value, keys: &[&(Signer, Value)]) -> Value {
    let mut document = document.clone();
    for (signer, public) in keys {
        let kid = public["kid"].as_str().expect("a name");
        sign(&mut document, &Signing { alg: signer.alg(), kid, sign: &|message| signer.signature(message) });
    }
    document
}

pub(super) fn manifest() -> Value {
    let surface = Surface::from_snapshot(&json!({
        "server": { "name": "shop", "version": "1.0.0" },
        "instructions": "Be kind.",
        "tools": [{ "name": "buy", "description": "Buys." }, { "name": "look" }]
    }));
    let entry = Entry::new(Identity::default(), None, &surface).expect("an entry");
    let statement = Statement {
        provider: Some("Shop Inc.".to_owned()),
        permissions: vec!["orders:write".to_owned()],
        tool_permissions: [("buy".to_owned(), vec!["orders:write".to_owned()])].into(),
        issued_at: "2026-11-26T12:00:00Z".to_owned(),
        expires: Some("2027-11-26T12:00:00Z".to_owned()),
        keys: Vec::new(),
    };
    draft(&entry, &statement)
}

/// RFC 7515, appendix A.3: header, payload and signature in base64url, and the public key.
#[test]
fn the_ecdsa_example_of_jws() {
    let protected = "eyJhbGciOiJFUzI1NiJ9";
    let payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let key = json!({
        "kty": "EC", "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    });
    let input = signing_input(protected, &decode(payload).expect("base64"));
    let mut signature = decode(signature).expect("base64");
    assert!(verifies(&key, "ES256", &input, &signature));
    signature[40] ^= 1;
    assert!(!verifies(&key, "ES256", &input, &signature));
}

/// RFC 8037, appendix A.4.
#[test]
fn the_edwards_example_of_jws() {
    let payload = b"Example of Ed25519 signing";
    let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
    let input = signing_input("eyJhbGciOiJFZERTQSJ9", payload);
    let mut signature = decode(signature).expect("base64");
    assert!(verifies(&key, "EdDSA", &input, &signature));
    signature[0] ^= 1;
    assert!(!verifies(&key, "EdDSA", &input, &signature));
}

#[test]
fn each_document_has_one_of_five_states() {
    let (edwards, curve) = (key("EdDSA", "ed"), key("ES256", "ec"));
    let known = [edwards.1.clone(), curve.1.clone()];
    let state = |document: &Value, keys: &[Value]| judge(document, keys, &verifies).state;
    let plain = manifest();
    assert_eq!(state(&plain, &known), State::Unsigned);
    for one in [&edwards, &curve] {
        let document = signed(&plain, &[one]);
        assert_eq!(state(&document, &known), State::Verified);
        assert_eq!(state(&document, &[]), State::UnknownKey);
        let mut changed = document.clone();
        changed["tools"][0]["permissions"] = json!([]);
        assert_eq!(state(&changed, &known), State::Tampered);
        // The order of members and white space are no part of what is signed.
        let text = serde_json::to_string_pretty(&document).expect("JSON");
        assert_eq!(state(&Manifest::read(&text).expect("a manifest").document, &known), State::Verified);
    }
    let both = signed(&plain, &[&edwards, &curve]);
    assert_eq!(judge(&both, &known, &verifies).signed_by, ["ed", "ec"]);
    assert_eq!(state(&both, &known[..1]), State::Verified);
}

#[test]
fn an_envelope_has_the_same_states() {
    let (edwards, curve) = (key("EdDSA", "ed"), key("ES256", "ec"));
    let known = [edwards.1.clone(), curve.1.clone()];
    let manifest = Manifest::of(manifest()).expect("a manifest");
    let sign = |message: &[u8]| edwards.0.signature(message);
    let sign_curve = |message: &[u8]| curve.0.signature(message);
    // The numbers of a signature on a curve begin with zeros now and then, which DER leaves out.
    for _ in 0..64 {
        let keys =
            [Signing { alg: "EdDSA", kid: "ed", sign: &sign }, Signing { alg: "ES256", kid: "ec", sign: &sign_curve }];
        let envelope = dsse::envelope(&manifest, &keys);
        assert_eq!(dsse::judge(&envelope, &known, &verifies).signed_by, ["ed", "ec"]);
        assert_eq!(dsse::opened(&envelope).as_ref(), Ok(&manifest));
        assert_eq!(dsse::judge(&envelope, &[], &verifies).state, State::UnknownKey);
    }
    let keys = [Signing { alg: "EdDSA", kid: "ed", sign: &sign }];
    let envelope = dsse::envelope(&manifest, &keys);
    for (member, value) in [("payloadType", json!("text/plain")), ("payload", json!("e30="))] {
        let mut changed = envelope.clone();
        changed[member] = value;
        assert_eq!(dsse::judge(&changed, &known, &verifies).state, State::Tampered, "{member}");
        assert!(dsse::opened(&changed).is_err(), "{member}");
    }
    let mut unsigned = envelope;
    unsigned["signatures"] = json!([]);
    assert_eq!(dsse::judge(&unsigned, &known, &verifies).state, State::Unsigned);
}

/// The encoding that the envelope's specification gives as its example.
#[test]
fn what_an_envelope_signs_has_lengths_in_it() {
    let message = dsse::pre_authentication("http://example.com/HelloWorld", b"hello world");
    assert_eq!(message, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}
