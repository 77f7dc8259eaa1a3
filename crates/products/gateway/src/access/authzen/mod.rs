//! A policy decision point that must allow what the access rules allow (OpenID Authorization API 1.0). Asks it, within its
//! limits, and keeps what it says for a short time. Without an answer there is no decision, and nothing is allowed.

mod endpoints;
mod error;
mod kept;
mod object;
mod question;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::future::try_join_all;
use net::OpenError;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use self::endpoints::Endpoints;
pub(crate) use self::error::DecisionError;
use self::kept::KeptDecisions;
pub(crate) use self::question::Question;
use crate::metrics::Page;
use crate::settings::AuthzenSettings;

/// How many batches of one question are under way at once: others have questions, too.
const AT_ONCE: usize = 8;

/// A policy decision point.
#[derive(Debug)]
pub(crate) struct DecisionPoint {
    pub(crate) settings: AuthzenSettings,
    endpoints: Endpoints,
    places: Semaphore,
    kept: Option<Mutex<KeptDecisions>>,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    requests: AtomicU64,
    /// Decisions: denied and allowed, each from the decision point and from the cache.
    decisions: [[AtomicU64; 2]; 2],
    failures: [AtomicU64; DecisionError::ALL.len()],
}

impl DecisionPoint {
    /// Connects nothing.
    pub(crate) fn new(settings: &AuthzenSettings) -> Result<Self, OpenError> {
        Ok(Self {
            endpoints: Endpoints::new(settings)?,
            places: Semaphore::new(settings.at_once),
            kept: settings.cache.map(|time| Mutex::new(KeptDecisions::new(time, settings.cache_entries))),
            counters: Counters::default(),
            settings: settings.clone(),
        })
    }

    /// Whether each item of a question may be used, in their order. A failure is logged and counted here.
    pub(crate) async fn decide(&self, question: &Question) -> Result<Vec<bool>, DecisionError> {
        let (asked, keys) = (Instant::now(), question.keys());
        let mut decisions: Vec<Option<bool>> = {
            let kept = self.kept();
            let find = |key: &Option<_>| kept.as_ref()?.find(key.as_ref()?, asked);
            keys.iter().map(find).collect()
        };
        decisions.iter().flatten().for_each(|may| self.count(*may, true));
        // Of items that are alike, the first is asked about.
        let mut first = HashMap::new();
        let is_open = |index: &usize| decisions[*index].is_none() && keys[*index].is_some();
        let open: Vec<usize> = (0..keys.len())
            .filter(is_open)
            .filter(|index| *first.entry(keys[*index]).or_insert(*index) == *index)
            .collect();
        if !open.is_empty() {
            let answered = timeout(self.settings.timeout, self.asked(question, &open)).await;
            let answers = answered.unwrap_or(Err(DecisionError::Timeout)).inspect_err(|error| {
                self.counters.failures[error.index()].fetch_add(1, Ordering::Relaxed);
                tracing::warn!(at = %self.settings.address.url, "no decision about access: {error}");
            })?;
            let now = Instant::now();
            let mut kept = self.kept();
            for (index, may) in open.into_iter().zip(answers) {
                decisions[index] = Some(may);
                self.count(may, false);
                if let (Some(kept), Some(key)) = (&mut kept, keys[index]) {
                    kept.keep(key, may, asked, now);
                }
            }
        }
        // What is left without a decision is denied.
        let alike = |index: usize| decisions[index].or_else(|| decisions[*first.get(&keys[index])?]);
        Ok((0..keys.len()).map(|index| alike(index).unwrap_or_default()).collect())
    }

    /// Asks about the items with these numbers, a batch at a time.
    async fn asked(&self, question: &Question, open: &[usize]) -> Result<Vec<bool>, DecisionError> {
        let resources: Vec<&Value> = open.iter().filter_map(|index| question.resources[*index].as_ref()).collect();
        let batches: Vec<_> = resources.chunks(self.settings.batch).collect();
        let mut decisions = Vec::new();
        for group in batches.chunks(AT_ONCE) {
            let asked = group.iter().map(|batch| self.asked_at_once(question, batch));
            decisions.extend(try_join_all(asked).await?.concat());
        }
        Ok(decisions)
    }

    async fn asked_at_once(&self, question: &Question, batch: &[&Value]) -> Result<Vec<bool>, DecisionError> {
        let _place = self.places.acquire().await.map_err(|_| DecisionError::Timeout)?;
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
        match batch {
            [one] => self.endpoints.one(&question.about_one(one)).await.map(|may| vec![may]),
            several => self.endpoints.several(&question.about(several), several.len()).await,
        }
    }

    fn kept(&self) -> Option<MutexGuard<'_, KeptDecisions>> {
        self.kept.as_ref().map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, may: bool, is_kept: bool) {
        self.counters.decisions[usize::from(may)][usize::from(is_kept)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counters for a page.
    pub(crate) fn metrics(&self) -> String {
        let mut page = Page::default();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let name = "proof_gateway_authzen_requests_total";
        page.family(name, "counter", "Requests to the policy decision point.");
        page.sample(name, &[], read(&self.counters.requests));
        let name = "proof_gateway_authzen_decisions_total";
        page.family(name, "counter", "Decisions about items, from the policy decision point or from the cache.");
        for (decision, sources) in ["deny", "allow"].iter().zip(&self.counters.decisions) {
            for (source, count) in ["decision_point", "cache"].iter().zip(sources) {
                page.sample(name, &[("decision", decision), ("source", source)], read(count));
            }
        }
        let name = "proof_gateway_authzen_failures_total";
        page.family(name, "counter", "Questions without a decision, which denies, by reason.");
        for (reason, count) in DecisionError::ALL.iter().zip(&self.counters.failures) {
            page.sample(name, &[("reason", reason)], read(count));
        }
        let name = "proof_gateway_authzen_cached_decisions";
        page.family(name, "gauge", "Decisions in the cache.");
        page.sample(name, &[], self.kept().map_or(0, |kept| kept.len()));
        page.into_text()
    }
}
