//! `kill`: ends the parts of a fleet with SIGKILL at named points, each `times` times, then lets the rest be done and looks at the
//! store: nothing may be lost, nothing recorded twice.

use super::Failed;
use super::arguments::Arguments;
use super::check::everything_is_there_once;
use super::children::Process;
use super::postgres::Postgres;
use super::roles::GATES;

/// Where the command is killed.
const COMMAND: [&str; 4] = ["jobs-queued", "before-commit", "committed", "read"];
/// Where a worker is killed.
const WORKER: [&str; 3] = ["worker-has-job", "job-runs", "worker-ended-job"];
/// Where the coordinator is killed, or the database under it.
const COORDINATOR: [&str; 7] =
    ["job-leased", "artefact-written", "artefact-renamed", "result-written", "job-done", "before-commit", "committed"];
/// So short that a lost job comes back soon.
const LEASE_MS: u64 = 1000;
const TOKEN: &str = "a-token-of-the-simulation";

struct Fleet<'a> {
    arguments: &'a Arguments,
    store: String,
    address: String,
    servers: u64,
    times: usize,
    ran: u64,
}

/// Runs the whole of it.
pub(crate) async fn run(arguments: &Arguments) -> Result<(), Failed> {
    let mut database = match arguments.find("postgres") {
        Some(folder) => Some(Postgres::start(folder)?),
        None => None,
    };
    let store = database.as_ref().map_or_else(|| arguments.text("store").map(str::to_owned), |it| Ok(it.address()))?;
    let times = arguments.number("times", 10)? as usize;
    // Enough that every point is reached as often as it must be.
    let servers = arguments.number("servers", 20 + 12 * times as u64)?;
    let address = free_address()?;
    let mut fleet = Fleet { arguments, store, address, servers, times, ran: 0 };
    fleet.kill_commands()?;
    fleet.kill_workers()?;
    fleet.kill_coordinators()?;
    if let Some(database) = &mut database {
        fleet.kill_databases(database)?;
    }
    fleet.finish()?;
    let words = [format!("store={}", fleet.store), format!("artefacts={}", arguments.text("artefacts")?)];
    let store = Arguments::read(words.into_iter())?.store().await?;
    everything_is_there_once(&store, servers).await?;
    let expected = servers * GATES.len() as u64;
    let more = fleet.ran.saturating_sub(expected);
    println!("{expected} results are there, each once; {} jobs ran, {more} of them again after a kill", fleet.ran);
    Ok(())
}

/// An address that a coordinator can have again after it was killed.
fn free_address() -> Result<String, Failed> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// The points that were used.
fn named(points: &[&str], times: usize) -> String {
    points[..times.min(points.len())].join(", ")
}

impl Fleet<'_> {
    fn stored(&self, stop: Option<(&str, usize)>) -> Result<Vec<String>, Failed> {
        let mut words = vec![
            format!("store={}", self.store),
            format!("artefacts={}", self.arguments.text("artefacts")?),
            format!("servers={}", self.servers),
            format!("address={}", self.address),
            format!("token={TOKEN}"),
        ];
        words.extend(stop.map(|(point, nth)| format!("stop={point}:{nth}")));
        Ok(words)
    }

    fn coordinator(&self, stop: Option<(&str, usize)>) -> Result<Process, Failed> {
        let mut process = Process::start("coordinator", &self.stored(stop)?)?;
        process.says("listening")?;
        Ok(process)
    }

    fn worker(&self, stop: Option<(&str, usize)>) -> Result<Process, Failed> {
        let mut words = vec![
            format!("url=http://{}", self.address),
            format!("token={TOKEN}"),
            format!("lease_ms={LEASE_MS}"),
            "work_ms=5".to_owned(),
        ];
        words.extend(stop.map(|(point, nth)| format!("stop={point}:{nth}")));
        Process::start("worker", &words)
    }

    fn kill_commands(&self) -> Result<(), Failed> {
        for (at, point) in COMMAND.iter().cycle().take(self.times).enumerate() {
            // The only reading transaction is the first one.
            let nth = if *point == "read" { 1 } else { 1 + at / COMMAND.len() };
            let mut command = Process::start("command", &self.stored(Some((point, nth)))?)?;
            command.says("at ")?;
            command.kill()?;
        }
        Process::start("command", &self.stored(None)?)?.end()?;
        println!("{} commands killed, at {}", self.times, named(&COMMAND, self.times));
        Ok(())
    }

    fn kill_workers(&mut self) -> Result<(), Failed> {
        let coordinator = self.coordinator(None)?;
        for (at, point) in WORKER.iter().cycle().take(self.times).enumerate() {
            let mut worker = self.worker(Some((point, 1 + at % 3)))?;
            worker.says("at ")?;
            self.ran += worker.kill()?;
        }
        coordinator.kill()?;
        println!("{} workers killed, at {}", self.times, named(&WORKER, self.times));
        Ok(())
    }

    fn kill_coordinators(&mut self) -> Result<(), Failed> {
        let workers = [self.worker(None)?, self.worker(None)?];
        for (at, point) in COORDINATOR.iter().cycle().take(self.times).enumerate() {
            let mut coordinator = self.coordinator(Some((point, 1 + at % 4)))?;
            coordinator.says("at ")?;
            coordinator.kill()?;
        }
        for worker in workers {
            self.ran += worker.kill()?;
        }
        println!("{} coordinators killed, at {}", self.times, named(&COORDINATOR, self.times));
        Ok(())
    }

    fn kill_databases(&mut self, database: &mut Postgres) -> Result<(), Failed> {
        let workers = [self.worker(None)?, self.worker(None)?];
        for (at, point) in COORDINATOR.iter().cycle().take(self.times).enumerate() {
            let mut coordinator = self.coordinator(Some((point, 1 + at % 4)))?;
            coordinator.says("at ")?;
            database.kill_and_start()?;
            // Its connection is gone in the middle of what it does, and it must find the new one.
            coordinator.go_on()?;
            let mut probe = self.worker(Some(("worker-ended-job", 1)))?;
            probe.says("at ")?;
            self.ran += probe.kill()?;
            coordinator.kill()?;
        }
        for worker in workers {
            self.ran += worker.kill()?;
        }
        println!("Postgres killed {} times, while its client was at {}", self.times, named(&COORDINATOR, self.times));
        Ok(())
    }

    /// Lets four workers do the rest.
    fn finish(&mut self) -> Result<(), Failed> {
        let coordinator = self.coordinator(None)?;
        let workers: Vec<_> = (0..4).map(|_| self.worker(None)).collect::<Result<_, _>>()?;
        for worker in workers {
            self.ran += worker.end()?;
        }
        coordinator.kill().map(|_| ())
    }
}
