//! Results that are used again while they are fresh: by what their server says of them, and by rules. One entry is for one
//! principal, unless the server or a rule says that it is for all. Must not know how a request runs.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::server::link::Session;
use net::service::Answer;
use tokio::sync::watch;
use wire::message::{Packet, parse};
use wire::splice::{member, members};
use wire::{Kind, RequestId, Revision};

use super::request::RequestDigest;
use super::{Hints, Watch};
use crate::catalogue::List;
use crate::settings::{CacheRule, CacheSettings};
use crate::view::{is_ambiguous, matches};

mod writes;

use self::writes::Unsettled;
pub(crate) use self::writes::{OpenWrite, Writing};

/// How many bytes an entry costs besides its text.
const OVERHEAD: usize = 512;
/// The largest part of the cache that one result may take.
const LARGEST_PART: usize = 8;
/// The longest name or URI of what is kept, in bytes.
pub(crate) const LONGEST_NAME: usize = 2 << 10;

/// Who gets an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// All clients that may ask for it.
    Public,
    /// The clients of one principal, and of one session where the server has one of its own for it.
    Private(Option<HeaderValue>, Option<SessionOf>),
}

/// A client's session. While it is held, no other one is at its place.
#[derive(Clone, Debug)]
pub(crate) struct SessionOf(pub(crate) Weak<Session>);

impl PartialEq for SessionOf {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SessionOf {}

impl Hash for SessionOf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}

/// What an entry answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryKey {
    pub(crate) scope: Scope,
    /// The server that clients see.
    pub(crate) server: String,
    pub(crate) upstream: usize,
    /// The revision of the client.
    pub(crate) revision: Revision,
    pub(crate) request: RequestDigest,
}

impl EntryKey {
    fn public(&self) -> Self {
        Self { scope: Scope::Public, ..self.clone() }
    }

    fn bytes(&self) -> usize {
        let principal = match &self.scope {
            Scope::Private(Some(principal), _) => principal.len(),
            Scope::Private(None, _) | Scope::Public => 0,
        };
        principal + self.server.len()
    }
}

/// What a request is about, as far as it decides how long its result is kept and when that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A tool that only reads.
    Tool,
    Resource(String),
    List(List),
}

/// How the result of a request may be kept.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) key: EntryKey,
    pub(crate) subject: Subject,
    /// The number of the rule that fits.
    pub(crate) rule: Option<usize>,
    /// The settings that say so.
    generation: u64,
    ttl: Option<Duration>,
    shared: bool,
    /// It is for nobody else, whatever the server says.
    for_one: bool,
}

/// The first rule that fits a request.
pub(crate) fn rule_for(settings: &CacheSettings, subject: &Subject, name: &str) -> Option<usize> {
    let any = |patterns: &[String], name: &str| patterns.iter().any(|pattern| matches(pattern, name));
    let fits = |rule: &CacheRule| match subject {
        Subject::Tool => any(&rule.tools, name),
        // `file:///public/../private` is not below `file:///public/`.
        Subject::Resource(uri) => !is_ambiguous(uri) && any(&rule.resources, uri),
        Subject::List(list) => rule.lists.iter().any(|method| method == list.method()),
    };
    settings.rules.iter().position(fits)
}

/// The rules whose results a call of this tool ends, by its name for clients and at its server.
pub(crate) fn ended_by(settings: &CacheSettings, shown: &str, name: &str) -> Vec<usize> {
    let ends =
        |rule: &CacheRule| rule.invalidated_by.iter().any(|pattern| matches(pattern, shown) || matches(pattern, name));
    settings.rules.iter().enumerate().filter(|(_, rule)| ends(rule)).map(|(index, _)| index).collect()
}

impl Plan {
    /// How the result of a request may be kept; `None` where it may not.
    pub(crate) fn new(
        key: EntryKey,
        subject: Subject,
        rule: Option<usize>,
        (settings, generation): (&CacheSettings, u64),
    ) -> Option<Self> {
        let by_upstream = settings.upstream_ttl && subject != Subject::Tool;
        if rule.is_none() && !by_upstream {
            return None;
        }
        let chosen = rule.and_then(|index| settings.rules.get(index));
        let shared = chosen.is_some_and(|rule| rule.shared);
        Some(Self { key, subject, rule, generation, ttl: chosen.map(|rule| rule.ttl), shared, for_one: false })
    }

    /// The same for one principal alone, whatever the server or a rule says.
    pub(crate) fn for_one(self) -> Self {
        Self { shared: false, for_one: true, ..self }
    }

    /// For how long a result with these hints is kept, and whether for everybody.
    fn lifetime(&self, hints: Option<Hints>, settings: &CacheSettings) -> Option<(Duration, bool)> {
        let is_public = !self.for_one && (self.shared || hints.is_some_and(|hints| hints.is_public));
        let said = || Some(hints?.ttl.min(settings.max_ttl));
        let ttl = self.ttl.or_else(said).filter(|ttl| !ttl.is_zero())?;
        Some((ttl, is_public))
    }

    /// The key under which equal requests wait for one another: before the answer, nothing but a rule says that it is for all.
    fn flight(&self) -> EntryKey {
        if self.shared { self.key.public() } else { self.key.clone() }
    }
}

struct Entry {
    text: Arc<str>,
    /// Where the id of the request stands, and the number of `ttlMs`.
    id_at: Range<usize>,
    ttl_at: Option<Range<usize>>,
    /// Until when the server calls it fresh.
    fresh_until: Option<Instant>,
    until: Instant,
    subject: Subject,
    rule: Option<usize>,
    tick: u64,
    bytes: usize,
}

impl Entry {
    /// The result for another request, with the time that is left of `ttlMs`.
    fn answer(&self, id: &RequestId, now: Instant) -> Answer {
        let left = self.fresh_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let id = id.to_json();
        let mut edits = vec![(self.id_at.clone(), id)];
        edits.extend(self.ttl_at.clone().map(|at| (at, left.as_millis().to_string())));
        edits.sort_by_key(|(at, _)| at.start);
        let (mut text, mut from) = (String::with_capacity(self.text.len() + 32), 0);
        for (at, with) in edits {
            text.push_str(&self.text[from..at.start]);
            text.push_str(&with);
            from = at.end;
        }
        text.push_str(&self.text[from..]);
        Answer::raw(text.into_bytes(), None)
    }
}

/// What ends entries before their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cause {
    Upstream(usize),
    Rule(usize),
    /// All rules.
    Rules,
    Everything,
}

#[derive(Default)]
struct State {
    entries: HashMap<Arc<EntryKey>, Entry>,
    /// The entries by when they were used last.
    order: BTreeMap<u64, Arc<EntryKey>>,
    tick: u64,
    bytes: usize,
    /// What others change may go unheard.
    is_suspended: bool,
    /// How often the settings changed.
    generation: u64,
    /// Goes on with all that ends entries.
    clock: u64,
    /// When each cause ended entries, by that clock: what was asked for before is not kept after.
    ended: HashMap<Cause, u64>,
    /// What servers may still be changing.
    unsettled: HashMap<Cause, Unsettled>,
    flights: HashMap<EntryKey, watch::Receiver<()>>,
}

/// What the cache says of a request.
pub(crate) enum Found {
    Hit(Answer),
    /// An equal request is under way: wait, and look once more.
    Wait(watch::Receiver<()>),
    /// It goes to its server; equal ones wait until the value is dropped.
    Lead(Lead),
    /// It goes to its server, and its result is not kept.
    Alone,
}

/// A request that others wait for.
pub(crate) struct Lead {
    cache: Arc<AnswerCache>,
    key: EntryKey,
    _over: watch::Sender<()>,
}

impl std::fmt::Debug for Lead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lead").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.cache.state().flights.remove(&self.key);
    }
}

/// The results that are kept.
#[derive(Default)]
pub(crate) struct AnswerCache {
    state: Mutex<State>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl AnswerCache {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of an equal request, for the request `id`.
    pub(crate) fn find(self: &Arc<Self>, plan: &Plan, id: &RequestId, now: Instant) -> Found {
        let mut state = self.state();
        if let Some(answer) = state.hit(plan, id, now) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Found::Hit(answer);
        }
        if plan.generation != state.generation || state.is_suspended || state.is_unsettled(plan.rule, now) {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return Found::Alone;
        }
        let key = plan.flight();
        if let Some(flight) = state.flights.get(&key) {
            return Found::Wait(flight.clone());
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let (over, waiting) = watch::channel(());
        state.flights.insert(key.clone(), waiting);
        Found::Lead(Lead { cache: Arc::clone(self), key, _over: over })
    }

    /// The same for who has waited: it does not wait again.
    pub(crate) fn hit(&self, plan: &Plan, id: &RequestId, now: Instant) -> Option<Answer> {
        let answer = self.state().hit(plan, id, now);
        let counter = if answer.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        answer
    }

    /// What keeps apart what ended entries before and after it: to be asked for before it is found out how a request may be
    /// kept, and before it goes to its server.
    pub(crate) fn mark(&self, now: Instant) -> u64 {
        let mut state = self.state();
        state.give_up_writes(now);
        state.clock
    }

    /// The settings that hold.
    pub(crate) fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Keeps a result, if it may be kept and nothing ended such ones since `mark`.
    pub(crate) fn keep(
        &self,
        plan: &Plan,
        (answer, watch): (&Answer, &Watch),
        mark: u64,
        settings: &CacheSettings,
        now: Instant,
    ) {
        let hints = watch.hints();
        let Some((ttl, is_public)) = plan.lifetime(hints, settings) else { return };
        let Some((id_at, ttl_at)) = places(answer).filter(|_| !watch.has_asked()) else { return };
        let Ok(text) = std::str::from_utf8(answer.text()) else { return };
        let key = if is_public { plan.key.public() } else { plan.key.clone() };
        let name = if let Subject::Resource(uri) = &plan.subject { uri.len() } else { 0 };
        let bytes = OVERHEAD + key.bytes() + name + text.len();
        if bytes > settings.bytes / LARGEST_PART {
            return;
        }
        let entry = Entry {
            text: text.into(),
            id_at,
            ttl_at,
            fresh_until: hints.and_then(|hints| now.checked_add(hints.ttl)),
            until: now + ttl,
            subject: plan.subject.clone(),
            rule: plan.rule,
            tick: 0,
            bytes,
        };
        // Nothing may end it between the look and the insertion.
        let mut state = self.state();
        if state.may_keep(plan, mark, now) {
            state.insert(key, entry, settings.bytes);
        }
    }

    /// Ends what an upstream says has changed.
    pub(crate) fn end_changed(&self, upstream: usize, method: &str, uri: Option<&str>) {
        let is_outdated = |subject: &Subject| match (method, subject) {
            ("notifications/tools/list_changed", Subject::List(list)) => *list == List::Tools,
            ("notifications/prompts/list_changed", Subject::List(list)) => *list == List::Prompts,
            ("notifications/resources/list_changed", Subject::List(list)) => {
                matches!(list, List::Resources | List::Templates)
            }
            // What is below a resource belongs to it.
            ("notifications/resources/updated", Subject::Resource(kept)) => {
                uri.is_none_or(|uri| uri.starts_with(kept.as_str()))
            }
            _ => false,
        };
        self.state()
            .end(Cause::Upstream(upstream), |key, entry| key.upstream == upstream && is_outdated(&entry.subject));
    }

    /// Ends all that came from an upstream.
    pub(crate) fn end_upstream(&self, upstream: usize) {
        self.state().end_cause(Cause::Upstream(upstream));
    }

    /// Ends everything: other settings hold.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.generation += 1;
        state.end(Cause::Rules, |_, _| true);
        state.unsettle_all();
    }

    /// Ends everything, as changes may have gone unheard; while they may, nothing is kept.
    pub(crate) fn suspend(&self, is_suspended: bool) {
        let mut state = self.state();
        state.is_suspended = is_suspended;
        state.end_cause(Cause::Everything);
    }

    /// Removes results that are not fresh any more.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut state = self.state();
        state.give_up_writes(now);
        state.end_where(|_, entry| entry.until <= now);
    }

    /// How many results are kept, how many bytes; how many requests were answered so, and how many were not.
    pub(crate) fn counts(&self) -> (usize, usize, u64, u64) {
        let state = self.state();
        let (hits, misses) = (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed));
        (state.entries.len(), state.bytes, hits, misses)
    }
}

impl State {
    fn hit(&mut self, plan: &Plan, id: &RequestId, now: Instant) -> Option<Answer> {
        if plan.generation != self.generation || self.is_suspended || self.is_unsettled(plan.rule, now) {
            return None;
        }
        for key in [&plan.key, &plan.key.public()] {
            let tick = self.tick + 1;
            let Some(entry) = self.entries.get_mut(key).filter(|entry| entry.until > now) else { continue };
            if let Some(key) = self.order.remove(&entry.tick) {
                self.order.insert(tick, key);
            }
            (entry.tick, self.tick) = (tick, tick);
            return Some(entry.answer(id, now));
        }
        None
    }

    fn may_keep(&mut self, plan: &Plan, mark: u64, now: Instant) -> bool {
        let of_rule = [plan.rule.map(Cause::Rule), plan.rule.map(|_| Cause::Rules)];
        let causes = [Some(Cause::Upstream(plan.key.upstream)), Some(Cause::Everything), of_rule[0], of_rule[1]];
        plan.generation == self.generation
            && !self.is_suspended
            && !self.is_unsettled(plan.rule, now)
            && causes.iter().flatten().all(|cause| self.ended.get(cause).is_none_or(|ended| *ended <= mark))
    }

    fn insert(&mut self, key: EntryKey, mut entry: Entry, most: usize) {
        let key = Arc::new(key);
        self.remove(&key);
        self.tick += 1;
        entry.tick = self.tick;
        self.bytes += entry.bytes;
        self.order.insert(self.tick, Arc::clone(&key));
        self.entries.insert(key, entry);
        // What was used longest ago goes first.
        while self.bytes > most {
            let Some((_, oldest)) = self.order.pop_first() else { return };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &EntryKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
            self.order.remove(&entry.tick);
        }
    }

    fn end(&mut self, cause: Cause, which: impl Fn(&EntryKey, &Entry) -> bool) {
        self.clock += 1;
        self.ended.insert(cause, self.clock);
        self.end_where(which);
    }

    fn end_cause(&mut self, cause: Cause) {
        self.end(cause, |key, entry| match cause {
            Cause::Upstream(upstream) => key.upstream == upstream,
            Cause::Rule(rule) => entry.rule == Some(rule),
            Cause::Rules => entry.rule.is_some(),
            Cause::Everything => true,
        });
    }

    fn end_where(&mut self, which: impl Fn(&EntryKey, &Entry) -> bool) {
        let gone: Vec<_> =
            self.entries.iter().filter(|(key, entry)| which(key, entry)).map(|(key, _)| Arc::clone(key)).collect();
        for key in gone {
            self.remove(&key);
        }
    }
}

/// Where id and `ttlMs` stand in a result that may be kept; `None` for anything else: an error, the failure of a tool, a
/// question, a task.
fn places(answer: &Answer) -> Option<(Range<usize>, Option<Range<usize>>)> {
    if answer.code().is_some() {
        return None;
    }
    let Ok(Packet::Message(message)) = parse(answer.text()) else { return None };
    let is_complete = message.string_member("resultType").is_none_or(|kind| kind == "complete");
    let failed = message.body_member("isError").is_some_and(|failed| failed != "false");
    let is_task = message.body_member("task").is_some();
    if message.kind() != Kind::Result || !is_complete || failed || is_task {
        return None;
    }
    let text = message.text();
    let all = members(text)?;
    let id = member(text, &all, "id")?.value.clone();
    let result = member(text, &all, "result")?;
    let ttl = member(text, &result.members, "ttlMs").map(|ttl| ttl.value.clone());
    Some((id, ttl))
}

#[cfg(test)]
mod tests;
