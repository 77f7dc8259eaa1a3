//! A case's trace, judged by every selected rule. What was played, and how, is not known here.

use std::collections::{BTreeMap, BTreeSet};

use rules::{Level, Rule, STOPPED, Stop, Verdict, View, judge};
use wire::Revision;
use wire::trace::{Frame, Trace};

use super::alone::shown_alone;
use super::defects::Defects;
use super::{RedactedSink, RunId, Selection};
use crate::{Advice, Words};

/// A case that was played and judged.
pub struct Judged {
    /// Its name.
    pub name: &'static str,
    /// What took part in it, by name: probes, or a scenario.
    pub parts: Vec<&'static str>,
    /// How many of them came to their end.
    pub completed: usize,
    /// The number under which its trace was handed to the sink, if it was.
    pub number: Option<usize>,
    /// Whether the server said here what it can do.
    pub declared: bool,
    /// The frames that the verdicts name and the requests before them, by their place in the trace.
    pub quoted: BTreeMap<usize, Frame>,
    /// The different defects of each broken rule, by the rule's id.
    pub defects: BTreeMap<&'static str, Defects>,
    /// What each selected rule makes of it.
    pub verdicts: Vec<(&'static Rule, Verdict)>,
    /// The revision it is judged at.
    pub revision: Revision,
    /// When each part began, in microseconds of the trace.
    pub begins: Vec<u64>,
    /// What was broken and did not come again in a second play.
    pub unconfirmed: Vec<(&'static Rule, Verdict)>,
    /// Whether no time was left to judge it by every rule.
    pub stopped: bool,
}

/// A broken rule that is to be seen a second time.
#[derive(Clone, Debug)]
pub struct Suspicion {
    /// The rule.
    pub rule: &'static str,
    /// Its level.
    pub level: Level,
    /// Why it is broken.
    pub why: String,
    /// Whether timing may have caused it.
    pub timed: bool,
    /// Whether it fails a check at the least demanding: a MUST or a safety rule.
    pub fails: bool,
    /// During which part it was broken, by place; `None` before the first.
    pub part: Option<usize>,
}

impl Judged {
    /// Judges a trace by every selected rule, and forgets what no verdict names: a peer that sends much is not to fill our
    /// memory case by case.
    pub fn new(
        name: &'static str,
        parts: Vec<&'static str>,
        trace: &Trace,
        revision: Revision,
        by: &Selection,
    ) -> Self {
        Self::until(&Stop::default(), name, parts, trace, revision, by)
    }

    /// The same, with as many verdicts as there are when `stop` says that no time is left.
    pub fn until(
        stop: &Stop,
        name: &'static str,
        parts: Vec<&'static str>,
        trace: &Trace,
        revision: Revision,
        by: &Selection,
    ) -> Self {
        // Reading a trace is most of the work where it is large.
        let events = if stop.is_stopped() { Vec::new() } else { trace.events() };
        let view = View::new(trace, &events, revision).until(stop.clone());
        // Rules that bind the other party cannot apply.
        let bound = rules::all_rules().filter(|rule| rule.is_judged() && rule.binds(trace.header.subject));
        let selected = bound.filter(|rule| by.takes(rule, revision));
        let verdicts = selected.map(|rule| (rule, brief(judge(rule, &view))));
        let mut verdicts: Vec<_> = verdicts.filter(|(rule, verdict)| verdict.is_broken() || by.lists(rule)).collect();
        let mut defects = all_defects(&mut verdicts, &view);
        for (rule, _) in &verdicts {
            for defect in defects.get_mut(rule.id).map(|defects| &mut defects.all).into_iter().flatten() {
                defect.before.alone = shown_alone(rule, defect, &view, trace);
            }
        }
        let stopped = verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::NotSeen(why) if why == STOPPED));
        let quoted = quoted(&verdicts, &defects, trace);
        let declared = view.server_capabilities().is_some();
        let (begins, unconfirmed) = (Vec::new(), Vec::new());
        let completed = parts.len();
        Self {
            name,
            completed,
            parts,
            number: None,
            declared,
            quoted,
            defects,
            verdicts,
            revision,
            begins,
            unconfirmed,
            stopped,
        }
    }

    /// Takes back what is no breach at one of `others`: the peer may speak that revision as well as the one it was judged at.
    pub fn doubt(&mut self, trace: &Trace, others: &[Revision], words: Words) {
        let events = trace.events();
        for &other in others {
            let view = View::new(trace, &events, other);
            // Of several defects only the first is looked at here.
            self.defects.values_mut().for_each(Defects::keep_first);
            for (rule, verdict) in self.verdicts.iter_mut().filter(|(_, verdict)| verdict.is_broken()) {
                if !judge(rule, &view).is_broken() {
                    let why =
                        format!("which revisions the server speaks is not known, and at {other} this is no breach");
                    *verdict = Verdict::NotSeen(format!("{why}; {}", words(&Advice::NameRevision)));
                }
            }
        }
    }

    /// Hands the trace to the sink; a second one replaces the first.
    pub fn keep(&mut self, shelf: &RedactedSink, place: RunId, trace: &Trace) {
        if shelf.keep.wants(self) {
            let number = shelf.keep.hand(self.number, place, self.name, trace, &shelf.redactor);
            self.number = Some(number);
        }
    }

    /// Drops every finding that timing may have caused and that did not come again. Returns whether only the second result
    /// counts. One that ended earlier than the first says nothing of what it did not reach.
    pub fn correct(&mut self, second: Self) -> bool {
        if second.completed < self.completed {
            return false;
        }
        let stood = |rule: &Rule| second.verdicts.iter().any(|(r, v)| r.id == rule.id && v.is_broken());
        if !self.verdicts.iter().any(|(rule, verdict)| rule.timed && verdict.is_broken() && stood(rule)) {
            *self = Self { number: self.number, ..second };
            return true;
        }
        // One that did come again keeps the case; the others' second verdicts would quote another trace.
        self.verdicts.retain(|(rule, verdict)| !(rule.timed && verdict.is_broken()) || stood(rule));
        false
    }

    /// The rules whose findings here may be caused by timing.
    pub fn doubtful(&self) -> impl Iterator<Item = &'static str> {
        self.verdicts.iter().filter(|(rule, verdict)| rule.timed && verdict.is_broken()).map(|(rule, _)| rule.id)
    }

    /// The broken rules that are to be seen a second time before they are reported.
    pub fn suspicions(&self) -> Vec<Suspicion> {
        let of = |(rule, verdict): &(&'static Rule, Verdict)| {
            let Verdict::Broken(breach) = verdict else { return None };
            let level = rule.sentence_at(self.revision)?.level;
            let fails = matches!(level, Level::Must | Level::Safety);
            let at = self.quoted.get(&breach.event).map_or(0, |frame| frame.at);
            let part = self.begins.iter().rposition(|begin| *begin <= at);
            let why = breach.why.clone();
            (fails || rule.timed).then_some(Suspicion { rule: rule.id, level, why, timed: rule.timed, fails, part })
        };
        self.verdicts.iter().filter_map(of).collect()
    }

    /// Whether a MUST or a safety rule is broken.
    pub fn fails(&self) -> bool {
        self.suspicions().iter().any(|suspicion| suspicion.fails)
    }

    /// The broken rules, and why.
    pub fn broken(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.verdicts.iter().filter_map(|(rule, verdict)| match verdict {
            Verdict::Broken(breach) => Some((rule.id, breach.why.clone())),
            _ => None,
        })
    }

    /// Forgets what it says of all other rules.
    pub fn keep_only(&mut self, wanted: impl Fn(&'static str) -> bool) {
        self.verdicts.retain(|(rule, _)| wanted(rule.id));
    }

    /// Takes back what was to be seen a second time, and was not, for this reason.
    pub fn take_back(&mut self, confirmed: &BTreeSet<&'static str>, why: &str) {
        let suspicions = self.suspicions();
        let open = |id: &str| suspicions.iter().find(|one| one.rule == id && !confirmed.contains(id));
        for (rule, verdict) in &mut self.verdicts {
            let Some(suspicion) = open(rule.id) else { continue };
            let broken = std::mem::replace(verdict, Verdict::NotSeen(why.to_owned()));
            if suspicion.fails {
                self.unconfirmed.push((*rule, broken));
            }
        }
    }
}

/// A verdict with no more witnesses than a report quotes.
fn brief(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Holds(witnesses) => Verdict::Holds(witnesses.into_iter().take(1).collect()),
        other => other,
    }
}

/// The different defects of each broken rule, by its id. Verdicts then name one breach each.
fn all_defects(verdicts: &mut [(&'static Rule, Verdict)], view: &View<'_>) -> BTreeMap<&'static str, Defects> {
    let mut all = BTreeMap::new();
    for (rule, verdict) in verdicts {
        if let Verdict::Broken(breach) = verdict {
            all.insert(rule.id, Defects::of(rule, breach, view));
            breach.others.clear();
        }
    }
    all
}

/// The longest request that is kept to be quoted.
const LONG: usize = 64 << 10;

/// The frames that a report may quote.
fn quoted(
    verdicts: &[(&'static Rule, Verdict)],
    defects: &BTreeMap<&'static str, Defects>,
    trace: &Trace,
) -> BTreeMap<usize, Frame> {
    let named = verdicts.iter().filter_map(|(_, verdict)| named(verdict));
    let others = || defects.values().flat_map(|defects| &defects.all);
    let requests = others().flat_map(|defect| [defect.before.request, defect.before.head]).flatten();
    let sessions = others().filter_map(|defect| defect.before.alone.as_ref()).flat_map(|alone| &alone.session);
    let requests = requests.chain(sessions.flat_map(|post| [post.head, post.body]));
    let is_short = |at: &usize| trace.frames.get(*at).is_some_and(|frame| frame.content.weight() <= LONG);
    let events = named.chain(others().map(|defect| defect.event)).chain(requests.filter(is_short));
    events.filter_map(|at| Some((at, trace.frames.get(at)?.clone()))).collect()
}

/// The event that a verdict rests on.
fn named(verdict: &Verdict) -> Option<usize> {
    match verdict {
        Verdict::Broken(breach) => Some(breach.event),
        Verdict::Holds(witnesses) => witnesses.first().copied(),
        Verdict::NotSeen(_) | Verdict::NotApplicable(_) => None,
    }
}
