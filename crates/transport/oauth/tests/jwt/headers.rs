//! Headers that demand what is not supported, name a key of their own, or have another type.

use oauth::resource::TokenFlaw::{Form, Key as NoKey, Signature};
use serde_json::{Value, json};

use crate::Case;
use crate::signing::{Key, set};

pub(crate) fn cases() -> Vec<Case> {
    let key = Key::es256();
    let mut all = demands(&key);
    all.extend(types(&key));
    all.extend(own_keys(&key));
    all.extend(key_ids());
    all
}

fn demands(key: &Key) -> Vec<Case> {
    [
        ("an unknown extension", r#""crit":["x"],"x":1"#, r#""x":1"#),
        ("a known claim as an extension", r#""crit":["exp"],"exp":1"#, r#""exp":1"#),
        ("no extension at all", r#""crit":[]"#, r#""Crit":[]"#),
        ("an extension that is nothing", r#""crit":null"#, r#""critical":null"#),
        ("an extension that is a text", r#""crit":"b64""#, r#""x":"b64""#),
        ("a payload that is not encoded", r#""crit":["b64"],"b64":false"#, r#""b64":true"#),
        ("the same, without crit", r#""b64":false"#, r#""b64":true"#),
        ("the same, as a text", r#""b64":"false""#, r#""b64":true"#),
        ("the same, as a number", r#""b64":0"#, r#""b64":true"#),
        ("encryption", r#""enc":"A256GCM""#, r#""encoding":"A256GCM""#),
    ]
    .into_iter()
    .map(|(what, bad, twin)| Case::new(what, &key.set(), (key.token(bad, ""), Form), key.token(twin, "")))
    .collect()
}

/// Members of a wrong type, which must not count as missing; and other types of tokens.
fn types(key: &Key) -> Vec<Case> {
    let mut all: Vec<_> = [
        ("an identity token", r#""typ":"id+jwt""#, r#""typ":"at+jwt""#),
        ("a proof of possession", r#""typ":"dpop+jwt""#, r#""typ":"application/at+jwt""#),
        ("a logout token", r#""typ":"logout+jwt""#, r#""typ":"AT+JWT""#),
        ("a grant", r#""typ":"oauth-id-jag+jwt""#, r#""typ":"JWT""#),
        ("an encrypted token by its type", r#""typ":"JOSE+JSON""#, r#""typ":"Application/JWT""#),
        ("a type with a space", r#""typ":"at+jwt ""#, r#""typ":"""#),
        ("a type that is a list", r#""typ":["id+jwt"]"#, r#""cty":"json""#),
        ("a type that is a number", r#""typ":7"#, r#""x":7"#),
        ("a type that is nothing", r#""typ":null"#, r#""x":null"#),
        ("a content type that is a list", r#""cty":["JWT"]"#, r#""x":["JWT"]"#),
        ("a key id that is a number", r#""kid":7"#, r#""kid":"7""#),
        ("a key id that is a list", r#""kid":["a"]"#, r#""kid":"a""#),
        ("a key id that is an object", r#""kid":{"a":"b"}"#, r#""kid":"{}""#),
        ("a key id that is nothing", r#""kid":null"#, r#""kid":"null""#),
    ]
    .into_iter()
    .map(|(what, bad, twin)| Case::new(what, &key.set(), (key.token(bad, ""), Form), key.token(twin, "")))
    .collect();
    let usual = crate::signing::claims("");
    for (what, header) in [
        ("no algorithm", json!({})),
        ("an algorithm that is a list", json!({ "alg": ["ES256"] })),
        ("an algorithm that is a number", json!({ "alg": 256 })),
        ("an algorithm that is nothing", json!({ "alg": null })),
    ] {
        let bad = key.sign_bytes(header.to_string().as_bytes(), usual.as_bytes());
        all.push(Case::new(what, &key.set(), (bad, Form), key.good()));
    }
    all
}

/// The key in the token or at an address in the token. Signed by the right key, such members count for nothing.
fn own_keys(key: &Key) -> Vec<Case> {
    let thief = Key::es256();
    let address = "https://thief.example/keys";
    let list: [(&str, Value); 7] = [
        ("another key", json!({})),
        ("the key within", json!({ "jwk": thief.jwk })),
        ("an address of keys", json!({ "jku": address })),
        ("an address of certificates", json!({ "x5u": address })),
        ("certificates within", json!({ "x5c": ["AAAA"] })),
        ("a fingerprint of a certificate", json!({ "x5t": "AAAA", "x5t#S256": "AAAA" })),
        ("all of them", json!({ "jwk": thief.jwk, "jku": address, "x5u": address, "x5c": ["AAAA"] })),
    ];
    list.into_iter()
        .map(|(what, header)| {
            let header = header.to_string();
            let members = &header[1..header.len() - 1];
            Case::new(what, &key.set(), (thief.token(members, ""), Signature), key.token(members, ""))
        })
        .collect()
}

/// Key ids that mean something else to a file system, a database or a shell.
fn key_ids() -> Vec<Case> {
    let mut key = Key::es256();
    key.jwk["kid"] = json!("one");
    let mut other = Key::es256().jwk;
    other["kid"] = json!("two");
    let keys = set(&[&key.jwk]);
    let long = "x".repeat(5000);
    let mut all: Vec<_> = [
        "",
        "two",
        "ONE",
        "one ",
        "one\0",
        "../../dev/null",
        "/dev/null",
        "one' OR '1'='1",
        "one;id",
        "$(id)",
        "*",
        "%6fne",
        "https://thief.example/keys",
        &long,
    ]
    .into_iter()
    .map(|kid| {
        let bad = key.token(&format!("\"kid\":{}", json!(kid)), "");
        let what = format!("the key id {}", json!(kid.get(..20).unwrap_or(kid)));
        Case::new(&what, &keys, (bad, NoKey), key.token(r#""kid":"one""#, ""))
    })
    .collect();
    // Named, another key of the set does not stand in for it.
    let both = set(&[&key.jwk, &other]);
    let bad = key.token(r#""kid":"two""#, "");
    all.push(Case::new("the id of another key of the set", &both, (bad, Signature), key.token(r#""kid":"one""#, "")));
    all
}
