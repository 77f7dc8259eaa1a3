//! One run: all cases of one target at one revision, side by side, each judged as soon as it ends, and what is broken
//! confirmed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::client::Greeted;
use tokio::task::JoinSet;
use wire::Transport;
use wire::trace::Trace;

use super::confirm::Confirmations;
use super::context::{Abort, ProbeContext, Setting};
use super::places::{Place, Places};
use super::play::named;
use super::probe::{Access, Probe};
use super::probes::{OPENERS, PROBES};
use super::silence::Silence;
use super::spawn_limit::SpawnPermit;
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

/// Plays every probe that fits and judges what crossed. The shared session takes the connection on which the peer was greeted
/// before, if there is one.
pub async fn run(setting: Setting, greeted: Option<Greeted>, places: Places, watch: Watch, judge: TraceJudge) -> Ran {
    let begun = Instant::now();
    let stage = Stage {
        setting: Arc::new(setting),
        survey: Arc::default(),
        places,
        watch,
        judge,
        confirmations: Arc::default(),
        untried: Arc::default(),
    };
    let opened = match stage.open(greeted).await {
        // Not one word came to an end: before that is said of a peer, it is tried once more with nothing else under way.
        Err((_, ref abort)) if !stage.setting.silence.is_total() && abort.may_be_chance() => {
            let _alone = stage.places.alone().await;
            stage.open_with(None, None).await
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
    stage.early_plays_end().await;
    stage.confirm_the_end(&mut cases).await;
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

/// A connection on which probes are played one after the other, and what was played on it before.
struct Begun {
    guide: ProbeContext,
    played: Vec<&'static Probe>,
    begins: Vec<u64>,
}

impl Begun {
    const fn with(guide: ProbeContext) -> Self {
        Self { guide, played: Vec::new(), begins: Vec::new() }
    }
}

/// However a probe wants its connection.
const EVERY: [Access; 5] = [Access::Shared, Access::Disruptive, Access::Listening, Access::Fresh, Access::Bare];

/// A process that has answered by then costs less than probes that wait for one another.
const CHEAP: Duration = Duration::from_millis(200);

/// What the cases of one run are played with.
#[derive(Clone)]
pub(super) struct Stage {
    pub(super) setting: Arc<Setting>,
    pub(super) survey: Arc<Survey>,
    pub(super) places: Places,
    pub(super) watch: Watch,
    pub(super) judge: TraceJudge,
    pub(super) confirmations: Arc<Confirmations>,
    /// The probes for which no time was left.
    pub(super) untried: Arc<Mutex<Vec<&'static str>>>,
}

impl Stage {
    /// Greets the peer and asks for every list. The shared session then uses the connection; where there is none, what
    /// crossed is judged all the same.
    async fn open(&self, greeted: Option<Greeted>) -> Result<(Self, ProbeContext, Place), (Judged, Abort)> {
        let permit = self.place_for_one().await;
        // It may have ended while it waited.
        let greeted = greeted.filter(|greeted| !greeted.connection.is_over());
        self.open_with(permit, greeted).await
    }

    async fn open_with(
        &self,
        permit: Place,
        greeted: Option<Greeted>,
    ) -> Result<(Self, ProbeContext, Place), (Judged, Abort)> {
        let case = match greeted {
            Some(greeted) => Ok(ProbeContext::adopt(self.setting.clone(), greeted)),
            None => ProbeContext::bare(self.setting.clone(), Arc::default(), SHARED_SESSION).await,
        };
        let mut case = match case {
            Ok(case) => case,
            Err((abort, trace)) => {
                return Err((self.ended(SHARED_SESSION, Vec::new(), Played::nothing(trace)).await, abort));
            }
        };
        let surveyed = tokio::select! {
            biased;
            surveyed = case.in_time(Survey::take(&case)) => surveyed,
            never = self.judge_early(&case) => match never {},
        };
        match surveyed {
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

    async fn place_for_one(&self) -> Place {
        self.places.one(self.setting.transport).await
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
    pub(super) async fn so_far(&self, name: &'static str, case: &ProbeContext) -> Judged {
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
    async fn shared_session(&self, guide: ProbeContext, _permit: Place) -> (Vec<Judged>, Option<Abort>) {
        let played = self.together(SHARED_SESSION, self.due(&[Access::Shared]), Begun::with(guide)).await;
        // Where the connection was lost before.
        self.setting.learnt.settle();
        played
    }

    /// Whether the server is a process whose start costs more than probes that wait for one another.
    pub(super) fn is_slow_to_start(&self) -> bool {
        self.setting.transport == Transport::Stdio && self.survey.start > CHEAP
    }

    /// However those probes want their connection that have one to themselves.
    fn single(&self) -> &'static [Access] {
        if self.is_slow_to_start() {
            &[Access::Fresh, Access::Bare]
        } else {
            &[Access::Listening, Access::Fresh, Access::Bare]
        }
    }

    /// The probe that says the first words on the connection of a session, where a start is saved by that.
    fn opener(&self, session: Access) -> Option<&'static Probe> {
        let fits = |probe: &&Probe| is_due(probe, &self.setting, &self.survey, self.judge.selection());
        let opener = OPENERS.iter().filter(|(_, opens)| *opens == session).map(|(probe, _)| *probe).find(fits)?;
        (self.is_slow_to_start() && !self.due(&[session]).is_empty()).then_some(opener)
    }

    /// The probes that listen, where they share a process.
    async fn listening_session(&self) -> Vec<Judged> {
        let probes = self.due(&[Access::Listening]);
        if self.single().contains(&Access::Listening) || probes.is_empty() {
            return Vec::new();
        }
        let _place = self.place_for_one().await;
        if self.setting.time.is_up() {
            self.leave_out(&probes);
            self.leave_out(self.opener(Access::Listening).as_slice());
            return Vec::new();
        }
        let mut cases = Vec::new();
        match self.begun(LISTENING_SESSION, self.opener(Access::Listening), &mut cases).await {
            Err(trace) => {
                if self.setting.time.is_up() {
                    self.leave_out(&probes);
                }
                cases.push(self.ended(LISTENING_SESSION, probes, Played::nothing(trace)).await);
            }
            Ok(begun) => cases.extend(self.together(LISTENING_SESSION, probes, begun).await.0),
        }
        cases
    }

    /// All probes that do not. What a peer makes of them may end its connection, or silence it: neither is a reason to cut
    /// the run short, and what follows gets a new one.
    async fn disruptive_session(&self) -> Vec<Judged> {
        let mut probes = self.due(&[Access::Disruptive]);
        let mut opener = self.opener(Access::Disruptive);
        let mut cases = Vec::new();
        while !probes.is_empty() && !self.setting.silence.is_total() {
            let _place = self.place_for_one().await;
            if self.setting.time.is_up() {
                probes.extend(opener);
                self.leave_out(&probes);
                break;
            }
            let stage = self.undisturbed();
            match stage.begun(DISRUPTIVE_SESSION, opener.take(), &mut cases).await {
                Err(trace) => {
                    if self.setting.time.is_up() {
                        self.leave_out(&probes);
                    }
                    cases.push(stage.ended(DISRUPTIVE_SESSION, probes, Played::nothing(trace)).await);
                    return cases;
                }
                Ok(begun) => cases.extend(stage.together(DISRUPTIVE_SESSION, probes.clone(), begun).await.0),
            }
            let parts = cases.iter().flat_map(|case: &Judged| named(&case.parts));
            let played = parts.filter(|probe| probe.access == Access::Disruptive).count();
            probes = self.due(&[Access::Disruptive]).split_off(played);
        }
        cases
    }

    /// A greeted connection for a session. Where `opener` says the first words and does not leave it so, what that came to is
    /// a case of its own.
    async fn begun(
        &self,
        name: &'static str,
        opener: Option<&'static Probe>,
        cases: &mut Vec<Judged>,
    ) -> Result<Begun, Trace> {
        let Some(opener) = opener else { return self.greeted(name).await.map(Begun::with) };
        self.watch.tell(Progress::Probe { run: self.place(), probe: opener.name });
        match self.opened_by(opener, name).await {
            Ok(guide) => Ok(Begun { guide, played: vec![opener], begins: vec![0] }),
            Err(mut played) => {
                if played.completed == 0 && self.setting.time.is_up() {
                    self.leave_out(&[opener]);
                }
                opener.name.clone_into(&mut played.trace.header.case);
                cases.push(self.ended(opener.name, vec![opener], played).await);
                self.greeted(name).await.map(Begun::with)
            }
        }
    }

    /// The same with a silence of its own: what it brings about says nothing about the run. Where the run is hopeless, it ends.
    pub(super) fn undisturbed(&self) -> Self {
        let silence = Arc::new(Silence::of_a_part(self.setting.silence.clone()));
        Self { setting: Arc::new(Setting { silence, ..self.setting.as_ref().clone() }), ..self.clone() }
    }

    /// Probes one after the other on one connection, on a new one wherever one was lost. What ended it early, if anything
    /// did.
    async fn together(
        &self,
        name: &'static str,
        probes: Vec<&'static Probe>,
        Begun { mut guide, mut played, mut begins }: Begun,
    ) -> (Vec<Judged>, Option<Abort>) {
        let mut cases = Vec::new();
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
        let opening =
            [Access::Listening, Access::Disruptive].map(|session| self.opener(session).map(|probe| probe.name));
        let mut probes = self.due(access);
        probes.retain(|probe| !opening.contains(&Some(probe.name)));
        let mut order = probes.clone();
        self.setting.rng("order of cases").shuffle(&mut order);
        // First those that wait longest, as soon as it is known that they are worth it.
        order.sort_by_key(|probe| !(probe.access == Access::Listening || probe.is_long));
        let is_worth = |probe: &&'static Probe| (probe.worth_when_learnt)(&self.setting, &self.survey);
        let mut playing = JoinSet::new();
        while !order.is_empty() {
            if !order.iter().any(is_worth) {
                self.setting.learnt.settled().await;
            }
            // Both are waited for before one is chosen: meanwhile more may have been learnt.
            let place = self.place_for_one().await;
            let start = self.leave_to_start().await;
            if self.setting.silence.is_total() {
                break;
            }
            let Some(start) = start.filter(|_| !self.setting.time.is_up()) else {
                self.leave_out(&order);
                break;
            };
            // What is not worth it when everything is learnt never is.
            let Some(at) = order.iter().position(is_worth) else { break };
            let probe = order.remove(at);
            self.watch.tell(Progress::Probe { run: self.setting.as_ref().into(), probe: probe.name });
            let stage = self.clone();
            playing.spawn(async move { stage.play(probe, place, start).await });
        }
        let mut cases = playing.join_all().await;
        cases.sort_by_key(|case| probes.iter().position(|p| p.name == case.name));
        cases
    }

    /// Leave to start a child; `None` where the time is up before.
    pub(super) async fn leave_to_start(&self) -> Option<SpawnPermit> {
        tokio::select! {
            start = self.setting.spawns.acquire(self.setting.transport) => Some(start),
            () = self.setting.time.up() => None,
        }
    }

    /// Plays one probe on a connection of its own.
    async fn play(&self, probe: &'static Probe, place: Place, start: SpawnPermit) -> Judged {
        let played = self.played(probe, start).await;
        drop(place);
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
