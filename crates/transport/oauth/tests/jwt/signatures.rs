//! Signatures that are none, are another algorithm's, or are spelled in another way.

use oauth::jose::encode;
use oauth::resource::TokenFlaw::{self, Key as NoKey, Signature};
use ring::hmac;
use serde_json::{Value, json};

use crate::Case;
use crate::signing::{Key, claims, set};

/// The order of P-256.
const N: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7,
    0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];
/// The order of the group of Ed25519, lowest byte first.
const L: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

pub(crate) fn cases() -> Vec<Case> {
    let mut all = numbers();
    all.extend(edwards());
    all.extend(confused());
    all.extend(replaced());
    all
}

fn with(text: &str, signature: &[u8]) -> String {
    format!("{text}.{}", encode(signature))
}

/// `N - s`.
fn negated(s: &[u8]) -> Vec<u8> {
    let mut borrow = 0_i16;
    let mut out: Vec<u8> = N
        .iter()
        .zip(s)
        .rev()
        .map(|(n, s)| {
            let left = i16::from(*n) - i16::from(*s) - borrow;
            borrow = i16::from(left < 0);
            (left + 256 * borrow) as u8
        })
        .collect();
    out.reverse();
    out
}

/// A number in DER.
fn der(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    let sign: &[u8] = if number[0] >= 0x80 { &[0] } else { &[] };
    [&[2, (sign.len() + number.len()) as u8], sign, number].concat()
}

/// The two numbers of a signature on P-256.
fn numbers() -> Vec<Case> {
    let key = Key::es256();
    let good = key.good();
    let text = good.rsplit_once('.').expect("three parts").0.to_owned();
    let signature = key.signature(&text);
    let (r, s) = signature.split_at(32);
    let both = [der(r), der(s)].concat();
    let sequence = [&[0x30, both.len() as u8], &both[..]].concat();
    let (zero, most) = ([0; 32], [0xff; 32]);
    let list: Vec<(&str, Vec<u8>)> = vec![
        ("in DER", sequence),
        ("nothing", vec![]),
        ("one byte", vec![1]),
        ("one byte less", signature[..63].to_vec()),
        ("one byte more", [&signature[..], &[0]].concat()),
        ("a zero before it", [&[0], &signature[..]].concat()),
        ("twice", [&signature[..], &signature[..]].concat()),
        ("half of it", r.to_vec()),
        ("r is 0", [&zero[..], s].concat()),
        ("s is 0", [r, &zero[..]].concat()),
        ("both are 0", vec![0; 64]),
        ("r is the order", [&N[..], s].concat()),
        ("s is the order", [r, &N[..]].concat()),
        ("both are the order", [N, N].concat()),
        ("r is over the order", [&most[..], s].concat()),
        ("s is over the order", [r, &most[..]].concat()),
        ("both are all ones", vec![0xff; 64]),
        ("r is negative", [&negated(r)[..], s].concat()),
        ("exchanged", [s, r].concat()),
        ("lowest byte first", signature.iter().rev().copied().collect()),
    ];
    // The negative of s is a signature, too: the standard allows both.
    let twin = with(&text, &[r, &negated(s)].concat());
    let case = |(what, bad): (&str, Vec<u8>)| {
        Case::new(&format!("P-256: {what}"), &key.set(), (with(&text, &bad), Signature), twin.clone())
    };
    list.into_iter().map(case).collect()
}

fn edwards() -> Vec<Case> {
    let key = Key::ed25519();
    let good = key.good();
    let text = good.rsplit_once('.').expect("three parts").0.to_owned();
    let signature = key.signature(&text);
    let (r, s) = signature.split_at(32);
    let mut carry = 0_u16;
    let over: Vec<u8> = s
        .iter()
        .zip(L)
        .map(|(s, l)| {
            let sum = u16::from(*s) + u16::from(l) + carry;
            carry = sum >> 8;
            sum as u8
        })
        .collect();
    let mut high = s.to_vec();
    high[31] |= 0x80;
    let mut negative = r.to_vec();
    negative[31] ^= 0x80;
    [
        ("s over the order", [r, &over[..]].concat()),
        ("a high bit of s", [r, &high[..]].concat()),
        ("s is 0", [r, &[0; 32][..]].concat()),
        ("r is negative", [&negative[..], s].concat()),
        ("r is the neutral point", [&[1][..], &[0; 31], s].concat()),
        ("all zeros", vec![0; 64]),
        ("one byte less", signature[..63].to_vec()),
        ("one byte more", [&signature[..], &[0]].concat()),
    ]
    .into_iter()
    .map(|(what, bad)| Case::new(&format!("Ed25519: {what}"), &key.set(), (with(&text, &bad), Signature), good.clone()))
    .collect()
}

/// A token that says by which algorithm it is signed, and a signature by another one.
fn confused() -> Vec<Case> {
    let (ec, big, ed, rsa) = (Key::es256(), Key::es384(), Key::ed25519(), Key::rsa("RS256"));
    let usual = encode(claims("").as_bytes());
    let text = |alg: &str| format!("{}.{usual}", encode(json!({ "alg": alg, "typ": "at+jwt" }).to_string().as_bytes()));
    let mut all = Vec::new();
    for key in [&ec, &rsa, &ed] {
        for alg in ["none", "None", "nOnE", "NONE", ""] {
            let what = format!("{alg:?} for {}", key.alg);
            all.push(Case::new(&what, &key.set(), (format!("{}.", text(alg)), NoKey), key.good()));
            let what = format!("{alg:?} with a signature of {}", key.alg);
            let bad = with(&text(alg), &key.signature(&text(alg)));
            all.push(Case::new(&what, &key.set(), (bad, NoKey), key.good()));
        }
        for (what, secret) in secrets(&key.jwk) {
            for (alg, algorithm) in [("HS256", hmac::HMAC_SHA256), ("HS512", hmac::HMAC_SHA512)] {
                let tag = hmac::sign(&hmac::Key::new(algorithm, &secret), text(alg).as_bytes());
                let bad = with(&text(alg), tag.as_ref());
                let what = format!("{alg} for {}, its secret is {what}", key.alg);
                all.push(Case::new(&what, &key.set(), (bad, NoKey), key.good()));
            }
        }
    }
    let pss = Key::rsa("PS256");
    for (key, alg, flaw) in [
        (&ec, "es256", NoKey),
        (&ec, "ES256K", NoKey),
        (&ec, "ES384", NoKey),
        (&ec, "RS256", NoKey),
        (&ec, "EdDSA", NoKey),
        (&ec, "ES256 ", NoKey),
        (&big, "ES256", NoKey),
        (&big, "ES512", NoKey),
        (&ed, "ES256", NoKey),
        (&ed, "Ed448", NoKey),
        (&rsa, "PS256", Signature),
        (&rsa, "RS384", Signature),
        (&rsa, "RS512", Signature),
        (&rsa, "RS1", NoKey),
        (&rsa, "RSA-OAEP", NoKey),
        (&rsa, "HS256", NoKey),
        (&pss, "RS256", Signature),
        (&pss, "PS384", Signature),
        (&pss, "PS512", Signature),
    ] {
        let bad = with(&text(alg), &key.signature(&text(alg)));
        all.push(Case::new(&format!("{} called {alg:?}", key.alg), &key.set(), (bad, flaw), key.good()));
    }
    all
}

/// What an attacker has of a public key, as the secret of a code.
fn secrets(jwk: &Value) -> Vec<(&'static str, Vec<u8>)> {
    let member = ["n", "x"].iter().find_map(|name| jwk[*name].as_str()).expect("a number");
    let bytes = oauth::jose::decode(member).expect("base64");
    vec![
        ("the key in JSON", jwk.to_string().into_bytes()),
        ("its number", bytes),
        ("its number in base64", member.as_bytes().to_vec()),
        ("empty", Vec::new()),
    ]
}

/// Good signatures over something else.
fn replaced() -> Vec<Case> {
    let mut all = Vec::new();
    let algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map(Key::rsa);
    for key in [Key::es256(), Key::es384(), Key::ed25519()].into_iter().chain(algorithms) {
        let good = key.good();
        let (text, signature) = good.rsplit_once('.').expect("three parts");
        let (header, body) = text.split_once('.').expect("three parts");
        let (other_body, other_header) = (encode(claims(r#""admin":true"#).as_bytes()), key.header(""));
        let mut flipped = key.signature(text);
        *flipped.last_mut().expect("bytes") ^= 1;
        let list: [(&str, String, TokenFlaw); 5] = [
            ("other claims", format!("{header}.{other_body}.{signature}"), Signature),
            ("another header", format!("{}.{body}.{signature}", encode(other_header.as_bytes())), Signature),
            ("only the claims signed", with(text, &key.signature(body)), Signature),
            ("one bit changed", with(text, &flipped), Signature),
            ("no signature", format!("{text}."), Signature),
        ];
        let name = |what: &str| format!("{}: {what}", key.alg);
        all.extend(
            list.into_iter().map(|(what, bad, flaw)| Case::new(&name(what), &key.set(), (bad, flaw), good.clone())),
        );
        // Another key of the same kind, as far as one can be made.
        if let Some(other) = match key.alg {
            "ES256" => Some(Key::es256()),
            "ES384" => Some(Key::es384()),
            "EdDSA" => Some(Key::ed25519()),
            _ => None,
        } {
            all.push(Case::new(&name("another key"), &set(&[&key.jwk]), (other.good(), Signature), good.clone()));
        }
    }
    all
}
