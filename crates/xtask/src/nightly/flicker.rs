//! Whether the same check comes to the same end every time. Reads reports; knows nothing of what was checked.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The outcomes that each rule had at each place, with the messages, over the reports seen.
#[derive(Default)]
pub(super) struct Seen {
    reports: usize,
    outcomes: BTreeMap<String, BTreeMap<String, Vec<usize>>>,
    messages: BTreeMap<(String, String), BTreeSet<String>>,
}

/// Runs a check and reads its report.
pub(super) fn report(mut check: Command) -> anyhow::Result<Value> {
    let output = check.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("proof does not start")?;
    ensure!(matches!(output.status.code(), Some(0 | 1)), "proof gave no verdict ({})", output.status);
    serde_json::from_slice(&output.stdout).context("the report is not JSON")
}

impl Seen {
    pub(super) fn add(&mut self, report: &Value) -> anyhow::Result<()> {
        let results = report["results"].as_array().context("the report has no results")?;
        ensure!(!results.is_empty(), "the report is empty");
        for finding in results {
            let text = |name: &str| finding[name].as_str().with_context(|| format!("a result has no {name}"));
            let place = format!("{} at {} over {}", text("rule")?, text("revision")?, text("transport")?);
            let outcome = text("outcome")?.to_owned();
            self.messages.entry((place.clone(), outcome.clone())).or_default().insert(text("message")?.to_owned());
            self.outcomes.entry(place).or_default().entry(outcome).or_default().push(self.reports);
        }
        self.reports += 1;
        Ok(())
    }

    /// What did not come out the same in every report.
    fn flickering(&self) -> impl Iterator<Item = (&String, &BTreeMap<String, Vec<usize>>)> {
        let whole = |times: &Vec<usize>| times.len() == self.reports;
        self.outcomes.iter().filter(move |(_, outcomes)| outcomes.len() > 1 || !outcomes.values().all(whole))
    }

    /// Prints every flicker; returns whether there was none.
    pub(super) fn print(&self) -> bool {
        for (place, outcomes) in self.flickering() {
            println!("  flickers: {place}");
            for (outcome, times) in outcomes {
                let messages = self.messages.get(&(place.clone(), outcome.clone()));
                let message = messages.and_then(BTreeSet::first).map_or("", String::as_str);
                println!("    {outcome} {} of {}: {}", times.len(), self.reports, message.escape_debug());
            }
        }
        self.flickering().next().is_none()
    }

    pub(super) fn figure(&self) -> String {
        format!("{} outcomes each, {} flicker", self.outcomes.len(), self.flickering().count())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Seen;

    fn seen(outcomes: &[&str]) -> Seen {
        let mut seen = Seen::default();
        for outcome in outcomes {
            let result =
                |rule| json!({"rule": rule, "revision": "r", "transport": "t", "outcome": outcome, "message": ""});
            let mut results = vec![result("one")];
            if *outcome == "fail" {
                results.push(result("two"));
            }
            seen.add(&json!({ "results": results })).expect("a report");
        }
        seen
    }

    #[test]
    fn another_outcome_or_none_is_a_flicker() {
        assert!(seen(&["pass", "pass"]).print());
        assert!(seen(&["fail", "fail"]).print());
        assert!(!seen(&["pass", "warn", "pass"]).print());
        assert_eq!(seen(&["fail", "pass"]).figure(), "2 outcomes each, 2 flicker");
        assert!(Seen::default().add(&json!({"results": []})).is_err());
    }
}
