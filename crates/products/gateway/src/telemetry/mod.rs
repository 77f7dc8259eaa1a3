//! Spans of requests, in the conventions of OpenTelemetry for MCP (docs/gateway-telemetry.md says which version). A span says
//! what was asked and how it ended: never an argument, a result or a token. Must not delay a request.

mod context;
mod export;
mod request;
mod span;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use net::OpenError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

pub(crate) use self::context::{NAMES, Outgoing, trace_of};
use self::export::Exporter;
pub(crate) use self::request::{Trace, UpstreamSpan};
use self::span::Span;
use crate::metrics::Page;
use crate::settings::{Sample, TelemetrySettings};

/// How many spans wait at most to be sent. Further ones are dropped.
const WAITING: usize = 4096;
/// How long the last spans may take when the gateway ends.
const LAST: Duration = Duration::from_secs(2);

/// What the exporter gets.
enum Item {
    Span(Box<Span>),
    /// Everything before it is to be sent now.
    Flush(oneshot::Sender<()>),
}

/// What became of spans.
#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    /// There was no room.
    overflowed: AtomicU64,
    /// The collector did not take them.
    refused: AtomicU64,
}

/// Makes spans and sends them.
#[derive(Debug)]
pub(crate) struct Telemetry {
    sample: Sample,
    queue: mpsc::Sender<Item>,
    counts: Arc<Counts>,
}

impl Telemetry {
    /// Begins to send spans, in the background.
    pub(crate) fn start(settings: &TelemetrySettings) -> Result<Self, OpenError> {
        let (queue, waiting) = mpsc::channel(WAITING);
        let counts = Arc::<Counts>::default();
        let exporter = Exporter::new(settings, waiting, Arc::clone(&counts))?;
        tokio::spawn(exporter.run());
        Ok(Self { sample: settings.sample, queue, counts })
    }

    /// Takes a span that has ended. Never waits.
    fn take(&self, span: Box<Span>) {
        if self.queue.try_send(Item::Span(span)).is_err() {
            self.counts.overflowed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends what waits, for a short time at most.
    pub(crate) async fn flush(&self) {
        let flushed = async {
            let (done, over) = oneshot::channel();
            if self.queue.send(Item::Flush(done)).await.is_ok() {
                let _ = over.await;
            }
        };
        let _ = timeout(LAST, flushed).await;
    }

    /// Adds what became of spans to a page.
    pub(crate) fn write(&self, page: &mut Page) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let name = "proof_gateway_spans_sent_total";
        page.family(name, "counter", "Spans that the collector took.");
        page.sample(name, &[], read(&self.counts.sent));
        let name = "proof_gateway_spans_dropped_total";
        page.family(name, "counter", "Spans that were dropped, by reason.");
        page.sample(name, &[("reason", "queue_full")], read(&self.counts.overflowed));
        page.sample(name, &[("reason", "not_taken")], read(&self.counts.refused));
    }
}
