//! Locks, manifests, envelopes, signatures and lists that are digested: whatever text it is, reading ends in a value or in an
//! error; what was read is written and read back the same; nothing unsigned is verified.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use lock::jws::Signature;
use lock::manifest::Manifest;
use lock::strict::{Integers, read};
use lock::trust::{State, judge};
use lock::{Kind, Lock, Pins, Verdict, dsse};
use serde_json::Value;
use wire::json::canonical;

/// More than a tree of values takes.
const MOST: usize = 64 << 20;

/// A key that signs nothing: no input may be verified with it.
fn never(_: &Value, _: &str, _: &[u8], _: &[u8]) -> bool {
    false
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    bounded(MOST, || {
        if let Ok(value) = read(text, Integers::Digits) {
            let once = String::from_utf8(canonical(&value)).expect("UTF-8");
            let again = read(&once, Integers::Digits).expect("a canonical text is read");
            assert_eq!(canonical(&again), once.as_bytes(), "{once}");
            let keys = [serde_json::json!({ "kid": "k" })];
            assert_ne!(judge(&value, &keys, &never).state, State::Verified);
            assert_ne!(dsse::judge(&value, &keys, &never).state, State::Verified);
            let _ = Signature::read(&value);
            let _ = dsse::opened(&value);
        }
        if let Ok(lock) = Lock::read(text) {
            let written = lock.to_text();
            assert_eq!(Lock::read(&written).as_ref(), Ok(&lock), "{written}");
        }
        if let Ok(manifest) = Manifest::read(text) {
            assert_eq!(manifest.succession(&manifest.release()), None);
        }
        for kind in Kind::ALL {
            // Nothing is pinned, so nothing is approved.
            if let Ok(verdicts) = Pins::default().judge_list(kind, &[text], None) {
                assert!(verdicts.blocked().all(|(_, verdict)| verdict != Verdict::Approved));
            }
        }
    });
});
