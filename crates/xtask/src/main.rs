//! Developer tasks, run as `cargo xtask TASK`. This file finds the task and turns its answer into an exit code; what a
//! task does lies in its own module.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks on its terminal")]

mod atba;
mod attack;
mod bench;
mod bfcl;
mod cargo;
mod clients_peers;
mod conformance;
mod console_page;
mod corpus;
mod coverage;
mod dist;
mod docs;
mod factory;
mod fixtures;
mod fleet;
mod fuzz;
mod gateway_as_client;
mod gateway_authzen;
mod gateway_bridge;
mod gateway_clients;
mod gateway_faults;
mod gateway_matrix;
mod gateway_peers;
mod gorilla;
mod jwt;
mod mutants;
mod nightly;
mod openapi;
mod page;
mod peers;
mod pipe;
mod scan_intrusive;
mod scan_quality;
mod served;
mod signing;
mod soak;
mod strict;
mod tidy;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a task says when it has run: whether all is well. An error means that it could not run at all.
type Verdict = anyhow::Result<bool>;

struct Task {
    name: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Verdict,
}

const TASKS: &[Task] = &[
    Task {
        name: "atba",
        help: "simulated chains of calls: a fixed limit, equal shares, the gateway's budgets",
        run: atba::run,
    },
    Task {
        name: "attack",
        help: "hostile peers against the real binary: tried and held by category; --quick for CI",
        run: attack::run,
    },
    Task {
        name: "authzen",
        help: "the gateway and a real policy decision point: what it says by AuthZEN is what it decides",
        run: gateway_authzen::run,
    },
    Task {
        name: "bench",
        help: "bench check, client, test: how long each takes; bench serve, gateway: what a request costs",
        run: bench::run,
    },
    Task {
        name: "bfcl",
        help: "`proof eval` and bfcl-eval's own checker: the same verdicts on its questions and mutated answers",
        run: bfcl::run,
    },
    Task {
        name: "bridge",
        help: "clients get tokens of the gateway, whose users sign in at a real provider that registers none",
        run: gateway_bridge::run,
    },
    Task {
        name: "clients-peers",
        help: "real clients read what `proof add` writes, and list the servers",
        run: clients_peers::run,
    },
    Task {
        name: "conformance",
        help: "run the official suite and `proof check` on our own server with the official catalogue",
        run: conformance::run,
    },
    Task {
        name: "corpus",
        help: "make test files from real servers, play them, write docs/corpus.md",
        run: corpus::run,
    },
    Task {
        name: "coverage",
        help: "how the rules account for every sentence of the specification",
        run: coverage::run,
    },
    Task {
        name: "dist",
        help: "packages for npm, PyPI and archives; --try installs each in a clean folder and uses it",
        run: dist::run,
    },
    Task { name: "docs", help: "write what is made in docs/; --check only compares", run: docs::run },
    Task {
        name: "factory",
        help: "the REST APIs of examples/factory: served, checked, tested, compared with their locks",
        run: factory::run,
    },
    Task {
        name: "fixtures",
        help: "make fixtures of client rules from scenarios; --check only judges",
        run: fixtures::run,
    },
    Task {
        name: "fleet-kill",
        help: "the parts of a simulated fleet killed at named points, on SQLite and Postgres",
        run: fleet::kill,
    },
    Task {
        name: "fleet-factory",
        help: "examples/factory/fleet.yaml: all at their stage, nothing computed twice, a broken one found",
        run: fleet::factory,
    },
    Task { name: "fleet-scale", help: "1,000 simulated servers: cost of each, memory", run: fleet::scale },
    Task { name: "fuzz", help: "feed everything that reads a peer's bytes, guided by coverage", run: fuzz::run },
    Task {
        name: "gateway-as-client",
        help: "`proof check-client` on the gateway, which is a client of the servers behind it",
        run: gateway_as_client::run,
    },
    Task {
        name: "gateway-clients",
        help: "real clients of both eras, directly and through the gateway: they see the same",
        run: gateway_clients::run,
    },
    Task {
        name: "gateway-faults",
        help: "every fault of the reference server behind the gateway: seen, or repaired for a known reason",
        run: gateway_faults::run,
    },
    Task {
        name: "gateway-matrix",
        help: "`proof check` at every revision through the gateway, at servers of every revision",
        run: gateway_matrix::run,
    },
    Task {
        name: "gateway-peers",
        help: "generated calls of real servers, directly and through the gateway: equal byte for byte",
        run: gateway_peers::run,
    },
    Task {
        name: "gorilla",
        help: "`proof eval` and APIBench's own scripts: the same outcomes on the responses that its repository stores",
        run: gorilla::run,
    },
    Task {
        name: "mutants",
        help: "play every fault of the reference server wherever it shows: which rule catches it",
        run: mutants::run,
    },
    Task { name: "nightly", help: "what takes longer than CI: long tests, repetition, a soak", run: nightly::run },
    Task {
        name: "openapi",
        help: "openapi DIR: every description in it as tools: counts, reasons, seconds, sizes",
        run: openapi::run,
    },
    Task {
        name: "page",
        help: "the pages of `proof inspect` and `proof fleet ui`: pure modules, types, Chromium with pictures of every view and axe",
        run: console_page::run,
    },
    Task {
        name: "peers",
        help: "install foreign MCP servers, run `proof check` on each, compare with what is known",
        run: peers::run,
    },
    Task {
        name: "scan-intrusive",
        help: "`proof scan --intrusive` on servers that are weak on purpose, and on their hardened twins",
        run: scan_intrusive::run,
    },
    Task {
        name: "scan-quality",
        help: "what `proof scan` finds in benign and hostile corpora and in probes; writes docs/scan-quality.md",
        run: scan_quality::run,
    },
    Task {
        name: "signing",
        help: "manifests signed by `proof` and verified by `jose` and `joserfc`, and the reverse",
        run: signing::run,
    },
    Task { name: "soak", help: "many sessions and streams on one server: errors, memory", run: soak::run },
    Task {
        name: "strict",
        help: "every peer's tools as strict ones: another validator accepts them, and servers the calls that come back",
        run: strict::run,
    },
    Task { name: "tidy", help: "hold the sources to the house rules", run: tidy::run },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    pipe::guarded(|| run(&args)).unwrap_or_else(|pipe::Closed| {
        let asks = args.iter().any(|arg| matches!(arg.as_str(), "--help" | "-h" | "help"));
        // Whoever reads no further has seen no verdict: that is no success, as shells have it.
        if asks { ExitCode::SUCCESS } else { ExitCode::from(141) }
    })
}

fn run(args: &[String]) -> ExitCode {
    let Some((name, rest)) = args.split_first() else {
        eprint!("{}", usage());
        return ExitCode::from(2);
    };
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprint!("xtask: there is no task {name:?}\n\n{}", usage());
        return ExitCode::from(2);
    };
    match (task.run)(rest) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let tasks: Vec<String> = TASKS.iter().map(|task| format!("  {:<14} {}", task.name, task.help)).collect();
    format!("usage: cargo xtask TASK [OPTIONS]\n\n{}\n", tasks.join("\n"))
}

/// The root of the workspace: the folder that holds `crates/`.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
