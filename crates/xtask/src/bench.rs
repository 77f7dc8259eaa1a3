//! `cargo xtask bench check`: how long a whole `proof check` on the reference server takes, and how long `proof` needs to
//! start. `cargo xtask bench serve`: what a request costs `proof serve`. Prints medians; judges nothing: a benchmark is no
//! test.

mod figures;
mod serve;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::{Verdict, root};

/// How often each command runs.
const RUNS: usize = 7;
const STARTS: usize = 50;

/// Runs the benchmark that the arguments name.
pub fn run(args: &[String]) -> Verdict {
    match args {
        [what] if what == "check" => check(),
        [what, options @ ..] if what == "serve" => serve::run(options),
        _ => anyhow::bail!("usage: cargo xtask bench check | cargo xtask bench serve [--rounds N]"),
    }
}

/// Builds `proof` as it is shipped.
fn release() -> anyhow::Result<PathBuf> {
    let root = root();
    let built =
        Command::new(env!("CARGO")).args(["build", "--release", "--package", "cli"]).current_dir(&root).status()?;
    ensure!(built.success(), "proof does not build");
    Ok(root.join("target/release/proof"))
}

fn check() -> Verdict {
    let proof = release()?;
    let start = median(STARTS, || timed(&proof, &["--version"], &[0]))?;
    println!("proof --version                    {:>8.1} ms   (median of {STARTS}; wanted: under 10)", ms(start));
    let whole = median(RUNS, || timed(&proof, &["check", "--format", "json"], &[0, 1]))?;
    println!("proof check (every transport)      {:>8.0} ms   (median of {RUNS}; wanted: under 3000)", ms(whole));
    let safety = median(3, || timed(&proof, &["check", "--safety", "--format", "json"], &[0, 1]))?;
    println!("proof check --safety               {:>8.0} ms   (median of 3)", ms(safety));
    Ok(true)
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

fn timed(program: &Path, args: &[&str], codes: &[i32]) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("running {}", program.display()))?;
    ensure!(status.code().is_some_and(|code| codes.contains(&code)), "proof {} ended with {status}", args.join(" "));
    Ok(begun.elapsed())
}

fn median(runs: usize, mut once: impl FnMut() -> anyhow::Result<Duration>) -> anyhow::Result<Duration> {
    let mut spans = (0..runs).map(|_| once()).collect::<anyhow::Result<Vec<_>>>()?;
    spans.sort();
    Ok(spans[spans.len() / 2])
}
