//! Every demand on servers that a fault can break has a fault: what none breaks stands here with the reason, and nothing
//! else does.

use std::collections::BTreeSet;

use faults::server;
use rules::{Level, Role, Rule};

/// Rules that no fault of the reference server breaks.
const UNBROKEN: [(&str, &str); 1] = [(
    "http.header-names-any-case",
    "the HTTP library has every header's name in small letters before a fault sees it",
)];

/// Whether a rule demands something of servers and is judged: MUST, whatever the revision.
fn demands(rule: &Rule) -> bool {
    rule.role != Role::Client && rule.is_judged() && rule.sentences().any(|sentence| sentence.level == Level::Must)
}

#[test]
fn every_judged_demand_on_servers_has_a_fault() {
    let named: BTreeSet<_> = server::all().map(|fault| fault.rule).collect();
    let unbroken: BTreeSet<_> = UNBROKEN.iter().map(|(rule, _)| *rule).collect();
    let due: BTreeSet<_> = rules::all_rules().filter(|rule| demands(rule)).map(|rule| rule.id).collect();
    let missing: Vec<_> = due.difference(&named).filter(|rule| !unbroken.contains(*rule)).collect();
    let stale: Vec<_> = unbroken.iter().filter(|rule| named.contains(*rule) || !due.contains(*rule)).collect();
    assert!(missing.is_empty(), "no fault breaks {missing:?}");
    assert!(stale.is_empty(), "a fault breaks them, or they demand nothing of servers: {stale:?}");
}

#[test]
fn faults_name_rules_that_bind_servers_and_are_judged() {
    for fault in server::all() {
        for id in std::iter::once(&fault.rule).chain(fault.consequences) {
            let rule = rules::find(id).unwrap_or_else(|| panic!("`{}` names `{id}`, which is no rule", fault.name));
            assert!(rule.role != Role::Client && rule.is_judged(), "`{}` names `{id}`", fault.name);
        }
    }
}
