//! HTTP+SSE, the transport of 2024-11-05: a stream that names an endpoint for POSTs. What the opening does by itself (the
//! stream, the `endpoint` event, the handshake over the endpoint) is not repeated here.

use std::time::Duration;

use net::client::Outgoing;
use wire::Transport;
use wire::framing::sse::Block;

use super::http::envelope::rebound;
use super::http::put;
use crate::check::context::ProbeContext;
use crate::check::probe::{Probe, Script};

pub(super) const ORIGINS: Probe = Probe::fresh("sse-origins", origins).on(&[Transport::HttpSse]);

/// Foreign origins on the endpoint and on the stream; the same without one is served. Then another stream of our own.
fn origins(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for origin in ["http://evil.example", "https://attacker.example:8443"] {
            put(case, |o| o.header("Origin", origin)).await?;
        }
        rebound(case).await?;
        put(case, |o| o).await?;
        // The stream on which this connection lives was opened the same way, without an Origin.
        let stream = case.connection().send_with(Outgoing::bare("GET").header("Origin", "http://evil.example")).await?;
        stream.head(case.short()).await;
        stream.abort();
        // Another one as a browser opens it: last, since some servers keep one stream and forget the one before.
        let browser = Outgoing::bare("GET").header("Accept", "text/event-stream").header("Cache-Control", "no-store");
        let stream = case.connection().send_with(browser).await?;
        stream.head(case.short()).await;
        let named = |block: &Block| block.event.as_deref() == Some("endpoint");
        if stream.is_stream() && stream.event(named, case.patience()).await.is_none() {
            case.quiet("on another stream", Duration::from_millis(100)).await;
        }
        stream.abort();
        Ok(())
    })
}
