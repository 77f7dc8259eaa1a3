//! Signatures in A2A's shape: the vector that A2A's Go and Python SDKs share (a2a-go, a2acrypto/testdata/golden.json), the
//! examples of its specification (1.0, 8.4), and the algorithms of RFC 7515, appendix A.

use serde_json::{Value, json};
use wire::json::canonical;

use super::signatures::verifies;
use crate::bytes::{decode, encode};
use crate::jws::{Flaw, Signature};
use crate::trust::{State, judge};

/// The order of Ed25519's group, least byte first.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The public half of the key whose seed is 00, 01, … 1f.
fn key() -> Value {
    json!({
        "kty": "OKP", "crv": "Ed25519", "kid": "golden-ed25519-1",
        "x": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"
    })
}

/// An agent card, signed by A2A's Python SDK.
fn card() -> Value {
    json!({
        "name": "Golden Agent",
        "description": "Cross-SDK golden vector agent.",
        "supportedInterfaces": [
            { "url": "https://example.com/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "0.3.0" }
        ],
        "provider": { "url": "https://example.com", "organization": "A2A" },
        "version": "1.0.0",
        "capabilities": { "streaming": false, "pushNotifications": false },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "s1", "name": "Skill One", "description": "does a thing", "tags": ["x", "y"] }],
        "signatures": [{
            "protected": "eyJhbGciOiJFZERTQSIsImtpZCI6ImdvbGRlbi1lZDI1NTE5LTEiLCJ0eXAiOiJKT1NFIn0",
            "signature": "Qg-XC-eai-ciwJK-I26pFjM1tm33xGrG0nSgHRX3thxqXuOg__BLo2U1UYVcCAAP-pw_ds-7lNYOhDvHBTBCBg"
        }]
    })
}

fn state(document: &Value) -> State {
    judge(document, &[key()], &verifies).state
}

#[test]
fn a_card_that_an_sdk_of_a2a_signed_is_verified() {
    assert_eq!(judge(&card(), &[key()], &verifies).signed_by, ["golden-ed25519-1"]);
    assert_eq!(judge(&card(), &[], &verifies).state, State::UnknownKey);
}

type Edit = Box<dyn Fn(&mut Value)>;

#[test]
fn no_tampering_with_the_card_is_accepted() {
    let signature = |edit: fn(&mut Vec<u8>)| {
        move |card: &mut Value| {
            let mut bytes = decode(card["signatures"][0]["signature"].as_str().expect("a text")).expect("base64");
            edit(&mut bytes);
            card["signatures"][0]["signature"] = encode(&bytes).into();
        }
    };
    let text = |edit: fn(&str) -> String| {
        move |card: &mut Value| {
            let text = edit(card["signatures"][0]["signature"].as_str().expect("a text"));
            card["signatures"][0]["signature"] = text.into();
        }
    };
    let header = |header: &'static str| {
        move |card: &mut Value| card["signatures"][0]["protected"] = encode(header.as_bytes()).into()
    };
    let table: [(&str, Edit, State); 16] = [
        ("a value", Box::new(|v| v["version"] = json!("1.0.1")), State::Tampered),
        ("a member less", Box::new(|v| drop(v.as_object_mut().unwrap().shift_remove("provider"))), State::Tampered),
        ("a member more", Box::new(|v| v["iconUrl"] = json!("")), State::Tampered),
        ("a default left out", Box::new(|v| v["capabilities"] = json!({ "streaming": false })), State::Tampered),
        ("another order of a list", Box::new(|v| v["skills"][0]["tags"] = json!(["y", "x"])), State::Tampered),
        ("a number for a text", Box::new(|v| v["version"] = json!(1.0)), State::Tampered),
        ("a bit of the signature", Box::new(signature(|bytes| bytes[40] ^= 1)), State::Tampered),
        ("a shorter signature", Box::new(signature(|bytes| bytes.truncate(63))), State::Tampered),
        ("a longer signature", Box::new(signature(|bytes| bytes.push(0))), State::Tampered),
        ("a second form of the same signature", Box::new(signature(|bytes| add_order(bytes))), State::Tampered),
        ("unused bits of base64", Box::new(text(|text| text[..text.len() - 1].to_owned() + "h")), State::Tampered),
        ("padding of base64", Box::new(text(|text| text.to_owned() + "==")), State::Tampered),
        ("the other alphabet of base64", Box::new(text(|text| text.replace('-', "+"))), State::Tampered),
        (
            "white space in the header",
            Box::new(header(r#"{"alg": "EdDSA","kid":"golden-ed25519-1","typ":"JOSE"}"#)),
            State::Tampered,
        ),
        (
            "another algorithm",
            Box::new(header(r#"{"alg":"ES256","kid":"golden-ed25519-1","typ":"JOSE"}"#)),
            State::Tampered,
        ),
        (
            "another key",
            Box::new(header(r#"{"alg":"EdDSA","kid":"golden-ed25519-2","typ":"JOSE"}"#)),
            State::UnknownKey,
        ),
    ];
    assert_eq!(state(&card()), State::Verified);
    for (what, edit, expected) in table {
        let mut changed = card();
        edit(&mut changed);
        assert_ne!(changed, card(), "{what}");
        assert_eq!(state(&changed), expected, "{what}");
    }
}

/// Adds the order of the group to the second number: a verifier that does not reduce it takes both (RFC 8032, 5.1.7).
fn add_order(signature: &mut [u8]) {
    let mut carry = 0;
    for (byte, more) in signature[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(more) + carry;
        (*byte, carry) = ((sum & 0xff) as u8, sum >> 8);
    }
    assert_eq!(carry, 0, "it still has 32 bytes");
}

/// 8.4.1: what of a card is signed, after defaults were left out.
#[test]
fn the_canonical_example_of_a2a() {
    let card = json!({
        "name": "Example Agent", "description": "",
        "capabilities": { "streaming": false, "pushNotifications": false }, "skills": []
    });
    let expected = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}"#;
    assert_eq!(String::from_utf8(canonical(&card)).expect("UTF-8"), expected);
}

/// 8.4.2: a header that names where its key is. The key is not fetched, and is not known by its name alone.
#[test]
fn the_header_of_a2as_example() {
    let signature = json!({
        "protected": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJrZXktMSIsImprdSI6Imh0dHBzOi8vZXhhbXBsZS5jb20vYWdlbnQvandrcy5qc29uIn0",
        "signature": "QFdkNLNszlGj3z3u0YQGt_T9LixY3qtdQpZmsTdDHDe3fXV9y9-B3m2-XgCpzuhiLt8E0tV6HXoZKHv4GtHgKQ"
    });
    let read = Signature::read(&signature).expect("a signature");
    assert_eq!((read.alg.as_str(), read.kid.as_str()), ("ES256", "key-1"));
    assert_eq!(state(&json!({ "name": "x", "signatures": [signature] })), State::UnknownKey);
}

/// The headers of RFC 7515, A.1 to A.5, as they stand there: only ES256 is of a kind that is taken, and none names a key.
#[test]
fn the_algorithms_of_appendix_a() {
    let flaw = |protected: &str| {
        Signature::read(&json!({ "protected": protected, "signature": "AAAA" })).expect_err(protected)
    };
    assert_eq!(flaw("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"), Flaw::Worthless("HS256".to_owned()));
    assert_eq!(flaw("eyJhbGciOiJub25lIn0"), Flaw::Worthless("none".to_owned()));
    for unnamed in ["eyJhbGciOiJSUzI1NiJ9", "eyJhbGciOiJFUzI1NiJ9", "eyJhbGciOiJFUzUxMiJ9"] {
        assert!(matches!(flaw(unnamed), Flaw::Form(_)), "{unnamed}");
    }
    for (alg, is_taken) in [("RS256", false), ("ES512", false), ("ES256", true)] {
        let header = json!({ "alg": alg, "kid": "k", "typ": "JOSE" }).to_string();
        let read = Signature::read(&json!({ "protected": encode(header.as_bytes()), "signature": "AAAA" }));
        assert_eq!(read.is_ok(), is_taken, "{alg}");
    }
}
