//! Only one manifest is admitted: verified, valid now, of this server, and not older than the one before. All else is refused.

use serde_json::{Value, json};

use super::signatures::{key, manifest, signed, verifies};
use crate::admission::{Inadmissible, admit};
use crate::jws::Signing;
use crate::manifest::{Manifest, Refusal};
use crate::strict::Integers;
use crate::time::millis;
use crate::trust::State;
use crate::{Entry, Identity, Kind, Lock, Pins, Surface, Verdict, dsse, strict};

/// What the server of [`manifest`] says.
fn surface() -> Surface {
    Surface::from_snapshot(&json!({
        "server": { "name": "shop", "version": "1.0.0" },
        "instructions": "Be kind.",
        "tools": [{ "name": "buy", "description": "Buys." }, { "name": "look" }]
    }))
}

fn entry() -> Entry {
    Entry::new(Identity::default(), None, &surface()).expect("an entry")
}

fn at(time: &str) -> u64 {
    millis(time).expect("a time")
}

fn now() -> u64 {
    at("2026-12-01T00:00:00Z")
}

#[test]
fn only_a_verified_manifest_is_admitted() {
    let (owner, stranger) = (key("ES256", "owner"), key("EdDSA", "stranger"));
    let known = [owner.1.clone()];
    let good = signed(&manifest(), &[&owner]);
    let admitted = admit(&good.to_string(), &entry(), &known, now(), &verifies).expect("admitted");
    assert_eq!((admitted.name.as_str(), admitted.items.len()), ("shop", 2));

    let state = |document: &Value| match admit(&document.to_string(), &entry(), &known, now(), &verifies) {
        Err(Inadmissible::Untrusted(judgement)) => judgement.state,
        other => panic!("{other:?}"),
    };
    let edited = |edit: fn(&mut Value)| {
        let mut document = good.clone();
        edit(&mut document);
        document
    };
    assert_eq!(state(&manifest()), State::Unsigned);
    assert_eq!(state(&signed(&manifest(), &[&stranger])), State::UnknownKey);
    assert_eq!(state(&edited(|v| v["expires"] = json!("2099-01-01T00:00:00Z"))), State::Tampered);
    assert_eq!(state(&edited(|v| v["signatures"] = json!({}))), State::Tampered);
    let header = crate::bytes::encode(json!({ "alg": "RS256", "kid": "owner", "typ": "JOSE" }).to_string().as_bytes());
    let mut unsupported = good.clone();
    unsupported["signatures"][0]["protected"] = json!(header);
    assert_eq!(state(&unsupported), State::Unsupported);
    // No key is known: no signature counts.
    let without_keys = admit(&good.to_string(), &entry(), &[], now(), &verifies);
    assert!(matches!(without_keys, Err(Inadmissible::Untrusted(judgement)) if judgement.state == State::UnknownKey));
}

#[test]
fn a_text_that_is_not_one_manifest_is_refused() {
    let owner = key("ES256", "owner");
    let good = signed(&manifest(), &[&owner]).to_string();
    let twice = good.replacen('{', r#"{"schema":"mcp.manifest/1","#, 1);
    for text in ["", "{}", "[]", "null", &good[1..], &twice] {
        let refused = admit(text, &entry(), std::slice::from_ref(&owner.1), now(), &verifies);
        assert!(matches!(refused, Err(Inadmissible::Unreadable(_))), "{text}: {refused:?}");
    }
}

#[test]
fn a_verified_manifest_is_refused_for_its_time_its_server_and_its_past() {
    let owner = key("EdDSA", "owner");
    let known = [owner.1.clone()];
    let text = signed(&manifest(), &[&owner]).to_string();
    let refusal = |entry: &Entry, time: u64| match admit(&text, entry, &known, time, &verifies) {
        Err(Inadmissible::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refusal(&entry(), at("2027-11-26T12:00:00Z")), Refusal::Expired(_)));
    assert!(matches!(refusal(&entry(), at("2026-11-26T11:00:00Z")), Refusal::Early(_)));
    // The same publisher signed it for another server.
    for name in [json!({ "name": "bank", "version": "1.0.0" }), json!(null)] {
        let other = Entry { server: Some(name), ..entry() };
        assert!(matches!(refusal(&other, now()), Refusal::Differs(_)));
    }
    // The lock is of a copy at another address.
    let mut elsewhere = manifest();
    elsewhere["server"]["url"] = json!("https://shop.example/mcp");
    let elsewhere = signed(&elsewhere, &[&owner]).to_string();
    for (url, is_admitted) in [("https://shop.example/v2", true), ("https://evil.example/mcp", false)] {
        let identity = Identity { url: Some(url.to_owned()), ..Identity::default() };
        let admitted = admit(&elsewhere, &Entry { identity, ..entry() }, &known, now(), &verifies);
        assert_eq!(admitted.is_ok(), is_admitted, "{url}: {admitted:?}");
    }
    let mut release = Manifest::of(manifest()).expect("a manifest").release();
    let after = |release: &crate::Release| Entry { release: Some(release.clone()), ..entry() };
    assert!(admit(&text, &after(&release), &known, now(), &verifies).is_ok(), "the same one again");
    release.digest = entry().digest("tool buy").expect("a digest");
    assert!(matches!(refusal(&after(&release), now()), Refusal::ImmutableVersion(_)));
    release.version = "1.1.0".to_owned();
    assert!(matches!(refusal(&after(&release), now()), Refusal::Rollback(_)));
    release.version = "0.9.0".to_owned();
    assert!(admit(&text, &after(&release), &known, now(), &verifies).is_ok(), "a newer one");
    release.issued_at = "2026-11-27T12:00:00Z".to_owned();
    assert!(matches!(refusal(&after(&release), now()), Refusal::Rollback(_)));
}

#[test]
fn pinned_keys_narrow_those_that_are_given() {
    let (owner, other) = (key("ES256", "owner"), key("ES256", "other"));
    let known = [owner.1.clone(), other.1.clone()];
    let text = signed(&manifest(), &[&owner]).to_string();
    let pinned = |keys: &[&Value]| Entry { keys: keys.iter().map(|key| (*key).clone()).collect(), ..entry() };
    assert!(admit(&text, &pinned(&[&owner.1]), &known, now(), &verifies).is_ok());
    // Another key of the same name is not the pinned one.
    let namesake = key("ES256", "owner");
    for keys in [[&other.1], [&namesake.1]] {
        let refused = admit(&text, &pinned(&keys), &known, now(), &verifies);
        assert!(matches!(refused, Err(Inadmissible::Untrusted(_))), "{refused:?}");
    }
}

#[test]
fn an_envelope_is_admitted_alike() {
    let owner = key("EdDSA", "owner");
    let sign = |message: &[u8]| owner.0.signature(message);
    let keys = [Signing { alg: "EdDSA", kid: "owner", sign: &sign }];
    let manifest = Manifest::of(manifest()).expect("a manifest");
    let envelope = dsse::envelope(&manifest, &keys);
    let known = [owner.1.clone()];
    assert_eq!(admit(&envelope.to_string(), &entry(), &known, now(), &verifies), Ok(manifest));
    let mut unsigned = envelope.clone();
    unsigned["signatures"] = json!([]);
    let refused = admit(&unsigned.to_string(), &entry(), &known, now(), &verifies);
    assert!(matches!(refused, Err(Inadmissible::Untrusted(_))), "{refused:?}");
    let late = admit(&envelope.to_string(), &entry(), &known, at("2028-01-01T00:00:00Z"), &verifies);
    assert!(matches!(late, Err(Inadmissible::Refused(Refusal::Expired(_)))), "{late:?}");
}

fn pins(surface: &Surface) -> Pins {
    let entry = Entry::new(Identity::default(), None, surface).expect("an entry");
    Lock { servers: [("s".to_owned(), entry)].into() }.pins("s").expect("the server")
}

#[test]
fn what_is_locked_and_not_signed_is_not_approved() {
    let manifest = Manifest::of(manifest()).expect("a manifest");
    let mut locked = surface();
    locked.instructions = Some(json!("Be bad."));
    let tools = r#"{"tools":[{"name":"look","description":"approved later"},{"name":"new"}]}"#;
    let tools = strict::read(tools, Integers::Digits).expect("JSON");
    let tools = tools["tools"].as_array().cloned().expect("a list");
    let mut entry = Entry::new(Identity::default(), None, &surface()).expect("an entry");
    for tool in &tools {
        let name = tool["name"].as_str().expect("a name").to_owned();
        entry.items.insert((Kind::Tool, name), crate::Item::new(Kind::Tool, tool.clone()));
    }
    let both = Lock { servers: [("s".to_owned(), entry)].into() }.pins("s").expect("the server").signed_by(&manifest);
    let buy = json!({ "name": "buy", "description": "Buys." });
    assert_eq!(both.judge(Kind::Tool, buy.clone()), Verdict::Approved);
    // Neither what the lock has beyond the manifest, nor what the manifest has beyond the lock.
    for tool in tools.into_iter().chain([json!({ "name": "look" })]) {
        assert!(matches!(both.judge(Kind::Tool, tool.clone()), Verdict::Unapproved { .. }), "{tool}");
    }
    let changed = json!({ "name": "buy", "description": "Buys all." });
    assert!(matches!(both.judge(Kind::Tool, changed), Verdict::Changed { .. }));
    // A prompt is not the tool of its name.
    assert!(matches!(both.judge(Kind::Prompt, buy), Verdict::Unapproved { .. }));

    let kind = pins(&surface()).signed_by(&manifest);
    assert_eq!(kind.judge_instructions(Some(&json!("Be kind."))), Verdict::Approved);
    let bad = pins(&locked).signed_by(&manifest);
    for text in ["Be bad.", "Be kind."] {
        assert_ne!(bad.judge_instructions(Some(&json!(text))), Verdict::Approved, "{text}");
    }
}
