//! Resumes response streams that the server closed before the response: it may do so, and expects its client to resume
//! (basic/transports, resumability and redelivery).

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use net::client::{Connection, Exchange};
use wire::framing::sse::Block;
use wire::{Era, Transport};

/// The limits for the `retry` time that a server names.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

/// How long the stream may take to end after the response.
const PROMPT: Duration = Duration::from_millis(300);

/// The resumed stream, if there is one.
#[derive(Debug, Default)]
pub struct Rest(Option<Exchange>);

impl Rest {
    /// Follows `exchange` from stream to stream. Never resolves: the caller waits for the response and stops it.
    pub async fn follow(&mut self, connection: &Connection, exchange: &Exchange, patience: Duration) -> Infallible {
        let resumable =
            connection.transport() == Transport::StreamableHttp && connection.revision().era() == Era::Legacy;
        let (mut current, mut last) = (exchange.clone(), None);
        while resumable && current.finished(patience).await && current.is_stream() {
            let events = current.events();
            let id = events.iter().rev().find_map(|block| block.id.clone().filter(|id| !id.is_empty()));
            last = id.or(last);
            let Some(last) = last.as_deref() else { break };
            let away = events.iter().rev().find_map(Block::retry_ms).map_or(SHORTEST, Duration::from_millis);
            tokio::time::sleep(away.clamp(SHORTEST, LONGEST)).await;
            let Ok(http) = connection.http() else { break };
            let Ok(next) = http.open_stream(Some(last)).await else { break };
            self.0 = Some(next.clone());
            current = next;
        }
        pending().await
    }

    /// Ends the resumed stream, if the server does not.
    pub async fn over(self) {
        if let Some(stream) = self.0 {
            stream.finished(PROMPT).await;
            stream.abort();
        }
    }
}
