//! The servers of one run: each is connected to by a client whose traffic goes into the hub, and may be connected to again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::{Advice, Carrier, Client, ClientError, ClientEvent, Greeting, Listening, Options};
use net::client::{Address, Authorizer};
use serde_json::{Value, json};
use tokio::sync::watch;
use wire::trace::Header;
use wire::{Era, Revision, Transport};

use crate::hub::{self, Hub};
use crate::questions::{AskPage, Questions};
use crate::sending::Watched;
use page::Failure;

/// How often it is looked whether a connection is over.
const LOOK: Duration = Duration::from_millis(200);
/// How much of stderr is recorded of one connection.
const STDERR: usize = 64 << 20;

/// The kind of a side of a gateway.
const SIDE: &str = "gateway";

/// Where a target stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A connection is being made.
    Connecting,
    /// A connection is open.
    Open,
    /// No connection could be made.
    Failed,
    /// It was closed, or ended.
    Closed,
    /// It is a file: there is nothing to connect to.
    File,
    /// Another client talks to it.
    Watched,
    /// Nobody asked for a connection yet.
    Idle,
}

impl Phase {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Open => "open",
            Self::Failed => "failed",
            Self::Closed => "closed",
            Self::File => "file",
            Self::Watched => "watched",
            Self::Idle => "idle",
        }
    }
}

/// One server, or one trace.
pub(crate) struct Target {
    pub(crate) number: u32,
    label: String,
    options: Option<Options>,
    /// Gets tokens in place of the options' own authorizer, once authorization was guided.
    guided: Mutex<Option<Arc<dyn Authorizer>>>,
    /// What it is, where other clients talk to it.
    watched: Option<&'static str>,
    state: Mutex<State>,
    /// Held while a connection is made or closed.
    turn: tokio::sync::Mutex<()>,
    /// Changes where the connection that is being made is not wanted any more.
    unwanted: watch::Sender<()>,
}

/// What changes of a target.
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) session: u32,
    pub(crate) client: Option<Client>,
    pub(crate) carrier: Option<Arc<dyn Carrier>>,
    pub(crate) greeting: Option<Greeting>,
    pub(crate) level: Option<String>,
    pub(crate) subscribed: Vec<String>,
    pub(crate) listening: Option<Listening>,
    /// The tools as they were listed last.
    pub(crate) tools: Vec<Value>,
    error: Option<Failure>,
    /// How often the connection was given up.
    epoch: u64,
}

impl State {
    const fn new(phase: Phase) -> Self {
        Self {
            phase,
            session: 0,
            client: None,
            carrier: None,
            greeting: None,
            level: None,
            subscribed: Vec::new(),
            listening: None,
            tools: Vec::new(),
            error: None,
            epoch: 0,
        }
    }

    /// Why there is no connection.
    pub(crate) const fn error(&self) -> Option<&Failure> {
        self.error.as_ref()
    }

    /// Gives the connection up, and returns its client.
    fn forget(&mut self, phase: Phase) -> Option<Client> {
        let (session, epoch) = (self.session, self.epoch + 1);
        std::mem::replace(self, Self { session, epoch, ..Self::new(phase) }).client
    }
}

impl Target {
    /// A server.
    pub(crate) fn server(number: u32, label: String, options: Options) -> Self {
        Self::new(number, label, Some(options), State::new(Phase::Idle))
    }

    /// A server that another client talks to, whose frames are in `session`.
    pub(crate) fn watched(number: u32, label: String, session: u32) -> Self {
        Self::new(number, label, None, State { session, ..State::new(Phase::Watched) })
    }

    /// One side of a gateway, whose messages are in `session`.
    pub(crate) fn side(number: u32, label: String, session: u32) -> Self {
        let state = State { session, ..State::new(Phase::Watched) };
        Self { watched: Some(SIDE), ..Self::new(number, label, None, state) }
    }

    /// Whether it is one side of a gateway.
    pub(crate) fn is_side(&self) -> bool {
        self.watched == Some(SIDE)
    }

    /// A file, whose frames are in `session`.
    pub(crate) fn file(number: u32, label: String, session: u32) -> Self {
        Self::new(number, label, None, State { session, ..State::new(Phase::File) })
    }

    fn new(number: u32, label: String, options: Option<Options>, state: State) -> Self {
        let (turn, unwanted) = (tokio::sync::Mutex::default(), watch::Sender::new(()));
        let watched = (state.phase == Phase::Watched).then_some(Phase::Watched.as_str());
        let guided = Mutex::default();
        Self { number, label, options, guided, watched, state: Mutex::new(state), turn, unwanted }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of an open connection.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let state = self.state();
        let advice = if self.options.is_none() {
            "open the server itself: `proof inspect URL` or `proof inspect -- COMMAND`"
        } else {
            "connect first"
        };
        state.client.clone().ok_or_else(|| Failure::not_now(format!("{} is not connected", self.label), advice))
    }

    /// Uses this authorizer for all later connections.
    pub(crate) fn authorize(&self, authorizer: Arc<dyn Authorizer>) {
        *self.guided.lock().unwrap_or_else(PoisonError::into_inner) = Some(authorizer);
    }

    /// Whether it has a connection, or one is being made.
    pub(crate) fn has_connection(&self) -> bool {
        let state = self.state();
        state.client.is_some() || state.phase == Phase::Connecting
    }

    /// How its server is connected to; `None` without an address.
    pub(crate) const fn options(&self) -> Option<&Options> {
        self.options.as_ref()
    }

    pub(crate) const fn is_file(&self) -> bool {
        self.options.is_none()
    }

    /// The server that another client talked to has ended.
    pub(crate) fn is_over(&self) {
        self.state().phase = Phase::Closed;
    }

    fn kind(&self) -> &'static str {
        match self.options.as_ref().map(|options| &options.address) {
            None => self.watched.unwrap_or("trace"),
            Some(Address::Stdio(_)) => "stdio",
            Some(Address::Http(_)) => "http",
            Some(Address::Sse(_)) => "sse",
            Some(Address::WebSocket(_)) => "ws",
        }
    }

    /// The revisions that may be asked for.
    fn offered(&self) -> Vec<&'static str> {
        let Some(options) = &self.options else { return Vec::new() };
        let transport = options.address.transport();
        let carried = |revision: &&Revision| {
            transport.carries(**revision)
                || (transport == Transport::StreamableHttp && **revision == Revision::R2024_11_05)
        };
        Revision::NEWEST_FIRST.iter().filter(carried).map(|revision| revision.as_str()).collect()
    }

    /// The target as the page gets it.
    pub(crate) fn to_json(&self, revision: Option<Revision>, hub: &Hub) -> Value {
        let state = self.state();
        let greeting = state.greeting.as_ref();
        let revision = greeting.map(|greeting| greeting.revision).or(revision);
        let result = greeting.and_then(|greeting| greeting.result.as_ref()).map(|(result, _)| result);
        let shown = json!({
            "target": self.number, "label": self.label, "kind": self.kind(), "state": state.phase.as_str(),
            "session": state.session, "level": state.level, "subscribed": state.subscribed,
            "revision": revision.map(Revision::as_str), "offered": self.offered(),
            "era": revision.map(|revision| match revision.era() { Era::Legacy => "legacy", Era::Modern => "modern" }),
            "server": greeting.and_then(Greeting::server_info),
            "capabilities": greeting.and_then(Greeting::capabilities),
            "instructions": result.and_then(|result| result.get("instructions")),
            "greeting": result,
            "error": state.error.as_ref().map(|error| error.to_json(hub.redactor())),
        });
        drop(state);
        hub.redactor().redact_value(&shown)
    }
}

/// What connecting needs besides the target.
#[derive(Clone)]
pub(crate) struct Connecting {
    pub(crate) hub: Arc<Hub>,
    pub(crate) questions: Questions,
    pub(crate) words: fn(&Advice) -> String,
    /// Whether servers learn that apps are shown.
    pub(crate) apps: bool,
}

impl Connecting {
    /// Connects a target in the background. A present connection is closed first, and one that is being made is given up.
    pub(crate) fn connect(&self, target: &Arc<Target>, revision: Option<Revision>) {
        target.unwanted.send_replace(());
        target.state().phase = Phase::Connecting;
        let mut unwanted = target.unwanted.subscribe();
        let (here, target) = (self.clone(), target.clone());
        tokio::spawn(async move {
            let connected = {
                let _turn = target.turn.lock().await;
                here.close(&target, Phase::Connecting).await;
                let Some(options) = here.options(&target, revision) else { return };
                let connecting = Client::connect_with(options, Arc::new(Watched(target.clone())));
                let connected = tokio::select! {
                    biased;
                    _ = unwanted.changed() => None,
                    connected = connecting => Some(connected),
                };
                let carrier = target.state().carrier.take_if(|_| connected.is_none());
                if let Some(carrier) = carrier {
                    // A process that was started must end.
                    carrier.close().await;
                }
                here.connected(&target, connected)
            };
            if let Some(epoch) = connected {
                here.watch(target, epoch).await;
            }
        });
    }

    /// Takes down what came of a connection, `None` where it was given up; returns the epoch of one that is open.
    fn connected(&self, target: &Target, connected: Option<Result<Client, ClientError>>) -> Option<u64> {
        let mut state = target.state();
        match connected {
            Some(Ok(client)) => {
                state.greeting = Some(client.greeting());
                state.client = Some(client);
                state.phase = Phase::Open;
            }
            Some(Err(error)) => {
                state.error = Some(crate::client_failure::of_client(&error, self.words));
                state.phase = Phase::Failed;
            }
            None => {
                state.forget(Phase::Closed);
            }
        }
        let (session, is_open, epoch) = (state.session, state.phase == Phase::Open, state.epoch);
        drop(state);
        self.hub.release(target.number, session);
        if is_open {
            self.hub.state_changed();
        } else {
            self.hub.end(session);
        }
        is_open.then_some(epoch)
    }

    /// Closes the connection of a target, or gives up the one that is being made.
    pub(crate) async fn disconnect(&self, target: &Target) {
        target.unwanted.send_replace(());
        let _turn = target.turn.lock().await;
        self.close(target, Phase::Closed).await;
    }

    async fn close(&self, target: &Target, phase: Phase) {
        let (client, session) = {
            let mut state = target.state();
            (state.forget(phase), state.session)
        };
        self.hub.state_changed();
        if let Some(client) = client {
            client.close().await;
            self.hub.end(session);
        }
    }

    /// Notices that a connection ended, or that the client opened another one in its place.
    async fn watch(self, target: Arc<Target>, epoch: u64) {
        loop {
            tokio::time::sleep(LOOK).await;
            let ended = {
                let mut state = target.state();
                if state.epoch != epoch {
                    return;
                }
                let is_over = state.carrier.as_ref().is_none_or(|carrier| carrier.connection().is_over());
                let phase = if is_over { Phase::Closed } else { Phase::Open };
                let changed = std::mem::replace(&mut state.phase, phase) != phase;
                changed.then_some((is_over, state.session))
            };
            match ended {
                Some((true, session)) => self.hub.end(session),
                Some((false, _)) => self.hub.state_changed(),
                None => {}
            }
        }
    }

    fn options(&self, target: &Arc<Target>, revision: Option<Revision>) -> Option<Options> {
        let mut options = target.options.clone()?;
        options.revision = revision.or(options.revision);
        let guided = target.guided.lock().unwrap_or_else(PoisonError::into_inner).clone();
        options.authorizer = guided.or(options.authorizer);
        options.progress = true;
        options.limits.stderr_bytes = options.limits.stderr_bytes.max(STDERR);
        options.respondent =
            Arc::new(AskPage { questions: self.questions.clone(), target: target.number, apps: self.apps });
        let (hub, tapped, timeout) = (self.hub.clone(), Arc::downgrade(target), options.limits.request);
        options.tap = Some(Arc::new(move |header: Header| {
            let Some(target) = tapped.upgrade() else { return net::Tap::new(header) };
            let (tap, session) = hub::tap(&hub, target.number, header, timeout);
            let before = std::mem::replace(&mut target.state().session, session);
            if before != 0 {
                hub.end(before);
            }
            tap
        }));
        let (hub, watched) = (self.hub.clone(), Arc::downgrade(target));
        options.observer = Arc::new(move |event| {
            if let (ClientEvent::Warning(text), Some(target)) = (event, watched.upgrade()) {
                let session = target.state().session;
                hub.remark(target.number, session, &text);
            }
        });
        Some(options)
    }
}
