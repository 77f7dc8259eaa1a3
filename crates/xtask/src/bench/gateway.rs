//! `cargo xtask bench gateway`: what a call costs through `proof-gateway`, beside the server alone, a bare reverse proxy (the
//! limit) and foreign gateways, all in one run. The load is made here: at full speed for processor time, at a constant rate for
//! latency. What the figures mean is said in `table`.

mod histogram;
mod load;
pub(super) mod stages;
mod subject;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use self::load::{Speaks, closed, open};
use self::subject::Subject;
use self::table::{Cost, Figures, Latency};
use super::super::{Verdict, root};
use crate::cargo::cargo;
use crate::peers::build_proof;
use crate::soak::http::Connection;

/// How often everything is measured by default. The machine may be shared: more rounds beat longer ones.
const ROUNDS: u32 = 5;
/// How long one figure is measured in one round.
const TIME: Duration = Duration::from_secs(2);
/// The rate at which latency is measured, in calls per second.
const RATE: u32 = 1000;
/// The sessions that are opened to weigh one.
const SESSIONS: u32 = 2000;
/// The sessions of clients that may be asked: each has a session with the server, too.
const OWN_SESSIONS: u32 = 400;
/// The size of an aggregated list.
const UPSTREAMS: usize = 50;
const TOOLS: usize = 100;

const KIB: usize = 1 << 10;
const SIZES: [usize; 2] = [KIB, 64 * KIB];

const USAGE: &str =
    "usage: cargo xtask bench gateway|stages [--rounds N] [--proof PATH] [--gateway PATH] [--limit PATH]
  binaries without a path are built first";

struct Options {
    rounds: u32,
    proof: PathBuf,
    gateway: PathBuf,
    limit: PathBuf,
}

/// Runs the benchmark and prints the tables.
pub(super) fn run(args: &[String]) -> Verdict {
    let options = options(args)?;
    pin_beside_the_server()?;
    let proof = options.proof.to_string_lossy().into_owned();
    let serve = [proof.clone(), "serve".into(), "--http".into(), "127.0.0.1:0".into()];
    let server = Subject::ours("direct", &serve, 1)?;
    let address = server.endpoint.address;
    let through = [options.gateway.to_string_lossy().into_owned(), format!("http://{address}/mcp")];
    let through = [&through[..], &["--http".to_owned(), "127.0.0.1:0".to_owned()]].concat();
    let limit = Subject::ours("limit", &[options.limit.to_string_lossy().into_owned(), address.to_string()], 0)?;
    let gateway = Subject::ours("gateway", &through, 0)?;
    let mut figures = Figures::default();
    // The server behind all of them runs on to the end.
    let ours = [server, limit, gateway];
    measure(&options, &ours, &[Speaks::Modern, Speaks::Legacy], &mut figures)?;
    for (name, peer) in [("mcp-proxy", subject::mcp_proxy(address)), ("ContextForge", subject::context_forge(address))]
    {
        match peer {
            Ok(Some(peer)) => measure(&options, &[peer], &[Speaks::Legacy], &mut figures)
                .unwrap_or_else(|error| figures.skip(name, &format!("{error:#}"))),
            Ok(None) => figures.skip(name, &format!("not installed in {}", subject::installed("").display())),
            Err(error) => figures.skip(name, &format!("{error:#}")),
        }
    }
    memory(&through, &mut figures)?;
    figures.list = list(&options)?;
    print!("\n{}", table::render(&figures));
    Ok(true)
}

/// What this process starts and does not place elsewhere stays beside it, on the second processor.
fn pin_beside_the_server() -> anyhow::Result<()> {
    let own = std::process::id().to_string();
    let pinned = Command::new("taskset").args(["-a", "-c", "-p", "1", &own]).output();
    ensure!(pinned.is_ok_and(|pinned| pinned.status.success()), "`taskset` is needed, and two processors");
    Ok(())
}

fn options(args: &[String]) -> anyhow::Result<Options> {
    let (mut rounds, [mut proof, mut gateway, mut limit]) = (ROUNDS, [const { None::<PathBuf> }; 3]);
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let value = args.next().context(USAGE)?;
        match name.as_str() {
            "--rounds" => rounds = value.parse().ok().filter(|rounds| *rounds > 0).context(USAGE)?,
            "--proof" => proof = Some(value.into()),
            "--gateway" => gateway = Some(value.into()),
            "--limit" => limit = Some(value.into()),
            _ => anyhow::bail!(USAGE),
        }
    }
    if gateway.is_none() || limit.is_none() {
        build()?;
    }
    // Both proxies are built by one profile, in one build: only what they do differs.
    let built = root().join("target/gateway");
    let gateway = gateway.unwrap_or_else(|| built.join("proof-gateway"));
    let limit = limit.unwrap_or_else(|| built.join("examples/bare_proxy"));
    let proof = proof.map_or_else(build_proof, Ok)?;
    Ok(Options { rounds, proof, gateway, limit })
}

fn build() -> anyhow::Result<()> {
    let what =
        ["--profile", "gateway", "-p", "gateway", "-p", "net", "--bin", "proof-gateway", "--example", "bare_proxy"];
    let status = cargo().current_dir(root()).args(["build", "--quiet"]).args(what).status()?;
    ensure!(status.success(), "`cargo build {}` failed", what.join(" "));
    Ok(())
}

/// Measures all subjects in turn, round by round.
fn measure(options: &Options, subjects: &[Subject], speaks: &[Speaks], figures: &mut Figures) -> anyhow::Result<()> {
    for _ in 0..options.rounds {
        for &speaks in speaks {
            for size in SIZES {
                for subject in subjects {
                    let (cpu, rate) = closed(&subject.endpoint, speaks, size, TIME, || subject.used())
                        .with_context(|| format!("{} at {}", subject.name, speaks.revision()))?;
                    eprintln!("{:<13} {} {:>5} B: {cpu:>8.1} µs, {rate:>7.0}/s", subject.name, speaks.revision(), size);
                    figures.costs.push(Cost { subject: subject.name, speaks, size, cpu });
                }
            }
            for subject in subjects {
                let fast = figures.cost(subject.name, speaks, KIB).is_some_and(|cpu| cpu * f64::from(RATE) < 0.8e6);
                if fast {
                    let times = open(&subject.endpoint, speaks, KIB, RATE, TIME)?;
                    let (p50, p99) = (times.quantile(0.5), times.quantile(0.99));
                    eprintln!(
                        "{:<13} {} at {RATE}/s: p50 {p50:.3} ms, p99 {p99:.3} ms",
                        subject.name,
                        speaks.revision()
                    );
                    figures.latencies.push(Latency { subject: subject.name, speaks, p50, p99 });
                }
            }
        }
    }
    Ok(())
}

/// What a fresh gateway holds after one call, and what each session adds.
fn memory(command: &[String], figures: &mut Figures) -> anyhow::Result<()> {
    let (mut gateway, mut kept) = (Subject::ours("gateway", command, 0)?, Vec::new());
    let mut first = Connection::open(gateway.endpoint.address)?;
    let call = gateway.endpoint.modern("tools/call", Some("echo"), r#","name":"echo","arguments":{"message":"a"}"#);
    ensure!(first.exchange(&call)?.status == 200, "the first call failed");
    sleep(Duration::from_millis(500));
    figures.idle = gateway.memory()?;
    for (capabilities, count, figure) in
        [("{}", SESSIONS, &mut figures.session), (r#"{"sampling":{}}"#, OWN_SESSIONS, &mut figures.own_session)]
    {
        // Only with a legacy server has such a client a session of its own there.
        let legacy = ["--revision".to_owned(), Speaks::Legacy.revision().to_owned()];
        gateway = Subject::ours("gateway", &[command, &legacy[..]].concat(), 0)?;
        // One session and its connection are there before: what is made once does not count.
        let endpoint = gateway.endpoint.clone();
        let open = |kept: &mut Vec<String>| -> anyhow::Result<()> {
            let mut connection = Connection::open(endpoint.address)?;
            kept.push(endpoint.session(&mut connection, capabilities)?);
            Ok(())
        };
        open(&mut kept)?;
        let before = gateway.memory()?.1;
        for _ in 0..count {
            open(&mut kept)?;
        }
        sleep(Duration::from_millis(500));
        *figure = (gateway.memory()?.1 - before) / f64::from(count);
    }
    Ok(())
}

/// The time to list the tools of many servers once more, in milliseconds: the median, and the bytes of the answer.
fn list(options: &Options) -> anyhow::Result<(f64, usize)> {
    let folder = root().join("target/bench-gateway");
    fs::create_dir_all(&folder)?;
    let mut catalogue = "name: many\nversion: \"1\"\ntools:\n".to_owned();
    for tool in 0..TOOLS {
        let _ = write!(
            catalogue,
            "  - name: tool-{tool}\n    description: One of many tools, described at some length as tools are\n    \
             inputSchema: {{ type: object, properties: {{ city: {{ type: string, description: A name }}, days: {{ type: \
             integer, minimum: 1 }} }}, required: [city] }}\n    answers: [{{ text: done }}]\n"
        );
    }
    let file = folder.join("catalogue.yaml");
    fs::write(&file, catalogue)?;
    let serve =
        [&*options.proof.to_string_lossy(), "serve", "--http", "127.0.0.1:0", "--catalog", &file.to_string_lossy()]
            .map(str::to_owned);
    let server = Subject::ours("many tools", &serve, 1)?;
    let mut upstreams = "upstreams:\n".to_owned();
    for upstream in 0..UPSTREAMS {
        let _ = writeln!(upstreams, "  server-{upstream}: {{ url: \"http://{}/mcp\" }}", server.endpoint.address);
    }
    let config = folder.join("gateway.yaml");
    fs::write(&config, upstreams)?;
    let through = [&*options.gateway.to_string_lossy(), "--config", &config.to_string_lossy(), "--http", "127.0.0.1:0"]
        .map(str::to_owned);
    let gateway = Subject::ours("many servers", &through, 0)?;
    let mut connection = Connection::open(gateway.endpoint.address)?;
    let request = gateway.endpoint.modern("tools/list", None, "");
    let (mut times, mut bytes) = (Vec::new(), 0);
    for _ in 0..21 {
        let begun = Instant::now();
        let reply = connection.exchange(&request)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        bytes = reply.body.len();
        let count = reply.body.windows(14).filter(|part| part == b"\"inputSchema\":").count();
        ensure!(count == UPSTREAMS * TOOLS, "the list has {count} tools");
    }
    // The first one is not warm.
    Ok((table::median(times.split_off(1)), bytes))
}
