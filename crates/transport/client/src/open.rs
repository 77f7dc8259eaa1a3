//! From an address to a conversation: which era the server is of, over which transport and at which revision it is spoken
//! to (2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions and the sections of the
//! transports that it names; 2025-11-25 basic/lifecycle#version-negotiation).

use std::time::Duration;

use net::Tap;
use net::client::{Address, ConnectOptions, OpenError, Refusal, follow};
use serde_json::Value;
use tokio::task::AbortHandle;
use wire::trace::Header;
use wire::{Era, Kind, Message, RequestId, Revision, Transport};

use super::abilities::Abilities;
use super::ask::request_text;
use super::carrier::{Connector, Opening};
use super::link::{Ids, Link, Outcome, Rejection};
use super::{ClientError, Greeting, Options, Params, pump};

/// How often credentials are got for one greeting.
const AUTHORIZED: usize = 3;
/// A version that the server does not have (2026-07-28).
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;
/// What only a modern server says: header mismatch, missing capability, unsupported version.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, UNSUPPORTED_VERSION];

/// A connection that was greeted on.
pub(super) struct Session {
    pub(super) link: Link,
    pub(super) greeting: Greeting,
    pub(super) address: Address,
    pump: AbortHandle,
    /// The stream on which a legacy server may ask.
    stream: Option<AbortHandle>,
}

impl Session {
    pub(super) fn is_over(&self) -> bool {
        self.link.connection().is_over()
    }

    /// Ends it in order.
    pub(super) async fn close(&self) {
        self.stop();
        self.link.end().await;
    }

    /// Ends it where the server has ended it already, or will not be missed.
    pub(super) async fn abandon(&self) {
        self.stop();
        self.link.connection().kill().await;
    }

    fn stop(&self) {
        if let Some(stream) = &self.stream {
            stream.abort();
        }
        self.pump.abort();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What came of one way to open.
enum Turn {
    /// The server is elsewhere.
    Elsewhere(String),
    /// It is of the other era, or of another transport, so far as this tells.
    Other(ClientError),
    /// It speaks another version, which we know.
    Version(Revision),
    /// It will not do.
    Failed(ClientError),
}

impl From<OpenError> for Turn {
    fn from(error: OpenError) -> Self {
        Self::Failed(error.into())
    }
}

/// Opens a conversation. `revision` names what to begin with.
pub(super) async fn open(
    options: &Options,
    connector: &dyn Connector,
    ids: &Ids,
    revision: Option<Revision>,
) -> Result<Session, ClientError> {
    let mut address = options.address.clone();
    let mut hop = 0;
    loop {
        match found(Way { options, connector, ids, address: &address }, revision).await {
            Err(Turn::Elsewhere(to)) => address = follow(&address, &to, hop)?,
            Err(Turn::Failed(error) | Turn::Other(error)) => return Err(error),
            Err(Turn::Version(version)) => {
                return Err(OpenError::NoCommonRevision {
                    at: address.to_string(),
                    offered: vec![version.to_string()],
                }
                .into());
            }
            Ok(session) => return Ok(session),
        }
        hop += 1;
    }
}

async fn found(way: Way<'_>, revision: Option<Revision>) -> Result<Session, Turn> {
    let address = way.address;
    match revision {
        _ if address.transport() == Transport::HttpSse => way.initialize(Revision::R2024_11_05).await,
        Some(Revision::R2024_11_05) => match address {
            Address::Http(http) => {
                Way { address: &Address::Sse(http.clone()), ..way }.initialize(Revision::R2024_11_05).await
            }
            _ => way.initialize(Revision::R2024_11_05).await,
        },
        Some(revision) if revision.era() == Era::Legacy => way.initialize(revision).await,
        Some(revision) => way.discover(revision, true).await,
        None => way.either().await,
    }
}

#[derive(Clone, Copy)]
struct Way<'w> {
    options: &'w Options,
    connector: &'w dyn Connector,
    ids: &'w Ids,
    address: &'w Address,
}

impl Way<'_> {
    /// Finds the era out: modern words first, then those of the legacy era, then its old transport.
    async fn either(self) -> Result<Session, Turn> {
        let modern = match self.discover(Revision::NEWEST, false).await {
            Err(Turn::Version(version)) => return self.initialize(version).await,
            Err(Turn::Other(error)) => error,
            decided => return decided,
        };
        let legacy = match self.initialize(Revision::NEWEST_LEGACY).await {
            Err(Turn::Other(error)) => error,
            decided => return decided,
        };
        let Address::Http(http) = self.address else { return Err(Turn::Failed(legacy)) };
        let old = Address::Sse(http.clone());
        let session = Way { address: &old, ..self }.initialize(Revision::R2024_11_05).await;
        // What the newest way was told says most.
        session.map_err(|_| Turn::Failed(if modern.is_answer() { modern } else { legacy }))
    }

    async fn connect(&self, revision: Revision) -> Result<(Link, AbortHandle), OpenError> {
        let header = Header::server(self.address.transport(), revision, "client");
        let tap = self.options.tap.as_ref().map_or_else(|| Tap::new(header.clone()), |tap| tap(header.clone()));
        let options = ConnectOptions {
            limits: self.options.limits.clone(),
            children: self.options.children.clone(),
            authorizer: self.options.authorizer.clone(),
        };
        let opening = Opening { address: self.address, revision, tap: &tap, options: &options };
        let carrier = self.connector.open(opening).await?;
        let link = Link::new(carrier, self.address.clone(), self.options);
        let pump = pump::start(link.clone());
        Ok((link, pump))
    }

    fn patience(&self) -> Duration {
        let request = self.options.limits.request;
        match self.address.transport() {
            Transport::Stdio => request.max(self.options.limits.start),
            _ => request,
        }
    }

    fn has_channel(&self) -> bool {
        matches!(self.address.transport(), Transport::Stdio | Transport::WebSocket)
    }

    /// Asks a request on a connection that is not greeted on yet.
    async fn ask(&self, link: &Link, method: &str, params: &Params) -> Outcome {
        let mut before = 0;
        loop {
            let number = self.ids.next();
            let (id, text) = (RequestId::from(number), request_text(number, method, params));
            let came = tokio::select! {
                came = link.put(&id, method, text.clone(), self.patience()) => came,
                () = link.connection().echoed(&text) => Outcome::Gone(OpenError::Echo { at: self.address.to_string() }),
            };
            match (&came, &self.options.authorizer, self.address) {
                (Outcome::Refused(refused), Some(authorizer), Address::Http(http) | Address::Sse(http))
                    if matches!(refused.status, 401 | 403) && before < AUTHORIZED =>
                {
                    let Rejection { status, headers, .. } = refused.as_ref();
                    let refusal = Refusal { url: http.url.clone(), status: *status, headers: headers.clone(), before };
                    if let Err(why) = authorizer.refused(&refusal).await {
                        return Outcome::Unauthorized(why);
                    }
                }
                _ => return came,
            }
            before += 1;
        }
    }

    /// Begins with modern words. A `certain` revision is spoken even where the server does not introduce itself.
    async fn discover(&self, revision: Revision, certain: bool) -> Result<Session, Turn> {
        let (link, pump) = self.connect(revision).await?;
        link.settle(Era::Modern);
        let params = modern_meta(Params::new(), revision, self.options);
        let silent = self.has_channel() && !certain;
        let came = tokio::select! {
            biased;
            came = self.ask(&link, "server/discover", &params) => came,
            greeted = self.late_greeting(&link), if silent => {
                return self.as_legacy(link, pump, greeted).await;
            }
        };
        let result = match self.discovered(came, revision, certain) {
            Ok(result) => result,
            Err(Turn::Other(error)) if self.has_channel() && !link.connection().is_over() && !certain => {
                // The same process, or the same socket, is greeted again.
                link.settle(Era::Legacy);
                return match self.hello(&link, Revision::NEWEST_LEGACY).await {
                    Ok(greeted) => self.as_legacy(link, pump, Ok(greeted)).await,
                    Err(Turn::Other(_)) => self.dropped(link, pump, Turn::Other(error)).await,
                    Err(turn) => self.dropped(link, pump, turn).await,
                };
            }
            Err(turn) => return self.dropped(link, pump, turn).await,
        };
        let greeting = Greeting { revision, result };
        Ok(self.session(link, pump, greeting))
    }

    async fn dropped(&self, link: Link, pump: AbortHandle, turn: Turn) -> Result<Session, Turn> {
        pump.abort();
        link.end().await;
        Err(turn)
    }

    /// What the first modern answer says.
    fn discovered(&self, came: Outcome, revision: Revision, certain: bool) -> Result<Option<(Value, String)>, Turn> {
        let at = self.address.to_string();
        match came {
            Outcome::Answer(answer) => match (answer.kind(), answer.error_code()) {
                (Kind::Result, _) => self.introduced(&answer, revision, certain),
                (_, Some(UNSUPPORTED_VERSION)) => {
                    let offered = versions(answer.error().and_then(|error| error.get("data")?.get("supported")));
                    if offered.iter().any(|version| version == revision.as_str()) || (offered.is_empty() && certain) {
                        return Ok(None);
                    }
                    Err(common(at, offered))
                }
                (_, Some(code)) if certain || MODERN_ERRORS.contains(&code) => Ok(None),
                _ => Err(Turn::Other(declined(at, &answer))),
            },
            Outcome::Refused(refused) => match (&refused.error, refused.location) {
                (_, Some(to)) => Err(Turn::Elsewhere(to)),
                (Some(error), _) if error.error_code().is_some_and(|code| MODERN_ERRORS.contains(&code)) => {
                    let offered = versions(error.error().and_then(|error| error.get("data")?.get("supported")));
                    if offered.is_empty() || offered.iter().any(|v| v == revision.as_str()) {
                        Ok(None)
                    } else {
                        Err(common(at, offered))
                    }
                }
                _ if matches!(refused.status, 401 | 403) => Err(Turn::Failed(refused.told.into())),
                _ => Err(Turn::Other(refused.told.into())),
            },
            Outcome::TimedOut(after) => Err(Turn::Other(OpenError::Timeout { at, waited_for: "answer", after }.into())),
            Outcome::Gone(error) => Err(lost(error)),
            Outcome::Unauthorized(why) => Err(Turn::Failed(ClientError::Unauthorized { why })),
        }
    }

    fn introduced(&self, answer: &Message, revision: Revision, certain: bool) -> Result<Option<(Value, String)>, Turn> {
        let result = answer.result().cloned().unwrap_or_default();
        let offered = versions(result.get("supportedVersions"));
        if certain || offered.iter().any(|version| version == revision.as_str()) {
            let text = answer.body_text().unwrap_or_default().to_owned();
            return Ok(Some((result, text)));
        }
        let at = self.address.to_string();
        // A result of anything: a legacy server that answers whatever it is asked.
        Err(if offered.is_empty() { Turn::Other(declined(at, answer)) } else { common(at, offered) })
    }

    /// Greets a server that is silent as a legacy one, after a while, on the same channel.
    async fn late_greeting(&self, link: &Link) -> Result<Message, Turn> {
        tokio::time::sleep(self.options.probe).await;
        let answer = self.hello(link, Revision::NEWEST_LEGACY).await?;
        link.cancel_all("the server is of the legacy era").await;
        Ok(answer)
    }

    /// The `initialize` handshake on a connection of its own.
    async fn initialize(&self, revision: Revision) -> Result<Session, Turn> {
        let (link, pump) = self.connect(revision).await.map_err(lost)?;
        link.settle(Era::Legacy);
        let greeted = self.hello(&link, revision).await;
        self.as_legacy(link, pump, greeted).await
    }

    /// Asks `initialize`; once more where the server names the versions that it has.
    async fn hello(&self, link: &Link, mut revision: Revision) -> Result<Message, Turn> {
        let at = self.address.to_string();
        for last in [false, true] {
            let params = Params::new()
                .with("protocolVersion", revision.as_str())
                .with("capabilities", self.options.respondent.abilities().declared(revision))
                .with("clientInfo", self.options.identity.to_value());
            match self.ask(link, "initialize", &params).await {
                Outcome::Answer(answer) if answer.kind() == Kind::Result => return Ok(answer),
                Outcome::Answer(answer) => {
                    let offered = versions(answer.error().and_then(|error| error.get("data")?.get("supported")));
                    match newest(&offered, Era::Legacy) {
                        Some(version) if !last && version != revision => revision = version,
                        _ => return Err(Turn::Other(declined(at, &answer))),
                    }
                }
                Outcome::Refused(refused) => {
                    return Err(match refused.location {
                        Some(to) => Turn::Elsewhere(to),
                        None if matches!(refused.status, 400 | 404 | 405) => Turn::Other(refused.told.into()),
                        None => Turn::Failed(refused.told.into()),
                    });
                }
                Outcome::TimedOut(after) => {
                    return Err(Turn::Failed(OpenError::Timeout { at, waited_for: "answer", after }.into()));
                }
                Outcome::Gone(error) => return Err(Turn::Failed(error.into())),
                Outcome::Unauthorized(why) => return Err(Turn::Failed(ClientError::Unauthorized { why })),
            }
        }
        Err(OpenError::NoCommonRevision { at, offered: Vec::new() }.into())
    }

    /// Ends the handshake.
    async fn as_legacy(&self, link: Link, pump: AbortHandle, greeted: Result<Message, Turn>) -> Result<Session, Turn> {
        let answer = match greeted {
            Ok(answer) => answer,
            Err(turn) => return self.dropped(link, pump, turn).await,
        };
        link.settle(Era::Legacy);
        let result = answer.result().cloned().unwrap_or_default();
        let offered = versions(result.get("protocolVersion"));
        let Some(revision) = newest(&offered, Era::Legacy) else {
            pump.abort();
            link.end().await;
            return Err(OpenError::NoCommonRevision { at: self.address.to_string(), offered }.into());
        };
        if let Err(error) = link.notify("notifications/initialized", None).await {
            return Err(Turn::Failed(ClientError::unsent(error, self.address.to_string())));
        }
        let text = answer.body_text().unwrap_or_default().to_owned();
        let greeting = Greeting { revision, result: Some((result, text)) };
        Ok(self.session(link, pump, greeting))
    }

    fn session(&self, link: Link, pump: AbortHandle, greeting: Greeting) -> Session {
        link.connection().forget();
        let may_be_asked = self.options.respondent.abilities() != Abilities::default();
        let has_stream = link.transport() == Transport::StreamableHttp && greeting.revision.era() == Era::Legacy;
        let stream = (may_be_asked && has_stream).then(|| super::listen::open_stream(link.clone()));
        Session { link, greeting, address: self.address.clone(), pump, stream }
    }
}

/// What a modern request says of the client.
pub(super) fn modern_meta(params: Params, revision: Revision, options: &Options) -> Params {
    params
        .with_meta("io.modelcontextprotocol/protocolVersion", revision.as_str())
        .with_meta("io.modelcontextprotocol/clientInfo", options.identity.to_value())
        .with_meta("io.modelcontextprotocol/clientCapabilities", options.respondent.abilities().declared(revision))
}

/// A program that ended, or a socket that was closed, may not have liked the words.
fn lost(error: OpenError) -> Turn {
    match error {
        OpenError::Exited { .. } | OpenError::Hung { .. } | OpenError::Http { .. } | OpenError::NotMcp { .. } => {
            Turn::Other(error.into())
        }
        OpenError::Reset { .. } => Turn::Other(error.into()),
        error => Turn::Failed(error.into()),
    }
}

fn declined(at: String, answer: &Message) -> ClientError {
    let came = match answer.error() {
        Some(error) => error["message"].as_str().unwrap_or_default().to_owned(),
        None => format!("an unexpected result: {}", answer.body_text().unwrap_or_default()),
    };
    OpenError::Declined { at, came }.into()
}

/// What to do about the versions that a server has.
fn common(at: String, offered: Vec<String>) -> Turn {
    match newest(&offered, Era::Legacy) {
        Some(version) => Turn::Version(version),
        None => Turn::Failed(OpenError::NoCommonRevision { at, offered }.into()),
    }
}

/// The newest version of an era that we know, among those offered.
pub(super) fn newest(offered: &[String], era: Era) -> Option<Revision> {
    offered.iter().filter_map(|version| version.parse().ok()).filter(|revision: &Revision| revision.era() == era).max()
}

/// One version, or a list of them.
pub(super) fn versions(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(version)) => vec![version.clone()],
        Some(Value::Array(versions)) => versions.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}
