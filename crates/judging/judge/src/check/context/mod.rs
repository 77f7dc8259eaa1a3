//! What a probe holds: a connection to the peer, what was learnt of it, and the tap that writes the trace.

mod abort;
mod identity;
mod pace;
mod progress_tokens;
mod requests;
mod setting;

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use net::Tap;
use net::client::{ConnectOptions, Connection, Greeted};
use wire::trace::{Header, Stimulus, Trace};
use wire::{Era, Message, RequestId, Revision, Transport};

pub use self::abort::Abort;
pub use self::identity::{client_capabilities, client_info, modest_capabilities};
pub use self::pace::Pace;
pub use self::progress_tokens::ProgressTokens;
pub use self::requests::Reply;
pub use self::setting::Setting;
use super::answers::{Answering, Manner};
use super::lock::ChangeGuard;
use super::spawn_limit::SpawnPermit;
use super::survey::Survey;

/// How long a change may take to be announced.
pub const ANNOUNCEMENT: Duration = Duration::from_millis(600);

/// How long any call may take.
const LEAST: Duration = Duration::from_millis(500);

/// What a probe holds. A probe that needs several connections opens more.
pub struct ProbeContext {
    setting: Arc<Setting>,
    survey: Arc<Survey>,
    tap: Tap,
    ids: Arc<AtomicI64>,
    connection: Connection,
    answering: Answering,
    /// Held until the peer has answered once.
    start: SpawnPermit,
    /// The answer to the greeting, where that crossed before the case took the connection, and how long it took.
    greeted: Mutex<Option<Message>>,
    answered_after: Option<Duration>,
    /// The ids whose answers were given up: they may still come.
    given_up: Mutex<HashSet<RequestId>>,
}

impl ProbeContext {
    /// Opens a connection for a case of that name and says nothing on it. A child counts as starting until it has
    /// answered once.
    pub async fn bare(setting: Arc<Setting>, survey: Arc<Survey>, name: &str) -> Result<Self, (Abort, Trace)> {
        let start = setting.spawns.acquire(setting.transport);
        Self::bare_from(setting.clone(), survey, name, start).await
    }

    /// The same as soon as there is leave to start a child.
    pub async fn bare_from(
        setting: Arc<Setting>,
        survey: Arc<Survey>,
        name: &str,
        start: impl Future<Output = SpawnPermit>,
    ) -> Result<Self, (Abort, Trace)> {
        let tap = Tap::new(Header::server(setting.transport, setting.revision, name));
        let ids = Arc::new(AtomicI64::new(1));
        Self::open(&setting, survey, (tap.clone(), ids), start).await.map_err(|abort| (abort, tap.finish()))
    }

    async fn open(
        setting: &Arc<Setting>,
        survey: Arc<Survey>,
        (tap, ids): (Tap, Arc<AtomicI64>),
        start: impl Future<Output = SpawnPermit>,
    ) -> Result<Self, Abort> {
        let start = tokio::select! {
            start = start => start,
            () = setting.time.up() => return Err(Abort::OutOfTime),
        };
        let setting = setting.clone();
        let connect = ConnectOptions::new(setting.limits.clone(), &setting.children).lenient();
        let connection = Connection::open(&setting.address, setting.revision, &tap, &connect).await?;
        let answering = Answering::start(connection.clone());
        Ok(Self {
            setting,
            survey,
            tap,
            ids,
            connection,
            answering,
            start,
            greeted: Mutex::default(),
            answered_after: None,
            given_up: Mutex::default(),
        })
    }

    /// Takes over a connection on which the peer was greeted, as [`Self::handshake`] does it, and nothing else was said.
    pub fn adopt(setting: Arc<Setting>, greeted: Greeted) -> Self {
        let Greeted { connection, tap, answer, took, .. } = greeted;
        Self {
            start: setting.spawns.none(),
            answering: Answering::start(connection.clone()),
            survey: Arc::default(),
            setting,
            tap,
            // The greeting had the first.
            ids: Arc::new(AtomicI64::new(2)),
            connection,
            greeted: Mutex::new(Some(answer)),
            answered_after: Some(took),
            given_up: Mutex::default(),
        }
    }

    /// Plays `script` on another connection to the same peer, in the same trace, on which nothing has been said, and ends
    /// that in order whatever came of it.
    pub async fn on_another_connection<T>(
        &self,
        script: impl AsyncFnOnce(&Self) -> Result<T, Abort>,
    ) -> Result<T, Abort> {
        let start = self.setting.spawns.acquire_further(self.setting.transport);
        let recorded = (self.tap.clone(), self.ids.clone());
        let other = Self::open(&self.setting, self.survey.clone(), recorded, start).await?;
        other.starts_within(self.setting.spawns.longest(self.survey.start));
        let outcome = script(&other).await;
        other.close().await;
        outcome
    }

    /// The child counts as started after `span`, though it may have answered nothing.
    pub fn starts_within(&self, span: Duration) {
        self.start.release_after(span);
    }

    /// How long the peer took from its start to the answer that came just now, its first.
    pub fn first_answer(&self) -> Duration {
        self.answered_after.unwrap_or_else(|| self.start.elapsed())
    }

    /// The connection.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Answers what it is asked in another manner from now on.
    pub fn answer(&self, manner: Manner) {
        self.answering.manner().set(manner);
    }

    /// The manner in which it answers.
    pub fn manner(&self) -> Manner {
        self.answering.manner().now()
    }

    /// What was learnt of the peer before.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Replaces what is known of the peer (by the probe that finds it out).
    pub fn learnt(&mut self, survey: Arc<Survey>) {
        self.survey = survey;
    }

    /// What all cases of the run have in common.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The revision spoken.
    pub fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// Its era.
    pub fn era(&self) -> Era {
        self.setting.revision.era()
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        self.setting.transport
    }

    /// How long a request may take.
    pub fn patience(&self) -> Duration {
        self.setting.pace.patience(self.setting.limits.request)
    }

    /// How long a stranger's tool may take before the case goes on without its answer.
    pub fn tool_patience(&self) -> Duration {
        self.setting.limits.request.min(Duration::from_secs(4))
    }

    /// How long a call may take of a tool that was called before.
    pub fn patience_with(&self, tool: &str) -> Duration {
        let most = self.tool_patience();
        self.setting.learnt.took(tool).map_or(most, |took| most.min(took * 2 + self.glance(LEAST, most)))
    }

    /// Resolves when a call of `tool` that was made at `begun` has taken too long, by what is known of the tool by then; not at
    /// once.
    pub async fn too_long(&self, tool: &str, begun: Instant) {
        const LOOK: Duration = Duration::from_millis(100);
        tokio::time::sleep(LEAST).await;
        while begun.elapsed() < self.patience_with(tool) {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// How long to wait for an answer to something that is owed none, by how fast the peer answers: at least `least`.
    pub fn glance(&self, least: Duration, most: Duration) -> Duration {
        self.setting.pace.glance(least, most)
    }

    /// How long to wait for something that may well not come.
    pub fn short(&self) -> Duration {
        self.setting.limits.request.min(Duration::from_millis(1500))
    }

    /// The next id of a request.
    pub fn next_id(&self) -> i64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits for the turn to change what all clients of the peer see; over when the turn is dropped.
    pub async fn lock(&self) -> Result<ChangeGuard, Abort> {
        self.setting.lock.take().await.ok_or(Abort::Lacks("a moment in which nobody else changes it"))
    }

    /// Listens without sending.
    pub async fn quiet(&self, name: &str, span: Duration) {
        self.connection.quiet(name, span).await;
    }

    /// The same until `until` resolves.
    pub async fn quiet_during(&self, name: &str, until: impl Future<Output = ()>) {
        self.connection.quiet_during(name, until).await;
    }

    /// Writes into the trace that what follows is meant as `what`, where the traffic does not say so itself.
    pub fn stimulus(&self, what: Stimulus) {
        self.tap.mark(self.connection.number(), what);
    }

    /// What `script` comes to, where there is time for it.
    pub async fn in_time<T>(&self, script: impl Future<Output = Result<T, Abort>>) -> Result<T, Abort> {
        tokio::select! {
            biased;
            outcome = script => outcome,
            () = self.setting.time.up() => Err(Abort::OutOfTime),
        }
    }

    /// Ends the connection in order, or at once where there is no time for it; the trace stays open for others.
    pub async fn close(&self) {
        self.answering.stop();
        self.start.release();
        if self.setting.time.is_up() {
            self.connection.kill().await;
        } else {
            self.connection.close().await;
        }
    }

    /// Ends the case and gives its trace.
    pub async fn finish(self) -> Trace {
        self.close().await;
        self.tap.finish()
    }
}
