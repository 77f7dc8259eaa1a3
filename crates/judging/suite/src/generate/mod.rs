//! `proof generate`: makes a test file from a live server. Nothing here prints or writes a file.
//!
//! [`survey`] asks what there is, [`plan`] thinks of cases (what a schema admits and what it does not is [`schema`]'s to say),
//! [`play`] plays all of them twice, [`expect`] makes an expectation of what was the same both times, and [`yaml`] writes the
//! file. A case that could not fail is not written.

mod expect;
mod plan;
mod play;
mod survey;
mod yaml;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use client::{ClientError, Options as ClientOptions};
use serde_json::{Map, Value};
use wire::{Revision, Transport};

use crate::advice::Words;
pub use client::CallPolicy;
pub use expect::{Case, Verdict};
pub use plan::{Aim, Planned, arguments};

/// How many cases are thought of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// A typical call of each thing, and each constraint of an argument broken once.
    Basic,
    /// Also the edges, the members of enumerations, further types, and arguments within arguments.
    #[default]
    Standard,
    /// All that can be made.
    Full,
}

/// What is to be made of which server.
#[derive(Clone)]
pub struct Options {
    /// Whom to ask, and how.
    pub client: ClientOptions,
    /// Which tools may be called.
    pub calls: CallPolicy,
    /// Arguments that mean something to the server.
    pub known: Known,
    /// How many cases are thought of.
    pub depth: Depth,
    /// The seed of what is drawn; 0 draws nothing.
    pub seed: u64,
    /// Advice in the words of the program.
    pub words: Words,
    /// How long an answer may take; a case that takes longer is written as skipped.
    pub slowest: Duration,
}

/// Arguments that are known to mean something to the server: by tool, or under `*` for any.
#[derive(Clone, Debug, Default)]
pub struct Known(Map<String, Value>);

impl Known {
    /// Reads them from JSON: `{ "TOOL": { "ARGUMENT": value }, "*": { "ARGUMENT": value } }`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match known.iter().find(|(_, arguments)| !arguments.is_object()) {
            Some((name, _)) => Err(format!("what stands under {name:?} is no object of arguments")),
            None => Ok(Self(known)),
        }
    }

    /// The arguments of one tool.
    fn of(&self, tool: &str) -> Map<String, Value> {
        self.0.get(tool).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The arguments of one tool, and those of any.
    fn around(&self, tool: &str) -> Map<String, Value> {
        let mut all = self.of("*");
        all.extend(self.of(tool));
        all
    }
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Generated {
    /// What was spoken.
    pub revision: Revision,
    /// Over what.
    pub transport: Transport,
    /// Name and version, as the server says itself.
    pub server: Option<Value>,
    /// The cases in the order in which they were played; those that are not written are among them.
    pub cases: Vec<Case>,
    /// What was not thought through, and why.
    pub notes: Vec<String>,
}

/// Makes cases for a server, plays each twice and says what can be expected.
/// Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
pub fn generate(options: &Options) -> Pin<Box<dyn Future<Output = Result<Generated, ClientError>> + Send + '_>> {
    Box::pin(generated(options))
}

async fn generated(options: &Options) -> Result<Generated, ClientError> {
    let surveyed = survey::survey(options).await?;
    let plan = plan::plan(&surveyed, options);
    let [first, second] = play::twice(options, surveyed.revision, &plan.cases).await?;
    Ok(Generated {
        revision: surveyed.revision,
        transport: surveyed.transport,
        server: surveyed.server,
        cases: expect::expected(plan.cases, first, &second),
        notes: plan.notes,
    })
}

/// How many of what was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that are played.
    pub played: usize,
    /// Of them: break something, and are refused.
    pub refused: usize,
    /// Of these: something like it that breaks nothing is accepted, so that the refusal is for the breach.
    pub conclusive: usize,
    /// Of the played: break something, and are accepted.
    pub accepted: usize,
    /// Written, and not played.
    pub skipped: usize,
    /// Not written.
    pub left: usize,
}

impl Generated {
    /// How many of what.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for case in &self.cases {
            let negative = case.planned.is_negative();
            match &case.verdict {
                Verdict::Expect { .. } => {
                    tally.played += 1;
                    tally.refused += usize::from(negative);
                    tally.conclusive += usize::from(negative && case.conclusive);
                }
                Verdict::Accepted => {
                    tally.played += 1;
                    tally.accepted += 1;
                }
                Verdict::Skipped(_) => tally.skipped += 1,
                Verdict::Left(_) => tally.left += 1,
            }
        }
        tally
    }

    /// Leaves out cases that turned out not to hold: they are not the same every time.
    pub fn leave(&mut self, names: &BTreeSet<String>) {
        for case in self.cases.iter_mut().filter(|case| names.contains(&case.planned.name)) {
            case.verdict = Verdict::Left("it is not the same every time".to_owned());
        }
    }

    /// The test file: `head` are lines of comment, `server` is what stands under `server`.
    pub fn text(&self, head: &[String], server: &Map<String, Value>) -> String {
        yaml::file(self, head, server)
    }
}
