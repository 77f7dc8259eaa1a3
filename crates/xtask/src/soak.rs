//! `cargo xtask soak`: one `proof serve --http` under many clients that open sessions, leave them, cut their streams, come
//! back and delete, at random. Nothing may fail that is not the client's doing, and memory must be flat.
//!
//! Clients are threads with blocking sockets: light, and none of the code that the server is made of.

pub(crate) mod http;
mod player;
mod requests;
mod server;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use self::http::Connection;
use self::player::Player;
use self::requests::Session;
use self::server::Server;
use crate::words::{Words, help};
use crate::{Verdict, peers, root};

const USAGE: &str = "usage: cargo xtask soak [OPTIONS]

  --sessions N    sessions to open in all (default: 10000)
  --requests N    requests to make in all (default: 1000000)
  --seed N        the seed of what the clients do (default: 1)
  --idle SECONDS  end an unused session after so many seconds [default: 2]
  --proof FILE    the binary to run (default: a release build, made now)";

const PLAYERS: u64 = 8;
/// Below what a process may usually open (1024), on both sides.
const STREAMS: u64 = 900;
const TENTHS: u64 = 10;
const SAMPLE: Duration = Duration::from_millis(50);
/// How far the last tenth's memory may be from the second's.
const FLAT: f64 = 0.05;
/// What a server may hold of its own that did nothing yet, and how much more for each session that does nothing.
const IDLE_KIB: u64 = 2 << 10;
const SESSION_BYTES: u64 = 16 << 10;
const IDLE_SESSIONS: u64 = 5000;

/// What is to be done.
pub(crate) struct Plan {
    sessions: u64,
    requests: u64,
    seed: u64,
    idle: u32,
    players: u64,
    streams: u64,
    address: SocketAddr,
    proof: Option<PathBuf>,
}

impl Default for Plan {
    fn default() -> Self {
        let address = ([127, 0, 0, 1], 0).into();
        let (sessions, requests) = (10_000, 1_000_000);
        Self { sessions, requests, seed: 1, idle: 2, players: PLAYERS, streams: STREAMS, address, proof: None }
    }
}

impl Plan {
    /// So much of everything.
    pub(crate) fn of(sessions: u64, requests: u64, seed: u64) -> Self {
        Self { sessions, requests, seed, ..Self::default() }
    }

    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut plan = Self::default();
        let mut words = Words::of(args, USAGE);
        while let Some(option) = words.option() {
            match option {
                "--sessions" => plan.sessions = words.number()?,
                "--requests" => plan.requests = words.number()?,
                "--seed" => plan.seed = words.number()?,
                "--idle" => plan.idle = words.number::<u32>()?.max(1),
                "--proof" => plan.proof = Some(words.value()?.into()),
                _ => return Err(words.unknown()),
            }
        }
        ensure!(plan.sessions >= PLAYERS, "--sessions wants at least {PLAYERS}");
        ensure!(plan.requests >= plan.sessions * 10, "--requests wants at least ten for each session");
        Ok(plan)
    }
}

/// What the clients have done so far, all together.
#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    opened: AtomicU64,
    deleted: AtomicU64,
    left: AtomicU64,
    lapsed: AtomicU64,
    resumed: AtomicU64,
    streams: AtomicU64,
    most_streams: AtomicU64,
    over: AtomicBool,
}

impl Counts {
    fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    fn deleted(&self) {
        self.deleted.fetch_add(1, Ordering::Relaxed);
    }

    fn left(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    fn lapsed(&self) {
        self.lapsed.fetch_add(1, Ordering::Relaxed);
    }

    fn resumed(&self) {
        self.resumed.fetch_add(1, Ordering::Relaxed);
    }

    fn stream_opened(&self) {
        let now = self.streams.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_streams.fetch_max(now, Ordering::Relaxed);
    }

    fn stream_closed(&self) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether another client has failed.
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (well, figure) = soak(Plan::parse(args)?)?;
    println!("{figure}");
    Ok(well)
}

/// Both parts; whether all is well, and the figures in words.
pub(crate) fn soak(plan: Plan) -> anyhow::Result<(bool, String)> {
    let proof = peers::proof(plan.proof.as_deref())?;
    let folder = root().join("target/nightly");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (light, idle) = at_rest(&proof, folder.join("soak-idle.log"))?;
    println!("{idle}\n");
    let (flat, busy) = under_load(&proof, folder.join("soak-load.log"), plan)?;
    Ok((light && flat, format!("{idle}\n{busy}")))
}

/// What the server holds before it has done anything, and for sessions in which nothing happens.
fn at_rest(proof: &Path, log: PathBuf) -> anyhow::Result<(bool, String)> {
    let server = Server::start(proof, 1800, log)?;
    thread::sleep(Duration::from_millis(300));
    let start = server.anonymous()?;
    let mut connection = Connection::open(server.address)?;
    let mut open = |count: u64| -> anyhow::Result<u64> {
        for _ in 0..count {
            let reply = connection.exchange(&requests::hello("2025-11-25"))?;
            let session = Session { session: reply.session.context("no session")?, revision: "2025-11-25" };
            connection.exchange(&requests::ready(&session))?;
        }
        server.memory()
    };
    let few = open(100)?;
    let each = open(IDLE_SESSIONS)?.saturating_sub(few) * 1024 / IDLE_SESSIONS;
    let figure = format!(
        "at rest: {:.1} MiB of anonymous memory after the start (at most {}), {:.1} KiB for each idle session (at most {})",
        mib(start as f64),
        IDLE_KIB >> 10,
        each as f64 / 1024.0,
        SESSION_BYTES >> 10
    );
    Ok((start <= IDLE_KIB && each <= SESSION_BYTES, figure))
}

fn under_load(proof: &Path, log: PathBuf, mut plan: Plan) -> anyhow::Result<(bool, String)> {
    let server = Server::start(proof, plan.idle, log)?;
    plan.address = server.address;
    let counts = Counts::default();
    let begun = Instant::now();
    let play = |number| {
        // Given back with its streams still open: the last tenth must not be the one in which they all close.
        let played = Player::new(&plan, &counts, number).and_then(|mut player| player.play().map(|()| player));
        played.inspect_err(|_| counts.over.store(true, Ordering::Relaxed))
    };
    let (tenths, failures) = thread::scope(|scope| {
        let play = &play;
        let players: Vec<_> = (0..PLAYERS).map(|number| scope.spawn(move || play(number))).collect();
        let tenths = watch(&server, &plan, &counts, || players.iter().any(|player| !player.is_finished()));
        counts.over.store(tenths.is_err(), Ordering::Relaxed);
        let ended = players.into_iter().map(|player| player.join().unwrap_or_else(|_| bail!("a client panicked")));
        (tenths, ended.filter_map(Result::err).collect::<Vec<_>>())
    });
    let tenths = tenths?;
    for failure in &failures {
        println!("  failed: {failure:#}");
    }
    server.is_sound()?;
    let (flat, memory) = flatness(&tenths, &plan);
    let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
    let figure = format!(
        "under load: {} requests in {:.0} s, {} sessions ({} deleted, {} left, {} lapsed in use), {} streams resumed, at most {} open; \
         {} failures; {memory}",
        count(&counts.requests),
        begun.elapsed().as_secs_f32(),
        count(&counts.opened),
        count(&counts.deleted),
        count(&counts.left),
        count(&counts.lapsed),
        count(&counts.resumed),
        count(&counts.most_streams),
        failures.len(),
    );
    Ok((flat && failures.is_empty(), figure))
}

/// What was measured while one tenth of the requests was made.
struct Tenth {
    took: Duration,
    memory: Vec<u64>,
}

impl Tenth {
    fn mean(&self) -> f64 {
        self.memory.iter().sum::<u64>() as f64 / self.memory.len().max(1) as f64
    }
}

/// Measures and prints, tenth by tenth, until the clients have ended.
fn watch(server: &Server, plan: &Plan, counts: &Counts, running: impl Fn() -> bool) -> anyhow::Result<Vec<Tenth>> {
    println!("tenth    requests   rate/s   MiB   handles   sessions opened   deleted   left   streams open");
    let mut tenths = Vec::new();
    let mut current = Tenth { took: Duration::ZERO, memory: Vec::new() };
    let mut begun = Instant::now();
    loop {
        let alive = running();
        current.memory.push(server.memory()?);
        let requests = counts.requests.load(Ordering::Relaxed);
        // Each client stops at its share, which may leave a few requests over.
        let due = (tenths.len() as u64 + 1) * plan.requests / TENTHS;
        if requests >= due || !alive {
            current.took = begun.elapsed();
            begun = Instant::now();
            print_row(tenths.len() + 1, &current, plan, counts, server.handles()?);
            tenths.push(std::mem::replace(&mut current, Tenth { took: Duration::ZERO, memory: Vec::new() }));
        }
        if !alive || tenths.len() as u64 == TENTHS {
            return Ok(tenths);
        }
        thread::sleep(SAMPLE);
    }
}

fn print_row(number: usize, tenth: &Tenth, plan: &Plan, counts: &Counts, handles: usize) {
    let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
    println!(
        "{number:>5} {:>11} {:>8.0} {:>5.1} {handles:>9} {:>17} {:>9} {:>6} {:>14}",
        count(&counts.requests),
        plan.requests as f64 / TENTHS as f64 / tenth.took.as_secs_f64(),
        mib(tenth.mean()),
        count(&counts.opened),
        count(&counts.deleted),
        count(&counts.left),
        count(&counts.streams),
    );
}

/// Whether memory was the same in the second tenth and the last, and whether that says anything.
fn flatness(tenths: &[Tenth], plan: &Plan) -> (bool, String) {
    let (Some(second), Some(last), true) = (tenths.get(1), tenths.last(), tenths.len() as u64 == TENTHS) else {
        return (false, "not all tenths were run".to_owned());
    };
    let change = last.mean() / second.mean() - 1.0;
    let text = format!(
        "{:.1} MiB in the second tenth, {:.1} in the last ({:+.1} %)",
        mib(second.mean()),
        mib(last.mean()),
        change * 100.0
    );
    let idle = Duration::from_secs(plan.idle.into());
    if tenths.iter().skip(1).any(|tenth| tenth.took <= idle) {
        // Sessions that were left must have ended within the tenth, or their number grows all the time.
        return (false, format!("{text}; a tenth took no longer than the idle time-out: make more requests"));
    }
    (change.abs() <= FLAT, text)
}

fn mib(kib: f64) -> f64 {
    kib / 1024.0
}
