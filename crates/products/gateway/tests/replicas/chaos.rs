//! Clients of several principals behind a balancer that sends each request to the next replica, and faults at moments that a
//! seed chooses. Every call writes a line into a ledger before it is answered; the ledger and the answers must agree.
//!
//! `CHAOS_SEEDS` says how many seeds are played (20), `CHAOS_SEED` the first one (1), `CHAOS_SECONDS` for how long at least (0).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use crate::clock::JUMPS;
use crate::invariants::{Broken, ends_well, heals, held};
use crate::random::Random;
use crate::scene::{ANY, Outcome, Scene};

/// How many stores with three replicas each are used at the same time.
const LANES: u64 = 3;
const REPLICAS: u64 = 3;
const PRINCIPALS: [&str; 3] = ["ann", "bob", "cid"];
/// How many keys one principal uses, each in several requests at the same time.
const KEYS: u64 = 6;
const TWINS: u64 = 3;
/// How long a client tries.
const TRIES: Duration = Duration::from_secs(30);
/// How long a fault can make an outcome unknown after it is over: a lease, and some time to notice.
const AFTER: Duration = Duration::from_secs(10);

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
    /// What is neither a result nor an unknown outcome.
    odd: Option<String>,
    time: (Instant, Instant),
    refused: usize,
    broken_off: usize,
}

/// What was broken, and when.
type Fault = (&'static str, Instant, Instant);

#[derive(Debug, Default)]
struct Tally {
    seeds: usize,
    answered: usize,
    unknown: usize,
    refused: usize,
    broken_off: usize,
    faults: HashMap<&'static str, usize>,
    healed: Vec<Duration>,
    broken: Broken,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.answered += other.answered;
        self.unknown += other.unknown;
        self.refused += other.refused;
        self.broken_off += other.broken_off;
        for (name, count) in other.faults {
            *self.faults.entry(name).or_default() += count;
        }
        self.healed.extend(other.healed);
        self.broken.extend(other.broken);
    }

    fn in_words(&self, seconds: f32) -> String {
        let mut faults: Vec<_> = self.faults.iter().collect();
        faults.sort();
        let slowest = self.healed.iter().max().copied().unwrap_or_default().as_millis();
        let mut said = format!(
            "replicas: {} seeds in {seconds:.1} s, {} faults: {} results, {} unknown, {} refused and sent again, ",
            self.seeds,
            self.faults.values().sum::<usize>(),
            self.answered,
            self.unknown,
            self.refused
        );
        let _ = write!(said, "{} broken connections; healed after {slowest} ms at most; {faults:?}", self.broken_off);
        said
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_runs_twice_whatever_fails() {
    let (count, first) = (variable("CHAOS_SEEDS", 20), variable("CHAOS_SEED", 1));
    let least = Duration::from_secs(variable("CHAOS_SECONDS", 0));
    let (begun, next) = (Instant::now(), &AtomicU64::new(0));
    let lanes = (0..LANES.min(count)).map(|_| async move {
        let scene = Scene::balanced(REPLICAS as usize).await;
        let before = held(&scene);
        let mut tally = Tally::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count && begun.elapsed() >= least {
                break;
            }
            tally.add(play(&scene, first + number).await);
        }
        ends_well(&scene, &before, &mut tally.broken).await;
        tally
    });
    let mut all = Tally::default();
    for tally in join_all(lanes).await {
        all.add(tally);
    }
    let said = all.in_words(begun.elapsed().as_secs_f32());
    println!("{said}");
    all.broken.assert_none();
    // A run without faults, results or refusals shows nothing.
    assert!(all.answered > 100 && all.refused > 0 && all.faults.len() >= 6, "{said}");
}

async fn play(scene: &Scene, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    // The first numbers of small seeds are alike.
    for _ in 0..8 {
        random.chance(50);
    }
    let mut tally = Tally { seeds: 1, ..Tally::default() };
    let mut broken = Broken::default();
    let (ended, (faults, healed)) = tokio::join!(clients(scene, seed), async {
        // Without a fault, nothing is unknown.
        let faults = if seed.is_multiple_of(10) { Vec::new() } else { break_things(scene, &mut random).await };
        // Another process has another memory, too.
        let forgot = faults.iter().any(|(kind, ..)| matches!(*kind, "FLUSHALL" | "store KILL"));
        let healed = heals(scene, seed, forgot, &mut broken).await;
        (faults, healed)
    });
    tally.healed.push(healed);
    tally.broken.extend(broken);
    for ended in ended {
        tally.refused += ended.refused;
        tally.broken_off += ended.broken_off;
        if ended.text.is_some() {
            tally.answered += 1;
        } else {
            tally.unknown += 1;
        }
        judge(scene, seed, (&ended, &faults), &mut tally.broken);
    }
    for (fault, ..) in faults {
        *tally.faults.entry(fault).or_default() += 1;
    }
    tally
}

/// Whether the ledger agrees with what a client got.
fn judge(scene: &Scene, seed: u64, (ended, faults): (&Ended, &[Fault]), broken: &mut Broken) {
    let lines = scene.ledger.lines();
    let numbers = lines.iter().enumerate().filter(|(_, (owner, key))| owner == ended.owner && *key == ended.key);
    let numbers: Vec<_> = numbers.map(|(number, _)| number + 1).collect();
    let mut add = |number, what: &str| broken.add(number, format!("seed {seed}: {what}: {ended:?}, lines {numbers:?}"));
    if let Some(odd) = &ended.odd {
        return add(1, odd);
    }
    if numbers.len() > 1 {
        add(2, "more than one line");
    }
    match &ended.text {
        Some(text) if text.split(' ').next() != Some(ended.owner) => add(5, "of another principal"),
        Some(text) if numbers.iter().all(|number| *text != format!("{} {number}", ended.owner)) => {
            add(3, "not the line that ran");
        }
        Some(_) => {}
        None => {
            let (from, until) = ended.time;
            if !faults.iter().any(|(_, begun, over)| *begun <= until && *over + AFTER >= from) {
                add(4, "no fault");
            }
        }
    }
}

async fn clients(scene: &Scene, seed: u64) -> Vec<Ended> {
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
async fn insist(scene: &Scene, owner: &'static str, key: String, mut random: Random) -> Ended {
    sleep(Duration::from_millis(random.below(2500))).await;
    let begun = Instant::now();
    // Equal for all who use the key: the arguments must be.
    let time = json!({ "ms": key.len() as u64 * 40 });
    let mut ended = Ended { owner, key, text: None, odd: None, time: (begun, begun), refused: 0, broken_off: 0 };
    loop {
        let outcome = scene.write(ANY, owner, &ended.key, time.clone()).await;
        ended.time.1 = Instant::now();
        match &outcome {
            Outcome::Broken => ended.broken_off += 1,
            outcome if !outcome.text().is_empty() => {
                ended.text = Some(outcome.text().to_owned());
                return ended;
            }
            outcome if outcome.failure() == "idempotency-unknown" => return ended,
            outcome if outcome.is_not_run() => ended.refused += 1,
            Outcome::Response { .. } => {
                ended.odd = Some(format!("{outcome:?}"));
                return ended;
            }
        }
        if begun.elapsed() > TRIES {
            ended.odd = Some(format!("no end: {outcome:?}"));
            return ended;
        }
        sleep(Duration::from_millis(100 + random.below(300))).await;
    }
}

/// Some faults, one after the other. What is lost with a replica and its store at the same time is lost: a seed has faults of
/// one kind or of the other.
async fn break_things(scene: &Scene, random: &mut Random) -> Vec<Fault> {
    let loses_memory = random.chance(40);
    let kinds: &[&'static str] = if loses_memory {
        &["FLUSHALL", "FLUSHALL", "RST", "store STOP", "replica STOP", "clock"]
    } else {
        &["RST", "store STOP", "store KILL", "replica KILL", "replica STOP", "replica STOP long", "clock"]
    };
    let mut done = Vec::new();
    for _ in 0..=1 + random.below(2) {
        sleep(Duration::from_millis(random.below(1200))).await;
        let (kind, begun) = (random.one(kinds), Instant::now());
        break_one(scene, kind, random).await;
        done.push((kind, begun, Instant::now()));
    }
    done
}

async fn break_one(scene: &Scene, kind: &str, random: &mut Random) {
    let replica = &scene.replicas[random.below(REPLICAS) as usize];
    let pause = Duration::from_millis(100 + random.below(1500));
    match kind {
        "FLUSHALL" => assert!(scene.redis.ask("FLUSHALL").await.is_some()),
        "RST" => scene.break_connections(),
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
        "clock" => {
            let clock = replica.clock.as_ref().expect("a clock that can be moved");
            clock.set(random.one(&JUMPS));
            // It is seen within a second.
            sleep(Duration::from_secs(1) + pause).await;
            clock.set("+0");
        }
        _ => {
            replica.signal("STOP");
            // Longer than a lease, or not.
            sleep(if kind == "replica STOP" { pause } else { Duration::from_millis(6500) }).await;
            replica.signal("CONT");
        }
    }
}
