//! What the answers to POSTs mean over HTTP+SSE, where no message comes in them.

use futures_util::future::BoxFuture;
use net::upstream::{Failure, Response, Sse};

use super::trouble::Trouble;

/// How much of an answer is read.
const REST: usize = 16 << 10;

/// Begins to post a message.
pub(super) fn post(sse: &Sse, text: &str) -> BoxFuture<'static, Result<(), Trouble>> {
    Box::pin(taken(sse.post(text.as_bytes())))
}

async fn taken(answered: impl Future<Output = Result<Response, Failure>>) -> Result<(), Trouble> {
    let mut response = answered.await?;
    let status = response.status.as_u16();
    let retry_after = response.header("retry-after").map(str::to_owned);
    let _ = response.whole(REST).await;
    match status {
        200..=299 => Ok(()),
        // The server knows the session no longer, though its stream is open.
        404 | 410 => Err(Trouble::SessionGone),
        _ => Err(Trouble::Status { status, retry_after }),
    }
}
