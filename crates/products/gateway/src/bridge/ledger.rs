//! The sessions that came of codes: each code begins one, once, and each refresh token of it counts once. What comes a second
//! time ends the session, and its access tokens with it. Kept in memory, in the folder of the store, or in a store that several
//! gateways share. Must not know what tokens say.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oauth::now;
use serde::{Deserialize, Serialize};

use crate::answers::store::{Store, Written};
use crate::settings::StoreSettings;
use crate::shared::SharedStore;

/// The file in the folder of the store.
const FILE: &str = "bridge.redb";
/// The most sessions, and the most of one user: then the user's oldest one ends.
const MOST: usize = 100_000;
const MOST_OF_ONE: usize = 64;
/// The most of one user that have ended and whose codes could come again: about so many logins in two minutes.
const MOST_ENDED_OF_ONE: usize = 256;
/// For how long a code is remembered after its end, and a session that has ended, in seconds: clocks of gateways differ.
const SLACK: u64 = 60;
/// The longest that a code counts, in seconds.
pub(super) const CODE: u64 = 60;
/// How long a word of the shared store counts, and for how long more while it is away.
const FRESH: Duration = Duration::from_secs(5);
const STALE: Duration = Duration::from_mins(1);
/// The most words of it that are kept.
const MOST_WORDS: usize = 10_000;

/// What came of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// It was used for the first time.
    New,
    /// It was used before: its session has ended.
    Again,
    /// There is no room, or no store.
    Unavailable,
}

/// What came of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advanced {
    /// It was the newest one of its session.
    Yes,
    /// It was not, or there is no such session: it has ended.
    Ended,
    /// The store is away.
    Unavailable,
}

/// One session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Session {
    /// Whose it is.
    user: String,
    /// When it ends, in seconds since 1970.
    until: u64,
    /// Until when its code must stay known, which may be longer.
    #[serde(default)]
    keep: u64,
    /// The number of the newest refresh token.
    generation: u64,
    ended: bool,
}

/// All sessions.
pub(super) enum Ledger {
    Own { sessions: Mutex<HashMap<String, Session>>, store: Option<Store>, since: u64 },
    Shared { store: Arc<SharedStore>, words: Mutex<HashMap<String, (bool, Instant)>> },
}

impl Ledger {
    /// Opens it where the settings of the store say.
    pub(super) fn open(settings: Option<&StoreSettings>, shared: Option<&Arc<SharedStore>>) -> io::Result<Self> {
        match (settings, shared) {
            (_, Some(store)) => Ok(Self::Shared { store: Arc::clone(store), words: Mutex::default() }),
            (Some(StoreSettings::Folder(folder)), None) => Self::in_folder(folder),
            _ => Ok(Self::Own { sessions: Mutex::default(), store: None, since: now() }),
        }
    }

    fn in_folder(folder: &Path) -> io::Result<Self> {
        let (store, pairs) = Store::open_file(folder, FILE)?;
        let mut sessions = HashMap::new();
        for (id, session) in pairs {
            let read = String::from_utf8(id.clone()).ok().zip(serde_json::from_slice::<Session>(&session).ok());
            match read.filter(|(_, session)| session.is_kept()) {
                Some((id, session)) => _ = sessions.insert(id, session),
                None => store.forget(id),
            }
        }
        Ok(Self::Own { sessions: Mutex::new(sessions), store: Some(store), since: 0 })
    }

    /// A code is used that was made at `made`: its session begins.
    pub(super) async fn begin(&self, id: &str, made: u64, (user, until): (&str, u64)) -> Begun {
        match self {
            // Without a store, nobody knows which of the codes from before the start were used.
            Self::Own { since, .. } if made < *since => Begun::Again,
            Self::Own { sessions, store, .. } => {
                let (begun, written) = begin(&mut lock(sessions), store.as_ref(), id, (user, until));
                if written.outlives_crash().await {
                    return begun;
                }
                // Nobody got a token, so the code may come again, unless it has done so meanwhile.
                let mut sessions = lock(sessions);
                if begun == Begun::New && sessions.get(id).is_some_and(|session| !session.ended) {
                    sessions.remove(id);
                }
                Begun::Unavailable
            }
            Self::Shared { store, words } => {
                lock(words).remove(id);
                // How long it lives, tokens say; here, its code must stay known.
                let keep = until.max(now() + CODE) + SLACK;
                match store.begin_session(id, Duration::from_secs(keep.saturating_sub(now()))).await {
                    Ok(true) => Begun::New,
                    Ok(false) => Begun::Again,
                    Err(_) => Begun::Unavailable,
                }
            }
        }
    }

    /// The refresh token with this number is used.
    pub(super) async fn advance(&self, id: &str, generation: u64) -> Advanced {
        match self {
            Self::Own { sessions, store, .. } => {
                let (advanced, written) = {
                    let mut sessions = lock(sessions);
                    let Some(session) = sessions.get_mut(id).filter(|session| session.is_alive()) else {
                        return Advanced::Ended;
                    };
                    let is_newest = session.generation == generation;
                    if is_newest {
                        session.generation += 1;
                    } else {
                        session.end();
                    }
                    (if is_newest { Advanced::Yes } else { Advanced::Ended }, write(store.as_ref(), id, session))
                };
                if written.outlives_crash().await {
                    return advanced;
                }
                // Nobody got the next token, so the one that came is the newest again, unless something happened since.
                let is_next = |session: &Session| session.generation == generation.saturating_add(1);
                if advanced == Advanced::Yes
                    && let Some(session) = lock(sessions).get_mut(id).filter(|session| is_next(session))
                {
                    session.generation = generation;
                }
                Advanced::Unavailable
            }
            Self::Shared { store, words } => {
                lock(words).remove(id);
                match store.advance_session(id, generation).await {
                    Ok(true) => Advanced::Yes,
                    Ok(false) => Advanced::Ended,
                    Err(_) => Advanced::Unavailable,
                }
            }
        }
    }

    /// Ends a session.
    pub(super) async fn end(&self, id: &str) {
        match self {
            Self::Own { sessions, store, .. } => {
                let written = lock(sessions).get_mut(id).map(|session| {
                    session.end();
                    write(store.as_ref(), id, session)
                });
                if !written.unwrap_or_default().outlives_crash().await {
                    tracing::error!("the end of a session is kept in memory alone: the store cannot be written");
                }
            }
            Self::Shared { store, words } => {
                lock(words).insert(id.to_owned(), (false, Instant::now()));
                if store.end_session(id).await.is_err() {
                    tracing::error!("a session could not be ended: the store is away");
                }
            }
        }
    }

    /// Whether a session goes on; `None` where that cannot be known at this moment.
    pub(super) async fn is_alive(&self, id: &str) -> Option<bool> {
        match self {
            Self::Own { sessions, .. } => Some(lock(sessions).get(id).is_some_and(Session::is_alive)),
            Self::Shared { store, words } => {
                let known = lock(words).get(id).copied();
                if let Some((word, _)) = known.filter(|(_, at)| at.elapsed() < FRESH) {
                    return Some(word);
                }
                match store.has_session(id).await {
                    Ok(word) => {
                        let mut words = lock(words);
                        if words.len() >= MOST_WORDS {
                            words.clear();
                        }
                        words.insert(id.to_owned(), (word, Instant::now()));
                        Some(word)
                    }
                    Err(_) => known.filter(|(_, at)| at.elapsed() < STALE).map(|(word, _)| word),
                }
            }
        }
    }

    /// Forgets sessions whose time is over.
    pub(super) fn sweep(&self) {
        match self {
            Self::Own { sessions, store, .. } => sweep(&mut lock(sessions), store.as_ref()),
            Self::Shared { words, .. } => lock(words).retain(|_, (_, at)| at.elapsed() < STALE),
        }
    }

    /// Writes what waits.
    pub(super) fn close(&self) {
        if let Self::Own { store: Some(store), .. } = self {
            store.close();
        }
    }

    /// How many sessions there are, where that is known.
    #[cfg(test)]
    fn len(&self) -> usize {
        if let Self::Own { sessions, .. } = self { lock(sessions).len() } else { 0 }
    }
}

impl Session {
    fn is_alive(&self) -> bool {
        !self.ended && self.until > now()
    }

    /// Ends it. It stays known for as long as its code could come again, and no longer: it takes room.
    fn end(&mut self) {
        self.ended = true;
        self.until = self.until.min(now());
        self.keep = now() + CODE + SLACK;
    }

    fn is_kept(&self) -> bool {
        self.until.max(self.keep) > now()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a session to the store; without one, there is nothing to wait for.
fn write(store: Option<&Store>, id: &str, session: &Session) -> Written {
    let bytes = serde_json::to_vec(session).unwrap_or_default();
    store.map(|store| store.set(id.as_bytes().to_vec(), Some(bytes))).unwrap_or_default()
}

fn begin(
    sessions: &mut HashMap<String, Session>,
    store: Option<&Store>,
    id: &str,
    (user, until): (&str, u64),
) -> (Begun, Written) {
    if let Some(session) = sessions.get_mut(id) {
        session.end();
        return (Begun::Again, write(store, id, session));
    }
    if sessions.len() >= MOST {
        sweep(sessions, store);
    }
    let all = sessions.iter().filter(|(_, session)| session.user == user && session.is_kept());
    let (ended, own): (Vec<_>, Vec<_>) = all.partition(|(_, session)| !session.is_alive());
    // One user who begins sessions all the time leaves room for the others.
    if ended.len() >= MOST_ENDED_OF_ONE {
        return (Begun::Unavailable, Written::default());
    }
    let own: Vec<_> = own.into_iter().map(|(id, session)| (session.until, id.clone())).collect();
    if own.len() >= MOST_OF_ONE
        && let Some((_, oldest)) = own.into_iter().min()
        && let Some(session) = sessions.get_mut(&oldest)
    {
        session.end();
        let _ = write(store, &oldest, session);
    }
    if sessions.len() >= MOST {
        return (Begun::Unavailable, Written::default());
    }
    let keep = until.max(now() + CODE) + SLACK;
    let session = Session { user: user.to_owned(), until, keep, generation: 0, ended: false };
    let written = write(store, id, &session);
    sessions.insert(id.to_owned(), session);
    (Begun::New, written)
}

fn sweep(sessions: &mut HashMap<String, Session>, store: Option<&Store>) {
    let ids: Vec<_> = sessions.iter().filter(|(_, session)| !session.is_kept()).map(|(id, _)| id.clone()).collect();
    for id in ids {
        sessions.remove(&id);
        if let Some(store) = store {
            store.forget(id.into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger::open(None, None).expect("in memory")
    }

    async fn begun(ledger: &Ledger, id: &str, user: &str) -> Begun {
        ledger.begin(id, now(), (user, now() + 60)).await
    }

    #[tokio::test]
    async fn a_code_counts_once_and_its_second_use_ends_the_session() {
        let ledger = ledger();
        assert_eq!(ledger.is_alive("a").await, Some(false), "it has not begun");
        assert_eq!(begun(&ledger, "a", "ann").await, Begun::New);
        assert_eq!(begun(&ledger, "b", "ann").await, Begun::New);
        assert_eq!((ledger.is_alive("a").await, ledger.advance("a", 0).await), (Some(true), Advanced::Yes));
        assert_eq!(begun(&ledger, "a", "ann").await, Begun::Again);
        assert_eq!((ledger.is_alive("a").await, ledger.advance("a", 1).await), (Some(false), Advanced::Ended));
        assert_eq!(begun(&ledger, "a", "ann").await, Begun::Again, "it does not come back");
        assert_eq!(ledger.is_alive("b").await, Some(true), "another session goes on");
    }

    #[tokio::test]
    async fn a_refresh_token_counts_once_and_its_second_use_ends_the_session() {
        for presented in [0, 2, u64::MAX] {
            let ledger = ledger();
            assert_eq!(begun(&ledger, "a", "ann").await, Begun::New);
            assert_eq!(ledger.advance("a", 0).await, Advanced::Yes);
            assert_eq!(ledger.advance("a", presented).await, Advanced::Ended, "{presented}");
            assert_eq!((ledger.advance("a", 1).await, ledger.is_alive("a").await), (Advanced::Ended, Some(false)));
        }
        assert_eq!(ledger().advance("nothing", 0).await, Advanced::Ended);
    }

    #[tokio::test]
    async fn without_a_store_codes_from_before_the_start_count_as_used() {
        assert_eq!(ledger().begin("a", now() - 1, ("ann", now() + 60)).await, Begun::Again);
    }

    #[tokio::test]
    async fn one_user_has_so_many_sessions_and_the_oldest_one_ends() {
        let ledger = ledger();
        for number in 0..=MOST_OF_ONE {
            let until = now() + 60 + number as u64;
            assert_eq!(ledger.begin(&number.to_string(), now(), ("ann", until)).await, Begun::New);
        }
        assert_eq!(begun(&ledger, "bob", "bob").await, Begun::New);
        assert_eq!((ledger.is_alive("0").await, ledger.is_alive("1").await), (Some(false), Some(true)));
    }

    #[tokio::test]
    async fn a_code_stays_used_after_a_short_session_and_an_ended_one_takes_room_for_a_while() {
        let ledger = ledger();
        assert_eq!(ledger.begin("short", now(), ("eve", now())).await, Begun::New);
        ledger.sweep();
        assert_eq!((ledger.len(), ledger.is_alive("short").await), (1, Some(false)));
        assert_eq!(ledger.begin("short", now(), ("eve", now() + 60)).await, Begun::Again);
        assert_eq!(ledger.begin("long", now(), ("eve", now() + 86_400)).await, Begun::New);
        ledger.end("long").await;
        let Ledger::Own { sessions, .. } = &ledger else { panic!("it is in memory") };
        assert!(lock(sessions).values().all(|session| session.until.max(session.keep) <= now() + CODE + SLACK));
        for session in lock(sessions).values_mut() {
            session.keep = now();
        }
        ledger.sweep();
        assert_eq!(ledger.len(), 0);
    }

    #[tokio::test]
    async fn one_user_leaves_room_for_the_others() {
        let ledger = ledger();
        let mut begun_by_ann = 0;
        for number in 0..1000 {
            begun_by_ann += usize::from(begun(&ledger, &number.to_string(), "ann").await == Begun::New);
        }
        assert_eq!((begun_by_ann, ledger.len()), (MOST_OF_ONE + MOST_ENDED_OF_ONE, begun_by_ann));
        assert_eq!(begun(&ledger, "bob", "bob").await, Begun::New);
    }

    #[tokio::test]
    async fn what_could_not_be_written_changes_nothing_for_the_client() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(Some(&StoreSettings::Folder(folder.path().to_owned())), None).expect("opened");
        assert_eq!(begun(&ledger, "a", "ann").await, Begun::New);
        // A closed store takes nothing, like a full disk.
        ledger.close();
        assert_eq!(ledger.advance("a", 0).await, Advanced::Unavailable);
        assert_eq!(ledger.advance("a", 0).await, Advanced::Unavailable, "the same token may come again");
        assert_eq!(ledger.is_alive("a").await, Some(true));
        for _ in 0..2 {
            let begun = begun(&ledger, "b", "ann").await;
            assert_eq!(
                (begun, ledger.is_alive("b").await),
                (Begun::Unavailable, Some(false)),
                "the code may come again"
            );
        }
    }

    #[tokio::test]
    async fn a_folder_remembers_what_was_used_and_what_has_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = StoreSettings::Folder(folder.path().to_owned());
        let open = || Ledger::open(Some(&settings), None).expect("opened");
        let first = open();
        for id in ["a", "b"] {
            assert_eq!(begun(&first, id, "ann").await, Begun::New);
        }
        assert_eq!(first.advance("a", 0).await, Advanced::Yes);
        first.end("b").await;
        first.close();
        let second = open();
        assert_eq!((second.is_alive("a").await, second.is_alive("b").await), (Some(true), Some(false)));
        assert_eq!(begun(&second, "b", "ann").await, Begun::Again);
        assert_eq!((second.advance("a", 1).await, second.advance("a", 0).await), (Advanced::Yes, Advanced::Ended));
    }
}
