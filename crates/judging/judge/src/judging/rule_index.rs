//! What reports say about rules, from the rules themselves.

use report::{RuleIndex, RuleText, Sentence};
use rules::Rule;
use wire::Revision;

/// Every rule, as reports describe it.
pub fn rule_index() -> RuleIndex {
    rules::all_rules().map(text).collect()
}

fn text(rule: &'static Rule) -> RuleText {
    let sentence = |revision: Revision| {
        let sentence = rule.sentence_at(revision)?;
        Some(Sentence {
            revision,
            level: sentence.level,
            text: sentence.text,
            page: sentence.anchor.page,
            url: sentence.url(revision),
        })
    };
    RuleText {
        id: rule.id,
        how: rule.how,
        fix: rule.fix,
        timed: rule.timed,
        sentences: Revision::ALL.into_iter().filter_map(sentence).collect(),
    }
}
