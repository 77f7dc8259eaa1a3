//! The results of the APIs in `examples/factory`: a line for each, totals, and missed minimums.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

/// The minimums: APIs, test files, and cases with different names.
const APIS: usize = 37;
const FILES: usize = 60;
const CASES: usize = 702;
/// The score of a server that breaks no MUST.
const FULL: f64 = 100.0;

pub(super) const HEAD: &str = "API                  tools  files  cases  passed  failed    score  lock  seconds";

/// Around the table in README.md.
const BEGIN: &str = "<!-- made by cargo xtask factory --write -->\n";
const END: &str = "<!-- end -->";

/// The results of one API.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    tools: usize,
    uncallable: bool,
    files: usize,
    cases: usize,
    passed: usize,
    failed: usize,
    score: f64,
    /// Whether the check passed, as its report says.
    is_clean: bool,
    is_locked: bool,
    time: Duration,
}

impl Row {
    /// Reads what `proof serve --check`, `proof check` and `proof test` report.
    pub(super) fn new(
        name: &str,
        described: &str,
        (checked, tested): (&Value, &Value),
        is_locked: bool,
        time: Duration,
    ) -> anyhow::Result<Self> {
        let first = described.lines().next().unwrap_or_default();
        let tools = first.rsplit(": ").next().and_then(|text| text.split(' ').next()?.parse().ok());
        let listed = tested["files"].as_array().into_iter().flatten();
        let mut names = BTreeSet::new();
        for file in listed.clone() {
            let path = file["file"].as_str().context("the report names no file")?;
            let places = file["places"].as_array().into_iter().flatten();
            let cases = places.filter_map(|place| place["cases"].as_array()).flatten();
            names.extend(cases.filter_map(|case| case["name"].as_str()).map(|case| (path, case)));
        }
        let count = |name: &str| {
            let count = tested["summary"][name].as_u64().and_then(|count| usize::try_from(count).ok());
            count.with_context(|| format!("the report of the tests has no count of `{name}`"))
        };
        let failed = ["failed", "xfailed", "skipped"].map(count).into_iter().sum::<anyhow::Result<usize>>()?;
        Ok(Self {
            name: name.to_owned(),
            tools: tools.context("the first line of `proof serve --check` has no number of tools")?,
            uncallable: described.contains("cannot be called"),
            files: listed.count(),
            cases: names.len(),
            passed: count("passed")?,
            failed,
            score: checked["summary"]["score"].as_f64().context("no rule was judged")?,
            is_clean: checked["verdict"]["passed"] == true,
            is_locked,
            time,
        })
    }

    /// A line on the terminal.
    pub(super) fn line(&self) -> String {
        format!(
            "{:<20} {:>5}  {:>5}  {:>5}  {:>6}  {:>6}  {:>7}  {:<4}  {:>7.1}",
            self.name,
            self.tools,
            self.files,
            self.cases,
            self.passed,
            self.failed,
            self.shown_score(),
            if self.is_locked { "ok" } else { "no" },
            self.time.as_secs_f64()
        )
    }

    fn shown_score(&self) -> String {
        if self.score >= FULL { "100/100".to_owned() } else { format!("{:.1}/100", self.score) }
    }

    /// What is wrong with it, if anything.
    pub(super) fn complaint(&self) -> Option<String> {
        let what = if self.tools == 0 || self.uncallable {
            "operations cannot be called".to_owned()
        } else if self.score < FULL || !self.is_clean {
            format!("the score is {}, the check passed: {}", self.shown_score(), self.is_clean)
        } else if self.failed > 0 || self.passed == 0 {
            format!("{} cases passed, {} did not", self.passed, self.failed)
        } else if !self.is_locked {
            "the server is not as its lock says".to_owned()
        } else {
            return None;
        };
        Some(format!("{}: {what}", self.name))
    }
}

/// APIs, files, cases, and APIs with the full score.
fn counts(rows: &[Row]) -> (usize, usize, usize, usize) {
    let sum = |count: fn(&Row) -> usize| rows.iter().map(count).sum();
    let full = rows.iter().filter(|row| row.complaint().is_none()).count();
    (rows.len(), sum(|row| row.files), sum(|row| row.cases), full)
}

pub(super) fn totals(rows: &[Row]) -> String {
    let (apis, files, cases, full) = counts(rows);
    let tools: usize = rows.iter().map(|row| row.tools).sum();
    format!(
        "{apis} APIs, {tools} tools, {files} test files, {cases} cases; {full} of {apis} at 100/100 with all cases passed"
    )
}

/// Which minimums are missed.
pub(super) fn shortfalls(rows: &[Row]) -> Vec<String> {
    let (apis, files, cases, _) = counts(rows);
    let minimums = [("APIs", apis, APIS), ("test files", files, FILES), ("cases", cases, CASES)];
    let missed = minimums.into_iter().filter(|(_, found, least)| found < least);
    missed.map(|(what, found, least)| format!("{found} {what}, and {least} is the minimum")).collect()
}

/// README.md with the table of these rows.
pub(super) fn written(readme: &str, rows: &[Row]) -> anyhow::Result<String> {
    let (before, rest) = readme.split_once(BEGIN).context("README.md has no place for the table")?;
    let (_, after) = rest.split_once(END).context("the table in README.md has no end")?;
    let mut table = format!("{before}{BEGIN}\n| API | tools | test files | cases | score |\n|---|---|---|---|---|\n");
    for row in rows {
        let _ = writeln!(
            table,
            "| [{0}]({0}) | {1} | {2} | {3} | {4} |",
            row.name,
            row.tools,
            row.files,
            row.cases,
            row.shown_score()
        );
    }
    let _ = write!(table, "\n{}.\n\n{END}{after}", totals(rows));
    Ok(table)
}
