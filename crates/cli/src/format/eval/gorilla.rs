//! Reports of `proof eval score --compat gorilla`.

use std::fmt::Write as _;
use std::path::Path;

use eval::gorilla::{Apis, Hub, Outcome, Tally};
use report::render::text::count;
use serde_json::{Value, json};
use wire::escape::{self, snippet};

/// How the model was given documentation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retrieval {
    ZeroShot,
    Bm25,
    GptIndex,
    Oracle,
    Unnamed,
}

impl Retrieval {
    /// The modes that have a name.
    pub(crate) const NAMED: [Self; 4] = [Self::ZeroShot, Self::Bm25, Self::GptIndex, Self::Oracle];

    /// The name in reports and on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero-shot",
            Self::Bm25 => "bm25",
            Self::GptIndex => "gpt-index",
            Self::Oracle => "oracle",
            Self::Unnamed => "-",
        }
    }
}

/// The responses of one file.
pub(crate) struct Mode<'r> {
    pub(crate) retrieval: Retrieval,
    pub(crate) file: &'r Path,
    /// Question and outcome, in the order of the file.
    pub(crate) outcomes: Vec<(usize, Outcome)>,
    pub(crate) tally: Tally,
    /// Questions without a response.
    pub(crate) missing: usize,
}

impl Mode<'_> {
    fn accuracy(&self) -> Option<f64> {
        self.tally.shares().map(|[accuracy, _, _]| accuracy)
    }
}

/// What all files come to.
pub(crate) struct Report<'r> {
    pub(crate) apis: &'r Apis,
    pub(crate) modes: Vec<Mode<'r>>,
    /// The share that is enough, in percent.
    pub(crate) required: f64,
    pub(crate) has_passed: bool,
}

impl Report<'_> {
    /// By how much a mode is less accurate than the oracle, as a share.
    fn degradation(&self, mode: &Mode<'_>) -> Option<f64> {
        let oracle = self.modes.iter().find(|mode| mode.retrieval == Retrieval::Oracle)?;
        if mode.retrieval == Retrieval::Oracle {
            return None;
        }
        Some(oracle.accuracy()? - mode.accuracy()?)
    }
}

const fn hub(hub: Hub) -> &'static str {
    match hub {
        Hub::Torch => "Torch Hub",
        Hub::TensorFlow => "TensorFlow Hub",
        Hub::HuggingFace => "Hugging Face",
    }
}

/// The report for people.
pub(crate) fn human(report: &Report<'_>, verbose: bool) -> String {
    let mut out = String::new();
    for mode in report.modes.iter().filter(|_| verbose) {
        for (question, outcome) in &mode.outcomes {
            let _ = writeln!(out, "{:<10} question {question:<5} {}", mode.retrieval.name(), outcome.name());
        }
    }
    let _ = writeln!(
        out,
        "{:<10} {:>9} {:>9} {:>9} {:>13}  {:>16}",
        "mode", "responses", "accuracy", "error", "hallucination", "below the oracle"
    );
    for mode in &report.modes {
        write_mode(&mut out, report, mode);
    }
    let unmatchable = match report.apis.unmatchable {
        0 => String::new(),
        number => format!(", and {} that no response can match", count(number, "other")),
    };
    let _ = writeln!(out, "{}: {}{unmatchable}", hub(report.apis.hub), count(report.apis.len(), "API"));
    let nothing = report.modes.iter().any(|mode| mode.tally.total() == 0);
    let (verdict, why) = match (report.has_passed, nothing) {
        (true, _) => ("passed", String::new()),
        (false, true) => ("failed", ": a file has no responses".to_owned()),
        (false, false) => ("failed", format!(": {} % of the questions must be answered correctly", report.required)),
    };
    let _ = writeln!(out, "{verdict}{why}");
    out
}

fn write_mode(out: &mut String, report: &Report<'_>, mode: &Mode<'_>) {
    let name = match mode.retrieval {
        Retrieval::Unnamed => snippet(&mode.file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default(), 9),
        named => named.name().to_owned(),
    };
    let below = report.degradation(mode).map_or_else(String::new, |share| format!("{:.2} points", 100.0 * share));
    let Some([accuracy, error, hallucination]) = mode.tally.shares().map(|all| all.map(|share| 100.0 * share)) else {
        let _ = writeln!(out, "{name:<10} {:>9}", 0);
        return;
    };
    let line = format!(
        "{name:<10} {:>9} {accuracy:>7.2} % {error:>7.2} % {hallucination:>11.2} %  {below:>16}",
        mode.tally.total()
    );
    let _ = writeln!(out, "{}", line.trim_end());
    if mode.missing > 0 {
        let _ = writeln!(out, "  {} without a response", count(mode.missing, "question"));
    }
}

/// The report as one JSON document: `proof.eval-gorilla/1`.
pub(crate) fn json(report: &Report<'_>) -> String {
    let mode = |mode: &Mode<'_>| {
        let [accuracy, error, hallucination] = mode.tally.shares().map_or([None; 3], |shares| shares.map(Some));
        let outcome =
            |(question, outcome): &(usize, Outcome)| json!({ "question": question, "outcome": outcome.name() });
        json!({
            "mode": (mode.retrieval != Retrieval::Unnamed).then(|| mode.retrieval.name()),
            "file": mode.file.display().to_string(),
            "responses": mode.tally.total(),
            "missing": mode.missing,
            "accuracy": accuracy,
            "error": error,
            "hallucination": hallucination,
            "belowOracle": report.degradation(mode),
            "outcomes": mode.outcomes.iter().map(outcome).collect::<Vec<Value>>(),
        })
    };
    let document = json!({
        "schema": "proof.eval-gorilla/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "hub": hub(report.apis.hub),
        "passed": report.has_passed,
        "required": report.required / 100.0,
        "apis": report.apis.len(),
        "unmatchableApis": report.apis.unmatchable,
        "modes": report.modes.iter().map(mode).collect::<Vec<_>>(),
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}
