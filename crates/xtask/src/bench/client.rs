//! `cargo xtask bench client`: how long an everyday `proof client call` takes, on a server that is running over HTTP and on
//! one that it starts.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::check::{median, ms, timed};
use crate::Verdict;
use crate::served::Served;

/// How often each is run.
const RUNS: usize = 101;
/// What a call may take, extra the start of the server where it starts one.
const WANTED: Duration = Duration::from_millis(20);

/// Runs the benchmark with the binary `proof`.
pub(super) fn run(proof: &Path) -> Verdict {
    let start = median(RUNS, || timed(proof, &["--version"], &[0]))?;
    let mut serve = Command::new(proof);
    serve.args(["serve", "--http", "127.0.0.1:0"]);
    let served = Served::start(serve)?;
    let over_http = median(RUNS, || call(proof, &["--url", served.url()]))?;
    let legacy = median(RUNS, || call(proof, &["--revision", "2025-11-25", "--url", served.url()]))?;
    let own = proof.to_string_lossy();
    let over_stdio = median(RUNS, || call(proof, &["--", &own, "serve", "--stdio"]))?;
    println!("medians of {RUNS} runs, wall clock");
    println!("proof --version                     {:>6.1} ms", ms(start));
    println!("call over HTTP, 2026-07-28          {:>6.1} ms   (expected: under {})", ms(over_http), ms(WANTED));
    println!("call over HTTP, 2025-11-25          {:>6.1} ms   (expected: under {})", ms(legacy), ms(WANTED));
    println!("call over stdio, start and all      {:>6.1} ms", ms(over_stdio));
    let extra = over_stdio.saturating_sub(start);
    println!("  plus one start of proof           {:>6.1} ms   (expected: under {})", ms(extra), ms(WANTED));
    Ok(over_http < WANTED && legacy < WANTED && extra < WANTED)
}

fn call(proof: &Path, server: &[&str]) -> anyhow::Result<Duration> {
    timed(proof, &[&["client", "call", "echo", "message=hi"], server].concat(), &[0])
}
