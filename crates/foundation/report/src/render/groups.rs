//! Findings put together: of one rule that say the same, and the different defects of one rule in all runs.

use std::fmt::Write as _;

use crate::{Evidence, Finding};

/// Findings of one rule that say the same, from several runs.
pub(crate) struct Group<'r> {
    pub(crate) first: &'r Finding,
    pub(crate) all: Vec<&'r Finding>,
}

/// A broken rule: its findings of all runs, and each different defect once.
pub(crate) struct Broken<'r> {
    pub(crate) first: &'r Finding,
    pub(crate) all: Vec<&'r Finding>,
    pub(crate) defects: Vec<Defect<'r>>,
}

/// One way in which a rule is broken.
pub(crate) struct Defect<'r> {
    /// What is wrong.
    pub(crate) message: &'r str,
    /// An event that shows it; a finding may have none.
    pub(crate) evidence: Option<&'r Evidence>,
    /// How many events or places show it, in all runs.
    pub(crate) times: usize,
    /// The findings that it is part of.
    pub(crate) of: Vec<&'r Finding>,
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

/// Puts findings together by rule and level, in their order, with their different defects.
pub(crate) fn broken<'r>(findings: impl Iterator<Item = &'r Finding>) -> Vec<Broken<'r>> {
    let mut rules: Vec<Broken<'_>> = Vec::new();
    for finding in findings {
        let same = |rule: &&mut Broken<'_>| rule.first.rule == finding.rule && rule.first.level == finding.level;
        if let Some(rule) = rules.iter_mut().find(same) {
            rule.add(finding);
            continue;
        }
        let mut rule = Broken { first: finding, all: Vec::new(), defects: Vec::new() };
        rule.add(finding);
        rules.push(rule);
    }
    rules
}

/// The different defects of one finding.
pub(crate) fn defects(finding: &Finding) -> Vec<Defect<'_>> {
    let mut rule = Broken { first: finding, all: Vec::new(), defects: Vec::new() };
    rule.add(finding);
    rule.defects
}

impl<'r> Broken<'r> {
    fn add(&mut self, finding: &'r Finding) {
        self.all.push(finding);
        let shown = finding.evidence.iter().map(|evidence| {
            let message = evidence.message.as_deref().unwrap_or(&finding.message);
            (message, Some(evidence), evidence.times.max(1))
        });
        let bare = finding.evidence.is_empty().then_some((finding.message.as_str(), None, 1));
        for (message, evidence, times) in shown.chain(bare) {
            let place =
                |evidence: Option<&'r Evidence>| evidence.map(|one| (one.method.as_deref(), place(&one.pointer)));
            let at = place(evidence);
            let known = self.defects.iter_mut().find(|known| known.message == message && place(known.evidence) == at);
            match known {
                Some(known) => {
                    known.times += times;
                    known.of.push(finding);
                }
                None => self.defects.push(Defect { message, evidence, times, of: vec![finding] }),
            }
        }
    }
}

/// A pointer without its indices.
fn place(pointer: &str) -> String {
    let step = |step: &str| if step.parse::<usize>().is_ok() { "*".to_owned() } else { step.to_owned() };
    pointer.split('/').map(step).collect::<Vec<_>>().join("/")
}

impl Defect<'_> {
    /// `+3 more like it`, where the same was seen more often.
    pub(crate) fn more(&self) -> Option<String> {
        (self.times > 1).then(|| format!("+{} more like it", self.times - 1))
    }
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
