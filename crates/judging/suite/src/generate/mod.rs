//! `proof generate`: makes a test file from a running server. Must not print or write files.
//!
//! [`survey`] reads what the server offers, [`plan`] makes requests (with the help of [`schema`]), [`play`] sends all of them
//! twice, [`expect`] turns what was the same both times into expectations, and [`yaml`] writes the file. Cases that cannot fail
//! are not written.

mod expect;
mod kept;
mod machine;
mod plan;
mod play;
mod survey;
mod yaml;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use client::{ClientError, Options as ClientOptions};
use serde_json::{Map, Value};
use wire::redact::Redactor;
use wire::{Revision, Transport};

use crate::advice::Words;
pub use client::CallPolicy;
pub use expect::{Case, Verdict};
pub use kept::{Exchange, kept};
pub use machine::MachineFacts;
pub use plan::{Aim, Planned, arguments};

/// How many cases to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// A typical use of everything, and each constraint of an argument violated once.
    Basic,
    /// Also limits, members of enumerations, more types, and nested arguments.
    #[default]
    Standard,
    /// Every case that can be made.
    Full,
}

/// The options of a generation.
#[derive(Clone)]
pub struct Options {
    /// How to connect to the server.
    pub client: ClientOptions,
    /// Which tools may be called.
    pub calls: CallPolicy,
    /// Arguments with a meaning to the server.
    pub known: Known,
    /// How many cases to make.
    pub depth: Depth,
    /// The seed of random arguments; 0 disables randomness.
    pub seed: u64,
    /// Says what is a secret: no expectation quotes it.
    pub redactor: Redactor,
    /// Facts about this machine: no expectation quotes them.
    pub machine: MachineFacts,
    /// Advice in the words of the program.
    pub words: Words,
    /// The timeout of an answer; a slower case is written as skipped.
    pub slowest: Duration,
}

/// Arguments with a meaning to the server, by tool; those under `*` apply to any tool.
#[derive(Clone, Debug, Default)]
pub struct Known(Map<String, Value>);

impl Known {
    /// Reads JSON: `{ "TOOL": { "ARGUMENT": value }, "*": { "ARGUMENT": value } }`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match known.iter().find(|(_, arguments)| !arguments.is_object()) {
            Some((name, _)) => Err(format!("the value of {name:?} is not an object of arguments")),
            None => Ok(Self(known)),
        }
    }

    /// The arguments of one tool.
    fn of(&self, tool: &str) -> Map<String, Value> {
        self.0.get(tool).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The arguments of one tool, and those under `*`.
    fn with_defaults(&self, tool: &str) -> Map<String, Value> {
        let mut all = self.of("*");
        all.extend(self.of(tool));
        all
    }
}

/// The result of a generation.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The revision that was used.
    pub revision: Revision,
    /// The transport that was used.
    pub transport: Transport,
    /// The server's name and version.
    pub server: Option<Value>,
    /// All cases in the order in which they were played, also those that are not written.
    pub cases: Vec<Case>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Makes cases for a server, plays each twice and derives expectations.
/// Boxed so that the code is compiled once, in this crate.
pub fn generate(options: &Options) -> Pin<Box<dyn Future<Output = Result<Generated, ClientError>> + Send + '_>> {
    Box::pin(generated(options))
}

async fn generated(options: &Options) -> Result<Generated, ClientError> {
    let survey = survey::survey(options).await?;
    let plan = plan::plan(&survey, options);
    let [first, second] = play::twice(options, survey.revision, &plan.cases).await?;
    Ok(Generated {
        revision: survey.revision,
        transport: survey.transport,
        server: survey.server,
        cases: expect::expectations(plan.cases, first, &second, (&options.redactor, &options.machine)),
        notes: plan.notes,
    })
}

/// Numbers of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that are written and run.
    pub played: usize,
    /// Invalid requests that the server refuses.
    pub refused: usize,
    /// Of the refused: the valid counterpart is accepted, so the refusal has the violation as its reason.
    pub conclusive: usize,
    /// Invalid requests that the server accepts.
    pub accepted: usize,
    /// Written, but skipped.
    pub skipped: usize,
    /// Not written.
    pub omitted: usize,
}

impl Generated {
    /// Numbers of cases.
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
                Verdict::Omitted(_) => tally.omitted += 1,
            }
        }
        tally
    }

    /// Drops cases whose answers turned out to differ.
    pub fn omit(&mut self, names: &BTreeSet<String>) {
        for case in self.cases.iter_mut().filter(|case| names.contains(&case.planned.name)) {
            case.verdict = Verdict::Omitted("the answer differs each time".to_owned());
        }
    }

    /// The test file: `head` are comment lines, `server` is the content of its `server`.
    pub fn text(&self, head: &[String], server: &Map<String, Value>) -> String {
        yaml::file(self, head, server)
    }
}
