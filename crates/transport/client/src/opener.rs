//! One attempt to open a session: the first request in one era, and the handshake that follows
//! (2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions; 2025-11-25
//! basic/lifecycle#version-negotiation).

use std::time::Duration;

use net::Tap;
use net::client::negotiation::{
    Negotiation, declined, first_request, newest, suggests_old_transport, supported_versions,
};
use net::client::{Address, ConnectOptions, OpenError, Refusal};
use serde_json::Value;
use tokio::task::AbortHandle;
use wire::trace::Header;
use wire::{Era, Kind, Message, RequestId, Revision, Transport};

use super::abilities::Abilities;
use super::ask::request_text;
use super::carrier::{Connector, Opening};
use super::link::{Ids, Link, Outcome, Rejection};
use super::open::{NotOpened, Session};
use super::{ClientError, Greeting, Options, Params, pump};

/// How often new credentials are requested while one session is opened.
const AUTHORIZED: usize = 3;

/// The result of `server/discover`, and its text as it crossed.
type Introduction = (Value, String);

/// Opens a session at one address.
#[derive(Clone, Copy)]
pub(super) struct Opener<'o> {
    pub(super) options: &'o Options,
    pub(super) connector: &'o dyn Connector,
    pub(super) ids: &'o Ids,
    pub(super) address: &'o Address,
}

impl Opener<'_> {
    /// Finds out the era: a modern request first, then a legacy one, then a legacy one over the old transport.
    pub(super) async fn detect_era(self) -> Result<Session, NotOpened> {
        let modern = match self.open_modern(Revision::NEWEST, false).await {
            Err(NotOpened::OtherRevision(version)) => return self.open_legacy(version).await,
            Err(NotOpened::OtherEra(error)) => error,
            decided => return decided,
        };
        let legacy = match self.open_legacy(Revision::NEWEST_LEGACY).await {
            Err(NotOpened::OtherEra(error)) => error,
            decided => return decided,
        };
        let Address::Http(http) = self.address else { return Err(NotOpened::Failed(legacy)) };
        let old = Address::Sse(http.clone());
        let session = Opener { address: &old, ..self }.open_legacy(Revision::R2024_11_05).await;
        // The answer to the newest attempt is the most specific.
        session.map_err(|_| NotOpened::Failed(if modern.is_answer() { modern } else { legacy }))
    }

    async fn connect(&self, revision: Revision) -> Result<(Link, AbortHandle), OpenError> {
        let header = Header::server(self.address.transport(), revision, "client");
        let tap = self.options.tap.as_ref().map_or_else(|| Tap::new(header.clone()), |tap| tap(header.clone()));
        let options = ConnectOptions {
            limits: self.options.limits.clone(),
            children: self.options.children.clone(),
            authorizer: self.options.authorizer.clone(),
            lenient: false,
        };
        let opening = Opening { address: self.address, revision, tap: &tap, options: &options };
        let carrier = self.connector.open(opening).await?;
        let link = Link::new(carrier, self.address.clone(), self.options);
        let pump = pump::start(link.clone());
        Ok((link, pump))
    }

    fn first_request(&self, revision: Revision) -> (&'static str, Params) {
        let declared = self.options.respondent.abilities().declared(revision);
        let (method, params) = first_request(revision, &self.options.identity.to_value(), &declared);
        (method, Params::from(params.as_object().cloned().unwrap_or_default()))
    }

    fn patience(&self) -> Duration {
        let request = self.options.limits.request;
        match self.address.transport() {
            Transport::Stdio => request.max(self.options.limits.start),
            _ => request,
        }
    }

    fn has_one_channel(&self) -> bool {
        matches!(self.address.transport(), Transport::Stdio | Transport::WebSocket)
    }

    /// Sends a request on a connection on which no revision is agreed yet.
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

    /// Opens a session by `server/discover`. A `certain` revision is spoken even where the server does not introduce itself.
    pub(super) async fn open_modern(&self, revision: Revision, certain: bool) -> Result<Session, NotOpened> {
        let (link, pump) = self.connect(revision).await?;
        link.settle(Era::Modern);
        let (method, params) = self.first_request(revision);
        let silent = self.has_one_channel() && !certain;
        let came = tokio::select! {
            biased;
            came = self.ask(&link, method, &params) => came,
            greeted = self.initialize_if_silent(&link), if silent => {
                return self.finish_handshake(link, pump, greeted).await;
            }
        };
        let result = match self.read_discovery(came, revision, certain) {
            Ok(result) => result,
            Err(NotOpened::OtherEra(error)) if self.has_one_channel() && !link.connection().is_over() && !certain => {
                // `initialize` goes to the same process, or over the same socket.
                link.settle(Era::Legacy);
                return match self.request_initialize(&link, Revision::NEWEST_LEGACY).await {
                    Ok(greeted) => self.finish_handshake(link, pump, Ok(greeted)).await,
                    Err(NotOpened::OtherEra(_)) => self.close_after(link, pump, NotOpened::OtherEra(error)).await,
                    Err(failure) => self.close_after(link, pump, failure).await,
                };
            }
            Err(failure) => return self.close_after(link, pump, failure).await,
        };
        let greeting = Greeting { revision, result };
        Ok(self.session(link, pump, greeting).await)
    }

    async fn close_after(&self, link: Link, pump: AbortHandle, failure: NotOpened) -> Result<Session, NotOpened> {
        pump.abort();
        link.end().await;
        Err(failure)
    }

    /// The result of `server/discover`, if the server introduced itself and speaks `revision`.
    fn read_discovery(
        &self,
        came: Outcome,
        revision: Revision,
        certain: bool,
    ) -> Result<Option<Introduction>, NotOpened> {
        let at = self.address.to_string();
        match came {
            Outcome::Answer(answer) => match Negotiation::read(&answer, Era::Modern) {
                Negotiation::Introduced(offered) => self.read_introduction(&answer, offered, revision, certain),
                Negotiation::VersionRefused(offered) if offered.is_empty() && certain => Ok(None),
                Negotiation::VersionRefused(offered) => agreed(at, offered, revision),
                Negotiation::ModernError => Ok(None),
                Negotiation::OtherError if certain => Ok(None),
                Negotiation::OtherError => Err(NotOpened::OtherEra(declined(at, &answer).into())),
            },
            Outcome::Refused(refused) => {
                if let Some(to) = refused.location {
                    return Err(NotOpened::Redirected(to));
                }
                match refused.error.as_ref().map(|error| Negotiation::read(error, Era::Modern)) {
                    Some(Negotiation::ModernError) => Ok(None),
                    Some(Negotiation::VersionRefused(offered)) if offered.is_empty() => Ok(None),
                    Some(Negotiation::VersionRefused(offered)) => agreed(at, offered, revision),
                    _ if matches!(refused.status, 401 | 403) => Err(NotOpened::Failed(refused.open_error.into())),
                    _ => Err(NotOpened::OtherEra(refused.open_error.into())),
                }
            }
            Outcome::TimedOut(after) => {
                Err(NotOpened::OtherEra(OpenError::Timeout { at, waited_for: "answer", after }.into()))
            }
            Outcome::Gone(error) => Err(failed_first_request(error)),
            Outcome::Unauthorized(why) => Err(NotOpened::Failed(ClientError::Unauthorized { why })),
        }
    }

    fn read_introduction(
        &self,
        answer: &Message,
        offered: Vec<String>,
        revision: Revision,
        certain: bool,
    ) -> Result<Option<Introduction>, NotOpened> {
        if certain || offered.iter().any(|version| version == revision.as_str()) {
            let text = answer.body_text().unwrap_or_default().to_owned();
            return Ok(Some((answer.result().cloned().unwrap_or_default(), text)));
        }
        let at = self.address.to_string();
        // A result without versions: a legacy server that answers any request.
        Err(if offered.is_empty() {
            NotOpened::OtherEra(declined(at, answer).into())
        } else {
            other_revision(at, offered)
        })
    }

    /// Sends `initialize` to a server that has been silent for a while, on the same connection.
    async fn initialize_if_silent(&self, link: &Link) -> Result<Message, NotOpened> {
        tokio::time::sleep(self.options.probe).await;
        let answer = self.request_initialize(link, Revision::NEWEST_LEGACY).await?;
        link.cancel_all("the server is of the legacy era").await;
        Ok(answer)
    }

    /// Opens a session by the `initialize` handshake.
    pub(super) async fn open_legacy(&self, revision: Revision) -> Result<Session, NotOpened> {
        let (link, pump) = self.connect(revision).await.map_err(failed_first_request)?;
        link.settle(Era::Legacy);
        let greeted = self.request_initialize(&link, revision).await;
        self.finish_handshake(link, pump, greeted).await
    }

    /// Sends `initialize`, and once more where the server names the versions that it supports.
    async fn request_initialize(&self, link: &Link, mut revision: Revision) -> Result<Message, NotOpened> {
        let at = self.address.to_string();
        for last in [false, true] {
            let (method, params) = self.first_request(revision);
            match self.ask(link, method, &params).await {
                Outcome::Answer(answer) if answer.kind() == Kind::Result => return Ok(answer),
                Outcome::Answer(answer) => match newest(&supported_versions(&answer), Era::Legacy) {
                    Some(version) if !last && version != revision => revision = version,
                    _ => return Err(NotOpened::OtherEra(declined(at, &answer).into())),
                },
                Outcome::Refused(refused) => {
                    return Err(match refused.location {
                        Some(to) => NotOpened::Redirected(to),
                        None if suggests_old_transport(refused.status) => {
                            NotOpened::OtherEra(refused.open_error.into())
                        }
                        None => NotOpened::Failed(refused.open_error.into()),
                    });
                }
                Outcome::TimedOut(after) => {
                    return Err(NotOpened::Failed(OpenError::Timeout { at, waited_for: "answer", after }.into()));
                }
                Outcome::Gone(error) => return Err(NotOpened::Failed(error.into())),
                Outcome::Unauthorized(why) => return Err(NotOpened::Failed(ClientError::Unauthorized { why })),
            }
        }
        Err(OpenError::NoCommonRevision { at, offered: Vec::new() }.into())
    }

    /// Ends the handshake.
    async fn finish_handshake(
        &self,
        link: Link,
        pump: AbortHandle,
        greeted: Result<Message, NotOpened>,
    ) -> Result<Session, NotOpened> {
        let answer = match greeted {
            Ok(answer) => answer,
            Err(failure) => return self.close_after(link, pump, failure).await,
        };
        link.settle(Era::Legacy);
        let result = answer.result().cloned().unwrap_or_default();
        let offered = match Negotiation::read(&answer, Era::Legacy) {
            Negotiation::Introduced(offered) => offered,
            _ => Vec::new(),
        };
        let Some(revision) = newest(&offered, Era::Legacy) else {
            pump.abort();
            link.end().await;
            return Err(OpenError::NoCommonRevision { at: self.address.to_string(), offered }.into());
        };
        if let Err(error) = link.notify("notifications/initialized", None).await {
            return Err(NotOpened::Failed(ClientError::unsent(error, self.address.to_string())));
        }
        let text = answer.body_text().unwrap_or_default().to_owned();
        let greeting = Greeting { revision, result: Some((result, text)) };
        Ok(self.session(link, pump, greeting).await)
    }

    async fn session(&self, link: Link, pump: AbortHandle, greeting: Greeting) -> Session {
        link.connection().stop_recording();
        let may_be_asked = self.options.respondent.abilities() != Abilities::default();
        let has_stream = link.transport() == Transport::StreamableHttp && greeting.revision.era() == Era::Legacy;
        let stream =
            if may_be_asked && has_stream { Some(super::listen::open_stream(link.clone()).await) } else { None };
        Session { link, greeting, address: self.address.clone(), pump, stream }
    }
}

/// A program that ended, or a connection that was closed, may not have understood the first request.
fn failed_first_request(error: OpenError) -> NotOpened {
    match error {
        OpenError::Exited { .. } | OpenError::Hung { .. } | OpenError::Http { .. } | OpenError::NotMcp { .. } => {
            NotOpened::OtherEra(error.into())
        }
        OpenError::Reset { .. } => NotOpened::OtherEra(error.into()),
        error => NotOpened::Failed(error.into()),
    }
}

/// What to do where the server offers these versions.
fn agreed(at: String, offered: Vec<String>, revision: Revision) -> Result<Option<Introduction>, NotOpened> {
    if offered.iter().any(|version| version == revision.as_str()) { Ok(None) } else { Err(other_revision(at, offered)) }
}

/// What to do where the revision is not among the versions that the server offers.
fn other_revision(at: String, offered: Vec<String>) -> NotOpened {
    match newest(&offered, Era::Legacy) {
        Some(version) => NotOpened::OtherRevision(version),
        None => NotOpened::Failed(OpenError::NoCommonRevision { at, offered }.into()),
    }
}
