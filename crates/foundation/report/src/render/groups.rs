//! Findings of one rule that say the same, put together.

use std::fmt::Write as _;

use crate::Finding;

/// Findings of one rule that say the same, from several runs.
pub(crate) struct Group<'r> {
    pub(crate) first: &'r Finding,
    pub(crate) all: Vec<&'r Finding>,
}

/// Puts findings together, in their order.
pub(crate) fn grouped<'r>(findings: impl Iterator<Item = &'r Finding>) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in findings {
        let same = |g: &&mut Group<'_>| g.first.rule == finding.rule && g.first.message == finding.message;
        match groups.iter_mut().find(same) {
            Some(group) => group.all.push(finding),
            None => groups.push(Group { first: finding, all: vec![finding] }),
        }
    }
    groups
}

/// `stdio 2025-06-18, 2025-11-25; http 2025-11-25`
pub(crate) fn places(findings: &[&Finding]) -> String {
    let mut text = String::new();
    let mut last = None;
    for finding in findings {
        match last {
            None => _ = write!(text, "{} {}", finding.transport, finding.revision),
            Some(transport) if transport == finding.transport => _ = write!(text, ", {}", finding.revision),
            Some(_) => _ = write!(text, "; {} {}", finding.transport, finding.revision),
        }
        last = Some(finding.transport);
    }
    text
}
