//! Clients of several principals at all replicas, and faults at moments that a seed chooses. Every call writes a line into a
//! ledger before it is answered; the ledger and the answers must agree.
//!
//! `CHAOS_SEEDS` says how many seeds are played (20), `CHAOS_SEED` the first one (1).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::random::Random;
use crate::scene::{Outcome, Scene};

/// How many stores with three replicas each are used at the same time.
const LANES: u64 = 4;
const REPLICAS: u64 = 3;
const PRINCIPALS: [&str; 3] = ["ann", "bob", "cid"];
/// How many keys one principal uses, each in several requests at the same time.
const KEYS: u64 = 6;
const TWINS: u64 = 3;
/// How long a client tries.
const TRIES: Duration = Duration::from_secs(30);

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What came of the requests of one client for one key.
#[derive(Debug)]
struct Ended {
    owner: &'static str,
    key: String,
    /// What its result says; nothing where the outcome is unknown.
    text: Option<String>,
}

#[derive(Debug, Default)]
struct Tally {
    answered: usize,
    unknown: usize,
    refused: usize,
    broken_off: usize,
    faults: HashMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.unknown += other.unknown;
        self.refused += other.refused;
        self.broken_off += other.broken_off;
        for (name, count) in other.faults {
            *self.faults.entry(name).or_default() += count;
        }
        self.wrong.extend(other.wrong);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_twice_whatever_fails() {
    let (count, first) = (variable("CHAOS_SEEDS", 20), variable("CHAOS_SEED", 1));
    let begun = Instant::now();
    let lanes = (0..LANES.min(count)).map(|lane| async move {
        let scene = Scene::ready(REPLICAS as usize).await;
        let mut tally = Tally::default();
        for seed in (first..first + count).filter(|seed| (seed - first) % LANES == lane) {
            tally.add(play(&scene, seed).await);
        }
        tally
    });
    let mut all = Tally::default();
    for tally in join_all(lanes).await {
        all.add(tally);
    }
    let seconds = begun.elapsed().as_secs_f32();
    let mut faults: Vec<_> = all.faults.iter().collect();
    faults.sort();
    let mut said = format!(
        "replicas: {count} seeds in {seconds:.1} s: {} results, {} unknown, {} refused and sent again, ",
        all.answered, all.unknown, all.refused
    );
    let _ = write!(said, "{} broken connections; faults: {faults:?}", all.broken_off);
    println!("{said}");
    assert!(all.wrong.is_empty(), "{} wrong:\n{}", all.wrong.len(), all.wrong.join("\n"));
    // A run without faults, results or refusals shows nothing.
    assert!(all.answered > 100 && all.refused > 0 && all.faults.len() >= 6, "{said}");
}

async fn play(scene: &Scene, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    // The first numbers of small seeds are alike.
    for _ in 0..8 {
        random.chance(50);
    }
    let mut tally = Tally::default();
    let (ended, faults) = tokio::join!(clients(scene, seed), break_things(scene, &mut random));
    for (ended, refused, broken_off) in ended {
        tally.refused += refused;
        tally.broken_off += broken_off;
        match &ended.text {
            Some(text) => {
                tally.answered += 1;
                if text.split(' ').next() != Some(ended.owner) {
                    tally.wrong.push(format!("seed {seed}: {} got {text}", ended.owner));
                }
            }
            None => tally.unknown += 1,
        }
        tally.wrong.extend(judge(scene, seed, &ended));
    }
    for fault in faults {
        *tally.faults.entry(fault).or_default() += 1;
    }
    tally
}

/// Whether the ledger agrees with what a client got.
fn judge(scene: &Scene, seed: u64, ended: &Ended) -> Option<String> {
    let lines = scene.ledger.lines();
    let numbers = lines.iter().enumerate().filter(|(_, (owner, key))| owner == ended.owner && *key == ended.key);
    let numbers: Vec<_> = numbers.map(|(number, _)| number + 1).collect();
    let agrees = match (&ended.text, &numbers[..]) {
        (Some(text), [number]) => *text == format!("{} {number}", ended.owner),
        (None, [] | [_]) => true,
        _ => false,
    };
    (!agrees).then(|| format!("seed {seed}: {ended:?}, but lines {numbers:?}"))
}

async fn clients(scene: &Scene, seed: u64) -> Vec<(Ended, usize, usize)> {
    let all = PRINCIPALS.iter().enumerate().flat_map(|(number, owner)| {
        (0..KEYS * TWINS).map(move |twin| {
            let random = Random::new(seed * 1000 + number as u64 * 100 + twin);
            // Principals use the same texts.
            insist(scene, owner, format!("s{seed}k{}", twin % KEYS), random)
        })
    });
    join_all(all).await
}

/// Sends a call until it has a result, or its outcome is unknown.
async fn insist(scene: &Scene, owner: &'static str, key: String, mut random: Random) -> (Ended, usize, usize) {
    let (begun, mut refused, mut broken_off) = (Instant::now(), 0, 0);
    sleep(Duration::from_millis(random.below(2500))).await;
    // Equal for all who use the key: the arguments must be.
    let time = json!({ "ms": key.len() as u64 * 40 });
    loop {
        let replica = random.below(REPLICAS) as usize;
        let outcome = scene.write(replica, owner, &key, time.clone()).await;
        match &outcome {
            Outcome::Broken => broken_off += 1,
            outcome if !outcome.text().is_empty() => {
                let text = Some(outcome.text().to_owned());
                return (Ended { owner, key, text }, refused, broken_off);
            }
            outcome if outcome.failure() == "idempotency-unknown" => {
                return (Ended { owner, key, text: None }, refused, broken_off);
            }
            outcome if outcome.is_not_run() => refused += 1,
            Outcome::Response { .. } => panic!("{outcome:?}"),
        }
        assert!(begun.elapsed() < TRIES, "{key} of {owner} has no end: {outcome:?}");
        sleep(Duration::from_millis(100 + random.below(300))).await;
    }
}

/// Some faults, one after the other. What is lost with a replica and its store at the same time is lost: a seed has faults of
/// one kind or of the other.
async fn break_things(scene: &Scene, random: &mut Random) -> Vec<&'static str> {
    let loses_memory = random.chance(40);
    let kinds: &[&str] = if loses_memory {
        &["FLUSHALL", "FLUSHALL", "RST", "store STOP", "replica STOP"]
    } else {
        &["RST", "store STOP", "store KILL", "replica KILL", "replica STOP", "replica STOP long"]
    };
    let mut done = Vec::new();
    for _ in 0..=1 + random.below(2) {
        sleep(Duration::from_millis(random.below(1200))).await;
        let kind = kinds[random.below(kinds.len() as u64) as usize];
        let replica = &scene.replicas[random.below(REPLICAS) as usize];
        let pause = Duration::from_millis(100 + random.below(1500));
        match kind {
            "FLUSHALL" => assert!(scene.redis.ask("FLUSHALL").await.is_some()),
            "RST" => scene.redis.proxy.reset(),
            "store STOP" => {
                scene.redis.signal("STOP");
                sleep(pause).await;
                scene.redis.signal("CONT");
            }
            "store KILL" => scene.redis.restart(pause / 2).await,
            "replica KILL" => {
                replica.kill();
                sleep(pause / 2).await;
                replica.start_again().await;
            }
            _ => {
                replica.signal("STOP");
                // Longer than a lease, or not.
                sleep(if kind == "replica STOP" { pause } else { Duration::from_millis(6500) }).await;
                replica.signal("CONT");
            }
        }
        done.push(kind);
    }
    done
}
