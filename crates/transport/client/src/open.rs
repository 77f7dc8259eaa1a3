//! From an address to a session: the transport and the revision to try, one after the other, until the server agrees.
//! [`super::opener`] opens one; what an answer says about eras is read by [`net::client::negotiation`].

use net::client::{Address, OpenError, follow};
use tokio::task::AbortHandle;
use wire::{Era, Revision, Transport, meta};

use super::carrier::Connector;
use super::link::{Ids, Link};
use super::opener::Opener;
use super::{ClientError, Greeting, Options, Params};

/// A connection on which client and server have agreed on a revision.
pub(super) struct Session {
    pub(super) link: Link,
    pub(super) greeting: Greeting,
    pub(super) address: Address,
    pub(super) pump: AbortHandle,
    /// The stream on which a legacy server may send requests.
    pub(super) stream: Option<AbortHandle>,
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

    /// Ends it at once, where the server has ended it already or another session replaces it.
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

/// Why an attempt opened no session.
pub(super) enum NotOpened {
    /// The server redirects to this address.
    Redirected(String),
    /// Perhaps the server is of the other era, or speaks another transport.
    OtherEra(ClientError),
    /// It offers this revision instead.
    OtherRevision(Revision),
    /// Further attempts are of no use.
    Failed(ClientError),
}

impl From<OpenError> for NotOpened {
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
        match open_at(Opener { options, connector, ids, address: &address }, revision).await {
            Err(NotOpened::Redirected(to)) => address = follow(&address, &to, hop)?,
            Err(NotOpened::Failed(error) | NotOpened::OtherEra(error)) => return Err(error),
            Err(NotOpened::OtherRevision(version)) => {
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

async fn open_at(opener: Opener<'_>, revision: Option<Revision>) -> Result<Session, NotOpened> {
    let address = opener.address;
    match revision {
        _ if address.transport() == Transport::HttpSse => opener.open_legacy(Revision::R2024_11_05).await,
        Some(Revision::R2024_11_05) => match address {
            Address::Http(http) => {
                Opener { address: &Address::Sse(http.clone()), ..opener }.open_legacy(Revision::R2024_11_05).await
            }
            _ => opener.open_legacy(Revision::R2024_11_05).await,
        },
        Some(revision) if revision.era() == Era::Legacy => opener.open_legacy(revision).await,
        Some(revision) => opener.open_modern(revision, true).await,
        None => opener.detect_era().await,
    }
}

/// The parameters of a modern request, with what it says about the client.
pub(super) fn modern_meta(params: Params, revision: Revision, options: &Options) -> Params {
    params
        .with_meta(meta::PROTOCOL_VERSION, revision.as_str())
        .with_meta(meta::CLIENT_INFO, options.identity.to_value())
        .with_meta(meta::CLIENT_CAPABILITIES, options.respondent.abilities().declared(revision))
}
