//! `scale`: growing fleets with four workers. The cost of a server must stay the same, and so must the memory of the coordinator.

use std::time::Instant;

use fleet_store::{Coordinator, Store, Token};

use super::Failed;
use super::arguments::Arguments;
use super::check::everything_is_there_once;
use super::children::Process;
use super::roles::{self, GATES};

const TOKEN: &str = "a-token-of-the-simulation";
/// By how much the memory may grow from a tenth of the largest fleet to its end.
const GROWTH_KIB: u64 = 16 << 10;

/// Runs fleets of a quarter, a half and all of the servers.
pub(crate) async fn run(arguments: &Arguments) -> Result<(), Failed> {
    let (servers, workers) = (arguments.number("servers", 1000)?, arguments.number("workers", 4)?);
    println!("servers   jobs  seconds  ms/server  memory at 10 %, 50 %, 100 % (MiB)");
    let mut costs = Vec::new();
    let mut memory = [0; 3];
    for servers in [servers / 4, servers / 2, servers] {
        let (seconds, used) = one(arguments, servers, workers).await?;
        let cost = seconds * 1000.0 / servers as f64;
        let [a, b, c] = used.map(|kib| kib as f64 / 1024.0);
        let jobs = servers * GATES.len() as u64;
        println!("{servers:>7} {jobs:>6} {seconds:>8.1} {cost:>10.2}  {a:.1}, {b:.1}, {c:.1}");
        costs.push(cost);
        memory = used;
    }
    let slower = costs.last().copied().unwrap_or_default() / costs.first().copied().unwrap_or(1.0);
    // A busy machine makes one of several short measurements slower: a test with small fleets allows more.
    let most = arguments.find("slower").unwrap_or("1.5").parse::<f64>()?;
    if slower > most {
        return Err(
            format!("a server of the largest fleet costs {slower:.2} times as much as one of the smallest").into()
        );
    }
    if memory[2].saturating_sub(memory[0]) > GROWTH_KIB {
        return Err(format!("the memory grows from {} to {} KiB", memory[0], memory[2]).into());
    }
    Ok(())
}

async fn one(arguments: &Arguments, servers: u64, workers: u64) -> Result<(f64, [u64; 3]), Failed> {
    let folder = std::path::Path::new(arguments.text("folder")?).join(servers.to_string());
    std::fs::create_dir_all(&folder)?;
    let words = [
        format!("store={}", folder.join("fleet.db").display()),
        format!("artefacts={}", folder.join("artefacts").display()),
        format!("servers={servers}"),
    ];
    let of_fleet = Arguments::read(words.into_iter())?;
    let begun = Instant::now();
    roles::command(&of_fleet).await?;
    let store = of_fleet.store().await?;
    let token = Token::new(TOKEN).ok_or("the token is too short")?;
    let coordinator = Coordinator::listen(store.clone(), "127.0.0.1:0".parse()?, token, None).await?;
    let words = [format!("url=http://{}", coordinator.address()), format!("token={TOKEN}")];
    let workers: Vec<_> = (0..workers).map(|_| Process::start("worker", &words)).collect::<Result<_, _>>()?;
    let memory = watch(&store, servers * GATES.len() as u64).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut ran = 0;
    for worker in workers {
        ran += tokio::task::spawn_blocking(|| worker.end()).await??;
    }
    coordinator.close().await;
    if ran != servers * GATES.len() as u64 {
        return Err(format!("{ran} jobs ran").into());
    }
    everything_is_there_once(&store, servers).await?;
    Ok((seconds, memory))
}

/// The memory of this process, which is the coordinator, when a tenth, half and all of the jobs are done.
async fn watch(store: &Store, jobs: u64) -> Result<[u64; 3], Failed> {
    let mut memory = [0; 3];
    for (at, percent) in [10, 50, 100].into_iter().enumerate() {
        while store.counts(None).await?.done * 100 < jobs * percent {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        memory[at] = resident_kib()?;
    }
    Ok(memory)
}

fn resident_kib() -> Result<u64, Failed> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|_| "memory is measured on Linux only")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("there is no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
