//! Reports of `proof eval retrieve`: for people in 80 columns, and as one JSON document.

use std::fmt::Write as _;
use std::path::Path;

use eval::retrieve::{Found, Mode, PLACES, Retrieval};
use report::render::text::{count, wrap};
use serde_json::{Value, json};
use wire::escape::{self, snippet};

/// How much is shown of a name.
const NAME: usize = 40;

/// What is reported.
pub(crate) struct Report<'r> {
    /// The file of cases.
    pub(crate) file: &'r Path,
    pub(crate) retrieval: &'r Retrieval,
    /// The ways of choosing tools that are compared.
    pub(crate) modes: &'r [Mode],
    /// How many tools there are.
    pub(crate) tools: usize,
    /// Whether the user's vectors were searched, and not words.
    pub(crate) by_vectors: bool,
    /// How many tools a search returns.
    pub(crate) at: usize,
    /// The share that must be found, in percent.
    pub(crate) required: f64,
    pub(crate) has_passed: bool,
}

impl Report<'_> {
    /// By how much a mode shows fewer of the expected tools than the oracle, where that is among them.
    fn below_oracle(&self, mode: Mode) -> Option<f64> {
        let is_compared =
            mode != Mode::Oracle && self.modes.contains(&Mode::Oracle) && !self.retrieval.found.is_empty();
        is_compared.then(|| 1.0 - self.retrieval.shares(mode, self.at).recall)
    }
}

/// The report for people.
pub(crate) fn human(report: &Report<'_>, verbose: bool) -> String {
    let (mut out, retrieval) = (String::new(), report.retrieval);
    for found in retrieval.found.iter().filter(|found| verbose || found.recall(report.at) < 1.0) {
        write_case(&mut out, report, found);
    }
    for (case, why) in &retrieval.skipped {
        wrap(&mut out, 0, &format!("left out: {}: {why}", snippet(case, NAME)));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if !retrieval.found.is_empty() {
        out.push_str("first   found   all found   tokens (estimated)\n");
        for (k, tokens) in PLACES.into_iter().zip(retrieval.tokens()) {
            let (recall, complete) = (100.0 * retrieval.recall(k), 100.0 * retrieval.complete(k));
            let _ = writeln!(out, "{k:>5}  {recall:>5.1} %     {complete:>5.1} %   {tokens:.0}");
        }
        let (mrr, ndcg) = (retrieval.mrr(), retrieval.ndcg());
        let _ = writeln!(out, "mean reciprocal rank {mrr:.3}, nDCG@10 {ndcg:.3}");
    }
    write_modes(&mut out, report);
    let by = if report.by_vectors { ", searched by vectors" } else { "" };
    let _ = writeln!(out, "{}, {}{by}", count(retrieval.found.len(), "question"), count(report.tools, "tool"));
    let verdict = if report.has_passed { "passed" } else { "failed" };
    let why = match (retrieval.found.is_empty(), report.required > 0.0) {
        (true, _) => ": nothing was measured".to_owned(),
        (false, true) => format!(": {} % must be among the first {}", report.required, report.at),
        (false, false) => String::new(),
    };
    let _ = writeln!(out, "{verdict}{why}");
    out
}

fn write_modes(out: &mut String, report: &Report<'_>) {
    if report.modes.is_empty() || report.retrieval.found.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nmode         found   all found     tokens   below the oracle");
    for mode in report.modes {
        let shares = report.retrieval.shares(*mode, report.at);
        let below = report.below_oracle(*mode).map_or_else(String::new, |share| format!("{:.1} points", 100.0 * share));
        let (recall, complete) = (100.0 * shares.recall, 100.0 * shares.complete);
        let line =
            format!("{:<9} {recall:>6.1} % {complete:>9.1} % {:>10.0} {below:>18}", mode.as_str(), shares.tokens);
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "bm25 shows {} to each question", count(report.at, "tool"));
}

fn write_case(out: &mut String, report: &Report<'_>, found: &Found) {
    let word = if found.recall(report.at) < 1.0 { "miss " } else { "found" };
    let file = escape::line(&report.file.to_string_lossy()).into_owned();
    let _ = writeln!(out, "{word}  {}  {file}:{}", snippet(&found.case, NAME), found.line);
    for (tool, place) in &found.tools {
        let place = place.map_or("not found".to_owned(), |place| format!("at place {place}"));
        wrap(out, 7, &format!("{} {place}", snippet(tool, NAME)));
    }
    let first: Vec<String> = found.first.iter().map(|tool| snippet(tool, NAME)).collect();
    if !first.is_empty() {
        wrap(out, 7, &format!("first: {}", first.join(", ")));
    }
}

/// The report as JSON: `proof.eval-retrieve/1`.
pub(crate) fn json(report: &Report<'_>) -> String {
    let retrieval = report.retrieval;
    let tokens = retrieval.tokens();
    let shares: Vec<Value> = PLACES
        .into_iter()
        .zip(tokens)
        .map(|(k, tokens)| {
            let (recall, complete) = (retrieval.recall(k), retrieval.complete(k));
            json!({ "k": k, "recall": recall, "complete": complete, "estimatedTokens": tokens })
        })
        .collect();
    let case = |found: &Found| {
        let tools: Vec<Value> =
            found.tools.iter().map(|(tool, place)| json!({ "tool": tool, "place": place })).collect();
        json!({ "case": found.case, "line": found.line, "expected": tools, "first": found.first })
    };
    let skipped: Vec<Value> = retrieval.skipped.iter().map(|(case, why)| json!({ "case": case, "why": why })).collect();
    let document = json!({
        "schema": "proof.eval-retrieve/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "cases": Path::display(report.file).to_string(),
        "passed": report.has_passed,
        "required": { "k": report.at, "recall": report.required / 100.0 },
        "recall": retrieval.recall(report.at),
        "tools": report.tools,
        "search": if report.by_vectors { "vectors" } else { "bm25" },
        "questions": retrieval.found.len(),
        "modes": report.modes.iter().map(|mode| mode_of(report, *mode)).collect::<Vec<_>>(),
        "mrr": retrieval.mrr(),
        "ndcg10": retrieval.ndcg(),
        "places": shares,
        "found": retrieval.found.iter().map(case).collect::<Vec<_>>(),
        "skipped": skipped,
    });
    format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn mode_of(report: &Report<'_>, mode: Mode) -> Value {
    let shares = report.retrieval.shares(mode, report.at);
    json!({
        "mode": mode.as_str(),
        "recall": shares.recall,
        "complete": shares.complete,
        "estimatedTokens": shares.tokens,
        "belowOracle": report.below_oracle(mode),
    })
}
