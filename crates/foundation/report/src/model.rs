//! The report: findings, their evidence, and the counts. Data only; formats are made from a [`ReportView`] of it.
//!
//! [`ReportView`]: crate::ReportView

use serde::{Deserialize, Serialize};
use wire::{Level, Revision, Transport};

use crate::Tally;

/// The name and version of the JSON report's format.
pub const FORMAT: &str = "proof.report/1";

/// One whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub schema: &'static str,
    /// The version of `proof` that made it.
    pub proof: &'static str,
    /// When and by which command it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// What was judged.
    pub subject: Subject,
    /// One entry per transport and revision.
    pub runs: Vec<Run>,
    /// How long the whole check took, in milliseconds; runs overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The counts.
    pub summary: Summary,
    /// Every rule × revision × transport, in the book's order.
    pub results: Vec<Finding>,
    /// What the server also serves, and what was not judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_served: Vec<Served>,
    /// Names of tools that the check did not call, as it may call those that only read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_not_called: Vec<String>,
    /// Names of tools that the check called although their server does not say that they only read: their names do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_called_by_name: Vec<String>,
    /// Tools that the options or the hints of the check name, and that the server does not list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_unknown: Vec<UnknownTool>,
    /// Rules that were broken once and not in a second play. They count nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<Finding>,
    /// The folder of the traces that the evidence names, where they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces: Option<String>,
}

/// A tool that the server does not list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownTool {
    /// The name that was given.
    pub name: String,
    /// The tool that it is likely a slip for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl Report {
    /// How the rules of a level came out in a run.
    pub fn tally(&self, run: &Run, level: Level) -> Tally {
        let mut tally = Tally::default();
        let here = |f: &&Finding| f.transport == run.transport && f.revision == run.revision && f.level == level;
        self.results.iter().filter(here).for_each(|f| tally.count(f.outcome));
        tally
    }

    /// Whether all judged MUST rules passed, in runs that went to their end.
    pub fn is_perfect(&self) -> bool {
        self.summary.is_perfect() && self.runs.iter().all(|run| run.cut_short.is_none())
    }

    /// A report of these runs and findings, with their counts, and nothing else to say.
    pub fn new(subject: Subject, runs: Vec<Run>, results: Vec<Finding>) -> Self {
        Self {
            schema: FORMAT,
            proof: env!("CARGO_PKG_VERSION"),
            made: None,
            subject,
            runs,
            elapsed_ms: None,
            summary: Summary::of(&results),
            results,
            also_served: Vec::new(),
            tools_not_called: Vec::new(),
            tools_called_by_name: Vec::new(),
            tools_unknown: Vec::new(),
            unconfirmed: Vec::new(),
            traces: None,
        }
    }
}

/// When and by which command a report was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Made {
    /// The time, as RFC 3339 has it, in UTC.
    pub at: String,
    /// The command line with its options, quoted for a shell; placeholders stand for secrets.
    pub command: String,
}

/// Revisions that a server serves over a transport, besides those that were judged.
#[derive(Clone, Debug, Serialize)]
pub struct Served {
    /// What carries the messages.
    #[serde(serialize_with = "display")]
    pub transport: Transport,
    /// The revisions, oldest first.
    #[serde(serialize_with = "displays")]
    pub revisions: Vec<Revision>,
}

/// What was judged.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Subject {
    /// `server` or `client`.
    pub kind: &'static str,
    /// The command or URL, secrets redacted.
    pub target: String,
    /// The name it gives itself.
    pub name: Option<String>,
    /// The version it gives itself.
    pub version: Option<String>,
}

/// One transport at one revision.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// What carried the messages.
    #[serde(serialize_with = "display")]
    pub transport: Transport,
    /// The revision spoken.
    #[serde(serialize_with = "display")]
    pub revision: Revision,
    /// How many probes ran.
    pub probes: usize,
    /// Wall time, in milliseconds.
    pub elapsed_ms: u64,
    /// Why the run ended early and much was not tried. Such a report is never clean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// What a client did with the scenarios that it was asked to play; none where a server is judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioRun>,
}

/// How a client ended in one scenario. No finding: what it did is in the trace.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioRun {
    /// The scenario's name.
    pub name: &'static str,
    /// How the client ended, in words.
    pub ended: String,
    /// Whether it ended by itself with exit code 0.
    pub content: bool,
    /// Whether a good client may end so, too: its server does wrong here.
    pub expected: bool,
    /// The last line that it wrote for people, where it was not content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

/// The counts, by level.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Passed of judged MUST rules, in per cent with one decimal, rounded down; `None` where nothing was judged.
    pub score: Option<f64>,
    /// MUST and MUST NOT.
    pub must: Tally,
    /// SHOULD and SHOULD NOT.
    pub should: Tally,
    /// MAY.
    pub may: Tally,
    /// Safety rules: never in the score.
    pub safety: Tally,
}

impl Summary {
    /// Counts findings.
    pub fn of(findings: &[Finding]) -> Self {
        let mut summary = Self::default();
        for finding in findings {
            summary.of_level(finding.level).count(finding.outcome);
        }
        let (pass, fail) = (summary.must.pass, summary.must.fail);
        summary.score = (pass + fail > 0).then(|| (pass * 1000 / (pass + fail)) as f64 / 10.0);
        summary
    }

    /// Whether MUST rules were judged, and all of them passed.
    pub const fn is_perfect(&self) -> bool {
        self.must.pass > 0 && self.must.fail == 0
    }

    /// How many findings were judged one way or the other, at any level.
    pub const fn judged(&self) -> usize {
        self.must.judged() + self.should.judged() + self.may.judged() + self.safety.judged()
    }

    fn of_level(&mut self, level: Level) -> &mut Tally {
        match level {
            Level::Must => &mut self.must,
            Level::Should => &mut self.should,
            Level::May => &mut self.may,
            Level::Safety => &mut self.safety,
        }
    }
}

/// What became of a rule in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Broken, and a MUST or a safety rule.
    Fail,
    /// Broken, and a SHOULD or MAY.
    Warn,
    /// Kept, and seen to be.
    Pass,
    /// Nothing exercised it.
    NotExercised,
    /// It does not bind here.
    NotApplicable,
}

impl Outcome {
    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::Pass => "pass",
            Self::NotExercised => "not-exercised",
            Self::NotApplicable => "not-applicable",
        }
    }

    /// Whether the rule is broken.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Fail | Self::Warn)
    }

    /// Whether the rule was judged one way or the other.
    pub const fn is_judged(self) -> bool {
        matches!(self, Self::Fail | Self::Warn | Self::Pass)
    }
}

/// A rule, what became of it in one run, and the evidence.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// Its level at the revision.
    #[serde(serialize_with = "level")]
    pub level: Level,
    /// The revision it was judged at.
    #[serde(serialize_with = "display")]
    pub revision: Revision,
    /// What carried the messages.
    #[serde(serialize_with = "display")]
    pub transport: Transport,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, for all but a pass; for a pass what the rule says.
    pub message: String,
    /// The sentence in the specification.
    pub url: String,
    /// The events that show it: of a broken rule one for each different defect, the first of which the message describes.
    pub evidence: Vec<Evidence>,
    /// Whether there may be more defects than the evidence shows.
    #[serde(skip_serializing_if = "is_false")]
    pub more_defects: bool,
    /// The broken rule of the same run that explains this finding, too: reports for people show both as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence_of: Option<&'static str>,
    /// A command that shows it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repro: Option<String>,
}

/// An event that shows a finding.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Evidence {
    /// The case (see `--save-trace`) whose trace holds the event.
    pub case: String,
    /// The file of that trace, where it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The event's index in that trace.
    pub event: usize,
    /// Who sent it: `server`, `client` and so on.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub from: &'static str,
    /// JSON pointer into its message, or what else is at fault; empty for the whole.
    pub pointer: String,
    /// The offending part, secrets redacted, with some of what surrounds it.
    pub excerpt: String,
    /// Where in the excerpt the offending part stands, in characters: for the caret. Not in the JSON report.
    #[serde(skip)]
    pub caret: Option<std::ops::Range<usize>>,
    /// What is wrong here; of a kept rule nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The method in question: of the event's message, or of the request that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What was sent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
    /// How many events or places show the same defect.
    #[serde(skip_serializing_if = "is_one")]
    pub times: usize,
    /// The broken rule that explains this defect, where it does not explain every one of the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consequence_of: Option<&'static str>,
}

/// What was sent before an event that shows a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// The event's index in the same trace.
    pub event: usize,
    /// Whether the other event answers it. If not, it is only the last thing that was sent before.
    pub answered: bool,
    /// Method, id and the part of the parameters that matters, secrets redacted.
    pub text: String,
    /// A command that sends it again over HTTP, where the greeting and this request show the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
    /// The commands that open the session which `curl` needs, where it needs one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curl_session: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_one(times: &usize) -> bool {
    *times <= 1
}

fn display<T: std::fmt::Display, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn displays<T: std::fmt::Display, S: serde::Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn level<S: serde::Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(level.as_str())
}
