//! What only one kind of connection can do: a child process, or an HTTP client. A view exists only for such a connection, so
//! nothing here is silently without effect.

use std::net::IpAddr;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use super::error::SendError;
use super::exchange::Exchange;
use super::http::Http;
use super::outgoing::Outgoing;
use super::stdio::Stdio;
use super::{other_addresses, raw};
use crate::process::Signal;

/// The child process behind a connection over stdio.
#[derive(Clone, Copy)]
pub struct ChildView<'c>(pub(super) &'c Stdio);

impl ChildView<'_> {
    /// Writes the pieces on the child's stdin as they are, with a pause between two of them and nothing else in between.
    pub async fn write_raw(self, pieces: &[&[u8]], pause: Duration) -> Result<(), SendError> {
        self.0.write_raw(pieces, pause).await
    }

    /// Closes the child's stdin.
    pub async fn close_stdin(self) {
        self.0.close_stdin().await;
    }

    /// Signals the child's process group.
    pub fn signal(self, signal: Signal) {
        self.0.signal(signal);
    }

    /// How the child ended, now or within `patience`; `None` if it still runs.
    pub async fn exited(self, patience: Duration) -> Option<ExitStatus> {
        self.0.exited(patience).await
    }

    /// The child's process number, which is its group's.
    pub fn process(self) -> i32 {
        self.0.process_number()
    }

    /// Records the resident memory of the child's process group in a MEMORY mark, and returns it in bytes; `None` on systems
    /// that do not say.
    pub fn sample_memory(self) -> Option<u64> {
        self.0.sample_memory()
    }

    /// The end of what the child wrote to stderr.
    pub fn stderr_tail(self) -> String {
        self.0.stderr_tail()
    }
}

/// The HTTP client behind a connection over Streamable HTTP or HTTP+SSE.
#[derive(Clone, Copy)]
pub struct HttpView<'c>(pub(super) &'c Arc<Http>);

impl HttpView<'_> {
    /// Opens an event stream by GET; `last_event_id` resumes one.
    pub async fn open_stream(self, last_event_id: Option<&str>) -> Result<Exchange, SendError> {
        let mut outgoing = Outgoing::bare("GET");
        if let Some(id) = last_event_id {
            outgoing = outgoing.header("last-event-id", id);
        }
        self.0.start(&outgoing).await
    }

    /// Ends the session by DELETE.
    pub async fn delete_session(self) -> Result<Exchange, SendError> {
        self.0.start(&Outgoing::bare("DELETE")).await
    }

    /// The session id that the server gave.
    pub fn session_id(self) -> Option<String> {
        self.0.session_id()
    }

    /// Writes `bytes` on a TCP connection of their own and reads until the peer closes it or `patience` is over.
    pub async fn raw(self, bytes: &[u8], patience: Duration) -> Result<Vec<u8>, SendError> {
        raw::exchange(self.0, bytes, patience).await
    }

    /// Tries the server's port at `address`, and records in a PORT_TRIED mark whether an HTTP server answers there. Nothing
    /// is recorded where that is not certain, or where the server itself was not reached at a loopback address without TLS.
    /// The request contains no credentials.
    pub async fn try_port(self, address: IpAddr, patience: Duration) {
        other_addresses::try_port(self.0, address, patience).await;
    }
}
