//! `check-client`: plays the server's side of scenarios to a client and lets the rules judge what it did.
//!
//! Scenarios make traffic and judge nothing; rules read traces and do nothing. A client that does not know our scenarios
//! does what it does by itself: that is judged, and the rest counts as not exercised.

mod describe;
mod ending;
mod evidence;
pub mod observed;
pub mod options;
mod patience;
mod quick;
mod run;
mod scenario;
mod scenarios;
mod stage;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use wire::redact::Redactor;
use wire::{Revision, Transport};

pub use self::describe::describe;
pub use self::ending::Ending;
pub use self::evidence::Evidence;
pub use self::options::Options;
use self::options::{SERVER, URL};
use self::run::{Look, Ran, Stage};
pub use self::scenario::Scenario;
pub use self::scenarios::{FIRST, SCENARIOS, all};
pub use self::stage::End;
use crate::Advice;
use crate::check::time_limit::TimeLimit;
use crate::judging::{Checked, HeavyLimit, Progress, RedactedSink, RunId, Sources, TraceJudge, Watch};
use report::{Report, ScenarioRun, Subject};

/// Why there is no report.
#[derive(Debug)]
pub enum ClientError {
    /// The client could not be started.
    NotStarted(String),
    /// It said nothing to any server that it was given; how it ended, and its last words.
    Silent(String, Option<String>),
    /// The check was ended before the client had shown what it speaks.
    Interrupted,
    /// It speaks none of the revisions asked for.
    NoSuchRevision(Vec<Revision>),
}

impl ClientError {
    /// The error for a person, as `Display` has it, with advice in the program's own words.
    pub fn describe(&self, words: impl Fn(&Advice) -> String) -> String {
        match self {
            Self::NotStarted(why) => {
                format!("the client was not started: {}\n  try: the command by itself", wire::escape::line(why))
            }
            Self::Silent(end, last) => {
                let last = last.as_ref().map(|last| format!("\n  it said: {}", wire::escape::snippet(last, 200)));
                format!(
                    "the client said nothing to the server it was given ({end}){}\n  \
                     try: say where the address goes, with {URL} in the command; over stdio {SERVER}",
                    last.unwrap_or_default()
                )
            }
            Self::Interrupted => {
                "interrupted before the client said what it speaks: there is nothing to report".to_owned()
            }
            Self::NoSuchRevision(asked) => {
                let list: Vec<_> = asked.iter().map(|revision| revision.as_str()).collect();
                let list = list.join(", ");
                format!("the client goes on at none of {list}\n  try: {}", words(&Advice::NameCarriedRevision))
            }
        }
    }
}

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe(Advice::to_string))
    }
}

impl std::error::Error for ClientError {}

/// What a check of a client comes to, later.
pub type Checking = Pin<Box<dyn Future<Output = Result<Checked, ClientError>> + Send>>;

/// Judges a client. Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
pub fn check_client(options: Options, watch: Watch) -> Checking {
    Box::pin(run_all(options, watch))
}

async fn run_all(options: Options, watch: Watch) -> Result<Checked, ClientError> {
    let redactor = options.redactor.clone().knowing(&options.secrets);
    let shelf = RedactedSink { keep: options.keep.clone(), redactor: redactor.clone() };
    let jobs = options.jobs.clamp(1, Semaphore::MAX_PERMITS);
    let judge = TraceJudge::new(Arc::new(options.selection.clone()), shelf, HeavyLimit::default());
    let time = TimeLimit::begin(options.max_time);
    let stage = Stage { permits: Arc::new(Semaphore::new(jobs)), jobs, options: Arc::new(options), watch, judge, time };
    let looks = tokio::select! {
        biased;
        () = stage.options.ending.asked() => return Err(ClientError::Interrupted),
        looks = looks(&stage) => looks?,
    };
    let places = spoken(&stage, &looks);
    estimate(&stage, &looks, &places);
    let mut ran = judged_looks(&stage, looks, &places).await;
    if places.is_empty() && ran.is_empty() {
        let named = &stage.options.revisions;
        let asked = if named.is_empty() { Revision::ALL.to_vec() } else { named.clone() };
        return Err(ClientError::NoSuchRevision(asked));
    }
    let mut runs = tokio::task::JoinSet::new();
    for place in places {
        let stage = stage.clone();
        runs.spawn(async move { stage.run(place).await });
    }
    ran.extend(runs.join_all().await);
    ran.sort_by_key(|ran| (ran.place.transport as u8, ran.place.revision));
    Ok(conclude(&ran, &stage.options, &redactor))
}

/// A first look at every place, by the shortest of scenarios.
async fn looks(stage: &Stage) -> Result<Vec<Look>, ClientError> {
    let named = &stage.options.revisions;
    let wanted = |revision: &Revision| named.is_empty() || named.contains(revision);
    let mut looking = tokio::task::JoinSet::new();
    for &transport in &stage.options.transports {
        for revision in Revision::ALL.into_iter().filter(wanted).filter(|revision| transport.carries(*revision)) {
            let stage = stage.clone();
            looking.spawn(async move { stage.look(RunId { transport, revision }).await });
        }
    }
    let mut looks = looking.join_all().await;
    looks.sort_by_key(|look| (look.place.transport as u8, look.place.revision));
    if let Some(End::NotStarted(why)) = looks.iter().map(|look| &look.end).find(|end| matches!(end, End::NotStarted(_)))
    {
        return Err(ClientError::NotStarted(why.clone()));
    }
    if !looks.is_empty() && looks.iter().all(|look| !look.said) {
        let end = looks.into_iter().next().map(|look| look.end);
        let words = end.as_ref().and_then(End::last_words).map(str::to_owned);
        return Err(ClientError::Silent(end.map(|end| end.to_string()).unwrap_or_default(), words));
    }
    Ok(looks)
}

/// The places at which the client speaks, or those that the user names. In a quick check: the newest of each era.
fn spoken(stage: &Stage, looks: &[Look]) -> Vec<RunId> {
    let mut spoken: Vec<_> = looks.iter().filter(|look| look.spoke).map(|look| look.place).collect();
    let mut transports: Vec<Transport> = spoken.iter().map(|place| place.transport).collect();
    transports.dedup();
    for transport in transports {
        let revisions =
            spoken.iter().filter(|place| place.transport == transport).map(|place| place.revision).collect();
        stage.watch.tell(Progress::Found { transport, revisions });
    }
    if stage.options.quick {
        let all = spoken.clone();
        spoken.retain(|place| {
            let newer = |other: &RunId| is_same_era(*place, *other) && other.revision > place.revision;
            !all.iter().any(newer)
        });
    }
    spoken
}

fn is_same_era(one: RunId, other: RunId) -> bool {
    one.transport == other.transport && one.revision.era() == other.revision.era()
}

/// Tells how long it will take, unless the user chose scenarios.
fn estimate(stage: &Stage, looks: &[Look], places: &[RunId]) {
    let options = &stage.options;
    let took: Vec<_> = looks.iter().filter(|look| look.spoke).map(|look| look.elapsed).collect();
    if options.quick || !options.scenarios.is_empty() || took.is_empty() {
        return;
    }
    let counts: Vec<_> = places.iter().map(|place| (*place, stage.count(*place))).collect();
    let runs = counts.iter().map(|(_, (all, _))| all).sum();
    let newest = |place: RunId| !places.iter().any(|o| is_same_era(place, *o) && o.revision > place.revision);
    let quick_runs = counts.iter().filter(|(place, _)| newest(*place)).map(|(_, (_, quick))| quick).sum();
    let mean = took.iter().sum::<Duration>() / u32::try_from(took.len()).unwrap_or(u32::MAX);
    let (run, longest) = (mean, options.timeout);
    stage.watch.tell(Progress::Estimate { runs, quick_runs, run, longest, jobs: stage.jobs });
}

/// Judges first looks: the greetings of a client that goes on at no revision of an era which it tried to speak, and what it
/// did at the revisions that a quick check leaves out.
async fn judged_looks(stage: &Stage, looks: Vec<Look>, places: &[RunId]) -> Vec<Ran> {
    let spoken: Vec<_> = looks.iter().filter(|look| look.spoke).map(|look| look.place).collect();
    let failed = |look: &Look| look.tried && !spoken.iter().any(|place| is_same_era(*place, look.place));
    let (failed, other): (Vec<_>, Vec<_>) = looks.into_iter().partition(failed);
    let tried: Vec<_> = failed.iter().map(|look| look.place).collect();
    let is_newest =
        |look: &Look| !tried.iter().any(|o| is_same_era(look.place, *o) && o.revision > look.place.revision);
    let mut ran = Vec::new();
    for look in failed.into_iter().filter(is_newest) {
        let judged = stage.judged_look(look).await;
        let is_broken = judged.cases.iter().flat_map(|case| &case.verdicts).any(|(_, verdict)| verdict.is_broken());
        ran.extend(Some(judged).filter(|_| is_broken));
    }
    for look in other.into_iter().filter(|look| look.spoke && !places.contains(&look.place)) {
        ran.push(stage.judged_look(look).await);
    }
    ran
}

fn conclude(ran: &[Ran], options: &Options, redactor: &Redactor) -> Checked {
    let target = redactor.redact_text(&options.target).into_owned();
    let results: Vec<_> = ran
        .iter()
        .flat_map(|ran| Sources::new(&ran.cases, ran.place, &options.reproduce, redactor).findings())
        .collect();
    let redacted = |text: Option<String>| text.map(|text| redactor.redact_text(&text).into_owned());
    let (name, version) =
        ran.iter().map(|ran| &ran.identity).find(|(name, _)| name.is_some()).cloned().unwrap_or_default();
    let runs = ran.iter().map(|ran| report::Run {
        transport: ran.place.transport,
        revision: ran.place.revision,
        probes: ran.cases.len(),
        elapsed_ms: millis(ran.elapsed),
        cut_short: ran.cut_short.clone(),
        scenarios: ran.ends.iter().map(|(scenario, end)| ended(scenario, end, redactor)).collect(),
    });
    let subject = Subject { kind: "client", target: target.clone(), name: redacted(name), version: redacted(version) };
    Checked { report: Report::new(subject, runs.collect(), results) }
}

fn ended(scenario: &'static Scenario, end: &End, redactor: &Redactor) -> ScenarioRun {
    let words = end.last_words().filter(|_| !end.is_good());
    ScenarioRun {
        name: scenario.name,
        ended: end.to_string(),
        content: end.is_good(),
        expected: scenario.may_fail && !end.hung(),
        last_words: words.map(|words| redactor.redact_text(words).into_owned()),
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
