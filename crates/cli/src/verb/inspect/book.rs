//! The rules for the page: what is broken in a trace, and what there is to say of a rule.

use console::judging::{Finding, RuleBook};
use rules::judge::revision_of;
use rules::{Rule, Verdict, View, judge};
use wire::{Revision, Trace};

use crate::verb::explain;

/// The rules of this program.
pub(super) struct Book;

impl RuleBook for Book {
    fn findings(&self, trace: &Trace, is_over: bool) -> Vec<Finding> {
        let Some(revision) = revision_of(trace) else { return Vec::new() };
        let events = trace.events();
        let view = View::new(trace, &events, revision);
        let selected = rules::all_rules().filter(|rule| is_selected(rule, trace, is_over));
        selected.filter_map(|rule| finding(rule, revision, judge(rule, &view))).collect()
    }

    fn explain(&self, id: &str) -> Option<String> {
        explain::text_of(id)
    }
}

/// What depends on timing is judged when nothing more can come: what is missing now may be on its way.
fn is_selected(rule: &Rule, trace: &Trace, is_over: bool) -> bool {
    rule.is_judged()
        && rule.binds(trace.header.subject)
        && (is_over || !rule.timed)
        && (rule.by_default || !rule.is_safety())
}

fn finding(rule: &'static Rule, revision: Revision, verdict: Verdict) -> Option<Finding> {
    let Verdict::Broken(breach) = verdict else { return None };
    let sentence = rule.sentence_at(revision)?;
    Some(Finding {
        rule: rule.id.into(),
        level: sentence.level,
        event: breach.event,
        pointer: breach.pointer,
        why: breach.why,
        sentence: sentence.text.to_owned(),
        fix: rule.fix.to_owned(),
        url: sentence.url(revision),
    })
}
