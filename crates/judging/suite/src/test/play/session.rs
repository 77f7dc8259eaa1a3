//! A connection in which cases run: opens it, answers the server's requests, closes it.

use std::any::Any;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Abilities, Answering, Client, ClientEvent, Options, Question, Refused, Respondent};
use net::Children;
use net::client::{Address, HttpAddress};
use net::started::Started;
use serde_json::Value;
use url::Url;
use wire::Transport;

use super::Player;
use crate::advice::describe;
use crate::test::Authorized;
use crate::test::outcome::{NotRun, Verdict};
use crate::test::plan::Location;
use crate::test::scripted::Scripted;

/// A connection in which cases run.
pub(super) struct Session {
    pub(super) client: Client,
    /// The started process of a server that is not reached over stdio.
    pub(super) started: Option<Started>,
    /// The methods of the notifications so far.
    pub(super) notifications: Arc<Mutex<Vec<String>>>,
    /// The status of the last HTTP response; 0 before the first.
    pub(super) status: Arc<AtomicU16>,
    pub(super) respondent: Arc<CaseRespondent>,
    /// `{ NAME: value }`.
    pub(super) vars: Mutex<Value>,
    /// Keeps a stand-in alive.
    _held: Option<Box<dyn Any + Send + Sync>>,
}

/// A server to connect to.
struct Target {
    address: Address,
    /// The started process of a server that is not reached over stdio.
    started: Option<Started>,
    /// Dropped after the session.
    held: Option<Box<dyn Any + Send + Sync>>,
}

impl Player<'_> {
    /// Connects to the server and runs the setup.
    pub(super) async fn open(&self) -> Result<Session, NotRun> {
        let notifications = Arc::new(Mutex::new(Vec::new()));
        let respondent =
            Arc::new(CaseRespondent { able: self.suite.required_abilities().abilities(), now: Mutex::new(None) });
        let Target { address, started, held } = self.target().await.map_err(NotRun::Unreached)?;
        let (address, authorizer) = self.authorized(address).await.map_err(NotRun::Unreached)?;
        let mut options = Options::new(address, &self.children());
        options.authorizer = authorizer;
        options.revision = self.revision;
        options.progress = self.suite.wants_progress();
        options.respondent = respondent.clone();
        let status = Arc::new(AtomicU16::new(0));
        let (note, last) = (notifications.clone(), status.clone());
        options.observer = Arc::new(move |event| match event {
            ClientEvent::Notification { method, .. } => {
                note.lock().unwrap_or_else(PoisonError::into_inner).push(method);
            }
            ClientEvent::Status(status) => last.store(status, Ordering::Relaxed),
            ClientEvent::Warning(_) => {}
        });
        let cases = self.suite.setup.iter().chain(&self.suite.cases);
        options.limits.request = cases.filter_map(|case| case.timeout).fold(self.options.timeout, Duration::max);
        let client = match Client::connect(options).await {
            Ok(client) => client,
            Err(error) => {
                if let Some(started) = started {
                    started.end().await;
                }
                return Err(NotRun::Unreached(describe(&error, self.options.words)));
            }
        };
        let session = Session {
            client,
            started,
            _held: held,
            notifications,
            status,
            respondent,
            vars: Mutex::new(self.suite.vars.clone()),
        };
        for case in &self.suite.setup {
            let tried = self.run_case(&session, case).await;
            if let Verdict::Failed(failures) = tried.verdict {
                let why = failures.first().map(|failure| format!(": {}", failure.found)).unwrap_or_default();
                self.close(Some(session)).await;
                return Err(NotRun::Setup(format!("the setup `{}` failed{why}", case.name)));
            }
        }
        Ok(session)
    }

    pub(super) async fn close(&self, session: Option<Session>) {
        if let Some(session) = session {
            session.client.close().await;
            if let Some(started) = session.started {
                started.end().await;
            }
        }
    }

    /// Credentials for a server without any in its file.
    async fn authorized(&self, address: Address) -> Authorized {
        let has_any = match &address {
            Address::Stdio(_) => true,
            Address::Http(http) | Address::Sse(http) | Address::WebSocket(http) => {
                http.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
            }
        };
        match &self.options.authorize {
            Some(authorize) if !has_any && self.options.standin.is_none() => authorize(address, self.revision).await,
            _ => Ok((address, None)),
        }
    }

    /// Starts processes with what the file lets them inherit.
    fn children(&self) -> Children {
        self.options.children.inheriting(&self.server.inherits)
    }

    /// The address of the server, after starting it or its stand-in.
    async fn target(&self) -> Result<Target, String> {
        if let Some(start) = &self.options.standin {
            let standin = start().await?;
            return Ok(Target { address: standin.address, started: None, held: Some(standin.held) });
        }
        let Location::Url { url, transport, headers, bearer_env, command } = &self.server.location else {
            let command = self.server.command().cloned().unwrap_or_default();
            return Ok(Target { address: Address::Stdio(command), started: None, held: None });
        };
        let mut headers = headers.clone();
        if let Some(variable) = bearer_env {
            let token = std::env::var(variable)
                .map_err(|_| format!("environment variable {variable} (`bearerEnv`) is not set"))?;
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        let started = match command {
            Some(command) => {
                Some(Box::pin(Started::start(command, url, self.options.timeout, &self.children())).await?)
            }
            None => None,
        };
        let url = match &started {
            Some(started) => started.url.clone(),
            None => Url::parse(url).map_err(|error| error.to_string())?,
        };
        let is_socket = matches!(url.scheme(), "ws" | "wss");
        let http = HttpAddress { headers, ..HttpAddress::new(url) };
        let address = match transport {
            Some(Transport::HttpSse) => Address::Sse(http),
            _ if is_socket => Address::WebSocket(http),
            _ => Address::Http(http),
        };
        Ok(Target { address, started, held: None })
    }
}

/// Answers the server's requests by the current case.
pub(super) struct CaseRespondent {
    able: Abilities,
    now: Mutex<Option<Scripted>>,
}

impl CaseRespondent {
    pub(super) fn set_script(&self, script: Option<Scripted>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }
}

impl Respondent for CaseRespondent {
    fn abilities(&self) -> Abilities {
        self.able
    }

    fn answer(&self, question: Question) -> Answering {
        let script = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        let able = script.abilities();
        let has = match question {
            Question::Roots => able.roots,
            Question::Sampling(_) => able.sampling,
            Question::Form { .. } => able.forms,
            Question::Url { .. } => able.urls,
        };
        if has { script.answer(question) } else { Box::pin(async { Err(Refused::by_user()) }) }
    }
}
