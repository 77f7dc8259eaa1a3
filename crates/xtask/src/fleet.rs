//! `cargo xtask fleet-scale` and `fleet-kill`: the store of a fleet with simulated jobs. The work is done by `fleet-simulation`, a
//! program of the crate, so that this one needs no database.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

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

fn build(task: &str, args: &[String]) -> anyhow::Result<PathBuf> {
    if let Some(arg) = args.first() {
        bail!("{task} takes no arguments, but was given {arg:?}");
    }
    let words = ["build", "--quiet", "--package", "fleet-store", "--bin", "fleet-simulation"];
    let built = cargo().args(words).current_dir(root()).status().context("cannot start cargo")?;
    ensure!(built.success(), "fleet-simulation does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("debug/fleet-simulation"))
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
