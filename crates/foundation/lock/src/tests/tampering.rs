//! Attempts to have another manifest taken for the signed one. Every one is refused.

use serde_json::{Value, json};

use super::signatures::{key, manifest, signed, verifies};
use crate::bytes::encode;
use crate::jws::{ALGORITHMS, sign, signing_input};
use crate::manifest::{Manifest, Refusal};
use crate::time::millis;
use crate::trust::{State, judge};
use crate::{Entry, Identity, Release, Surface};

/// A signature whose header is `header`, by whatever `make` makes of the signing input.
fn with_header(document: &Value, header: &Value, make: impl Fn(&[u8]) -> Vec<u8>) -> Value {
    let mut document = document.clone();
    let protected = encode(header.to_string().as_bytes());
    let signature = encode(&make(&signing_input(&protected, &crate::jws::payload(&document))));
    document["signatures"] = json!([{ "protected": protected, "signature": signature }]);
    document
}

#[test]
fn changed_documents_are_refused() {
    let owner = key("ES256", "owner");
    let good = signed(&manifest(), &[&owner]);
    let known = [owner.1.clone()];
    assert_eq!(judge(&good, &known, &verifies).state, State::Verified);
    let edits: [fn(&mut Value); 12] = [
        |v| v["tools"][0]["digest"] = json!(format!("sha256:{}", "0".repeat(64))),
        |v| {
            v["tools"]
                .as_array_mut()
                .unwrap()
                .push(json!({ "name": "x", "digest": format!("sha256:{}", "0".repeat(64)) }));
        },
        |v| drop(v["tools"].as_array_mut().unwrap().pop()),
        |v| v["tools"].as_array_mut().unwrap().reverse(),
        |v| v["server"]["version"] = json!("1.0.1"),
        |v| v["expires"] = json!("2099-01-01T00:00:00Z"),
        |v| v["provider"]["name"] = json!("Other Inc."),
        |v| v["permissions"] = json!(["everything"]),
        |v| drop(v.as_object_mut().unwrap().shift_remove("expires")),
        |v| v["extra"] = json!(null),
        |v| v["instructions"] = json!(format!("sha256:{}", "f".repeat(64))),
        |v| {
            let signature = v["signatures"][0]["signature"].as_str().unwrap().to_owned();
            let first = if signature.starts_with('A') { "B" } else { "A" };
            v["signatures"][0]["signature"] = json!(format!("{first}{}", &signature[1..]));
        },
    ];
    for (index, edit) in edits.iter().enumerate() {
        let mut changed = good.clone();
        edit(&mut changed);
        assert_ne!(changed, good, "edit {index}");
        assert_eq!(judge(&changed, &known, &verifies).state, State::Tampered, "edit {index}");
    }
}

#[test]
fn other_headers_are_refused() {
    let (owner, thief) = (key("ES256", "owner"), key("ES256", "owner"));
    let known = [owner.1.clone()];
    let state = |document: &Value| judge(document, &known, &verifies).state;
    let header = |alg: &str| json!({ "alg": alg, "kid": "owner", "typ": "JOSE" });
    let sign_as = |header: &Value| state(&with_header(&manifest(), header, |input| owner.0.signature(input)));
    assert_eq!(sign_as(&header("ES256")), State::Verified);
    // No signature, and a shared secret that is the public key.
    for alg in ["none", "None", "HS256", "hs512"] {
        assert_eq!(state(&with_header(&manifest(), &header(alg), |_| Vec::new())), State::Tampered, "{alg}");
        assert_eq!(sign_as(&header(alg)), State::Tampered, "{alg}");
    }
    for alg in ["RS256", "ES384", "PS256", "ES256K"] {
        assert!(!ALGORITHMS.contains(&alg));
        assert_eq!(sign_as(&header(alg)), State::Unsupported, "{alg}");
    }
    // The algorithm of another kind of key.
    assert_eq!(sign_as(&header("EdDSA")), State::Tampered);
    for missing in ["typ", "kid", "alg"] {
        let mut header = header("ES256");
        header.as_object_mut().unwrap().shift_remove(missing);
        assert_eq!(sign_as(&header), State::Tampered, "{missing}");
    }
    for (name, value) in [("crit", json!(["b64"])), ("b64", json!(false))] {
        let mut header = header("ES256");
        header[name] = value;
        assert_eq!(sign_as(&header), State::Unsupported, "{name}");
    }
    // Another key under the same name, also where it comes along in the header.
    let mut carried = header("ES256");
    carried["jwk"] = thief.1.clone();
    assert_eq!(state(&with_header(&manifest(), &carried, |input| thief.0.signature(input))), State::Tampered);
    assert_eq!(state(&signed(&manifest(), &[&owner, &thief])), State::Tampered);
    // A good signature does not stand for a second one that proves nothing.
    let mut both = signed(&manifest(), &[&owner]);
    let worthless = with_header(&manifest(), &header("none"), |_| Vec::new());
    both["signatures"].as_array_mut().unwrap().push(worthless["signatures"][0].clone());
    assert_eq!(state(&both), State::Tampered);
    let mut odd = signed(&manifest(), &[&owner]);
    odd["signatures"] = odd["signatures"][0].clone();
    assert_eq!(state(&odd), State::Tampered);
    let many = crate::jws::Signing { alg: "ES256", kid: "other", sign: &|_| vec![0; 64] };
    let mut flooded = manifest();
    (0..17).for_each(|_| sign(&mut flooded, &many));
    assert_eq!(state(&flooded), State::Tampered);
}

#[test]
fn a_manifest_of_another_time_is_refused() {
    let manifest = Manifest::of(manifest()).expect("a manifest");
    let at = |time: &str| manifest.validity(millis(time).expect(time));
    assert_eq!(at("2026-11-26T12:00:00Z"), None);
    assert_eq!(at("2026-11-26T11:56:00Z"), None);
    assert!(matches!(at("2026-11-26T11:54:00Z"), Some(Refusal::Early(_))));
    assert!(matches!(at("2027-11-26T12:00:00Z"), Some(Refusal::Expired(_))));
    let newest = manifest.release();
    assert_eq!(manifest.succession(&newest), None);
    let after = |version: &str, issued_at: &str| {
        let release = Release { version: version.to_owned(), issued_at: issued_at.to_owned(), ..newest.clone() };
        manifest.succession(&release)
    };
    assert!(matches!(after("1.0.0", "2026-11-26T12:00:01Z"), Some(Refusal::Rollback(_))));
    assert!(matches!(after("1.0.1", "2026-11-26T12:00:00Z"), Some(Refusal::Rollback(_))));
    assert_eq!(after("0.9.0", "2026-01-01T00:00:00Z"), None);
    let mut other = manifest.document.clone();
    other["tools"][0]["digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    let other = Manifest::of(other).expect("a manifest");
    assert_eq!(other.succession(&newest), Some(Refusal::ImmutableVersion("1.0.0".to_owned())));
}

#[test]
fn a_server_that_says_something_else_is_refused() {
    let manifest = Manifest::of(manifest()).expect("a manifest");
    let surface = json!({
        "server": { "name": "shop", "version": "1.0.0" },
        "instructions": "Be kind.",
        "tools": [{ "name": "buy", "description": "Buys." }, { "name": "look" }]
    });
    let differences = |edit: &dyn Fn(&mut Value)| {
        let mut surface = surface.clone();
        edit(&mut surface);
        let entry = Entry::new(Identity::default(), None, &Surface::from_snapshot(&surface)).expect("an entry");
        manifest.differences(&entry).len()
    };
    assert_eq!(differences(&|_| ()), 0);
    assert_eq!(differences(&|v| v["tools"][0]["description"] = json!("Buys it.")), 1);
    assert_eq!(differences(&|v| v["tools"][1]["name"] = json!("see")), 2);
    assert_eq!(differences(&|v| v["instructions"] = json!("Be bad.")), 1);
    assert_eq!(differences(&|v| v["server"]["version"] = json!("2")), 1);
    assert_eq!(differences(&|v| v["server"]["name"] = json!("store")), 1);
    assert_eq!(differences(&|v| v["prompts"] = json!([{ "name": "p" }])), 1);
}

#[test]
fn what_is_no_manifest_is_refused() {
    let text = manifest().to_string();
    assert!(Manifest::read(&text).is_ok());
    for (old, new) in [
        ("mcp.manifest/1", "mcp.manifest/2"),
        ("\"issuedAt\"", "\"issued\""),
        ("2026-11-26T12:00:00Z", "yesterday"),
        ("\"version\"", "\"name\""),
        ("sha256:", "md5:"),
        ("{\"schema\"", "{\"schema\":1,\"schema\""),
        ("\"look\"", "\"buy\""),
    ] {
        let edited = text.replacen(old, new, 1);
        assert!(edited != text && Manifest::read(&edited).is_err(), "{old}");
    }
}
