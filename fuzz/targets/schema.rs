//! A tool's `inputSchema`: whatever JSON it is, making arguments of it ends, takes little memory, and gives the same for the
//! same seed.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use suite::generate::{Depth, arguments};

/// More than the largest regular expression that a schema may bring takes.
const MOST: usize = 128 << 20;

fuzz_target!(|input: &[u8]| {
    let Some(([how], text)) = input.split_first_chunk() else { return };
    let Ok(schema) = serde_json::from_slice::<Value>(text) else { return };
    let depth = [Depth::Basic, Depth::Standard, Depth::Full][usize::from(how % 3)];
    let seed = u64::from(how / 3);
    bounded(MOST, || {
        let made = arguments(&schema, depth, seed);
        if depth == Depth::Basic {
            assert_eq!(arguments(&schema, depth, seed), made, "the same seed gives the same");
        }
    });
});
