//! What clients of the legacy era would send to a modern endpoint, all in one case: only together do they tell whether the
//! server serves the modern era alone, and so must ignore or refuse them.

use net::client::Outgoing;
use serde_json::json;
use wire::{Era, RequestId};

use super::{HTTP, put};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};
use crate::check::probes::modern;

pub(in super::super) const OLDER_CLIENTS: Probe =
    Probe::fresh("http-older-clients", older_clients).on(HTTP).era(Era::Modern);

/// Session and event ids that nobody gave, no version header, no metadata, `initialize`, GET and DELETE; and once a request
/// in order.
fn older_clients(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        put(case, |o| o).await?;
        put(case, |o| o.header("Mcp-Session-Id", "proof-no-such-session")).await?;
        put(case, |o| o.header("Last-Event-ID", "proof-no-such-event")).await?;
        put(case, |o| o.without("MCP-Protocol-Version")).await?;
        bare(case).await?;
        modern::greet_as_legacy(case).await?;
        // A server that serves both eras has opened a session by now: DELETE ends it.
        for method in ["GET", "DELETE"] {
            let exchange = case.connection().send_with(Outgoing::bare(method)).await?;
            exchange.head(case.short()).await;
            exchange.abort();
        }
        Ok(())
    })
}

/// A request without any metadata, its headers in order.
async fn bare(case: &ProbeContext) -> Result<(), Abort> {
    let (id, method) = (case.next_id(), super::harmless(case));
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string();
    case.ask(RequestId::from(id), Outgoing::message(text), case.short()).await?;
    Ok(())
}
