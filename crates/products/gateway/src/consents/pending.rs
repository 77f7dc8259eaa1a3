//! Consents that users were asked for: tickets, which a user opens in a browser, and requests at authorization servers, which
//! a browser comes back from. Each response is taken once, from the browser that the request was made for.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use oauth::{ConsentRequest, random};
use serde::{Deserialize, Serialize};

use super::Place;
use crate::credentials::Credentials;

/// The most tickets, and the most of one user.
const MOST: usize = 10_000;
const MOST_OF_ONE: usize = 64;

/// Who is asked, and for what.
#[derive(Clone)]
pub(crate) struct Ticket {
    pub(crate) place: Place,
    /// The server that it is for, if it is still in the configuration as it was.
    pub(crate) credentials: Weak<Credentials>,
}

/// A ticket that waits.
struct Waiting {
    ticket: Ticket,
    until: Instant,
    /// The `state` of the request that was made for it last.
    request: Option<String>,
}

/// What a browser was sent to an authorization server for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// To sign in at the issuer of clients' tokens.
    Login,
    /// To consent.
    Consent,
}

struct Sent {
    ticket: String,
    /// The cookie of the browser.
    browser: String,
    purpose: Purpose,
    request: ConsentRequest,
}

/// A response's request.
pub(crate) struct Returned {
    pub(crate) ticket: String,
    pub(crate) of: Ticket,
    pub(crate) request: ConsentRequest,
}

#[derive(Default)]
struct All {
    tickets: HashMap<String, Waiting>,
    /// The newest ticket of each user and server.
    newest: HashMap<Place, String>,
    sent: HashMap<String, Sent>,
}

impl All {
    fn end_request(&mut self, ticket: &str) {
        let state = self.tickets.get_mut(ticket).and_then(|ticket| ticket.request.take());
        state.and_then(|state| self.sent.remove(&state));
    }

    fn end(&mut self, ticket: &str) {
        self.end_request(ticket);
        let Some(ended) = self.tickets.remove(ticket) else { return };
        if self.newest.get(&ended.ticket.place).is_some_and(|newest| newest == ticket) {
            self.newest.remove(&ended.ticket.place);
        }
    }
}

/// All that is pending at one gateway.
#[derive(Default)]
pub(super) struct LocalPending(Mutex<All>);

impl LocalPending {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ticket for a consent, the same one while it lives; `None` where too many are pending.
    pub(super) fn ticket(
        &self,
        place: &Place,
        credentials: &Weak<Credentials>,
        (wait, now): (Duration, Instant),
    ) -> Option<String> {
        let mut all = self.lock();
        // One that ends soon is of no use to who only begins.
        let lasts = |one: &Waiting| one.until > now + wait / 2 && one.ticket.credentials.ptr_eq(credentials);
        let newest = all.newest.get(place).filter(|id| all.tickets.get(*id).is_some_and(lasts));
        if let Some(id) = newest {
            return Some(id.clone());
        }
        let over: Vec<_> = all.tickets.iter().filter(|(_, one)| one.until <= now).map(|(id, _)| id.clone()).collect();
        for id in &over {
            all.end(id);
        }
        let of_one = all.tickets.values().filter(|one| one.ticket.place.user() == place.user()).count();
        if all.tickets.len() >= MOST || of_one >= MOST_OF_ONE {
            return None;
        }
        let id = random();
        let ticket = Ticket { place: place.clone(), credentials: Weak::clone(credentials) };
        all.newest.insert(place.clone(), id.clone());
        all.tickets.insert(id.clone(), Waiting { ticket, until: now + wait, request: None });
        Some(id)
    }

    /// The ticket of that name, if it is good.
    pub(super) fn open(&self, id: &str, now: Instant) -> Option<Ticket> {
        self.lock().tickets.get(id).filter(|one| one.until > now).map(|one| one.ticket.clone())
    }

    /// A browser is sent to an authorization server. What it was sent to before, for the same ticket, counts no more.
    pub(super) fn send(&self, ticket: &str, browser: &str, purpose: Purpose, request: ConsentRequest) -> bool {
        let mut all = self.lock();
        all.end_request(ticket);
        let state = request.state().to_owned();
        let Some(found) = all.tickets.get_mut(ticket) else { return false };
        found.request = Some(state.clone());
        let sent = Sent { ticket: ticket.to_owned(), browser: browser.to_owned(), purpose, request };
        all.sent.insert(state, sent);
        true
    }

    /// Takes the request of a response, once: for this purpose and this browser alone.
    pub(super) fn take(&self, state: &str, browser: &str, purpose: Purpose, now: Instant) -> Option<Returned> {
        let mut all = self.lock();
        let Sent { ticket, browser: own, purpose: own_purpose, request } = all.sent.remove(state)?;
        let found = all.tickets.get_mut(&ticket)?;
        found.request = None;
        let of = found.ticket.clone();
        let fits = !browser.is_empty() && own == browser && own_purpose == purpose && found.until > now;
        fits.then_some(Returned { ticket, of, request })
    }

    /// The consent was given.
    pub(super) fn finish(&self, ticket: &str) {
        self.lock().end(ticket);
    }

    /// Forgets what nobody came for.
    pub(super) fn sweep(&self, now: Instant) {
        let mut all = self.lock();
        let over: Vec<_> = all.tickets.iter().filter(|(_, one)| one.until <= now).map(|(id, _)| id.clone()).collect();
        for id in &over {
            all.end(id);
        }
    }

    /// How many are pending.
    pub(super) fn len(&self) -> usize {
        self.lock().tickets.len()
    }
}
