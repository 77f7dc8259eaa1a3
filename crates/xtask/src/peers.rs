//! `cargo xtask peers`: installs foreign MCP servers and clients, runs `proof check` on each server over each of its
//! transports and `proof check-client` on each client, and compares the broken MUST and safety rules with those that
//! `peers/expected.json` holds as adjudicated. Then it lets our own client and server talk with all of them.
//!
//! This module is the order of events. It knows nothing of package managers ([`install`]), of process groups
//! ([`process_group`]), or of what a report says ([`report`], [`expected`]).

mod catalog;
mod expected;
mod in_order;
mod install;
mod interop;
mod judge;
mod more;
mod process_group;
mod repeat;
mod report;
#[cfg(test)]
mod tests;
mod untried;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use catalog::{Judged, PEERS, Peer};
use expected::Expectations;
pub(crate) use install::Home;
pub(crate) use judge::{free_port, wait_until_listening};
pub(crate) use process_group::ProcessGroup;
use untried::Tried;

use crate::Verdict;
use crate::words::{Words, help};

const USAGE: &str =
    "usage: cargo xtask peers [--more] [--only NAME] [--visits | --repeat N] [--all-revisions] [--jobs N] [--list]
                         [--install-only] [--proof PATH]

  --more           the second set: many more servers and clients, judged by the plain default check alone
  --only NAME      this peer (server-everything) or this one transport of it (server-everything-sse); may be repeated
  --visits         judge nothing; only run our own client and server against the peers
  --repeat N       check each server N times by default options while every core is busy, and compare the verdicts
  --all-revisions  judge each peer at every revision that it speaks, and not at the newest of each era alone
  --jobs N         judge N peers at a time (default 1: the seconds are then those of a quiet machine)
  --list           say which peers there are and how to start each by hand
  --install-only   install and stop
  --proof PATH     judge with this binary instead of building `proof` first";

#[derive(Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
struct Options {
    more: bool,
    only: Vec<String>,
    visits: bool,
    repeat: Option<usize>,
    at: Judged,
    /// How many peers are judged at a time; 0: one.
    jobs: usize,
    list: bool,
    install_only: bool,
    proof: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--more" => options.more = true,
                "--visits" => options.visits = true,
                "--repeat" => options.repeat = Some(words.value()?.parse().context("--repeat wants a number")?),
                "--all-revisions" => options.at = Judged::All,
                "--jobs" => options.jobs = words.value()?.parse().context("--jobs wants a number")?,
                "--list" => options.list = true,
                "--install-only" => options.install_only = true,
                "--only" => options.only.push(words.value()?.to_owned()),
                "--proof" => options.proof = Some(words.value()?.into()),
                _ => return Err(words.unknown()),
            }
        }
        if options.more && (options.visits || options.repeat.is_some() || options.at == Judged::All) {
            bail!("--more judges by the plain default check: leave out --visits, --repeat and --all-revisions");
        }
        Ok(options)
    }

    fn chosen(&self) -> anyhow::Result<Vec<&'static Peer>> {
        let set = if self.more { more::MORE } else { PEERS };
        if let Some(name) = self.only.iter().find(|name| !set.iter().any(|peer| peer.is_called(name))) {
            bail!("there is no peer {name:?}; `cargo xtask peers --list` names them");
        }
        let chosen = |peer: &&Peer| self.only.is_empty() || self.only.iter().any(|name| peer.is_called(name));
        Ok(set.iter().filter(chosen).collect())
    }
}

/// Whether the peers are there to be judged.
pub(crate) fn installed() -> bool {
    Home::new(&crate::root()).is_installed()
}

/// The peers' names, each with its transport.
pub(crate) fn names() -> Vec<String> {
    PEERS.iter().map(Peer::id).collect()
}

/// A server over stdio that is installed.
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// Its variables, `NAME=VALUE`.
    pub(crate) env: Vec<String>,
    /// The folder in its command and its variables that it may read and write.
    pub(crate) files: String,
}

/// Every server over stdio of both sets that is installed, each once.
pub(crate) fn local_servers() -> Vec<Local> {
    let home = Home::new(&crate::root());
    let files = home.files().to_string_lossy().into_owned();
    let mut found: Vec<Local> = Vec::new();
    for peer in PEERS.iter().chain(more::MORE) {
        let serves = peer.transport == catalog::Transport::Stdio && matches!(peer.side, catalog::Side::Server { .. });
        let command = home.command(peer);
        // The program and its script; other paths are made when they are needed.
        let is_there = command.iter().take(2).filter(|word| word.starts_with('/')).all(|word| Path::new(word).exists());
        if serves && is_there && !found.iter().any(|one| one.name == peer.name) {
            let (name, env) = (peer.name.to_owned(), home.filled(peer.env));
            found.push(Local { name, command, env, files: files.clone() });
        }
    }
    found
}

/// Builds `proof` in release and returns its path.
pub(crate) fn build_proof() -> anyhow::Result<PathBuf> {
    judge::build_proof(&crate::root(), "release")
}

/// Builds `proof` as developers use it and says where it lies.
pub(crate) fn build_for_development() -> anyhow::Result<PathBuf> {
    judge::build_proof(&crate::root(), "dev")
}

/// The given binary, or a fresh build.
pub(crate) fn proof(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    match given {
        Some(path) => path.canonicalize().with_context(|| format!("--proof {}", path.display())),
        None => build_proof(),
    }
}

/// How a peer is reached.
pub(crate) enum Target<'t> {
    /// It listens there.
    Url(&'t str),
    /// It is started so.
    Command(&'t [String]),
}

/// What `with` makes of a server that is there to be reached.
pub(crate) fn reached<T>(name: &str, with: impl FnOnce(Target<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let home = Home::new(&crate::root());
    let peer = PEERS.iter().find(|peer| peer.id() == name).with_context(|| format!("no peer is called {name}"))?;
    let command = home.command(peer);
    if peer.transport == catalog::Transport::Stdio {
        return with(Target::Command(&command));
    }
    let port = free_port()?;
    let _server = judge::listening(&command, port, &home.logs().join(format!("{name}.log")))?;
    with(Target::Url(&peer.url(port).unwrap_or_default()))
}

/// Judges one peer and gives the whole report.
pub(crate) fn report(proof: &Path, name: &str) -> anyhow::Result<serde_json::Value> {
    let home = Home::new(&crate::root());
    let peer = PEERS.iter().find(|peer| peer.id() == name).with_context(|| format!("no peer is called {name}"))?;
    judge::judge(&home, proof, peer, Judged::All)?;
    let text = std::fs::read_to_string(home.reports().join(format!("{name}.json")))?;
    Ok(serde_json::from_str(&text)?)
}

/// Judges our own server with the official catalogue, over HTTP at `url` and over stdio, and says whatever is wrong with
/// it: no broken MUST or safety rule is expected there.
pub(crate) fn judge_official(home: &Home, proof: &Path, url: &str) -> Vec<String> {
    println!("\n{}", report::TABLE_HEAD);
    let words = ["--", &*proof.to_string_lossy(), "serve", "--stdio", "--catalog", "official"].map(str::to_owned);
    let mut complaints = Vec::new();
    for peer in &catalog::OFFICIAL {
        let target = match peer.transport {
            catalog::Transport::Stdio => words.to_vec(),
            catalog::Transport::Http | catalog::Transport::Sse => vec![url.to_owned()],
        };
        let found = match judge::check(home, proof, (peer, Judged::All), target) {
            Ok((report, wall)) => {
                println!("{}", report.row(peer, wall));
                let broken = report.grave().map(|one| {
                    format!("{} is broken at {} – {} – read {}", one.rule, one.revision, one.message, one.url)
                });
                broken.chain(expected::coverage(peer.revisions, &report)).collect()
            }
            Err(error) => vec![format!("could not be judged – {error:#}")],
        };
        complaints.extend(found.into_iter().map(|what| format!("proof check, {}: {what}", peer.id())));
    }
    complaints
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let peers = options.chosen()?;
    let home = Home::new(&crate::root());
    if options.list {
        list(&home, &peers);
        return Ok(true);
    }
    if options.more {
        return run_more(&home, &options, &peers);
    }
    let expectations = Expectations::load(&home.peers.join("expected.json"), PEERS)?;
    home.install(&peers)?;
    if options.install_only {
        return Ok(true);
    }
    let proof = proof(options.proof.as_deref())?;
    if let Some(times) = options.repeat {
        let complaints = repeat::all(&home, &proof, &peers, times.max(1))?;
        return Ok(tell(&home, &complaints, "No rule was broken in some checks and not in others."));
    }
    let mut complaints = if options.visits {
        Vec::new()
    } else {
        judge_all(&home, &proof, (&peers, options.at, options.jobs), &expectations)
    };
    complaints.extend(interop::all(&home, &proof, &peers));
    let fine =
        "Every visit came through, and every broken MUST and safety rule is one that peers/expected.json explains.";
    Ok(tell(&home, &complaints, fine))
}

/// Judges the second set.
fn run_more(home: &Home, options: &Options, peers: &[&Peer]) -> Verdict {
    let expectations = Expectations::load(&home.peers.join("expected-more.json"), more::MORE)?;
    home.install_more()?;
    if options.install_only {
        return Ok(true);
    }
    let proof = proof(options.proof.as_deref())?;
    let judge = |peer: &Peer| judge::judge_plainly(home, &proof, peer);
    let compare = |peer: &Peer, report: &report::Report| expectations.compare(peer, peer.revisions, report);
    let complaints = in_order::judge_all(peers, options.jobs, judge, compare);
    let fine = "Every broken MUST and safety rule is one that peers/expected-more.json explains.";
    Ok(tell(home, &complaints, fine))
}

fn list(home: &Home, peers: &[&Peer]) {
    for peer in peers {
        println!("{}  serves {}", peer.id(), peer.revisions.join(", "));
        let port = if peer.url(3000).is_some() { "PORT=3000 " } else { "" };
        println!("    {port}{}", home.command(peer).join(" "));
        if let Some(url) = peer.url(3000) {
            let target = [peer.transport.flags(), &[url.as_str()]].concat().join(" ");
            println!("    then: proof check {target}");
        }
    }
}

/// Judges the peers, and gives whatever is not as expected.
fn judge_all(
    home: &Home,
    proof: &Path,
    (peers, at, jobs): (&[&Peer], Judged, usize),
    expectations: &Expectations,
) -> Vec<String> {
    let mut tried = Tried::default();
    let judge = |peer: &Peer| judge::judge(home, proof, peer, at);
    let complaints = in_order::judge_all(peers, jobs, judge, |peer, report| {
        tried.add(report);
        expectations.compare(peer, &peer.judged(at), report)
    });
    if peers.len() == PEERS.len() {
        print!("\n{}", tried.text());
    }
    complaints
}

/// Says what is wrong, and whether nothing is.
fn tell(home: &Home, complaints: &[String], fine: &str) -> bool {
    println!("\nThe reports lie in {}.", home.reports().display());
    if complaints.is_empty() {
        println!("{fine}");
        return true;
    }
    println!("\nNot as it should be ({}):", complaints.len());
    for complaint in complaints {
        println!("- {complaint}");
    }
    false
}
