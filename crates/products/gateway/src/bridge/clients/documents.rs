//! Documents of clients that are known or on their way: each is fetched once for all who ask, and no group of hosts takes all the
//! room. Must not know what documents say, nor how they are fetched.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use url::{Host, Url};

use super::{ClientFacts, KNOWN, MOST_KNOWN, PATIENCE, UNKNOWN};

/// How many documents come at once, and how many of one group of hosts.
const FETCHES: usize = 16;
const FETCHES_OF_ONE: usize = 4;
/// The most documents of one group of hosts that are kept.
const MOST_KNOWN_OF_ONE: usize = 100;
/// For how long an old document helps out while there is no room for a request.
const OLD: Duration = Duration::from_hours(1);

struct Entry {
    group: String,
    facts: Option<ClientFacts>,
    until: Instant,
}

struct Loading {
    group: String,
    cell: Arc<OnceCell<Option<ClientFacts>>>,
}

#[derive(Default)]
struct All {
    known: HashMap<String, Entry>,
    loading: HashMap<String, Loading>,
}

pub(super) struct Documents {
    all: Mutex<All>,
    fetches: Semaphore,
}

impl Default for Documents {
    fn default() -> Self {
        Self { all: Mutex::default(), fetches: Semaphore::new(FETCHES) }
    }
}

impl Documents {
    /// What the document at this address says, by `fetch` where that is not known. A gateway that is busy with other clients gives
    /// what it knew before, or does not know this client.
    pub(super) async fn find(
        &self,
        url: &Url,
        fetch: impl Future<Output = Option<ClientFacts>>,
    ) -> Option<ClientFacts> {
        let (id, group, now) = (url.as_str(), group(url), Instant::now());
        let (cell, old) = {
            let mut all = self.lock();
            let entry = all.known.get(id);
            if let Some(entry) = entry.filter(|entry| entry.until > now) {
                return entry.facts.clone();
            }
            let old = entry.filter(|entry| entry.until + OLD > now).and_then(|entry| entry.facts.clone());
            let of_one = all.loading.values().filter(|one| one.group == group).count();
            if !all.loading.contains_key(id) && of_one >= FETCHES_OF_ONE {
                return old;
            }
            let loading = || Loading { group: group.clone(), cell: Arc::default() };
            (Arc::clone(&all.loading.entry(id.to_owned()).or_insert_with(loading).cell), old)
        };
        let leaving = Leaving { documents: self, id, cell: &cell };
        let patience = if old.is_some() { Duration::ZERO } else { PATIENCE };
        let fetched = cell.get_or_init(|| async {
            let Ok(Ok(_permit)) = timeout(patience, self.fetches.acquire()).await else { return old };
            let facts = fetch.await;
            let lasts = if facts.is_some() { KNOWN } else { UNKNOWN };
            self.keep(id, Entry { group, facts: facts.clone(), until: Instant::now() + lasts });
            facts
        });
        let facts = fetched.await.clone();
        drop(leaving);
        facts
    }

    fn keep(&self, id: &str, entry: Entry) {
        let known = &mut self.lock().known;
        let is_full = |known: &HashMap<String, Entry>| {
            let of_one = known.values().filter(|one| one.group == entry.group).count();
            (known.len() >= MOST_KNOWN, of_one >= MOST_KNOWN_OF_ONE)
        };
        if is_full(known) != (false, false) {
            known.retain(|_, one| one.until > Instant::now() && one.facts.is_some());
        }
        let (all, own) = is_full(known);
        if all || own {
            // Its own group makes room first; a good document of others goes last.
            let others = known.iter().filter(|(_, one)| !own || one.group == entry.group);
            let oldest = others.min_by_key(|(_, one)| one.until).map(|(id, _)| id.clone());
            oldest.and_then(|id| known.remove(&id));
        }
        known.insert(id.to_owned(), entry);
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().known.len()
    }
}

/// Somebody who waits for a document: the last one, however that ends, makes room.
struct Leaving<'d> {
    documents: &'d Documents,
    id: &'d str,
    cell: &'d Arc<OnceCell<Option<ClientFacts>>>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut all = self.documents.lock();
        let is_ours = all.loading.get(self.id).is_some_and(|one| Arc::ptr_eq(&one.cell, self.cell));
        // The map has one more, and each who waits has one.
        if is_ours && (self.cell.initialized() || Arc::strong_count(self.cell) <= 2) {
            all.loading.remove(self.id);
        }
    }
}

/// Hosts that likely belong to the same owner: by the last two labels of a name, or one address.
fn group(url: &Url) -> String {
    match url.host() {
        Some(Host::Domain(name)) => {
            let labels: Vec<_> = name.trim_end_matches('.').rsplit('.').take(2).collect();
            labels.join(".")
        }
        Some(host) => host.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn facts() -> ClientFacts {
        ClientFacts { name: "x".to_owned(), redirects: Vec::new(), refreshes: false, since: 0 }
    }

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    async fn never() -> Option<ClientFacts> {
        std::future::pending().await
    }

    #[tokio::test]
    async fn a_document_is_fetched_once_for_all_who_ask() {
        let (documents, asked, at) = (Documents::default(), AtomicUsize::new(0), url("https://app.example/c"));
        let ask = || async {
            let fetch = async {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Some(facts())
            };
            documents.find(&at, fetch).await
        };
        let all = tokio::join!(ask(), ask(), ask());
        assert!(all.0.is_some() && all.1.is_some() && all.2.is_some() && ask().await.is_some());
        assert_eq!((asked.load(Ordering::Relaxed), documents.lock().loading.len()), (1, 0));
        assert!(
            timeout(Duration::from_millis(10), documents.find(&url("https://a.example/c"), never())).await.is_err()
        );
        assert!(documents.lock().loading.is_empty(), "who gave up takes no room");
    }

    #[tokio::test]
    async fn slow_hosts_of_one_owner_leave_room_and_an_old_document_helps_out() {
        let documents = Documents::default();
        let slow: Vec<_> = (0..20).map(|number| url(&format!("https://h{number}.evil.example/c"))).collect();
        let mut waiting: Vec<_> = slow.iter().map(|url| Box::pin(documents.find(url, never()))).collect();
        for one in &mut waiting {
            let _ = timeout(Duration::from_millis(1), one).await;
        }
        assert_eq!(documents.lock().loading.len(), FETCHES_OF_ONE);
        let good = url("https://app.other/c");
        assert!(documents.find(&good, async { Some(facts()) }).await.is_some(), "another owner's comes");
        let _held = documents.fetches.acquire_many(12).await.expect("the rest");
        documents.lock().known.get_mut(good.as_str()).expect("known").until = Instant::now();
        assert!(documents.find(&good, never()).await.is_some(), "the old one, while there is no room");
    }

    #[test]
    fn documents_of_one_owner_push_out_none_of_others() {
        let documents = Documents::default();
        let keep = |group: &str, id: usize, is_good: bool| {
            let (group, facts) = (group.to_owned(), is_good.then(facts));
            let until = Instant::now() + Duration::from_mins(1);
            documents.keep(&format!("{group} {id}"), Entry { group, facts, until });
        };
        keep("good", 0, true);
        for number in 0..MOST_KNOWN * 3 {
            keep("evil", number, true);
            keep(&number.to_string(), 0, false);
        }
        assert!(documents.len() <= MOST_KNOWN && documents.lock().known.contains_key("good 0"));
    }

    #[test]
    fn hosts_of_one_domain_are_one_group() {
        assert_eq!(group(&url("https://a.b.evil.example/c")), group(&url("https://evil.example./d")));
        assert_ne!(group(&url("https://evil.example/c")), group(&url("https://good.test/c")));
        assert_eq!(group(&url("http://127.0.0.1:9/c")), group(&url("http://127.0.0.1:8/c")));
    }
}
