//! One server behind the gateway: its conversations, begun when they are needed, and what it says of itself. Knows clients
//! only by what distinguishes their conversations.

mod authorized;
mod client;
mod connecting;
mod core;
mod flight;
mod http;
mod key;
mod old_sse;
mod opening;
mod starting;
mod trouble;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::Children;
use net::server::link::{Link, Session};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::timeout;
use wire::{Era, Message, Revision};

pub(crate) use self::client::{Client, Introduction};
pub(crate) use self::core::{Carrier, Core, Event};
pub(crate) use self::flight::{Flight, Sending};
pub(crate) use self::opening::Profile;
pub(crate) use self::trouble::Trouble;

use self::connecting::{Route, Starts};
use self::core::Origin;
use self::key::{Key, Whose};
use crate::assertions::Asserter;
use crate::consents::Consents;
use crate::credentials::Credentials;
use crate::live::{Side, in_course};
use crate::session::LogLevel;
use crate::settings::{Limits, UpstreamSettings};
use crate::shaping::ClientShape;

/// After how long a server that could not be reached is tried again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// A connection that ends by itself earlier than this counts as a failed start, from the second one on.
const SHORT_LIFE: Duration = Duration::from_secs(10);

/// How long a server counts as slow that was too slow for an answer of several servers.
const SLOW: Duration = Duration::from_secs(30);

/// A conversation with an upstream.
pub(crate) struct Conversation {
    pub(crate) core: Arc<Core>,
    pub(crate) profile: Arc<Profile>,
    used: Mutex<Instant>,
    /// How much goes on there without a request.
    holds: AtomicUsize,
    /// The level of log messages that was set there.
    level: Mutex<Option<LogLevel>>,
}

/// Something that goes on at a server between requests: its conversation is not idle.
pub(crate) struct Hold(Arc<Conversation>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.touch();
        self.0.holds.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Conversation {
    /// Keeps a conversation from being ended as idle.
    pub(crate) fn hold(this: &Arc<Self>) -> Hold {
        this.holds.fetch_add(1, Ordering::Relaxed);
        Hold(Arc::clone(this))
    }

    /// Keeps the level of log messages that is to be set now, unless the server sends as much already.
    pub(crate) fn lower_level(&self, level: LogLevel) -> bool {
        let mut set = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let lower = set.is_none_or(|set| level < set);
        if lower {
            *set = Some(level);
        }
        lower
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn is_idle(&self, since: Duration) -> bool {
        let goes_on = self.core.open_requests() > 0 || self.holds.load(Ordering::Relaxed) > 0;
        !goes_on && self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > since
    }
}

/// A conversation for one request.
pub(crate) struct Lease {
    conversation: Option<Arc<Conversation>>,
    /// Where it goes back, if nobody else may use it meanwhile.
    lane: Option<(Arc<Upstream>, Key, OwnedSemaphorePermit)>,
}

impl Lease {
    pub(crate) fn conversation(&self) -> &Arc<Conversation> {
        self.conversation.as_ref().expect("taken when it is dropped")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(conversation), Some((upstream, key, _))) = (self.conversation.take(), &self.lane) {
            if conversation.core.is_ended() {
                return upstream.note_end(&conversation);
            }
            upstream.state().free.entry(key.clone()).or_default().push(conversation);
        }
    }
}

/// What arrives outside requests.
pub(crate) enum Outside {
    /// A notification.
    Notification(Message),
    /// A request, and the connection to answer it on.
    Question(Arc<Core>, Message),
    /// A server is there whose part was missing from an answer.
    Back,
    /// A conversation begins after one that its server has ended: it may be another server by now.
    Again,
}

/// Takes what arrives outside requests; the second argument is the client whose conversation it is, if it is one client's.
pub(crate) type Listener = Arc<dyn Fn(usize, Option<Client>, Outside) + Send + Sync>;

#[derive(Default)]
struct State {
    conversations: HashMap<Key, Arc<Slot>>,
    /// Lanes that are not used at this moment.
    free: HashMap<Key, Vec<Arc<Conversation>>>,
    /// The revision that was found, for later conversations.
    revision: Option<Revision>,
    /// What it said of itself last.
    profile: Option<Arc<Profile>>,
    failure: Option<(Trouble, Instant, Duration)>,
    /// How many connections in a row ended soon after they had begun.
    short_lives: u32,
    /// The endpoint turned out to know only HTTP+SSE.
    old_transport: bool,
    starts: Starts,
    /// Until when answers of several servers hardly wait for it: it was too slow for the last one.
    slow_until: Option<Instant>,
    /// Its part is missing from an answer that a client has.
    missed: bool,
    /// How many conversations ended that the gateway did not end, since it began one.
    lost: usize,
    /// It is being looked for without a client's request.
    looked_for: bool,
}

/// Where a conversation is, or will be.
type Slot = tokio::sync::Mutex<Option<Arc<Conversation>>>;

/// A server behind the gateway.
pub(crate) struct Upstream {
    /// Its place among the upstreams.
    pub(crate) index: usize,
    /// Its name.
    pub(crate) name: String,
    settings: UpstreamSettings,
    limits: Limits,
    children: Children,
    route: Route,
    /// The tokens that it gets from the gateway.
    credentials: Option<Arc<Credentials>>,
    /// Signs its requests.
    asserter: Option<Arc<Asserter>>,
    origin: Origin,
    /// Shows what crosses to those who watch.
    side: Side,
    listener: Listener,
    state: Mutex<State>,
    lanes: Arc<Semaphore>,
    /// Nothing is begun any more.
    ending: watch::Sender<bool>,
    /// How many conversations are being ended because their client's session has ended.
    closing: watch::Sender<usize>,
}

impl Upstream {
    /// Prepares an upstream; nothing is started before the first request.
    pub(crate) fn new(
        index: usize,
        settings: UpstreamSettings,
        limits: &Limits,
        (children, consents, side): (&Children, Option<&Arc<Consents>>, Side),
        listener: Listener,
    ) -> Result<Arc<Self>, net::OpenError> {
        let children = starting::children(&settings, children)?;
        Ok(Arc::new(Self {
            index,
            name: settings.name.clone(),
            limits: limits.clone(),
            children,
            route: Route::new(&settings.target, limits)?,
            credentials: Credentials::of(&settings, consents)?,
            asserter: Asserter::of(&settings)?,
            origin: connecting::origin(&settings),
            side,
            listener,
            state: Mutex::default(),
            lanes: Arc::new(Semaphore::new(limits.sessions)),
            ending: watch::Sender::new(false),
            closing: watch::Sender::new(0),
            settings,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A conversation for a request of `client`; `asks` where the server may ask the client something in its course.
    pub(crate) async fn lease(self: &Arc<Self>, client: &Client, asks: bool) -> Result<Lease, Trouble> {
        if let Some(credentials) = &self.credentials {
            credentials.note(client);
        }
        loop {
            let lease = self.lease_any(client, asks).await?;
            let core = &lease.conversation().core;
            if !core.was_in_doubt().await || !core.is_ended() {
                return Ok(lease);
            }
        }
    }

    async fn lease_any(self: &Arc<Self>, client: &Client, asks: bool) -> Result<Lease, Trouble> {
        let era = self.state().revision.map(Revision::era);
        let era = match era {
            Some(era) => era,
            // Whatever is found out stays: it is the conversation of the client's key, or the one for modern requests.
            None => self.conversation(&self.key(client, Era::Legacy, asks), client).await?.profile.revision.era(),
        };
        let key = self.key(client, era, asks);
        if matches!(key.whose, Whose::Lane(..)) {
            return self.lane(key, client).await;
        }
        Ok(Lease { conversation: Some(self.conversation(&key, client).await?), lane: None })
    }

    /// The conversation of `key`; begins it if necessary. It goes on beginning where nobody waits any more: the next request
    /// finds it.
    async fn conversation(self: &Arc<Self>, key: &Key, client: &Client) -> Result<Arc<Conversation>, Trouble> {
        let slot = Arc::clone(self.state().conversations.entry(key.clone()).or_default());
        if let Ok(slot) = slot.try_lock()
            && let Some(conversation) = slot.as_ref().filter(|conversation| !conversation.core.is_ended())
        {
            conversation.touch();
            return Ok(Arc::clone(conversation));
        }
        let (sender, receiver) = oneshot::channel();
        let (upstream, key, client) = (Arc::clone(self), key.clone(), client.clone());
        tokio::spawn(in_course(async move {
            let mut slot = slot.lock().await;
            if !sender.is_closed() {
                let _ = sender.send(upstream.fill(&mut slot, &key, &client).await);
            }
        }));
        receiver.await.unwrap_or_else(|_| Err(Trouble::NotSent("the gateway is ending".to_owned())))
    }

    async fn fill(
        self: &Arc<Self>,
        slot: &mut Option<Arc<Conversation>>,
        key: &Key,
        client: &Client,
    ) -> Result<Arc<Conversation>, Trouble> {
        if let Some(conversation) = slot.take() {
            if !conversation.core.is_ended() {
                conversation.touch();
                return Ok(Arc::clone(slot.insert(conversation)));
            }
            self.note_end(&conversation);
        }
        let conversation = self.begin(key, client).await?;
        *slot = Some(Arc::clone(&conversation));
        if let (Whose::Own(..), Some(session)) = (&key.whose, &client.session) {
            self.end_with(session, key.clone());
        }
        let modern = key.modern(self.is_per_user());
        if conversation.profile.revision.era() == Era::Modern && *key != modern {
            let modern = Arc::clone(self.state().conversations.entry(modern).or_default());
            // If the lock is held, another request begins that conversation.
            if let Ok(mut modern) = modern.try_lock() {
                modern.get_or_insert_with(|| Arc::clone(&conversation));
            }
        }
        Ok(conversation)
    }

    /// Takes note of a connection that ended by itself. Where one after the other ends soon, the next one has to wait.
    fn note_end(&self, conversation: &Conversation) {
        self.state().lost += 1;
        let Some((lasted, cause)) = conversation.core.own_end() else { return };
        let mut state = self.state();
        if lasted > SHORT_LIFE {
            state.short_lives = 0;
            return;
        }
        state.short_lives += 1;
        if state.short_lives > 1 {
            let wait = (BACKOFF.0 * 2_u32.pow((state.short_lives - 2).min(10))).min(BACKOFF.1);
            state.failure = Some((Trouble::NotSent(cause), Instant::now(), wait));
        }
    }

    /// Ends the conversation of a client's session with the session.
    fn end_with(self: &Arc<Self>, session: &Arc<Session>, key: Key) {
        let (upstream, ending) = (Arc::downgrade(self), session.ending());
        tokio::spawn(async move {
            ending.wait().await;
            let Some(upstream) = upstream.upgrade() else { return };
            // Counted before it is out of sight: the gateway must not exit between the two.
            upstream.closing.send_modify(|count| *count += 1);
            let slot = upstream.state().conversations.remove(&key);
            if let Some(slot) = slot
                && let Some(conversation) = slot.lock().await.take()
                && conversation.profile.revision.era() == Era::Legacy
            {
                // On the heap: there is one such task for each session, and most only wait.
                Box::pin(close(&conversation.core, upstream.limits.shutdown)).await;
            }
            upstream.closing.send_modify(|count| *count -= 1);
        });
    }

    /// A conversation that nobody else uses meanwhile.
    async fn lane(self: &Arc<Self>, key: Key, client: &Client) -> Result<Lease, Trouble> {
        let permit = timeout(self.limits.request, Arc::clone(&self.lanes).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Trouble::NotSent("all of its sessions are in use".to_owned()));
        };
        let free = {
            let mut state = self.state();
            let free = state.free.entry(key.clone()).or_default();
            let all = free.len();
            free.retain(|conversation| !conversation.core.is_ended());
            let (ended, free) = (all - free.len(), free.pop());
            state.lost += ended;
            free
        };
        let conversation = match free {
            Some(conversation) => conversation,
            None => Box::pin(self.begin(&key, client)).await?,
        };
        conversation.touch();
        Ok(Lease { conversation: Some(conversation), lane: Some((Arc::clone(self), key, permit)) })
    }

    async fn begin(self: &Arc<Self>, key: &Key, client: &Client) -> Result<Arc<Conversation>, Trouble> {
        if let Some((trouble, _, _)) = self.state().failure.clone().filter(|(_, at, wait)| at.elapsed() < *wait) {
            return Err(trouble);
        }
        let mut ending = self.ending.subscribe();
        let begun = tokio::select! {
            biased;
            _ = ending.wait_for(|ending| *ending) => Err(Trouble::NotSent("the gateway is ending".to_owned())),
            begun = self.open(key, client) => begun,
        };
        let mut state = self.state();
        let back = begun.is_ok() && std::mem::take(&mut state.missed);
        let again = begun.is_ok() && std::mem::take(&mut state.lost) > 0;
        match &begun {
            Ok(conversation) => {
                state.revision = Some(conversation.profile.revision);
                state.profile = Some(Arc::clone(&conversation.profile));
                state.failure = None;
            }
            // What one user may not have says nothing of the server.
            Err(Trouble::Refused(_)) => {}
            Err(trouble) => {
                let wait = state.failure.as_ref().map_or(BACKOFF.0, |(_, _, wait)| (*wait * 2).min(BACKOFF.1));
                tracing::warn!(upstream = self.name, "not reached: {trouble:?}");
                state.failure = Some((trouble.clone(), Instant::now(), wait));
            }
        }
        drop(state);
        for (_, outside) in [(back, Outside::Back), (again, Outside::Again)].into_iter().filter(|(is_so, _)| *is_so) {
            (self.listener)(self.index, None, outside);
        }
        begun
    }

    /// Whether it was too slow for an answer of several servers a moment ago.
    pub(crate) fn is_slow(&self) -> bool {
        self.state().slow_until.is_some_and(|until| Instant::now() < until)
    }

    /// Takes note of whether it was too slow.
    pub(crate) fn note_slow(&self, slow: bool) {
        self.state().slow_until = slow.then(|| Instant::now() + SLOW);
    }

    /// Takes note of an answer with its part: what was missing is there again.
    pub(crate) fn note_part(&self) {
        if std::mem::take(&mut self.state().missed) {
            (self.listener)(self.index, None, Outside::Back);
        }
    }

    /// Whether it is made from these settings.
    pub(crate) fn is(&self, settings: &UpstreamSettings) -> bool {
        self.settings == *settings
    }

    /// Whether it answers; it is started or connected where that was not needed before.
    pub(crate) async fn probe(self: &Arc<Self>) -> bool {
        if self.is_per_user() {
            return self.answers_strangers().await;
        }
        let nobody = Client {
            revision: Revision::NEWEST,
            introduction: Introduction::Nothing,
            subject: None,
            grant: None,
            session: None,
            link: Link::nowhere(),
            shape: ClientShape::default(),
        };
        self.lease(&nobody, false).await.is_ok()
    }

    /// What it does at this moment.
    pub(crate) fn status(&self) -> Value {
        let state = self.state();
        let slots = state.conversations.values().filter_map(|slot| slot.try_lock().ok()?.clone());
        let open: Vec<_> = slots.chain(state.free.values().flatten().cloned()).collect();
        let alive = open.iter().filter(|conversation| !conversation.core.is_ended());
        let (connections, requests) =
            alive.fold((0, 0), |(n, requests), one| (n + 1, requests + one.core.open_requests()));
        let failure = state.failure.as_ref().map(|(trouble, since, wait)| {
            let error = trouble.error(&self.name);
            let again = wait.saturating_sub(since.elapsed());
            json!({ "what": error.message, "since_s": since.elapsed().as_secs(), "next_try_s": again.as_secs() })
        });
        let condition = match (&failure, connections) {
            (Some(_), _) => "failing",
            (None, 0) => "idle",
            _ => "connected",
        };
        let mut status = json!({
            "name": self.name, "state": condition, "revision": state.revision.map(Revision::as_str),
            "server": state.profile.as_ref().map(|profile| profile.server.clone()),
            "connections": connections, "lanes": self.limits.sessions - self.lanes.available_permits(),
            "open_requests": requests, "failure": failure,
        });
        if let Some(credentials) = &self.credentials {
            status["credentials"] = credentials.status();
        }
        if let Some(asserter) = &self.asserter {
            status["assertion"] = asserter.status();
        }
        status
    }

    /// Takes note of an answer without its part.
    pub(crate) fn note_missed(&self) {
        self.state().missed = true;
    }

    /// Looks for one whose part is missing from an answer that a client has, unless it failed a moment ago.
    pub(crate) fn look_again(self: &Arc<Self>) {
        let mut state = self.state();
        let may_be_tried = state.failure.as_ref().is_none_or(|(_, at, wait)| at.elapsed() >= *wait);
        if self.is_per_user() || !state.missed || !may_be_tried || std::mem::replace(&mut state.looked_for, true) {
            return;
        }
        drop(state);
        let upstream = Arc::clone(self);
        tokio::spawn(async move {
            upstream.probe().await;
            upstream.state().looked_for = false;
        });
    }

    /// The session of a client for which it has one of its own.
    pub(crate) fn own_session<'c>(&self, client: &'c Client) -> Option<&'c Arc<Session>> {
        let era = self.era().unwrap_or(Era::Legacy);
        client.session.as_ref().filter(|_| matches!(self.whose(client, era, true), Whose::Own(..)))
    }

    /// The name and version that it gave last.
    pub(crate) fn server(&self) -> Value {
        self.state().profile.as_ref().map_or(Value::Null, |profile| profile.server.clone())
    }

    /// Whether, when it was last connected to, calls of its tools could become tasks of 2025-11-25.
    pub(crate) fn makes_older_tasks(&self) -> bool {
        self.state().profile.as_ref().is_some_and(|profile| profile.makes_older_tasks())
    }

    /// What was found out about its era.
    pub(crate) fn era(&self) -> Option<Era> {
        self.state().revision.map(Revision::era)
    }

    /// Ends what is no longer used.
    pub(crate) async fn sweep(&self) {
        let (slots, mut idle) = {
            let mut state = self.state();
            let mut idle = Vec::new();
            for free in state.free.values_mut() {
                idle.extend(free.extract_if(.., |conversation| conversation.is_idle(self.limits.idle)));
            }
            state.free.retain(|_, free| !free.is_empty());
            (state.conversations.iter().map(|(k, s)| (k.clone(), Arc::clone(s))).collect::<Vec<_>>(), idle)
        };
        for (key, slot) in slots {
            // A client's own conversation ends with its session.
            if matches!(key.whose, Whose::Own(..)) {
                continue;
            }
            if let Ok(mut slot) = slot.try_lock()
                && slot.as_ref().is_some_and(|conversation| conversation.is_idle(self.limits.idle))
            {
                idle.extend(slot.take());
            }
        }
        // A slot that is empty and in nobody's hands is of no use.
        self.state()
            .conversations
            .retain(|_, slot| Arc::strong_count(slot) > 1 || slot.try_lock().map_or(true, |slot| slot.is_some()));
        for conversation in idle {
            close(&conversation.core, self.limits.shutdown).await;
        }
        if let Some(credentials) = &self.credentials {
            credentials.sweep(self.limits.idle);
        }
        if self.is_per_user() {
            // Users come and go; their empty places must not stay.
            let is_used =
                |slot: &Arc<Slot>| Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|slot| slot.is_some());
            self.state().conversations.retain(|_, slot| is_used(slot));
        }
    }

    /// Ends every conversation; none is begun any more.
    pub(crate) async fn shutdown(&self) {
        self.ending.send_replace(true);
        let (slots, free) = {
            let mut state = self.state();
            (std::mem::take(&mut state.conversations), std::mem::take(&mut state.free))
        };
        let mut all: Vec<_> = free.into_values().flatten().collect();
        for slot in slots.into_values() {
            // What is being begun notices the end at once.
            all.extend(slot.lock().await.take());
        }
        let closing = all.iter().map(|conversation| close(&conversation.core, self.limits.shutdown));
        futures_util::future::join_all(closing).await;
        let mut closing = self.closing.subscribe();
        let _ = timeout(self.limits.shutdown, closing.wait_for(|count| *count == 0)).await;
    }
}

/// The capabilities that the gateway declares to a legacy server for a client: none that only the gateway could keep.
fn legacy_capabilities(capabilities: &Value) -> Value {
    let mut capabilities = capabilities.clone();
    if let Some(members) = capabilities.as_object_mut() {
        members.remove("extensions");
        members.remove("tasks");
        // Such a notification of the client ends at the gateway.
        if let Some(roots) = members.get_mut("roots").and_then(Value::as_object_mut) {
            roots.remove("listChanged");
        }
    }
    capabilities
}

async fn close(core: &Arc<Core>, grace: Duration) {
    core.end();
    match &core.carrier {
        Carrier::Child(child) => child.close(grace).await,
        Carrier::Sse(sse) => sse.close(),
        Carrier::WebSocket(socket) => socket.close(grace).await,
        Carrier::Http(http) => {
            let _ = timeout(grace, http.delete(core.revision.get().copied())).await;
        }
    }
}
