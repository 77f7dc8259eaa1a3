//! The gateway's file: whatever text it is, reading it ends in settings or in errors that say what to do, twice the same.
#![no_main]

use fuzz::bounded;
use gateway::config::read;
use libfuzzer_sys::fuzz_target;

/// Names no folder: a file that is referred to by a relative path is not there.
const FILE: &str = "no-such-folder/gateway.yaml";
/// More than a tree of nodes takes; the positions of each are kept.
const MOST: usize = 64 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    bounded(MOST, || match (read(text, FILE), read(text, FILE)) {
        (Ok(settings), Ok(again)) => {
            assert!(!settings.upstreams.is_empty(), "a gateway to nothing");
            let names = |all: &[gateway::settings::UpstreamSettings]| {
                all.iter().map(|upstream| upstream.name.clone()).collect::<Vec<_>>()
            };
            let found = names(&settings.upstreams);
            assert_eq!(found, names(&again.upstreams));
            for (at, name) in found.iter().enumerate() {
                assert!(!name.is_empty() && !found[..at].contains(name), "{name:?} names two upstreams");
            }
        }
        (Err(errors), Err(again)) => {
            let text = errors.to_string();
            assert!(!text.is_empty() && text.contains("gateway.yaml"), "an error without a place: {text}");
            assert_eq!(text, again.to_string());
        }
        (one, other) => panic!("read twice: {:?} and {:?}", one.is_ok(), other.is_ok()),
    });
});
