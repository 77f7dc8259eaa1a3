//! Runs `proof check` on one server, or `proof check-client` on one client: starts a server that is to be reached over HTTP,
//! waits until it listens, gives `proof` a bounded time, keeps the report, and ends everything.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::catalog::{Judged, Peer, Side, Transport};
use super::install::Home;
use super::process_group::ProcessGroup;
use super::report::Report;
use crate::cargo::cargo;

/// How long a peer may take until it listens.
const START: Duration = Duration::from_secs(30);
/// How long `proof` may take on one peer.
const CHECK: Duration = Duration::from_mins(10);
/// How long a client may take for one scenario. What it takes is mostly its start, and a busy machine must not look like a
/// client that hangs; but where a server is silent, good clients wait for as long as this in every revision.
const SCENARIO_TIME: Duration = Duration::from_secs(20);
/// How long `proof` may take to end its children after a request to stop.
const FAREWELL: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

/// Builds `proof` in a profile and says where it lies.
pub(super) fn build_proof(root: &Path, profile: &str) -> anyhow::Result<PathBuf> {
    println!("Building proof ...");
    let mut build = cargo();
    build.args(["build", "--profile", profile, "-p", "cli", "--message-format", "json-render-diagnostics"]);
    let output = build.current_dir(root).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "proof does not build");
    executable(&String::from_utf8_lossy(&output.stdout)).context("cargo did not say where proof lies")
}

/// The binary named in cargo's messages, one JSON document a line.
pub(super) fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut binaries = messages.filter(|message| message["target"]["name"] == "proof");
    binaries.find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Judges one peer; the answer comes with the wall time that `proof` took.
pub(super) fn judge(home: &Home, proof: &Path, peer: &Peer, at: Judged) -> anyhow::Result<(Report, Duration)> {
    let command = home.command(peer);
    if let Side::Client { scenarios } = peer.side {
        return check_client(home, proof, (peer, at), scenarios);
    }
    if peer.transport == Transport::Stdio {
        let target = ["--".to_owned()].into_iter().chain(command);
        return check(home, proof, (peer, at), target);
    }
    let port = free_port()?;
    let log = home.logs().join(format!("{}.log", peer.id()));
    // Held until `proof` has ended.
    let mut server = listening(&command, port, &log)?;
    let flags = peer.transport.flags().iter().map(|flag| (*flag).to_owned());
    let judged = check(home, proof, (peer, at), flags.chain(peer.url(port)))?;
    if let Some(status) = server.ended()? {
        bail!("the peer ended while it was judged ({status}); its output lies in {}", log.display());
    }
    Ok(judged)
}

/// Starts a server that is to listen at a port, which it finds in its environment, or in its command in place of `{port}`.
pub(super) fn listening(command: &[String], port: u16, log: &Path) -> anyhow::Result<ProcessGroup> {
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let command: Vec<String> = command.iter().map(|word| word.replace("{port}", &port.to_string())).collect();
    let mut server = ProcessGroup::start(&command, &[("PORT", port.to_string())], &output)?;
    wait_until_listening(&mut server, port).with_context(|| format!("its output lies in {}", log.display()))?;
    Ok(server)
}

pub(crate) fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free loopback port")?;
    Ok(listener.local_addr()?.port())
}

/// Waits until something listens on the port, or says why it never will.
pub(crate) fn wait_until_listening(server: &mut ProcessGroup, port: u16) -> anyhow::Result<()> {
    let begun = Instant::now();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    while begun.elapsed() < START {
        if TcpStream::connect_timeout(&address, POLL).is_ok() {
            return Ok(());
        }
        if let Some(status) = server.ended()? {
            bail!("the peer ended before it listened ({status})");
        }
        sleep(POLL);
    }
    bail!("the peer did not listen on port {port} within {} s", START.as_secs())
}

/// Runs `proof check` on a target that is there, and keeps the report under the peer's name.
pub(super) fn check(
    home: &Home,
    proof: &Path,
    (peer, at): (&Peer, Judged),
    target: impl IntoIterator<Item = String>,
) -> anyhow::Result<(Report, Duration)> {
    let mut command = Command::new(proof);
    command
        .args(["check", "--revision", &peer.judged(at).join(","), "--max-time", "0", "--format", "json", "--safety"])
        .args(home.hints(peer))
        .args(target);
    reported(home, peer, command)
}

fn check_client(
    home: &Home,
    proof: &Path,
    (peer, at): (&Peer, Judged),
    scenarios: &[&str],
) -> anyhow::Result<(Report, Duration)> {
    let mut command = Command::new(proof);
    command.args(["check-client", "--format", "json", "--safety", "--jobs", "4"]);
    command.args(["--revision", &peer.judged(at).join(",")]);
    command.args(["--timeout", &SCENARIO_TIME.as_secs().to_string()]);
    if !scenarios.is_empty() {
        command.args(["--scenario", &scenarios.join(",")]);
    }
    command.arg("--").args(home.command(peer).iter().map(|word| word.replace("{era}", "auto")));
    // Some keep files there.
    command.env("HOME", home.files());
    reported(home, peer, command)
}

/// Judges one peer by the default check, as a user meets it: no safety option, no hints, the default limit of time. The peer
/// gets no variables but its own.
pub(super) fn judge_plainly(home: &Home, proof: &Path, peer: &Peer) -> anyhow::Result<(Report, Duration)> {
    let own = home.filled(peer.env);
    let files = home.files().to_string_lossy().into_owned();
    let words = home.command(peer);
    let mut command = Command::new(proof);
    if let Side::Client { scenarios } = peer.side {
        command.args(["check-client", "--format", "json", "--jobs", "2"]);
        command.args(["--timeout", &SCENARIO_TIME.as_secs().to_string()]);
        command.args(["--revision", &peer.revisions.join(","), "--scenario", &scenarios.join(",")]);
        for variable in own.iter().chain([&format!("HOME={files}")]) {
            command.args(["--env", variable]);
        }
        command.arg("--").args(words.iter().map(|word| word.replace("{era}", "auto")));
        return reported(home, peer, command);
    }
    command.args(["check", "--format", "json"]).args(peer.options);
    if peer.transport == Transport::Stdio {
        for variable in own.iter().chain([&format!("HOME={files}")]) {
            command.args(["--env", variable]);
        }
        command.args(["--cwd", &files, "--"]).args(words);
        return reported(home, peer, command);
    }
    let port = free_port()?;
    let path = std::env::var("PATH").unwrap_or_default();
    let alone = ["env", "-i", "-C", &files].map(str::to_owned);
    let ours = [format!("PATH={path}"), format!("HOME={files}"), format!("PORT={port}")];
    let started = alone.into_iter().chain(ours).chain(own).chain(words).collect::<Vec<_>>();
    let log = home.logs().join(format!("{}.log", peer.id()));
    // Held until `proof` has ended.
    let mut server = listening(&started, port, &log)?;
    command.args(peer.transport.flags()).args(peer.url(port));
    let judged = reported(home, peer, command)?;
    if let Some(status) = server.ended()? {
        bail!("the peer ended while it was judged ({status}); its output lies in {}", log.display());
    }
    Ok(judged)
}

fn reported(home: &Home, peer: &Peer, mut command: Command) -> anyhow::Result<(Report, Duration)> {
    let kept = home.reports().join(format!("{}.json", peer.id()));
    let said = home.logs().join(format!("{}-proof.log", peer.id()));
    command.current_dir(&home.root).stdin(Stdio::null());
    command.stdout(File::create(&kept).with_context(|| format!("cannot write {}", kept.display()))?);
    command.stderr(File::create(&said).with_context(|| format!("cannot write {}", said.display()))?);
    let begun = Instant::now();
    // Not in a process group of its own: `proof` must hear the Ctrl-C of our terminal itself, to end its own children.
    let child = command.spawn().context("cannot start proof")?;
    let status = end_within(child, CHECK)?;
    let wall = begun.elapsed();
    ensure!(
        matches!(status.code(), Some(0 | 1)),
        "proof gave no verdict ({status}); it says why in {}",
        said.display()
    );
    let text = std::fs::read_to_string(&kept).with_context(|| format!("cannot read {}", kept.display()))?;
    let report = Report::parse(&text).with_context(|| format!("in {}", kept.display()))?;
    let fails = report.grave().next().is_some();
    ensure!(
        fails == (status.code() == Some(1)),
        "proof ended with {status} although its report has {} broken MUST or safety rule",
        if fails { "a" } else { "no" }
    );
    Ok((report, wall))
}

/// Waits for a child, asks it to stop when the time is up, and kills it when it does not.
pub(super) fn end_within(mut child: Child, limit: Duration) -> anyhow::Result<ExitStatus> {
    if let Some(status) = wait_for(&mut child, limit)? {
        return Ok(status);
    }
    let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    if wait_for(&mut child, FAREWELL)?.is_none() {
        child.kill()?;
        child.wait()?;
    }
    bail!("it did not end within {} s and was stopped", limit.as_secs_f32())
}

fn wait_for(child: &mut Child, limit: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            return Ok(None);
        }
        sleep(POLL);
    }
}
