//! The parts of a fleet, each in a process: what queues jobs, what gives them out, what runs them.

use std::io::{Write as _, stdout};
use std::time::Duration;

use fleet_store::{
    Artefact, Coordinator, GateOutcome, GateReport, Job, NewFinding, NewJob, NewRun, NewServer, NewVersion, Outcome,
    Queue, Remote, ResultKey, Token, WorkerOptions, now, work,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Failed;
use super::arguments::Arguments;
use super::points::reached;

/// The gates of each server.
pub(crate) const GATES: [&str; 7] = ["check", "test", "scan", "lock", "eval", "bench", "ready"];
/// For how many servers jobs are queued together.
const TOGETHER: u64 = 10;

/// The name of a server.
pub(crate) fn name(number: u64) -> String {
    format!("server-{number:05}")
}

/// Queues a job for each gate of each server. Run again, it does what is left.
pub(crate) async fn command(arguments: &Arguments) -> Result<(), Failed> {
    let (store, servers) = (arguments.store().await?, arguments.number("servers", 10)?);
    let run = NewRun { trigger: "simulation".to_owned(), ..NewRun::default() };
    let run = store.begin_run(&run, now()).await?;
    let mut jobs = Vec::new();
    for number in 0..servers {
        let server = NewServer { name: name(number), source: "simulated".to_owned(), ..NewServer::default() };
        let server = store.put_server(&server, now()).await?;
        let version = NewVersion { digest: format!("digest-{number}"), ..NewVersion::default() };
        let version = store.put_version(server, &version, now()).await?;
        jobs.extend(GATES.iter().map(|gate| NewJob {
            kind: "gate".to_owned(),
            result: ResultKey { version, gate: (*gate).to_owned(), key: format!("key-{number}-{gate}") },
            run: Some(run),
            payload: json!({ "server": number }),
            priority: 0,
            run_at: 0,
            max_attempts: 100,
        }));
        if (number + 1) % TOGETHER == 0 || number + 1 == servers {
            store.enqueue(&jobs, now()).await?;
            jobs.clear();
        }
    }
    Ok(store.end_run(run, now()).await?)
}

/// Gives jobs out until it is killed.
pub(crate) async fn coordinator(arguments: &Arguments) -> Result<(), Failed> {
    let token = Token::new(arguments.text("token")?).ok_or("token=… is too short")?;
    let address = arguments.find("address").unwrap_or("127.0.0.1:0").parse()?;
    let coordinator = Coordinator::listen(arguments.store().await?, address, token, None).await?;
    println!("listening {}", coordinator.address());
    stdout().flush()?;
    std::future::pending().await
}

/// Runs jobs until none is left.
pub(crate) async fn worker(arguments: &Arguments) -> Result<(), Failed> {
    let token = Token::new(arguments.text("token")?).ok_or("token=… is too short")?;
    let queue = Queue::Coordinator(Remote::new(arguments.text("url")?, &token, None)?);
    let options = WorkerOptions {
        lease: Duration::from_millis(arguments.number("lease_ms", 60_000)?),
        idle: Duration::from_millis(50),
        until_empty: true,
        ..WorkerOptions::new("simulated")
    };
    let takes = Duration::from_millis(arguments.number("work_ms", 0)?);
    let (_stop, stopped) = watch::channel(false);
    let worked = work(queue, options, stopped, |job| run(job, takes)).await?;
    println!("worked {}", worked.finished);
    Ok(())
}

async fn run(job: Job, takes: Duration) -> Outcome {
    println!("ran {}", job.result.key);
    reached("job-runs");
    tokio::time::sleep(takes).await;
    let number = job.payload["server"].as_u64().unwrap_or_default();
    let bytes = artefact(number, &job.result.gate).into_bytes();
    Outcome::Report {
        report: report(number, &job.result.gate),
        artefact: Some(Artefact { kind: "report".to_owned(), bytes }),
    }
}

/// What the whole report of a gate says.
pub(crate) fn artefact(number: u64, gate: &str) -> String {
    format!("the report of {gate} on {}\n{}", name(number), "line\n".repeat(50))
}

/// The figures of a gate.
pub(crate) fn summary(number: u64, gate: &str) -> Value {
    json!({ "server": number, "gate": gate })
}

/// How many findings a gate has.
pub(crate) const fn finding_count(number: u64) -> u64 {
    number % 4
}

fn report(number: u64, gate: &str) -> GateReport {
    let finding = |at| NewFinding {
        rule: format!("rule-{at}"),
        level: "must".to_owned(),
        fingerprint: format!("{gate}-{at}"),
        message: "it is simulated".to_owned(),
        ..NewFinding::default()
    };
    GateReport {
        outcome: if number.is_multiple_of(4) { GateOutcome::Pass } else { GateOutcome::Fail },
        summary: summary(number, gate),
        score: Some(100.0),
        coverage: None,
        started: 1,
        ms: 1,
        report: None,
        findings: (0..finding_count(number)).map(finding).collect(),
    }
}
