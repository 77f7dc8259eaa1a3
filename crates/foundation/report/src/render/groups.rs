//! Findings put together: of one rule that say the same, and the different defects of one rule in all runs.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::{DefectKey, Evidence, Finding, ReportView};

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
    /// The rules under which other defects of it are reported.
    pub(crate) reported_under: Vec<&'static str>,
}

/// One way in which a rule is broken.
pub(crate) struct Defect<'r> {
    /// What makes it the same as another.
    pub(crate) key: DefectKey,
    /// What is wrong.
    pub(crate) message: &'r str,
    /// An event that shows it; a finding may have none.
    pub(crate) evidence: Option<&'r Evidence>,
    /// How many events or places show it, in all runs.
    pub(crate) times: usize,
    /// The findings that it is part of.
    pub(crate) of: Vec<&'r Finding>,
    /// Whether the baseline knows it, though not all of the rule's defects. Such come last.
    pub(crate) known: bool,
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
pub(crate) fn broken<'r>(view: &ReportView<'_>, findings: impl Iterator<Item = &'r Finding>) -> Vec<Broken<'r>> {
    let mut rules: Vec<Broken<'_>> = Vec::new();
    for finding in findings {
        let same = |rule: &&mut Broken<'_>| rule.first.rule == finding.rule && rule.first.level == finding.level;
        if let Some(rule) = rules.iter_mut().find(same) {
            rule.add(finding);
            continue;
        }
        let mut rule = Broken::new(finding);
        rule.add(finding);
        rules.push(rule);
    }
    for rule in &mut rules {
        rule.mark_known(view);
        rule.leave_out_reported(view);
    }
    rules
}

/// The different defects of one finding.
pub(crate) fn defects<'r>(view: &ReportView<'_>, finding: &'r Finding) -> Vec<Defect<'r>> {
    let mut rule = Broken::new(finding);
    rule.add(finding);
    rule.mark_known(view);
    rule.defects
}

impl<'r> Broken<'r> {
    const fn new(first: &'r Finding) -> Self {
        Self { first, all: Vec::new(), defects: Vec::new(), reported_under: Vec::new() }
    }

    fn add(&mut self, finding: &'r Finding) {
        self.all.push(finding);
        let shown = finding.evidence.iter().map(|evidence| {
            let message = evidence.message.as_deref().unwrap_or(&finding.message);
            (message, Some(evidence), evidence.times.max(1))
        });
        let bare = finding.evidence.is_empty().then_some((finding.message.as_str(), None, 1));
        for (message, evidence, times) in shown.chain(bare) {
            let key = evidence.map_or_else(|| DefectKey::new(None, "", message), |evidence| evidence.key(message));
            let known = self.defects.iter_mut().find(|known| known.key == key);
            match known {
                Some(known) => {
                    known.times += times;
                    known.of.push(finding);
                }
                None => self.defects.push(Defect { key, message, evidence, times, of: vec![finding], known: false }),
            }
        }
    }
}

impl Broken<'_> {
    /// Leaves out the defects that are reported under another rule, unless all of them are.
    fn leave_out_reported(&mut self, view: &ReportView<'_>) {
        let elsewhere = |defect: &Defect<'_>| view.reported_under(defect.of.first()?, defect.evidence?);
        if self.defects.iter().all(|defect| elsewhere(defect).is_some()) {
            return;
        }
        self.reported_under = self.defects.iter().filter_map(elsewhere).collect();
        self.reported_under.sort_unstable();
        self.reported_under.dedup();
        self.defects.retain(|defect| elsewhere(defect).is_none());
    }

    fn mark_known(&mut self, view: &ReportView<'_>) {
        if self.all.iter().all(|finding| view.is_known(finding)) {
            return;
        }
        for defect in &mut self.defects {
            let knows = |evidence| defect.of.iter().all(|finding| view.is_known_defect(finding, evidence));
            defect.known = defect.evidence.is_some_and(knows);
        }
        self.defects.sort_by_key(|defect| defect.known);
    }
}

impl Defect<'_> {
    /// What is wrong, and that it is known while others are new.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        if self.known { Cow::Owned(format!("known: {}", self.message)) } else { Cow::Borrowed(self.message) }
    }

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
