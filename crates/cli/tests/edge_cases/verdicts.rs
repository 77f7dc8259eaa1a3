//! One check with its report for people and the same one as JSON, and what tests ask of the two.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::{Ran, Run};

/// A check that is over.
pub(crate) struct Checked {
    pub(crate) ran: Ran,
    results: Vec<Value>,
}

impl Checked {
    /// Runs `check` (its target left out) against `target`.
    pub(crate) fn of(check: Run, target: &[impl AsRef<str>]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("report.json");
        let also = format!("json={}", file.display());
        let target: Vec<&str> = target.iter().map(AsRef::as_ref).collect();
        let ran = check.and(&["--also", &also]).and(&target).run();
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}\n{}", ran.output()));
        let report: Value = serde_json::from_str(&text).expect("a report");
        let results = report["results"].as_array().expect("results").clone();
        Self { ran, results }
    }

    /// No MUST and no SHOULD is broken, and at each of these revisions, and no other, so many rules were kept at least.
    #[track_caller]
    pub(crate) fn keeps(&self, least: &[(&str, usize)]) -> &Self {
        let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
        for result in &self.results {
            assert!(!matches!(text(result, "outcome"), "fail" | "warn"), "{result:#}\n{}", self.ran.output());
            let judged = text(result, "outcome") == "pass" && text(result, "level") == "MUST";
            *kept.entry(text(result, "revision")).or_default() += usize::from(judged);
        }
        let enough = kept.len() == least.len() && least.iter().all(|(at, n)| kept.get(at).is_some_and(|k| k >= n));
        assert!(enough, "kept: {kept:?}, wanted: {least:?}\n{}", self.ran.output());
        self
    }

    /// This rule was judged and kept wherever it applies.
    #[track_caller]
    pub(crate) fn passes(&self, rule: &str) -> &Self {
        let outcomes = |at: &str| {
            let found = self.results.iter().filter(|result| text(result, "rule") == rule);
            found.filter(|result| text(result, "outcome") == at).count()
        };
        let (kept, gaps) = (outcomes("pass"), outcomes("not-exercised"));
        assert!(kept > 0 && gaps == 0, "{rule}: {kept} kept, {gaps} not exercised\n{}", self.ran.output());
        self
    }

    /// What the rules of an area are about is nothing that the server declares: none is a gap, but for those that bind
    /// just such a server.
    #[track_caller]
    pub(crate) fn lacks(&self, area: &str, capability: &str, least: usize) -> &Self {
        let spared = ["capability-declared", "negotiation-respected", "not-supported-code"];
        let why = format!("the server does not declare `{capability}`");
        let mut lacking = 0;
        for result in self.results.iter().filter(|result| text(result, "rule").starts_with(area)) {
            if spared.iter().any(|end| text(result, "rule").ends_with(end)) {
                continue;
            }
            assert_eq!(text(result, "outcome"), "not-applicable", "{result:#}");
            lacking += usize::from(text(result, "message") == why);
        }
        assert!(lacking >= least, "{lacking} rules of {area} say: {why}");
        self
    }

    /// The report for people has each of these parts, however its lines are broken.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) -> &Self {
        let flat = self.ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(flat.contains(part), "no `{part}` in:\n{}", self.ran.stdout);
        }
        self
    }

    /// How a check ends that found all in order.
    #[track_caller]
    pub(crate) fn is_clean(&self) -> &Self {
        self.ran.ends_with(0);
        self.says(&["Score 100/100: all ", "applicable"]);
        assert_eq!(self.ran.last_line(), "Passed: no rule is broken.");
        self
    }
}

fn text<'r>(result: &'r Value, member: &str) -> &'r str {
    result[member].as_str().unwrap_or_default()
}
