//! What rules that bind clients make of what a client declared, and that none of them has a word on servers.

use rules::judge::judge;
use rules::{Role, Verdict, View, all_rules};
use serde_json::{Value, json};
use wire::trace::file;
use wire::{Era, Party, Revision};

/// The beginning of a trace of a client that declares these capabilities; of one that declares nothing where there are none.
fn verdict(rule: &rules::Rule, subject: Party, revision: Revision, declared: Option<Value>) -> Verdict {
    let header = json!({
        "trace": "proof.trace/1", "subject": subject.as_str(), "transport": "stdio", "revision": revision.as_str(), "case": "t"
    });
    let mut lines = vec![header];
    if let Some(capabilities) = declared {
        let (method, params) = match revision.era() {
            Era::Legacy => {
                ("initialize", json!({ "protocolVersion": revision.as_str(), "capabilities": capabilities }))
            }
            Era::Modern => {
                let version = json!(revision.as_str());
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": version,
                    "io.modelcontextprotocol/clientCapabilities": capabilities
                });
                ("server/discover", json!({ "_meta": meta }))
            }
        };
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        lines.push(json!({ "at": 100, "from": "client", "line": request }));
    }
    let text = lines.iter().map(|line| line.to_string() + "\n").collect::<String>();
    let trace = file::read(&text).unwrap_or_else(|bad| panic!("{}: {bad}\n{text}", rule.id));
    let events = trace.events();
    judge(rule, &View::new(&trace, &events, revision))
}

fn with(path: &str) -> Value {
    let (above, name) = if let Some(id) = path.strip_prefix("extensions.") {
        (vec!["extensions"], id)
    } else {
        let mut steps: Vec<&str> = path.split('.').collect();
        let name = steps.pop().expect("a path has a step");
        (steps, name)
    };
    above.into_iter().rev().fold(json!({ name: {} }), |inner, step| json!({ step: inner }))
}

#[test]
fn a_capability_that_rules_about_clients_need_is_the_clients() {
    let mut tried = 0;
    for rule in all_rules().filter(|rule| rule.role == Role::Client && rule.is_judged()) {
        let Some(path) = rule.needs else { continue };
        for revision in Revision::ALL.into_iter().filter(|revision| rule.sentence_at(*revision).is_some()) {
            let verdict = |declared| verdict(rule, Party::Client, revision, declared);
            let without = verdict(Some(json!({})));
            assert!(matches!(without, Verdict::NotApplicable(_)), "{} at {revision}: {without:?}", rule.id);
            assert_eq!(verdict(None).weight(), 1, "{} at {revision}, nothing declared", rule.id);
            assert_eq!(verdict(Some(with(path))).weight(), 1, "{} at {revision} with {path}", rule.id);
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} were tried");
}

#[test]
fn a_rule_of_one_party_does_not_apply_to_the_other() {
    for rule in all_rules().filter(|rule| rule.is_judged() && rule.role != Role::Both) {
        let other = if rule.role == Role::Client { Party::Server } else { Party::Client };
        assert!(!rule.binds(other) && rule.binds(other.peer()), "{}", rule.id);
        for revision in Revision::ALL {
            let found = verdict(rule, other, revision, Some(json!({})));
            assert!(matches!(found, Verdict::NotApplicable(_)), "{} at {revision}: {found:?}", rule.id);
        }
    }
}

#[test]
fn only_authorization_waits_for_its_judges() {
    let waiting = all_rules().filter(|rule| matches!(rule.judging(), rules::rule::Judging::Declared));
    let others: Vec<_> = waiting.map(|rule| rule.id).filter(|id| !id.starts_with("oauth.")).collect();
    assert!(others.is_empty(), "{others:?}");
}
