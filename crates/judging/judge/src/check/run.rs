//! One run: all cases of one target at one revision, side by side, each judged as soon as it ends, and what is broken
//! confirmed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use wire::Transport;
use wire::trace::Trace;

use super::confirm::Confirmations;
use super::context::{Abort, ProbeContext, Setting};
use super::probe::{Access, Probe};
use super::probes::PROBES;
use super::silence::Silence;
use super::survey::Survey;
use super::{Progress, Watch};
use crate::judging::{CaseParts, Judged, RunId, Selection, TraceJudge};

/// What a run came to.
pub struct Ran {
    /// What all its cases had in common.
    pub setting: Arc<Setting>,
    /// What the peer offers; `None` where not even the greeting succeeded.
    pub survey: Option<Arc<Survey>>,
    /// Every case.
    pub cases: Vec<Judged>,
    /// How many probes ran.
    pub probes: usize,
    /// How long it took.
    pub elapsed: Duration,
    /// Why much was not tried, if the peer did not last.
    pub cut_short: Option<String>,
}

/// The names of the cases in which probes share a connection.
pub(super) const SHARED_SESSION: &str = "shared-session";
pub(super) const DISRUPTIVE_SESSION: &str = "disruptive-session";
pub(super) const LISTENING_SESSION: &str = "listening-session";

/// Plays every probe that fits and judges what crossed.
pub async fn run(setting: Setting, permits: Arc<Semaphore>, jobs: u32, watch: Watch, judge: TraceJudge) -> Ran {
    let begun = Instant::now();
    let stage = Stage {
        setting: Arc::new(setting),
        survey: Arc::default(),
        permits,
        jobs,
        watch,
        judge,
        confirmations: Arc::default(),
        untried: Arc::default(),
    };
    let opened = match stage.open().await {
        // Not one word came to an end: before that is said of a peer, it is tried once more with nothing else under way.
        Err((_, ref abort)) if !stage.setting.silence.is_total() && abort.may_be_chance() => {
            let _alone = stage.permits.acquire_many(stage.jobs).await;
            stage.open_with(None).await
        }
        opened => opened,
    };
    let (survey, mut cases, lost) = match opened {
        Err((case, abort)) => {
            stage.setting.learnt.settle();
            // What a server says to other greetings is judged all the same.
            let apart = match abort {
                Abort::Unwelcome => stage.apart(&[Access::Bare]).await,
                _ => Vec::new(),
            };
            (None, std::iter::once(case).chain(apart).collect(), Some(abort))
        }
        Ok((stage, guide, permit)) => {
            stage.watch.tell(Progress::Planned { run: stage.place(), probes: stage.due(&EVERY).len() });
            let greeting = stage.so_far(SHARED_SESSION, &guide).await;
            let ((mut cases, lost), disruptive, listening, apart, ()) = tokio::join!(
                stage.shared_session(guide, permit),
                stage.disruptive_session(),
                stage.listening_session(),
                stage.apart(stage.single()),
                stage.confirm(&greeting)
            );
            cases.extend(disruptive);
            cases.extend(listening);
            cases.extend(apart);
            let lost = lost.or(stage.survey.unwelcome.then_some(Abort::Unwelcome));
            (Some(stage.survey), cases, lost)
        }
    };
    let probes = cases.iter().map(|case| case.parts.len()).sum();
    let stage = Stage { survey: survey.clone().unwrap_or_default(), ..stage };
    stage.confirm_the_end(&cases).await;
    stage.settle(&mut cases).await;
    let lost = lost.or(stage.setting.silence.is_total().then(|| Abort::of(&stage.setting.silence)));
    let cut_short = lost.map(|abort| abort.to_string()).or_else(|| stage.out_of_time());
    Ran { setting: stage.setting, survey, cases, probes, elapsed: begun.elapsed(), cut_short }
}

/// What crossed in a case.
pub(super) struct Played {
    pub(super) trace: Trace,
    /// How many of its probes came to their end before a connection was lost.
    pub(super) completed: usize,
    /// When each probe began, in microseconds of the trace.
    pub(super) begins: Vec<u64>,
}

impl Played {
    /// A case that did not come to its first probe.
    pub(super) const fn nothing(trace: Trace) -> Self {
        Self { trace, completed: 0, begins: Vec::new() }
    }
}

/// However a probe wants its connection.
const EVERY: [Access; 5] = [Access::Shared, Access::Disruptive, Access::Listening, Access::Fresh, Access::Bare];

/// Leave to play a case.
type Permit = Option<OwnedSemaphorePermit>;

/// How many jobs a child counts for: it takes memory as a connection does not.
const CHILD: u32 = 3;

/// A process that has answered by then costs less than probes that wait for one another.
const CHEAP: Duration = Duration::from_millis(200);

/// What the cases of one run are played with.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) setting: Arc<Setting>,
    pub(super) survey: Arc<Survey>,
    pub(super) permits: Arc<Semaphore>,
    /// How many permits there are in all.
    pub(super) jobs: u32,
    pub(super) watch: Watch,
    pub(super) judge: TraceJudge,
    pub(super) confirmations: Arc<Confirmations>,
    /// The probes for which no time was left.
    pub(super) untried: Arc<Mutex<Vec<&'static str>>>,
}

impl Stage {
    /// Greets the peer and asks for every list. The shared session then uses the connection; where there is none, what
    /// crossed is judged all the same.
    async fn open(&self) -> Result<(Self, ProbeContext, Permit), (Judged, Abort)> {
        let permit = self.permit().await;
        self.open_with(permit).await
    }

    async fn open_with(&self, permit: Permit) -> Result<(Self, ProbeContext, Permit), (Judged, Abort)> {
        let case = ProbeContext::bare(self.setting.clone(), Arc::default(), SHARED_SESSION).await;
        let mut case = match case {
            Ok(case) => case,
            Err((abort, trace)) => {
                return Err((self.ended(SHARED_SESSION, Vec::new(), Played::nothing(trace)).await, abort));
            }
        };
        match case.in_time(Survey::take(&case)).await {
            Err(abort) => {
                tracing::debug!(case = SHARED_SESSION, %abort, "the case ended early");
                let played = Played::nothing(case.finish().await);
                Err((self.ended(SHARED_SESSION, Vec::new(), played).await, abort))
            }
            Ok(survey) => {
                let stage = Self { survey: Arc::new(survey), ..self.clone() };
                case.learnt(stage.survey.clone());
                Ok((stage, case, permit))
            }
        }
    }

    pub(super) async fn permit(&self) -> Permit {
        let weight = if self.setting.transport == Transport::Stdio { CHILD.min(self.jobs) } else { 1 };
        self.permits.clone().acquire_many_owned(weight).await.ok()
    }

    /// Judges a case, and confirms at once what it found.
    async fn ended(&self, name: &'static str, probes: Vec<&'static Probe>, played: Played) -> Judged {
        let (case, trace) = parts(name, &probes, played);
        let judged = self.judge.judge_and_keep(case, self.place(), trace).await;
        if judged.stopped {
            self.leave_undone(name);
        }
        self.confirm(&judged).await;
        judged
    }

    /// What the rules make of a case that goes on.
    async fn so_far(&self, name: &'static str, case: &ProbeContext) -> Judged {
        let played = Played::nothing(case.connection().tap().snapshot());
        let (case, trace) = parts(name, &[], played);
        self.judge.judge(case, self.place(), trace).await.0
    }

    pub(super) fn place(&self) -> RunId {
        self.setting.as_ref().into()
    }

    fn due(&self, access: &[Access]) -> Vec<&'static Probe> {
        let fits = |probe: &&'static Probe| {
            access.contains(&probe.access) && is_due(probe, &self.setting, &self.survey, self.judge.selection())
        };
        PROBES.iter().copied().filter(fits).collect()
    }

    /// No time was left for these.
    fn leave_out(&self, probes: &[&'static Probe]) {
        let mut untried = self.untried.lock().unwrap_or_else(PoisonError::into_inner);
        untried.extend(probes.iter().map(|probe| probe.name));
    }

    /// What crossed in a case could not be judged to the end, or what was found there could not be played a second time: it
    /// is neither reported nor cleared.
    pub(super) fn leave_undone(&self, case: &'static str) {
        self.untried.lock().unwrap_or_else(PoisonError::into_inner).push(case);
    }

    fn out_of_time(&self) -> Option<String> {
        self.setting.time.describe(&self.untried.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All probes that leave their connection as they found it.
    async fn shared_session(&self, guide: ProbeContext, _permit: Permit) -> (Vec<Judged>, Option<Abort>) {
        let played = self.together(SHARED_SESSION, self.due(&[Access::Shared]), guide).await;
        // Where the connection was lost before.
        self.setting.learnt.settle();
        played
    }

    /// The probes that want a connection of their own; those first that wait longest.
    fn single(&self) -> &'static [Access] {
        if self.setting.transport == Transport::Stdio && self.survey.start > CHEAP {
            &[Access::Fresh, Access::Bare]
        } else {
            &[Access::Listening, Access::Fresh, Access::Bare]
        }
    }

    /// The probes that listen, where they share a process.
    async fn listening_session(&self) -> Vec<Judged> {
        let probes = self.due(&[Access::Listening]);
        if self.single().contains(&Access::Listening) || probes.is_empty() {
            return Vec::new();
        }
        let _permit = self.permit().await;
        match self.greeted(LISTENING_SESSION).await {
            Err(trace) => vec![self.ended(LISTENING_SESSION, probes, Played::nothing(trace)).await],
            Ok(guide) => self.together(LISTENING_SESSION, probes, guide).await.0,
        }
    }

    /// All probes that do not. What a peer makes of them may end its connection, or silence it: neither is a reason to cut
    /// the run short, and what follows gets a new one.
    async fn disruptive_session(&self) -> Vec<Judged> {
        let mut probes = self.due(&[Access::Disruptive]);
        let mut cases = Vec::new();
        while !probes.is_empty() && !self.setting.silence.is_total() {
            let _permit = self.permit().await;
            if self.setting.time.is_up() {
                self.leave_out(&probes);
                break;
            }
            let stage = self.undisturbed();
            match stage.greeted(DISRUPTIVE_SESSION).await {
                Err(trace) => {
                    cases.push(stage.ended(DISRUPTIVE_SESSION, probes, Played::nothing(trace)).await);
                    return cases;
                }
                Ok(guide) => cases.extend(stage.together(DISRUPTIVE_SESSION, probes.clone(), guide).await.0),
            }
            let played: usize = cases.iter().map(|case: &Judged| case.parts.len()).sum();
            probes = self.due(&[Access::Disruptive]).split_off(played);
        }
        cases
    }

    /// The same with a silence of its own: what it brings about says nothing about the run.
    pub(super) fn undisturbed(&self) -> Self {
        let setting = Setting { silence: Arc::new(Silence::after_an_answer()), ..self.setting.as_ref().clone() };
        Self { setting: Arc::new(setting), ..self.clone() }
    }

    /// Probes one after the other on one connection, on a new one wherever one was lost. What ended it early, if anything
    /// did.
    async fn together(
        &self,
        name: &'static str,
        probes: Vec<&'static Probe>,
        mut guide: ProbeContext,
    ) -> (Vec<Judged>, Option<Abort>) {
        let mut cases = Vec::new();
        let (mut played, mut begins) = (Vec::new(), Vec::new());
        for (at, probe) in probes.iter().copied().enumerate() {
            if self.setting.silence.is_total() {
                break;
            }
            if self.setting.time.is_up() {
                self.leave_out(&probes[at..]);
                break;
            }
            played.push(probe);
            begins.push(guide.connection().tap().now());
            self.watch.tell(Progress::Probe { run: self.setting.as_ref().into(), probe: probe.name });
            match guide.in_time((probe.script)(&guide)).await {
                Ok(()) => {}
                Err(Abort::Lacks(what)) => tracing::debug!(probe = probe.name, what, "the peer lacks something"),
                Err(abort) => {
                    tracing::debug!(case = name, %abort, "the case ended early");
                    let completed = played.len().saturating_sub(1);
                    let case = Played { trace: guide.finish().await, completed, begins: std::mem::take(&mut begins) };
                    cases.push(self.ended(name, std::mem::take(&mut played), case).await);
                    if matches!(abort, Abort::OutOfTime) {
                        self.leave_out(&probes[at..]);
                        return (cases, None);
                    }
                    if self.setting.silence.is_total() {
                        return (cases, Some(abort));
                    }
                    match self.greeted(name).await {
                        Ok(next) => guide = next,
                        Err(trace) => {
                            cases.push(self.ended(name, played, Played::nothing(trace)).await);
                            return (cases, Some(abort));
                        }
                    }
                }
            }
        }
        let all = Played { trace: guide.finish().await, completed: played.len(), begins };
        cases.push(self.ended(name, played, all).await);
        (cases, None)
    }

    /// All probes that want a connection of their own, side by side.
    async fn apart(&self, access: &[Access]) -> Vec<Judged> {
        let probes = self.due(access);
        let mut order = probes.clone();
        self.setting.rng("order of cases").shuffle(&mut order);
        // First those that wait longest, last those of which it is not known yet whether they are worth it.
        let waits = |probe: &Probe| probe.access == Access::Listening || probe.is_long;
        let rank = |probe: &Probe| (!(probe.worth_when_learnt)(&self.setting, &self.survey), !waits(probe));
        order.sort_by_key(|probe| rank(probe));
        let mut playing = JoinSet::new();
        for (at, probe) in order.iter().copied().enumerate() {
            if !(probe.worth_when_learnt)(&self.setting, &self.survey) {
                self.setting.learnt.settled().await;
                if !(probe.worth_when_learnt)(&self.setting, &self.survey) {
                    continue;
                }
            }
            // Waited for here, so that they begin in their order.
            let permit = self.permit().await;
            if self.setting.silence.is_total() {
                break;
            }
            if self.setting.time.is_up() {
                self.leave_out(&order[at..]);
                break;
            }
            self.watch.tell(Progress::Probe { run: self.setting.as_ref().into(), probe: probe.name });
            let stage = self.clone();
            playing.spawn(async move { stage.play(probe, permit).await });
        }
        let mut cases = playing.join_all().await;
        cases.sort_by_key(|case| probes.iter().position(|p| p.name == case.name));
        cases
    }

    /// Plays one probe on a connection of its own.
    async fn play(&self, probe: &'static Probe, permit: Permit) -> Judged {
        let played = self.played(probe).await;
        drop(permit);
        if played.completed == 0 && self.setting.time.is_up() {
            self.leave_out(&[probe]);
        }
        self.ended(probe.name, vec![probe], played).await
    }
}

/// What was played, apart from what crossed.
pub(super) fn parts(name: &'static str, probes: &[&'static Probe], played: Played) -> (CaseParts, Trace) {
    let Played { trace, completed, begins } = played;
    (CaseParts { name, parts: probes.iter().map(|probe| probe.name).collect(), completed, begins }, trace)
}

fn is_due(probe: &Probe, setting: &Setting, survey: &Survey, by: &Selection) -> bool {
    probe.applies.covers(setting.revision, setting.transport)
        && probe.needs.is_none_or(|capability| survey.has(capability))
        && (!probe.intrusive || setting.may_strain)
        && (!probe.safety || by.safety || !by.only.is_empty())
        && (probe.worth)(setting, survey)
}
