//! Precision and recall by rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use guard::scan::{Finding, RULES, Scan, Severity};

/// Findings by rule.
#[derive(Default)]
pub(super) struct Rates {
    /// In benign corpora: low or info, medium, high.
    benign: BTreeMap<&'static str, [usize; 3]>,
    /// How many poisoned descriptions a rule found at severity medium or above.
    poisoned: BTreeMap<&'static str, usize>,
    descriptions: usize,
}

impl Rates {
    pub(super) fn benign(&mut self, finding: &Finding) {
        let at = match finding.severity {
            Severity::High => 2,
            Severity::Medium => 1,
            _ => 0,
        };
        self.benign.entry(finding.rule.id).or_default()[at] += 1;
    }

    pub(super) fn hostile(&mut self, scan: &Scan) {
        self.descriptions += 1;
        let found = scan.findings.iter().filter(|finding| finding.severity >= Severity::Medium);
        let rules: BTreeSet<_> = found.map(|finding| finding.rule.id).collect();
        for rule in rules {
            *self.poisoned.entry(rule).or_default() += 1;
        }
    }
}

/// The table. `probes` has by rule how many probes there are and how many were found.
pub(super) fn section(page: &mut String, rates: &Rates, probes: &BTreeMap<&str, (usize, usize)>) {
    let _ = writeln!(
        page,
        "\n## Precision and recall, by rule\n\nTrue: own probes of the rule that it found, and poisoned descriptions ({}) that it \
         found at severity medium or above. False: findings in benign corpora at severity medium or above. Precision is true of \
         true and false; recall is of the own probes of the rule. A rule without hostile texts of its kind here has neither.\n",
        rates.descriptions
    );
    page.push_str(
        "| rule | benign: low or info | medium | high | own probes found | poisoned found | precision | recall |\n",
    );
    page.push_str("|---|---|---|---|---|---|---|---|\n");
    for rule in RULES.iter().filter(|rule| !rule.is_active()) {
        let [low, medium, high] = rates.benign.get(rule.id).copied().unwrap_or_default();
        let (made, found) = probes.get(rule.id).copied().unwrap_or_default();
        let poisoned = rates.poisoned.get(rule.id).copied().unwrap_or_default();
        let positive = found + poisoned;
        let (precision, recall) = (share(positive, positive + medium + high), share(found, made));
        let _ = writeln!(
            page,
            "| `{}` | {low} | {medium} | {high} | {found} of {made} | {poisoned} | {precision} | {recall} |",
            rule.id
        );
    }
}

/// A share in per cent; a dash where there is nothing to share.
fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let mille = part * 1000 / whole;
    format!("{}.{} %", mille / 10, mille % 10)
}
