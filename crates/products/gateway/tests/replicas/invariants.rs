//! What must hold whatever fails. Each has a name, and a run says which of them it saw broken.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::scene::{ANY, Replica, Scene};

/// The names; the number is that of the list.
pub(crate) const NAMES: [&str; 8] = [
    "I1: every request has a definite answer in time",
    "I2: no call runs twice for one key",
    "I3: a call with a result ran once",
    "I4: an outcome is unknown only where a fault hit",
    "I5: no answer reaches another principal",
    "I6: each answered request has one record, and the log is consistent",
    "I7: nothing is left over when the load is over",
    "I8: five seconds after the last fault, eight where the store forgot, answers are as fast as before",
];

/// How soon after the last fault calls must be answered as before, and how fast.
const HEALED: Duration = Duration::from_secs(5);
/// How much longer it takes where the store forgot everything: replicas write again what they know.
const RECOVERING: Duration = Duration::from_secs(3);
const FAST: Duration = Duration::from_secs(1);
/// How many descriptors more than at the beginning may be open: kept connections.
const MORE: usize = 16;

/// What was seen broken: the number of the invariant, and how.
#[derive(Debug, Default)]
pub(crate) struct Broken(Vec<(usize, String)>);

impl Broken {
    pub(crate) fn add(&mut self, number: usize, how: String) {
        self.0.push((number, how));
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Fails with each invariant that was broken.
    pub(crate) fn assert_none(&self) {
        let mut said = String::new();
        for (number, name) in NAMES.iter().enumerate() {
            let all: Vec<_> = self.0.iter().filter(|(broken, _)| *broken == number + 1).collect();
            if !all.is_empty() {
                let _ = writeln!(said, "{name}: broken {} times", all.len());
                all.iter().take(10).for_each(|(_, how)| _ = writeln!(said, "  {how}"));
            }
        }
        assert!(said.is_empty(), "{said}");
    }
}

/// I8: from now on, calls are answered as before within [`HEALED`].
pub(crate) async fn heals(scene: &Scene, seed: u64, forgot: bool, broken: &mut Broken) -> Duration {
    let begun = Instant::now();
    let healed = if forgot { HEALED + RECOVERING } else { HEALED };
    let mut slowest = Duration::ZERO;
    for round in 0.. {
        let mut is_good = true;
        slowest = Duration::ZERO;
        for number in 0..10 {
            let (sent, key) = (Instant::now(), format!("heal{seed}r{round}n{number}"));
            let outcome = scene.write(ANY, "probe", &key, json!({})).await;
            slowest = slowest.max(sent.elapsed());
            is_good &= !outcome.text().is_empty();
            if !is_good {
                break;
            }
        }
        if is_good && slowest < FAST {
            return begun.elapsed();
        }
        if begun.elapsed() > healed {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    broken.add(
        8,
        format!("seed {seed}: not within {:?}; the slowest of the last calls took {slowest:?}", begun.elapsed()),
    );
    begun.elapsed()
}

/// What each replica holds when nothing is under way.
pub(crate) fn held(scene: &Scene) -> Vec<usize> {
    scene.replicas.iter().map(|replica| replica.holds().0).collect()
}

/// I7, and I6 when all have ended.
pub(crate) async fn ends_well(scene: &Scene, before: &[usize], broken: &mut Broken) {
    for (number, (replica, before)) in scene.replicas.iter().zip(before).enumerate() {
        let begun = Instant::now();
        let is_free = |replica: &Replica| {
            let (descriptors, children) = replica.holds();
            descriptors <= before + MORE && children == 0
        };
        while !is_free(replica) && begun.elapsed() < Duration::from_secs(20) {
            // Connections that were idle for 2 s are closed by the next request.
            sleep(Duration::from_millis(2500)).await;
            scene.call(number, "probe", "read", json!({})).await;
        }
        if !is_free(replica) {
            broken.add(7, format!("replica {number}: {:?} held, {before} before", replica.holds()));
        }
        if !replica.ends().await {
            broken.add(7, format!("replica {number} does not end"));
        }
    }
    let mut records = 0;
    for (number, replica) in scene.replicas.iter().enumerate() {
        match recorded(replica) {
            Ok(count) => records += count,
            Err(why) => broken.add(6, format!("replica {number}: {why}")),
        }
    }
    let (answered, unanswered) = (scene.answered.load(Ordering::Relaxed), scene.broken.load(Ordering::Relaxed));
    // One that got no response may have a record.
    if !(answered..=answered + unanswered).contains(&records) {
        broken.add(6, format!("{records} records of {answered} answered and {unanswered} other requests"));
    }
}

/// How many requests the log of a replica has.
fn recorded(replica: &Replica) -> Result<u64, String> {
    let folder = replica.audit();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
    let verified = command.args(["audit", "verify"]).arg(&folder).stdin(Stdio::null()).output();
    let verified = verified.map_err(|error| error.to_string())?;
    if !verified.status.success() {
        return Err(String::from_utf8_lossy(&[verified.stdout, verified.stderr].concat()).into_owned());
    }
    let mut count = 0;
    for file in std::fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten() {
        let text = std::fs::read_to_string(file.path()).map_err(|error| error.to_string())?;
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        count += lines.filter(|line| line["kind"] == "request" && line["method"] == "tools/call").count() as u64;
    }
    Ok(count)
}
