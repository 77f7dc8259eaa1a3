//! Apps of servers (MCP Apps, SEP-1865) while they are shown: their pages, which are served on an origin of their own, and the session
//! that holds what crosses between an app and the page. In it the app is the client, and the page its host. Must not know HTTP.

pub(crate) mod policy;
pub(crate) mod serving;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use net::server::http::Server;
use serde_json::{Value, json};
use wire::trace::{Content, Frame, Header};
use wire::{Party, Transport};

use crate::hub::Hub;
use crate::naming::shortened;
use crate::rows::{Direction, Row, RowKind, Status};
use page::{Failure, Token};

/// How many apps may be open: the oldest makes room.
const MOST: usize = 8;
/// How many reports of the browser are taken down for one app.
const REPORTS: u32 = 200;

/// The apps that are open, oldest first, and the listener of their origin.
#[derive(Default)]
pub(crate) struct Apps {
    open: Mutex<VecDeque<App>>,
    server: Mutex<Option<Server>>,
}

struct App {
    id: String,
    target: u32,
    session: u32,
    html: Bytes,
    policy: String,
    blocked: u32,
}

/// What an app is opened with.
pub(crate) struct Page {
    pub(crate) html: String,
    /// Makes the policy, given where the browser reports to.
    pub(crate) policy: Box<dyn FnOnce(&str) -> String + Send>,
}

impl Apps {
    fn open(&self) -> MutexGuard<'_, VecDeque<App>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Apps are served by this listener until it is taken away.
    pub(crate) fn serve_with(&self, server: Option<Server>) {
        *self.server() = server;
    }

    /// The host of their origin; `None` where no apps are shown.
    pub(crate) fn host(&self) -> Option<String> {
        self.server().as_ref().map(Server::local_addr).as_ref().map(SocketAddr::to_string)
    }

    /// Their origin.
    pub(crate) fn origin(&self) -> Result<String, Failure> {
        let host = self.host().ok_or_else(|| Failure::not_now("apps are not shown", "start without --no-apps"))?;
        Ok(format!("http://{host}"))
    }

    /// Opens an app: returns its id, which is also the secret part of its address, and its session.
    pub(crate) fn begin(&self, hub: &Hub, target: u32, page: Page) -> Result<(String, u32), Failure> {
        let token = Token::random().map_err(|error| Failure::not_now(format!("no random id: {error}"), "try again"))?;
        let id = token.reveal().to_owned();
        let session = hub.begin_app(target);
        let policy = (page.policy)(&format!("/report/{id}"));
        let app = App { id: id.clone(), target, session, html: page.html.into(), policy, blocked: 0 };
        let oldest = {
            let mut open = self.open();
            open.push_back(app);
            if open.len() > MOST { open.pop_front() } else { None }
        };
        if let Some(oldest) = oldest {
            hub.end(oldest.session);
        }
        hub.state_changed();
        Ok((id, session))
    }

    /// Closes an app.
    pub(crate) fn end(&self, hub: &Hub, id: &str) {
        let closed = {
            let mut open = self.open();
            let at = open.iter().position(|app| app.id == id);
            at.and_then(|at| open.remove(at))
        };
        if let Some(app) = closed {
            hub.end(app.session);
        }
    }

    /// The page of an app and its policy.
    pub(crate) fn page(&self, id: &str) -> Option<(Bytes, String)> {
        let open = self.open();
        let app = open.iter().find(|app| app.id == id)?;
        Some((app.html.clone(), app.policy.clone()))
    }

    /// The session of an app that is open.
    pub(crate) fn session(&self, id: &str) -> Result<u32, Failure> {
        let open = self.open();
        let app = open.iter().find(|app| app.id == id);
        app.map(|app| app.session).ok_or_else(|| Failure::not_now("the app is closed", "open it again"))
    }

    /// Takes down that the policy of an app stopped something.
    pub(crate) fn blocked(&self, hub: &Hub, id: &str, directive: &str, address: &str) {
        let (target, session) = {
            let mut open = self.open();
            let Some(app) = open.iter_mut().find(|app| app.id == id && app.blocked < REPORTS) else { return };
            app.blocked += 1;
            (app.target, app.session)
        };
        hub.app_blocked((target, session), directive, address);
    }

    /// The open apps as the page gets them.
    pub(crate) fn to_json(&self) -> Value {
        let open = self.open();
        let each = open
            .iter()
            .map(|app| json!({ "app": app.id, "target": app.target, "session": app.session, "blocked": app.blocked }));
        each.collect()
    }
}

impl Hub {
    /// Begins a session for what crosses between an app and the page.
    fn begin_app(&self, target: u32) -> u32 {
        let header =
            Header { subject: Party::Server, transport: Transport::WebSocket, revision: None, case: "app".to_owned() };
        let session = self.begin(target, header);
        if let Some(session) = self.inner().session_mut(session) {
            session.assembler.is_of_app();
        }
        self.leave_unjudged(session, "it is the traffic of an app with this page");
        session
    }

    /// Takes a message of an app or for an app down; returns its row.
    pub(crate) fn app_message(self: &Arc<Self>, session: u32, is_of_app: bool, text: &str) -> Option<u64> {
        let began = self.inner().session(session)?.began;
        let at = self.now().saturating_sub(began);
        let from = if is_of_app { Party::Client } else { Party::Server };
        let content = Content::Line { bytes: text.as_bytes().to_vec(), terminated: true };
        self.record(session, &Frame { at, done: at, ..Frame::new(from, content) })
    }

    fn app_blocked(&self, (target, session): (u32, u32), directive: &str, address: &str) {
        let mut row = Row::new(target, session, RowKind::App, Direction::Out, self.now());
        row.method = "blocked".into();
        row.name = shortened(&self.redactor().redact_text(&format!("{directive} {address}")));
        row.status = Status::Error;
        self.add(row);
        self.state_changed();
    }

    /// A row belongs to another one, which caused it.
    pub(crate) fn adopt(&self, n: u64, parent: u64) {
        let mut inner = self.inner();
        if parent < n && inner.table.get(parent).is_some() {
            inner.table.change(n, |row| row.parent = parent);
        }
        let seq = inner.table.seq();
        drop(inner);
        self.rows_changed(seq);
    }
}
