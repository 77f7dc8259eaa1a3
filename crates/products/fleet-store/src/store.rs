//! The store: a thread with the one connection, which runs transactions one after another and connects again when it must.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use crate::migrations::migrate;
use crate::sql::{self, Failure, Sql};
use crate::{Location, StoreError};

/// How many transactions may wait for their turn.
const WAITING: usize = 256;
/// The first and the longest pause before another try.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it is.
    pub location: Location,
    /// The folder of the artefacts.
    pub artefacts: PathBuf,
    /// How long an operation waits for a store that is lost or busy.
    pub patience: Duration,
}

impl Options {
    /// Options with the usual patience.
    pub fn new(location: Location, artefacts: impl Into<PathBuf>) -> Self {
        Self { location, artefacts: artefacts.into(), patience: Duration::from_secs(30) }
    }
}

/// What is known of a fleet. Clones share the connection.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    place: String,
    artefacts: PathBuf,
    patience: Duration,
    work: mpsc::Sender<Work>,
}

type Work = Box<dyn FnOnce(&mut Link) + Send>;

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Store({})", self.0.place)
    }
}

impl Store {
    /// Opens a store. Makes what is missing, brings its tables up to date, and refuses one that is newer than this program.
    pub async fn open(options: Options) -> Result<Self, StoreError> {
        let Options { location, artefacts, patience } = options;
        crate::create_private(&artefacts).map_err(|error| StoreError::io(artefacts.display(), &error))?;
        let place = location.to_string();
        let (work, mut waiting) = mpsc::channel::<Work>(WAITING);
        let named = place.clone();
        let started = thread::Builder::new().name("fleet-store".to_owned()).spawn(move || {
            let mut link = Link { place: named, location, sql: None };
            while let Some(work) = waiting.blocking_recv() {
                work(&mut link);
            }
        });
        started.map_err(|error| StoreError::io("a thread", &error))?;
        let store = Self(Arc::new(Inner { place, artefacts, patience, work }));
        store.read(|_| Ok(())).await?;
        Ok(store)
    }

    /// Where it is, for messages.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    pub(crate) fn artefacts(&self) -> &Path {
        &self.0.artefacts
    }

    /// Runs a transaction that reads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: impl Fn(&mut dyn Sql) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(false, operation).await
    }

    /// Runs a transaction that writes. It may run more than once, even after it took effect: each must do no harm then.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: impl Fn(&mut dyn Sql) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(true, operation).await
    }

    async fn run<T: Send + 'static>(
        &self,
        writes: bool,
        operation: impl Fn(&mut dyn Sql) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let deadline = Instant::now() + self.0.patience;
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |link| {
            let _ = answer.send(link.transact(writes, deadline, &operation));
        });
        let gone =
            || StoreError::Unreachable { place: self.0.place.clone(), why: "the thread of the store ended".to_owned() };
        self.0.work.send(work).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

/// The connection, and how it is made again.
struct Link {
    place: String,
    location: Location,
    sql: Option<Box<dyn Sql>>,
}

impl Link {
    fn transact<T>(
        &mut self,
        writes: bool,
        deadline: Instant,
        operation: &dyn Fn(&mut dyn Sql) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut pause = PAUSE.0;
        loop {
            let failure = match self.attempt(writes, deadline, operation) {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            let why = match failure {
                Failure::Caller(error) => return Err(error),
                Failure::Refused(why) => return Err(self.refused(why)),
                Failure::Busy(why) => why,
                Failure::Lost(why) => {
                    self.sql = None;
                    why
                }
            };
            if Instant::now() + pause >= deadline {
                return Err(StoreError::Unreachable { place: self.place.clone(), why });
            }
            tracing::debug!(store = self.place, "trying again: {why}");
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    fn attempt<T>(
        &mut self,
        writes: bool,
        deadline: Instant,
        operation: &dyn Fn(&mut dyn Sql) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.sql.is_none() {
            let limit = deadline.saturating_duration_since(Instant::now()).max(PAUSE.1);
            let mut sql = sql::connect(&self.location, limit)?;
            migrate(&mut *sql, &self.place)?;
            self.sql = Some(sql);
        }
        let Some(sql) = &mut self.sql else { return Err(Failure::Lost("there is no connection".to_owned())) };
        sql.begin(writes)?;
        let done = operation(&mut **sql).and_then(|done| {
            crate::reached(if writes { "before-commit" } else { "read" });
            sql.batch("COMMIT").map(|()| done)
        });
        if done.is_err() && sql.batch("ROLLBACK").is_err() {
            // What is still open in it would be part of the next transaction.
            self.sql = None;
        } else if writes {
            crate::reached("committed");
        }
        done
    }

    fn refused(&self, why: String) -> StoreError {
        let remedy = match self.location {
            Location::Sqlite(_) => {
                "check that the file is a store of proof fleet, that its folder may be written and has space"
            }
            Location::Postgres(_) => "check user, password, database and the rights of the user",
        };
        StoreError::Refused { place: self.place.clone(), why, remedy: remedy.to_owned() }
    }
}
