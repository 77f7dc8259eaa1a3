//! One run: all scenarios at one revision over one transport, side by side, each judged as soon as it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rules::View;
use rules::view::MessageAt;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use wire::trace::{Content, Trace};
use wire::{Era, Kind, Party, meta};

use super::ending::describe;
use super::options::Options;
use super::quick::{is_quick, rank};
use super::scenario::Scenario;
use super::scenarios::{FIRST, all};
use super::stage::{End, Played, play};
use crate::check::time_limit::{Phase, TimeLimit};
use crate::judging::{CaseParts, Judged, Progress, RunId, TraceJudge, Watch, identity, matches};

/// A client that ends sooner does not do so because the machine is busy.
const SLOW: Duration = Duration::from_secs(2);
/// What a client has even where the time is up.
const LEAST: Duration = Duration::from_secs(1);

/// The name and the version that a client gives itself.
pub type Identity = (Option<String>, Option<String>);

/// What a run came to.
pub struct Ran {
    /// Where.
    pub place: RunId,
    /// Every scenario, judged.
    pub cases: Vec<Judged>,
    /// How the client ended in each.
    pub ends: Vec<(&'static Scenario, End)>,
    /// Who it says it is.
    pub identity: Identity,
    /// How long it took.
    pub elapsed: Duration,
    /// What was not tried for want of time, in words.
    pub cut_short: Option<String>,
}

/// What a first look at a place shows.
pub struct Look {
    /// Where.
    pub place: RunId,
    /// Whether the client said anything.
    pub said: bool,
    /// Whether it went on there.
    pub spoke: bool,
    /// Whether it greeted as clients of this era do, or tried to.
    pub tried: bool,
    /// How it ended.
    pub end: End,
    /// How long it took.
    pub elapsed: Duration,
    /// What crossed.
    pub trace: Trace,
}

/// What scenarios are played with.
#[derive(Clone)]
pub struct Stage {
    /// Leave to play one.
    pub permits: Arc<Semaphore>,
    /// How many permits there are in all.
    pub jobs: usize,
    /// What the user wants.
    pub options: Arc<Options>,
    /// Whom to tell.
    pub watch: Watch,
    /// What judges and keeps traces.
    pub judge: TraceJudge,
    /// How long everything may take.
    pub time: TimeLimit,
}

/// A scenario that was played and judged.
struct PlayedScenario {
    scenario: &'static Scenario,
    judged: Judged,
    end: End,
    identity: Identity,
    elapsed: Duration,
}

impl Stage {
    /// Plays the shortest scenario to see whether the client speaks at a place.
    pub async fn look(&self, place: RunId) -> Look {
        let _permit = self.permits.acquire().await;
        let played = play(&self.options, place, &FIRST, self.timeout()).await;
        let events = played.trace.events();
        let view = View::new(&played.trace, &events, place.revision);
        let said = view.by(Party::Client).next().is_some() || said_nonsense(&view);
        let (spoke, tried) = (went_on(&view), greeted(&view));
        Look { place, said, spoke, tried, end: played.end, elapsed: played.elapsed, trace: played.trace }
    }

    /// Judges a first look: a run of one scenario.
    pub async fn judged_look(&self, look: Look) -> Ran {
        let Look { place, end, elapsed, trace, .. } = look;
        let parts = CaseParts { name: FIRST.name, parts: vec![FIRST.name], completed: 1, begins: Vec::new() };
        let (mut judged, trace) = self.judge.judge(parts, place, trace).await;
        // What takes time was played beside others.
        judged.verdicts.retain(|(rule, verdict)| !(rule.timed && verdict.is_broken()));
        let identity = identity(&trace);
        judged.number = self.judge.keep(&judged, place, trace).await;
        Ran { place, cases: vec![judged], ends: vec![(&FIRST, end)], identity, elapsed, cut_short: None }
    }

    /// How many scenarios are played at a place; and how many in a quick check.
    pub fn count(&self, place: RunId) -> (usize, usize) {
        let fitting = || all().filter(|scenario| scenario.fits(place.revision, place.transport));
        (fitting().filter(|scenario| self.is_due(scenario, place)).count(), fitting().filter(|s| is_quick(s)).count())
    }

    /// Plays every scenario that fits, as long as there is time, and judges what crossed.
    pub async fn run(&self, place: RunId) -> Ran {
        let begun = Instant::now();
        let due: Vec<_> = all().filter(|scenario| self.is_due(scenario, place)).collect();
        let ending = &self.options.ending;
        let (mut playing, mut untried) = (JoinSet::new(), Vec::new());
        for scenario in self.by_value(&due) {
            // Waited for here, so that the places take turns.
            let permit = tokio::select! {
                biased;
                () = ending.asked() => None,
                permit = Arc::clone(&self.permits).acquire_owned() => permit.ok(),
            };
            let Some(permit) = permit.filter(|_| !self.time.is_up()) else {
                untried.push(scenario.name);
                continue;
            };
            let stage = self.clone();
            playing.spawn(async move {
                let _permit = permit;
                stage.watch.tell(Progress::Probe { run: place, probe: scenario.name });
                stage.case(place, scenario).await
            });
        }
        let mut cases = Vec::new();
        tokio::select! {
            biased;
            () = collected(&mut playing, &mut cases) => {}
            () = ending.asked() => drop(playing),
        }
        cases.sort_by_key(|case| due.iter().position(|scenario| scenario.name == case.scenario.name));
        self.retry_doubtful(place, &mut cases).await;
        self.watch.tell(Progress::Done(place));
        let cut_short = if ending.is_asked() {
            let is_untried = |scenario: &&&Scenario| !cases.iter().any(|case| case.scenario.name == scenario.name);
            describe(&due.iter().filter(is_untried).map(|scenario| scenario.name).collect::<Vec<_>>())
        } else {
            self.time.describe(&untried)
        };
        let identity = cases.iter().map(|case| &case.identity).find(|(name, _)| name.is_some()).cloned();
        let (cases, ends) = cases.into_iter().map(|case| (case.judged, (case.scenario, case.end))).unzip();
        Ran { place, cases, ends, identity: identity.unwrap_or_default(), elapsed: begun.elapsed(), cut_short }
    }

    /// Scenarios in the order in which they are played: those that find most come first where time may be short.
    fn by_value(&self, due: &[&'static Scenario]) -> Vec<&'static Scenario> {
        let mut due = due.to_vec();
        if self.options.max_time.is_some() {
            due.sort_by_key(|scenario| rank(scenario));
        }
        due
    }

    /// How long a client may take: as long as the user says, and not longer than everything may.
    fn timeout(&self) -> Duration {
        let left = self.time.in_phase(Phase::Confirming).left();
        left.map_or(self.options.timeout, |left| self.options.timeout.min(left.max(LEAST)))
    }

    fn is_due(&self, scenario: &Scenario, place: RunId) -> bool {
        let named = &self.options.scenarios;
        scenario.fits(place.revision, place.transport)
            && (!self.options.quick || is_quick(scenario))
            && (named.is_empty() || named.iter().any(|pattern| matches(pattern, scenario.name)))
    }

    async fn case(&self, place: RunId, scenario: &'static Scenario) -> PlayedScenario {
        let (mut case, trace) = self.played(place, scenario).await;
        case.judged.number = self.judge.keep(&case.judged, place, trace).await;
        case
    }

    async fn played(&self, place: RunId, scenario: &'static Scenario) -> (PlayedScenario, Trace) {
        let Played { trace, end, elapsed } = play(&self.options, place, scenario, self.timeout()).await;
        tracing::debug!(scenario = scenario.name, %end, ?elapsed, "a scenario ended");
        let parts = CaseParts {
            name: scenario.name,
            parts: vec![scenario.name],
            completed: usize::from(!end.hung()),
            begins: Vec::new(),
        };
        let (judged, trace) = self.judge.judge(parts, place, trace).await;
        (PlayedScenario { scenario, judged, end, identity: identity(&trace), elapsed }, trace)
    }

    /// Plays a scenario while no other runs; `None` where no time is left for that.
    async fn played_alone(&self, place: RunId, scenario: &'static Scenario) -> Option<(PlayedScenario, Trace)> {
        let all = u32::try_from(self.jobs).unwrap_or(u32::MAX);
        let _alone = self.permits.acquire_many(all).await;
        if self.time.in_phase(Phase::Confirming).is_up() {
            return None;
        }
        Some(self.played(place, scenario).await)
    }

    /// Plays once more, alone, what may be owed to how busy the machine was: findings about time, and clients that did not
    /// come to a good end.
    async fn retry_doubtful(&self, place: RunId, cases: &mut [PlayedScenario]) {
        for case in cases {
            let slow = case.elapsed >= SLOW;
            let bad = !case.end.is_good() && slow && (case.end.hung() || !case.scenario.may_fail);
            if !bad && case.judged.doubtful().next().is_none() {
                continue;
            }
            let second = tokio::select! {
                biased;
                () = self.options.ending.asked() => None,
                second = self.played_alone(place, case.scenario) => second,
            };
            let Some((second, trace)) = second else {
                case.judged.verdicts.retain(|(rule, verdict)| !(rule.timed && verdict.is_broken()));
                continue;
            };
            if second.end.is_good() || (bad && !second.end.hung()) {
                case.end = second.end;
            }
            if case.judged.correct(second.judged) {
                case.judged.number = self.judge.keep(&case.judged, place, trace).await;
            }
        }
    }
}

/// Takes in every case as it ends.
async fn collected(playing: &mut JoinSet<PlayedScenario>, cases: &mut Vec<PlayedScenario>) {
    while let Some(case) = playing.join_next().await {
        match case {
            Ok(case) => cases.push(case),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }
}

/// Whether a client went on after it had learnt what the server speaks: past a handshake, or with a request that names the
/// revision.
fn went_on(view: &View<'_>) -> bool {
    let first = |method: Option<&str>| matches!(method, Some("initialize" | "ping" | "server/discover"));
    let legacy = view.era() == Era::Legacy;
    let goes_on = |said: &MessageAt<'_>| match said.message.kind() {
        Kind::Notification => legacy && said.is("notifications/initialized"),
        Kind::Request => !first(said.message.method()) && view.is_current(*said),
        Kind::Result | Kind::Error => false,
    };
    let shaken = |said: &MessageAt<'_>| !legacy || view.handshake(said.connection).is_some();
    let after = view.by(Party::Client).any(|said| goes_on(&said) && shaken(&said));
    let calls = || view.calls_by(Party::Client);
    after || calls().any(|call| call.request.is("server/discover") && call.result().is_some())
}

/// Whether a client opened a conversation of the era that is judged.
fn greeted(view: &View<'_>) -> bool {
    let legacy = view.era() == Era::Legacy;
    let greets = |said: &MessageAt<'_>| match said.message.method() {
        Some("initialize") => legacy,
        Some("server/discover") => !legacy,
        // Without its version, it may be a word of the older era that follows a refused `initialize`.
        _ => !legacy && names_version(said),
    };
    view.by(Party::Client).any(|said| greets(&said)) || said_nonsense(view)
}

fn names_version(said: &MessageAt<'_>) -> bool {
    said.message.params().and_then(|params| params.get("_meta")?.get(meta::PROTOCOL_VERSION)).is_some()
}

/// Whether nothing that a client sent is a JSON-RPC message.
fn said_nonsense(view: &View<'_>) -> bool {
    let says = |content: &Content| match content {
        Content::Line { bytes, .. } | Content::Body { bytes, .. } | Content::WebSocket { bytes, .. } => {
            !bytes.trim_ascii().is_empty()
        }
        _ => false,
    };
    let mut frames = view.frames();
    view.by(Party::Client).next().is_none()
        && frames.any(|(_, frame)| frame.from == Party::Client && says(&frame.content))
}
