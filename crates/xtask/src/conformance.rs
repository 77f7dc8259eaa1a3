//! `cargo xtask conformance`: installs the official conformance suite, runs what it wants of a server at each revision that
//! it knows against our own server with the official catalogue, and what it wants of a client against `proof client`; then
//! `proof check` against the same server.
//!
//! This module is the order of events. It knows nothing of the suite's files ([`requirements`], [`results`]), of what
//! is expected ([`expected`]), or of processes ([`suite`]).

mod expected;
mod leg;
mod requirements;
mod results;
mod suite;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::Verdict;
use crate::peers::{Home, judge_official, proof};
use crate::words::{Words, help};
use expected::Expectations;
use leg::Leg;
use suite::Served;

const USAGE: &str = "usage: cargo xtask conformance [--install-only] [--proof PATH]

  --install-only   install the suite and stop
  --proof PATH     serve and ask with this binary instead of building `proof` first";

/// The revisions for which the suite has fixed what it requires.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    install_only: bool,
    proof: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--install-only" => options.install_only = true,
                "--proof" => options.proof = Some(words.value()?.into()),
                _ => return Err(words.unknown()),
            }
        }
        Ok(options)
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let options = Options::parse(args)?;
    let home = Home::new(&crate::root());
    let expectations = Expectations::load(&home.peers.join("conformance.json"))?;
    home.install_suite()?;
    if options.install_only {
        return Ok(true);
    }
    let proof = proof(options.proof.as_deref())?;
    let mut served = Served::start(&home, &proof)?;
    let mut complaints = Vec::new();
    for (leg, revision) in Leg::ALL.into_iter().flat_map(|leg| REVISIONS.map(|revision| (leg, revision))) {
        let run = match leg {
            Leg::Server => suite::run(&home, &served, revision),
            Leg::Client => suite::run_client(&home, &proof, revision),
        };
        match run {
            Ok(results) => {
                println!("{}", results.row());
                for one in results.deviations().filter(|one| expectations.explains(&results.revision, one)) {
                    println!("    as expected: {one}");
                }
                complaints.extend(expectations.compare(&results));
            }
            Err(error) => complaints.push(format!("{}: the suite gave no results – {error:#}", leg.of(revision))),
        }
    }
    complaints.extend(judge_official(&home, &proof, served.url()));
    complaints.extend(served.complaint()?);
    Ok(tell(&home, &complaints))
}

/// The installed official suite.
pub(crate) struct Suite {
    home: Home,
}

impl Suite {
    /// Installs it where it is not there yet.
    pub(crate) fn installed() -> anyhow::Result<Self> {
        let home = Home::new(&crate::root());
        home.install_suite()?;
        Ok(Self { home })
    }

    /// Our server with the official catalogue.
    pub(crate) fn serve(&self, proof: &Path) -> anyhow::Result<Served> {
        Served::start(&self.home, proof)
    }

    /// Has the suite judge it. What it finds is for others to say.
    pub(crate) fn judge(&self, served: &Served, revision: &str) -> anyhow::Result<()> {
        suite::run(&self.home, served, revision).map(|_| ())
    }
}

/// Says what is wrong, and whether nothing is.
fn tell(home: &Home, complaints: &[String]) -> bool {
    println!("\nThe suite's results and the reports lie in {}.", home.reports().display());
    if complaints.is_empty() {
        println!(
            "Every scenario passed but for what peers/conformance.json explains, and `proof check` found nothing."
        );
        return true;
    }
    println!("\nNot as it should be ({}):", complaints.len());
    for complaint in complaints {
        println!("- {complaint}");
    }
    println!(
        "Mend the server or the client; where the specification is on their side, say so in peers/conformance.json and docs/errata.md."
    );
    false
}
