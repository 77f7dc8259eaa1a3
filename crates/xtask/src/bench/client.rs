//! `cargo xtask bench client`: how long an everyday `proof client call` takes, on a server that is running over HTTP and on
//! one that it starts.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::check::{median, ms, timed};
use crate::Verdict;

/// How often each is run.
const RUNS: usize = 101;
/// What a call may take, beside the start of the server where it starts one.
const WANTED: Duration = Duration::from_millis(20);

/// Runs the benchmark with the binary `proof`.
pub(super) fn run(proof: &Path) -> Verdict {
    let start = median(RUNS, || timed(proof, &["--version"], &[0]))?;
    let served = Served::start(proof)?;
    let over_http = median(RUNS, || call(proof, &["--url", &served.url]))?;
    let legacy = median(RUNS, || call(proof, &["--revision", "2025-11-25", "--url", &served.url]))?;
    let own = proof.to_string_lossy();
    let over_stdio = median(RUNS, || call(proof, &["--", &own, "serve", "--stdio"]))?;
    println!("medians of {RUNS} runs, wall clock");
    println!("proof --version                     {:>6.1} ms", ms(start));
    println!("call over HTTP, 2026-07-28          {:>6.1} ms   (wanted: under {})", ms(over_http), ms(WANTED));
    println!("call over HTTP, 2025-11-25          {:>6.1} ms   (wanted: under {})", ms(legacy), ms(WANTED));
    println!("call over stdio, start and all      {:>6.1} ms", ms(over_stdio));
    let beside = over_stdio.saturating_sub(start);
    println!("  beside one start of proof         {:>6.1} ms   (wanted: under {})", ms(beside), ms(WANTED));
    Ok(over_http < WANTED && legacy < WANTED && beside < WANTED)
}

fn call(proof: &Path, server: &[&str]) -> anyhow::Result<Duration> {
    timed(proof, &[&["client", "call", "echo", "message=hi"], server].concat(), &[0])
}

/// The reference server, for as long as this is held.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(proof: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(proof);
        command.args(["serve", "--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut served = Self { child: command.spawn().context("proof serve does not start")?, url: String::new() };
        let stderr = served.child.stderr.take().context("no pipe")?;
        let mut line = String::new();
        BufReader::new(stderr).read_line(&mut line)?;
        let url = line.split_whitespace().find(|word| word.starts_with("http://"));
        ensure!(url.is_some(), "proof serve says {line:?} and no address");
        url.unwrap_or_default().clone_into(&mut served.url);
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
