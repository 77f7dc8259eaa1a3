//! Locks written and read back, and files that are refused.

use schema::Validator;
use serde_json::{Value, json};

use crate::{Approval, BadLock, Digest, Entry, Identity, Launch, Lock, Release, Surface};

fn lock() -> Lock {
    let surface = Surface::from_snapshot(&json!({
        "revision": "2026-07-28",
        "server": { "version": "1", "name": "shop" },
        "capabilities": {},
        "instructions": "Be\nkind. \u{202e}",
        "tools": [{ "name": "b", "inputSchema": { "maximum": u64::MAX, "minimum": 1e30 }, "_meta": {} }, { "name": "a" }],
        "resources": [{ "uri": "file:///a", "name": "a" }]
    }));
    let launch = Launch { command: vec!["npx".to_owned(), "shop".to_owned()], env: vec!["TOKEN".to_owned()] };
    let package = Some("pkg:npm/shop@1.0.0".to_owned());
    let mut entry = Entry::new(Identity { package, ..Identity::default() }, Some(launch), &surface).expect("an entry");
    let digest = Digest::of("tool", &json!(1));
    let (by, at, reason) = ("Ada".to_owned(), "2026-11-26T00:00:00Z".to_owned(), "read".to_owned());
    entry.approvals.push(Approval { item: "tool a".to_owned(), digest: Some(digest), by, at, reason });
    entry.keys.push(json!({ "kty": "OKP", "kid": "k" }));
    entry.release = Some(Release { version: "1".to_owned(), issued_at: "2026-11-26T00:00:00Z".to_owned(), digest });
    let other = Entry::new(Identity::default(), None, &Surface::from_snapshot(&json!({ "tools": [] }))).expect("one");
    Lock { servers: [("shop".to_owned(), entry), ("empty".to_owned(), other)].into() }
}

#[test]
fn a_lock_is_read_back_and_written_the_same() {
    let text = lock().to_text();
    let read = Lock::read(&text).expect(&text);
    assert_eq!(read, lock());
    assert_eq!(read.to_text(), text);
    // What a terminal or an editor would hide is visible in a review.
    assert!(text.contains("\\u202e") && !text.contains('\u{202e}'), "{text}");
    assert!(text.find("\"empty\"") < text.find("\"shop\"") && text.find("\"a\"") < text.find("\"b\""), "{text}");
}

/// What is pinned or approved must not vanish because its form is another.
#[test]
fn members_of_another_form_are_refused() {
    let written: Value = serde_json::from_str(&lock().to_text()).expect("JSON");
    for member in ["identity", "launch", "instructions", "tools", "approvals", "keys", "release"] {
        let mut other = written.clone();
        other["servers"]["shop"][member] = json!(1);
        assert!(matches!(Lock::read(&other.to_string()), Err(BadLock::Member(..))), "{member}");
    }
}

/// The schema in docs/ describes what is written, and refuses what is not read.
#[test]
fn a_lock_is_valid_by_its_schema() {
    let text = include_str!("../../../../../docs/mcp-lock.schema.json");
    let validator = Validator::new(&serde_json::from_str(text).expect("JSON")).expect("a schema");
    let written: Value = serde_json::from_str(&lock().to_text()).expect("JSON");
    assert_eq!(validator.mismatches(&written, 9).len(), 0, "{:?}", validator.mismatches(&written, 9));
    for pointer in
        ["/servers/shop/tools/0/digest", "/servers/shop/approvals/0/by", "/servers/shop/launch/env", "/schema"]
    {
        let mut other = written.clone();
        *other.pointer_mut(pointer).expect(pointer) = json!(1);
        assert!(!validator.is_valid(&other), "{pointer}");
    }
}

#[test]
fn an_edited_lock_is_refused() {
    let text = lock().to_text();
    for (old, new) in
        [("\"minimum\": 1e+30", "\"minimum\": 1"), ("Be\\nkind.", "Be\\nbad."), ("\"name\": \"b\"", "\"name\": \"c\"")]
    {
        let edited = text.replacen(old, new, 1);
        assert_ne!(edited, text, "{old}");
        assert!(matches!(Lock::read(&edited), Err(BadLock::Edited(_))), "{old}");
    }
    for (old, new) in [
        ("mcp.lock/1", "mcp.lock/2"),
        ("\"approvals\"", "\"aprovals\""),
        ("\"command\"", "\"comand\""),
        ("sha256:", "sha512:"),
        ("\"servers\"", "\"schema\""),
        ("\"by\"", "\"who\""),
    ] {
        let edited = text.replacen(old, new, 1);
        assert!(Lock::read(&edited).is_err() && edited != text, "{old}");
    }
    for text in
        ["", "{}", "[]", "null", "{\"schema\":\"mcp.lock/1\"}", "{\"schema\":\"mcp.lock/1\",\"servers\":{\"a\":1}}"]
    {
        assert!(Lock::read(text).is_err(), "{text}");
    }
}
