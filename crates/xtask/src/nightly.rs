//! `cargo xtask nightly`: what takes too long for CI. Each part prints a heading, how long it took and a figure; one that
//! finds something fails the run.
//!
//! This module is the list of parts. It knows nothing of reports ([`flicker`]) or of memory ([`checks`]).

mod checks;
mod flicker;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use crate::cargo::cargo;
use crate::words::{Words, help};
use crate::{
    Verdict, attack, clients_peers, console_page, dist, factory, fleet, fuzz, gateway_as_client, gateway_authzen,
    gateway_bridge, gateway_clients, gateway_faults, gateway_peers, peers, root, signing, soak,
};

const USAGE: &str = "usage: cargo xtask nightly [--part NAME] [--percent N] [--seed N] [--list]

  --part NAME    this part only; may be repeated
  --percent N    do N % of the usual amount
  --seed N       the seed of the fuzzing (default: 1, so that a run is repeatable)
  --list         name the parts";

/// How much of everything, at 100 %.
const CASES: usize = 20_000;
const FUZZ_ROUNDS: usize = 20_000;
/// Messages that go from one revision to another and back.
const MESSAGES: usize = 1_000_000;
const CHECKS: usize = 20;
const PEER_CHECKS: usize = 3;
const SOAK_CHECKS: usize = 200;
const CHAOS_SEEDS: usize = 200;
/// How long replicas are under load at least.
const CHAOS_SECONDS: usize = 600;
const CHURN_SESSIONS: usize = 100_000;
/// An hour over all targets.
const FUZZ_SECONDS: usize = 3600 / fuzz::TARGETS.len();
const SESSIONS: usize = 10_000;
/// Fewer would be over before a session that was left has ended.
const FEWEST_SESSIONS: usize = 2000;
const REQUESTS_EACH: u64 = 100;

struct Part {
    name: &'static str,
    title: &'static str,
    run: fn(&Options) -> anyhow::Result<Outcome>,
}

/// How a part ended: whether it found nothing, and its figure in words.
struct Outcome {
    well: bool,
    figure: String,
}

const PARTS: &[Part] = &[
    Part {
        name: "properties",
        title: "property tests of wire and of catalogue files with many cases",
        run: properties,
    },
    Part { name: "shapes", title: "our shapes against the official schemas, in release", run: shapes },
    Part {
        name: "translation",
        title: "random messages between all revisions, there and back, against the official schemas",
        run: translation,
    },
    Part { name: "damage", title: "damaged traces and bytes through all that reads", run: damage },
    Part { name: "fuzz", title: "everything that reads a peer's bytes, guided by coverage", run: guided },
    Part { name: "flicker", title: "the same check of the reference server, again and again", run: flicker },
    Part {
        name: "peers",
        title: "the same check of every installed peer at every revision, again",
        run: peers_flicker,
    },
    Part { name: "revisions", title: "every installed peer at every revision: only known findings", run: peers_whole },
    Part {
        name: "more-peers",
        title: "the second set of peers by the default check: only known findings",
        run: peers_more,
    },
    Part { name: "fixtures", title: "fixtures of client rules against what live scenarios write today", run: fixtures },
    Part { name: "checks", title: "one server under many checks: its memory and handles", run: checks },
    Part { name: "attack", title: "hostile peers against the real binary, all of them", run: attacked },
    Part {
        name: "factory",
        title: "the REST APIs of examples/factory, each in front of a model of it",
        run: |_| task(factory::run),
    },
    Part {
        name: "fleet-factory",
        title: "the fleet of examples/factory, twice, then broken",
        run: |_| task(fleet::factory),
    },
    Part {
        name: "fleet-kill",
        title: "the parts of a fleet, killed on SQLite and Postgres",
        run: |_| task(fleet::kill),
    },
    Part { name: "fleet-scale", title: "1,000 simulated servers: cost and memory", run: |_| task(fleet::scale) },
    Part { name: "signing", title: "signed manifests and other implementations of JWS", run: |_| task(signing::run) },
    Part { name: "chaos", title: "a gateway whose upstreams do wrong, by many seeds", run: chaos },
    Part { name: "replicas", title: "gateways that share a store which fails, by many seeds", run: replicas },
    Part { name: "gateway-as-client", title: "the gateway as a client of the servers behind it", run: as_client },
    Part {
        name: "gateway-faults",
        title: "every fault of the reference server behind a gateway: seen, or repaired for a known reason",
        run: |_| gateway(gateway_faults::run),
    },
    Part {
        name: "gateway-peers",
        title: "generated calls of installed servers, directly and through a gateway",
        run: |_| gateway_of_peers(gateway_peers::run),
    },
    Part {
        name: "gateway-clients",
        title: "installed clients, directly and through a gateway",
        run: |_| gateway_of_peers(gateway_clients::run),
    },
    Part {
        name: "authzen",
        title: "the gateway and a real policy decision point",
        run: |_| task(gateway_authzen::run),
    },
    Part {
        name: "bridge",
        title: "sign-in through the gateway at a real provider",
        run: |_| task(gateway_bridge::run),
    },
    Part { name: "clients", title: "real clients read what proof add writes", run: |_| task(clients_peers::run) },
    Part {
        name: "page",
        title: "the pages of proof inspect and proof fleet in a browser",
        run: |_| task(console_page::run),
    },
    Part { name: "packages", title: "static packages of a release, installed and used", run: |_| packages() },
    Part { name: "churn", title: "a gateway and many sessions of one call each: its memory", run: churn },
    Part { name: "soak", title: "one server, many sessions and streams: errors and memory", run: sessions },
];

#[derive(Debug)]
struct Options {
    parts: Vec<String>,
    percent: usize,
    seed: u64,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self { parts: Vec::new(), percent: 100, seed: 1 };
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--part" => options.parts.push(words.value()?.to_owned()),
                "--percent" => options.percent = words.number()?,
                "--seed" => options.seed = words.number()?,
                _ => return Err(words.unknown()),
            }
        }
        if let Some(name) = options.parts.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
            bail!("there is no part {name:?}; `cargo xtask nightly --list` names them");
        }
        ensure!((1..=1000).contains(&options.percent), "--percent: expected 1 to 1000");
        Ok(options)
    }

    /// So much of the usual amount, but at least `least`.
    fn share(&self, usual: usize, least: usize) -> usize {
        (usual * self.percent / 100).max(least)
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    if matches!(args, [arg] if arg == "--list") {
        for part in PARTS {
            println!("{:<18} {}", part.name, part.title);
        }
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let mut rows = Vec::new();
    let mut well = true;
    for part in PARTS.iter().filter(|p| options.parts.is_empty() || options.parts.iter().any(|name| name == p.name)) {
        println!("\n== {}: {}", part.name, part.title);
        let begun = Instant::now();
        let outcome =
            (part.run)(&options).unwrap_or_else(|error| Outcome { well: false, figure: format!("{error:#}") });
        well &= outcome.well;
        let word = if outcome.well { "ok" } else { "FAILED" };
        let row = format!("{:<18} {word:<6} {:>6.0} s   {}", part.name, begun.elapsed().as_secs_f32(), outcome.figure);
        println!("{row}");
        rows.push(row);
    }
    println!("\n{}", rows.join("\n"));
    Ok(well)
}

fn properties(options: &Options) -> anyhow::Result<Outcome> {
    let cases = options.share(CASES, 1000);
    let tests = ["framing", "json_text", "messages", "redaction", "trace_file"];
    let named: Vec<&str> = tests.iter().flat_map(|test| ["--test", test]).collect();
    let variables = [("PROPTEST_CASES", cases.to_string())];
    let run = cargo_test("wire", &named, &variables)?;
    if !run.well {
        return run.outcome("wire".to_owned());
    }
    let files = cargo_test("reference", &["--lib", "catalogue::yaml"], &variables)?;
    files.outcome(format!("{} tests, {cases} cases for each property", run.passed() + files.passed()))
}

fn shapes(_: &Options) -> anyhow::Result<Outcome> {
    let run = cargo_test("wire", &["--test", "shape_differential"], &[])?;
    run.outcome(format!("{} tests", run.passed()))
}

fn translation(options: &Options) -> anyhow::Result<Outcome> {
    let messages = options.share(MESSAGES, 20_000).to_string();
    let variables = [("TRANSLATION_MESSAGES", messages), ("TRANSLATION_SEED", options.seed.to_string())];
    let run = cargo_test("wire", &["--test", "translation"], &variables)?;
    let figure = run.line("translated ");
    run.outcome(figure)
}

fn damage(options: &Options) -> anyhow::Result<Outcome> {
    let rounds = options.share(FUZZ_ROUNDS, 100).to_string();
    let variables = [("FUZZ_ROUNDS", rounds), ("FUZZ_SEED", options.seed.to_string())];
    let run = cargo_test("judge", &["--test", "fuzz"], &variables)?;
    // Something of the test runner's own may stand before them.
    let figure =
        |line| ["damaged ", "long traces: "].iter().find_map(|word| str::find(line, word).map(|at| &line[at..]));
    let lines: Vec<&str> = run.stdout.lines().filter_map(figure).collect();
    run.outcome(lines.join("\n                             "))
}

/// What it finds is kept for the next time: see [`fuzz`].
fn guided(options: &Options) -> anyhow::Result<Outcome> {
    let seconds = options.share(FUZZ_SECONDS, 5) as u64;
    let lines = fuzz::all(&fuzz::Options::lasting(seconds, options.seed))?;
    let well = lines.iter().all(|line| line.well);
    let texts: Vec<String> = lines.into_iter().map(|line| line.text).collect();
    Ok(Outcome { well, figure: format!("{seconds} s each\n  {}", texts.join("\n  ")) })
}

fn flicker(options: &Options) -> anyhow::Result<Outcome> {
    let proof = peers::build_proof()?;
    let times = options.share(CHECKS, 2);
    let mut seen = flicker::Seen::default();
    for _ in 0..times {
        let mut check = Command::new(&proof);
        check.args(["check", "--safety", "--format", "json"]);
        seen.add(&flicker::report(check)?)?;
    }
    let well = seen.print();
    Ok(Outcome { well, figure: format!("{times} checks, {}", seen.figure()) })
}

/// For a part that needs the peers where they are not installed.
fn no_peers() -> Outcome {
    Outcome { well: true, figure: "skipped: `cargo xtask peers --install-only` comes first".to_owned() }
}

fn peers_whole(_: &Options) -> anyhow::Result<Outcome> {
    if !peers::installed() {
        return Ok(no_peers());
    }
    let well = peers::run(&["--all-revisions".to_owned()])?;
    Ok(Outcome { well, figure: format!("{} peers", peers::names().len()) })
}

fn peers_more(_: &Options) -> anyhow::Result<Outcome> {
    let well = peers::run(&["--more".to_owned()])?;
    Ok(Outcome { well, figure: "judged".to_owned() })
}

fn peers_flicker(options: &Options) -> anyhow::Result<Outcome> {
    if !peers::installed() {
        return Ok(no_peers());
    }
    let proof = peers::build_proof()?;
    let times = options.share(PEER_CHECKS, 2);
    let mut well = true;
    let mut figures = Vec::new();
    for name in peers::names() {
        let mut seen = flicker::Seen::default();
        for _ in 0..times {
            seen.add(&peers::report(&proof, &name)?)?;
        }
        println!("{name}");
        well &= seen.print();
        figures.push(format!("{name}: {}", seen.figure()));
    }
    Ok(Outcome { well, figure: format!("{times} checks each\n  {}", figures.join("\n  ")) })
}

fn fixtures(_: &Options) -> anyhow::Result<Outcome> {
    let passed = crate::fixtures::run(&["--check".to_owned()])?;
    Ok(Outcome { well: passed, figure: "compared".to_owned() })
}

fn checks(options: &Options) -> anyhow::Result<Outcome> {
    let proof = peers::build_proof()?;
    checks::run(&proof, options.share(SOAK_CHECKS, 30), &folder()?)
}

fn sessions(options: &Options) -> anyhow::Result<Outcome> {
    let sessions = options.share(SESSIONS, FEWEST_SESSIONS) as u64;
    let (well, figure) = soak::soak(soak::Plan::of(sessions, sessions * REQUESTS_EACH, options.seed))?;
    Ok(Outcome { well, figure })
}

fn attacked(_: &Options) -> anyhow::Result<Outcome> {
    let (well, figure) = attack::nightly()?;
    Ok(Outcome { well, figure })
}

fn chaos(options: &Options) -> anyhow::Result<Outcome> {
    seeds(options, "chaos", None)
}

fn replicas(options: &Options) -> anyhow::Result<Outcome> {
    seeds(options, "replicas", Some(("CHAOS_SECONDS", options.share(CHAOS_SECONDS, 30).to_string())))
}

/// A test of the gateway that plays a given number of seeds.
fn seeds(options: &Options, test: &str, more: Option<(&'static str, String)>) -> anyhow::Result<Outcome> {
    let mut variables = vec![
        ("CHAOS_SEEDS", options.share(CHAOS_SEEDS, 20).to_string()),
        ("CHAOS_SEED", (options.seed * 1000).to_string()),
    ];
    variables.extend(more);
    let run = cargo_test("gateway", &["--test", test], &variables)?;
    let figure = run.line(&format!("{test}: "));
    run.outcome(figure)
}

fn as_client(_: &Options) -> anyhow::Result<Outcome> {
    let well = gateway_as_client::run(&[])?;
    Ok(Outcome { well, figure: "judged".to_owned() })
}

/// A task without options.
fn task(task: fn(&[String]) -> Verdict) -> anyhow::Result<Outcome> {
    Ok(Outcome { well: task(&[])?, figure: "compared".to_owned() })
}

/// The packages as the release workflow makes them, and the crates.
fn packages() -> anyhow::Result<Outcome> {
    let tried = |options: &[&str]| dist::run(&options.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    let well = tried(&["--try"])? && tried(&["--crates", "--try", "--out", "target/dist-published"])?;
    Ok(Outcome { well, figure: "installed".to_owned() })
}

/// A task that says itself what it finds.
fn gateway(task: fn(&[String]) -> Verdict) -> anyhow::Result<Outcome> {
    let well = task(&["--check".to_owned()])?;
    Ok(Outcome { well, figure: "compared".to_owned() })
}

fn gateway_of_peers(task: fn(&[String]) -> Verdict) -> anyhow::Result<Outcome> {
    if peers::installed() { gateway(task) } else { Ok(no_peers()) }
}

fn churn(options: &Options) -> anyhow::Result<Outcome> {
    let variables = [("CHURN_SESSIONS", options.share(CHURN_SESSIONS, 3000).to_string())];
    let run = cargo_test("gateway", &["--test", "upstreams", "churn"], &variables)?;
    let figure = run.line("churn: ");
    run.outcome(figure)
}

/// Where what a part writes goes.
fn folder() -> anyhow::Result<PathBuf> {
    let folder = root().join("target/nightly");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The result of one `cargo test`.
struct TestRun {
    well: bool,
    stdout: String,
}

impl TestRun {
    /// What stands after `begin` where it first does.
    fn line(&self, begin: &str) -> String {
        let found = self.stdout.lines().find_map(|line| Some(line.split_once(begin)?.1.to_owned()));
        found.unwrap_or_default()
    }

    /// How many tests passed.
    fn passed(&self) -> usize {
        let counts = self.stdout.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
        counts.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok()).sum()
    }

    fn outcome(&self, figure: String) -> anyhow::Result<Outcome> {
        if !self.well {
            println!("{}", self.stdout);
        }
        ensure!(!self.well || self.passed() > 0, "no test ran");
        Ok(Outcome { well: self.well, figure })
    }
}

fn cargo_test(package: &str, targets: &[&str], variables: &[(&str, String)]) -> anyhow::Result<TestRun> {
    let mut cargo = cargo();
    cargo.args(["test", "--quiet", "--release", "--package", package]).args(targets).args(["--", "--nocapture"]);
    cargo.envs(variables.iter().map(|(name, value)| (name, value))).current_dir(Path::new(&root()));
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    Ok(TestRun { well: output.status.success(), stdout: String::from_utf8_lossy(&output.stdout).into_owned() })
}
