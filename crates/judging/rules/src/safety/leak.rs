//! Memory that grows with every request: distinguished from a heap that is not yet swept by how long the growth lasts.

use wire::Party;

use crate::verdict::{Breach, Verdict};
use crate::view::View;

/// How many answered requests tell something.
const ENOUGH: usize = 1000;

/// By how many answered requests a heap has been swept.
const CERTAIN: usize = 3000;

/// What a request may leave behind on average, in bytes, before it is called a leak.
const EACH: u64 = 64 << 10;

/// What all of them may leave behind together.
const ALL: u64 = 64 << 20;

/// Requests that were answered between two samples of memory, and by how much it grew.
struct Stretch {
    answered: usize,
    growth: u64,
    end: usize,
}

pub(super) fn no_leak(view: &View<'_>) -> Verdict {
    let stretches = stretches(view);
    let answered: usize = stretches.iter().map(|s| s.answered).sum();
    let Some(last) = stretches.last().filter(|_| answered >= ENOUGH) else {
        return Verdict::NotSeen("memory was not sampled over so many requests".to_owned());
    };
    let growth: u64 = stretches.iter().map(|s| s.growth).sum();
    let each = growth / answered as u64;
    if growth <= ALL || each <= EACH || stretches.iter().any(|s| s.growth < s.answered as u64 * EACH / 2) {
        return Verdict::Holds(vec![last.end]);
    }
    if answered < CERTAIN {
        return Verdict::NotSeen("memory grew, but too few requests were made to call it a leak".to_owned());
    }
    let why = format!(
        "{answered} requests left {} MiB behind, {} KiB each, and the growth continues",
        growth >> 20,
        each >> 10
    );
    Verdict::Broken(Breach::at(last.end, "", why))
}

/// The stretches between the samples of the first connection that has any.
fn stretches(view: &View<'_>) -> Vec<Stretch> {
    let samples: Vec<_> = view.memory_samples().collect();
    let Some(&(first, _)) = samples.first() else { return Vec::new() };
    let connection = view.frame(first).connection;
    let here = |&(event, _): &(usize, u64)| view.frame(event).connection == connection;
    let samples: Vec<_> = samples.into_iter().filter(here).collect();
    let calls = view.calls_by(Party::Client).filter(|call| call.request.connection == connection);
    let mut answers: Vec<_> = calls.filter_map(|call| call.response).map(|answer| answer.event).collect();
    answers.sort_unstable();
    let before = |event: usize| answers.partition_point(|&answer| answer < event);
    let stretch = |pair: &[(usize, u64)]| {
        let [(start, small), (end, large)] = *pair else { return None };
        Some(Stretch { answered: before(end) - before(start), growth: large.saturating_sub(small), end })
    };
    samples.windows(2).filter_map(stretch).filter(|s| s.answered > 0).collect()
}
