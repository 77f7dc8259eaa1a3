//! A gateway in front of given upstreams, and clients.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Abilities, Answering, Client, ClientEvent, Options, Params, Question, Respondent};
use gateway::Gateway;
use gateway::settings::{CommandLimits, Limits, Sessions, Settings, Target, UpstreamSettings};
use net::client::{Address, HttpAddress};
use net::process::Command;
use net::server::http::{self, Server};
use net::{Children, client as net_client};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use url::Url;
use wire::{Message, Revision};

/// Long enough for anything on this machine.
pub(crate) const SOON: Duration = Duration::from_secs(20);
pub(crate) const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Bounds that are short enough to be waited for.
pub(crate) fn limits() -> Limits {
    Limits {
        request: Duration::from_secs(10),
        start: Duration::from_secs(10),
        list: Duration::from_millis(700),
        shutdown: Duration::from_millis(500),
        ..Limits::default()
    }
}

pub(crate) fn address(url: &str) -> HttpAddress {
    HttpAddress::new(Url::parse(url).expect("a URL"))
}

/// A shell script as an upstream.
pub(crate) fn script(text: &str) -> Target {
    bounded(text, CommandLimits::default())
}

pub(crate) fn bounded(text: &str, limits: CommandLimits) -> Target {
    Target::Command { command: Command::new("sh", ["-c", text]), inherit: Vec::new(), limits }
}

pub(crate) fn named(name: &str, target: Target) -> UpstreamSettings {
    UpstreamSettings {
        name: name.to_owned(),
        target,
        revision: None,
        sessions: Sessions::default(),
        credentials: None,
        assertion: None,
    }
}

/// Answers a question about roots alone.
struct NoRoots;

impl Respondent for NoRoots {
    fn abilities(&self) -> Abilities {
        Abilities { roots: true, ..Abilities::default() }
    }

    fn answer(&self, _: Question) -> Answering {
        Box::pin(async { Ok(json!({ "roots": [] })) })
    }
}

pub(crate) struct Scene {
    url: Url,
    gateway: Gateway,
    server: Server,
    maintenance: JoinHandle<()>,
    children: Children,
    notifications: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Scene {
    pub(crate) async fn of(target: Target) -> Self {
        Self::with(vec![named("one", target)], limits()).await
    }

    pub(crate) async fn with(upstreams: Vec<UpstreamSettings>, limits: Limits) -> Self {
        let children = Children::new();
        let settings = Settings { upstreams, limits, ..Settings::default() };
        let gateway = Gateway::new(&settings, &children).expect("valid addresses");
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, http::Options::default()).await;
        let server = server.expect("a free port");
        let maintained = gateway.clone();
        let maintenance = tokio::spawn(async move { maintained.maintain().await });
        let url = Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("a URL");
        Self { url, gateway, server, maintenance, children, notifications: Arc::default() }
    }

    pub(crate) async fn client(&self, revision: Revision) -> Client {
        self.try_client(revision).await.unwrap_or_else(|error| panic!("a client of {revision}: {error}"))
    }

    pub(crate) async fn try_client(&self, revision: Revision) -> Result<Client, client::ClientError> {
        Client::connect(self.options(revision)).await
    }

    /// A client that has no roots, and says so when it is asked.
    pub(crate) async fn rootless_client(&self, revision: Revision) -> Client {
        let options = Options { respondent: Arc::new(NoRoots), ..self.options(revision) };
        Client::connect(options).await.expect("it connects")
    }

    fn options(&self, revision: Revision) -> Options {
        let limits = net_client::Limits { request: SOON, ..net_client::Limits::default() };
        let kept = Arc::clone(&self.notifications);
        Options {
            revision: Some(revision),
            limits,
            progress: true,
            observer: Arc::new(move |event| {
                if let ClientEvent::Notification { method, params } = event {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push((method, params));
                }
            }),
            ..Options::new(Address::Http(HttpAddress::new(self.url.clone())), &Children::new())
        }
    }

    /// What clients were sent under `method`.
    pub(crate) fn notifications(&self, method: &str) -> usize {
        let all = self.notifications.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(name, _)| name == method).count()
    }

    /// Ends everything; whether no child process is left is for the caller to see.
    pub(crate) async fn end(self) {
        self.maintenance.abort();
        self.gateway.shutdown().await;
        self.server.shutdown().await;
        self.children.kill_all();
    }
}

/// Calls a tool and returns the text of the answer.
pub(crate) async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    text(client.call_unseen(tool, arguments).await)
}

pub(crate) fn text(answer: Result<Message, client::ClientError>) -> String {
    answer.map_or_else(|error| error.to_string(), |message| message.text().to_owned())
}

/// A list with all that its result has.
pub(crate) async fn list(client: &Client, method: &str) -> Value {
    let answer = client.request(method, &Params::new()).await;
    let message = answer.unwrap_or_else(|error| panic!("{method}: {error}"));
    message.result().cloned().unwrap_or_else(|| json!({ "error": message.error() }))
}

pub(crate) fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}
