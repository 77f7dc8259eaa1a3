//! How the verdicts of cases with and without a greeting become one finding.

use rules::{Stop, Verdict};
use wire::redact::Redactor;
use wire::trace::file;
use wire::{Revision, Transport};

use super::Sources;
use crate::judging::{Judged, Reproduce, RunId, Selection};
use report::Outcome;

/// A trace of 2025-11-25 over stdio in which the server says that it can do this, if anything.
fn trace(capabilities: Option<&str>) -> wire::trace::Trace {
    let header =
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio","revision":"2025-11-25","case":"t"}"#;
    let greeting = capabilities.map_or(String::new(), |declared| {
        let asks = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let result = format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{declared}}}"#);
        let says = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let (asks, says) = (
            format!(r#"{{"at":1,"from":"client","line":{asks}}}"#),
            format!(r#"{{"at":2,"from":"server","line":{says}}}"#),
        );
        format!("{asks}\n{says}\n")
    });
    file::read(&format!("{header}\n{greeting}")).expect("a trace")
}

/// What one rule comes to over cases of which each began with such a greeting, or with none.
fn outcome(rule: &str, cases: &[Option<&str>]) -> (Outcome, String) {
    let (revision, by) = (Revision::R2025_11_25, Selection::default());
    let judged: Vec<_> =
        cases.iter().map(|capabilities| Judged::new("t", Vec::new(), &trace(*capabilities), revision, &by)).collect();
    let place = RunId { transport: Transport::Stdio, revision };
    let redactor = Redactor::new([0; 32]);
    let findings = Sources::new(&judged, place, &Reproduce::new(|facts| facts.rule.to_owned()), &redactor).findings();
    let found = findings.into_iter().find(|finding| finding.rule == rule).expect("the rule");
    (found.outcome, found.message)
}

const BY_NEED: &str = "prompts.unknown-refused";
const BY_SUBJECT: &str = "prompts.images-encoded";

#[test]
fn a_case_without_a_greeting_hides_no_declaration() {
    for rule in [BY_NEED, BY_SUBJECT] {
        let (found, why) = outcome(rule, &[None, Some(r#"{"tools":{}}"#), None]);
        assert_eq!(found, Outcome::NotApplicable, "{rule}: {why}");
        assert_eq!(why, "the server does not declare `prompts`", "{rule}");
    }
}

#[test]
fn what_is_declared_in_any_case_is_a_gap() {
    for rule in [BY_NEED, BY_SUBJECT] {
        let (found, why) = outcome(rule, &[None, Some("{}"), Some(r#"{"prompts":{}}"#)]);
        assert_eq!(found, Outcome::NotExercised, "{rule}: {why}");
        assert!(!why.contains("learnt") && !why.contains("declare"), "{rule}: {why}");
    }
}

#[test]
fn without_any_greeting_it_is_a_gap() {
    for rule in [BY_NEED, BY_SUBJECT] {
        assert_eq!(outcome(rule, &[None, None]).0, Outcome::NotExercised, "{rule}");
    }
}

#[test]
fn a_case_without_time_for_judging_shows_nothing_and_says_so() {
    let (revision, by) = (Revision::R2025_11_25, Selection::default());
    let greeted = trace(Some(r#"{"tools":{}}"#));
    let until = |stop: &Stop| Judged::until(stop, "t", Vec::new(), &greeted, revision, &by);
    let holds = |judged: &Judged| judged.verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Holds(_)));
    let stop = Stop::default();
    let judged = until(&stop);
    assert!(!judged.stopped && holds(&judged));
    stop.stop();
    let judged = until(&stop);
    assert!(judged.stopped && !holds(&judged));
}

/// A server whose greeting and whose list of tools are wrong in different ways, the list twice in the same.
fn doubly_wrong() -> wire::trace::Trace {
    let header =
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio","revision":"2025-11-25","case":"t"}"#;
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"string"}}}}"#);
    let list = format!(r#"{{"tools":[{},{}]}}"#, tool("a"), tool("b"));
    let lines = [
        ("client", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#.to_owned()),
        ("server", r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x"}}}"#.to_owned()),
        ("client", r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"c"}}"#.to_owned()),
        ("server", format!(r#"{{"jsonrpc":"2.0","id":2,"result":{list}}}"#)),
    ];
    let lines =
        lines.iter().enumerate().map(|(at, (from, line))| format!(r#"{{"at":{at},"from":"{from}","line":{line}}}"#));
    file::read(&format!("{header}\n{}\n", lines.collect::<Vec<_>>().join("\n"))).expect("a trace")
}

#[test]
fn different_defects_stand_apart_with_their_requests() {
    let (revision, by) = (Revision::R2025_11_25, Selection::default());
    let judged = [Judged::new("t", Vec::new(), &doubly_wrong(), revision, &by)];
    let place = RunId { transport: Transport::Stdio, revision };
    let redactor = Redactor::new([0; 32]);
    let findings = Sources::new(&judged, place, &Reproduce::new(|facts| facts.rule.to_owned()), &redactor).findings();
    let found = findings.iter().find(|finding| finding.rule == "shape.results").expect("the rule");
    let shown: Vec<_> = found
        .evidence
        .iter()
        .map(|one| {
            (one.method.as_deref(), one.pointer.as_str(), one.sent.as_ref().map(|sent| sent.text.as_str()), one.times)
        })
        .collect();
    let greeting = concat!(
        r#"initialize (id 1) {"protocolVersion":"2025-11-25","capabilities":{},"#,
        r#""clientInfo":{"name":"c","version":"1"}}"#
    );
    assert_eq!(
        shown,
        [
            (Some("initialize"), "/result/serverInfo/version", Some(greeting), 1),
            (Some("tools/list"), "/result/tools/0/inputSchema/type", Some("tools/list (id 2) {\"cursor\":\"c\"}"), 2),
        ]
    );
    assert!(found.message.contains("serverInfo"), "{}", found.message);
    let told = findings.iter().find(|finding| finding.rule == "lifecycle.server-info-told").expect("the rule");
    assert_eq!(told.consequence_of, Some("shape.results"));
}
