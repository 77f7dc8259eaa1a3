//! From rules and a trace to verdicts: what applies is decided here once, for all judges.

use wire::meta;
use wire::trace::Trace;
use wire::{Party, Revision, method};

use crate::rule::{Judging, Role, Rule};
use crate::verdict::Verdict;
use crate::view::View;

/// The revision a trace is judged at: the header's, else what its messages agreed on.
pub fn revision_of(trace: &Trace) -> Option<Revision> {
    trace.header.revision.or_else(|| {
        let events = trace.events();
        let view = View::new(trace, &events, Revision::NEWEST);
        let modern = view.by(Party::Client).find_map(|s| {
            let meta = s.message.params()?.get("_meta")?;
            meta.get(meta::PROTOCOL_VERSION)?.as_str()
        });
        view.negotiated().or(modern)?.parse().ok()
    })
}

/// Why there is no verdict where judging was stopped.
pub const STOPPED: &str = "no time was left to judge this trace";

/// Judges a trace by one rule, within the [`crate::budget`] of the trace.
pub fn judge(rule: &Rule, view: &View<'_>) -> Verdict {
    let budget = view.budget();
    if budget.is_stopped() {
        return Verdict::NotSeen(STOPPED.to_owned());
    }
    budget.refill();
    let verdict = judged(rule, view);
    let is_spent = budget.is_spent();
    budget.lift();
    if is_spent && budget.is_stopped() {
        return Verdict::NotSeen(STOPPED.to_owned());
    }
    if is_spent {
        return Verdict::NotSeen(format!("too much work: judging this trace takes more than {} steps", budget.whole()));
    }
    verdict
}

fn judged(rule: &Rule, view: &View<'_>) -> Verdict {
    if let Some(why) = applicability(rule, view) {
        return why;
    }
    match rule.judging() {
        Judging::Judge(judge) => match judge(view) {
            Verdict::NotSeen(why) => without_subject_matter(rule, view).unwrap_or(Verdict::NotSeen(why)),
            verdict => verdict,
        },
        Judging::Unobservable(why) => Verdict::NotApplicable(format!("cannot be observed: {why}")),
        Judging::Declared => Verdict::NotApplicable("it is not judged yet".to_owned()),
    }
}

/// Why a rule does not apply to this trace, or cannot be shown to.
fn applicability(rule: &Rule, view: &View<'_>) -> Option<Verdict> {
    let not = |why: String| Some(Verdict::NotApplicable(why));
    if !rule.binds(view.subject()) {
        return not(format!("binds the {}", view.subject().peer().as_str()));
    }
    if rule.sentence_at(view.revision()).is_none() {
        return not(format!("{} has no such rule", view.revision()));
    }
    if !rule.runs_on(view.transport()) {
        return not(format!("does not apply over {}", view.transport()));
    }
    let capability = rule.needs?;
    if rule.role == Role::Client {
        return match view.client_declares(capability) {
            None => Some(Verdict::NotSeen("what the client declares is not known here".to_owned())),
            Some(false) => not(format!("the client does not declare `{capability}`")),
            Some(true) => None,
        };
    }
    match view.server_capabilities() {
        None => Some(Verdict::NotSeen("what the server declares is not known here".to_owned())),
        Some(_) if view.capability(capability).is_none() => not(format!("the server does not declare `{capability}`")),
        Some(_) => None,
    }
}

/// Why nothing was seen: the judged party never declared what the rule is about.
/// Where it declared nothing, or the revision knows no such capability, that says nothing.
fn without_subject_matter(rule: &Rule, view: &View<'_>) -> Option<Verdict> {
    let (told, declares): (bool, fn(&View<'_>, &str) -> bool) = match view.subject() {
        Party::Server => (view.server_capabilities().is_some(), |view, path| view.declares_ever(path)),
        // What binds both is about servers' capabilities.
        Party::Client => (rule.role == Role::Client, |view, path| view.client_declares(path) != Some(false)),
        Party::AuthorizationServer | Party::Other => return None,
    };
    let exists = |path: &str| method::capability_since(path).is_none_or(|since| view.revision().at_least(since));
    let absent = |path: &&str| exists(path) && !declares(view, path);
    let names = rule.subject_matter().filter(|_| told && rule.about.iter().all(absent))?;
    Some(Verdict::NotApplicable(format!("the {} does not declare {names}", view.subject().as_str())))
}
