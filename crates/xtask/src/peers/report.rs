//! Reads a `proof.report/1` as strictly as we use it, and counts it. It knows the report and nothing of how it was made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::catalog::Peer;

/// The head of the table whose rows are [`Report::row`].
pub(super) const TABLE_HEAD: &str = concat!(
    "                         MUST                            SHOULD  SAFETY\n",
    "peer                     pass  fail  not-ex.  not-appl.    warn    fail  wall s  revisions",
);

/// What we use of one entry of `results`.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) rule: String,
    pub(super) level: String,
    pub(super) revision: String,
    pub(super) outcome: String,
    pub(super) message: String,
    pub(super) url: String,
}

/// What we use of a report.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) revisions: BTreeSet<String>,
    pub(super) results: Vec<Judged>,
}

const OUTCOMES: [&str; 5] = ["pass", "fail", "warn", "not-exercised", "not-applicable"];

impl Report {
    /// Parses the one document that `proof check --format json` prints.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let report: Value = serde_json::from_str(text).context("the report is not JSON")?;
        ensure!(
            report["schema"] == "proof.report/1",
            "the report's schema is {}, not proof.report/1",
            report["schema"]
        );
        let runs = report["runs"].as_array().context("the report has no `runs`")?;
        let revision = |run: &Value| run["revision"].as_str().map(str::to_owned);
        let revisions = runs.iter().map(revision).collect::<Option<_>>().context("a run has no revision")?;
        let results = report["results"].as_array().context("the report has no `results`")?;
        let results =
            results.iter().enumerate().map(|(at, one)| Judged::parse(one).with_context(|| format!("results[{at}]")));
        Ok(Self { revisions, results: results.collect::<anyhow::Result<_>>()? })
    }

    /// What `peers/expected.json` must explain: the broken MUST rules and the broken safety rules.
    pub(super) fn grave(&self) -> impl Iterator<Item = &Judged> {
        self.results.iter().filter(|one| matches!(&*one.level, "MUST" | "SAFETY") && one.outcome == "fail")
    }

    /// How often each outcome was given at a level.
    fn count(&self, level: &str) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for one in self.results.iter().filter(|one| one.level == level) {
            *counts.entry(one.outcome.as_str()).or_default() += 1;
        }
        counts
    }

    /// One row of the table.
    pub(super) fn row(&self, peer: &Peer, wall: Duration) -> String {
        let of = |level: &str, outcome: &str| self.count(level).get(outcome).copied().unwrap_or(0);
        let must = |outcome: &str| of("MUST", outcome);
        let revisions: Vec<&str> = self.revisions.iter().map(|one| one.trim_start_matches("20")).collect();
        format!(
            "{:<23} {:>5} {:>5} {:>8} {:>10} {:>7} {:>7} {:>7.1}  {}",
            peer.id(),
            must("pass"),
            must("fail"),
            must("not-exercised"),
            must("not-applicable"),
            of("SHOULD", "warn"),
            of("SAFETY", "fail"),
            wall.as_secs_f32(),
            revisions.join(" "),
        )
    }
}

impl Judged {
    fn parse(value: &Value) -> anyhow::Result<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let required = |name: &str| text(name).with_context(|| format!("no text `{name}`"));
        let judged = Self {
            rule: required("rule")?,
            level: required("level")?,
            revision: required("revision")?,
            outcome: required("outcome")?,
            message: text("message").unwrap_or_default(),
            url: text("url").unwrap_or_default(),
        };
        ensure!(OUTCOMES.contains(&judged.outcome.as_str()), "unknown outcome {:?}", judged.outcome);
        Ok(judged)
    }
}
