//! `cargo xtask bench check`: how long a whole `proof check` on the reference server takes, and what it costs beside the
//! official suite. `cargo xtask bench serve`: what a request costs `proof serve`. `cargo xtask bench client`: how long a
//! call by `proof client` takes. `cargo xtask bench test`: how long `proof test` takes. `cargo xtask bench factory`: what a call
//! costs through `proof serve --openapi`. `cargo xtask bench gateway`: what a call costs through the gateway; `cargo xtask bench
//! stages`: what tokens, policy and audit add to that. Prints medians; judges nothing but whether they are as expected: a
//! benchmark is no test.

mod check;
mod client;
mod factory;
mod figures;
mod gateway;
mod idle;
mod serve;
mod test;
mod waits;

use crate::Verdict;
use crate::peers::build_proof;

/// Runs the benchmark that the arguments name.
pub fn run(args: &[String]) -> Verdict {
    match args {
        [what] if what == "check" => check::run(&build_proof()?).and_then(|_| waits::run(&build_proof()?)),
        [what, proof] if what == "check" => check::run(proof.as_ref()).and_then(|_| waits::run(proof.as_ref())),
        [what, peers, proof] if what == "check" && peers == "--peers" => waits::run(proof.as_ref()),
        [what] if what == "client" => client::run(&build_proof()?),
        [what, proof] if what == "client" => client::run(proof.as_ref()),
        [what] if what == "test" => test::run(&build_proof()?),
        [what, proof] if what == "test" => test::run(proof.as_ref()),
        [what, options @ ..] if what == "serve" => serve::run(options),
        [what, options @ ..] if what == "factory" => factory::run(options),
        [what, options @ ..] if what == "gateway" => gateway::run(options),
        [what, options @ ..] if what == "stages" => gateway::stages::run(options),
        _ => anyhow::bail!(
            "usage: cargo xtask bench check [[--peers] PROOF] | serve [--rounds N] | client [PROOF] | test [PROOF] | factory [OPTIONS] | gateway|stages [OPTIONS]"
        ),
    }
}
