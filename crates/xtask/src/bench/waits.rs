//! How long a person waits for a check of foreign servers, and of servers that are of no use: in all, and for the first
//! finding. Everything by default options.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::Verdict;
use crate::peers::{self, Target};

/// The foreign servers, by name and transport, each with the most seconds that a check of it may take.
const PEERS: [(&str, f64); 3] =
    [("server-everything-http", 4.0), ("server-everything-stdio", 8.0), ("py-sdk-stdio", 20.0)];

/// The ways in which `peers/hopeless.py` is of no use.
const HOPELESS: [&str; 6] = ["silent", "garbage", "dies", "slow", "ids", "mute"];
/// The most seconds that any check may take.
const MOST: f64 = 60.0;

/// What a person waits for.
struct Waited {
    whole: Duration,
    /// Until the first finding is printed, if any is.
    first: Option<Duration>,
}

/// Runs the benchmark with the binary `proof`.
pub(super) fn run(proof: &Path) -> Verdict {
    println!("\nseconds of a check by default, one run each:");
    println!("  {:<28}{:>8}{:>15}   target", "server", "whole", "first finding");
    if peers::installed() {
        for (name, target) in PEERS {
            let waited = peers::reached(name, |reached| match reached {
                Target::Url(url) => waited(proof, &[url.to_owned()]),
                Target::Command(command) => waited(proof, &[&["--".to_owned()][..], command].concat()),
            })?;
            row(name, &waited, target);
        }
    } else {
        println!("  foreign servers: not installed, see `cargo xtask peers --install-only`");
    }
    let script = crate::root().join("peers/hopeless.py").to_string_lossy().into_owned();
    for how in HOPELESS {
        let command = ["--", "python3", &script, how].map(str::to_owned);
        row(&format!("hopeless: {how}"), &waited(proof, &command)?, MOST);
    }
    Ok(true)
}

fn row(name: &str, waited: &Waited, target: f64) {
    let first = waited.first.map_or_else(|| "none".to_owned(), |first| format!("{:.1}", first.as_secs_f64()));
    println!("  {name:<28}{:>8.1}{first:>15}   {target:.0}", waited.whole.as_secs_f64());
}

fn waited(proof: &Path, target: &[String]) -> anyhow::Result<Waited> {
    let begun = Instant::now();
    let mut command = Command::new(proof);
    command.arg("check").args(target).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("running {}", proof.display()))?;
    let stderr = child.stderr.take().context("no pipe")?;
    let first = thread::spawn(move || {
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let first = lines.find(|line| line.starts_with("FAIL")).map(|_| begun.elapsed());
        lines.for_each(drop);
        first
    });
    child.wait()?;
    let whole = begun.elapsed();
    Ok(Waited { whole, first: first.join().ok().flatten() })
}
