//! `cargo xtask bench check`: how long a whole `proof check` on the reference server takes, and what it costs beside the
//! official suite. `cargo xtask bench serve`: what a request costs `proof serve`. `cargo xtask bench client`: how long a
//! call by `proof client` takes. `cargo xtask bench test`: how long `proof test` takes. Prints medians; judges nothing but
//! whether they are as wanted: a benchmark is no test.

mod check;
mod client;
mod figures;
mod serve;
mod test;

use std::path::PathBuf;
use std::process::Command;

use anyhow::ensure;

use super::{Verdict, root};

/// Runs the benchmark that the arguments name.
pub fn run(args: &[String]) -> Verdict {
    match args {
        [what] if what == "check" => check::run(&release()?),
        [what] if what == "client" => client::run(&release()?),
        [what, proof] if what == "client" => client::run(proof.as_ref()),
        [what] if what == "test" => test::run(&release()?),
        [what, proof] if what == "test" => test::run(proof.as_ref()),
        [what, options @ ..] if what == "serve" => serve::run(options),
        _ => anyhow::bail!("usage: cargo xtask bench check | serve [--rounds N] | client [PROOF] | test [PROOF]"),
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
