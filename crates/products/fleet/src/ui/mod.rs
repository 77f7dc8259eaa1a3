//! The page of the fleet: `proof fleet ui`. It shows what the store knows, follows runs, and starts them. What a gate means and
//! how it is computed, other modules know; what stands before a page, `page` knows.

mod board;
mod complete;
mod feed;
mod inspectors;
mod reading;
mod routes;
mod running;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fleet_store::{Millis, StoreError};
use net::server::http::{self, Limits, Server};
use net::service::{Answer, Call, Reply, RpcError, Service};
use page::{Entry, Files, Token};
use tokio::sync::{Notify, Semaphore, watch};
use wire::redact::Redactor;

use self::board::Board;
use self::inspectors::Inspectors;
use self::running::Running;
use crate::child::Runner;
use crate::config::Fleet;
use crate::keeping::Keeping;
use crate::secret;

/// How many pages may follow, and how many connections are served.
const FEEDS: usize = 16;
const CONNECTIONS: usize = 128;
/// The longest body of a request, in bytes.
const BODY: usize = 64 << 10;
/// How often it is looked what runs, while a page is open.
const LOOK: Duration = Duration::from_millis(500);
/// How often the store is read, in case another process wrote to it, and the shortest pause between two readings.
const REREAD: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(250);

/// What a page is made of.
pub struct Options {
    /// The fleet.
    pub fleet: Arc<Fleet>,
    /// Its store.
    pub keeping: Keeping,
    /// How `proof` is run.
    pub runner: Runner,
    /// The time, in milliseconds since 1970.
    pub clock: fn() -> Millis,
    /// Who starts runs.
    pub actor: String,
    /// Prints a message for people.
    pub tell: fn(&str),
    /// The version of the program.
    pub version: &'static str,
}

/// Everything behind the page.
pub struct Ui {
    /// States borrow from it, and it lives as long as the program: one fleet, loaded once.
    fleet: &'static Arc<Fleet>,
    keeping: Keeping,
    runner: Runner,
    clock: fn() -> Millis,
    actor: String,
    tell: fn(&str),
    version: &'static str,
    entry: Entry,
    redactor: Redactor,
    board: Mutex<Board>,
    /// The number of the last change.
    changes: watch::Sender<u64>,
    /// A gate has ended: the store has something new.
    news: Notify,
    running: Mutex<Running>,
    inspectors: Inspectors,
    feeds: Arc<Semaphore>,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for Ui {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ui")
    }
}

impl Ui {
    /// Reads the store.
    pub async fn open(options: Options) -> Result<Arc<Self>, StoreError> {
        let random = |error: io::Error| StoreError::Io { place: "randomness".to_owned(), why: error.to_string() };
        let redactor = secret::redactor(&options.fleet.servers);
        let ui = Arc::new(Self {
            fleet: Box::leak(Box::new(options.fleet)),
            keeping: options.keeping,
            runner: options.runner,
            clock: options.clock,
            actor: options.actor,
            tell: options.tell,
            version: options.version,
            entry: Entry::new(Files::Fleet, "proof fleet ui").map_err(random)?,
            redactor,
            board: Mutex::default(),
            changes: watch::Sender::new(0),
            news: Notify::new(),
            running: Mutex::default(),
            inspectors: Inspectors::default(),
            feeds: Arc::new(Semaphore::new(FEEDS)),
            stop: watch::Sender::new(false),
        });
        ui.reread().await?;
        Ok(ui)
    }

    /// The token of this launch.
    pub const fn token(&self) -> &Token {
        self.entry.token()
    }

    /// Serves the page at `address` until the server is shut down or dropped.
    pub async fn listen(self: &Arc<Self>, address: SocketAddr) -> io::Result<Server> {
        let limits =
            Limits { body: BODY, connections: CONNECTIONS, idle: Duration::from_hours(24), ..Limits::default() };
        let layer = Arc::new(routes::Pages(self.clone()));
        let options = http::Options { layer: Some(layer), limits, ..http::Options::default() };
        let server = http::listen(Arc::new(NoService), address, options).await?;
        tokio::spawn(self.clone().follow());
        Ok(server)
    }

    /// Says goodbye to the pages, and ends the run and the inspectors that they started.
    pub async fn close(&self) {
        self.stop.send_replace(true);
        self.stop_run();
        self.inspectors.end().await;
        // Workers give their jobs back.
        while self.is_running() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Now, in seconds since 1970.
    fn seconds(&self) -> i64 {
        crate::keeping::seconds((self.clock)())
    }

    /// Whether a page follows.
    fn has_feeds(&self) -> bool {
        self.feeds.available_permits() < FEEDS
    }

    /// Keeps the board up to date, until the page is closed.
    async fn follow(self: Arc<Self>) {
        let mut stop = self.stop.subscribe();
        let (mut read, mut pause) = (Instant::now(), REREAD);
        loop {
            let is_news = tokio::select! {
                () = self.news.notified() => true,
                () = tokio::time::sleep(LOOK) => false,
                () = stopped(&mut stop) => return,
            };
            if !is_news && !self.has_feeds() && !self.is_running() {
                continue;
            }
            let begun = Instant::now();
            let is_due = is_news || read.elapsed() >= pause;
            if let Err(error) = if is_due { self.reread().await } else { self.look().await } {
                self.failed(&error);
            }
            if is_due {
                // A large fleet must not be read all the time.
                (read, pause) = (Instant::now(), REREAD.max(begun.elapsed() * 20));
                tokio::time::sleep(PAUSE.max(begun.elapsed())).await;
            }
        }
    }

    fn failed(&self, error: &StoreError) {
        let mut board = self.board();
        let text = Some(error.to_string());
        if board.problem != text {
            board.problem = text;
            self.changed(&mut board);
        }
    }

    /// Tells the feeds.
    fn changed(&self, board: &mut Board) {
        board.seq += 1;
        board.state_seq = board.seq;
        self.changes.send_replace(board.seq);
    }
}

/// Waits until something stops.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stopping| *stopping).await;
}

/// Nothing speaks MCP here: the layer answers every request before it comes this far.
struct NoService;

impl Service for NoService {
    fn call(&self, call: Call) -> Reply {
        Answer::error(Some(call.id()), &RpcError::invalid_request("this is the page of proof fleet ui")).into()
    }
}
