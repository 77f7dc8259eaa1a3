//! `cargo xtask attack`: hostile peers against the real binary, from outside: raw sockets, child processes, files. Each
//! attempt says what the program promises there; one promise that is not kept fails the run.
//!
//! This module is the list of categories and the table. What is tried lies in a module for each category; nothing here
//! shares code with what is attacked, except the signature primitives.

mod browser;
mod clients;
mod floods;
mod hostile;
mod issuer;
mod metadata;
mod origins;
mod program;
mod recorder;
mod reports;
mod request;
mod secrets;
mod servers;
mod sessions;
mod smuggling;
mod socket;
mod streams;
mod target;
mod text;
mod tokens;
mod trial;
mod websocket;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use self::trial::{Flood, Trial};
use crate::words::{Words, help};
use crate::{Verdict, peers, root};

const USAGE: &str = "usage: cargo xtask attack [OPTIONS]

  --binary FILE    the binary to attack (default: a release build, with --quick a development one)
  --only CATEGORY  this category only; may be repeated
  --quick          fewer repetitions, smaller floods side by side: about 2 minutes on two cores
  --verbose        name every attempt and what was expected
  --list           name the categories";

/// How long all categories may take together.
const QUICK: Duration = Duration::from_mins(5);
const WHOLE: Duration = Duration::from_mins(30);

/// What is attacked, and how thoroughly.
#[derive(Debug)]
pub(crate) struct Plan {
    proof: PathBuf,
    folder: PathBuf,
    only: Vec<String>,
    quick: bool,
    verbose: bool,
    until: Instant,
}

impl Plan {
    /// So much of something: all of it, or a part in a quick run.
    fn amount(&self, whole: usize, quick: usize) -> usize {
        if self.quick { quick } else { whole }
    }

    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let (mut binary, mut only, mut quick, mut verbose) = (None, Vec::new(), false, false);
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--binary" => binary = Some(PathBuf::from(words.value()?)),
                "--only" => only.push(words.value()?.to_owned()),
                "--quick" => quick = true,
                "--verbose" => verbose = true,
                _ => return Err(words.unknown()),
            }
        }
        if let Some(name) = only.iter().find(|name| CATEGORIES.iter().all(|one| one.name != **name)) {
            bail!("there is no category {name:?}; `cargo xtask attack --list` names them");
        }
        // A quick run takes what other steps of CI have built.
        let proof = match (&binary, quick) {
            (None, true) => peers::build_for_development()?,
            (given, _) => peers::proof(given.as_deref())?,
        };
        Self::of(proof, only, quick, verbose)
    }

    fn of(proof: PathBuf, only: Vec<String>, quick: bool, verbose: bool) -> anyhow::Result<Self> {
        let folder = root().join("target/attack");
        // What an earlier run left would count as leaked by this one.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let until = Instant::now() + if quick { QUICK } else { WHOLE };
        Ok(Self { proof, folder, only, quick, verbose, until })
    }
}

struct Category {
    name: &'static str,
    title: &'static str,
    run: fn(&mut Trial<'_>) -> anyhow::Result<()>,
}

const CATEGORIES: &[Category] = &[
    Category { name: "origins", title: "Host and Origin on every transport", run: origins::run },
    Category {
        name: "smuggling",
        title: "request smuggling, at the server and through the proxy",
        run: smuggling::run,
    },
    Category { name: "websocket", title: "WebSocket handshakes and frames", run: websocket::run },
    Category { name: "json", title: "JSON and text that breaks readers, on four transports", run: text::run },
    Category { name: "sessions", title: "sessions of another principal, guessed and stolen", run: sessions::run },
    Category { name: "tokens", title: "forged, expired and misdirected tokens", run: tokens::run },
    Category { name: "issuer", title: "PKCE, redirects and consent at the development issuer", run: issuer::run },
    Category { name: "metadata", title: "hostile OAuth metadata to our client", run: metadata::run },
    Category { name: "servers", title: "hostile servers to client, check, snapshot, generate", run: servers::run },
    Category { name: "clients", title: "hostile commands to check-client, and hostile files", run: clients::run },
    Category { name: "reports", title: "reports and pages about hostile peers, in Chromium", run: reports::run },
    Category { name: "secrets", title: "known secrets, every channel and every output", run: secrets::run },
    Category { name: "recorder", title: "recordings when processes and disks fail", run: recorder::run },
    Category { name: "floods", title: "slow and huge peers: time and memory", run: floods::run },
];

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if let Some(("--play", rest)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return hostile::stdio::play(rest);
    }
    if help(args, USAGE) {
        return Ok(true);
    }
    if matches!(args, [arg] if arg == "--list") {
        for category in CATEGORIES {
            println!("{:<10} {}", category.name, category.title);
        }
        return Ok(true);
    }
    let (well, figure) = attack(&Plan::parse(args)?);
    println!("{figure}");
    Ok(well)
}

/// All categories, for a nightly run: whether all held, and the figure.
pub(crate) fn nightly() -> anyhow::Result<(bool, String)> {
    let (well, figure) = attack(&Plan::of(peers::build_proof()?, Vec::new(), false, false)?);
    Ok((well, figure.trim().to_owned()))
}

/// What came of one category.
struct Outcome {
    row: String,
    tried: usize,
    held: usize,
    failures: Vec<String>,
    floods: Vec<Flood>,
}

fn attack(plan: &Plan) -> (bool, String) {
    let chosen = |category: &&Category| plan.only.is_empty() || plan.only.iter().any(|name| name == category.name);
    // The floods measure time and memory: nothing else runs then.
    let (last, others): (Vec<_>, Vec<_>) =
        CATEGORIES.iter().filter(chosen).partition(|category| category.name == "floods");
    let mut outcomes = side_by_side(plan, &others);
    outcomes.extend(last.into_iter().map(|category| attempted(plan, category)));
    let (tried, held) = outcomes.iter().fold((0, 0), |(tried, held), one| (tried + one.tried, held + one.held));
    let rows: Vec<&str> = outcomes.iter().map(|one| one.row.as_str()).collect();
    println!("\n{:<10} {:>6} {:>6} {:>8}  most memory held (at most)", "category", "tried", "held", "took");
    println!("{}\n{:<10} {tried:>6} {held:>6}", rows.join("\n"), "total");
    memory(&outcomes);
    let failures: Vec<String> = outcomes.into_iter().flat_map(|one| one.failures).collect();
    if !failures.is_empty() {
        println!("\ndid not hold:\n{}", failures.join("\n"));
    }
    (failures.is_empty() && tried > 0, format!("\n{tried} attempts, {held} held"))
}

/// The most memory under each flood, as a table of Markdown: docs/security.md has it.
fn memory(outcomes: &[Outcome]) {
    let mut floods = outcomes.iter().flat_map(|one| &one.floods).peekable();
    if floods.peek().is_some() {
        println!("\n| flood | peak, MiB | at most, MiB | bounded by |\n|---|---:|---:|---|");
    }
    for Flood { what, held, bound } in floods {
        println!("| {what} | {held} | {} | {} |", bound.most, bound.by);
    }
}

/// How many categories run at once: most of their time is waiting.
const LANES: usize = 4;
/// They begin first, so that none runs alone at the end.
const LONGEST: &[&str] = &["servers", "reports", "secrets", "clients", "metadata", "recorder"];

fn side_by_side(plan: &Plan, categories: &[&Category]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let mut order: Vec<usize> = (0..categories.len()).collect();
    order.sort_by_key(|at| LONGEST.iter().position(|name| *name == categories[*at].name).unwrap_or(LONGEST.len()));
    let lane = || {
        std::iter::from_fn(|| {
            let at = *order.get(next.fetch_add(1, Ordering::Relaxed))?;
            Some((at, attempted(plan, categories[at])))
        })
        .collect::<Vec<_>>()
    };
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn attempted(plan: &Plan, category: &Category) -> Outcome {
    println!("== {}: {}", category.name, category.title);
    let begun = Instant::now();
    let mut trial = Trial::new(plan, category.name);
    if let Err(error) = (category.run)(&mut trial) {
        trial.failed("the category runs to its end", category.name, format!("{error:#}"));
    }
    let (tried, held) = (trial.tried(), trial.held());
    let seconds = begun.elapsed().as_secs_f32();
    let row = format!("{:<10} {tried:>6} {held:>6} {seconds:>6.0} s  {}", category.name, trial.peak());
    let (failures, floods) = trial.results();
    Outcome { row, tried, held, failures, floods }
}
