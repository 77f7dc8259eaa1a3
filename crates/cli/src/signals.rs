//! The signals that ask this process to end.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for a signal that asks us to end, and tells its number. From the call on, not only from the first poll, such a
/// signal no longer ends the process by itself. A closed terminal is one too: it must not leave anything behind.
pub(crate) fn interrupted() -> impl Future<Output = u8> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut heard: [(SignalKind, io::Result<Signal>); 3] = kinds.map(|kind| (kind, signal(kind)));
    poll_fn(move |context| {
        for (kind, signals) in &mut heard {
            if let Ok(signals) = signals
                && signals.poll_recv(context).is_ready()
            {
                return Poll::Ready(kind.as_raw_value() as u8);
            }
        }
        Poll::Pending
    })
}
