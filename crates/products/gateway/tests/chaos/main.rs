//! A gateway under load whose upstreams are killed, stopped, flooding, answering garbage and restarting in mid-call, at points
//! that a seed chooses. Every call writes a line into a ledger before it is answered; the ledger and the answers must agree.
//!
//! `CHAOS_SEEDS` says how many seeds are played (20), `CHAOS_SEED` the first one (1).

mod children;
mod http;
mod load;
mod random;
mod verdict;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;

/// How many seeds are played at the same time.
const AT_ONCE: usize = 7;

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcomes_agree_with_the_ledger() {
    let (count, first) = (variable("CHAOS_SEEDS", 20), variable("CHAOS_SEED", 1));
    let (begun, handles) = (Instant::now(), handles());
    let tallies: Vec<verdict::Tally> =
        stream::iter(first..first + count).map(load::play).buffer_unordered(AT_ONCE).collect().await;
    let mut all = verdict::Tally::default();
    for tally in tallies {
        all.add(tally);
    }
    println!("chaos: {count} seeds in {:.1} s: {all}", begun.elapsed().as_secs_f32());
    assert!(all.broken.is_empty(), "{} broken:\n{}", all.broken.len(), all.broken.join("\n"));
    // A run without faults, answers or unknown outcomes shows nothing.
    assert!(all.is_telling(), "{all}");
    no_handle_is_left(handles).await;
}

/// The open descriptors of this process; none where the system does not say.
fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

async fn no_handle_is_left(before: usize) {
    let begun = Instant::now();
    // Connections that are closing, and a runtime that has opened what it needs itself.
    while handles() > before + 16 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{} descriptors, {before} before", handles());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
