//! `cargo xtask mutants`: each fault of the reference server wherever it shows, and the table of what caught it. The work
//! is the test `faults` of `judge`, which CI runs with one place for each fault.

use super::{Verdict, root, words};
use crate::cargo::cargo;

const USAGE: &str = "\
usage: cargo xtask mutants [FAULT…] [--over TRANSPORT] [--at REVISION]
Plays every fault of the reference server, or those named, wherever it shows.";

/// Plays every fault, or those named; `--over TRANSPORT` and `--at REVISION` leave these places.
pub fn run(names: &[String]) -> Verdict {
    if words::help(names, USAGE) {
        return Ok(true);
    }
    let mut cargo = cargo();
    cargo.args(["test", "--quiet", "--release", "--package", "judge", "--test", "faults", "--", "--everywhere"]);
    Ok(cargo.args(names).current_dir(root()).status()?.success())
}
