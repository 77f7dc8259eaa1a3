//! How long an everyday call takes. The bounds are loose: tests run on busy machines and without optimisation; the figures
//! that are promised come from `cargo xtask bench client`.

use std::time::Duration;

use crate::harness::{Serving, client};

/// The least of several runs: what it takes where nothing else is in the way.
fn least(arguments: &[&str]) -> Duration {
    (0..8).map(|_| client(arguments).prints("hi\n").took).min().expect("there were some")
}

#[test]
fn a_call_has_no_needless_wait() {
    let serving = Serving::start();
    let over_http = least(&["call", "echo", "message=hi", "--url", &serving.mcp()]);
    assert!(over_http < Duration::from_millis(150), "{over_http:?}");
    let over_stdio = least(&["call", "echo", "message=hi", "--", env!("CARGO_BIN_EXE_proof"), "serve", "--stdio"]);
    assert!(over_stdio < Duration::from_millis(250), "{over_stdio:?}");
}
