//! One run: all cases of one target at one revision, side by side, each judged as soon as it ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use wire::Transport;
use wire::trace::Trace;

use super::context::{Abort, ProbeContext, Setting};
use super::probe::{Access, Probe};
use super::probes::PROBES;
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
const SHARED_SESSION: &str = "shared-session";
const DISRUPTIVE_SESSION: &str = "disruptive-session";

/// Plays every probe that fits and judges what crossed.
pub async fn run(setting: Setting, permits: Arc<Semaphore>, jobs: u32, watch: Watch, judge: TraceJudge) -> Ran {
    let begun = Instant::now();
    let stage = Stage { setting: Arc::new(setting), survey: Arc::default(), permits, jobs, watch, judge };
    let opened = match stage.open().await {
        // Not one word came to an end: before that is said of a peer, it is tried once more with nothing else under way.
        Err((_, ref abort)) if !stage.setting.silence.is_total() && !matches!(abort, Abort::Unwelcome) => {
            let _alone = stage.permits.acquire_many(stage.jobs).await;
            stage.open_with(None).await
        }
        opened => opened,
    };
    let (survey, cases, lost) = match opened {
        Err((case, abort)) => {
            // What a server says to other greetings is judged all the same.
            let apart = match abort {
                Abort::Unwelcome => stage.apart(&[Access::Bare]).await,
                _ => Vec::new(),
            };
            (None, std::iter::once(case).chain(apart).collect(), Some(abort))
        }
        Ok((stage, guide, permit)) => {
            let ((mut cases, lost), disruptive, apart) =
                tokio::join!(stage.shared_session(guide, permit), stage.disruptive_session(), stage.apart(&[Access::Fresh, Access::Bare]));
            cases.extend(disruptive);
            cases.extend(apart);
            stage.retry_doubtful(&mut cases).await;
            let lost = lost.or(stage.survey.unwelcome.then_some(Abort::Unwelcome));
            (Some(stage.survey), cases, lost)
        }
    };
    let probes = cases.iter().map(|case| case.parts.len()).sum();
    let lost = lost.or(stage.setting.silence.is_total().then(|| Abort::of(&stage.setting.silence)));
    let cut_short = lost.map(|abort| abort.to_string());
    Ran { setting: stage.setting, survey, cases, probes, elapsed: begun.elapsed(), cut_short }
}

/// What crossed in a case, and how many of its probes came to their end before a connection was lost.
struct Played {
    trace: Trace,
    completed: usize,
}

/// Leave to play a case.
type Permit = Option<OwnedSemaphorePermit>;

/// How many jobs a child counts for: it takes memory as a connection does not.
const CHILD: u32 = 3;

/// What the cases of one run are played with.
#[derive(Clone)]
struct Stage {
    setting: Arc<Setting>,
    survey: Arc<Survey>,
    permits: Arc<Semaphore>,
    /// How many permits there are in all.
    jobs: u32,
    watch: Watch,
    judge: TraceJudge,
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
            Err((abort, trace)) => return Err((self.ended(SHARED_SESSION, Vec::new(), &abort, trace).await, abort)),
        };
        match Survey::take(&case).await {
            Err(abort) => Err((self.ended(SHARED_SESSION, Vec::new(), &abort, case.finish().await).await, abort)),
            Ok(survey) => {
                let stage = Self { survey: Arc::new(survey), ..self.clone() };
                case.learnt(stage.survey.clone());
                Ok((stage, case, permit))
            }
        }
    }

    async fn permit(&self) -> Permit {
        let weight = if self.setting.transport == Transport::Stdio { CHILD.min(self.jobs) } else { 1 };
        self.permits.clone().acquire_many_owned(weight).await.ok()
    }

    async fn judged(&self, name: &'static str, probes: Vec<&'static Probe>, played: Played) -> Judged {
        let (case, trace) = parts(name, &probes, played);
        self.judge.judge_and_keep(case, self.place(), trace).await
    }

    fn place(&self) -> RunId {
        self.setting.as_ref().into()
    }

    /// Judges a case whose last probe did not come to its end.
    async fn ended(&self, name: &'static str, probes: Vec<&'static Probe>, abort: &Abort, trace: Trace) -> Judged {
        tracing::debug!(case = name, %abort, "the case ended early");
        let completed = probes.len().saturating_sub(1);
        self.judged(name, probes, Played { trace, completed }).await
    }

    fn due(&self, access: &[Access]) -> Vec<&'static Probe> {
        let fits = |probe: &&'static Probe| {
            access.contains(&probe.access) && is_due(probe, &self.setting, &self.survey, self.judge.selection())
        };
        PROBES.iter().copied().filter(fits).collect()
    }

    /// All probes that leave their connection as they found it.
    async fn shared_session(&self, guide: ProbeContext, _permit: Permit) -> (Vec<Judged>, Option<Abort>) {
        self.together(SHARED_SESSION, self.due(&[Access::Shared]), guide).await
    }

    /// All probes that do not. What a peer makes of them may end its connection, or silence it: neither is a reason to cut
    /// the run short, and what follows gets a new one.
    async fn disruptive_session(&self) -> Vec<Judged> {
        let mut probes = self.due(&[Access::Disruptive]);
        let mut cases = Vec::new();
        while !probes.is_empty() && !self.setting.silence.is_total() {
            let _permit = self.permit().await;
            let setting = Setting { silence: Arc::default(), ..self.setting.as_ref().clone() };
            let stage = Self { setting: Arc::new(setting), ..self.clone() };
            match stage.greeted(DISRUPTIVE_SESSION).await {
                Err(trace) => {
                    return vec![stage.judged(DISRUPTIVE_SESSION, probes, Played { trace, completed: 0 }).await];
                }
                Ok(guide) => cases.extend(stage.together(DISRUPTIVE_SESSION, probes.clone(), guide).await.0),
            }
            let played: usize = cases.iter().map(|case: &Judged| case.parts.len()).sum();
            probes = self.due(&[Access::Disruptive]).split_off(played);
        }
        cases
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
        let mut played = Vec::new();
        for probe in probes {
            if self.setting.silence.is_total() {
                break;
            }
            played.push(probe);
            self.watch.tell(Progress::Probe { run: self.setting.as_ref().into(), probe: probe.name });
            match (probe.script)(&guide).await {
                Ok(()) => {}
                Err(Abort::Lacks(what)) => tracing::debug!(probe = probe.name, what, "the peer lacks something"),
                Err(abort) => {
                    cases.push(self.ended(name, std::mem::take(&mut played), &abort, guide.finish().await).await);
                    if self.setting.silence.is_total() {
                        return (cases, Some(abort));
                    }
                    match self.greeted(name).await {
                        Ok(next) => guide = next,
                        Err(trace) => {
                            cases.push(self.judged(name, played, Played { trace, completed: 0 }).await);
                            return (cases, Some(abort));
                        }
                    }
                }
            }
        }
        let all = Played { trace: guide.finish().await, completed: played.len() };
        cases.push(self.judged(name, played, all).await);
        (cases, None)
    }

    /// All probes that want a connection of their own, side by side.
    async fn apart(&self, access: &[Access]) -> Vec<Judged> {
        let probes = self.due(access);
        let mut order = probes.clone();
        self.setting.rng("order of cases").shuffle(&mut order);
        let mut playing = JoinSet::new();
        for probe in order {
            // Waited for here, so that they begin in their order.
            let permit = self.permit().await;
            if self.setting.silence.is_total() {
                break;
            }
            self.watch.tell(Progress::Probe { run: self.setting.as_ref().into(), probe: probe.name });
            let stage = self.clone();
            playing.spawn(async move {
                let _permit = permit;
                stage.play(probe).await
            });
        }
        let mut cases = playing.join_all().await;
        cases.sort_by_key(|case| probes.iter().position(|p| p.name == case.name));
        cases
    }

    /// A connection of its own, after the handshake.
    async fn greeted(&self, name: &str) -> Result<ProbeContext, Trace> {
        let case =
            ProbeContext::bare(self.setting.clone(), self.survey.clone(), name).await.map_err(|(_, trace)| trace)?;
        match case.handshake().await {
            Ok(_) => Ok(case),
            Err(Abort::Unwelcome) if self.survey.unwelcome => Ok(case),
            Err(_) => Err(case.finish().await),
        }
    }

    /// Plays one probe on a connection of its own.
    async fn play(&self, probe: &'static Probe) -> Judged {
        let played = self.played(probe).await;
        self.judged(probe.name, vec![probe], played).await
    }

    async fn played(&self, probe: &'static Probe) -> Played {
        let case = if probe.access == Access::Bare {
            let case = ProbeContext::bare(self.setting.clone(), self.survey.clone(), probe.name).await;
            // Its script says the first word, perhaps one that is not answered: the time that a start took before tells
            // when it has started at the latest.
            case.inspect(|case| case.starts_within(self.survey.start)).map_err(|(_, trace)| trace)
        } else {
            self.greeted(probe.name).await
        };
        match case {
            Err(trace) => Played { trace, completed: 0 },
            Ok(case) => {
                let outcome = (probe.script)(&case).await;
                if let Err(abort) = &outcome {
                    tracing::debug!(case = probe.name, %abort, "the case ended early");
                }
                Played { trace: case.finish().await, completed: usize::from(came_to_its_end(&outcome)) }
            }
        }
    }

    /// Plays once more, alone, the cases with findings that may be owed to timing, the shortest first, and believes the
    /// second time. A rule that was broken twice in one case is settled: no other case is played again for its sake.
    async fn retry_doubtful(&self, cases: &mut [Judged]) {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|&at| cases[at].parts.len());
        let mut settled = BTreeSet::new();
        for at in order {
            let case = &mut cases[at];
            if case.doubtful().all(|rule| settled.contains(rule)) {
                case.hold_back();
                continue;
            }
            if self.setting.silence.is_total() {
                return;
            }
            let rules: Vec<_> = case.doubtful().collect();
            tracing::debug!(case = case.name, ?rules, "played once more, alone");
            let _alone = self.permits.acquire_many(self.jobs).await;
            let probes = named(&case.parts);
            let second = match probes.as_slice() {
                [probe] if matches!(probe.access, Access::Fresh | Access::Bare) => self.played(probe).await,
                probes => self.replay_together(case.name, probes).await,
            };
            let (parts, trace) = parts(case.name, &probes, second);
            let (second, trace) = self.judge.judge(parts, self.place(), trace).await;
            if case.correct(second) {
                cases[at].number = self.judge.keep(&cases[at], self.place(), trace).await;
            }
            settled.extend(cases[at].doubtful());
        }
    }

    async fn replay_together(&self, name: &'static str, probes: &[&'static Probe]) -> Played {
        match self.greeted(name).await {
            Err(trace) => Played { trace, completed: 0 },
            Ok(case) => {
                let mut completed = 0;
                for probe in probes {
                    if !came_to_its_end(&(probe.script)(&case).await) {
                        break;
                    }
                    completed += 1;
                }
                Played { trace: case.finish().await, completed }
            }
        }
    }
}

/// What was played, apart from what crossed.
fn parts(name: &'static str, probes: &[&'static Probe], played: Played) -> (CaseParts, Trace) {
    let Played { trace, completed } = played;
    (CaseParts { name, parts: probes.iter().map(|probe| probe.name).collect(), completed }, trace)
}

/// The probes of these names.
fn named(names: &[&'static str]) -> Vec<&'static Probe> {
    names.iter().filter_map(|name| PROBES.iter().copied().find(|probe| probe.name == *name)).collect()
}

/// Whether a script got as far as it could with this peer.
fn came_to_its_end(outcome: &Result<(), Abort>) -> bool {
    matches!(outcome, Ok(()) | Err(Abort::Lacks(_)))
}

fn is_due(probe: &Probe, setting: &Setting, survey: &Survey, by: &Selection) -> bool {
    probe.applies.covers(setting.revision, setting.transport)
        && probe.needs.is_none_or(|capability| survey.has(capability))
        && (!probe.intrusive || setting.may_strain)
        && (!probe.safety || by.safety || !by.only.is_empty())
        && (probe.worth)(setting, survey)
}
