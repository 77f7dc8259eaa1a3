//! What was withheld and refused since the lock was read, for the log, `status` and metrics. Bounded by what the lock has.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::metrics::Page;

/// How many names are shown of one list.
const SHOWN: usize = 100;

/// What is withheld of one list or of the instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Withheld {
    /// Names of the lock whose items changed.
    pub(crate) names: Vec<String>,
    /// How many others there are: their names are no one's but the server's.
    pub(crate) others: usize,
    /// Why all of it is withheld, where that has one reason.
    pub(crate) reason: Option<&'static str>,
}

impl Withheld {
    fn count(&self) -> usize {
        self.names.len() + self.others
    }

    fn is_nothing(&self) -> bool {
        self.count() == 0 && self.reason.is_none()
    }

    /// As it is shown.
    pub(crate) fn to_value(&self, upstream: &str, part: &str) -> Value {
        let names: Vec<_> = self.names.iter().take(SHOWN).collect();
        let mut value = json!({ "server": upstream, "part": part, "names": names,
            "others": self.count() - names.len() });
        if let Some(reason) = self.reason {
            value["reason"] = json!(reason);
        }
        value
    }
}

/// What was seen last, and what was refused.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// By the upstream and the part: a list, or `instructions`.
    seen: Mutex<BTreeMap<(String, &'static str), Withheld>>,
    refused: Mutex<BTreeMap<String, u64>>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// A lock was read, which judges these upstreams.
    pub(crate) fn begin<'u>(&self, upstreams: impl Iterator<Item = &'u str>) {
        held(&self.seen).clear();
        let mut refused = held(&self.refused);
        for upstream in upstreams {
            refused.entry(upstream.to_owned()).or_default();
        }
    }

    /// Takes note of what is withheld. The log says it where it is something else than before.
    pub(crate) fn note(&self, upstream: &str, part: &'static str, withheld: Withheld) {
        let mut seen = held(&self.seen);
        let key = (upstream.to_owned(), part);
        let before = seen.get(&key).cloned().unwrap_or_default();
        if before == withheld {
            return;
        }
        let (names, others) = (wire::escape::line(&withheld.names.join(", ")).into_owned(), withheld.others);
        if withheld.is_nothing() {
            tracing::info!(upstream, part, "nothing is withheld any more");
        } else {
            let reason = withheld.reason.unwrap_or("it differs from the lock");
            tracing::warn!(upstream, part, names, others, "withheld: {reason}");
        }
        seen.insert(key, withheld);
    }

    /// A request for something that is withheld was refused.
    pub(crate) fn refused(&self, upstream: &str) {
        *held(&self.refused).entry(upstream.to_owned()).or_default() += 1;
    }

    /// What is withheld now.
    pub(crate) fn status(&self) -> Vec<Value> {
        let seen = held(&self.seen);
        let shown = seen.iter().filter(|(_, withheld)| !withheld.is_nothing());
        shown.map(|((upstream, part), withheld)| withheld.to_value(upstream, part)).collect()
    }

    /// Adds the series to a page.
    pub(crate) fn write(&self, page: &mut Page) {
        let (seen, refused) = (held(&self.seen).clone(), held(&self.refused).clone());
        if seen.is_empty() && refused.is_empty() {
            return;
        }
        let name = "proof_gateway_lock_withheld";
        page.family(name, "gauge", "Items of the last list that are withheld, because they differ from the lock.");
        for ((upstream, part), withheld) in &seen {
            page.sample(name, &[("upstream", upstream), ("part", part)], withheld.count());
        }
        let name = "proof_gateway_lock_refused_total";
        page.family(name, "counter", "Requests for something that is withheld.");
        for (upstream, count) in &refused {
            page.sample(name, &[("upstream", upstream)], count);
        }
    }
}
