//! What strains a server without being wrong: messages that are large, and JSON that is nested absurdly deep. Memory is
//! sampled around them where the server is our child. What a good server makes of either is not said here.

use net::client::Outgoing;
use serde_json::json;

use super::base::harmless;
use crate::check::case::{Case, Halt};
use crate::check::probe::{Probe, Script};

/// Beyond what line readers with a default limit take, and well within what bodies may usually have.
const LARGE_BYTES: [usize; 2] = [80 << 10, 1 << 20];

/// Beyond what recursive readers survive without a limit of their own.
const DEPTHS: [usize; 2] = [10_000, 100_000];

/// What stands for nested arrays until they are written: no JSON library would write them.
const PAYLOAD: &str = "proof-payload";

pub(super) const LARGE: Probe = Probe::fresh("large-messages", large).safety().intrusive();

/// Requests with much text in their metadata, each followed by a small one.
fn large(case: &Case) -> Script<'_> {
    Box::pin(async move {
        case.connection().sample_memory();
        for bytes in LARGE_BYTES {
            burden(case, bytes).await?;
            case.request(harmless(case), json!({})).await?;
            case.connection().sample_memory();
        }
        Ok(())
    })
}

pub(super) const DEEP: Probe = Probe::fresh("deep-nesting", deep).safety().intrusive();

/// Notifications with thousands of nested arrays in their metadata, each followed by a request. Notifications, since our own
/// reader has a limit as well: of a request so deep it could not tell which answer is its own.
fn deep(case: &Case) -> Script<'_> {
    Box::pin(async move {
        case.connection().sample_memory();
        for depth in DEPTHS {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            // In order but for its depth: some servers take the first message without modern metadata for a legacy client's.
            let params = case.params(json!({ "_meta": { "proofhouse/payload": PAYLOAD } }));
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/proofhouse/deep", "params": params });
            case.say(&fill(&note.to_string(), &nested)).await?.finished(case.short()).await;
            case.request(harmless(case), json!({})).await?;
            case.connection().sample_memory();
        }
        Ok(())
    })
}

/// A text with `payload`, which is JSON, in the place that was left for it.
fn fill(text: &str, payload: &str) -> String {
    text.replace(&format!("\"{PAYLOAD}\""), payload)
}

/// Sends a harmless request with much text in its metadata and waits a short while for whatever is made of it. That it is
/// answered is not asked for: it may be refused in words of any kind.
async fn burden(case: &Case, bytes: usize) -> Result<(), Halt> {
    let params = json!({ "_meta": { "proofhouse/payload": "x".repeat(bytes) } });
    let text = case.request_text(&json!(case.next_id()), harmless(case), params);
    let exchange = case.connection().send_with(Outgoing::message(text)).await?;
    if exchange.number() != 0 && exchange.head(case.short()).await.is_none_or(|(status, _)| status >= 300) {
        exchange.finished(case.short()).await;
        return Ok(());
    }
    case.connection().wait_for(|message| message.kind().is_response(), case.short()).await;
    Ok(())
}
