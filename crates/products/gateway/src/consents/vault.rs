//! The consents that were given, each under its user and server: sealed in memory and in a file. Must not know how a consent
//! comes about.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oauth::{Consented, now};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::seal::Seals;
use super::{Number, Place};
use crate::answers::store::{Store, Written};

/// The file in the folder.
const FILE: &str = "consents.redb";
/// The most consents.
const MOST: usize = 100_000;

/// A consent as it is stored: what it is worth is sealed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    issuer: String,
    /// The address of the server.
    server: String,
    /// When it was given, in seconds since 1970.
    since: u64,
    sealed: String,
    /// Which writing of this consent it is.
    #[serde(skip)]
    number: u64,
}

/// A consent that was opened.
#[derive(Clone, Debug)]
pub(crate) struct Consent {
    /// Which writing of this consent it is.
    pub(crate) number: Number,
    /// The address of the server that it is for.
    pub(crate) server: String,
    /// When it was given, in seconds since 1970.
    pub(crate) since: u64,
    pub(crate) consented: Consented,
}

/// A line of the list.
pub(crate) struct Listed {
    pub(crate) place: Place,
    pub(crate) issuer: String,
    pub(crate) since: u64,
    /// One of the keys opens it.
    pub(crate) opens: bool,
}

/// All consents of one gateway.
pub(super) struct FolderVault {
    seals: Arc<Seals>,
    all: Mutex<All>,
    store: Store,
}

#[derive(Default)]
struct All {
    stored: HashMap<Place, Stored>,
    last: u64,
}

/// What a sealed text is bound to.
fn binding(place: &Place, issuer: &str, server: &str) -> Vec<u8> {
    let mut parts = json!(["proof-gateway.consent.1", place.principal, place.upstream, issuer, server]);
    if let (Some(tenant), Some(parts)) = (&place.tenant, parts.as_array_mut()) {
        parts.push(json!(tenant));
    }
    parts.to_string().into_bytes()
}

fn number_of(number: u64) -> Number {
    u128::from(number).to_be_bytes()
}

fn key(place: &Place) -> Vec<u8> {
    serde_json::to_vec(place).unwrap_or_default()
}

impl FolderVault {
    /// Opens the file in `folder`. What an older key sealed is sealed again by the first one.
    pub(super) fn open(folder: &Path, seals: Arc<Seals>) -> io::Result<Self> {
        let (store, pairs) = Store::open_file(folder, FILE)?;
        let mut all = All::default();
        for (place, stored) in pairs {
            let read = serde_json::from_slice(&place).ok().zip(serde_json::from_slice::<Stored>(&stored).ok());
            let Some((place, stored)) = read else {
                tracing::warn!("a record of consents cannot be read");
                continue;
            };
            all.last += 1;
            all.stored.insert(place, Stored { number: all.last, ..stored });
        }
        let vault = Self { seals, all: Mutex::new(all), store };
        vault.seal_again();
        Ok(vault)
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seal_again(&self) {
        let places: Vec<_> = self.lock().stored.keys().cloned().collect();
        for place in places {
            let Some(stored) = self.lock().stored.get(&place).cloned() else { continue };
            match self.opened(&place, &stored) {
                Some((_, true)) => {}
                Some((consented, false)) => {
                    let _ = self.write(&place, (&stored.server, stored.since), &consented, Some(stored.number));
                }
                None => {
                    tracing::warn!(
                        upstream = place.upstream,
                        "a consent cannot be decrypted: no key fits, or it was changed"
                    );
                }
            }
        }
    }

    fn opened(&self, place: &Place, stored: &Stored) -> Option<(Consented, bool)> {
        let sealed = STANDARD.decode(&stored.sealed).ok()?;
        let opened = self.seals.open(&binding(place, &stored.issuer, &stored.server), &sealed)?;
        let consented: Consented = serde_json::from_slice(&opened.text).ok()?;
        (consented.issuer == stored.issuer).then_some((consented, opened.is_current))
    }

    /// The consent, if there is one that opens.
    pub(super) fn find(&self, place: &Place) -> Option<Consent> {
        let stored = self.lock().stored.get(place).cloned()?;
        let (consented, _) = self.opened(place, &stored)?;
        let (number, since) = (number_of(stored.number), stored.since);
        Some(Consent { number, server: stored.server, since, consented })
    }

    /// Keeps a consent that was given; whether that outlives a crash. Otherwise, nothing is kept.
    pub(super) async fn put(&self, place: &Place, server: &str, consented: &Consented) -> bool {
        let before = self.lock().stored.get(place).cloned();
        let Some((written, number)) = self.write(place, (server, now()), consented, None) else { return false };
        let kept = written.outlives_crash().await;
        if !kept {
            let mut all = self.lock();
            // The file still has the one before.
            if all.stored.get(place).is_some_and(|stored| stored.number == number) {
                match before {
                    Some(before) => all.stored.insert(place.clone(), before),
                    None => all.stored.remove(place),
                };
            }
            drop(all);
            tracing::error!(upstream = place.upstream, "a consent is not kept: the file cannot be written");
        }
        kept
    }

    /// Keeps what is new of a consent, unless that was revoked or given again since it was read.
    pub(super) async fn replace(&self, place: &Place, number: &Number, consented: &Consented) -> Option<Number> {
        let (server, since, old) = match self.lock().stored.get(place) {
            Some(stored) if number_of(stored.number) == *number => (stored.server.clone(), stored.since, stored.number),
            _ => return None,
        };
        let (written, number) = self.write(place, (&server, since), consented, Some(old))?;
        if !written.outlives_crash().await {
            tracing::error!(
                upstream = place.upstream,
                "a renewed consent is kept in memory alone: it cannot be written"
            );
        }
        Some(number_of(number))
    }

    /// Writes a consent and gives its number; where `instead_of` is given, only in place of the one of that number.
    fn write(
        &self,
        place: &Place,
        (server, since): (&str, u64),
        consented: &Consented,
        instead_of: Option<u64>,
    ) -> Option<(Written, u64)> {
        let text = serde_json::to_vec(consented).ok()?;
        let sealed = STANDARD.encode(self.seals.seal(&binding(place, &consented.issuer, server), text)?);
        let mut all = self.lock();
        let there = all.stored.get(place).map(|stored| stored.number);
        // It may have been revoked or given again while the text was sealed.
        if instead_of.is_some_and(|number| there != Some(number)) || (there.is_none() && all.stored.len() >= MOST) {
            return None;
        }
        all.last += 1;
        let (issuer, server) = (consented.issuer.clone(), server.to_owned());
        let stored = Stored { issuer, server, since, sealed, number: all.last };
        let written = self.store.set(key(place), Some(serde_json::to_vec(&stored).ok()?));
        let number = stored.number;
        all.stored.insert(place.clone(), stored);
        drop(all);
        Some((written, number))
    }

    /// Forgets a consent; only that of `number`, where one is given. Whether there was one.
    pub(super) async fn remove(&self, place: &Place, number: Option<&Number>) -> bool {
        let written = {
            let mut all = self.lock();
            let is_it = all
                .stored
                .get(place)
                .is_some_and(|stored| number.is_none_or(|number| number_of(stored.number) == *number));
            if !is_it {
                return false;
            }
            all.stored.remove(place);
            self.store.set(key(place), None)
        };
        if !written.outlives_crash().await {
            tracing::error!(
                upstream = place.upstream,
                "a consent is forgotten in memory alone: the file cannot be written"
            );
        }
        true
    }

    /// All consents, in order.
    pub(super) fn list(&self) -> Vec<Listed> {
        let all: Vec<_> = self.lock().stored.iter().map(|(place, stored)| (place.clone(), stored.clone())).collect();
        let mut listed: Vec<_> = all
            .into_iter()
            .map(|(place, stored)| {
                let opens = self.opened(&place, &stored).is_some();
                Listed { place, issuer: stored.issuer, since: stored.since, opens }
            })
            .collect();
        listed.sort_by(|a, b| a.place.cmp(&b.place));
        listed
    }

    /// Writes what waits.
    pub(super) fn close(&self) {
        self.store.close();
    }
}
