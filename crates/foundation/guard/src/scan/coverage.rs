//! Which class of vulnerability is looked for in which phase of a server's life, and why the rest is not.

use super::rule::{Class, Phase, Rule};
use super::rules::RULES;

/// What a scan has for a class in a phase.
#[derive(Debug)]
pub enum Coverage {
    /// These rules.
    Rules(Vec<&'static Rule>),
    /// None, and why.
    OutOfScope(&'static str),
}

/// What a scan has for a class in a phase.
pub fn coverage(class: Class, phase: Phase) -> Coverage {
    let rules: Vec<_> =
        RULES.iter().copied().filter(|rule| rule.class == class && rule.phases.contains(&phase)).collect();
    if rules.is_empty() { Coverage::OutOfScope(out_of_scope(class, phase)) } else { Coverage::Rules(rules) }
}

/// Why no rule of the scan looks for it.
const fn out_of_scope(class: Class, phase: Phase) -> &'static str {
    match (class, phase) {
        (Class::CrossSession, Phase::Install | Phase::Update) => "lists and configurations have no sessions",
        (Class::SupplyChain, Phase::Exec) => "messages do not show what runs; `proof lock` compares definitions",
        (Class::ResourceExhaustion, Phase::Install | Phase::Update) => "texts do not show load",
        (Class::ResourceExhaustion, Phase::Exec) => "only limits at the call stop it; the gateway has them",
        // Another pair has a rule, as the tests see to.
        _ => "",
    }
}
