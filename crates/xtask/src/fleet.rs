//! `cargo xtask fleet-factory`: the fleet of examples/factory. `fleet-scale` and `fleet-kill`: the store of a fleet with simulated jobs. The work is done by `fleet-simulation`, a
//! program of the crate, so that this one needs no database.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::cargo::cargo;
use crate::{Verdict, root};

/// 1,000 servers of seven gates with four workers: the cost of a server and the memory of the coordinator must stay the same.
pub(crate) fn scale(args: &[String]) -> Verdict {
    let simulation = build("fleet-scale", args)?;
    let folder = Folder::new("scale")?;
    run(&simulation, "scale", &[format!("folder={}", folder.0.display()), "servers=1000".to_owned()])
}

/// Workers, coordinators, commands and Postgres, killed ten times each: nothing may be lost, nothing be recorded twice.
pub(crate) fn kill(args: &[String]) -> Verdict {
    let simulation = build("fleet-kill", args)?;
    let folder = Folder::new("kill")?;
    let place = |name: &str, in_folder: &str| format!("{name}={}", folder.0.join(in_folder).display());
    println!("SQLite");
    let arguments = [place("store", "fleet.db"), place("artefacts", "of-sqlite"), "times=10".to_owned()];
    let is_kept = run(&simulation, "kill", &arguments)?;
    println!("Postgres");
    let arguments = [place("postgres", "postgres"), place("artefacts", "of-postgres"), "times=10".to_owned()];
    Ok(run(&simulation, "kill", &arguments)? && is_kept)
}

/// Runs the 37 servers of examples/factory, runs them again, breaks one, and looks at what `next` says.
pub(crate) fn factory(args: &[String]) -> Verdict {
    if let Some(arg) = args.first() {
        bail!("fleet-factory takes no arguments, but was given {arg:?}");
    }
    built(&["build", "--quiet", "--package", "cli", "--package", "fleet"])?;
    let place = Folder::new("factory")?;
    let copied = Command::new("cp").arg("-R").arg(root().join("examples/factory/.")).arg(&place.0).status();
    ensure!(copied.context("cannot start cp")?.success(), "the examples cannot be copied");
    let _ = std::fs::remove_dir_all(place.0.join(".proof"));
    let begun = Instant::now();
    let first = fleet(&place, &["run"])?;
    let summary = &first["summary"];
    println!("{summary}, {:.1} minutes", begun.elapsed().as_secs_f64() / 60.0);
    let count = |of: &Value, name: &str| of[name].as_u64().unwrap_or(0);
    for name in ["servers", "as_wanted", "perfect"] {
        ensure!(count(summary, name) == SERVERS, "{name}: {}, and {SERVERS} are expected", summary[name]);
    }
    ensure!(count(summary, "test_files") >= 60 && count(summary, "cases") >= 702, "too few tests: {summary}");
    let begun = Instant::now();
    let second = fleet(&place, &["run"])?;
    println!("again: {}, {:.1} minutes", second["run"], begun.elapsed().as_secs_f64() / 60.0);
    ensure!(count(&second["run"], "computed") == 0, "the second run computes what did not change");
    let file = place.0.join("fleet.yaml");
    let text = std::fs::read_to_string(&file)?;
    let broken = text.replace("--stdio, --openapi, reonomy/", "--stdio, --fault, wrong-id, --openapi, reonomy/");
    ensure!(broken != text, "the entry of reonomy has another form");
    std::fs::write(&file, broken)?;
    let third = fleet(&place, &["run"])?;
    ensure!(count(&third["summary"], "as_wanted") == SERVERS - 1, "the broken server is not found");
    let next = fleet(&place, &["next"])?.to_string();
    ensure!(next.contains("reonomy"), "`next` does not name the broken server: {next}");
    Ok(true)
}

/// How many servers there are.
const SERVERS: u64 = 37;

/// What `proof-fleet` prints as JSON.
fn fleet(place: &Folder, verb: &[&str]) -> anyhow::Result<Value> {
    let program = target().join("debug/proof-fleet");
    let mut command = Command::new(program);
    command.args(verb).args(["--format", "json"]).current_dir(&place.0).stderr(std::process::Stdio::inherit());
    let output = command.output().context("cannot start proof-fleet")?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("proof fleet {verb:?} ended with {}", output.status))
}

fn build(task: &str, args: &[String]) -> anyhow::Result<PathBuf> {
    if let Some(arg) = args.first() {
        bail!("{task} takes no arguments, but was given {arg:?}");
    }
    built(&["build", "--quiet", "--package", "fleet-store", "--bin", "fleet-simulation"])?;
    Ok(target().join("debug/fleet-simulation"))
}

fn built(words: &[&str]) -> anyhow::Result<()> {
    let built = cargo().args(words).current_dir(root()).status().context("cannot start cargo")?;
    ensure!(built.success(), "cargo {} failed", words.join(" "));
    Ok(())
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn run(simulation: &PathBuf, role: &str, arguments: &[String]) -> Verdict {
    let status = Command::new(simulation).arg(role).args(arguments).status();
    Ok(status.context("cannot start fleet-simulation")?.success())
}

/// A folder that another user may pass through, since Postgres refuses to run as root. It is deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("proofhouse-fleet-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
