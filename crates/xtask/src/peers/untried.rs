//! Which MUST rules no peer exercises: what the check says of them is known from our own server and client alone.

use std::collections::BTreeMap;

use super::report::Report;

/// Each MUST rule of the reports so far, and whether it was judged on some peer.
#[derive(Debug, Default)]
pub(super) struct Tried(BTreeMap<String, bool>);

impl Tried {
    pub(super) fn add(&mut self, report: &Report) {
        for one in report.results.iter().filter(|one| one.level == "MUST") {
            let judged = matches!(&*one.outcome, "pass" | "fail" | "warn");
            *self.0.entry(one.rule.clone()).or_default() |= judged;
        }
    }

    /// How many rules there are, how many are exercised on no peer, and which.
    pub(super) fn text(&self) -> String {
        let untried: Vec<&str> = self.0.iter().filter(|(_, judged)| !**judged).map(|(rule, _)| rule.as_str()).collect();
        let head = format!("{} of {} MUST rules are exercised on no peer:\n", untried.len(), self.0.len());
        untried.iter().fold(head, |text, rule| text + "    " + rule + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::Report;
    use super::Tried;

    #[test]
    fn one_peer_is_enough() {
        let report = |outcomes: [&str; 3]| {
            let result = |(rule, outcome): (&str, &str)| serde_json::json!({ "rule": rule, "level": "MUST", "revision": "2025-11-25", "outcome": outcome });
            let results: Vec<_> = ["a", "b", "c"].into_iter().zip(outcomes).map(result).collect();
            let text = serde_json::json!({ "schema": "proof.report/1", "runs": [], "results": results }).to_string();
            Report::parse(&text).expect("a report")
        };
        let mut tried = Tried::default();
        tried.add(&report(["pass", "not-exercised", "not-applicable"]));
        tried.add(&report(["not-exercised", "fail", "not-exercised"]));
        assert_eq!(tried.text(), "1 of 3 MUST rules are exercised on no peer:\n    c\n");
    }
}
