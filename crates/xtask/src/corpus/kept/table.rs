//! The results of the kept corpus: totals, the score of each configuration, and missed minimums.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use super::way::Way;

/// The minimums: servers, ways to reach them in all, and generated cases, each counted once for a server.
const SERVERS: usize = 30;
const CONFIGURATIONS: usize = 60;
const CASES: usize = 702;
/// The score of a server that breaks no MUST.
const FULL: f64 = 100.0;

pub(super) const HEAD: &str =
    "server           way    revision    cases passed failed    score  MUST passed  not exercised";

/// The results of one configuration.
pub(super) struct Row {
    server: String,
    way: &'static str,
    revision: &'static str,
    names: BTreeSet<String>,
    /// Cases that passed, and those that did not.
    passed: usize,
    failed: usize,
    score: f64,
    /// MUST rules that were kept, and those that nothing exercised.
    kept: usize,
    not_exercised: usize,
}

impl Row {
    /// Reads the reports of `proof test` and `proof check`.
    pub(super) fn new(server: &str, way: &Way, tested: &Value, checked: &Value) -> anyhow::Result<Self> {
        let count = |report: &Value, name: &str| {
            let count = report[name].as_u64().and_then(|count| usize::try_from(count).ok());
            count.with_context(|| format!("the report has no count of `{name}`"))
        };
        let places = tested["files"].as_array().into_iter().flatten().filter_map(|file| file["places"].as_array());
        let cases = places.flatten().filter_map(|place| place["cases"].as_array()).flatten();
        let names = cases.filter_map(|case| case["name"].as_str().map(str::to_owned)).collect();
        let (summary, must) = (&tested["summary"], &checked["summary"]["must"]);
        let not_run =
            ["failed", "xfailed", "skipped"].iter().map(|name| count(summary, name)).sum::<anyhow::Result<usize>>()?;
        Ok(Self {
            server: server.to_owned(),
            way: way.name,
            revision: way.revision,
            names,
            passed: count(summary, "passed")?,
            failed: not_run,
            score: checked["summary"]["score"].as_f64().context("no rule was judged")?,
            kept: count(must, "pass")?,
            not_exercised: count(must, "not_exercised")?,
        })
    }

    fn is_full(&self) -> bool {
        self.score >= FULL
    }

    fn shown_score(&self) -> String {
        if self.is_full() { "100/100".to_owned() } else { format!("{:.1}/100", self.score) }
    }

    /// A line on the terminal.
    pub(super) fn line(&self) -> String {
        format!(
            "{:<16} {:<6} {:<10} {:>6} {:>6} {:>6} {:>8} {:>12} {:>14}",
            self.server,
            self.way,
            self.revision,
            self.names.len(),
            self.passed,
            self.failed,
            self.shown_score(),
            self.kept,
            self.not_exercised
        )
    }

    /// What is wrong with it, if anything.
    pub(super) fn complaint(&self) -> Option<String> {
        let name = format!("{}.{}", self.server, self.way);
        if self.failed > 0 || self.passed == 0 {
            return Some(format!("{name}: {} cases passed, {} did not", self.passed, self.failed));
        }
        (!self.is_full()).then(|| format!("{name}: the score is {}", self.shown_score()))
    }
}

/// Counts over all configurations.
struct Totals {
    servers: usize,
    distinct: usize,
    passed: usize,
    failed: usize,
    full: usize,
}

impl Totals {
    fn of(rows: &[Row]) -> Self {
        let cases: BTreeSet<(&str, &str)> =
            rows.iter().flat_map(|row| row.names.iter().map(|name| (row.server.as_str(), name.as_str()))).collect();
        Self {
            servers: rows.iter().map(|row| row.server.as_str()).collect::<BTreeSet<_>>().len(),
            distinct: cases.len(),
            passed: rows.iter().map(|row| row.passed).sum(),
            failed: rows.iter().map(|row| row.failed).sum(),
            full: rows.iter().filter(|row| row.is_full()).count(),
        }
    }
}

/// The last line on the terminal.
pub(super) fn totals(rows: &[Row]) -> String {
    let Totals { servers, distinct, passed, failed, full } = Totals::of(rows);
    format!(
        "\n{servers} servers, {} configurations: {distinct} cases, played {} times, {passed} passed, {failed} did not.\n\
         100/100: {full} of {}.",
        rows.len(),
        passed + failed,
        rows.len()
    )
}

/// Minimums that the corpus misses.
pub(super) fn shortfalls(rows: &[Row]) -> Vec<String> {
    let totals = Totals::of(rows);
    let counts = [
        ("servers", totals.servers, SERVERS),
        ("configurations", rows.len(), CONFIGURATIONS),
        ("distinct cases", totals.distinct, CASES),
    ];
    let short = counts.into_iter().filter(|(_, count, least)| count < least);
    short.map(|(what, count, least)| format!("{count} {what}; expected: {least}")).collect()
}

/// The page beside the files.
pub(super) fn page(rows: &[Row]) -> String {
    let Totals { servers, distinct, passed, full, .. } = Totals::of(rows);
    let mut out = String::from("# A corpus of servers and test files\n\n");
    let _ = write!(
        out,
        "    proof test examples/corpus            play every file\n    \
         cargo xtask corpus kept               play every file and check every server\n    \
         cargo xtask corpus kept --write       make the files and this page from the servers\n\n\
         `servers/` has {servers} [catalogues](../../docs/serve.md#write-a-fake-server). Each is reached in two ways: over stdio, and over\n\
         Streamable HTTP, WebSocket or HTTP+SSE. A test file `NAME.WAY.mcp.yaml` is what `proof generate` made from the server, reached\n\
         that way; `proof` must be in `PATH`, since the files start it.\n\n\
         Totals: **{} configurations, {distinct} cases** that differ in server or name, {passed} results as expected, and a score of 100/100\n\
         in {full} of {}. The score counts the MUST rules that were judged. The last column counts those that no message exercised:\n\
         a small server has no part that they are about.\n\n",
        rows.len(),
        rows.len()
    );
    out.push_str("| server | way | revision | cases | passed | score | MUST rules passed | not exercised |\n");
    out.push_str("|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.server,
            row.way,
            row.revision,
            row.names.len(),
            row.passed,
            row.shown_score(),
            row.kept,
            row.not_exercised
        );
    }
    out
}
