//! `check-client`: plays the server's side of scenarios to a client and lets the rules judge what it did.
//!
//! Scenarios make traffic and judge nothing; rules read traces and do nothing. A client that does not know our scenarios
//! does what it does by itself: that is judged, and the rest counts as not exercised.

mod describe;
mod evidence;
pub mod observed;
pub mod options;
mod patience;
mod run;
mod scenario;
mod scenarios;
mod stage;
mod tokens;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use wire::redact::Redactor;
use wire::{Revision, Transport};

pub use self::describe::describe;
pub use self::evidence::Evidence;
pub use self::options::Options;
use self::options::{SERVER, URL};
use self::run::{Ran, Stage};
pub use self::scenario::Scenario;
pub use self::scenarios::{FIRST, SCENARIOS, all};
pub use self::stage::End;
use crate::Advice;
use crate::judging::{Checked, HeavyLimit, Progress, RedactedSink, RunId, Sources, TraceJudge, Watch};
use report::{Report, ScenarioRun, Subject, Summary};

/// Why there is no report.
#[derive(Debug)]
pub enum ClientError {
    /// The client could not be started.
    NotStarted(String),
    /// It said nothing to any server that it was given; how it ended, and its last words.
    Silent(String, Option<String>),
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
    let stage = Stage { permits: Arc::new(Semaphore::new(jobs)), jobs, options: Arc::new(options), watch, judge };
    let places = spoken(&stage).await?;
    let mut runs = tokio::task::JoinSet::new();
    for place in places.clone() {
        let stage = stage.clone();
        runs.spawn(async move { stage.run(place).await });
    }
    let mut ran = runs.join_all().await;
    ran.sort_by_key(|ran| places.iter().position(|place| *place == ran.place));
    Ok(conclude(&ran, &stage.options, &redactor))
}

/// The places at which the client speaks, or those that the user names: found out by the shortest of scenarios.
async fn spoken(stage: &Stage) -> Result<Vec<RunId>, ClientError> {
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
    let spoken: Vec<_> = looks.iter().filter(|look| look.spoke).map(|look| look.place).collect();
    let mut transports: Vec<Transport> = spoken.iter().map(|place| place.transport).collect();
    transports.dedup();
    for transport in transports {
        let revisions =
            spoken.iter().filter(|place| place.transport == transport).map(|place| place.revision).collect();
        stage.watch.tell(Progress::Found { transport, revisions });
    }
    if spoken.is_empty() {
        let asked = if named.is_empty() { Revision::ALL.to_vec() } else { named.clone() };
        return Err(ClientError::NoSuchRevision(asked));
    }
    Ok(spoken)
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
        cut_short: None,
        scenarios: ran.ends.iter().map(|(scenario, end)| ended(scenario, end, redactor)).collect(),
    });
    let subject = Subject { kind: "client", target: target.clone(), name: redacted(name), version: redacted(version) };
    let report = Report {
        schema: report::FORMAT,
        proof: env!("CARGO_PKG_VERSION"),
        subject,
        runs: runs.collect(),
        summary: Summary::of(&results),
        results,
        also_served: Vec::new(),
        unconfirmed: Vec::new(),
    };
    Checked { report }
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
