//! `lock`: what is read, and what is refused.

use std::path::PathBuf;

use super::{FULL, mentions, settings, upstream};
use crate::settings::{LockSettings, ManifestSettings, Unlocked};

fn file(lock: &str) -> String {
    format!("{}lock:{lock}\n", upstream("command: [x]"))
}

#[test]
fn what_is_held_against_a_lock_is_read() {
    let manifest = ManifestSettings {
        file: PathBuf::from("etc/docs/manifest.json"),
        keys: Some(PathBuf::from("etc/docs/keys.json")),
    };
    let expected = LockSettings {
        file: PathBuf::from("etc/mcp.lock"),
        servers: [("files".to_owned(), "filesystem".to_owned())].into(),
        unlocked: Unlocked::Pass,
        each_call: false,
        manifests: [("docs".to_owned(), manifest)].into(),
    };
    assert_eq!(settings(FULL).lock, Some(expected));
    assert_eq!(settings(&upstream("command: [x]")).lock, None);
    // What is not said is strict.
    let least = settings(&file(" { file: /locks/mcp.lock }")).lock.expect("a lock");
    assert_eq!(least, LockSettings::new(PathBuf::from("/locks/mcp.lock")));
    assert_eq!((least.unlocked, least.each_call), (Unlocked::Withhold, true));
    let pinned = settings(&file(" { file: l, manifests: { a: { file: m } } }")).lock.expect("a lock");
    assert_eq!(pinned.manifests["a"], ManifestSettings { file: PathBuf::from("etc/m"), keys: None });
}

#[test]
fn what_is_held_against_a_lock_is_checked() {
    mentions(&file(""), &["`lock` has no value"]);
    mentions(&file(" {}"), &["`lock` has no `file`", "add file: mcp.lock"]);
    mentions(&file(" { file: l, unlocked: ignore }"), &["`ignore` is not a value of `unlocked`"]);
    mentions(&file(" { file: l, each_call: 1 }"), &["`each_call` is a number, not true or false"]);
    mentions(&file(" { file: l, servers: { b: x } }"), &["`servers` names no upstream: `b`", "a"]);
    mentions(&file(" { file: l, servers: [a] }"), &["`servers` is a list, not a mapping"]);
    mentions(&file(" { file: l, manifests: { b: { file: m } } }"), &["`manifests` names no upstream: `b`"]);
    mentions(&file(" { file: l, manifests: { a: {} } }"), &["`a` has no `file`", "manifest.json"]);
    mentions(&file(" { file: l, manifests: { a: { file: m, key: k } } }"), &["the key `key` is unknown here", "keys"]);
}
