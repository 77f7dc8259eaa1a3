//! Many checks in a row of one server over HTTP, and what its memory and its open handles come to. What it should be is a
//! plateau: after the first checks, neither may grow with their number.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::Outcome;
use super::flicker::report;
use crate::peers::ProcessGroup;

/// After so many checks everything that is made once has been made.
const WARM: usize = 20;
/// How much more memory than then is no leak: allocators do not give everything back.
const SLACK_KIB: u64 = 16 << 10;
/// How many more handles than then are no leak: connections that are still closing.
const SLACK_HANDLES: usize = 16;
const START: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
struct Sample {
    kib: u64,
    handles: usize,
}

pub(super) fn run(proof: &Path, times: usize, folder: &Path) -> anyhow::Result<Outcome> {
    ensure!(times > WARM, "a soak of {times} checks shows nothing");
    let log = folder.join("soak.log");
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let command = [&*proof.to_string_lossy(), "serve", "--http", "127.0.0.1:0"].map(str::to_owned);
    let none: [(&str, &str); 0] = [];
    // Held until the last check has ended.
    let server = ProcessGroup::start(&command, &none, &output)?;
    let url = address(&log)?;
    let mut samples = Vec::new();
    for _ in 0..times {
        let mut check = Command::new(proof);
        check.args(["check", "--revision", "all", "--format", "json", &url]);
        report(check)?;
        samples.push(sample(server.process())?);
    }
    let (first, warm, last) = (samples[0], samples[WARM - 1], samples[times - 1]);
    let peak = samples.iter().map(|one| one.kib).max().unwrap_or_default();
    let well = last.kib <= warm.kib + SLACK_KIB && last.handles <= warm.handles + SLACK_HANDLES;
    let text = |one: Sample| format!("{:.1} MiB and {} handles", mib(one.kib), one.handles);
    let figure = format!(
        "{times} checks; after 1: {}; after {WARM}: {}; at the end: {}; at most {:.1} MiB",
        text(first),
        text(warm),
        text(last),
        mib(peak)
    );
    Ok(Outcome { well, figure })
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

/// The address that the server says it listens on.
fn address(log: &Path) -> anyhow::Result<String> {
    let begun = Instant::now();
    while begun.elapsed() < START {
        let said = fs::read_to_string(log).unwrap_or_default();
        if let Some(url) = said.split_whitespace().find(|word| word.starts_with("http://")) {
            return Ok(url.to_owned());
        }
        sleep(Duration::from_millis(20));
    }
    anyhow::bail!("the server does not say where it listens; its output lies in {}", log.display())
}

fn sample(process: u32) -> anyhow::Result<Sample> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("the server's memory (Linux only)")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("the server has ended")?;
    let kib = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(Sample { kib, handles: fs::read_dir(format!("/proc/{process}/fd"))?.count() })
}
