//! The reference MCP server: what a perfect peer does, in all five revisions. It answers as a [`net::service::Service`] and
//! knows nothing of the transport that asks, but for the headers a modern tool may demand. What it offers is a value, its
//! [`catalogue::Catalogue`].

mod answer;
mod asking;
pub mod authorization;
pub mod catalogue;
mod completion;
mod conventions;
mod discover;
mod dispatch;
mod folder;
mod hub;
mod lifecycle;
mod logging;
mod offers;
mod order;
mod pagination;
mod params;
mod prompts;
mod resources;
mod seal;
mod subscriptions;
pub mod tasks;
mod tools;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use net::server::recorder::{ConnectionRecorder, RecordedReader, RecordedWriter};
use net::server::{http, stdio};
use net::service::{Call, Reply, Service};
use tokio::io::{AsyncRead, AsyncWrite};
use wire::{Era, Revision};

use crate::catalogue::{Catalogue, Kind, Switches};
pub use crate::folder::Folder;
use crate::hub::{Change, Hub};
use crate::offers::{Offer, Offers};
use crate::resources::TouchCounts;
use crate::seal::Seal;
use crate::tasks::Store;

/// What the server is like.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it offers.
    pub catalogue: Arc<Catalogue>,
    /// A directory whose files are served as resources, in addition to those of the catalogue.
    pub folder: Option<Arc<Folder>>,
    /// How many resources one page of `resources/list` has, unless a directory has so many files that it must be more.
    pub resources_per_page: usize,
    /// How many items one page of any other list has.
    pub items_per_page: usize,
    /// How long a modern client may keep a list, in milliseconds.
    pub ttl_ms: u64,
    /// How many tasks are kept, and for how long.
    pub tasks: tasks::Limits,
    /// How the HTTP endpoint behaves.
    pub http: http::Options,
    /// The revisions it serves, newest first.
    pub revisions: Vec<Revision>,
    /// How it treats what comes before the handshake is complete.
    pub handshake: Handshake,
}

/// How a server treats requests of the legacy era around the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    /// As the specification demands of a server.
    #[default]
    Usual,
    /// As it demands of clients, too: nothing but `ping` before `notifications/initialized`, and no request id twice.
    Strict,
    /// Where a connection is a session, requests need no `initialize`, and `initialize` needs no parameters.
    Lenient,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            catalogue: Arc::new(Catalogue::standard()),
            folder: None,
            resources_per_page: 3,
            items_per_page: 100,
            ttl_ms: 60_000,
            tasks: tasks::Limits::default(),
            http: http::Options::default(),
            revisions: Revision::ALL.into_iter().rev().collect(),
            handshake: Handshake::default(),
        }
    }
}

/// The reference server. Clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<State>);

pub(crate) struct State {
    pub(crate) options: Options,
    pub(crate) hub: Hub,
    pub(crate) seal: Seal,
    pub(crate) switches: Switches,
    offers: Offers,
    pub(crate) touch_counts: TouchCounts,
    pub(crate) tasks: Store,
}

impl Server {
    /// A server with nothing toggled and nothing touched. It watches its directory, where it has one, as long as it lives.
    pub fn new(options: Options) -> Self {
        let offers = Offers::new(Arc::clone(&options.catalogue));
        let tasks = Store::new(options.tasks);
        let folder = options.folder.clone();
        let state = Arc::new(State {
            options,
            hub: Hub::default(),
            seal: Seal::new(),
            switches: Switches::default(),
            offers,
            touch_counts: TouchCounts::default(),
            tasks,
        });
        if let Some(folder) = folder {
            folder::start(folder, Arc::downgrade(&state));
        }
        Self(state)
    }

    /// Serves over this process's standard streams until the input ends or `stop` is done.
    pub async fn stdio(&self, stop: impl Future<Output = ()>) -> io::Result<()> {
        stdio::serve_process(self.service(), stdio::Limits::default(), stop).await
    }

    /// Serves over a reader and a writer as over standard streams, and writes down what crosses, until the reader ends or
    /// `stop` is done.
    pub async fn lines(
        &self,
        (reader, writer): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
        connection: &ConnectionRecorder,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let limits = stdio::Limits::default();
        let reader = RecordedReader::new(reader, connection, limits.line);
        let writer = RecordedWriter::new(writer, connection, limits.line);
        stdio::serve_until(self.service(), reader, writer, limits, stop).await
    }

    /// Serves over HTTP, and the transports of [`http::Options::other_transports`], until the returned handle is shut down or dropped.
    pub async fn http(&self, address: SocketAddr) -> io::Result<http::Server> {
        http::listen(self.service(), address, self.http_options().clone()).await
    }

    /// How its HTTP endpoint behaves.
    pub fn http_options(&self) -> &http::Options {
        &self.0.options.http
    }

    fn service(&self) -> Arc<dyn Service> {
        Arc::new(self.clone())
    }

    pub(crate) fn state(&self) -> &State {
        &self.0
    }

    /// What the server offers now.
    pub fn catalogue(&self) -> &Catalogue {
        &self.0.offers.latest().catalogue
    }

    /// The same with its tools made ready to be called: both belong together.
    pub(crate) fn offer(&self) -> &Offer {
        self.0.offers.latest()
    }

    /// Offers another catalogue from now on, and tells clients that lists changed of which this was always possible. `false`
    /// where it has been replaced too often.
    pub fn replace_catalogue(&self, catalogue: Arc<Catalogue>) -> bool {
        if !self.0.offers.replace(catalogue) {
            return false;
        }
        for (kind, change) in
            [(Kind::Tool, Change::Tools), (Kind::Prompt, Change::Prompts), (Kind::Resource, Change::Resources)]
        {
            // A session that was told that a list never changes is told of no change.
            if self.has_files(kind) || self.0.offers.all().all(|offer| offer.catalogue.changes(kind)) {
                self.0.hub.announce(change);
            }
        }
        true
    }

    pub(crate) fn folder(&self) -> Option<&Arc<Folder>> {
        self.0.options.folder.as_ref()
    }

    /// Whether there is anything of this kind, now or sometimes.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.catalogue().has(kind) || self.has_files(kind)
    }

    /// Whether the list of this kind may change.
    pub(crate) fn changes(&self, kind: Kind) -> bool {
        self.catalogue().changes(kind) || self.has_files(kind)
    }

    /// Whether anything has an argument or a variable, which a client may ask to complete.
    pub(crate) fn completes(&self) -> bool {
        self.catalogue().completes() || self.folder().is_some()
    }

    fn has_files(&self, kind: Kind) -> bool {
        kind == Kind::Resource && self.folder().is_some()
    }

    /// Brings in what comes and goes, or takes it away, and tells everybody; tells whether it is there now. A resource is
    /// named by its URI.
    pub fn toggle(&self, kind: Kind, name: &str) -> bool {
        let there = self.0.switches.flip(kind, name);
        self.0.hub.announce(match kind {
            Kind::Tool => Change::Tools,
            Kind::Prompt => Change::Prompts,
            Kind::Resource => Change::Resources,
        });
        there
    }

    /// Tells whoever subscribed to `uri` that it changed; `false` where there is no such resource.
    pub fn touch(&self, uri: &str) -> bool {
        let known = resources::exists(self, uri, None);
        if known {
            self.0.touch_counts.touch(uri);
            self.0.hub.announce(Change::Resource(uri));
        }
        known
    }

    /// What the catalogue has at `uri`, as one `ResourceContents`.
    pub fn contents(&self, uri: &str) -> Option<serde_json::Value> {
        serde_json::to_value(resources::contents(self, uri, None)?).ok()
    }

    /// Whether something that may come and go is there.
    pub(crate) fn is_there(&self, comes_and_goes: bool, kind: Kind, name: &str) -> bool {
        !comes_and_goes || self.0.switches.is_on(kind, name)
    }
}

impl Service for Server {
    fn call(&self, call: Call) -> Reply {
        dispatch::call(self, call)
    }

    fn revisions(&self) -> &[Revision] {
        &self.0.options.revisions
    }

    fn without_handshake(&self) -> Option<Revision> {
        let lenient = self.0.options.handshake == Handshake::Lenient;
        self.revisions().iter().copied().find(|revision| lenient && revision.era() == Era::Legacy)
    }
}

/// Serves over this process's standard streams until the input ends.
pub async fn serve_stdio(options: Options) -> io::Result<()> {
    Server::new(options).stdio(std::future::pending()).await
}

/// Serves over HTTP until the returned handle is shut down or dropped.
pub async fn serve_http(address: SocketAddr, options: Options) -> io::Result<http::Server> {
    Server::new(options).http(address).await
}
