//! `check`: makes traces by playing probes against a server and lets the rules judge them.
//!
//! Probes make traffic and judge nothing; rules read traces and do nothing. Between them this module plans, runs side by
//! side, tries a timing-dependent finding once more, and folds verdicts into a report.

mod answers;
mod confirm;
mod context;
mod early;
mod gone;
mod greeting;
pub mod hints;
mod learnt;
mod lock;
mod look;
pub mod options;
mod places;
mod play;
mod probe;
mod probes;
mod recorded;
mod resume;
mod run;
mod silence;
mod spawn_limit;
mod survey;
pub(crate) mod time_limit;
mod tool_names;
mod unauthenticated;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use net::client::{Address, Detected, OpenError};
use tokio::sync::Semaphore;
use wire::redact::Redactor;
use wire::{Era, Revision};

use crate::Advice;
pub use crate::judging::{Checked, EndedCase, Progress, RunId, Selection, TraceSink, Watch};
use crate::judging::{HeavyLimit, RedactedSink, Sources, TraceJudge};
use context::{Pace, ProgressTokens, Setting};
use greeting::judged_at;
use learnt::Learnt;
use lock::ChangeLock;
use look::{Looking, look};
pub use options::{CallPolicy, Options, RevisionChoice};
use places::Places;
pub use recorded::{RecordingError, recorded};
use report::{Report, Subject};
use run::Ran;
use spawn_limit::SpawnLimit;
use time_limit::TimeLimit;

impl From<&Setting> for RunId {
    fn from(setting: &Setting) -> Self {
        Self { transport: setting.transport, revision: setting.revision }
    }
}

/// Why there is no report.
#[derive(Debug)]
pub enum CheckError {
    /// The peer could not be reached, started or understood.
    Unreachable(OpenError),
    /// It serves none of the revisions asked for: those asked for, those served.
    NoSuchRevision(Vec<Revision>, Vec<Revision>),
}

impl CheckError {
    /// The error for a person, as `Display` has it, with advice in the program's own words.
    pub fn describe(&self, words: impl Fn(&Advice) -> String) -> String {
        let list = |revisions: &[Revision]| revisions.iter().map(|r| r.as_str()).collect::<Vec<_>>().join(", ");
        match self {
            Self::Unreachable(error) => error.describe(|advice| words(&Advice::Connect(advice.clone()))),
            Self::NoSuchRevision(asked, served) => format!(
                "the server does not speak {}\n  it speaks {}\n  try: {}",
                list(asked),
                list(served),
                words(&Advice::NameServedRevision)
            ),
        }
    }
}

impl std::fmt::Display for CheckError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe(Advice::to_string))
    }
}

impl std::error::Error for CheckError {}

/// What a check comes to, later.
pub type Checking = Pin<Box<dyn Future<Output = Result<Checked, CheckError>> + Send>>;

/// Judges a server. Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
pub fn check(options: Options, watch: Watch) -> Checking {
    Box::pin(run_all(options, watch))
}

/// How many cases are played at a time: so many per target, because each is a server of its own, and only the built-in one
/// comes as several.
fn jobs(options: &Options) -> u32 {
    let jobs = options.jobs.max(1).saturating_mul(options.targets.len().max(1)).min(Semaphore::MAX_PERMITS);
    u32::try_from(jobs).unwrap_or(u32::MAX)
}

/// What is found at each target, later.
fn looking(options: &Options) -> Vec<(&Address, Looking)> {
    let look = |address: &Address| {
        let time = TimeLimit::begin(options.max_time);
        let shared = (ChangeLock::over(address.transport()), SpawnLimit::default(), ProgressTokens::default(), time);
        look(options, address, setting(options, address, Revision::NEWEST, shared))
    };
    options.targets.iter().map(|address| (address, look(address))).collect()
}

fn none_served(options: &Options, mut served: Vec<Revision>) -> CheckError {
    served.sort_unstable();
    served.dedup();
    CheckError::NoSuchRevision(options.revisions.named().to_vec(), served)
}

async fn run_all(options: Options, watch: Watch) -> Result<Checked, CheckError> {
    let (begun, time) = (Instant::now(), TimeLimit::begin(options.max_time));
    let redactor = options.redactor.clone().knowing(&options.secrets);
    let by = Arc::new(options.selection.clone());
    let places = Places::new(jobs(&options), std::thread::available_parallelism().map_or(1, usize::from));
    let (spawns, tokens) = (SpawnLimit::default(), ProgressTokens::default());
    let (heavy, (stop, _timer)) = (HeavyLimit::default(), time.stops_judging());
    let mut runs = tokio::task::JoinSet::new();
    let mut order = Vec::new();
    let (mut introduced, mut ran, mut also_served) = (None, Vec::new(), Vec::new());
    // What targets serve that serve none of the revisions asked for: the others are judged all the same.
    let mut elsewhere = Vec::new();
    // Looked at side by side: the runs of the first would keep the others waiting.
    for (address, looked) in looking(&options) {
        let mut found = match looked.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())) {
            Ok(found) => found,
            Err(error) => {
                let shut_out = shut_out(&options, address, error, (&redactor, time), &watch).await?;
                order.extend(shut_out.iter().map(|run: &Ran| RunId::from(run.setting.as_ref())));
                ran.extend(shut_out);
                continue;
            }
        };
        let detected = &found.detected;
        let revisions = judged_at(&options.revisions, detected);
        if revisions.is_empty() {
            if let Some(failure) = found.failure {
                return Err(CheckError::Unreachable(failure));
            }
            elsewhere.extend(found.detected.revisions);
            continue;
        }
        introduced = introduced.or_else(|| introduction(detected));
        watch.tell(Progress::Found { transport: detected.transport, revisions: revisions.clone() });
        let (address, lock) = (detected.address.clone(), ChangeLock::over(detected.transport));
        for &revision in &revisions {
            let shared = (lock.clone(), spawns.clone(), tokens.clone(), time);
            let is_modern_too = revision.era() == Era::Legacy && found.detected.revisions.contains(&Revision::NEWEST);
            let setting = Setting { is_modern_too, ..setting(&options, &address, revision, shared) };
            let greeted = found.take(revision);
            order.push(RunId::from(&setting));
            let (places, watch) = (places.clone(), watch.clone());
            let sink = RedactedSink { keep: options.keep.clone(), redactor: redactor.clone() };
            let judge = TraceJudge::new(by.clone(), sink, heavy.clone()).until(stop.clone());
            runs.spawn(async move {
                let ran = Box::pin(run::run(setting, greeted, places, watch.clone(), judge)).await;
                watch.tell(Progress::Done(ran.setting.as_ref().into()));
                ran
            });
        }
        also_served.push(found.also_served(&options, &revisions, (places.clone(), spawns.clone(), time)));
    }
    if order.is_empty() {
        return Err(none_served(&options, elsewhere));
    }
    ran.extend(runs.join_all().await);
    ran.sort_by_key(|r| order.iter().position(|place| *place == RunId::from(r.setting.as_ref())));
    let mut checked = conclude(ran, introduced.unwrap_or_default(), &options, &redactor);
    checked.report.also_served = look::known(also_served).await;
    checked.report.elapsed_ms = Some(begun.elapsed().as_millis() as u64);
    Ok(checked)
}

/// The name and version that a server gave itself.
fn introduction(found: &Detected) -> Option<(Option<String>, Option<String>)> {
    let text = |text: Option<&str>| text.map(str::to_owned);
    found.introductions.last().map(|introduction| (text(introduction.name()), text(introduction.version())))
}

/// Judges what a server says to somebody whom it does not let in, where it says so as the specification has it.
async fn shut_out(
    options: &Options,
    address: &Address,
    error: OpenError,
    (redactor, time): (&Redactor, TimeLimit),
    watch: &Watch,
) -> Result<Vec<Ran>, CheckError> {
    let OpenError::Unauthorized { revisions: refused, .. } = &error else { return Err(CheckError::Unreachable(error)) };
    let named: Vec<_> = refused.iter().copied().filter(|r| options.revisions.named().contains(r)).collect();
    let judged_at = if named.is_empty() { refused.last().copied().into_iter().collect() } else { named.clone() };
    watch.tell(Progress::Found { transport: address.transport(), revisions: judged_at.clone() });
    let lock = ChangeLock::over(address.transport());
    let tokens = ProgressTokens::default();
    let shelf = RedactedSink { keep: options.keep.clone(), redactor: redactor.clone() };
    let mut ran = Vec::new();
    for revision in judged_at {
        let by =
            if named.is_empty() { unauthenticated::By::Any(refused.clone()) } else { unauthenticated::By::Revision };
        let setting = setting(options, address, revision, (lock.clone(), SpawnLimit::default(), tokens.clone(), time));
        ran.extend(unauthenticated::run(setting, by, &options.selection, &shelf, options.words).await);
    }
    if ran.is_empty() { Err(CheckError::Unreachable(error)) } else { Ok(ran) }
}

fn setting(
    options: &Options,
    address: &Address,
    revision: Revision,
    (lock, spawns, tokens, time): (ChangeLock, SpawnLimit, ProgressTokens, TimeLimit),
) -> Setting {
    let may_strain = options.intrusive || is_near(address);
    Setting {
        address: address.clone(),
        transport: address.transport(),
        revision,
        is_modern_too: false,
        calls: options.calls.clone(),
        hints: options.hints.clone(),
        may_strain,
        seed: options.seed,
        lock,
        spawns,
        tokens,
        limits: options.limits.clone(),
        children: options.children.clone(),
        time,
        pace: Pace::default(),
        silence: Arc::default(),
        learnt: Learnt::default(),
    }
}

/// Whether a target is our own child or on loopback.
fn is_near(address: &Address) -> bool {
    let url = match address {
        Address::Stdio(_) => return true,
        Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) => &http.url,
    };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Where a server is reached over Streamable HTTP.
fn http_address(address: &Address) -> Option<&str> {
    match address {
        Address::Http(http) => Some(http.url.as_str()),
        Address::Stdio(_) | Address::Sse(_) | Address::WebSocket(_) => None,
    }
}

fn conclude(
    ran: Vec<Ran>,
    introduced: (Option<String>, Option<String>),
    options: &Options,
    redactor: &Redactor,
) -> Checked {
    let target = redactor.redact_text(&options.target).into_owned();
    let (mut results, mut unconfirmed) = (Vec::new(), Vec::new());
    for run in &ran {
        let sources = Sources::new(&run.cases, run.setting.as_ref().into(), &options.reproduce, redactor);
        let sources = sources.at(http_address(&run.setting.address));
        results.extend(sources.findings());
        unconfirmed.extend(sources.unconfirmed());
    }
    let (name, version) = ran.iter().find_map(|r| r.survey.as_ref().map(|s| s.identity())).unwrap_or(introduced);
    let redacted = |text: Option<String>| text.map(|text| redactor.redact_text(&text).into_owned());
    let (name, version) = (redacted(name), redacted(version));
    let runs = ran.iter().map(|r| report::Run {
        transport: r.setting.transport,
        revision: r.setting.revision,
        probes: r.probes,
        elapsed_ms: r.elapsed.as_millis() as u64,
        cut_short: redacted(r.cut_short.clone()),
        scenarios: Vec::new(),
    });
    let subject = Subject { kind: "server", target: target.clone(), name, version };
    let report = Report::new(subject, runs.collect(), results);
    let report = Report {
        tools_not_called: tool_names::not_called(&ran, redactor),
        tools_called_by_name: tool_names::called_by_name(&ran, redactor),
        tools_unknown: tool_names::unknown(&ran, redactor),
        unconfirmed,
        ..report
    };
    Checked { report }
}
