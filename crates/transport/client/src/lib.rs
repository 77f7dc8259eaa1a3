//! An MCP client for all five revisions and every transport. It sends requests and returns responses; it knows no command line
//! and no user interface.
//!
//! One [`Client`] is one conversation with one server. It finds out the server's era ([`open`]), sends each request in the form
//! of that era ([`ask`]), and answers requests of the server ([`respond`], [`rounds`]).

mod abilities;
mod ask;
mod cache;
mod call_policy;
mod calls;
mod carrier;
mod client_tasks;
mod error;
mod example;
mod form;
mod link;
mod listen;
mod open;
mod opener;
mod pages;
mod params;
mod pauses;
mod pump;
mod respond;
mod rounds;
mod tasks;
mod tools;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use net::client::negotiation::server_info;
use net::client::{Address, Authorizer, Limits};
use net::{Children, Tap};
use serde_json::{Map, Value, json};
use wire::trace::Header;
use wire::{Era, RequestId, Revision, Transport};

pub use abilities::{Abilities, Answer, Answering, Question, Refused, Respondent, Unattended};
pub use call_policy::{CallPolicy, only_reads};
pub use carrier::{BoxFuture, Carrier, Connector, Direct, Opening};
pub use error::{Advice, ClientError};
pub use example::example;
pub use form::{FormError, Given, fill, read, read_answer, wants};
pub use link::{ClientEvent, Observer};
pub use listen::{Listening, Topics};
pub use pages::Listed;
pub use params::Params;
pub use tools::{ArgumentError, Tool, argument_errors};

use cache::Cache;
use link::Ids;
use open::Session;

/// How long a server may take to end after its input is closed, and again after SIGTERM.
pub const SHUTDOWN: Duration = Duration::from_secs(1);

/// Options of a client.
#[derive(Clone)]
pub struct Options {
    /// Where the server is.
    pub address: Address,
    /// The revision to begin with; `None` to find out the era.
    pub revision: Option<Revision>,
    /// Name and version of the client.
    pub identity: Identity,
    /// Timeouts and sizes. [`Limits::request`] is how long a request may go without a response or progress.
    pub limits: Limits,
    /// Owns the process of a server that is started.
    pub children: Children,
    /// How long a server over stdio or WebSocket may be silent before it gets a legacy request, too.
    pub probe: Duration,
    /// Answers requests of the server.
    pub respondent: Arc<dyn Respondent>,
    /// Supplies credentials.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// Gets notifications and warnings.
    pub observer: Observer,
    /// The lowest level of log messages (`debug` to `emergency`); none where `None`.
    pub log_level: Option<String>,
    /// Whether to request progress of tool calls.
    pub progress: bool,
    /// Additional members for the `_meta` of every request.
    pub meta: Map<String, Value>,
    /// Makes a tap for each connection, where the traffic is recorded.
    pub tap: Option<Arc<dyn Fn(Header) -> Tap + Send + Sync>>,
}

impl Options {
    /// The defaults for a server at `address`, started through `children` where it is a command.
    pub fn new(address: Address, children: &Children) -> Self {
        Self {
            address,
            revision: None,
            identity: Identity::default(),
            limits: Limits { start: Duration::from_mins(1), shutdown: SHUTDOWN, ..Limits::default() },
            children: children.clone(),
            probe: Duration::from_secs(3),
            respondent: Arc::new(Unattended),
            authorizer: None,
            observer: Arc::new(|_| ()),
            log_level: None,
            progress: false,
            meta: Map::new(),
            tap: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("address", &self.address)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

/// The name and version of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The program's name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self { name: "proofhouse".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl Identity {
    pub(crate) fn to_value(&self) -> Value {
        json!({ "name": self.name, "version": self.version })
    }
}

/// The introduction of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Greeting {
    /// The revision that is spoken.
    pub revision: Revision,
    /// The result of `initialize` or `server/discover`, and its text as it came; `None` where a modern server refused it.
    pub result: Option<(Value, String)>,
}

impl Greeting {
    /// The capabilities of the server; `None` where it did not introduce itself.
    pub fn capabilities(&self) -> Option<&Value> {
        self.result.as_ref()?.0.get("capabilities")
    }

    /// Whether the server declares the capability, or did not introduce itself.
    pub fn may_have(&self, capability: &str) -> bool {
        self.capabilities().is_none_or(|declared| declared.get(capability).is_some())
    }

    /// Name and version of the server.
    pub fn server_info(&self) -> Option<&Value> {
        server_info(self.revision, &self.result.as_ref()?.0)
    }
}

/// A conversation with one server. Clones are the same conversation.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    options: Options,
    connector: Arc<dyn Connector>,
    ids: Ids,
    cache: Arc<Cache>,
    session: Mutex<Arc<Session>>,
    /// Held while a session is replaced.
    opening: tokio::sync::Mutex<()>,
}

impl Client {
    /// Connects to the server and finds out its revision.
    pub async fn connect(options: Options) -> Result<Self, ClientError> {
        Self::connect_with(options, Arc::new(Direct)).await
    }

    /// The same, over carriers of `connector`.
    /// Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
    pub fn connect_with(
        options: Options,
        connector: Arc<dyn Connector>,
    ) -> BoxFuture<'static, Result<Self, ClientError>> {
        Box::pin(Self::connected(options, connector))
    }

    async fn connected(mut options: Options, connector: Arc<dyn Connector>) -> Result<Self, ClientError> {
        let (ids, cache) = (Ids::default(), Arc::new(Cache::default()));
        let (told, observer) = (cache.clone(), options.observer.clone());
        options.observer = Arc::new(move |note| {
            if let ClientEvent::Notification { method, .. } = &note {
                told.notified(method);
            }
            observer(note);
        });
        let session = Arc::new(open::open(&options, connector.as_ref(), &ids, options.revision).await?);
        let client = Self(Arc::new(Shared {
            ids,
            connector,
            cache,
            session: Mutex::new(session),
            opening: tokio::sync::Mutex::new(()),
            options,
        }));
        client.set_log_level().await;
        Ok(client)
    }

    /// The introduction of the server.
    pub fn greeting(&self) -> Greeting {
        self.session().greeting.clone()
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.session().greeting.revision
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        self.session().link.transport()
    }

    /// The address of the server, after redirects.
    pub fn address(&self) -> Address {
        self.session().address.clone()
    }

    /// Announces changed roots, where the era has a notification for it.
    pub async fn roots_changed(&self) -> Result<(), ClientError> {
        if self.revision().era() == Era::Modern {
            return Ok(());
        }
        let session = self.live().await?;
        let told = session.link.notify("notifications/roots/list_changed", None).await;
        told.map_err(|error| ClientError::unsent(error, self.address().to_string()))
    }

    /// Cancels all pending requests.
    pub async fn cancel_all(&self, reason: &str) {
        self.session().link.cancel_all(reason).await;
    }

    /// Cancels the pending request of this id; `false` if no such request is pending.
    pub async fn cancel(&self, id: &RequestId, reason: &str) -> bool {
        self.session().link.cancel_one(id, reason).await
    }

    /// Ends the conversation as its transport demands: once, in order, within timeouts.
    pub async fn close(&self) {
        self.session().close().await;
    }

    fn session(&self) -> Arc<Session> {
        self.0.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets every cached result, so that the next requests reach the server.
    pub fn forget_results(&self) {
        self.0.cache.clear();
    }

    /// A session that can carry a request: the present one, or a new one where that is over.
    async fn live(&self) -> Result<Arc<Session>, ClientError> {
        let session = self.session();
        if session.is_over() { self.reopen(&session, None).await } else { Ok(session) }
    }

    /// Opens a session in place of `stale`, unless another task has done so. The revision stays the same, unless `revision`
    /// names another.
    async fn reopen(&self, stale: &Arc<Session>, revision: Option<Revision>) -> Result<Arc<Session>, ClientError> {
        let _alone = self.0.opening.lock().await;
        let present = self.session();
        if !Arc::ptr_eq(&present, stale) {
            return Ok(present);
        }
        stale.abandon().await;
        self.0.cache.clear();
        let revision = revision.unwrap_or(stale.greeting.revision);
        let options = Options { address: stale.address.clone(), ..self.0.options.clone() };
        let session = Arc::new(open::open(&options, self.0.connector.as_ref(), &self.0.ids, Some(revision)).await?);
        *self.0.session.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
        self.set_log_level().await;
        Ok(session)
    }
}
