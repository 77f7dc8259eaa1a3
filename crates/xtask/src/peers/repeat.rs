//! `cargo xtask peers --repeat N`: checks each server several times by the default options while every core is busy, and says
//! which verdicts were not the same each time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::catalog::{Peer, Side};
use super::{Home, Target, reached};

/// How long one check may take: the default limit of the check, and what it takes to end.
const CHECK: Duration = Duration::from_mins(2);

/// One rule in one run, and what became of it in each check.
type Outcomes = BTreeMap<(String, String), Vec<String>>;

/// Checks the servers among the peers, each `times` times, and gives what was not the same each time.
pub(super) fn all(home: &Home, proof: &Path, peers: &[&Peer], times: usize) -> anyhow::Result<Vec<String>> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let complaints = peers.iter().filter(|peer| matches!(peer.side, Side::Server { .. })).try_fold(
            Vec::new(),
            |mut complaints, peer| {
                complaints.extend(one(home, proof, &peer.id(), times)?);
                anyhow::Ok(complaints)
            },
        );
        is_over.store(true, Ordering::Relaxed);
        complaints
    })
}

fn one(home: &Home, proof: &Path, name: &str, times: usize) -> anyhow::Result<Vec<String>> {
    let mut outcomes = Outcomes::new();
    let mut seconds = Vec::new();
    let kept = home.reports().join(format!("{name}-repeated.json"));
    for _ in 0..times {
        let begun = Instant::now();
        let report = reached(name, |target| match target {
            Target::Url(url) => checked(proof, &kept, &[url.to_owned()]),
            Target::Command(command) => checked(proof, &kept, &[&["--".to_owned()], command].concat()),
        })?;
        seconds.push(begun.elapsed().as_secs_f64());
        note(&mut outcomes, &report);
    }
    seconds.sort_by(f64::total_cmp);
    let (broken, unsteady) = differing(&outcomes, times);
    println!(
        "{name:<26}{times:>4} checks, median {:>5.1} s, {:>4} verdicts, {:>3} not always broken, {:>3} not always judged",
        seconds[seconds.len() / 2],
        outcomes.len(),
        broken.len(),
        unsteady.len()
    );
    for line in &unsteady {
        println!("    {line}");
    }
    Ok(broken.into_iter().map(|line| format!("{name}: {line}")).collect())
}

fn checked(proof: &Path, kept: &Path, target: &[String]) -> anyhow::Result<Value> {
    let mut command = Command::new(proof);
    command.args(["check", "--format", "json", "--output"]).arg(kept).args(target);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    super::judge::end_within(child, CHECK)?;
    let text = std::fs::read_to_string(kept)?;
    serde_json::from_str(&text).context("the check gave no report")
}

fn note(outcomes: &mut Outcomes, report: &Value) {
    for result in report["results"].as_array().into_iter().flatten() {
        let text = |member: &str| result[member].as_str().unwrap_or_default().to_owned();
        let key = (text("rule"), format!("{} {}", text("transport"), text("revision")));
        outcomes.entry(key).or_default().push(text("outcome"));
    }
}

/// The rules that were broken in some checks and not in others, and those that were only sometimes exercised.
fn differing(outcomes: &Outcomes, times: usize) -> (Vec<String>, Vec<String>) {
    let (mut broken, mut unsteady) = (Vec::new(), Vec::new());
    for ((rule, run), seen) in outcomes {
        let kinds: BTreeSet<&str> = seen.iter().map(String::as_str).collect();
        if kinds.len() == 1 && seen.len() == times {
            continue;
        }
        let counts: Vec<String> = kinds
            .iter()
            .map(|kind| format!("{kind} {}", seen.iter().filter(|outcome| outcome == kind).count()))
            .collect();
        let line = format!("{rule} over {run}: {} of {times}", counts.join(", "));
        if kinds.contains("fail") || kinds.contains("warn") { broken.push(line) } else { unsteady.push(line) }
    }
    (broken, unsteady)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Outcomes, differing, note};

    #[test]
    fn what_differs_is_named() {
        let mut outcomes = Outcomes::new();
        for (first, second) in [("fail", "pass"), ("pass", "pass"), ("fail", "not-exercised")] {
            let result = |rule: &str, outcome: &str| json!({ "rule": rule, "transport": "http", "revision": "2025-11-25", "outcome": outcome });
            note(&mut outcomes, &json!({ "results": [result("a", first), result("b", second), result("c", "fail")] }));
        }
        let (broken, unsteady) = differing(&outcomes, 3);
        assert_eq!(broken, ["a over http 2025-11-25: fail 2, pass 1 of 3"]);
        assert_eq!(unsteady, ["b over http 2025-11-25: not-exercised 1, pass 2 of 3"]);
    }
}
