//! How a conversation gets its connection: a child process, an endpoint, a WebSocket. How often a child process may start, and
//! what is tried where an endpoint does not know Streamable HTTP.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use net::Environment;
use net::client::{Dialer, HttpAddress};
use net::server::http::HeaderValue;
use net::upstream::{Child, ChildLimits, HttpUpstream, Sse, WebSocket};
use serde_json::json;
use tokio::time::timeout;
use wire::redact::{Redactor, Secrets};
use wire::{Era, Revision};

use super::authorized::Authority;
use super::core::{Carrier, Core, Origin, Parts, Unlinked};
use super::http::HttpLink;
use super::key::{Key, Whose};
use super::opening::{Opener, Profile};
use super::{Client, Conversation, Outside, Trouble, Upstream, legacy_capabilities};
use crate::settings::{Limits, Target, UpstreamSettings};

/// How long the stream of HTTP+SSE may take to name its endpoint where it is only tried: Streamable HTTP has streams on which
/// nothing may ever come.
const ENDPOINT: Duration = Duration::from_secs(5);
/// The time over which starts are counted.
const MINUTE: Duration = Duration::from_mins(1);

/// What an upstream is reached by.
pub(super) enum Route {
    Command,
    /// An origin, and whether it is known to have no stream outside requests.
    Http(Arc<HttpUpstream>, Arc<AtomicBool>),
    WebSocket,
}

impl Route {
    pub(super) fn new(target: &Target, limits: &Limits) -> Result<Self, net::OpenError> {
        Ok(match target {
            Target::Command { .. } => Self::Command,
            Target::Http(address) | Target::StreamableHttp(address) | Target::Sse(address) => {
                Self::Http(Arc::new(HttpUpstream::new(address, limits.start)?), Arc::default())
            }
            Target::WebSocket(address) => {
                Dialer::new(address, limits.start)?;
                Self::WebSocket
            }
        })
    }
}

/// When child processes were started, oldest first.
#[derive(Default)]
pub(super) struct Starts(VecDeque<Instant>);

impl Starts {
    /// Counts one more, or says how long to wait.
    fn count(&mut self, most: usize, now: Instant) -> Result<(), Duration> {
        while self.0.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
            self.0.pop_front();
        }
        if self.0.len() < most {
            self.0.push_back(now);
            return Ok(());
        }
        Err(self.0.front().map_or(MINUTE, |at| MINUTE.saturating_sub(now.duration_since(*at))))
    }
}

/// What log and errors show of an upstream: nothing of the secrets that it was given.
pub(super) fn origin(settings: &UpstreamSettings) -> Origin {
    let mut secrets = Secrets::default();
    match &settings.target {
        Target::Command { command, inherit, .. } => {
            secrets.arguments(command.args.iter().map(String::as_str));
            for (name, value) in &command.env {
                secrets.handed_variable(name, value);
            }
            Environment::of(inherit).add_secrets(&mut secrets);
        }
        Target::Http(address) | Target::StreamableHttp(address) | Target::Sse(address) | Target::WebSocket(address) => {
            for (name, value) in &address.headers {
                secrets.header(name, value);
            }
            secrets.address(address.url.as_str());
        }
    }
    Origin { name: settings.name.clone(), redactor: Redactor::masking().knowing(&secrets) }
}

impl Upstream {
    /// Whether somebody watches what crosses.
    pub(crate) fn is_watched(&self) -> bool {
        self.side.live().is_watched()
    }

    /// For how long it is left alone, because it could not be reached.
    pub(crate) fn left_alone(&self) -> Duration {
        let state = self.state();
        state.failure.as_ref().map_or(Duration::ZERO, |(_, at, wait)| wait.saturating_sub(at.elapsed()))
    }

    /// Opens a conversation, within the time that a start may take.
    pub(super) async fn open(self: &Arc<Self>, key: &Key, client: &Client) -> Result<Arc<Conversation>, Trouble> {
        let patience = self.limits.start;
        let opened = timeout(patience, self.open_in_time(key, client)).await;
        opened.unwrap_or(Err(Trouble::Timeout(patience))).map_err(Trouble::before_request)
    }

    async fn open_in_time(self: &Arc<Self>, key: &Key, client: &Client) -> Result<Arc<Conversation>, Trouble> {
        let mut core = self.connect(key, client).await?;
        let known = self.settings.revision.or(self.state().revision);
        // A server takes a shared conversation for one with a client that cannot be asked.
        let none = json!({});
        let capabilities = match &key.whose {
            Whose::Shared(_) | Whose::Modern(_) => &none,
            Whose::Own(..) | Whose::Lane(..) => client.capabilities(),
        };
        let capabilities = &legacy_capabilities(capabilities);
        let opener = Opener { client: client.info(), capabilities, revision: known, patience: self.limits.start };
        let mut opened = opener.open(&core).await;
        if core.is_ended() && known.is_none() && opened.is_err() && matches!(core.carrier, Carrier::Child(_)) {
            // Some legacy servers end at a request before `initialize`.
            core = self.connect(key, client).await?;
            opened = Opener { revision: Some(Revision::NEWEST_LEGACY), ..opener }.open(&core).await;
        }
        if let Some(older) = self.older_transport(&opened, &core, key, client).await {
            core = older;
            opened = opener.open(&core).await;
            self.state().old_transport = opened.is_ok();
        }
        let is_refused = matches!(opened, Err(Trouble::Refused(_)));
        if opened.is_err() && !is_refused && self.settings.revision.is_none() {
            // It may be another server by now.
            self.state().revision = None;
            if let Route::Http(_, no_stream) = &self.route {
                no_stream.store(false, Ordering::Relaxed);
            }
        }
        let profile = opened?;
        tracing::info!(upstream = self.name, revision = profile.revision.as_str(), "connected");
        let (used, level) = (Mutex::new(Instant::now()), Mutex::default());
        let profile = self.known(profile);
        Ok(Arc::new(Conversation { core, profile, used, holds: AtomicUsize::new(0), level }))
    }

    /// What the server says of itself: kept once where it says the same to all.
    fn known(&self, profile: Profile) -> Arc<Profile> {
        let known = self.state().profile.clone();
        known.filter(|known| **known == profile).unwrap_or_else(|| Arc::new(profile))
    }

    /// A connection over HTTP+SSE, where an endpoint refused Streamable HTTP as a server of 2024-11-05 does (2025-03-26,
    /// basic/transports#backwards-compatibility).
    async fn older_transport<T>(
        self: &Arc<Self>,
        opened: &Result<T, Trouble>,
        core: &Arc<Core>,
        key: &Key,
        client: &Client,
    ) -> Option<Arc<Core>> {
        let Target::Http(address) = &self.settings.target else { return None };
        let refused = matches!(opened, Err(Trouble::Status { status: 400 | 404 | 405, .. }));
        let legacy = self.settings.revision.is_none_or(|revision| revision.era() == Era::Legacy);
        let has_proofs = self.credentials.is_some() || self.asserter.is_some();
        if !(refused && legacy && !has_proofs && matches!(core.carrier, Carrier::Http(_))) {
            return None;
        }
        let unlinked = self.unlinked(key, client);
        match timeout(ENDPOINT, self.connect_old(address, key, unlinked)).await {
            Ok(Ok(core)) => Some(core),
            Ok(Err(trouble)) => {
                tracing::debug!(upstream = self.name, "no HTTP+SSE either: {trouble:?}");
                None
            }
            Err(_) => None,
        }
    }

    async fn connect(self: &Arc<Self>, key: &Key, client: &Client) -> Result<Arc<Core>, Trouble> {
        let unlinked = self.unlinked(key, client);
        let limit = self.limits.message_bytes;
        match (&self.route, &self.settings.target) {
            (Route::Command, Target::Command { command, limits, .. }) => {
                if let Some(most) = limits.starts_per_minute {
                    let counted = self.state().starts.count(most, Instant::now());
                    counted.map_err(|wait| too_many_starts(most, wait))?;
                }
                let limits = ChildLimits { message: limit, memory: limits.memory };
                let (child, output) = Child::start(command, &self.children, limits)?;
                Ok(Core::of_pipe(Carrier::Child(child), output, self.origin.clone(), self.parts(unlinked, key)))
            }
            (Route::WebSocket, Target::WebSocket(address)) => {
                let mut address = address.clone();
                let told = key.context.iter().flat_map(|context| context.headers());
                let text = |value: &HeaderValue| value.to_str().map(str::to_owned).ok();
                address.headers.extend(told.filter_map(|(name, value)| Some((name.to_string(), text(value)?))));
                let (socket, output) = WebSocket::open(&address, self.limits.start, limit).await?;
                Ok(Core::of_pipe(Carrier::WebSocket(socket), output, self.origin.clone(), self.parts(unlinked, key)))
            }
            (Route::Http(..), Target::Sse(address)) => self.connect_old(address, key, unlinked).await,
            (Route::Http(..), Target::Http(address)) if self.state().old_transport => {
                let connected = self.connect_old(address, key, unlinked).await;
                // The next try finds out again what is there.
                self.state().old_transport = connected.is_ok();
                connected
            }
            (Route::Http(http, no_stream), _) => {
                let bearer = self.credentials.as_ref().map(|credentials| credentials.bearer(client));
                let assertion = self.asserter.as_ref().map(|asserter| asserter.assertion(client));
                let authority = Authority { bearer, assertion, side: self.side.clone() };
                let link = HttpLink::new(told(http, key), Arc::clone(no_stream), authority);
                Ok(Core::of_http(link, self.parts(unlinked, key)))
            }
            _ => Err(Trouble::NotSent("it has no address".to_owned())),
        }
    }

    async fn connect_old(&self, address: &HttpAddress, key: &Key, unlinked: Unlinked) -> Result<Arc<Core>, Trouble> {
        let Route::Http(http, _) = &self.route else { return Err(Trouble::NotSent("it has no address".to_owned())) };
        let (sse, output) = Sse::open(&told(http, key), address, self.limits.message_bytes).await?;
        Ok(Core::of_pipe(Carrier::Sse(sse), output, self.origin.clone(), self.parts(unlinked, key)))
    }

    fn parts(&self, unlinked: Unlinked, key: &Key) -> Parts {
        Parts { unlinked, context: key.context.clone(), side: self.side.clone() }
    }

    fn unlinked(&self, key: &Key, client: &Client) -> Unlinked {
        let (listener, index) = (Arc::clone(&self.listener), self.index);
        let own = matches!(key.whose, Whose::Own(..)).then(|| client.kept());
        Arc::new(move |core, message| {
            let outside = match message.kind() {
                wire::Kind::Request => Outside::Question(Arc::clone(core), message),
                _ => Outside::Notification(message),
            };
            listener(index, own.clone(), outside);
        })
    }
}

/// The endpoint as one principal reaches it.
fn told(http: &Arc<HttpUpstream>, key: &Key) -> Arc<HttpUpstream> {
    match key.context.as_ref().map(|context| context.headers()) {
        None | Some([]) => Arc::clone(http),
        Some(headers) => Arc::new(http.with_headers(headers)),
    }
}

fn too_many_starts(most: usize, wait: Duration) -> Trouble {
    let seconds = wait.as_secs() + 1;
    Trouble::NotSent(format!("it was started {most} times within a minute, and may start again in {seconds} s"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Starts;

    #[test]
    fn starts_are_counted_over_a_minute() {
        let (mut starts, begin) = (Starts::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(starts.count(2, at(0)), Ok(()));
        assert_eq!(starts.count(2, at(10)), Ok(()));
        assert_eq!(starts.count(2, at(20)), Err(Duration::from_secs(40)));
        assert_eq!(starts.count(2, at(60)), Ok(()));
        assert_eq!(starts.count(2, at(61)), Err(Duration::from_secs(9)));
    }
}
