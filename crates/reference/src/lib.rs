//! The reference MCP server: what a perfect peer does, in all five revisions. It answers as a [`net::service::Service`] and
//! knows nothing of the transport that asks, but for the headers a modern tool may demand.

mod answer;
mod completion;
mod discover;
mod dispatch;
pub mod faults;
mod hub;
mod lifecycle;
mod logging;
mod pagination;
mod params;
mod prompts;
mod resources;
mod seal;
mod subscriptions;
mod tools;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use net::server::{http, stdio};
use net::service::{Call, Reply, Service};
use wire::Transport;

use crate::faults::{Crossing, Faulty};
use crate::hub::Hub;
use crate::resources::Shelf;
use crate::seal::Seal;
use crate::tools::Toolbox;

/// What the server is like.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many resources one page of `resources/list` has.
    pub resources_per_page: usize,
    /// How many items one page of any other list has.
    pub items_per_page: usize,
    /// How long a modern client may keep a list, in milliseconds.
    pub ttl_ms: u64,
    /// How the HTTP endpoint behaves.
    pub http: http::Options,
    /// What is wrong with it, on purpose.
    pub faults: Vec<&'static faults::Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resources_per_page: 3,
            items_per_page: 100,
            ttl_ms: 60_000,
            http: http::Options::default(),
            faults: Vec::new(),
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
    pub(crate) toolbox: Toolbox,
    pub(crate) shelf: Shelf,
}

impl Server {
    /// A server with nothing toggled and nothing touched.
    pub fn new(options: Options) -> Self {
        Self(Arc::new(State {
            options,
            hub: Hub::default(),
            seal: Seal::new(),
            toolbox: Toolbox::new(),
            shelf: Shelf::default(),
        }))
    }

    pub(crate) fn state(&self) -> &State {
        &self.0
    }
}

impl Service for Server {
    fn call(&self, call: Call) -> Reply {
        dispatch::call(self, call)
    }
}

/// The server, with the faults that are wanted of it around it.
fn service(options: Options) -> Arc<dyn Service> {
    let faults = options.faults.clone();
    let server = Server::new(options);
    if faults.is_empty() { Arc::new(server) } else { Arc::new(Faulty::new(server, faults)) }
}

/// Serves over this process's standard streams until the input ends.
pub async fn serve_stdio(options: Options) -> io::Result<()> {
    if options.faults.is_empty() {
        return stdio::serve_process(Arc::new(Server::new(options)), stdio::Limits::default()).await;
    }
    let crossing = Crossing::new(&options.faults, Transport::Stdio);
    stdio::serve_process_with(service(options), stdio::Limits::default(), &crossing).await?;
    if crossing.fails_at_end() { Err(io::Error::other("this fault is wanted")) } else { Ok(()) }
}

/// Serves over HTTP until the returned handle is shut down or dropped.
pub async fn serve_http(address: SocketAddr, options: Options) -> io::Result<http::Server> {
    let mut http = options.http.clone();
    if !options.faults.is_empty() {
        http.manners = Some(Arc::new(Crossing::new(&options.faults, Transport::StreamableHttp)));
    }
    http::listen(service(options), address, http).await
}
