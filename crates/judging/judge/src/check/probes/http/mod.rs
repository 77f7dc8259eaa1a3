//! Streamable HTTP: what the envelope says and what it should not.

pub(super) mod authorization;
pub(super) mod credentials;
pub(super) mod envelope;
pub(super) mod exposure;
pub(super) mod headers;
pub(super) mod mirrored_arguments;
pub(super) mod older;
pub(super) mod sessions;
pub(super) mod streams;

use net::client::Outgoing;
use serde_json::{Value, json};
use wire::{RequestId, Transport};

use super::base::harmless;
use crate::check::context::{Abort, ProbeContext, Reply};

/// The transport of these probes.
const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// Those that only want HTTP, of whatever kind.
const ANY_HTTP: &[Transport] = &[Transport::StreamableHttp, Transport::HttpSse];

/// Puts a harmless request, its HTTP envelope changed by `change`.
pub(super) async fn put(case: &ProbeContext, change: impl FnOnce(Outgoing) -> Outgoing) -> Result<Reply, Abort> {
    request(case, harmless(case), json!({}), change).await
}

/// Puts a request, its HTTP envelope changed by `change`, and waits for the response's head or the answer.
async fn request(
    case: &ProbeContext,
    method: &str,
    params: Value,
    change: impl FnOnce(Outgoing) -> Outgoing,
) -> Result<Reply, Abort> {
    let id = case.next_id();
    let outgoing = change(Outgoing::message(case.request_text(&json!(id), method, params)));
    let id = RequestId::from(id);
    let exchange = case.connection().send_with(outgoing).await?;
    let refused = exchange.head(case.patience()).await.is_none_or(|(status, _)| status >= 300);
    // A refusal need not be an answer: its body is waited for, not its id.
    let message = if refused {
        exchange.finished(case.short()).await;
        case.connection().response(&id, std::time::Duration::ZERO).await
    } else {
        case.connection().response(&id, case.patience()).await
    };
    Ok(Reply(message))
}
