//! The page on which MCP traffic is read, tried and kept, and what serves it: `proof inspect`.
//!
//! Frames of the client's connections go into the [`hub::Hub`]; [`assemble`] makes rows of them, [`query`] filters the rows,
//! `feed` sends changes to the page, `actions` does what the page asks for. Must not judge: [`judging`] says what is handed in.

mod actions;
mod apps;
pub mod assemble;
mod client_failure;
mod detail;
mod feed;
mod guides;
pub mod hub;
pub mod judging;
mod naming;
pub mod query;
mod questions;
mod reading;
pub mod ring;
mod routes;
pub mod rows;
mod sending;
mod sides;
mod targets;
mod tasks;
pub mod view;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::Advice;
use net::server::http::{self, Limits, Server};
use net::service::{Answer, Call, Reply, RpcError, Service};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use wire::Trace;
use wire::redact::Redactor;
use wire::trace::{Content, Header};

use crate::apps::Apps;
use crate::apps::serving::AppPages;
use crate::guides::Guides;
use crate::hub::{Bounds, Hub};
use crate::judging::{CaseWriter, RuleBook};
use crate::questions::Questions;
use crate::reading::Views;
use crate::targets::{Connecting, Target};
use page::Failure;
use page::{Entry, Files, Token};

pub use crate::sides::{GatewaySides, Place, Side};

/// How many feeds may be open, and how many connections.
const FEEDS: usize = 16;
const CONNECTIONS: usize = 128;
/// The longest body of a request, in bytes.
const BODY: usize = 4 << 20;
/// The longest report about an app, in bytes.
const REPORT: usize = 64 << 10;
/// How often it is looked for requests that hang.
const LOOK: Duration = Duration::from_secs(1);

/// What a console is made of.
pub struct Options {
    /// Bounds of what is kept.
    pub bounds: Bounds,
    /// Says what is a secret.
    pub redactor: Redactor,
    /// Knows the rules.
    pub rule_book: Arc<dyn RuleBook>,
    /// Writes test files.
    pub case_writer: Arc<dyn CaseWriter>,
    /// Advice in the program's words.
    pub words: fn(&Advice) -> String,
    /// The same, about the steps to a server.
    pub doctor: doctor::Words,
    /// What guided authorization begins with: client, port, certificates, listener of secrets.
    pub authorization: oauth::Options,
    /// Whether apps of servers are shown, and declared (io.modelcontextprotocol/ui).
    pub apps: bool,
    /// The version of the program.
    pub version: String,
}

/// Everything behind the page.
pub struct Console {
    hub: Arc<Hub>,
    targets: Mutex<Vec<Arc<Target>>>,
    connecting: Connecting,
    rule_book: Arc<dyn RuleBook>,
    case_writer: Arc<dyn CaseWriter>,
    version: String,
    entry: Entry,
    feeds: Arc<Semaphore>,
    doctor: doctor::Words,
    authorization: oauth::Options,
    guides: Guides,
    apps: Apps,
    /// One walk at a time.
    walks: Semaphore,
    views: Views,
    stop: watch::Sender<bool>,
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

impl Console {
    /// A console without targets.
    pub fn new(options: Options) -> io::Result<Arc<Self>> {
        let hub = Arc::new(Hub::new(options.bounds, options.redactor));
        let questions = Questions::new(&hub);
        Ok(Arc::new(Self {
            connecting: Connecting { hub: hub.clone(), questions, words: options.words, apps: options.apps },
            hub,
            targets: Mutex::default(),
            rule_book: options.rule_book,
            case_writer: options.case_writer,
            version: options.version,
            entry: Entry::new(Files::Inspect, "proof inspect")?,
            feeds: Arc::new(Semaphore::new(FEEDS)),
            doctor: options.doctor,
            authorization: options.authorization,
            guides: Guides::default(),
            apps: Apps::default(),
            walks: Semaphore::new(1),
            views: Views::default(),
            stop: watch::Sender::new(false),
        }))
    }

    /// The token of this launch.
    pub const fn token(&self) -> &Token {
        self.entry.token()
    }

    /// The store.
    pub const fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Adds a server and connects to it. Needs a runtime.
    pub fn add_server(&self, options: client::Options) {
        let (name, revision) = (options.address.to_string(), options.revision);
        let target = self.add_target(&name, |number, label| Target::server(number, label, options));
        self.connecting.connect(&target, revision);
    }

    /// Adds a server that is not connected to before the page asks for it; returns its number.
    pub fn offer_server(&self, name: &str, options: client::Options) -> u32 {
        self.add_target(name, |number, label| Target::server(number, label, options)).number
    }

    /// Connects to a server that was offered. Needs a runtime.
    pub fn connect(&self, number: u32) {
        if let Some(target) = self.target(number.into()).ok().filter(|target| !target.is_file()) {
            self.connecting.connect(&target, None);
        }
    }

    fn add_target(&self, label: &str, target: impl FnOnce(u32, String) -> Target) -> Arc<Target> {
        let label = self.hub.redactor().redact_text(label).into_owned();
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        let number = u32::try_from(targets.len() + 1).unwrap_or(u32::MAX);
        let target = Arc::new(target(number, label));
        targets.push(target.clone());
        drop(targets);
        self.hub.state_changed();
        target
    }

    /// Adds a trace, without a server.
    pub fn add_trace(&self, label: &str, trace: &Trace) {
        let session = self.add_recording(label, trace.header.clone());
        for frame in &trace.frames {
            self.hub.take(session, frame);
        }
        self.hub.end(session);
    }

    /// Adds a recording whose frames are given to the hub as they come; returns its session.
    pub fn add_recording(&self, label: &str, header: Header) -> u32 {
        self.add_target(label, |number, label| Target::file(number, label, self.hub.begin(number, header)))
            .state()
            .session
    }

    /// Adds a place whose recordings come one after another, each with many clients; returns its number.
    pub fn add_recordings(&self, label: &str) -> u32 {
        self.add_target(label, |number, label| Target::file(number, label, 0)).number
    }

    /// Begins the next recording of such a place; returns its session. Its times are those of the program that records.
    pub fn next_recording(&self, target: u32, header: Header) -> u32 {
        let session = self.hub.begin_shared(target, header);
        if let Ok(target) = self.target(target.into()) {
            target.state().session = session;
        }
        self.hub.state_changed();
        session
    }

    /// Adds a server that another client talks to; returns the tap for what crosses between them.
    pub fn add_watched(&self, label: &str, header: Header) -> net::Tap {
        let begin = |number| self.hub.begin(number, Header { case: "inspect".to_owned(), ..header.clone() });
        let target = self.add_target(label, |number, label| Target::watched(number, label, begin(number)));
        let (hub, session) = (self.hub.clone(), target.state().session);
        net::Tap::streaming(header, move |frame| {
            if matches!(frame.content, Content::Exit { .. }) {
                target.is_over();
            }
            hub.take(session, frame);
        })
    }

    /// Serves the page at `address` until the server is shut down or dropped.
    pub async fn listen(self: &Arc<Self>, address: SocketAddr) -> io::Result<Server> {
        let limits =
            Limits { body: BODY, connections: CONNECTIONS, idle: Duration::from_hours(24), ..Limits::default() };
        let layer = Arc::new(routes::Pages(self.clone()));
        let options = http::Options { layer: Some(layer), limits, ..http::Options::default() };
        let server = http::listen(Arc::new(NoService), address, options).await?;
        if self.connecting.apps {
            self.listen_for_apps().await?;
        }
        tokio::spawn(judging::judge_all(self.hub.clone(), self.rule_book.clone()));
        let hub = Arc::downgrade(&self.hub);
        tokio::spawn(async move {
            while let Some(hub) = hub.upgrade() {
                hub.hang();
                drop(hub);
                tokio::time::sleep(LOOK).await;
            }
        });
        Ok(server)
    }

    /// Serves the pages of apps at a port of their own, which makes them another origin than the page.
    async fn listen_for_apps(self: &Arc<Self>) -> io::Result<()> {
        let limits = Limits { body: REPORT, connections: CONNECTIONS, ..Limits::default() };
        let options =
            http::Options { layer: Some(Arc::new(AppPages(self.clone()))), limits, ..http::Options::default() };
        // A policy can name this address, but none of IPv6.
        let server = http::listen(Arc::new(NoService), (Ipv4Addr::LOCALHOST, 0).into(), options).await?;
        self.entry.shows_frames_of(&format!("http://{}", server.local_addr()));
        self.apps.serve_with(Some(server));
        Ok(())
    }

    /// Tells the page goodbye, and closes every connection in order.
    pub async fn close(&self) {
        self.stop.send_replace(true);
        self.apps.serve_with(None);
        for target in self.all_targets() {
            self.connecting.disconnect(&target).await;
        }
    }

    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    fn all_targets(&self) -> Vec<Arc<Target>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The target of this number.
    pub(crate) fn target(&self, number: u64) -> Result<Arc<Target>, Failure> {
        let found = self.all_targets().into_iter().find(|target| u64::from(target.number) == number);
        found.ok_or_else(|| Failure::missing(format!("there is no target {number}")))
    }

    /// The state as the page gets it.
    pub(crate) fn state(&self) -> Value {
        let targets = self.all_targets();
        let questions = self.connecting.questions.to_json();
        let current: Vec<u32> = targets.iter().map(|target| target.state().session).collect();
        let inner = self.hub.inner();
        let revision = |session: &u32| inner.session(*session).and_then(|session| session.assembler.revision());
        let revisions: Vec<_> = current.iter().map(revision).collect();
        let sessions = inner.session_states();
        let findings: usize = inner.sessions.iter().map(|session| session.findings.len()).sum();
        let tasks: u64 = inner.sessions.iter().map(|session| session.assembler.tasks().changes()).sum();
        let mut shown = json!({
            "version": self.version, "seq": inner.table.seq(), "first": inner.table.first(), "next": inner.table.next(),
            "columns": rows::COLUMNS, "began": self.hub.wall(),
            "ring": {
                "limit": inner.ring.limit(), "used": inner.ring.used(), "dropped_bytes": inner.ring.dropped(),
                "dropped_rows": inner.table.first() - 1, "failed": inner.failed, "unwritten": inner.unwritten,
            },
            "sessions": sessions.iter().map(hub::SessionState::to_json).collect::<Vec<_>>(),
            "questions": questions, "findings": findings, "tasks": tasks, "apps": self.apps.to_json(),
            "shows_apps": self.connecting.apps,
        });
        drop(inner);
        let each = targets.iter().zip(revisions).map(|(target, revision)| target.to_json(revision, &self.hub));
        shown["targets"] = each.collect();
        shown
    }
}

/// Nothing speaks MCP here: the layer answers every request before it comes this far.
struct NoService;

impl Service for NoService {
    fn call(&self, call: Call) -> Reply {
        Answer::error(Some(call.id()), &RpcError::invalid_request("this is the page of proof inspect")).into()
    }
}
