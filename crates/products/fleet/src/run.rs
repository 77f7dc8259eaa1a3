//! `proof fleet run`: looks at every server, computes the gates whose key has no result, and brings stages up to date.

pub mod outcomes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fleet_store::{
    GateReport, Id, Job, JobState, Millis, NewJob, NewRun, Queue, ResultKey, Retry, State, StoreError, WorkerOptions,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::child::Runner;
use crate::compute::{self, Look};
use crate::config::{Fleet, Server};
use crate::digest;
use crate::files;
use crate::filter::Filter;
use crate::gate::{GateKind, Judged, Outcome};
use crate::gates::Surface;
use crate::keeping::{Keeping, MOST, gate_report, seconds};
use crate::state::{DAY, ServerState};
use crate::words::counted;

/// The kind of our jobs.
const KIND: &str = "gate";

/// How long a job is leased before its worker renews it.
const LEASE: Duration = Duration::from_secs(30);

/// How often a job whose worker is lost is tried.
const ATTEMPTS: u32 = 3;

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names or tags; all servers where it is empty.
    pub only: Vec<String>,
    /// Which of them.
    pub filter: Filter,
    /// Gates; all where it is empty.
    pub gates: Vec<GateKind>,
    /// Only servers of which a gate has no result that holds, as far as files show.
    pub changed: bool,
    /// Compute gates again whose result holds.
    pub again: bool,
    /// Who runs it, and from where.
    pub actor: String,
}

/// What a run did.
#[derive(Debug)]
pub struct Ran<'f> {
    /// Its number.
    pub id: Id,
    /// How many servers were looked at.
    pub looked: usize,
    /// How many of them answered.
    pub answered: usize,
    /// How many gates were computed.
    pub computed: u64,
    /// How many results still hold.
    pub unchanged: u64,
    /// The stages at the end of the run before, in the order of the states.
    pub before: Vec<usize>,
    /// How every server stands now.
    pub states: Vec<ServerState<'f>>,
}

/// What a job needs.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    server: String,
    gate: GateKind,
    /// How the server is started where the job was made: a worker must have the same.
    definition: String,
    tools: u64,
    name: String,
    version: String,
    digest: String,
}

/// What is said while it runs: server, gate, what came of it.
pub type Say = Arc<dyn Fn(&str, GateKind, &Judged) + Send + Sync>;

/// Everything that a run works with.
pub struct Context<'f> {
    /// The fleet.
    pub fleet: &'f Arc<Fleet>,
    /// The store.
    pub keeping: &'f Keeping,
    /// How `proof` is run.
    pub runner: &'f Runner,
    /// The time, in milliseconds since 1970.
    pub clock: fn() -> Millis,
    /// What is said while it runs.
    pub say: Say,
    /// Prints a message for people.
    pub tell: fn(&str),
}

/// Runs.
pub async fn run<'f>(
    context: &Context<'f>,
    request: &Request,
    stop: watch::Receiver<bool>,
) -> Result<Ran<'f>, StoreError> {
    let (fleet, keeping) = (context.fleet, context.keeping);
    let now = (context.clock)();
    let before = keeping.states(fleet, context.runner.version(), now).await?;
    let ids = keeping.put_servers(fleet, now).await?;
    let stages = recorded_stages(keeping, fleet, &ids).await?;
    let new = NewRun {
        trigger: if request.changed { "changed" } else { "run" }.to_owned(),
        actor: request.actor.clone(),
        fleet_digest: digest::of(fleet.servers.iter().map(|server| server.name.as_str())),
        proof_version: context.runner.version().to_owned(),
    };
    let id = keeping.store.begin_run(&new, now).await?;
    let chosen: Vec<&Server> =
        before.iter().filter(|state| is_chosen(request, state, now)).map(|state| state.server).collect();
    let looks = look_at(context, &chosen).await;
    let mut ran =
        Ran { id, looked: chosen.len(), answered: 0, computed: 0, unchanged: 0, before: stages, states: Vec::new() };
    let mut jobs = Vec::new();
    for (server, look) in chosen.iter().zip(looks) {
        ran.answered += usize::from(look.surface.is_some());
        let Some(of) = ids.get(&server.name) else { continue };
        jobs.extend(planned(context, request, (server, *of), look, &mut ran).await?);
    }
    ran.computed += jobs.len() as u64;
    keeping.store.enqueue(&jobs, (context.clock)()).await?;
    let leased = keeping.store.jobs(None, Some(State::Leased), MOST).await?;
    if let Some(text) = waits_for(&leased, id) {
        (context.tell)(&text);
    }
    work(context, stop.clone()).await?;
    if *stop.borrow() {
        // Its jobs are given back, and the next run goes on with them: this one has no end.
        return Ok(ran);
    }
    record_failures(context, id).await?;
    let now = (context.clock)();
    ran.states = keeping.states(fleet, context.runner.version(), now).await?;
    for state in &ran.states {
        if let Some(of) = ids.get(&state.server.name) {
            keeping.store.record_stage(*of, i64::try_from(state.stage).unwrap_or(0), None, now).await?;
        }
    }
    outcomes::record(&keeping.store, id, &ran.states).await?;
    keeping.store.end_run(id, (context.clock)()).await?;
    Ok(ran)
}

/// The stages that the last run recorded, in the order of the fleet: results of a changed server no longer show them.
async fn recorded_stages(
    keeping: &Keeping,
    fleet: &Fleet,
    ids: &HashMap<String, Id>,
) -> Result<Vec<usize>, StoreError> {
    let stages: HashMap<Id, i64> = keeping.store.stages().await?.into_iter().collect();
    let of = |server: &Server| ids.get(&server.name).and_then(|id| stages.get(id)).copied().unwrap_or(0);
    Ok(fleet.servers.iter().map(|server| usize::try_from(of(server)).unwrap_or(0)).collect())
}

/// What to print before the run waits for jobs that workers of other runs hold.
fn waits_for(leased: &[JobState], run: Id) -> Option<String> {
    let count = leased.iter().filter(|job| job.run != Some(run)).count();
    let jobs = counted(count, "job");
    let seconds = LEASE.as_secs();
    (count > 0).then(|| format!("waiting for {jobs} of another run: up to {seconds} s if it was interrupted"))
}

fn is_chosen(request: &Request, state: &ServerState<'_>, now: Millis) -> bool {
    let server = state.server;
    let is_named =
        request.only.is_empty() || request.only.iter().any(|only| *only == server.name || server.tags.contains(only));
    let is_settled = || state.gates.iter().all(|gate| gate.record.is_some() && is_settled(gate.light));
    is_named && request.filter.fits(state, seconds(now)) && !(request.changed && is_settled())
}

/// Whether running a gate again can show nothing else, as long as nothing has changed.
const fn is_settled(light: crate::state::Light) -> bool {
    use crate::state::Light::{Green, Red, Skipped, Waived};
    matches!(light, Green | Red | Skipped | Waived)
}

/// Looks at servers, several at once; the answers in their order.
async fn look_at(context: &Context<'_>, servers: &[&Server]) -> Vec<Look> {
    let places = Arc::new(Semaphore::new(workers(context.fleet)));
    let mut tasks = JoinSet::new();
    for (index, server) in servers.iter().enumerate() {
        let (fleet, runner, server) = (Arc::clone(context.fleet), context.runner.clone(), (*server).clone());
        let places = Arc::clone(&places);
        tasks.spawn(async move {
            let _place = places.acquire_owned().await;
            (index, compute::look(&runner, &fleet, &server).await)
        });
    }
    let mut looks = tasks.join_all().await;
    looks.sort_by_key(|(index, _)| *index);
    looks.into_iter().map(|(_, look)| look).collect()
}

/// How many gates run at once.
pub fn workers(fleet: &Fleet) -> usize {
    let cores = || std::thread::available_parallelism().map_or(2, std::num::NonZeroUsize::get);
    if fleet.limits.workers > 0 { fleet.limits.workers } else { cores() }
}

/// Keeps what a look showed, and makes the jobs of a server.
async fn planned(
    context: &Context<'_>,
    request: &Request,
    (server, id): (&Server, Id),
    look: Look,
    ran: &mut Ran<'_>,
) -> Result<Vec<NewJob>, StoreError> {
    let (fleet, keeping) = (context.fleet, context.keeping);
    let now = (context.clock)();
    let definition = files::definition(fleet, server);
    let digest = files::version(&definition, look.surface.as_ref());
    let version = keeping.put_version(id, &digest, look.surface.as_ref(), now).await?;
    let oldest = now - i64::from(fleet.days) * DAY * 1000;
    let mut jobs = Vec::new();
    let mut starts = Some(look.starts);
    for gate in fleet.gates() {
        let is_asked = request.gates.is_empty() || request.gates.contains(&gate);
        if gate == GateKind::Listed || !is_asked || (gate != GateKind::Starts && look.surface.is_none()) {
            continue;
        }
        let key = files::key(gate, fleet, server, &digest, context.runner.version());
        let Some(key) = keeping.due_key(version, &key, oldest, request.again).await? else {
            ran.unchanged += 1;
            continue;
        };
        let result = ResultKey { version, gate: gate.to_string(), key };
        match (gate, &look.surface) {
            (GateKind::Starts, _) => {
                let Some(computed) = starts.take() else { continue };
                (context.say)(&server.name, gate, &computed.judged);
                let report = keeping.report(computed, now, now).await?;
                keeping.store.record(&result, Some(ran.id), &report, now).await?;
                ran.computed += 1;
            }
            (_, Some(surface)) => jobs.push(job(server, gate, &definition, surface, result, ran.id, now)),
            (_, None) => {}
        }
    }
    Ok(jobs)
}

fn job(
    server: &Server,
    gate: GateKind,
    definition: &str,
    surface: &Surface,
    result: ResultKey,
    run: Id,
    now: Millis,
) -> NewJob {
    let payload = Payload {
        server: server.name.clone(),
        gate,
        definition: definition.to_owned(),
        tools: surface.tools,
        name: surface.name.clone(),
        version: surface.version.clone(),
        digest: surface.digest.clone(),
    };
    NewJob {
        kind: KIND.to_owned(),
        result,
        run: Some(run),
        payload: serde_json::to_value(payload).unwrap_or_default(),
        // What is quick to correct is known first.
        priority: -i64::from(gate as u8),
        run_at: now,
        max_attempts: ATTEMPTS,
    }
}

/// Works on the queue until nothing is left.
async fn work(context: &Context<'_>, stop: watch::Receiver<bool>) -> Result<(), StoreError> {
    let mut tasks = JoinSet::new();
    for number in 0..workers(context.fleet) {
        let queue = Queue::Store(context.keeping.store.clone());
        let options = WorkerOptions {
            name: format!("local-{}-{number}", std::process::id()),
            lease: LEASE,
            idle: Duration::from_millis(200),
            patience: Duration::from_secs(30),
            until_empty: true,
        };
        tasks.spawn(worker(Worker::of(context), queue, options, stop.clone()));
    }
    for ended in tasks.join_all().await {
        ended?;
    }
    Ok(())
}

/// What a worker needs.
#[derive(Clone)]
pub struct Worker {
    /// The fleet.
    pub fleet: Arc<Fleet>,
    /// How `proof` is run.
    pub runner: Runner,
    /// The time, in milliseconds since 1970.
    pub clock: fn() -> Millis,
    /// What is said while it runs.
    pub say: Say,
}

impl Worker {
    fn of(context: &Context<'_>) -> Self {
        Self {
            fleet: Arc::clone(context.fleet),
            runner: context.runner.clone(),
            clock: context.clock,
            say: Arc::clone(&context.say),
        }
    }

    async fn outcome(&self, job: Job) -> fleet_store::Outcome {
        let never = |error: String| fleet_store::Outcome::Failed { error, retry: Retry::Never };
        let Ok(payload) = serde_json::from_value::<Payload>(job.payload) else {
            return never("the job is of another version of proof".to_owned());
        };
        let Some(server) = self.fleet.server(&payload.server) else {
            return never(format!("the fleet of this worker has no server {}", payload.server));
        };
        // A worker starts what its own file says, never what a job says.
        if files::definition(&self.fleet, server) != payload.definition {
            return never(format!("the fleet of this worker starts {} differently", server.name));
        }
        let surface = Surface {
            digest: payload.digest,
            name: payload.name,
            version: payload.version,
            tools: payload.tools,
            ..Surface::default()
        };
        let started = (self.clock)();
        let computed = compute::gate(&self.runner, &self.fleet, server, payload.gate, &surface).await;
        (self.say)(&server.name, payload.gate, &computed.judged);
        let report: GateReport = gate_report(&computed.judged, started, (self.clock)());
        let artefact = computed.report.map(|bytes| fleet_store::Artefact { kind: "report".to_owned(), bytes });
        fleet_store::Outcome::Report { report, artefact }
    }
}

/// Works on a queue.
pub async fn worker(
    worker: Worker,
    queue: Queue,
    options: WorkerOptions,
    stop: watch::Receiver<bool>,
) -> Result<(), StoreError> {
    let worker = Arc::new(worker);
    fleet_store::work(queue, options, stop, move |job| {
        let worker = Arc::clone(&worker);
        async move { worker.outcome(job).await }
    })
    .await
    .map(|_| ())
}

/// A job that failed for good leaves no result: the gate is incomplete, and says why.
async fn record_failures(context: &Context<'_>, run: Id) -> Result<(), StoreError> {
    let now = (context.clock)();
    for job in context.keeping.store.jobs(Some(run), Some(State::Failed), MOST).await? {
        let why = job.error.unwrap_or_else(|| "the job failed".to_owned());
        let judged = Judged::new(Outcome::Incomplete, why).bounded();
        context.keeping.store.record(&job.result, Some(run), &gate_report(&judged, now, now), now).await?;
    }
    Ok(())
}
