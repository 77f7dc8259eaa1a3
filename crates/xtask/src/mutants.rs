//! `cargo xtask mutants`: each fault of the reference server wherever it shows, and the table of what caught it. The work
//! is the test `faults` of `workbench`, which CI runs with one place for each fault.

use std::process::Command;

use super::{Verdict, root};

/// Plays every fault, or those named; `--over TRANSPORT` and `--at REVISION` leave these places.
pub fn run(names: &[String]) -> Verdict {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--quiet", "--release", "--package", "workbench", "--test", "faults", "--", "--everywhere"]);
    Ok(cargo.args(names).current_dir(root()).status()?.success())
}
