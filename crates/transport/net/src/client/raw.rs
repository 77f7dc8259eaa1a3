//! Bytes on a connection of their own, for HTTP that no library would write. Nothing is parsed here.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};
use wire::Party;
use wire::trace::{Closed, Content, Limit};

use super::error::SendError;
use super::http::Http;
use crate::tap::Written;

/// Writes `bytes`, reads what comes until the end or until `patience` is over.
pub(crate) async fn exchange(http: &Arc<Http>, bytes: &[u8], patience: Duration) -> Result<Vec<u8>, SendError> {
    let (channel, limit) = (&http.channel, http.channel.limits.message_bytes);
    let number = channel.tap.next_exchange();
    let mut io = match http.pool.dialer().dial().await {
        Ok(io) => io,
        Err(error) => {
            channel.closed(Party::Client, number, Closed::Failed);
            return Err(error.into());
        }
    };
    let deadline = Instant::now() + patience;
    let cause = channel.write(Party::Client, number, Content::Raw(bytes.to_vec()), Written::NONE);
    let (mut came, mut begun) = (Vec::new(), None);
    let mut end = (Party::Server, Closed::Reset);
    // A peer that stops reading half-way may have sent the reason.
    let written = timeout_at(deadline, async { io.write_all(bytes).await.and(io.flush().await) }).await;
    if written.is_err() {
        end = (Party::Client, Closed::TimedOut);
    }
    while written.is_ok() {
        end = match timeout_at(deadline, io.read_buf(&mut came)).await {
            Ok(Ok(0)) => (Party::Server, Closed::End),
            Ok(Ok(_)) if came.len() > limit => {
                channel.limit(Limit::Message);
                (Party::Client, Closed::Aborted)
            }
            Ok(Ok(_)) => {
                begun.get_or_insert_with(|| channel.tap.now());
                continue;
            }
            Ok(Err(_)) => (Party::Server, Closed::Reset),
            Err(_) => (Party::Client, Closed::TimedOut),
        };
        break;
    }
    if let Some(at) = begun {
        channel.write_since(at, Party::Server, number, Content::Raw(came.clone()), cause);
    }
    channel.closed(end.0, number, end.1);
    Ok(came)
}
