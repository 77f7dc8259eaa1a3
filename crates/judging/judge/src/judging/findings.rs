//! From the verdicts of many cases to one finding per rule and run.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rules::{Level, Rule, Verdict};
use wire::redact::Redactor;
use wire::trace::Frame;

use super::alone::Post;
use super::causes::relate;
use super::curl::curl;
use super::defects::{Before, Defect};
use super::trace_sink::file_name;
use super::{Judged, Reproduce, Reproduction, RunId};
use report::{CommandRedactor, DefectKey, Evidence, Finding, Outcome, Sent, excerpt, sent};

/// How many different defects are shown of a broken rule, and how many events of a kept one.
const DEFECTS: usize = 12;
const KEPT_QUOTES: usize = 1;

/// What findings of one run are made from.
pub struct Sources<'s> {
    /// Every case of the run.
    cases: &'s [Judged],
    /// Where it ran.
    place: RunId,
    /// Makes the command lines that reproduce findings.
    reproduce: &'s Reproduce,
    /// What replaces secrets in quotations.
    redactor: &'s Redactor,
    /// What replaces them in commands.
    commands: CommandRedactor,
    /// The address of a server over HTTP.
    url: Option<&'s str>,
    /// Frames that were quoted before, redacted: many rules quote the same few, and some are long.
    redacted: RefCell<HashMap<(*const Judged, usize), Rc<Frame>>>,
}

impl<'s> Sources<'s> {
    /// What findings of these cases are made from.
    pub fn new(cases: &'s [Judged], place: RunId, reproduce: &'s Reproduce, redactor: &'s Redactor) -> Self {
        let commands = CommandRedactor::of(redactor);
        Self { cases, place, reproduce, redactor, commands, url: None, redacted: RefCell::default() }
    }

    /// The same of a server at this address over HTTP.
    #[must_use]
    pub fn at(self, url: Option<&'s str>) -> Self {
        Self { url, ..self }
    }

    /// One finding per selected rule, in the order of the rules.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<_> = rules::all_rules().filter_map(|rule| self.finding(rule)).collect();
        relate(&mut findings);
        findings
    }

    /// One finding for each rule that was broken and did not come again in a second play.
    pub fn unconfirmed(&self) -> Vec<Finding> {
        let of = |rule: &'static Rule| {
            let mut verdicts = Vec::new();
            for case in self.cases {
                let found = case.unconfirmed.iter().find(|(r, _)| r.id == rule.id);
                verdicts.extend(found.map(|(_, verdict)| (case, verdict)));
            }
            self.finding_of(rule, &verdicts)
        };
        rules::all_rules().filter_map(of).collect()
    }

    /// A rule's verdict in each case, heaviest first.
    fn verdicts(&self, rule: &Rule) -> Vec<(&Judged, &Verdict)> {
        let mut verdicts = Vec::new();
        for case in self.cases {
            let found = case.verdicts.iter().find(|(r, _)| r.id == rule.id);
            verdicts.extend(found.map(|(_, verdict)| (case, verdict)));
        }
        // Where the server did not say what it can do, that nothing was seen says less than where it did.
        if rule.asks_for_capability() && verdicts.iter().any(|(case, _)| case.declared) {
            verdicts.retain(|(case, verdict)| case.declared || !matches!(verdict, Verdict::NotSeen(_)));
        }
        verdicts.sort_by_key(|(_, verdict)| std::cmp::Reverse(verdict.weight()));
        verdicts
    }

    fn finding(&self, rule: &'static Rule) -> Option<Finding> {
        self.finding_of(rule, &self.verdicts(rule))
    }

    fn finding_of(&self, rule: &'static Rule, verdicts: &[(&Judged, &Verdict)]) -> Option<Finding> {
        let RunId { transport, revision } = self.place;
        let (_, heaviest) = verdicts.first()?;
        // A rule that the revision does not have shows at the wording it has elsewhere.
        let (at, sentence) = rule.sentence_at(revision).map(|s| (revision, s)).or_else(|| rule.newest())?;
        let (outcome, message) = match heaviest {
            Verdict::Broken(breach) if matches!(sentence.level, Level::Must | Level::Safety) => {
                (Outcome::Fail, breach.why.as_str())
            }
            Verdict::Broken(breach) => (Outcome::Warn, breach.why.as_str()),
            Verdict::Holds(_) => (Outcome::Pass, sentence.text),
            Verdict::NotSeen(why) => (Outcome::NotExercised, why.as_str()),
            Verdict::NotApplicable(why) => (Outcome::NotApplicable, why.as_str()),
        };
        let broken = matches!(outcome, Outcome::Fail | Outcome::Warn);
        let (evidence, more_defects) =
            if broken { self.defects(rule, verdicts) } else { (self.evidence(verdicts), false) };
        Some(Finding {
            rule: rule.id,
            level: sentence.level,
            revision,
            transport,
            outcome,
            message: self.redactor.redact_text(message).into_owned(),
            url: sentence.url(at),
            evidence,
            more_defects,
            consequence_of: None,
            repro: broken.then(|| {
                self.reproduce.command(&Reproduction { rule: rule.id, revision, transport, safety: rule.is_safety() })
            }),
        })
    }

    /// One event for each different defect, in all cases, that of the heaviest verdict first; and whether there may be more.
    fn defects(&self, rule: &'static Rule, verdicts: &[(&Judged, &Verdict)]) -> (Vec<Evidence>, bool) {
        let mut found: Vec<(DefectKey, Evidence)> = Vec::new();
        let mut is_cut = false;
        for (case, _) in verdicts.iter().filter(|(_, verdict)| verdict.is_broken()) {
            let Some(defects) = case.defects.get(rule.id) else { continue };
            is_cut |= defects.is_cut;
            for defect in &defects.all {
                let key = defect.key();
                match found.iter().position(|(known, _)| *known == key) {
                    Some(at) => found[at].1.times += defect.times,
                    None if found.len() < DEFECTS => found.push((key, self.defect(case, defect))),
                    None => is_cut = true,
                }
            }
        }
        (found.into_iter().map(|(_, evidence)| evidence).collect(), is_cut)
    }

    fn defect(&self, case: &Judged, defect: &Defect) -> Evidence {
        let before = &defect.before;
        let frame = |event: usize| Some(self.redacted(case, event, case.quoted.get(&event)?));
        let sent = before.request.and_then(|event| {
            let request = frame(event)?;
            let (curl, curl_session) = self.curl(case, before).unzip();
            let curl_session = curl_session.unwrap_or_default();
            Some(Sent { event, answered: before.is_answer, text: sent(&request), curl, curl_session })
        });
        let redacted = |text: &str| self.redactor.redact_text(text).into_owned();
        Evidence {
            message: Some(redacted(&defect.why)),
            method: before.method.as_deref().map(redacted),
            sent,
            times: defect.times,
            ..self.quote(case, defect.event, &defect.pointer)
        }
    }

    /// The command that sends a request again, and those that open the session which it names.
    fn curl(&self, case: &Judged, before: &Before) -> Option<(String, Vec<String>)> {
        let command = |post: &Post| {
            let [head, body] = [post.head, post.body].map(|event| case.quoted.get(&event));
            curl(self.url?, head?, body?, &self.commands)
        };
        let session = before.alone.as_ref()?.session.iter().map(command).collect::<Option<Vec<_>>>()?;
        Some((command(&Post { head: before.head?, body: before.request? })?, session))
    }

    fn evidence(&self, verdicts: &[(&Judged, &Verdict)]) -> Vec<Evidence> {
        let kept = verdicts.iter().filter_map(|(case, verdict)| match verdict {
            Verdict::Holds(witnesses) => witnesses.first().map(|event| self.quote(case, *event, "")),
            _ => None,
        });
        kept.take(KEPT_QUOTES).collect()
    }

    fn quote(&self, case: &Judged, event: usize, pointer: &str) -> Evidence {
        let frame = case.quoted.get(&event).map(|frame| self.redacted(case, event, frame));
        let from = frame.as_ref().map_or("", |frame| frame.from.as_str());
        let (excerpt, caret) =
            frame.map(|frame| excerpt(&frame, pointer)).map_or((String::new(), None), |e| (e.text, e.caret));
        // A pointer's steps are the peer's own names.
        let pointer = self.redactor.redact_text(pointer).into_owned();
        let trace = case.number.map(|number| file_name(self.place, number, case.name));
        Evidence { case: case.name.to_owned(), trace, event, from, pointer, excerpt, caret, ..Evidence::default() }
    }

    fn redacted(&self, case: &Judged, event: usize, frame: &Frame) -> Rc<Frame> {
        let mut cache = self.redacted.borrow_mut();
        cache
            .entry((std::ptr::from_ref(case), event))
            .or_insert_with(|| Rc::new(self.redactor.redact_frame(frame)))
            .clone()
    }
}
