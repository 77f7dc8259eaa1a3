//! Sends spans to a collector: OTLP/HTTP with JSON (OTLP 1.0), in batches, off the path of requests. A collector that is away
//! costs spans, which are counted, and nothing else.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use net::OpenError;
use net::server::http::{HeaderMap, HeaderValue, Method};
use net::upstream::HttpUpstream;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::span::{Attribute, Span, attributes};
use super::{Counts, Item};
use crate::settings::TelemetrySettings;

/// The most spans of one request to the collector.
const BATCH: usize = 512;
/// How long a span waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// How long the collector may take to connect, and to answer.
const CONNECT: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(10);
/// Before a batch is sent once more.
const PAUSE: Duration = Duration::from_secs(1);
/// The largest answer that is read, in bytes.
const ANSWER: usize = 64 << 10;
/// How often the log says that spans are not taken, at most.
const QUIET: Duration = Duration::from_mins(1);

/// Sends spans.
pub(super) struct Exporter {
    http: HttpUpstream,
    resource: Value,
    waiting: mpsc::Receiver<Item>,
    counts: Arc<Counts>,
    warned: Option<Instant>,
}

/// Why a batch was not taken.
enum Refusal {
    /// It may be taken later.
    Later(String),
    Never(String),
}

impl Exporter {
    pub(super) fn new(
        settings: &TelemetrySettings,
        waiting: mpsc::Receiver<Item>,
        counts: Arc<Counts>,
    ) -> Result<Self, OpenError> {
        let resource: [(&'static str, Attribute); 2] = [
            ("service.name", settings.service_name.as_str().into()),
            ("service.version", env!("CARGO_PKG_VERSION").into()),
        ];
        let http = HttpUpstream::new(&settings.otlp, CONNECT)?;
        Ok(Self { http, resource: attributes(&resource), waiting, counts, warned: None })
    }

    /// Sends for as long as somebody may add spans.
    pub(super) async fn run(mut self) {
        loop {
            let (batch, flushed, is_over) = self.gather().await;
            if !batch.is_empty() {
                self.send(&batch).await;
            }
            if let Some(flushed) = flushed {
                let _ = flushed.send(());
            }
            if is_over {
                return;
            }
        }
    }

    /// The next spans: as many as come together in a short time.
    async fn gather(&mut self) -> (Vec<Box<Span>>, Option<oneshot::Sender<()>>, bool) {
        let mut batch = Vec::new();
        let mut until = None;
        while batch.len() < BATCH {
            let next = match until {
                None => Ok(self.waiting.recv().await),
                Some(until) => timeout_at(until, self.waiting.recv()).await,
            };
            match next {
                Ok(Some(Item::Span(span))) => {
                    until.get_or_insert_with(|| Instant::now() + GATHER);
                    batch.push(span);
                }
                Ok(Some(Item::Flush(flushed))) => return (batch, Some(flushed), false),
                Ok(None) => return (batch, None, true),
                Err(_) => break,
            }
        }
        (batch, None, false)
    }

    async fn send(&mut self, batch: &[Box<Span>]) {
        let spans: Vec<_> = batch.iter().map(|span| span.json()).collect();
        let scope = json!({ "name": "proof-gateway", "version": env!("CARGO_PKG_VERSION") });
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": self.resource },
            "scopeSpans": [{ "scope": scope, "spans": spans }],
        }] });
        let body = bytes::Bytes::from(body.to_string());
        let mut sent = self.post(body.clone()).await;
        if matches!(sent, Err(Refusal::Later(_))) {
            sleep(PAUSE).await;
            sent = self.post(body).await;
        }
        let count = batch.len() as u64;
        match sent {
            Ok(()) => {
                self.counts.sent.fetch_add(count, Ordering::Relaxed);
            }
            Err(Refusal::Later(why) | Refusal::Never(why)) => {
                self.counts.refused.fetch_add(count, Ordering::Relaxed);
                if self.warned.is_none_or(|last| last.elapsed() > QUIET) {
                    self.warned = Some(Instant::now());
                    tracing::warn!(spans = count, "the collector of `telemetry` takes no spans: {why}");
                }
            }
        }
    }

    async fn post(&self, body: bytes::Bytes) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let posted = async {
            let failed = |error| Refusal::Later(format!("{error:?}"));
            let mut response = self.http.send(Method::POST, headers, body).await.map_err(failed)?;
            let status = response.status.as_u16();
            // Read to its end, the connection is used again.
            let _ = response.whole(ANSWER).await;
            match status {
                200..=299 => Ok(()),
                // OTLP 1.0, OTLP/HTTP response: these may be tried again.
                429 | 502 | 503 | 504 => Err(Refusal::Later(format!("status {status}"))),
                _ => Err(Refusal::Never(format!("status {status}"))),
            }
        };
        timeout(PATIENCE, posted).await.unwrap_or_else(|_| Err(Refusal::Later("no answer in time".to_owned())))
    }
}
