//! The loop of a worker: lease a job, run it while its lease is renewed, end it. Must not know what a job does.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use crate::bounds::SENTENCE;
use crate::remote::Leased;
use crate::token::random_hex;
use crate::{Artefact, ContentHash, Ended, GateReport, Held, Job, Lease, Remote, Retry, Store, StoreError, now};

/// Where a worker gets its jobs.
#[derive(Clone, Debug)]
pub enum Queue {
    /// From the store.
    Store(Store),
    /// From a coordinator.
    Coordinator(Remote),
}

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Its name, for people. Random digits are added for each loop.
    pub name: String,
    /// How long a job is its own without a renewal.
    pub lease: Duration,
    /// How long it pauses when no job is ready.
    pub idle: Duration,
    /// How long it looks for a missing coordinator.
    pub patience: Duration,
    /// Return when every job has ended.
    pub until_empty: bool,
}

impl WorkerOptions {
    /// A worker that goes on until it is stopped.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            lease: Duration::from_mins(1),
            idle: Duration::from_secs(1),
            patience: Duration::from_mins(10),
            until_empty: false,
        }
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With a result.
    Report {
        /// The result.
        report: GateReport,
        /// Its whole report, which is stored first.
        artefact: Option<Artefact>,
    },
    /// Without one.
    Failed {
        /// Why.
        error: String,
        /// Whether it is tried again.
        retry: Retry,
    },
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Jobs that ended with a result.
    pub finished: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Attempts whose lease was lost, or whose job was cancelled.
    pub lost: u64,
}

/// Works on one job after another until `stop` is true, or, where the options say so, until every job has ended. A job whose lease
/// is lost, or that is cancelled, is dropped; when the worker stops, its job is given back.
pub async fn work<F, Fut>(
    queue: Queue,
    options: WorkerOptions,
    stop: watch::Receiver<bool>,
    run: F,
) -> Result<Worked, StoreError>
where
    F: Fn(Job) -> Fut,
    Fut: Future<Output = Outcome>,
{
    let name: String = options.name.chars().take(48).collect();
    let digits = random_hex::<6>().map_err(|error| StoreError::io("the source of randomness", &error))?;
    let mut worker = Worker { name: format!("{name}-{digits}"), queue, options, stop, worked: Worked::default() };
    if let Queue::Coordinator(remote) = worker.queue {
        worker.queue = Queue::Coordinator(remote.patient(worker.options.patience));
    }
    while let Some(job) = worker.next().await? {
        crate::reached("worker-has-job");
        let lease = job.lease.clone();
        let outcome = tokio::select! {
            outcome = run(job) => Some(outcome),
            () = worker.keep(&lease) => None,
            () = stopped(worker.stop.clone()) => Some(given_back()),
        };
        worker.end(&lease, outcome).await?;
        crate::reached("worker-ended-job");
    }
    Ok(worker.worked)
}

fn given_back() -> Outcome {
    Outcome::Failed { error: "the worker was stopped".to_owned(), retry: Retry::Return }
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender is gone: nothing can stop it.
        std::future::pending::<()>().await;
    }
}

struct Worker {
    name: String,
    queue: Queue,
    options: WorkerOptions,
    stop: watch::Receiver<bool>,
    worked: Worked,
}

impl Worker {
    /// The next job; none when the worker is to end.
    async fn next(&self) -> Result<Option<Job>, StoreError> {
        let mut stopped = pin!(stopped(self.stop.clone()));
        loop {
            // Dropped half-way, a lease that was given anyway runs out.
            let leased = tokio::select! {
                biased;
                () = &mut stopped => return Ok(None),
                leased = self.lease() => leased?,
            };
            if leased.job.is_some() {
                return Ok(leased.job);
            }
            if self.options.until_empty && leased.open.is_none_or(|open| open.is_empty()) {
                return Ok(None);
            }
            tokio::select! {
                () = &mut stopped => return Ok(None),
                () = sleep(self.options.idle) => {}
            }
        }
    }

    async fn lease(&self) -> Result<Leased, StoreError> {
        match &self.queue {
            Queue::Coordinator(remote) => remote.lease(&self.name, self.options.lease).await,
            Queue::Store(store) => {
                let job = store.lease(&self.name, self.options.lease, now()).await?;
                let open = if job.is_none() { Some(store.counts(None).await?) } else { None };
                Ok(Leased { job, open })
            }
        }
    }

    /// Renews a lease, and returns when it is lost.
    async fn keep(&self, lease: &Lease) {
        loop {
            sleep(self.options.lease / 3).await;
            let held = match &self.queue {
                Queue::Coordinator(remote) => remote.renew(lease, self.options.lease).await,
                Queue::Store(store) => store.renew(lease, self.options.lease, now()).await,
            };
            match held {
                Ok(Held::Until(_)) => {}
                Ok(Held::Cancelled | Held::Lost) => return,
                // The work may still be handed in: the end of the job will show.
                Err(error) => tracing::debug!("a lease cannot be renewed: {error}"),
            }
        }
    }

    async fn end(&mut self, lease: &Lease, outcome: Option<Outcome>) -> Result<(), StoreError> {
        match outcome {
            None => self.worked.lost += 1,
            Some(Outcome::Failed { error, retry }) => self.fail(lease, &error, retry).await?,
            Some(Outcome::Report { report, artefact }) => match self.hand_in(lease, report, artefact).await {
                Ok(Ended::Recorded(_) | Ended::Already(_)) => self.worked.finished += 1,
                Ok(Ended::Cancelled | Ended::Lost) => self.worked.lost += 1,
                // What the store does not take now, it will not take later.
                Err(error @ (StoreError::Invalid { .. } | StoreError::Missing { .. })) => {
                    self.fail(lease, &error.to_string(), Retry::Never).await?;
                }
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    async fn hand_in(
        &self,
        lease: &Lease,
        mut report: GateReport,
        artefact: Option<Artefact>,
    ) -> Result<Ended, StoreError> {
        if let Some(Artefact { kind, bytes }) = artefact {
            report.report = Some(self.put_artefact(&kind, bytes).await?);
        }
        match &self.queue {
            Queue::Coordinator(remote) => remote.finish(lease, &report).await,
            Queue::Store(store) => store.finish(lease, &report, now()).await,
        }
    }

    async fn put_artefact(&self, kind: &str, bytes: Vec<u8>) -> Result<ContentHash, StoreError> {
        match &self.queue {
            Queue::Coordinator(remote) => remote.put_artefact(kind, bytes).await,
            Queue::Store(store) => store.put_artefact(kind, bytes, now()).await,
        }
    }

    async fn fail(&mut self, lease: &Lease, error: &str, retry: Retry) -> Result<(), StoreError> {
        let error = shortened(error);
        match &self.queue {
            Queue::Coordinator(remote) => remote.fail(lease, error, retry).await,
            Queue::Store(store) => store.fail(lease, error, retry, now()).await,
        }?;
        self.worked.failed += u64::from(retry != Retry::Return);
        Ok(())
    }
}

/// As much of an error as the store takes; it may quote what a child said.
fn shortened(error: &str) -> &str {
    let end = error.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= SENTENCE).last();
    &error[..end.unwrap_or_default()]
}
