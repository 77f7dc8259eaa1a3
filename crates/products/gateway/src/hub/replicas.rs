//! What gateways with one store tell each other, so that none answers from its cache what a call at another one has changed.
//! While they cannot hear each other, nothing is answered from the cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use wire::Message;
use wire::message::{Packet, parse};

use super::{Hub, lock};
use crate::answers::Answers;
use crate::answers::cache::{LONGEST_NAME, OpenWrite, Writing, ended_by};
use crate::shared::{Published, SharedStore};

/// For how long the same announcement of an upstream is one: every gateway hears it, and tells it to the others.
const SAME: Duration = Duration::from_secs(2);
/// How many announcements are known one by one.
const MOST: usize = 1024;

/// What one gateway tells the others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum News {
    /// An upstream announced a change.
    Changed { upstream: String, method: String, uri: Option<String> },
    /// A call of a tool is about to be sent.
    Writes { shown: String, name: String, write: String },
    /// It has ended, or may still run.
    Wrote {
        shown: String,
        name: String,
        may_run: bool,
        #[serde(default)]
        write: String,
    },
    /// A consent was given to an upstream or, without one, has ended.
    Consent { name: String, upstream: Option<String> },
    /// Something could not be told.
    Missed,
}

#[derive(Debug, Deserialize, Serialize)]
struct Letter {
    /// Whose it is: it comes back to its sender, too.
    from: String,
    news: News,
}

/// The announcements that this gateway heard itself.
#[derive(Default)]
pub(super) struct Announced(Mutex<HashMap<(String, String), Instant>>);

impl Announced {
    fn note(&self, method: &str, uri: Option<&str>) {
        let mut all = lock(&self.0);
        if all.len() >= MOST {
            all.retain(|_, at| at.elapsed() < SAME);
        }
        if all.len() < MOST {
            all.insert((method.to_owned(), uri.unwrap_or_default().to_owned()), Instant::now());
        }
    }

    fn knows(&self, method: &str, uri: Option<&str>) -> bool {
        let key = (method.to_owned(), uri.unwrap_or_default().to_owned());
        lock(&self.0).get(&key).is_some_and(|at| at.elapsed() < SAME)
    }
}

/// A gateway, and what it calls one of its calls.
type Foreign = (String, String);

/// Calls at other gateways that have not ended, and since when.
#[derive(Default)]
pub(super) struct Writes(Mutex<HashMap<Foreign, (Instant, Arc<OpenWrite>)>>);

impl Writes {
    /// One that is not known here counts until its time is over.
    fn begun(&self, foreign: Foreign, open: &Arc<OpenWrite>, patience: Duration) {
        let mut all = lock(&self.0);
        if all.len() >= MOST {
            all.retain(|_, (since, _)| since.elapsed() < patience);
        }
        if all.len() < MOST {
            all.insert(foreign, (Instant::now(), Arc::clone(open)));
        }
    }

    fn ended(&self, foreign: &Foreign) {
        let known = lock(&self.0).remove(foreign);
        if let Some((_, open)) = known {
            open.answered();
        }
    }
}

impl Hub {
    /// Hears what other gateways publish.
    pub(super) fn follow_replicas(self: &Arc<Self>) {
        let Some(shared) = &self.kept.shared else { return };
        let mut published = shared.published();
        self.kept.cache.suspend(!shared.is_heard());
        let hub = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let heard = published.recv().await;
                let Some(hub) = Weak::upgrade(&hub) else { return };
                match heard {
                    Ok(Published::Message(text)) => hub.heard(&text),
                    Ok(Published::Gap | Published::Begun) | Err(RecvError::Lagged(_)) => hub.missed(),
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }

    /// Messages of other gateways may be missing.
    fn missed(&self) {
        let is_heard = self.kept.shared.as_ref().is_none_or(|shared| shared.is_heard());
        self.kept.cache.suspend(!is_heard);
        if self.kept.shared.is_some() {
            self.consent_ended(None);
        }
        for upstream in self.upstreams() {
            for server in self.servers_with(upstream.index) {
                server.make_stale(|_| true);
            }
        }
    }

    fn heard(&self, text: &str) {
        let own = self.kept.shared.as_ref().map(|shared| shared.id()).unwrap_or_default();
        let Ok(Letter { from, news }) = serde_json::from_str(text) else {
            return tracing::warn!("another gateway publishes what this version cannot read");
        };
        if from == own {
            return;
        }
        match news {
            News::Changed { upstream, method, uri } => self.changed_elsewhere(&upstream, &method, uri.as_deref()),
            News::Writes { shown, name, write } => {
                if let Some((writing, patience)) = self.write_elsewhere(&shown, &name) {
                    writing.write().sent();
                    self.writes.begun((from, write), writing.write(), patience);
                }
            }
            News::Wrote { shown, name, may_run, write } => {
                if let Some((writing, _)) = self.write_elsewhere(&shown, &name).filter(|_| may_run) {
                    writing.write().sent();
                }
                self.writes.ended(&(from, write));
            }
            News::Consent { name, upstream: Some(upstream) } => self.consent_given(&name, &upstream),
            News::Consent { name, upstream: None } => self.consent_ended(Some(&name)),
            News::Missed => self.missed(),
        }
    }

    /// A call at another gateway, and for how long it may run. Dropped, it ends what the rules keep.
    fn write_elsewhere(&self, shown: &str, name: &str) -> Option<(Writing, Duration)> {
        let patience = {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            state.settings.limits.request_total
        };
        let Answers { settings, generation, .. } = self.answers();
        let cache = settings.cache.as_ref()?;
        Some((self.kept.cache.begin_write(ended_by(cache, shown, name), generation, patience), patience))
    }

    fn changed_elsewhere(&self, upstream: &str, method: &str, uri: Option<&str>) {
        let Some(upstream) = self.upstreams().into_iter().find(|one| one.name == upstream) else { return };
        self.kept.cache.end_changed(upstream.index, method, uri);
        let params = uri.map_or_else(|| json!({}), |uri| json!({ "uri": uri }));
        let text = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        let Ok(Packet::Message(message)) = parse(text.as_bytes()) else { return };
        for server in self.servers_with(upstream.index) {
            if self.announced.knows(method, uri) { server.changed_quietly(&message) } else { server.changed(&message) }
        }
    }

    /// Tells the other gateways of a consent, if they share consents.
    pub(super) async fn tell_consent(&self, name: String, upstream: Option<String>) {
        if let Some(shared) = &self.kept.shared {
            tell(Arc::clone(shared), News::Consent { name, upstream }).await;
        }
    }

    /// Tells the other gateways what an upstream announced.
    pub(super) fn tell_change(&self, index: usize, message: &Message) {
        let (Some(shared), Some(upstream)) = (&self.kept.shared, self.upstream(index)) else { return };
        let Some(method) = message.method().filter(|method| is_change(method)).map(str::to_owned) else { return };
        let uri = message.string_member("uri").filter(|uri| uri.len() <= LONGEST_NAME).map(|uri| uri.into_owned());
        self.announced.note(&method, uri.as_deref());
        let news = News::Changed { upstream: upstream.name.clone(), method, uri };
        tokio::spawn(tell(Arc::clone(shared), news));
    }
}

fn is_change(method: &str) -> bool {
    method.ends_with("/list_changed") || method == "notifications/resources/updated"
}

async fn tell(shared: Arc<SharedStore>, news: News) {
    let text = |news: News| serde_json::to_string(&Letter { from: shared.id().to_owned(), news });
    if let (Ok(news), Ok(missed)) = (text(news), text(News::Missed))
        && shared.publish(&news).await.is_err()
    {
        tracing::debug!("announcements to other gateways are delayed: the store is away");
        shared.publish_later(missed);
    }
}

/// A call of a tool that ends what caches keep. Dropped before its end, it may still run.
pub(crate) struct ToldWrite {
    shared: Option<Arc<SharedStore>>,
    shown: String,
    name: String,
    /// What it is called among gateways.
    write: String,
}

impl ToldWrite {
    pub(crate) fn new(shared: Option<&Arc<SharedStore>>, shown: &str, name: &str) -> Self {
        let write = shared.map(|_| oauth::random()).unwrap_or_default();
        Self { shared: shared.cloned(), shown: shown.to_owned(), name: name.to_owned(), write }
    }

    /// The call is about to be sent. The other gateways learn it before: this one may end at any moment.
    pub(crate) async fn begins(&self) {
        if let Some(shared) = &self.shared {
            let (shown, name, write) = (self.shown.clone(), self.name.clone(), self.write.clone());
            tell(Arc::clone(shared), News::Writes { shown, name, write }).await;
        }
    }

    fn wrote(&mut self, may_run: bool) -> News {
        let [shown, name, write] = [&mut self.shown, &mut self.name, &mut self.write].map(std::mem::take);
        News::Wrote { shown, name, may_run, write }
    }

    /// The call has ended: the other gateways learn it before its client does.
    pub(crate) async fn ended(mut self) {
        if let Some(shared) = self.shared.take() {
            tell(shared, self.wrote(false)).await;
        }
    }

    /// The call did not run: its client does not wait until the others know.
    pub(crate) fn changed_nothing(mut self) {
        self.tell_later(false);
    }

    fn tell_later(&mut self, may_run: bool) {
        if let Some(shared) = self.shared.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(tell(shared, self.wrote(may_run)));
        }
    }
}

impl Drop for ToldWrite {
    fn drop(&mut self) {
        self.tell_later(true);
    }
}
