//! The consents that were given, in the store that several gateways share: encrypted before they go there. Must not know how a
//! consent comes about.

use std::sync::Arc;

use oauth::{Consented, now};
use serde::{Deserialize, Serialize};

use super::seal::Seals;
use super::vault::{Consent, Listed};
use super::{Number, Place};
use crate::shared::{Away, Leased, SharedStore};

/// How long the number of a writing is.
const NUMBER: usize = 16;

/// A consent before it is encrypted.
#[derive(Serialize, Deserialize)]
struct Record {
    place: Place,
    /// The address of the server.
    server: String,
    /// When it was given, in seconds since 1970.
    since: u64,
    consented: Consented,
}

/// All consents of all gateways.
pub(super) struct SharedVault {
    pub(super) store: Arc<SharedStore>,
    pub(super) seals: Arc<Seals>,
}

/// What a sealed record is bound to: moved to another name, it does not open.
fn binding(name: &str) -> Vec<u8> {
    [b"proof-gateway.consent.shared.1 ", name.as_bytes()].concat()
}

/// Who replaces a consent without renewing it.
const NOBODY: Number = [0; NUMBER];

/// A number that no other writing and no other renewal has.
pub(crate) fn random_number() -> Option<Number> {
    let mut number = Number::default();
    getrandom::fill(&mut number).ok()?;
    Some(number)
}

impl SharedVault {
    /// The number and the record of a value; whether the first key sealed it.
    fn opened(&self, name: &str, value: &[u8]) -> Option<(Number, Record, bool)> {
        let (number, sealed) = value.split_first_chunk::<NUMBER>()?;
        let opened = self.seals.open(&binding(name), sealed)?;
        let record: Record = serde_json::from_slice(&opened.text).ok()?;
        (record.place.name() == name).then_some((*number, record, opened.is_current))
    }

    fn sealed(&self, record: &Record, number: Number) -> Option<Vec<u8>> {
        let sealed = self.seals.seal(&binding(&record.place.name()), serde_json::to_vec(record).ok()?)?;
        Some([&number[..], &sealed].concat())
    }

    /// The consent, if there is one that opens.
    pub(super) async fn find(&self, place: &Place) -> Result<Option<Consent>, Away> {
        let name = place.name();
        let Some(value) = self.store.consent(&name).await? else { return Ok(None) };
        let Some((number, record, _)) = self.opened(&name, &value) else {
            tracing::warn!(upstream = place.upstream, "a consent cannot be decrypted: no key fits, or it was changed");
            return Ok(None);
        };
        let Record { server, since, consented, .. } = record;
        Ok(Some(Consent { number, server, since, consented }))
    }

    /// Keeps a consent that was given; whether there was room.
    pub(super) async fn put(&self, place: &Place, server: &str, consented: &Consented) -> Result<bool, Away> {
        let (place, server, consented) = (place.clone(), server.to_owned(), consented.clone());
        let record = Record { place, server, since: now(), consented };
        let value = random_number().and_then(|number| self.sealed(&record, number));
        let Some(value) = value else { return Ok(false) };
        self.store.give_consent(&record.place.name(), &value).await
    }

    /// Keeps what is new of a consent, unless that was ended, given again or renewed since it was read. The new number.
    pub(super) async fn replace(
        &self,
        place: &Place,
        (old, owner): (&Consent, &Number),
        next: &Consented,
    ) -> Result<Option<Number>, Away> {
        let (server, consented) = (old.server.clone(), next.clone());
        let record = Record { place: place.clone(), server, since: old.since, consented };
        let number = random_number().ok_or(Away)?;
        let value = self.sealed(&record, number).ok_or(Away)?;
        let by = (Some(&old.number), owner);
        let replaced = self.store.replace_consent(&place.name(), by, Some(&value)).await?;
        Ok(replaced.then_some(number))
    }

    /// Ends a consent; only that of `number`, where one is given. Whether there was one.
    pub(super) async fn remove(&self, name: &str, number: Option<&Number>) -> Result<bool, Away> {
        self.store.replace_consent(name, (number, &NOBODY), None).await
    }

    /// Begins to renew a consent, or goes on with it.
    pub(super) async fn lease(&self, place: &Place, number: &Number, owner: &Number) -> Result<Leased, Away> {
        self.store.lease_consent(&place.name(), number, owner).await
    }

    /// Gives up to renew a consent: another gateway may at once.
    pub(super) async fn release(&self, place: &Place, owner: &Number) -> Result<(), Away> {
        self.store.release_consent(&place.name(), owner).await
    }

    /// All consents, in order. What no key opens has no place.
    pub(super) async fn list(&self) -> Result<Vec<(String, Option<Listed>)>, Away> {
        let all = self.store.all_consents().await?;
        let listed = all.into_iter().map(|(name, value)| {
            let listed = self.opened(&name, &value).map(|(_, record, _)| Listed {
                place: record.place,
                issuer: record.consented.issuer,
                since: record.since,
                opens: true,
            });
            (name, listed)
        });
        Ok(listed.collect())
    }

    /// Seals again by the first key what another one sealed. How many could not be opened.
    pub(super) async fn seal_again(&self) -> Result<usize, Away> {
        let mut closed = 0;
        for (name, value) in self.store.all_consents().await? {
            match self.opened(&name, &value) {
                Some((_, _, true)) => {}
                Some((number, record, false)) => {
                    // It stays the same writing: another gateway may renew it at this moment.
                    let Some(value) = self.sealed(&record, number) else { continue };
                    self.store.replace_consent(&name, (Some(&number), &NOBODY), Some(&value)).await?;
                }
                None => closed += 1,
            }
        }
        Ok(closed)
    }
}
