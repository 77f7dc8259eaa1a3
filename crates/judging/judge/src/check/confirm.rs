//! Every finding that fails a check is played a second time, isolated, before it is reported: the probes that led to it, on a
//! connection of their own, as soon as their case is over. What fails the check and may be due to timing, and what did not
//! come again, is played once more at the end with nothing else under way. What does not come again then is reported
//! separately, and counts nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use super::Progress;
use super::context::Setting;
use super::play::named;
use super::probe::Access;
use super::run::{Played, SHARED_SESSION, Stage, parts};
use super::time_limit::Phase;
use crate::judging::{Judged, Suspicion};

/// Why a finding is taken back.
pub(super) const NOT_AGAIN: &str = "it was broken once, and not in a second play";
const NO_TIME: &str = "it was broken once, and the time limit left too little for a second play";

/// What became of the findings of a run.
pub(super) struct Confirmations {
    /// Few second plays at a time: they are to be disturbed by little.
    turns: Semaphore,
    rules: Mutex<BTreeSet<&'static str>>,
    /// The rules for which something is played a second time now.
    playing: Mutex<BTreeSet<&'static str>>,
}

/// How many second plays there may be at a time.
const ABREAST: usize = 3;

impl Default for Confirmations {
    fn default() -> Self {
        Self { turns: Semaphore::new(ABREAST), rules: Mutex::default(), playing: Mutex::default() }
    }
}

impl Confirmations {
    fn rules(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn playing(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stage {
    /// Plays again what led to the findings of a case, but for those that fail a check and that timing may have caused, and
    /// those that another case is played again for: if they do not come again there, they are still open at the end.
    pub(super) async fn confirm(&self, case: &Judged) {
        let at_once = |suspicion: &Suspicion| !(suspicion.timed && suspicion.fails);
        if self.unconfirmed(case, at_once).is_empty() {
            return;
        }
        let _turn = self.confirmations.turns.acquire().await;
        let stage = self.for_a_second_play();
        if stage.setting.time.is_up() {
            return;
        }
        let mut open = self.unconfirmed(case, at_once);
        open.retain(|suspicion| self.confirmations.playing().insert(suspicion.rule));
        if !open.is_empty() {
            stage.second_play(case, &open, true).await;
        }
        for suspicion in &open {
            self.confirmations.playing().remove(suspicion.rule);
        }
    }

    /// Plays alone what is still open, and takes back what does not come again.
    pub(super) async fn settle(&self, cases: &mut Vec<Judged>) {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|&at| cases[at].parts.len());
        let stage = self.for_a_second_play();
        let mut second = Vec::new();
        for at in order {
            for isolated in [true, false] {
                let open = self.unconfirmed(&cases[at], |_| true);
                if stage.setting.time.is_up() && open.iter().any(|suspicion| suspicion.fails) {
                    self.leave_undone(cases[at].name);
                    break;
                }
                let alike =
                    isolated && open.iter().all(|suspicion| suspicion.part.is_none()) && cases[at].parts.len() > 1;
                if open.is_empty() || alike && cases[at].name != SHARED_SESSION || stage.setting.time.is_up() {
                    continue;
                }
                let _alone = self.permits.acquire_many(self.jobs).await;
                second.extend(stage.second_play(&cases[at], &open, isolated).await);
                if cases[at].parts.len() <= 1 {
                    break;
                }
            }
        }
        let confirmed = self.confirmations.rules().clone();
        let why = if stage.setting.time.is_up() { NO_TIME } else { NOT_AGAIN };
        for case in cases.iter_mut() {
            case.take_back(&confirmed, why);
        }
        cases.extend(second);
    }

    /// With the time that is kept for it, and undisturbed by what went unanswered before.
    fn for_a_second_play(&self) -> Self {
        let stage = self.undisturbed();
        let time = stage.setting.time.in_phase(Phase::Confirming);
        let pace = stage.setting.pace.patiently();
        let setting = Setting { time, pace, silence: Arc::default(), ..stage.setting.as_ref().clone() };
        Self { setting: Arc::new(setting), ..stage }
    }

    fn unconfirmed(&self, case: &Judged, wanted: impl Fn(&Suspicion) -> bool) -> Vec<Suspicion> {
        let confirmed = self.confirmations.rules();
        let mut open: Vec<_> = case.suspicions().into_iter().filter(|one| !confirmed.contains(one.rule)).collect();
        open.retain(wanted);
        open
    }

    /// Plays the probes that led to these findings, or all of the case. What it says of the rules that were broken before and
    /// are not now is given back.
    async fn second_play(&self, case: &Judged, open: &[Suspicion], isolated: bool) -> Option<Judged> {
        let rules: Vec<_> = open.iter().map(|suspicion| suspicion.rule).collect();
        tracing::debug!(case = case.name, ?rules, isolated, "played a second time");
        let probes = named(&case.parts);
        let (probes, played) = match probes.as_slice() {
            [probe] if matches!(probe.access, Access::Listening | Access::Fresh | Access::Bare) => {
                (probes.clone(), self.played(probe).await)
            }
            _ if isolated => {
                let chosen: BTreeSet<usize> = open.iter().filter_map(|suspicion| suspicion.part).collect();
                let early = case.name == SHARED_SESSION && open.iter().any(|suspicion| suspicion.part.is_none());
                let probes: Vec<_> = chosen.into_iter().filter_map(|at| probes.get(at).copied()).collect();
                let played = self.together_again(case.name, &probes, early).await;
                (probes, played)
            }
            _ => {
                let surveyed = case.name == SHARED_SESSION;
                let played = self.together_again(case.name, &probes, surveyed).await;
                (probes, played)
            }
        };
        let Played { ref trace, .. } = played;
        if trace.frames.is_empty() {
            return None;
        }
        let (again, trace) = parts(case.name, &probes, played);
        let (mut again, trace) = self.judge.judge(again, self.place(), trace).await;
        let found: BTreeMap<&'static str, String> = again.broken().collect();
        for suspicion in open {
            if found.contains_key(suspicion.rule) && self.confirmations.rules().insert(suspicion.rule) {
                self.tell(suspicion);
            }
        }
        again.keep_only(|rule| rules.contains(&rule) && !found.contains_key(rule));
        if again.verdicts.is_empty() {
            return None;
        }
        again.number = self.judge.keep(&again, self.place(), trace).await;
        Some(again)
    }

    /// Counts it as confirmed without a second play.
    pub(super) fn confirm_at_once(&self, suspicion: &Suspicion) {
        if self.confirmations.rules().insert(suspicion.rule) {
            self.tell(suspicion);
        }
    }

    fn tell(&self, suspicion: &Suspicion) {
        if suspicion.fails {
            let Suspicion { rule, level, ref why, .. } = *suspicion;
            let message = self.judge.redact(why);
            self.watch.tell(Progress::Confirmed { run: self.place(), rule, level, message });
        }
    }
}
