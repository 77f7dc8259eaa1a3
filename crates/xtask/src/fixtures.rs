//! `cargo xtask fixtures`: plays scenarios with our own client, with a fault and without, and makes fixtures of client rules
//! from what crossed. `crates/judging/rules/fixtures.tsv` names every fixture that is made so; all others are made by hand.

mod cut;
mod plan;
mod play;
mod stable;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use judge::check::options::matches;
use wire::trace::{Trace, file};

use self::plan::{Expected, Fixture};
use self::play::Run;
use super::{Verdict, root, words};

const USAGE: &str = "\
usage: cargo xtask fixtures [--check | --search] [--proof PROOF] [RULE…]
Makes fixtures of client rules from scenarios that our own client plays, and says what changed.
RULE is an id or a glob.
  --check        write nothing; fail where a rule no longer says of a scenario what its fixture is for
  --search       also look through all scenarios for rules without such a fixture
  --proof PROOF  use this binary [default: build one]";

/// The longest fixture, in bytes.
const LONGEST: usize = 96 * 1024;

#[derive(Default)]
struct Options {
    check: bool,
    search: bool,
    proof: Option<PathBuf>,
    rules: Vec<String>,
}

impl Options {
    fn read(args: &[String]) -> anyhow::Result<Self> {
        let (mut options, mut args) = (Self::default(), args.iter());
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--check" => options.check = true,
                "--search" => options.search = true,
                "--proof" => options.proof = Some(args.next().context(USAGE)?.into()),
                option if option.starts_with('-') => anyhow::bail!("unknown option {option}\n{USAGE}"),
                rule => options.rules.push(rule.to_owned()),
            }
        }
        anyhow::ensure!(!options.check || !options.search, "--check and --search exclude each other\n{USAGE}");
        Ok(options)
    }

    fn selects(&self, fixture: &Fixture) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|pattern| matches(pattern, fixture.rule.id))
    }
}

/// What came of one fixture.
enum Outcome {
    Same,
    Changed(String),
    /// The scenario does not show what the fixture is for.
    Wrong(String),
}

/// Makes the fixtures, or compares.
pub(crate) fn run(args: &[String]) -> Verdict {
    if words::help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::read(args)?;
    let listed = plan::listed(&root())?;
    let due = plan::due(&listed);
    let chosen: Vec<&Fixture> = due.iter().filter(|fixture| options.selects(fixture)).collect();
    anyhow::ensure!(!chosen.is_empty(), "no fixture of such a rule is made from a scenario");
    let proof = match &options.proof {
        Some(path) => path.canonicalize().with_context(|| format!("--proof {}", path.display()))?,
        None => super::peers::build_for_development()?,
    };
    let mut traces = play::all(&proof, chosen.iter().map(|fixture| fixture.run()).collect());
    let mut right = true;
    for fixture in &chosen {
        let mut outcome = made(fixture, &traces, options.check)?;
        if matches!(outcome, Outcome::Wrong(_)) {
            // On a busy machine a slow answer looks like none: once more, alone.
            traces.extend(play::all(&proof, [fixture.run()].into()));
            outcome = made(fixture, &traces, options.check)?;
        }
        match outcome {
            Outcome::Same => {}
            Outcome::Changed(what) => println!("{}: {what}", fixture.path()),
            Outcome::Wrong(why) => {
                println!("{}: {why}", fixture.path());
                right = false;
            }
        }
    }
    let all = options.rules.is_empty();
    if options.search {
        let runs = plan::every_scenario().filter(|run| !traces.contains_key(run)).collect();
        traces.extend(play::all(&proof, runs));
    }
    let further = if all && !options.check { further(&due, &traces)? } else { Vec::new() };
    let made: Vec<Fixture> = due.into_iter().chain(further).collect();
    right &= plan::write(&root(), &listed, &made, options.check)?;
    if all {
        by_hand(&made);
    }
    Ok(right)
}

/// Makes one fixture, and writes it where it is another than the committed one.
fn made(fixture: &Fixture, traces: &BTreeMap<Run, anyhow::Result<Trace>>, check: bool) -> anyhow::Result<Outcome> {
    let trace = match traces.get(&fixture.run()) {
        Some(Ok(trace)) => trace,
        Some(Err(error)) => return Ok(Outcome::Wrong(format!("{error:#}"))),
        None => return Ok(Outcome::Wrong("was not played".to_owned())),
    };
    let verdict = cut::verdict(fixture.rule, trace);
    if !fixture.expected.is(&verdict) {
        return Ok(Outcome::Wrong(format!("the rule gives {verdict:?} in scenario {}", fixture.run())));
    }
    let path = root().join(fixture.path());
    if check {
        let there = path.is_file();
        return Ok(if there {
            Outcome::Same
        } else {
            Outcome::Wrong("missing: run `cargo xtask fixtures`".to_owned())
        });
    }
    let Some(text) = text(fixture, trace) else {
        return Ok(Outcome::Wrong(
            "the rule gives another verdict once ports, secrets and times are replaced".to_owned(),
        ));
    };
    if text.len() > LONGEST {
        return Ok(Outcome::Wrong(format!("{} bytes are too many for a fixture", text.len())));
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    let still_good = || file::read(&old).is_ok_and(|old| fixture.expected.is(&cut::verdict(fixture.rule, &old)));
    if stable::outline(&old) == stable::outline(&text) && still_good() {
        return Ok(Outcome::Same);
    }
    fs::create_dir_all(path.parent().context("a folder")?)?;
    fs::write(&path, &text)?;
    Ok(Outcome::Changed(difference(&old, &text)))
}

/// The trace as a fixture: what the verdict needs, with names, numbers and times that do not change from run to run; `None`
/// where the verdict does not survive that.
fn text(fixture: &Fixture, trace: &Trace) -> Option<String> {
    let cut = cut::cut(fixture.rule, trace);
    let stable = stable::trace(&cut);
    let timed = stable::with_times_of(&cut, stable.clone());
    let good = [stable, timed].into_iter().find(|trace| fixture.expected.is(&cut::verdict(fixture.rule, trace)));
    good.map(|trace| file::write(&trace))
}

fn difference(old: &str, new: &str) -> String {
    if old.is_empty() {
        return format!("new, {} frames", new.lines().count().saturating_sub(1));
    }
    let lines = |text: &str| stable::outline(text).into_iter().collect::<BTreeSet<_>>();
    let (before, after) = (lines(old), lines(new));
    let (gone, come) = (before.difference(&after).count(), after.difference(&before).count());
    format!("changed, {come} lines added, {gone} removed")
}

/// Fixtures of rules that no fault breaks, from the scenarios that were played without one: the shortest trace in which each
/// holds.
fn further(due: &[Fixture], traces: &BTreeMap<Run, anyhow::Result<Trace>>) -> anyhow::Result<Vec<Fixture>> {
    let covered: BTreeSet<&str> = due.iter().map(|fixture| fixture.rule.id).collect();
    let mut faultless: Vec<(&Run, &Trace)> = traces
        .iter()
        .filter(|(run, _)| run.fault.is_none())
        .filter_map(|(run, trace)| Some((run, trace.as_ref().ok()?)))
        .collect();
    faultless.sort_by_key(|(_, trace)| trace.weight());
    let mut further = Vec::new();
    for rule in plan::client_rules().filter(|rule| !covered.contains(rule.id)) {
        let shown = faultless.iter().find(|(_, trace)| Expected::Holds.is(&cut::verdict(rule, trace)));
        let Some((run, _)) = shown else { continue };
        let fixture = Fixture::holds(rule, run);
        match made(&fixture, traces, false)? {
            Outcome::Wrong(why) => println!("{}: {why}", fixture.path()),
            Outcome::Changed(what) => {
                println!("{}: {what}", fixture.path());
                further.push(fixture);
            }
            Outcome::Same => further.push(fixture),
        }
    }
    Ok(further)
}

/// Lists the rules whose fixtures are made by hand alone.
fn by_hand(made: &[Fixture]) {
    let live: BTreeSet<&str> = made.iter().map(|fixture| fixture.rule.id).collect();
    let broken: BTreeSet<&str> =
        made.iter().filter(|fixture| fixture.expected == Expected::Broken).map(|fixture| fixture.rule.id).collect();
    let rules: Vec<&str> = plan::client_rules().map(|rule| rule.id).collect();
    let without: Vec<&str> = rules.iter().copied().filter(|id| !live.contains(id)).collect();
    println!(
        "{} fixtures of {} client rules come from scenarios; a fault breaks {} of these rules.",
        made.len(),
        live.len(),
        broken.len()
    );
    println!("{} of {} client rules have fixtures made by hand only:", without.len(), rules.len());
    for line in without.chunks(4) {
        println!("  {}", line.join(", "));
    }
}
