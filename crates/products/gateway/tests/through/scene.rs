//! A reference server, a gateway in front of it, and clients.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Abilities, Answering, Client, ClientEvent, Options, Question, Respondent};
use gateway::Gateway;
use gateway::settings::{CommandLimits, Limits, Sessions, Settings, Target, TaskSettings, UpstreamSettings};
use net::client::{Address, HttpAddress};
use net::process::Command;
use net::server::http::{self, Server};
use net::server::stdio;
use net::{Children, client as net_client};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;
use url::Url;
use wire::Revision;

use crate::raw::Raw;
use crate::script::{Script, Seen, busy};

/// Which questions a client answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    None,
    All,
}

impl Respondent for Answers {
    fn abilities(&self) -> Abilities {
        match self {
            Self::None => Abilities::default(),
            Self::All => Abilities::ALL,
        }
    }

    fn answer(&self, question: Question) -> Answering {
        Box::pin(async move {
            Ok(match question {
                Question::Roots => json!({ "roots": [{ "uri": "file:///data", "name": "data" }] }),
                Question::Sampling(_) => json!({ "role": "assistant", "model": "m", "stopReason": "endTurn",
                    "content": { "type": "text", "text": "Ada" } }),
                Question::Form { schema, .. } => {
                    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
                    let answer = |field: &Value| field["enum"].get(0).cloned().unwrap_or_else(|| json!("Ada"));
                    let content: Map<_, _> = fields.iter().map(|(name, field)| (name.clone(), answer(field))).collect();
                    json!({ "action": "accept", "content": content })
                }
                Question::Url { .. } => json!({ "action": "accept" }),
            })
        })
    }
}

/// Servers that run.
pub(crate) struct Scene {
    url: Url,
    upstream: Mutex<Option<Server>>,
    /// A second upstream, which runs as long as the scene.
    other: Option<Server>,
    gateway: Option<(Gateway, Server, JoinHandle<()>)>,
    notifications: Arc<Mutex<Vec<(String, Value)>>>,
    /// Where the upstream listens.
    pub(crate) behind: Url,
    /// What a scripted upstream got.
    pub(crate) seen: Seen,
}

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn url_of(address: SocketAddr) -> Url {
    Url::parse(&format!("http://{address}/mcp")).expect("a URL")
}

async fn reference(revision: Revision) -> Server {
    let options = reference::Options { revisions: vec![revision], ..reference::Options::default() };
    reference::Server::new(options).http(LOCAL).await.expect("a free port")
}

impl Scene {
    /// The reference server at one revision.
    pub(crate) async fn direct(revision: Revision) -> Self {
        let server = reference(revision).await;
        Self::of(server, Seen::default())
    }

    fn of(server: Server, seen: Seen) -> Self {
        let url = url_of(server.local_addr());
        let upstream = Mutex::new(Some(server));
        Self { behind: url.clone(), url, upstream, other: None, gateway: None, notifications: Arc::default(), seen }
    }

    /// A gateway in front of the reference server at one revision.
    pub(crate) async fn through(revision: Revision) -> Self {
        Self::in_front(Self::direct(revision).await, Limits::default()).await
    }

    /// A gateway in front of a server that answers as a test says.
    pub(crate) async fn scripted(script: Script) -> Self {
        Self::scripted_within(script, Limits::default()).await
    }

    /// The same with other limits.
    pub(crate) async fn scripted_within(script: Script, limits: Limits) -> Self {
        let seen = script.seen.clone();
        let server = http::listen(Arc::new(script), LOCAL, http::Options::default()).await.expect("a free port");
        Self::in_front(Self::of(server, seen), limits).await
    }

    /// A gateway that makes tasks of long calls, in front of these servers.
    pub(crate) async fn tasked(first: Script, second: Option<Script>, tasks: TaskSettings) -> Self {
        let listen = |script: Script| async move {
            let seen = script.seen.clone();
            let server = http::listen(Arc::new(script), LOCAL, http::Options::default()).await.expect("a free port");
            Self::of(server, seen)
        };
        let first = listen(first).await;
        let Some(second) = second else {
            return Self::in_front_of(first, &[], (Limits::default(), Some(tasks))).await;
        };
        let second = listen(second).await;
        let other = second.upstream.lock().unwrap_or_else(PoisonError::into_inner).take();
        Self { other, ..Self::in_front_of(first, &[second.url], (Limits::default(), Some(tasks))).await }
    }

    /// A gateway in front of two servers.
    pub(crate) async fn two(first: Script, second: Script) -> Self {
        let listen = |script: Script| async move {
            let seen = script.seen.clone();
            let server = http::listen(Arc::new(script), LOCAL, http::Options::default()).await.expect("a free port");
            Self::of(server, seen)
        };
        let (first, second) = (listen(first).await, listen(second).await);
        let other = second.upstream.lock().unwrap_or_else(PoisonError::into_inner).take();
        Self { other, ..Self::in_front_of(first, &[second.url], (Limits::default(), None)).await }
    }

    /// A gateway in front of a server that has no time.
    pub(crate) async fn busy() -> Self {
        let listener = tokio::net::TcpListener::bind(LOCAL).await.expect("a free port");
        let url = url_of(listener.local_addr().expect("an address"));
        tokio::spawn(busy(listener));
        let direct = Self::without_a_gateway(url);
        Self::in_front(direct, Limits::default()).await
    }

    /// A server at this address, and no gateway yet.
    fn without_a_gateway(url: Url) -> Self {
        Self {
            behind: url.clone(),
            url,
            upstream: Mutex::new(None),
            other: None,
            gateway: None,
            notifications: Arc::default(),
            seen: Seen::default(),
        }
    }

    async fn in_front(direct: Self, limits: Limits) -> Self {
        Self::in_front_of(direct, &[], (limits, None)).await
    }

    /// A gateway in front of a shell script.
    pub(crate) async fn child(script: &str) -> Self {
        Self::child_within(script, Limits::default()).await
    }

    /// The same with other limits.
    pub(crate) async fn child_within(script: &str, limits: Limits) -> Self {
        let url = url_of(LOCAL);
        let direct = Self::without_a_gateway(url);
        let (command, limits_of) = (Command::new("sh", ["-c", script]), CommandLimits::default());
        let target = Target::Command { command, inherit: Vec::new(), limits: limits_of };
        Self::to(direct, vec![target], (limits, None)).await
    }

    async fn in_front_of(direct: Self, more: &[Url], settings: (Limits, Option<TaskSettings>)) -> Self {
        let all = std::iter::once(&direct.url).chain(more);
        let targets = all.map(|url| Target::Http(HttpAddress::new(url.clone()))).collect();
        Self::to(direct, targets, settings).await
    }

    async fn to(direct: Self, targets: Vec<Target>, (limits, tasks): (Limits, Option<TaskSettings>)) -> Self {
        let upstream = |(place, target): (usize, Target)| UpstreamSettings {
            name: format!("reference{place}"),
            target,
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        };
        let upstreams = targets.into_iter().enumerate().map(upstream).collect();
        let limits = Limits { request: limits.request.min(Duration::from_secs(20)), ..limits };
        let settings = Settings { upstreams, limits, tasks, ..Settings::default() };
        let gateway = Gateway::new(&settings, &Children::new()).expect("a valid address");
        let listening =
            http::listen(Arc::new(gateway.clone()), LOCAL, http::Options::default()).await.expect("a free port");
        let maintained = gateway.clone();
        let maintenance = tokio::spawn(async move { maintained.maintain().await });
        Self { url: url_of(listening.local_addr()), gateway: Some((gateway, listening, maintenance)), ..direct }
    }

    fn options(&self, revision: Revision, answers: Answers) -> Options {
        let limits = net_client::Limits { request: Duration::from_secs(20), ..net_client::Limits::default() };
        let address = Address::Http(HttpAddress::new(self.url.clone()));
        let kept = Arc::clone(&self.notifications);
        Options {
            revision: Some(revision),
            limits,
            respondent: Arc::new(answers),
            observer: Arc::new(move |event| {
                if let ClientEvent::Notification { method, params } = event {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push((method, params));
                }
            }),
            ..Options::new(address, &Children::new())
        }
    }

    /// A client of one revision.
    pub(crate) async fn client(&self, revision: Revision, answers: Answers) -> Client {
        let connected = Client::connect(self.options(revision, answers)).await;
        connected.unwrap_or_else(|error| panic!("a client of {revision}: {error}"))
    }

    /// Sends messages over a pipe and returns what comes back, to the response to the last one.
    pub(crate) async fn over_stdio(&self, messages: &[Value]) -> Vec<Value> {
        let (gateway, ..) = self.gateway.as_ref().expect("a gateway");
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let serving =
            stdio::serve_until(Arc::new(gateway.clone()), reader, writer, stdio::Limits::default(), pending());
        let serving = tokio::spawn(serving);
        let (reader, mut writer) = tokio::io::split(ours);
        let (mut lines, mut got) = (BufReader::new(reader).lines(), Vec::new());
        for message in messages {
            writer.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
            // Each request is answered before the next one.
            while let Some(id) = message.get("id") {
                let line = lines.next_line().await.expect("it writes").expect("a line");
                got.push(serde_json::from_str::<Value>(&line).expect("a message"));
                if got.last().and_then(|last| last.get("id")) == Some(id) {
                    break;
                }
            }
        }
        serving.abort();
        got
    }

    /// Where clients reach it.
    pub(crate) const fn url(&self) -> &Url {
        &self.url
    }

    /// A client that shows every message.
    pub(crate) async fn raw(&self, revision: Revision, capabilities: Value) -> Raw {
        Raw::open(&self.url, revision, capabilities).await
    }

    /// How often each row lost something.
    pub(crate) fn losses(&self) -> Vec<&'static str> {
        self.gateway.iter().flat_map(|(gateway, ..)| gateway.losses().by_row().map(|(row, _)| row)).collect()
    }

    /// What the gateway counted.
    pub(crate) fn metrics(&self) -> String {
        self.gateway.iter().map(|(gateway, ..)| gateway.stats().metrics()).collect()
    }

    /// A client that wants progress.
    pub(crate) async fn watching_client(&self, revision: Revision) -> Client {
        let options = Options { progress: true, ..self.options(revision, Answers::None) };
        Client::connect(options).await.expect("it connects")
    }

    /// What clients were sent under `method`.
    pub(crate) fn notifications(&self, method: &str) -> Vec<Value> {
        let all = self.notifications.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(name, _)| name == method).map(|(_, params)| params.clone()).collect()
    }

    /// Ends the reference server.
    pub(crate) async fn end_upstream(&self) {
        let upstream = self.upstream.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(upstream) = upstream {
            upstream.shutdown().await;
        }
    }

    /// Ends everything.
    pub(crate) async fn end(self) {
        if let Some((gateway, server, maintenance)) = self.gateway {
            maintenance.abort();
            server.shutdown().await;
            gateway.shutdown().await;
            drop(self.other);
        }
    }
}
