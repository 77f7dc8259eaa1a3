//! Findings that have one cause: which rules are broken because another is. Changes no outcome and no count.

use std::collections::BTreeMap;

use report::Finding;
use wire::Transport;

use super::{Defect, Defects};

/// Which rules explain others, where both are broken in one run.
const CAUSES: &[Cause] = &[
    // Where connections are refused, the end of a server shows in every session.
    Cause {
        rules: &["safety.keeps-answering"],
        explains: &["jsonrpc.answered-before-end"],
        shared: Shared::RunOverNetwork,
    },
    // A server that ends answers nothing any more, whatever it ended over.
    Cause {
        rules: &["safety.no-crash"],
        explains: &[
            "jsonrpc.answered-before-end",
            "safety.keeps-answering",
            "safety.survives-garbage",
            "safety.survives-deep-nesting",
            "safety.survives-large-message",
            "safety.survives-unknown-notification",
        ],
        shared: Shared::Run,
    },
    Cause { rules: &["http.origin-validated"], explains: &["http.origin-forbidden"], shared: Shared::Run },
    Cause { rules: &["shape.results"], explains: &["lifecycle.server-info-told"], shared: Shared::Event },
    // One says what is wrong with a message, the other that it therefore is no message.
    Cause {
        rules: &[
            "jsonrpc.call-members",
            "jsonrpc.error-code-integer",
            "jsonrpc.error-object",
            "jsonrpc.json",
            "jsonrpc.members-unique",
            "jsonrpc.notification-no-id",
            "jsonrpc.object",
            "jsonrpc.one-kind",
            "jsonrpc.one-message",
            "jsonrpc.request-id-not-null",
            "jsonrpc.request-id-type",
            "jsonrpc.result-id",
            "jsonrpc.result-xor-error",
            "jsonrpc.utf8",
            "jsonrpc.version-member",
        ],
        explains: &[
            "http.json-is-one-message",
            "safety.streams-carry-messages",
            "stdio.no-batches",
            "stdio.only-messages-on-stdout",
        ],
        shared: Shared::Event,
    },
];

struct Cause {
    /// Each of them is a cause.
    rules: &'static [&'static str],
    explains: &'static [&'static str],
    shared: Shared,
}

/// What a broken cause and what it explains must have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shared {
    /// The run.
    Run,
    /// The run, which is not over stdio: there processes end for different reasons.
    RunOverNetwork,
    /// Each event of what it explains.
    Event,
}

/// A case and an event in it.
type Place = (String, usize);

/// Notes in the findings of one run which of them another explains.
pub fn relate(findings: &mut [Finding]) {
    for cause in CAUSES {
        let broken: Vec<(&'static str, Vec<Place>)> =
            findings.iter().filter(|one| is_broken(one, cause.rules)).map(|one| (one.rule, places(one))).collect();
        for finding in findings.iter_mut().filter(|one| is_broken(one, cause.explains)) {
            match cause.shared {
                Shared::Event => relate_by_events(&broken, finding),
                Shared::RunOverNetwork if finding.transport == Transport::Stdio => {}
                Shared::Run | Shared::RunOverNetwork => {
                    finding.consequence_of = broken.first().map(|one| one.0).or(finding.consequence_of);
                }
            }
        }
    }
}

/// Whether `rule` is broken in a case only at events at which a rule that explains it is broken, too, and `is_told`.
pub fn is_told_by_another(
    rule: &str,
    defects: &BTreeMap<&'static str, Defects>,
    is_told: impl Fn(&'static str) -> bool,
) -> bool {
    let Some(own) = defects.get(rule).filter(|own| !own.is_cut) else { return false };
    let causes = CAUSES.iter().filter(|cause| cause.shared == Shared::Event && cause.explains.contains(&rule));
    let causes: Vec<_> = causes.flat_map(|cause| cause.rules).filter(|cause| is_told(cause)).collect();
    let shown: Vec<&Defect> =
        causes.iter().filter_map(|cause| defects.get(*cause)).flat_map(|defects| &defects.all).collect();
    own.all.iter().all(|defect| shown.iter().any(|other| other.event == defect.event))
}

fn is_broken(finding: &Finding, rules: &[&str]) -> bool {
    finding.outcome.is_broken() && rules.contains(&finding.rule)
}

/// Where a finding stands.
fn places(finding: &Finding) -> Vec<Place> {
    finding.evidence.iter().map(|evidence| (evidence.case.clone(), evidence.event)).collect()
}

/// The whole finding has the cause of its first event, if each event has one. What has more than it shows may have others.
fn relate_by_events(causes: &[(&'static str, Vec<Place>)], finding: &mut Finding) {
    let cause_of = |place: &Place| causes.iter().find(|(_, shown)| shown.contains(place)).map(|(rule, _)| *rule);
    let found: Vec<Option<&'static str>> = places(finding).iter().map(cause_of).collect();
    if found.iter().all(Option::is_some) && !finding.more_defects {
        finding.consequence_of = found.first().copied().flatten().or(finding.consequence_of);
        return;
    }
    for (evidence, cause) in finding.evidence.iter_mut().zip(found) {
        evidence.consequence_of = cause.or(evidence.consequence_of);
    }
}

#[cfg(test)]
mod tests {
    use report::{Evidence, Finding, Outcome};
    use wire::{Level, Revision, Transport};

    use super::{BTreeMap, CAUSES, Defect, Defects, is_told_by_another, relate};
    use crate::judging::defects::Before;

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
    fn over_a_network_the_end_of_a_server_is_one_finding() {
        let over = |transport| {
            let end = |rule, event| Finding { transport, ..finding(rule, Outcome::Fail, event) };
            let mut findings = [end("jsonrpc.answered-before-end", 4), end("safety.keeps-answering", 9)];
            relate(&mut findings);
            explained(&findings)
        };
        assert_eq!(over(Transport::StreamableHttp), [Some("safety.keeps-answering"), None]);
        assert_eq!(over(Transport::Stdio), [None, None], "silence of one process does not end another");
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
    fn a_line_that_is_no_message_is_explained_by_what_is_wrong_with_it() {
        let explained = |causes: &[(&'static str, usize)], events: &[usize], more_defects| {
            let mut line = finding("stdio.only-messages-on-stdout", Outcome::Fail, 0);
            line.evidence = events.iter().map(|event| Evidence { event: *event, ..Evidence::default() }).collect();
            line.more_defects = more_defects;
            let causes = causes.iter().map(|(rule, event)| finding(rule, Outcome::Fail, *event));
            let mut findings: Vec<_> = causes.chain([line]).collect();
            relate(&mut findings);
            findings.last().and_then(|line| line.consequence_of)
        };
        let (id, version) = (("jsonrpc.result-id", 2), ("jsonrpc.version-member", 5));
        assert_eq!(explained(&[id], &[2], false), Some("jsonrpc.result-id"));
        assert_eq!(
            explained(&[id, version], &[5, 2], false),
            Some("jsonrpc.version-member"),
            "that of the first event"
        );
        assert_eq!(explained(&[id], &[2, 5], false), None, "the other line has no cause");
        let mut findings =
            [finding(id.0, Outcome::Fail, 2), finding("stdio.only-messages-on-stdout", Outcome::Fail, 5)];
        findings[1].evidence.push(Evidence { event: 2, ..Evidence::default() });
        relate(&mut findings);
        let causes: Vec<_> = findings[1].evidence.iter().map(|evidence| evidence.consequence_of).collect();
        assert_eq!(causes, [None, Some("jsonrpc.result-id")], "but this one has");
        assert_eq!(explained(&[id], &[2], true), None, "what is not shown may have another cause");
        assert_eq!(explained(&[id], &[], false), None, "no event shows both");
    }

    #[test]
    fn what_another_rule_tells_is_not_told_twice() {
        let defect = |event| {
            let (pointer, why, before) = (String::new(), String::new(), Before::default());
            Defect { event, pointer, why, times: 1, before }
        };
        let of = |events: &[usize]| Defects { all: events.iter().map(|event| defect(*event)).collect(), is_cut: false };
        let (line, id) = ("stdio.only-messages-on-stdout", "jsonrpc.result-id");
        let defects = BTreeMap::from([(line, of(&[2])), (id, of(&[2, 3]))]);
        assert!(is_told_by_another(line, &defects, |rule| rule == id));
        assert!(!is_told_by_another(line, &defects, |_| false), "the other did not come again");
        assert!(!is_told_by_another(id, &defects, |_| true), "the cause itself");
        let defects = BTreeMap::from([(line, of(&[2, 4])), (id, of(&[2, 3]))]);
        assert!(!is_told_by_another(line, &defects, |_| true), "one line has no cause");
    }

    #[test]
    fn every_rule_exists() {
        for rule in CAUSES.iter().flat_map(|cause| cause.explains.iter().chain(cause.rules)) {
            assert!(rules::find(rule).is_some(), "{rule}");
        }
    }
}
