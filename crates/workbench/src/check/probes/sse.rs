//! HTTP+SSE, the transport of 2024-11-05: a stream that names an endpoint for POSTs. What the opening does by itself (the
//! stream, the `endpoint` event, the handshake over the endpoint) is not repeated here.

use net::client::Outgoing;
use wire::Transport;

use super::http::put;
use crate::check::case::Case;
use crate::check::probe::{Probe, Script};

pub(super) const ORIGINS: Probe = Probe::fresh("sse-origins", origins).on(&[Transport::HttpSse]);

/// Foreign origins on the endpoint and on the stream; the same without one is served.
fn origins(case: &Case) -> Script<'_> {
    Box::pin(async move {
        for origin in ["http://evil.example", "https://attacker.example:8443"] {
            put(case, |o| o.header("Origin", origin)).await?;
        }
        put(case, |o| o).await?;
        // The stream on which this connection lives was opened the same way, without an Origin.
        let stream = case.connection().send_with(Outgoing::bare("GET").header("Origin", "http://evil.example")).await?;
        stream.head(case.short()).await;
        stream.abort();
        Ok(())
    })
}
