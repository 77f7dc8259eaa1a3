//! How long a whole `proof check` on the reference server takes, how long `proof` needs to start, and what one run costs
//! compared with the official suite on the same server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::Verdict;
use crate::conformance::Suite;

/// How often each command runs.
const RUNS: usize = 7;
const STARTS: usize = 50;
const BESIDE: usize = 5;

/// What both judge, at the revision that both know best.
const REVISION: &str = "2025-11-25";

/// How many times ours the CPU of the suite is to be at least.
const SHARE: f64 = 5.0;

/// Runs the benchmark with the binary `proof`.
pub(super) fn run(proof: &Path) -> Verdict {
    let start = median(STARTS, || timed(proof, &["--version"], &[0]))?;
    println!("proof --version                    {:>8.1} ms   (median of {STARTS}; expected: under 10)", ms(start));
    let whole = median(RUNS, || timed(proof, &["check", "--format", "json"], &[0, 1]))?;
    println!("proof check (every transport)      {:>8.0} ms   (median of {RUNS}; expected: under 2000)", ms(whole));
    let safety = median(3, || timed(proof, &["check", "--safety", "--format", "json"], &[0, 1]))?;
    println!("proof check --safety               {:>8.0} ms   (median of 3)", ms(safety));
    match Suite::installed() {
        Ok(suite) => compare_with_suite(&suite, proof)?,
        Err(error) => println!("compared with the official suite: not measured – {error:#}"),
    }
    Ok(true)
}

/// The suite and `proof check` by turns on one server, the official catalogue over HTTP.
fn compare_with_suite(suite: &Suite, proof: &Path) -> anyhow::Result<()> {
    let served = suite.serve(proof)?;
    let url = served.url();
    let words = ["check", url, "--revision", REVISION, "--format", "json"];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..BESIDE {
        theirs.push(cost(|| suite.judge(&served, REVISION))?);
        ours.push(cost(|| timed(proof, &words, &[0, 1]).map(|_| ()))?);
    }
    let (ours, theirs) = (Cost::median(&ours), Cost::median(&theirs));
    println!("one server over HTTP at {REVISION}, medians of {BESIDE}, CPU of the judge alone:");
    println!("  the official suite               {:>8.0} ms CPU, {:>6.0} ms", ms(theirs.cpu), ms(theirs.wall));
    println!("  proof check                      {:>8.0} ms CPU, {:>6.0} ms", ms(ours.cpu), ms(ours.wall));
    let times = theirs.cpu.as_secs_f64() / ours.cpu.as_secs_f64().max(0.01);
    println!("  the suite's CPU over ours        {times:>8.1} ×    (expected: at least {SHARE})");
    Ok(())
}

/// What something cost.
#[derive(Clone, Copy)]
struct Cost {
    cpu: Duration,
    wall: Duration,
}

impl Cost {
    fn median(all: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> Duration| {
            let mut spans: Vec<_> = all.iter().map(of).collect();
            spans.sort();
            spans[spans.len() / 2]
        };
        Self { cpu: middle(|cost| cost.cpu), wall: middle(|cost| cost.wall) }
    }
}

/// What the children cost that `once` starts and waits for.
fn cost(once: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Cost> {
    let (before, begun) = (cpu_of_children()?, Instant::now());
    once()?;
    Ok(Cost { cpu: cpu_of_children()?.saturating_sub(before), wall: begun.elapsed() })
}

/// The CPU time of all finished children and of theirs. Only Linux gives it without foreign code.
fn cpu_of_children() -> anyhow::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("the CPU time of children (Linux only)")?;
    // The second field, a name in brackets, may hold anything; `cutime` and `cstime` are the 16th and 17th.
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after.split_whitespace().skip(13).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    // A tick is a hundredth of a second wherever this runs.
    Ok(Duration::from_millis(ticks * 10))
}

pub(super) fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

pub(super) fn timed(program: &Path, args: &[&str], codes: &[i32]) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("running {}", program.display()))?;
    ensure!(status.code().is_some_and(|code| codes.contains(&code)), "proof {} ended with {status}", args.join(" "));
    Ok(begun.elapsed())
}

pub(super) fn median(runs: usize, mut once: impl FnMut() -> anyhow::Result<Duration>) -> anyhow::Result<Duration> {
    let mut spans = (0..runs).map(|_| once()).collect::<anyhow::Result<Vec<_>>>()?;
    spans.sort();
    Ok(spans[spans.len() / 2])
}
