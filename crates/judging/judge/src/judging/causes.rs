//! Findings that have one cause: which rules are broken because another is. Changes no outcome and no count.

use report::Finding;

/// Which rule explains the others, where both are broken in one run.
const CAUSES: &[Cause] = &[
    // A server that ends answers nothing any more, whatever it ended over.
    Cause {
        rule: "safety.no-crash",
        explains: &[
            "safety.keeps-answering",
            "safety.survives-garbage",
            "safety.survives-deep-nesting",
            "safety.survives-large-message",
            "safety.survives-unknown-notification",
        ],
        same_event: false,
    },
    Cause { rule: "http.origin-validated", explains: &["http.origin-forbidden"], same_event: false },
    Cause { rule: "shape.results", explains: &["lifecycle.server-info-told"], same_event: true },
];

struct Cause {
    rule: &'static str,
    explains: &'static [&'static str],
    /// Whether one event must show both.
    same_event: bool,
}

/// Notes in the findings of one run which of them another explains.
pub fn relate(findings: &mut [Finding]) {
    for cause in CAUSES {
        let Some(first) = findings.iter().find(|finding| finding.rule == cause.rule && finding.outcome.is_broken())
        else {
            continue;
        };
        let events = events(first);
        for finding in findings.iter_mut() {
            let is_explained = finding.outcome.is_broken() && cause.explains.contains(&finding.rule);
            if is_explained && (!cause.same_event || shows_only(finding, &events)) {
                finding.consequence_of = Some(cause.rule);
            }
        }
    }
}

/// Where a finding stands: its cases and events.
fn events(finding: &Finding) -> Vec<(String, usize)> {
    finding.evidence.iter().map(|evidence| (evidence.case.clone(), evidence.event)).collect()
}

fn shows_only(finding: &Finding, events: &[(String, usize)]) -> bool {
    let known = |at: &(String, usize)| events.contains(at);
    !finding.evidence.is_empty() && self::events(finding).iter().all(known)
}

#[cfg(test)]
mod tests {
    use report::{Evidence, Finding, Outcome};
    use wire::{Level, Revision, Transport};

    use super::{CAUSES, relate};

    fn finding(rule: &'static str, outcome: Outcome, event: usize) -> Finding {
        Finding {
            rule,
            level: Level::Must,
            revision: Revision::NEWEST,
            transport: Transport::Stdio,
            outcome,
            message: String::new(),
            url: String::new(),
            evidence: vec![Evidence { event, ..Evidence::default() }],
            more_defects: false,
            consequence_of: None,
            repro: None,
        }
    }

    fn explained(findings: &[Finding]) -> Vec<Option<&'static str>> {
        findings.iter().map(|finding| finding.consequence_of).collect()
    }

    #[test]
    fn what_a_crash_explains_is_its_consequence() {
        let mut findings =
            [finding("safety.survives-garbage", Outcome::Fail, 4), finding("safety.no-crash", Outcome::Fail, 9)];
        relate(&mut findings);
        assert_eq!(explained(&findings), [Some("safety.no-crash"), None]);
    }

    #[test]
    fn a_cause_that_is_kept_explains_nothing() {
        let mut findings =
            [finding("safety.survives-garbage", Outcome::Fail, 4), finding("safety.no-crash", Outcome::Pass, 9)];
        relate(&mut findings);
        assert_eq!(explained(&findings), [None, None]);
    }

    #[test]
    fn another_event_is_another_cause() {
        let at = |event| {
            let mut findings = [
                finding("shape.results", Outcome::Fail, 2),
                finding("lifecycle.server-info-told", Outcome::Fail, event),
            ];
            relate(&mut findings);
            findings[1].consequence_of
        };
        assert_eq!((at(2), at(3)), (Some("shape.results"), None));
    }

    #[test]
    fn every_rule_exists() {
        for rule in CAUSES.iter().flat_map(|cause| cause.explains.iter().chain([&cause.rule])) {
            assert!(rules::find(rule).is_some(), "{rule}");
        }
    }
}
