//! `cargo xtask gateway-faults`: each fault of the reference server, played behind the gateway. `proof check` of the gateway
//! must still find the broken rule, or `peers/gateway-faults.json` names the row that repairs it; and it may find nothing
//! that it does not find without the gateway.
//!
//! This module is the order of events. It knows nothing of what is known ([`known`]) or of processes ([`play`]).

mod known;
mod play;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

use anyhow::{Context as _, ensure};
use faults::server::{self, Fault};

use crate::gateway_matrix::build;
use crate::peers::proof;
use crate::words::{Words, help};
use crate::{Verdict, page};
use known::Known;
use play::{Findings, Player};

const USAGE: &str = "usage: cargo xtask gateway-faults [FAULT…] [--jobs N] [--check] [--proof PATH] [--gateway PATH]

  FAULT            this fault only; may be repeated
  --jobs N         play so many at a time (default: one for each processor)
  --check          write nothing to docs/gateway-conformance.md
  --proof PATH     use this binary instead of building `proof` first
  --gateway PATH   use this binary instead of building `proof-gateway` first";

#[derive(Default)]
struct Options {
    names: Vec<String>,
    jobs: Option<usize>,
    check: bool,
    proof: Option<PathBuf>,
    gateway: Option<PathBuf>,
}

/// What came of one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Played {
    fault: &'static str,
    rule: &'static str,
    /// The outcome of its rule through the gateway, with the message.
    through: (String, String),
    /// Rules that break through the gateway alone, each with its message.
    new: Vec<(String, String)>,
}

impl Played {
    fn is_seen(&self) -> bool {
        matches!(self.through.0.as_str(), "fail" | "warn")
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let mut options = Options::default();
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--jobs" => options.jobs = Some(words.number()?),
            "--check" => options.check = true,
            "--proof" => options.proof = Some(words.value()?.into()),
            "--gateway" => options.gateway = Some(words.value()?.into()),
            name if server::find(name).is_some() => options.names.push(name.to_owned()),
            _ => return Err(words.unknown()),
        }
    }
    let known = Known::load()?;
    let gateway = match options.gateway {
        Some(path) => path.canonicalize().with_context(|| format!("--gateway {}", path.display()))?,
        None => build()?,
    };
    let player = Player::new(proof(options.proof.as_deref())?, gateway)?;
    let chosen = |fault: &&Fault| options.names.is_empty() || options.names.iter().any(|name| name == fault.name);
    let faults: Vec<_> = server::all().filter(chosen).collect();
    ensure!(!faults.is_empty(), "no fault to play");
    let jobs = options.jobs.unwrap_or_else(|| available_parallelism().map_or(2, usize::from));
    let (played, broken) = all(&player, &faults, jobs.max(1), &known);
    let mut complaints = broken;
    complaints.extend(played.iter().flat_map(|one| known.complaints(one)));
    for complaint in &complaints {
        println!("NOT KNOWN  {complaint}");
    }
    let seen = played.iter().filter(|one| one.is_seen()).count();
    let figure = format!("{} faults played, {seen} seen through the gateway", played.len());
    println!("{figure}, {} repaired by it, {} complaints", played.len() - seen, complaints.len());
    if options.names.is_empty() && !options.check && complaints.is_empty() {
        page::write(page::FAULTS, &section(&played, &known))?;
    }
    Ok(complaints.is_empty())
}

/// Plays all, some at a time, and those that are not as known once more alone: on a busy machine, a late answer looks like
/// none. Returns what came of each, and of which ones nothing came.
fn all(player: &Player, faults: &[&'static Fault], jobs: usize, known: &Known) -> (Vec<Played>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(fault) = faults.get(at) else { return mine };
            let played = one(player, fault);
            if let Ok(played) = &played {
                println!("{:<40} {:<9} {}", fault.name, played.through.0, new_rules(played));
            }
            mine.push((at, played));
        }
    };
    let mut outcomes: Vec<_> = scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    let (mut played, mut complaints) = (Vec::new(), Vec::new());
    for (at, outcome) in outcomes {
        let again = outcome.as_ref().map_or(true, |one| !known.complaints(one).is_empty());
        let outcome = if again { one(player, faults[at]) } else { outcome };
        match outcome {
            Ok(one) => played.push(one),
            Err(error) => complaints.push(format!("{}: {error:#}", faults[at].name)),
        }
    }
    (played, complaints)
}

fn new_rules(played: &Played) -> String {
    let rules: Vec<_> = played.new.iter().map(|(rule, _)| rule.as_str()).collect();
    if rules.is_empty() { String::new() } else { format!("new: {}", rules.join(", ")) }
}

/// Plays one fault, directly only where the gateway shows more than the fault says that it breaks.
fn one(player: &Player, fault: &'static Fault) -> anyhow::Result<Played> {
    let through = player.through(fault)?;
    let named = |rule: &str| rule == fault.rule || fault.consequences.contains(&rule);
    let mut new: Vec<_> = through.broken().filter(|(rule, _)| !named(rule)).map(owned).collect();
    if !new.is_empty() {
        let direct = player.direct(fault)?;
        let before: BTreeSet<_> = direct.broken().map(|(rule, _)| rule.to_owned()).collect();
        new.retain(|(rule, _)| !before.contains(rule));
    }
    Ok(Played { fault: fault.name, rule: fault.rule, through: outcome(&through, fault.rule), new })
}

fn owned((rule, message): (&str, &str)) -> (String, String) {
    (rule.to_owned(), message.to_owned())
}

fn outcome(findings: &Findings, rule: &str) -> (String, String) {
    let found = findings.outcome(rule);
    found.map_or_else(|| ("not judged".to_owned(), String::new()), owned)
}

/// What the page says of it.
fn section(played: &[Played], known: &Known) -> String {
    let seen = played.iter().filter(|one| one.is_seen()).count();
    let mut text = format!(
        "## Faults of the server, through the gateway\n\nBy `cargo xtask gateway-faults`. Each of the {} faults of the \
         reference server (`proof faults`) was played behind\nthe gateway, server and client at the same revision and over \
         the same transport. `proof check` of the gateway finds\n{seen} of them. The other {} do not reach the client, for \
         the reasons below. It finds nothing that it does not find without the\ngateway, except for what is listed under \
         *Consequences*.\n\n| row | faults | reason |\n|---|---|---|\n",
        played.len(),
        played.len() - seen
    );
    text.push_str(&known.rows(played));
    text
}
