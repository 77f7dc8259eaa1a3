//! The gateway as a whole: upstreams that several servers share, and the servers that clients see. Both come and go with the
//! configuration, while requests under way keep what they began with. Knows no message.

mod access;
mod bridging;
mod consenting;
mod entrance;
mod error;
mod forwarding;
mod locking;
mod measures;
mod replicas;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use net::Children;
use net::service::{Call, Reply, Service};
use tokio::time::{Instant, sleep, timeout};
use wire::Message;

pub use self::entrance::Entrance;
use self::entrance::gone;
pub use self::error::SettingsError;
use self::locking::Enforced;
pub use self::locking::check_lock;
pub(crate) use self::replicas::ToldWrite;
use self::replicas::{Announced, Writes};
use crate::access::Access;
use crate::answers::{Answers, Kept};
use crate::audit::AuditLog;
use crate::bridge::Bridge;
use crate::budget::{BudgetState, Budgets};
use crate::consents::Consents;
use crate::context::Injected;
use crate::gateway::{Inner, lock};
use crate::guards::{GuardState, Guards};
use crate::ids::Ids;
use crate::interceptors::Interceptors;
use crate::kept_tasks::KeptTasks;
use crate::live::{Live, Side, Watcher};
use crate::long_calls::{CallTimes, LongCalls};
use crate::losses::Losses;
use crate::older_tasks::OlderTasks;
use crate::parked::ParkedRequests;
use crate::replicas::Replicas;
use crate::session::Following;
use crate::settings::{AnswerSettings, DEFAULT_SERVER, Ready, ServerSettings, Settings, TrafficSettings};
use crate::shaping::Shaping;
use crate::slo::SloState;
use crate::stats::Stats;
use crate::telemetry::Telemetry;
use crate::traffic::Traffic;
use crate::upstream::{Client, Outside, Upstream};
use crate::view::View;

/// The lists of an upstream, as one context sees them.
type FollowedLists = (usize, Option<Arc<Injected>>);

/// A gateway: many servers behind one or several addresses.
#[derive(Clone)]
pub struct Gateway(Arc<Hub>);

/// One address of a gateway.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The path of its Streamable HTTP endpoint.
    pub path: String,
    /// What stands before the paths of other transports.
    pub prefix: String,
    /// What answers there; it stays the same while its settings change.
    pub service: Arc<Entrance>,
}

/// Another configuration, taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Upstreams that stay as they are.
    pub kept: usize,
    /// Upstreams that are new or that changed.
    pub begun: usize,
    /// Upstreams that end when their last request has.
    pub ended: usize,
}

/// What all servers share.
pub(crate) struct Hub {
    children: Children,
    state: RwLock<State>,
    next: AtomicUsize,
    pub(crate) parked: Arc<ParkedRequests>,
    pub(crate) kept_tasks: Arc<KeptTasks>,
    pub(crate) older_tasks: Arc<OlderTasks>,
    pub(crate) guarded: Arc<GuardState>,
    pub(crate) losses: Arc<Losses>,
    pub(crate) stats: Arc<Stats>,
    /// Answers that are used again, and by which settings.
    kept: Arc<Kept>,
    answers: RwLock<Arc<AnswerSettings>>,
    announced: Announced,
    writes: Writes,
    budgets: Arc<BudgetState>,
    slo: Arc<SloState>,
    /// Calls that are tasks, and how long calls take.
    long_calls: (Arc<LongCalls>, Arc<CallTimes>),
    /// How much clients may ask for.
    traffic: RwLock<Option<Arc<Traffic>>>,
    /// Who looks at calls on their way.
    interceptors: RwLock<Option<Arc<Interceptors>>>,
    /// What servers may say.
    enforced: RwLock<Enforced>,
    /// Where requests are recorded.
    pub(crate) audit: Option<Arc<AuditLog>>,
    /// Makes spans of requests.
    pub(crate) telemetry: Option<Arc<Telemetry>>,
    /// Consents of users.
    pub(crate) consents: Option<Arc<Consents>>,
    /// The other gateways that clients see as one with this one.
    replicas: Option<Arc<Replicas>>,
    /// The authorization server for clients.
    bridge: Option<Arc<Bridge>>,
    /// What crosses, for those who watch.
    live: Arc<Live>,
    /// Follow modern upstreams' changes.
    pub(crate) followers: Mutex<HashMap<FollowedLists, Following>>,
}

#[derive(Default)]
struct State {
    settings: Settings,
    upstreams: Vec<Arc<Upstream>>,
    entrances: Vec<Arc<Entrance>>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("upstreams", &self.0.upstreams().len()).finish_non_exhaustive()
    }
}

impl Gateway {
    /// A gateway to the upstreams of `settings`. Nothing is started or connected before a client asks.
    pub fn new(settings: &Settings, children: &Children) -> Result<Self, SettingsError> {
        let audit = settings.audit.as_ref().map(|audit| AuditLog::open(audit, settings)).transpose();
        let audit = audit.map_err(SettingsError::Audit)?.map(Arc::new);
        let kept = Kept::open(settings.store.as_ref()).map_err(SettingsError::Store)?;
        let telemetry = settings.telemetry.as_ref().map(Telemetry::start).transpose()?.map(Arc::new);
        let consents = settings.consents.as_ref();
        let consents = consents.map(|consents| Consents::open(consents, settings.auth.as_ref(), kept.shared.as_ref()));
        let consents = consents.transpose().map_err(SettingsError::Consents)?;
        let replicas = forwarding::replicas_of(settings, &kept)?;
        let ids = Ids::new(replicas.as_ref().map(|replicas| replicas.tags()));
        let bridge = bridging::open(settings, &kept)?;
        let hub = Arc::new(Hub {
            children: children.clone(),
            state: RwLock::default(),
            next: AtomicUsize::new(0),
            parked: Arc::new(ParkedRequests::new(ids.clone())),
            kept_tasks: Arc::new(KeptTasks::new(ids.clone())),
            older_tasks: Arc::new(OlderTasks::new(ids.clone())),
            guarded: Arc::new(GuardState::new(ids.clone())),
            losses: Arc::default(),
            stats: Arc::default(),
            kept: Arc::new(kept),
            answers: RwLock::default(),
            announced: Announced::default(),
            writes: Writes::default(),
            budgets: Arc::default(),
            slo: Arc::default(),
            long_calls: (Arc::new(LongCalls::new(ids)), Arc::default()),
            traffic: RwLock::default(),
            interceptors: RwLock::default(),
            enforced: RwLock::default(),
            audit,
            telemetry,
            consents,
            replicas,
            bridge,
            live: Arc::new(Live::new(settings)),
            followers: Mutex::default(),
        });
        hub.take_over(settings)?;
        hub.follow_replicas();
        hub.follow_consents();
        Ok(Self(hub))
    }

    /// Takes another configuration over. Upstreams and servers that did not change stay with their sessions; requests under
    /// way end where they began. An error changes nothing.
    pub fn reload(&self, settings: &Settings) -> Result<Reloaded, SettingsError> {
        self.0.take_over(settings)
    }

    /// The addresses that clients reach it at.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        let served = servers_of(&state.settings);
        let entrance = |name: &str| state.entrances.iter().find(|entrance| entrance.name == name).cloned();
        served
            .iter()
            .filter_map(|server| {
                let service = entrance(&server.name)?;
                Some(Endpoint { path: server.path(), prefix: server.prefix(), service })
            })
            .collect()
    }

    /// The service for clients without an address, over stdio: the default server, or else the first.
    pub fn entrance(&self) -> Option<Arc<Entrance>> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        let default = state.entrances.iter().find(|entrance| entrance.name == DEFAULT_SERVER);
        default.or(state.entrances.first()).cloned()
    }

    /// Whether the upstreams that count answer. Those that were not used yet are tried, for at most `patience`.
    pub async fn is_ready(&self, patience: Duration) -> Result<(), String> {
        let (upstreams, ready) = {
            let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
            (state.upstreams.clone(), state.settings.ready.clone())
        };
        let counts = |upstream: &Arc<Upstream>| match &ready {
            Ready::Any | Ready::All => true,
            Ready::Named(names) => names.contains(&upstream.name),
        };
        let tried = join_all(upstreams.iter().filter(|upstream| counts(upstream)).map(|upstream| async move {
            let answered = matches!(timeout(patience, upstream.probe()).await, Ok(true));
            (upstream.name.clone(), answered)
        }))
        .await;
        let missing: Vec<_> = tried.iter().filter(|(_, answered)| !answered).map(|(name, _)| name.as_str()).collect();
        let enough = if ready == Ready::Any { missing.len() < tried.len() } else { missing.is_empty() };
        if enough { Ok(()) } else { Err(missing.join(", ")) }
    }

    /// What it does at this moment, for `status`.
    pub fn status(&self) -> serde_json::Value {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        let upstreams: Vec<_> = state.upstreams.iter().map(|upstream| upstream.status()).collect();
        let servers: Vec<_> = servers_of(&state.settings)
            .iter()
            .map(|server| {
                let clients =
                    state.entrances.iter().find(|e| e.name == server.name).map_or((0, 0), |e| e.changes.counts());
                serde_json::json!({
                    "name": server.name, "path": server.path(), "upstreams": server.upstreams,
                    "sessions": clients.0, "subscriptions": clients.1,
                })
            })
            .collect();
        let mut status = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "uptime_s": self.0.stats.uptime().as_secs(),
            "servers": servers,
            "upstreams": upstreams,
            "waiting_for_answers": self.0.parked.len(),
        });
        if state.settings.budgets.is_some() {
            status["budgets"] = self.0.budgets.status();
        }
        if let Some(traffic) = self.0.traffic() {
            status["traffic"] = traffic.status();
        }
        if let Some(lock) = self.lock_status() {
            status["lock"] = lock;
        }
        status
    }

    /// What was lost between revisions.
    pub fn losses(&self) -> &Losses {
        &self.0.losses
    }

    /// Whether users' tokens are exchanged for some server.
    pub(crate) fn exchanges_tokens(&self) -> bool {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        state.upstreams.iter().any(|upstream| upstream.exchanges_tokens())
    }

    /// What was counted of budgets of time, if there are any.
    pub(crate) fn budgets(&self) -> Option<&BudgetState> {
        let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
        state.settings.budgets.is_some().then_some(&*self.0.budgets)
    }

    /// Where requests are recorded, if they are.
    pub(crate) fn audit(&self) -> Option<&AuditLog> {
        self.0.audit.as_deref()
    }

    /// What makes spans, if something does.
    pub(crate) fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry.as_deref()
    }

    /// Counters of answers that are used again.
    pub(crate) fn answer_metrics(&self) -> String {
        let Answers { settings, kept, .. } = self.0.answers();
        kept.metrics(&settings)
    }

    /// Watches the messages on both sides of the gateway from now on; `None` where enough others do.
    pub fn watch_live(&self) -> Option<Watcher> {
        self.0.live.watch()
    }

    /// What was counted.
    pub fn stats(&self) -> Arc<Stats> {
        Arc::clone(&self.0.stats)
    }

    /// Ends unused sessions and children, until the gateway is dropped. To be run beside the server.
    pub async fn maintain(&self) {
        let mut tick = tokio::time::interval(Duration::from_secs(5));
        loop {
            tick.tick().await;
            let (upstreams, answer) = {
                let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
                if let Some(budgets) = &state.settings.budgets {
                    self.0.budgets.sweep(budgets);
                }
                (state.upstreams.clone(), state.settings.limits.answer)
            };
            self.0.parked.sweep(answer, &self.0.losses).await;
            self.0.kept_tasks.sweep();
            self.0.older_tasks.sweep();
            self.0.long_calls.0.sweep();
            self.0.guarded.sweep();
            self.0.kept.sweep();
            self.0.look_at_manifests();
            self.0.consents.iter().for_each(|consents| consents.sweep());
            self.0.bridge.iter().for_each(|bridge| bridge.sweep());
            self.0.traffic().iter().for_each(|it| it.sweep(|index| upstreams.iter().any(|one| one.index == index)));
            for upstream in upstreams {
                upstream.look_again();
                upstream.sweep().await;
            }
        }
    }

    /// Ends every connection to an upstream.
    pub async fn shutdown(&self) {
        lock(&self.0.followers).clear();
        join_all(self.0.upstreams().iter().map(|upstream| upstream.shutdown())).await;
        if let Some(telemetry) = &self.0.telemetry {
            telemetry.flush().await;
        }
        self.0.kept.calls.finish().await;
        let (audit, kept, consents) = (self.0.audit.clone(), Arc::clone(&self.0.kept), self.0.consents.clone());
        let bridge = self.0.bridge.clone();
        // What is written last may take a while on a slow disk.
        let closed = tokio::task::spawn_blocking(move || {
            kept.calls.close();
            if let Some(bridge) = bridge {
                bridge.close();
            }
            if let Some(consents) = consents {
                consents.close();
            }
            if let Some(audit) = audit {
                audit.close();
            }
        });
        let _ = closed.await;
    }
}

/// The servers that clients see: one with everything where the settings name none.
fn servers_of(settings: &Settings) -> Vec<ServerSettings> {
    if settings.servers.is_empty() {
        let all = settings.upstreams.iter().map(|upstream| upstream.name.clone()).collect();
        vec![ServerSettings::everything(DEFAULT_SERVER, all)]
    } else {
        settings.servers.clone()
    }
}

impl Hub {
    fn upstreams(&self) -> Vec<Arc<Upstream>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).upstreams.clone()
    }

    /// The servers that show an upstream.
    fn servers_with(&self, index: usize) -> Vec<Arc<Inner>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let inners = state.entrances.iter().filter_map(|entrance| entrance.inner());
        inners.filter(|inner| inner.upstream(index).is_some()).collect()
    }

    fn upstream(&self, index: usize) -> Option<Arc<Upstream>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.upstreams.iter().find(|upstream| upstream.index == index).cloned()
    }

    /// Answers that are used again, for a server that begins.
    pub(crate) fn answers(&self) -> Answers {
        let settings = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        // Both change under one lock.
        let generation = self.kept.cache.generation();
        Answers { generation, settings: settings.clone(), kept: Arc::clone(&self.kept) }
    }

    /// How much clients may ask for, if there are limits.
    pub(crate) fn traffic(&self) -> Option<Arc<Traffic>> {
        self.traffic.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Who looks at calls on their way, if somebody does.
    pub(crate) fn interceptors(&self) -> Option<Arc<Interceptors>> {
        self.interceptors.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn interceptors_of(&self, settings: &Settings) -> Result<Option<Arc<Interceptors>>, SettingsError> {
        let is_used = !settings.interceptors.is_empty();
        let new = || Interceptors::new(settings, self.interceptors().as_deref(), &self.children).map(Arc::new);
        Ok(is_used.then(new).transpose()?)
    }

    /// From now on, other limits of traffic hold.
    fn limit_by(&self, settings: Option<&TrafficSettings>) {
        let mut held = self.traffic.write().unwrap_or_else(PoisonError::into_inner);
        *held = settings.map(|settings| Arc::new(Traffic::new(settings, held.as_deref(), self.kept.shared.as_ref())));
    }

    /// From now on, other settings of kept answers hold.
    fn keep_by(&self, settings: &AnswerSettings) {
        let mut held = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        if **held != *settings {
            *held = Arc::new(settings.clone());
            self.kept.cache.clear();
        }
    }

    /// Passes on what a modern or legacy upstream announces.
    pub(crate) fn changed(&self, index: usize, message: &Message) {
        let uri = message.string_member("uri");
        self.kept.cache.end_changed(index, message.method().unwrap_or_default(), uri.as_deref());
        if self.upstreams().iter().any(|one| one.index == index && self.withholds(&one.name)) {
            self.servers_with(index).iter().for_each(|server| server.changed_quietly(message));
            return;
        }
        self.tell_change(index, message);
        for server in self.servers_with(index) {
            server.changed(message);
        }
    }

    /// Says that every list may have changed, for servers that show this upstream.
    pub(crate) fn announce_all(&self, index: usize) {
        self.kept.cache.end_upstream(index);
        for server in self.servers_with(index) {
            server.make_stale(|_| true);
            server.announce_all();
        }
    }

    /// Changes of this upstream may have gone unheard: its lists are asked for again, and what it said before counts no more.
    pub(crate) fn missed_changes(&self, index: usize) {
        self.kept.cache.end_upstream(index);
        for server in self.servers_with(index) {
            server.make_stale(|_| true);
        }
    }

    fn take_over(self: &Arc<Self>, settings: &Settings) -> Result<Reloaded, SettingsError> {
        let access = self.access_of(settings)?;
        let guards = Guards::new(settings)?.map(Arc::new);
        let (before, old_limits) = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            (state.upstreams.clone(), state.settings.limits.clone())
        };
        let same = |upstream: &&Arc<Upstream>, wanted| upstream.is(wanted) && old_limits == settings.limits;
        let mut upstreams = Vec::new();
        let mut reloaded = Reloaded::default();
        for wanted in &settings.upstreams {
            if let Some(kept) = before.iter().find(|upstream| same(upstream, wanted)) {
                upstreams.push(Arc::clone(kept));
                reloaded.kept += 1;
            } else {
                let index = self.next.fetch_add(1, Ordering::Relaxed);
                let listener = listener(Arc::downgrade(self));
                let shared = (&self.children, self.consents.as_ref(), Side::upstream(&self.live, &wanted.name));
                upstreams.push(Upstream::new(index, wanted.clone(), &settings.limits, shared, listener)?);
                reloaded.begun += 1;
            }
        }
        let (interceptors, enforced) = (self.interceptors_of(settings)?, self.enforced_by(settings)?);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *self.interceptors.write().unwrap_or_else(PoisonError::into_inner) = interceptors;
        self.enforce(enforced, settings);
        self.keep_by(&settings.answers);
        if state.settings.traffic != settings.traffic {
            self.limit_by(settings.traffic.as_ref());
        }
        let entrances: Vec<_> = servers_of(settings)
            .into_iter()
            .map(|server| self.entrance(server, &state, (settings, access.clone(), guards.clone()), &upstreams))
            .collect();
        let gone: Vec<_> =
            before.into_iter().filter(|old| !upstreams.iter().any(|new| Arc::ptr_eq(old, new))).collect();
        reloaded.ended = gone.len();
        for entrance in &state.entrances {
            if !entrances.iter().any(|other| Arc::ptr_eq(entrance, other)) {
                entrance.set(None);
            }
        }
        *state = State { settings: settings.clone(), upstreams, entrances };
        drop(state);
        if let Some(audit) = &self.audit {
            audit.know(settings);
        }
        self.live.know(settings);
        self.drain(gone, settings.limits.request);
        Ok(reloaded)
    }

    /// The entrance of a server, with what it shows from now on.
    fn entrance(
        self: &Arc<Self>,
        server: ServerSettings,
        before: &State,
        (settings, access, guards): (&Settings, Option<Arc<Access>>, Option<Arc<Guards>>),
        upstreams: &[Arc<Upstream>],
    ) -> Arc<Entrance> {
        let known = before.entrances.iter().find(|entrance| entrance.name == server.name);
        let entrance = known.cloned().unwrap_or_else(|| Arc::new(Entrance::new(&server.name, &self.live)));
        let chosen = server.upstreams.iter().filter_map(|name| upstreams.iter().find(|one| one.name == *name)).cloned();
        let chosen: Vec<_> = chosen.collect();
        let (old, locks) = (entrance.inner(), self.locks());
        let stays = old.as_ref().is_some_and(|old| old.is(&server, &chosen, &settings.answers, locks.as_ref()));
        if stays && before.settings.make_the_same(settings) {
            return entrance;
        }
        let budgets = settings.budgets.as_ref().map(|budgets| Budgets::new(budgets, &self.budgets, &server.name));
        let (slo, tasks) = self.measures(settings);
        let (view, changes) = (View::new(server), Arc::clone(&entrance.changes));
        let shaping = Shaping::new(settings, guards);
        let inner =
            Inner::new(self, settings.limits.clone(), chosen, (view, access, shaping), (budgets, slo, tasks), changes);
        entrance.set(Some(Arc::new(inner)));
        // What clients know of the lists may be out of date.
        if let Some(old) = old {
            old.announce_all();
        }
        entrance
    }

    /// Ends upstreams when the last request that uses them has ended.
    fn drain(self: &Arc<Self>, gone: Vec<Arc<Upstream>>, patience: Duration) {
        if gone.is_empty() {
            return;
        }
        for upstream in &gone {
            lock(&self.followers).retain(|(index, _), _| *index != upstream.index);
            self.kept.cache.end_upstream(upstream.index);
        }
        tokio::spawn(async move {
            let until = Instant::now() + patience;
            for upstream in gone {
                while Arc::strong_count(&upstream) > 1 && Instant::now() < until {
                    sleep(Duration::from_millis(50)).await;
                }
                tracing::info!(upstream = upstream.name, "no longer in the configuration: ended");
                upstream.shutdown().await;
            }
        });
    }

    /// Takes what an upstream sent outside requests.
    fn outside(self: &Arc<Self>, index: usize, client: Option<Client>, outside: Outside) {
        if let Some(upstream) = self.upstream(index) {
            crate::gateway::outside(self, &upstream, client, outside);
        }
    }
}

fn listener(hub: Weak<Hub>) -> crate::upstream::Listener {
    Arc::new(move |index: usize, client: Option<Client>, outside: Outside| {
        if let Some(hub) = hub.upgrade() {
            hub.outside(index, client, outside);
        }
    })
}

impl Service for Gateway {
    fn call(&self, call: Call) -> Reply {
        match self.entrance() {
            Some(entrance) => entrance.call(call),
            None => gone(call.id()).into(),
        }
    }
}
