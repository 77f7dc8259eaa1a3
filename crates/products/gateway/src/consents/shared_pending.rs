//! Consents that users were asked for, in the store that several gateways share: a link works at each of them, and its response is
//! taken once by one of them. The store sees digests and encrypted texts alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use oauth::jose::sha256;
use oauth::{ConsentRequest, random};
use serde::{Deserialize, Serialize};

use super::Place;
use super::pending::{Purpose, Returned, Ticket};
use super::seal::Seals;
use crate::credentials::Credentials;
use crate::shared::{Away, SharedStore};

/// What a link is for.
#[derive(Serialize, Deserialize)]
struct Asked {
    place: Place,
    /// The settings of the server that it was asked for: with others, the link is of no use.
    settings: String,
}

/// What a browser was sent with.
#[derive(Serialize, Deserialize)]
struct Sent {
    ticket: String,
    browser: String,
    purpose: Purpose,
    request: Vec<u8>,
}

/// Servers that users are asked for, by name and settings.
type Known = HashMap<(String, String), Weak<Credentials>>;

/// All that is pending at all gateways.
pub(super) struct SharedPending {
    store: Arc<SharedStore>,
    seals: Arc<Seals>,
    known: Mutex<Known>,
}

/// What a sealed text is bound to.
fn binding(kind: &str, name: &str) -> Vec<u8> {
    format!("proof-gateway.consent.{kind}.1 {name}").into_bytes()
}

impl SharedPending {
    pub(super) fn new(store: Arc<SharedStore>, seals: Arc<Seals>) -> Self {
        Self { store, seals, known: Mutex::default() }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a server: links that another gateway made for it may be opened here.
    pub(super) fn know(&self, upstream: &str, settings: &str, credentials: &Weak<Credentials>) {
        let mut known = self.known();
        known.retain(|_, credentials| credentials.strong_count() > 0);
        known.insert((upstream.to_owned(), settings.to_owned()), Weak::clone(credentials));
    }

    fn ticket_of(&self, link: &str, sealed: &[u8]) -> Option<Ticket> {
        let opened = self.seals.open(&binding("link", link), sealed)?;
        let Asked { place, settings } = serde_json::from_slice(&opened.text).ok()?;
        let credentials = self.known().get(&(place.upstream.clone(), settings)).cloned();
        Some(Ticket { place, credentials: credentials.unwrap_or_default() })
    }

    /// The ticket for a consent, the same one at all gateways while half of its time is left.
    pub(super) async fn ticket(&self, place: &Place, settings: &str, wait: Duration) -> Result<Option<String>, Away> {
        let id = random();
        let (of, link) = (sha256(&format!("{} {settings}", place.name())), sha256(&id));
        let asked = Asked { place: place.clone(), settings: settings.to_owned() };
        let sealed_id = self.seals.seal(&binding("newest", &of), id.clone().into_bytes());
        let asked = serde_json::to_vec(&asked).ok().and_then(|text| self.seals.seal(&binding("link", &link), text));
        let (Some(sealed_id), Some(asked)) = (sealed_id, asked) else { return Ok(None) };
        let Some(newest) = self.store.ask_consent((&of, &link), (&sealed_id, &asked), wait).await? else {
            return Ok(Some(id));
        };
        let opened = self.seals.open(&binding("newest", &of), &newest);
        Ok(opened.and_then(|opened| String::from_utf8(opened.text).ok()))
    }

    /// The ticket of that name, if it is good.
    pub(super) async fn open(&self, id: &str) -> Result<Option<Ticket>, Away> {
        let link = sha256(id);
        let sealed = self.store.consent_link(&link).await?;
        Ok(sealed.and_then(|sealed| self.ticket_of(&link, &sealed)))
    }

    /// A browser is sent to an authorization server. What it was sent to before, for the same ticket, counts no more.
    pub(super) async fn send(
        &self,
        (ticket, browser): (&str, &str),
        (purpose, request): (Purpose, &ConsentRequest),
        wait: Duration,
    ) -> Result<bool, Away> {
        let name = sha256(request.state());
        let sent = Sent { ticket: ticket.to_owned(), browser: browser.to_owned(), purpose, request: request.save() };
        let sealed = serde_json::to_vec(&sent).ok().and_then(|text| self.seals.seal(&binding("request", &name), text));
        let Some(sealed) = sealed else { return Ok(false) };
        self.store.send_consent((&sha256(ticket), &name), &sealed, wait).await
    }

    /// Takes the request of a response, once: for this purpose and this browser alone.
    pub(super) async fn take(&self, state: &str, browser: &str, purpose: Purpose) -> Result<Option<Returned>, Away> {
        let name = sha256(state);
        let Some(sealed) = self.store.take_consent(&name).await? else { return Ok(None) };
        let opened = self.seals.open(&binding("request", &name), &sealed);
        let sent = opened.and_then(|opened| serde_json::from_slice::<Sent>(&opened.text).ok());
        let Some(Sent { ticket, browser: own, purpose: own_purpose, request }) = sent else { return Ok(None) };
        let link = sha256(&ticket);
        let Some(asked) = self.store.return_consent(&link, &name).await? else { return Ok(None) };
        let fits = !browser.is_empty() && own == browser && own_purpose == purpose;
        let found = self.ticket_of(&link, &asked).zip(ConsentRequest::restore(&request)).filter(|_| fits);
        Ok(found.map(|(of, request)| Returned { ticket, of, request }))
    }

    /// The consent was given.
    pub(super) async fn finish(&self, ticket: &str, place: &Place, settings: &str) -> Result<(), Away> {
        let of = sha256(&format!("{} {settings}", place.name()));
        self.store.finish_consent(&of, &sha256(ticket)).await
    }
}
