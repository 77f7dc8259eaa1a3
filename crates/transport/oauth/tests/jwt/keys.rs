//! Keys that must verify nothing: too small, of a small order, for another purpose, or spelled in another way.

use oauth::jose::{Jwk, JwkSet, decode, encode};
use oauth::resource::TokenFlaw::{Key as NoKey, Signature};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::{Value, json};

use crate::signing::{Key, claims, vectors};
use crate::{Candidate, Case};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = purposes();
    all.extend(spellings());
    all.extend(weak());
    all.extend(small_orders());
    all
}

/// The keys of a document, of which those that cannot be used are left out.
fn document(keys: &[Value]) -> JwkSet {
    JwkSet::read(&json!({ "keys": keys })).expect("a set")
}

/// One token, looked at with a key that will not do and with one that will.
fn case(what: &str, token: &str, (bad, flaw): (&Value, oauth::resource::TokenFlaw), good: &Value) -> Case {
    let candidate = |key: &Value| Candidate { token: token.to_owned(), keys: document(std::slice::from_ref(key)) };
    Case { what: what.to_owned(), bad: candidate(bad), flaw, good: candidate(good) }
}

fn changed(key: &Value, members: Value) -> Value {
    let mut key = key.clone();
    for (name, value) in members.as_object().expect("an object") {
        key[name] = value.clone();
    }
    key
}

fn purposes() -> Vec<Case> {
    let key = Key::es256();
    let token = key.good();
    [
        ("for encryption", json!({ "use": "enc" }), json!({ "use": "sig" })),
        ("for an unknown use", json!({ "use": "SIG" }), json!({ "use": "sig", "alg": "ES256" })),
        ("for another algorithm", json!({ "alg": "ES384" }), json!({ "alg": "ES256" })),
        ("for key agreement", json!({ "key_ops": ["deriveKey"] }), json!({ "key_ops": ["verify"] })),
        ("for signing alone", json!({ "key_ops": ["sign"] }), json!({ "key_ops": ["sign", "verify"] })),
        ("for no operation", json!({ "key_ops": [] }), json!({ "key_ops": ["verify"], "use": "sig" })),
        ("operations that are a text", json!({ "key_ops": "verify" }), json!({ "ops": "verify" })),
        ("a use that is a list", json!({ "use": ["sig"] }), json!({ "uses": ["sig"] })),
        ("an id that is a number", json!({ "kid": 7 }), json!({ "kid": "7" })),
        ("of another kind", json!({ "kty": "RSA" }), json!({ "kty": "EC" })),
        ("of another kind, by case", json!({ "kty": "ec" }), json!({ "x5t": "ec" })),
        ("on another curve", json!({ "crv": "P-384" }), json!({ "crv": "P-256" })),
        ("on a curve of another name", json!({ "crv": "secp256k1" }), json!({ "x5c": [] })),
        ("with its private half", json!({ "d": "AAAA" }), json!({ "D": "AAAA" })),
        ("with a part of a private half", json!({ "dp": "AAAA" }), json!({ "ext": true })),
        ("with a secret", json!({ "k": "AAAA" }), json!({ "K": "AAAA" })),
    ]
    .into_iter()
    .map(|(what, bad, good)| case(what, &token, (&changed(&key.jwk, bad), NoKey), &changed(&key.jwk, good)))
    .collect()
}

fn spellings() -> Vec<Case> {
    let key = Key::es256();
    let token = key.good();
    let bytes = |name: &str| decode(key.jwk[name].as_str().expect("a text")).expect("base64");
    let (x, y) = (bytes("x"), bytes("y"));
    let (rsa, ed) = (Key::rsa("RS256"), Key::ed25519());
    let n = decode(rsa.jwk["n"].as_str().expect("a text")).expect("base64");
    let ed_x = decode(ed.jwk["x"].as_str().expect("a text")).expect("base64");
    let ec_list = [
        ("a point divided elsewhere", json!({ "x": encode(&x[..31]), "y": encode(&[&x[31..], &y[..]].concat()) })),
        ("a zero before a coordinate", json!({ "x": encode(&[&[0], &x[..]].concat()) })),
        ("a coordinate too short", json!({ "y": encode(&y[..31]) })),
        ("no point of the curve", json!({ "x": key.jwk["y"] })),
        ("the point at infinity", json!({ "x": encode(&[0; 32]), "y": encode(&[0; 32]) })),
        ("a coordinate with padding", json!({ "x": format!("{}=", key.jwk["x"].as_str().expect("a text")) })),
        ("no coordinate", json!({ "y": null })),
        ("an empty coordinate", json!({ "y": "" })),
    ];
    let of_ec = ec_list
        .into_iter()
        .map(|(what, bad)| case(&format!("P-256: {what}"), &token, (&changed(&key.jwk, bad), Signature), &key.jwk));
    let others = [
        ("RSA: a zero before the modulus", &rsa, json!({ "n": encode(&[&[0], &n[..]].concat()) })),
        ("RSA: an even modulus", &rsa, json!({ "n": encode(&[&n[..255], &[0]].concat()) })),
        ("RSA: no exponent", &rsa, json!({ "e": null })),
        ("RSA: an exponent of 0", &rsa, json!({ "e": "AA" })),
        ("RSA: an even exponent", &rsa, json!({ "e": "AQAA" })),
        ("RSA: a zero before the exponent", &rsa, json!({ "e": "AAEAAQ" })),
        ("Ed25519: one byte less", &ed, json!({ "x": encode(&ed_x[..31]) })),
        ("Ed25519: one byte more", &ed, json!({ "x": encode(&[&ed_x[..], &[0]].concat()) })),
    ];
    let of_others = others
        .into_iter()
        .map(|(what, key, bad)| case(what, &key.good(), (&changed(&key.jwk, bad), Signature), &key.jwk));
    of_ec.chain(of_others).collect()
}

/// Keys of RSA under which others than their owner can sign. Tokens and keys were made with another implementation.
fn weak() -> Vec<Case> {
    let (vectors, good) = (vectors(), Key::rsa("RS256"));
    [("RSA: 1024 bits", "small_rsa"), ("RSA: an exponent of 1", "rsa_exponent_1")]
        .into_iter()
        .map(|(what, name)| {
            let bad = &vectors[name];
            let keys = document(std::slice::from_ref(&bad["key"]));
            assert_eq!(keys.keys.len(), 1, "{what}: the key is read");
            let bad = Candidate { token: bad["token"].as_str().expect("a text").to_owned(), keys };
            let good = Candidate { token: good.good(), keys: good.set() };
            Case { what: what.to_owned(), bad, flaw: Signature, good }
        })
        .collect()
}

/// The points of Ed25519 of order 1, 2, 4 and 8, with their spellings that are not reduced; of each pair, the sign is left out.
const SMALL: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// Under such a key, one token in eight has a signature that everybody can write: the neutral point, and 0.
fn small_orders() -> Vec<Case> {
    let forged = [&[1][..], &[0; 63]].concat();
    let honest = Key::ed25519();
    let points = SMALL.iter().flat_map(|text| {
        let bytes: Vec<u8> =
            (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hex")).collect();
        [0, 0x80].map(|sign| {
            let mut bytes = bytes.clone();
            bytes[31] |= sign;
            bytes
        })
    });
    let all: Vec<_> = points
        .filter_map(|point| {
            let mut texts = (0..300).map(|number| {
                let header = encode(honest.header("").as_bytes());
                format!("{header}.{}", encode(claims(&format!("\"jti\":{number}")).as_bytes()))
            });
            let opens =
                |text: &String| UnparsedPublicKey::new(&ED25519, &point).verify(text.as_bytes(), &forged).is_ok();
            let text = texts.find(opens)?;
            let what = format!("Ed25519: a key of small order, {:02x}…{:02x}", point[0], point[31]);
            let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(&point) });
            let bad = Candidate { token: format!("{text}.{}", encode(&forged)), keys: document(&[key]) };
            Some(Case { what, bad, flaw: Signature, good: Candidate { token: honest.good(), keys: honest.set() } })
        })
        .collect();
    assert!(all.len() >= 8, "the primitives alone accept forged tokens under {} keys", all.len());
    all
}

/// Also those that the primitives refuse.
#[test]
fn no_key_of_small_order_verifies_anything() {
    for text in SMALL {
        let bytes: Vec<u8> =
            (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hex")).collect();
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(&bytes) });
        let key = Jwk::read(&key).expect("a key");
        for number in 0..100_u32 {
            let forged = [&[1][..], &[0; 63]].concat();
            assert!(!key.verifies("EdDSA", &number.to_be_bytes(), &forged), "{text} {number}");
        }
    }
}
