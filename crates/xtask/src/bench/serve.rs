//! `cargo xtask bench serve`: what a request costs `proof serve`, as a multiple of what it costs a server that does nothing
//! else. The yardstick (a load generator and that least server) lies outside the workspace; so are
//! `wrk`, `taskset` and `python3`. Builds and runs; what the figures mean is said in `figures`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::super::{Verdict, root};
use super::{figures, idle};
use crate::cargo::cargo;
use crate::peers::build_proof;

/// How often each server is measured by default. The machine may be shared: more rounds beat longer ones.
const ROUNDS: u32 = 5;

/// Runs the benchmark and prints the table.
pub(super) fn run(options: &[String]) -> Verdict {
    let rounds = rounds(options)?;
    for tool in ["wrk", "taskset", "python3"] {
        needs(tool)?;
    }
    let yard = Yard::find()?;
    let limit = yard.build("limit", "limit")?;
    let stdio = yard.build("stdio", "stdiobench")?;
    let proof = build_proof()?;
    let http = yard.http(rounds, &limit, &proof)?;
    let least = over_stdio(&stdio, &limit, &["stdio"])?;
    let ours = over_stdio(&stdio, &proof, &["serve", "--stdio"])?;
    let (stdio, served) = idle::measure(&proof)?;
    print!("\n{}\n{}", figures::table(&http, &least, &ours)?, figures::memory(stdio, served));
    Ok(true)
}

fn rounds(options: &[String]) -> anyhow::Result<u32> {
    match options {
        [] => Ok(ROUNDS),
        [name, count] if name == "--rounds" => {
            count.parse().ok().filter(|rounds| *rounds > 0).with_context(|| format!("--rounds {count}: not a count"))
        }
        _ => anyhow::bail!("usage: cargo xtask bench serve [--rounds N]"),
    }
}

fn needs(tool: &str) -> anyhow::Result<()> {
    // `wrk` has no option that ends well; that it starts is enough.
    let started = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    started
        .map(drop)
        .with_context(|| format!("`{tool}` is needed and does not start; try: install the package `{tool}`"))
}

/// Where the yardstick lies, and where what is built of it goes.
struct Yard {
    sources: PathBuf,
    target: PathBuf,
}

impl Yard {
    fn find() -> anyhow::Result<Self> {
        let root = root();
        let sources = root.join("../shared/bench");
        let known = sources.join("http_load.py").is_file() && sources.join("limit/Cargo.toml").is_file();
        ensure!(
            known,
            "the yardstick is not there: ../shared/bench, relative to the workspace, has no http_load.py and no limit/"
        );
        Ok(Self { sources, target: root.join("target/bench") })
    }

    fn build(&self, folder: &str, binary: &str) -> anyhow::Result<PathBuf> {
        let mut cargo = cargo();
        cargo.args(["build", "--release", "--manifest-path"]).arg(self.sources.join(folder).join("Cargo.toml"));
        let built = cargo.arg("--target-dir").arg(&self.target).status()?;
        ensure!(built.success(), "the yardstick's {folder} does not build");
        Ok(self.target.join("release").join(binary))
    }

    /// All servers side by side, round by round; the load generator's own table goes through to the terminal.
    fn http(&self, rounds: u32, limit: &Path, proof: &Path) -> anyhow::Result<Value> {
        let json = self.target.join("http.json");
        let serve = format!("{} serve --http 127.0.0.1:{{port}}", quoted(proof));
        let ran = Command::new("python3")
            .arg(self.sources.join("http_load.py"))
            .args(["--rounds", &rounds.to_string(), "--json"])
            .arg(&json)
            .arg(format!("{}=modern={} http {{port}}", figures::LIMIT, quoted(limit)))
            .arg(format!("{}=modern={serve}", figures::MODERN))
            .arg(format!("{}=session={serve}", figures::SESSION))
            .status()?;
        ensure!(ran.success(), "http_load.py ended with {ran}");
        let text = std::fs::read_to_string(&json).with_context(|| format!("reading {}", json.display()))?;
        serde_json::from_str(&text).context("http_load.py wrote no JSON")
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

fn over_stdio(bench: &Path, server: &Path, args: &[&str]) -> anyhow::Result<Value> {
    let ran = Command::new(bench).args(["modern", "1"]).arg(server).args(args).stderr(Stdio::inherit()).output()?;
    ensure!(ran.status.success(), "stdiobench on {} ended with {}", server.display(), ran.status);
    serde_json::from_slice(&ran.stdout).context("stdiobench wrote no JSON")
}
