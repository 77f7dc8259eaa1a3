//! Judges several peers at a time, and reports them in order. Must not know how one is judged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::catalog::Peer;
use super::report::{Report, TABLE_HEAD};

/// Judges `jobs` peers at a time, prints a row for each, and gives whatever `compare` finds not to be as expected.
pub(super) fn judge_all(
    peers: &[&Peer],
    jobs: usize,
    judge: impl Fn(&Peer) -> anyhow::Result<(Report, Duration)> + Sync,
    mut compare: impl FnMut(&Peer, &Report) -> Vec<String>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    println!("{TABLE_HEAD}");
    in_order(peers, jobs, judge, |peer, judged| match judged {
        Ok((report, wall)) => {
            println!("{}", report.row(peer, wall));
            complaints.extend(compare(peer, &report).into_iter().map(|what| format!("{}: {what}", peer.id())));
        }
        Err(error) => {
            println!("{:<24} could not be judged", peer.id());
            complaints.push(format!("{}: {error:#}", peer.id()));
        }
    });
    complaints
}

/// Does `work` for `jobs` things at a time (0: one), and `tell` for each in the things' order, as soon as its turn has come.
fn in_order<T: Copy + Sync, R: Send>(
    things: &[T],
    jobs: usize,
    work: impl Fn(T) -> R + Sync,
    mut tell: impl FnMut(T, R),
) {
    let (next, work) = (&AtomicUsize::new(0), &work);
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..jobs.max(1) {
            let send = send.clone();
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(at) else { return };
                    // Nobody listens after a panic: then nothing is left to be done.
                    if send.send((at, work(*thing))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let (mut done, mut told) = (BTreeMap::new(), 0);
        for (at, outcome) in receive {
            done.insert(at, outcome);
            while let Some(outcome) = done.remove(&told) {
                tell(things[told], outcome);
                told += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::in_order;

    #[test]
    fn several_at_a_time_are_told_in_their_order() {
        for jobs in [0, 1, 2, 7] {
            let mut told = Vec::new();
            // The first takes longest.
            let work = |number: u64| {
                sleep(Duration::from_millis(30 / (number + 1)));
                number * 2
            };
            in_order(&[0, 1, 2, 3, 4], jobs, work, |number, double| told.push((number, double)));
            assert_eq!(told, [(0, 0), (1, 2), (2, 4), (3, 6), (4, 8)], "{jobs} at a time");
        }
    }
}
