//! Carries a session: by default on a connection of its own. A program with a connection pool, or one that reads messages,
//! supplies another [`Connector`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use net::Tap;
use net::client::{Address, ConnectOptions, Connection, Exchange, OpenError, Outgoing, SendError};
use wire::{Message, Revision};

/// How long to wait before a broken stream is resumed where the server does not say.
const RESUME_DELAY: Duration = Duration::from_millis(100);

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How a carrier is opened.
pub struct Opening<'a> {
    /// Where the server is.
    pub address: &'a Address,
    /// The revision that is spoken first.
    pub revision: Revision,
    /// Where the traffic is recorded.
    pub tap: &'a Tap,
    /// Limits, credentials, and the owner of a process that is started.
    pub options: &'a ConnectOptions,
}

/// Opens carriers: one for each session of a client, and for each attempt to begin one.
pub trait Connector: Send + Sync {
    /// Opens one.
    fn open<'a>(&'a self, opening: Opening<'a>) -> BoxFuture<'a, Result<Arc<dyn Carrier>, OpenError>>;
}

/// Carries one session. All methods but the first have the behaviour of a plain connection by default.
pub trait Carrier: Send + Sync {
    /// The connection underneath. Its responses and notifications are taken from there, and given to [`Self::received`].
    fn connection(&self) -> &Connection;

    /// Sends one message. Over HTTP it returns the exchange without waiting for the response.
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Exchange, SendError>> {
        Box::pin(self.connection().send_with(outgoing))
    }

    /// Opens an event stream by GET; `last_event_id` resumes one.
    fn open_stream<'a>(&'a self, last_event_id: Option<&'a str>) -> BoxFuture<'a, Result<Exchange, SendError>> {
        Box::pin(async move { self.connection().http()?.open_stream(last_event_id).await })
    }

    /// Sees every received message before the client does.
    fn received(&self, message: Message) -> Message {
        message
    }

    /// How long to wait before a stream that the server closed is resumed.
    fn resume_delay(&self, stream: &Exchange) -> Duration {
        stream.retry().unwrap_or(RESUME_DELAY)
    }

    /// Ends the connection as its transport demands.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.connection().close())
    }
}

/// A connection of its own for each session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Connector for Direct {
    fn open<'a>(&'a self, opening: Opening<'a>) -> BoxFuture<'a, Result<Arc<dyn Carrier>, OpenError>> {
        Box::pin(async move {
            let Opening { address, revision, tap, options } = opening;
            let connection = Connection::open(address, revision, tap, options).await?;
            Ok(Arc::new(Plain(connection)) as Arc<dyn Carrier>)
        })
    }
}

struct Plain(Connection);

impl Carrier for Plain {
    fn connection(&self) -> &Connection {
        &self.0
    }
}
