//! Which messages an action sent: the client makes the ids, and the carrier underneath sees them go out. It also keeps the
//! carrier, for what goes out unread.

use std::sync::Arc;
use std::time::Duration;

use client::{BoxFuture, Carrier, Connector, Direct, Opening};
use net::client::{Connection, Exchange, OpenError, Outgoing, SendError};
use tokio::sync::watch;
use wire::message::{Packet, parse};
use wire::{Kind, Message};

use crate::targets::Target;

tokio::task_local! {
    /// The action on whose account a task sends.
    static ACTION: Arc<Sent>;
    /// Whether the server may make a task of what a task sends (the extension of the modern era).
    static TAKES_TASKS: bool;
}

/// What one action sent: the session and the id of each request, as JSON text.
pub(crate) struct Sent(watch::Sender<Vec<(u32, String)>>);

impl Sent {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(Vec::new())))
    }

    /// The first request, when it has gone out.
    pub(crate) async fn first(&self) -> Option<(u32, String)> {
        let mut sent = self.0.subscribe();
        sent.wait_for(|sent| !sent.is_empty()).await.ok()?.first().cloned()
    }

    /// All requests so far.
    pub(crate) fn all(&self) -> Vec<(u32, String)> {
        self.0.borrow().clone()
    }
}

/// Runs `work` with its requests noted in `sent`.
pub(crate) async fn noting<T>(sent: Arc<Sent>, work: impl Future<Output = T>) -> T {
    ACTION.scope(sent, work).await
}

/// Runs `work`; with `takes`, its requests declare the extension for tasks, so that the server may make tasks of them.
pub(crate) async fn taking_tasks<T>(takes: bool, work: impl Future<Output = T>) -> T {
    TAKES_TASKS.scope(takes, work).await
}

/// Whether what is being sent may become a task.
pub(crate) fn takes_tasks() -> bool {
    TAKES_TASKS.try_with(|takes| *takes).unwrap_or(false)
}

/// Opens carriers for a target, and hands them to it.
pub(crate) struct Watched(pub(crate) Arc<Target>);

impl Connector for Watched {
    fn open<'a>(&'a self, opening: Opening<'a>) -> BoxFuture<'a, Result<Arc<dyn Carrier>, OpenError>> {
        Box::pin(async move {
            // The tap of this opening was made right before, and with it the session.
            let session = self.0.state().session;
            let inner = Direct.open(opening).await?;
            let carrier: Arc<dyn Carrier> = Arc::new(Noting { inner, session });
            self.0.state().carrier = Some(carrier.clone());
            Ok(carrier)
        })
    }
}

/// Notes the requests that go out.
struct Noting {
    inner: Arc<dyn Carrier>,
    session: u32,
}

impl Carrier for Noting {
    fn connection(&self) -> &Connection {
        self.inner.connection()
    }

    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Exchange, SendError>> {
        let id = ACTION.try_with(|_| ()).ok().and_then(|()| request_id(outgoing.body()?));
        Box::pin(async move {
            let exchange = self.inner.send(outgoing).await?;
            if let Some(id) = id {
                let note = |action: &Arc<Sent>| action.0.send_modify(|sent| sent.push((self.session, id)));
                let _ = ACTION.try_with(note);
            }
            Ok(exchange)
        })
    }

    fn open_stream<'a>(&'a self, last_event_id: Option<&'a str>) -> BoxFuture<'a, Result<Exchange, SendError>> {
        self.inner.open_stream(last_event_id)
    }

    fn received(&self, message: Message) -> Message {
        self.inner.received(message)
    }

    fn resume_delay(&self, stream: &Exchange) -> Duration {
        self.inner.resume_delay(stream)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}

fn request_id(body: &[u8]) -> Option<String> {
    match parse(body) {
        Ok(Packet::Message(message)) if message.kind() == Kind::Request => message.id().map(ToString::to_string),
        _ => None,
    }
}
