//! Tokens that users consent to in a browser: one of each user, and never another's. The authorization server sends the browser
//! back to this machine. Bounded in number; what users were given is in memory alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oauth::{ConsentClient, ConsentPlace, ConsentRequest, Consented, OAuthError, RedirectServer, Secret, now};
use tokio::sync::{Mutex as Lock, Notify, OnceCell};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use url::Url;

use crate::auth::Missing;
use crate::caller::User;
use crate::concealing::Concealer;

/// How many users are known at once.
const USERS: usize = 256;
/// How long a browser may take to come back.
const PATIENCE: Duration = Duration::from_mins(10);
/// How many seconds before its end a token is not used any more.
const EARLY: u64 = 30;

/// The consents of one credential.
pub(crate) struct Consents {
    shared: Arc<Shared>,
    port: Option<u16>,
    /// The redirect address, once something waits there.
    redirect: OnceCell<(String, Listening)>,
}

struct Shared {
    client: ConsentClient,
    /// Knows what the configuration holds.
    concealer: Arc<Concealer>,
    users: Mutex<HashMap<User, Entry>>,
    /// The requests that wait for a browser, by their state.
    waiting: Mutex<HashMap<String, Waiting>>,
    came: Notify,
}

/// A user, and when the last call was.
struct Entry {
    slot: Arc<Slot>,
    used: Instant,
}

/// What one user was given.
#[derive(Default)]
struct Slot {
    held: Lock<Held>,
    concealer: Arc<Concealer>,
}

#[derive(Default)]
struct Held {
    given: Option<Consented>,
    /// Where the user may consent, and until when.
    asked: Option<(Url, Instant)>,
}

struct Waiting {
    request: ConsentRequest,
    slot: Arc<Slot>,
    until: Instant,
}

/// Ends what waits for browsers.
struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Consents {
    /// Asks nobody yet.
    pub(super) fn new(client: ConsentClient, port: Option<u16>, concealer: Arc<Concealer>) -> Self {
        let (users, waiting, came) = (Mutex::default(), Mutex::default(), Notify::new());
        Self { shared: Arc::new(Shared { client, concealer, users, waiting, came }), port, redirect: OnceCell::new() }
    }

    /// A token of this user, another one than `refused`, and what conceals it; or where the user may consent.
    pub(super) async fn token(
        &self,
        user: &User,
        refused: Option<&Secret>,
    ) -> Result<(Secret, Arc<Concealer>), Missing> {
        let slot = self.shared.slot(user);
        let mut held = slot.held.lock().await;
        if let Some(given) = &held.given {
            let is_refused =
                refused.is_some_and(|one| one.reveal().strip_prefix("Bearer ") == Some(given.access.reveal()));
            if given.expires > now() + EARLY && !is_refused {
                return Ok((given.access.clone(), Arc::clone(&slot.concealer)));
            }
            let old = given.clone();
            match self.renewed(&old, &slot).await {
                Ok(Some(renewed)) => {
                    let access = renewed.access.clone();
                    held.given = Some(renewed);
                    return Ok((access, Arc::clone(&slot.concealer)));
                }
                Ok(None) => held.given = None,
                Err(why) => return Err(Missing::Because(why)),
            }
        }
        Err(self.ask(&mut held, &slot).await.map_or_else(Missing::Because, Missing::Consent))
    }

    /// Waits until the user has consented; `false` where that takes too long.
    pub(super) async fn given(&self, user: &User, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let slot = self.shared.slot(user);
        loop {
            // Before the look: what comes in between is noticed.
            let came = self.shared.came.notified();
            tokio::pin!(came);
            came.as_mut().enable();
            if slot.held.lock().await.given.is_some() {
                return true;
            }
            if tokio::time::timeout_at(end, came).await.is_err() {
                return false;
            }
        }
    }

    /// The next token of a consent; `None` where it has ended.
    async fn renewed(&self, old: &Consented, slot: &Slot) -> Result<Option<Consented>, String> {
        if old.refresh.is_none() {
            return Ok(None);
        }
        match self.shared.client.refresh(old).await {
            Ok(renewed) => {
                slot.learn(&renewed);
                Ok(Some(renewed))
            }
            Err(error) if error.declined().is_some() => Ok(None),
            Err(error) => Err(self.shared.said(slot, &error)),
        }
    }

    /// Where the user may consent: at the address given before, as long as that is good.
    async fn ask(&self, held: &mut Held, slot: &Arc<Slot>) -> Result<Url, String> {
        if let Some((url, until)) = &held.asked
            && *until > Instant::now()
        {
            return Ok(url.clone());
        }
        let said = |error: OAuthError| self.shared.said(slot, &error);
        let redirect = &self.redirect().await.map_err(said)?.0;
        let place = ConsentPlace { redirect, document: None, name: "proof", resource: None };
        let request = self.shared.client.begin(place).await.map_err(said)?;
        let (url, until) = (request.url().clone(), Instant::now() + PATIENCE);
        self.shared.wait_for(request, Arc::clone(slot), until);
        held.asked = Some((url.clone(), until));
        Ok(url)
    }

    async fn redirect(&self) -> Result<&(String, Listening), OAuthError> {
        self.redirect
            .get_or_try_init(|| async {
                let server = RedirectServer::bind(self.port).await?;
                let (redirect, shared) = (server.redirect().to_owned(), Arc::clone(&self.shared));
                let running = tokio::spawn(server.run(move |url| {
                    let shared = Arc::clone(&shared);
                    async move { shared.returned(&url).await }
                }));
                Ok((redirect, Listening(running.abort_handle())))
            })
            .await
    }
}

impl Shared {
    /// The slot of a user. Where there are too many, the one goes that was used longest ago; users without a consent go first.
    fn slot(&self, user: &User) -> Arc<Slot> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if !users.contains_key(user) && users.len() >= USERS {
            // What is locked is in use.
            let has_consent = |entry: &Entry| entry.slot.held.try_lock().map_or(true, |held| held.given.is_some());
            let oldest = users.iter().min_by_key(|(_, entry)| (has_consent(entry), entry.used));
            if let Some(oldest) = oldest.map(|(user, _)| user.clone()) {
                users.remove(&oldest);
            }
        }
        let entry = users.entry(user.clone()).or_insert_with(|| Entry { slot: Arc::default(), used: Instant::now() });
        entry.used = Instant::now();
        Arc::clone(&entry.slot)
    }

    fn wait_for(&self, request: ConsentRequest, slot: Arc<Slot>, until: Instant) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, one| one.until > Instant::now() && !Arc::ptr_eq(&one.slot, &slot));
        if waiting.len() >= USERS {
            let first = waiting.iter().min_by_key(|(_, one)| one.until).map(|(state, _)| state.clone());
            first.and_then(|state| waiting.remove(&state));
        }
        waiting.insert(request.state().to_owned(), Waiting { request, slot, until });
    }

    /// A browser came back. What its page says; `None` where nobody waits for it.
    async fn returned(&self, url: &Url) -> Option<String> {
        let state = url.query_pairs().find(|(name, _)| name == "state")?.1.into_owned();
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&state)?;
        if waiting.until <= Instant::now() {
            return Some("This took too long. Call the tool again, and open the new address.\n".to_owned());
        }
        let completed = self.client.complete(waiting.request, url).await;
        let mut held = waiting.slot.held.lock().await;
        held.asked = None;
        let said = match completed {
            Ok(given) => {
                waiting.slot.learn(&given);
                held.given = Some(given);
                "Thank you. You may close this page; the tool can be called now.\n".to_owned()
            }
            Err(error) => format!("There is no access: {}\n", self.said(&waiting.slot, &error)),
        };
        drop(held);
        self.came.notify_waiters();
        Some(said)
    }

    /// What an error says, on one line and without credentials.
    fn said(&self, slot: &Slot, error: &OAuthError) -> String {
        let text = slot.concealer.shortened(&self.concealer.shortened(error.what()));
        wire::escape::line(&text).into_owned()
    }
}

impl Slot {
    fn learn(&self, given: &Consented) {
        self.concealer.learn_newest([Some(&given.access), given.refresh.as_ref()].into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use oauth::{Client, ConsentSource, Credential};

    use super::*;

    /// However many users come, few are known, and those with a consent stay longest.
    #[tokio::test]
    async fn users_are_bounded_and_those_with_a_consent_go_last() {
        let at = |path: &str| Url::parse(&format!("https://as.example{path}")).expect("a URL");
        let source = ConsentSource {
            server: None,
            issuer: None,
            client: Some(Client::new("robot", Credential::None)),
            scopes: Vec::new(),
            resource: None,
            timeout: Duration::from_secs(1),
            egress: None,
        };
        let client = ConsentClient::at(source, at("/a"), at("/t")).expect("a client");
        let consents = Consents::new(client, None, Arc::default());
        for number in 0..USERS as u64 + 50 {
            let token = consents.token(&User::Session(number), None).await;
            assert!(matches!(token, Err(Missing::Consent(_))));
            if number == 0 {
                let given = Consented {
                    issuer: "https://as.example".to_owned(),
                    client: Client::new("robot", Credential::None),
                    refresh: None,
                    access: Secret::new("access-of-the-first"),
                    expires: now() + 3600,
                    scopes: None,
                };
                consents.shared.slot(&User::Session(0)).held.lock().await.given = Some(given);
            }
        }
        let shared = &consents.shared;
        assert_eq!(shared.users.lock().expect("no panic").len(), USERS);
        assert!(shared.waiting.lock().expect("no panic").len() <= USERS);
        let token = consents.token(&User::Session(0), None).await;
        assert!(token.is_ok_and(|(token, _)| token.reveal() == "access-of-the-first"));
    }
}
