//! Every finding that fails a check is played a second time, isolated, before it is reported: the probes that led to it, on a
//! connection of their own, as soon as their case is over. What fails the check and may be due to timing, and what did not
//! come again, is played once more at the end with nothing else under way. What does not come again then is reported
//! separately, and counts nowhere. A child for that is started as soon as it is known to be needed, while others are played.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::Verdict;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use wire::Transport;
use wire::trace::{Content, Trace};

use super::Progress;
use super::context::{Pace, ProbeContext, Setting};
use super::play::named;
use super::probe::{Access, Probe};
use super::run::{SHARED_SESSION, Stage, parts};
use super::time_limit::Phase;
use crate::judging::{Defect, Defects, Judged, Suspicion, is_told_by_another};

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
    /// Children that were greeted ahead, by the name of the case that is to be played on them.
    ahead: Mutex<BTreeMap<&'static str, Ahead>>,
    /// The rules for which one was started: one for each is enough.
    awaited: Mutex<BTreeSet<&'static str>>,
    /// Second plays of what was found in a case that went on.
    early: Mutex<JoinSet<()>>,
}

/// A greeted connection, later.
type Ahead = JoinHandle<Result<ProbeContext, Trace>>;

/// How many second plays there may be at a time.
const ABREAST: usize = 3;

impl Default for Confirmations {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(ABREAST),
            rules: Mutex::default(),
            playing: Mutex::default(),
            ahead: Mutex::default(),
            awaited: Mutex::default(),
            early: Mutex::default(),
        }
    }
}

impl Confirmations {
    fn rules(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn playing(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ahead(&self) -> MutexGuard<'_, BTreeMap<&'static str, Ahead>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn early(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn awaited(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is played on one connection of a second play.
struct SecondPlay {
    name: &'static str,
    probes: Vec<&'static Probe>,
    /// Whether every list is asked for first.
    surveyed: bool,
    /// What it is to show.
    open: Vec<Suspicion>,
    /// What was seen of it the first time.
    defects: BTreeMap<&'static str, Defects>,
}

impl SecondPlay {
    /// Isolated, what led to these findings: probes that have a connection to themselves, or say its first words, are played
    /// on one of their own, the others of the case on another.
    fn isolated(case: &Judged, open: &[Suspicion]) -> Vec<Self> {
        let probes = named(&case.parts);
        let is_own = |probe: &Probe| {
            matches!(probe.access, Access::Fresh | Access::Bare)
                || probes.len() == 1 && probe.access == Access::Listening
        };
        let of =
            |suspicion: &Suspicion| suspicion.part.or((probes.len() == 1).then_some(0)).and_then(|at| probes.get(at));
        let mut plays: Vec<Self> = Vec::new();
        for suspicion in open {
            let probe = of(suspicion).copied();
            let own = probe.filter(|probe| is_own(probe));
            let name = own.map_or(case.name, |probe| probe.name);
            let surveyed = own.is_none() && case.name == SHARED_SESSION && suspicion.part.is_none();
            let at = plays.iter().position(|play| play.name == name).unwrap_or_else(|| {
                let defects = BTreeMap::new();
                plays.push(Self { name, probes: Vec::new(), surveyed: false, open: Vec::new(), defects });
                plays.len() - 1
            });
            let play = &mut plays[at];
            play.surveyed |= surveyed;
            play.open.push(suspicion.clone());
            play.defects.extend(case.defects.get(suspicion.rule).map(|defects| (suspicion.rule, defects.clone())));
            if let Some(probe) = probe.filter(|probe| play.probes.iter().all(|known| known.name != probe.name)) {
                play.probes.push(probe);
            }
        }
        for play in &mut plays {
            play.probes.sort_by_key(|probe| probes.iter().position(|known| known.name == probe.name));
        }
        plays
    }

    /// All of a case.
    fn whole(case: &Judged, open: &[Suspicion]) -> Self {
        let (probes, surveyed) = (named(&case.parts), case.name == SHARED_SESSION);
        Self { name: case.name, probes, surveyed, open: open.to_vec(), defects: case.defects.clone() }
    }

    /// Whether it begins with the handshake, and nothing that it is to show came before that was over.
    fn begins_greeted(&self) -> bool {
        !self.surveyed
            && self.probes.iter().all(|probe| probe.access != Access::Bare)
            && self.open.iter().all(|suspicion| suspicion.part.is_some())
    }

    /// Whether a process ended by itself in `case`, or failed before it was greeted: perhaps the server may not run twice at a
    /// time.
    fn bears_no_other(&self, case: &Judged) -> bool {
        let is_open = |id: &str| self.open.iter().any(|suspicion| suspicion.rule == id);
        let is_end =
            |event: &usize| case.quoted.get(event).is_some_and(|frame| matches!(frame.content, Content::Exit { .. }));
        let ended = |verdict: &Verdict| matches!(verdict, Verdict::Broken(breach) if is_end(&breach.event));
        self.open.iter().any(|suspicion| suspicion.part.is_none())
            || case.verdicts.iter().any(|(rule, verdict)| is_open(rule.id) && ended(verdict))
    }
}

impl Stage {
    /// Plays again what led to the findings of a case, but for those that fail a check and that timing may have caused, and
    /// those that another case is played again for: if they do not come again there, they are still open at the end.
    pub(super) async fn confirm(&self, case: &Judged) {
        let at_once = |suspicion: &Suspicion| !(suspicion.timed && suspicion.fails);
        self.start_ahead(case, &self.unconfirmed(case, |suspicion| !at_once(suspicion)));
        if self.unconfirmed(case, at_once).is_empty() {
            return;
        }
        let _turn = self.confirmations.turns.acquire().await;
        let stage = self.for_a_second_play(self.setting.pace.patiently());
        if stage.setting.time.is_up() {
            return;
        }
        let mut open = self.unconfirmed(case, at_once);
        open.retain(|suspicion| self.confirmations.playing().insert(suspicion.rule));
        if !open.is_empty() {
            for play in SecondPlay::isolated(case, &open) {
                stage.second_play(play, None).await;
            }
        }
        for suspicion in &open {
            self.confirmations.playing().remove(suspicion.rule);
        }
    }

    /// Starts the children that will be needed to play these findings alone. They wait for that while others are played.
    fn start_ahead(&self, case: &Judged, open: &[Suspicion]) {
        let bears_another = self.places.allow_two(self.setting.transport);
        if !self.is_slow_to_start() || self.setting.time.is_up() || !bears_another {
            return;
        }
        let stage = self.for_being_alone();
        let mut open = open.to_vec();
        open.retain(|suspicion| self.confirmations.awaited().insert(suspicion.rule));
        for play in SecondPlay::isolated(case, &open).into_iter().filter(SecondPlay::begins_greeted) {
            let (stage, name) = (stage.clone(), play.name);
            let start = async move { stage.greeted(name).await };
            self.confirmations.ahead().entry(name).or_insert_with(|| tokio::spawn(start));
        }
    }

    /// The connection for a play that was greeted ahead, if it is still there.
    async fn greeted_ahead(&self, play: &SecondPlay) -> Option<ProbeContext> {
        let ahead = self.confirmations.ahead().remove(play.name)?;
        let case = ahead.await.ok()?.ok()?;
        if play.begins_greeted() && !case.connection().is_over() {
            return Some(case);
        }
        case.finish().await;
        None
    }

    /// Plays alone what is still open, and takes back what does not come again.
    pub(super) async fn settle(&self, cases: &mut Vec<Judged>) {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|&at| cases[at].parts.len());
        let stage = self.for_being_alone();
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
                let plays = if isolated {
                    SecondPlay::isolated(&cases[at], &open)
                } else {
                    vec![SecondPlay::whole(&cases[at], &open)]
                };
                for play in plays {
                    // Waited for outside: a start is not to disturb who else is alone.
                    let ahead = stage.greeted_ahead(&play).await;
                    // Over a network, both runs play on one server: what the one makes it do, the other waits for.
                    let _alone = if self.setting.transport != Transport::Stdio {
                        self.places.alone().await
                    } else if play.bears_no_other(&cases[at]) {
                        self.end_what_waits().await;
                        self.places.alone().await
                    } else {
                        self.places.almost_alone().await
                    };
                    // It may have ended while others were played.
                    let ahead = ahead.filter(|ahead| !ahead.connection().is_over());
                    second.extend(stage.second_play(play, ahead).await);
                }
                // Where the time ended in the midst of it, the next round says so.
                if cases[at].parts.len() <= 1 && !stage.setting.time.is_up() {
                    break;
                }
            }
        }
        self.end_what_waits().await;
        let confirmed = self.confirmations.rules().clone();
        let why = if stage.setting.time.is_up() { NO_TIME } else { NOT_AGAIN };
        for case in cases.iter_mut() {
            case.take_back(&confirmed, why);
        }
        cases.extend(second);
    }

    /// Ends the children that were started ahead and are not needed.
    async fn end_what_waits(&self) {
        let waiting = std::mem::take(&mut *self.confirmations.ahead());
        let mut ending = JoinSet::new();
        for ahead in waiting.into_values() {
            ending.spawn(async move {
                if let Ok(Ok(case)) = ahead.await {
                    case.finish().await;
                }
            });
        }
        ending.join_all().await;
    }

    /// How fast the peer answers while nothing else is under way shows in the play itself.
    fn for_being_alone(&self) -> Self {
        self.for_a_second_play(Pace::default().patiently())
    }

    /// With the time that is kept for it, and undisturbed by what went unanswered before.
    fn for_a_second_play(&self, pace: Pace) -> Self {
        let stage = self.undisturbed();
        let time = stage.setting.time.in_phase(Phase::Confirming);
        let setting = Setting { time, pace, silence: Arc::default(), ..stage.setting.as_ref().clone() };
        Self { setting: Arc::new(setting), ..stage }
    }

    fn unconfirmed(&self, case: &Judged, wanted: impl Fn(&Suspicion) -> bool) -> Vec<Suspicion> {
        let confirmed = self.confirmations.rules();
        let mut open: Vec<_> = case.suspicions().into_iter().filter(|one| !confirmed.contains(one.rule)).collect();
        open.retain(wanted);
        open
    }

    /// Plays what led to findings again, on a connection that was greeted before, if there is one. What it says of the rules
    /// that were broken before and are not now is given back.
    async fn second_play(&self, play: SecondPlay, greeted: Option<ProbeContext>) -> Option<Judged> {
        let SecondPlay { name, probes, surveyed, open, defects } = play;
        let rules: Vec<_> = open.iter().map(|suspicion| suspicion.rule).collect();
        tracing::debug!(case = name, ?rules, "played a second time");
        let played = match (greeted, probes.as_slice()) {
            (Some(case), probes) => self.script(probes, case).await,
            (None, [probe]) if probe.access != Access::Shared && name == probe.name => {
                self.played(probe, self.leave_to_start().await?).await
            }
            (None, []) if surveyed => self.survey_again(name, &rules).await,
            (None, probes) => self.together_again(name, probes, surveyed).await,
        };
        if played.trace.frames.is_empty() {
            return None;
        }
        let (again, trace) = parts(name, &probes, played);
        let (mut again, trace) = self.judge.judge(again, self.place(), trace).await;
        let found: BTreeMap<&'static str, String> = again.broken().collect();
        for suspicion in &open {
            let is_new = found.contains_key(suspicion.rule) && self.confirmations.rules().insert(suspicion.rule);
            if is_new && !is_told_by_another(suspicion.rule, &defects, |rule| found.contains_key(rule)) {
                self.tell(suspicion, defects.get(suspicion.rule));
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
    pub(super) fn confirm_at_once(&self, suspicion: &Suspicion, defects: Option<&Defects>) {
        if self.confirmations.rules().insert(suspicion.rule) {
            self.tell(suspicion, defects);
        }
    }

    fn tell(&self, suspicion: &Suspicion, defects: Option<&Defects>) {
        if suspicion.fails {
            let Suspicion { rule, level, ref why, .. } = *suspicion;
            let message = self.judge.redact(why);
            let redacted = |text: &str| self.judge.redact(text);
            let place = |one: &Defect| (one.before.method.as_deref().map(redacted), redacted(&one.pointer));
            let more_defects = defects.is_none_or(|defects| defects.is_cut);
            let defects = defects.map(|defects| defects.all.iter().map(place).collect()).unwrap_or_default();
            let run = self.place();
            self.watch.tell(Progress::Confirmed { run, rule, level, message, defects, more_defects });
        }
    }
}
