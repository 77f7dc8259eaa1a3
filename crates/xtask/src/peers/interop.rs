//! Both ways: `proof client` visits every server among the peers, and every client among them visits `proof serve`, in each
//! era that the peer speaks. What is said may be wrong in places; it has to come through.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::catalog::{Peer, Side, Transport};
use super::install::Home;
use super::judge::{end_within, free_port, listening};
use super::process_group::ProcessGroup;

/// How long a client may take for its visit.
const VISIT: Duration = Duration::from_mins(1);

/// What our clients are to bring home from `echo`.
const ECHO: &str = "Good day";

/// How many visits are under way at once: more would only slow one another down.
const AT_ONCE: usize = 3;

/// One visit: what it is called, the command, and what must stand in its output.
struct Visit {
    name: String,
    command: Vec<String>,
    brings: &'static str,
}

/// Plays all visits of these peers, a line for each peer, and gives what went wrong.
pub(super) fn all(home: &Home, proof: &Path, peers: &[&Peer]) -> Vec<String> {
    println!("\nBoth ways           visits  wall s");
    let mut complaints = Vec::new();
    for peer in peers {
        let begun = Instant::now();
        let found = match peer.side {
            Side::Server { visits } => served_by(home, proof, peer, visits),
            Side::Client { .. } => visiting(home, proof, peer),
        };
        let (visits, wrong) = found.unwrap_or_else(|error| (0, vec![format!("{error:#}")]));
        println!("{:<24} {visits:>2} {:>7.1}", peer.id(), begun.elapsed().as_secs_f32());
        complaints.extend(wrong.into_iter().map(|what| format!("{}: {what}", peer.id())));
    }
    complaints
}

/// How many visits there were, and what went wrong.
type Found = (usize, Vec<String>);

/// `proof client` asks a server what it has to be asked, in each era.
fn served_by(home: &Home, proof: &Path, peer: &Peer, visits: &[(&[&str], &'static str)]) -> anyhow::Result<Found> {
    ensure!(!visits.is_empty(), "no visit is listed");
    let mut group = None;
    let mut target = [vec!["--".to_owned()], home.command(peer)].concat();
    if peer.transport != Transport::Stdio {
        let (server, port) = started(home, peer, &home.command(peer))?;
        group = Some(server);
        let flags = peer.transport.flags().iter().map(|flag| (*flag).to_owned());
        target = flags.chain(["--url".to_owned(), peer.url(port).unwrap_or_default()]).collect();
    }
    let visit = |(era, revision): (&str, &str), words: &[&str], brings| {
        let own = [&*proof.to_string_lossy(), "client", "--revision", revision].map(str::to_owned);
        let asks = words.iter().map(|word| (*word).to_owned());
        let command = own.into_iter().chain(asks).chain(target.clone()).collect();
        Visit { name: format!("proof client {}, {era} era", words.join(" ")), command, brings }
    };
    let all = peer.eras().flat_map(|era| visits.iter().map(move |(words, brings)| visit(era, words, *brings)));
    let found = played(home, peer, &all.collect::<Vec<_>>());
    drop(group);
    Ok(found)
}

/// A client lists the tools of our server and calls `echo`, in each era.
fn visiting(home: &Home, proof: &Path, peer: &Peer) -> anyhow::Result<Found> {
    let proof = proof.to_string_lossy();
    let serve = |how: &[&str]| [&*proof, "serve"].iter().chain(how).map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (mut group, mut url) = (None, String::new());
    if peer.transport != Transport::Stdio {
        let port = free_port()?;
        let address = format!("127.0.0.1:{port}");
        group = Some(listening(&serve(&["--http", &address]), port, &log(home, peer))?);
        url = format!("http://{address}/mcp");
    }
    let words = home.command(peer);
    let chooses = words.iter().any(|word| word == "{era}");
    let eras: Vec<&str> = if chooses { peer.eras().map(|(era, _)| era).collect() } else { vec!["own"] };
    let visit = |era: &str| {
        let filled = words.iter().flat_map(|word| match word.as_str() {
            "{server}" => serve(&["--stdio"]),
            word => vec![word.replace("{url}", &url).replace("{era}", era)],
        });
        Visit { name: format!("against proof serve, {era} era"), command: filled.collect(), brings: ECHO }
    };
    let found = played(home, peer, &eras.into_iter().map(visit).collect::<Vec<_>>());
    drop(group);
    Ok(found)
}

fn started(home: &Home, peer: &Peer, command: &[String]) -> anyhow::Result<(ProcessGroup, u16)> {
    let port = free_port()?;
    Ok((listening(command, port, &log(home, peer))?, port))
}

fn log(home: &Home, peer: &Peer) -> PathBuf {
    home.logs().join(format!("{}-visited.log", peer.id()))
}

/// Plays visits, some at a time, and says what went wrong.
fn played(home: &Home, peer: &Peer, visits: &[Visit]) -> Found {
    let mut wrong = Vec::new();
    for (round, some) in visits.chunks(AT_ONCE).enumerate() {
        let begun: Vec<_> = some
            .iter()
            .enumerate()
            .map(|(at, visit)| visit.start(home, &format!("{}-visit-{round}-{at}", peer.id())))
            .collect();
        for (visit, child) in some.iter().zip(begun) {
            let kept = child.and_then(|(child, log)| visit.end(child, &log));
            wrong.extend(kept.err().map(|error| format!("{}: {error:#}", visit.name)));
        }
    }
    (visits.len(), wrong)
}

impl Visit {
    fn start(&self, home: &Home, log: &str) -> anyhow::Result<(Child, PathBuf)> {
        let log = home.logs().join(format!("{log}.log"));
        let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let [program, args @ ..] = &self.command[..] else { bail!("it has no command") };
        let mut command = Command::new(program);
        command.args(args).current_dir(&home.root).env("HOME", home.files()).env_remove("PROOF_SCENARIO");
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        Ok((command.spawn().with_context(|| format!("cannot start {program}"))?, log))
    }

    fn end(&self, child: Child, log: &Path) -> anyhow::Result<()> {
        let status = end_within(child, VISIT)?;
        let said = std::fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
        ensure!(status.success(), "{status}; what it said lies in {}", log.display());
        ensure!(
            said.contains(self.brings),
            "it did not bring {:?}; what it said lies in {}",
            self.brings,
            log.display()
        );
        Ok(())
    }
}
