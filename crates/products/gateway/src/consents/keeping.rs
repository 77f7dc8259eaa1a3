//! Where consents and links are: in a folder and the memory of one gateway, or in the store that several gateways share. The two
//! behave alike, except that a shared store may be away. Must not know how a consent comes about.

use std::sync::Weak;
use std::time::Instant;

use oauth::{ConsentRequest, Consented};
use serde_json::{Value, json};

use super::pending::{LocalPending, Purpose, Returned, Ticket};
use super::shared_pending::SharedPending;
use super::shared_vault::SharedVault;
use super::vault::{Consent, FolderVault, Listed};
use super::{Consents, Number, Place};
use crate::credentials::Credentials;
use crate::shared::{Away, Leased};

/// How many letters of a consent's name are its id.
const ID: usize = 16;

/// Where they are.
pub(super) enum Keeping {
    Folder(Box<(FolderVault, LocalPending)>),
    Shared(Box<(SharedVault, SharedPending)>),
}

fn id_of(name: &str) -> String {
    name.chars().take(ID).collect()
}

fn line(id: &str, one: Option<&Listed>) -> Value {
    let place = one.map(|one| &one.place);
    json!({
        "id": id, "principal": place.map(|place| &place.principal), "tenant": place.and_then(|place| place.tenant.as_ref()),
        "upstream": place.map(|place| &place.upstream), "issuer": one.map(|one| &one.issuer),
        "since": one.map(|one| one.since), "opens": one.is_some_and(|one| one.opens),
    })
}

impl Consents {
    /// Whether consents are in a store that cannot be asked now: one may have ended meanwhile.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(&self.keeping, Keeping::Shared(shared) if !shared.0.store.is_heard())
    }

    /// The consent, if there is one that opens.
    pub(crate) async fn find(&self, place: &Place) -> Result<Option<Consent>, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.0.find(place)),
            Keeping::Shared(shared) => shared.0.find(place).await,
        }
    }

    /// Keeps a consent that was given; whether that outlives a crash. Otherwise, nothing is kept.
    pub(crate) async fn put(&self, place: &Place, server: &str, consented: &Consented) -> bool {
        match &self.keeping {
            Keeping::Folder(folder) => folder.0.put(place, server, consented).await,
            Keeping::Shared(shared) => shared.0.put(place, server, consented).await == Ok(true),
        }
    }

    /// Begins to renew a consent, or goes on with it, as `owner`: no two do so at once.
    pub(crate) async fn lease(&self, place: &Place, number: &Number, owner: &Number) -> Result<Leased, Away> {
        match &self.keeping {
            // The only gateway has a lock for each user.
            Keeping::Folder(_) => Ok(Leased::Ours),
            Keeping::Shared(shared) => shared.0.lease(place, number, owner).await,
        }
    }

    /// Gives up to renew a consent. Without a store, the lease ends by itself.
    pub(crate) async fn release(&self, place: &Place, owner: &Number) {
        if let Keeping::Shared(shared) = &self.keeping {
            let _ = shared.0.release(place, owner).await;
        }
    }

    /// Keeps what is new of a consent, unless that was ended or given again since it was read. The number of the writing.
    pub(crate) async fn replace(
        &self,
        place: &Place,
        (old, owner): (&Consent, &Number),
        next: &Consented,
    ) -> Result<Option<Number>, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.0.replace(place, &old.number, next).await),
            Keeping::Shared(shared) => shared.0.replace(place, (old, owner), next).await,
        }
    }

    /// Ends a consent; only that of `number`, where one is given. Whether there was one.
    pub(crate) async fn remove(&self, place: &Place, number: Option<&Number>) -> Result<bool, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.0.remove(place, number).await),
            Keeping::Shared(shared) => shared.0.remove(&place.name(), number).await,
        }
    }

    /// The name of the consent that has this id in the list.
    pub(crate) async fn named(&self, id: &str) -> Result<Option<String>, Away> {
        let names: Vec<_> = self.listed().await?.into_iter().map(|(name, _)| name).collect();
        Ok(names.into_iter().find(|name| id_of(name) == id))
    }

    /// Ends the consent of this name; whether there was one.
    pub(crate) async fn end(&self, name: &str) -> Result<bool, Away> {
        match &self.keeping {
            Keeping::Shared(shared) => shared.0.remove(name, None).await,
            Keeping::Folder(folder) => {
                let place = folder.0.list().into_iter().map(|one| one.place).find(|place| place.name() == name);
                match place {
                    Some(place) => Ok(folder.0.remove(&place, None).await),
                    None => Ok(false),
                }
            }
        }
    }

    /// All consents, for those who run the gateway. Nothing of a token.
    pub(crate) async fn list(&self) -> Result<Value, Away> {
        let all = self.listed().await?;
        let lines: Vec<_> = all.iter().map(|(name, one)| line(&id_of(name), one.as_ref())).collect();
        let pending = match &self.keeping {
            Keeping::Folder(folder) => Some(folder.1.len()),
            Keeping::Shared(_) => None,
        };
        Ok(json!({ "consents": lines, "pending": pending }))
    }

    async fn listed(&self) -> Result<Vec<(String, Option<Listed>)>, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => {
                Ok(folder.0.list().into_iter().map(|one| (one.place.name(), Some(one))).collect())
            }
            Keeping::Shared(shared) => shared.0.list().await,
        }
    }

    /// Seals again, by the first key, what another one sealed. A folder's are when it is opened.
    pub(crate) async fn seal_again(&self) {
        let Keeping::Shared(shared) = &self.keeping else { return };
        match shared.0.seal_again().await {
            Ok(0) | Err(Away) => {}
            Ok(closed) => tracing::warn!("{closed} consents cannot be decrypted: no key fits, or they were changed"),
        }
    }

    /// Takes note of a server for which links of other gateways may be opened here.
    pub(crate) fn know(&self, upstream: &str, settings: &str, credentials: &Weak<Credentials>) {
        if let Keeping::Shared(shared) = &self.keeping {
            shared.1.know(upstream, settings, credentials);
        }
    }

    /// The ticket for a consent, the same one for a while; nothing where too many are pending.
    pub(super) async fn ticket(
        &self,
        place: &Place,
        (settings, credentials): (&str, &Weak<Credentials>),
    ) -> Result<Option<String>, Away> {
        let wait = self.settings.wait;
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.1.ticket(place, credentials, (wait, Instant::now()))),
            Keeping::Shared(shared) => shared.1.ticket(place, settings, wait).await,
        }
    }

    /// The ticket of that name, if it is good.
    pub(crate) async fn ticket_of(&self, id: &str) -> Result<Option<Ticket>, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.1.open(id, Instant::now())),
            Keeping::Shared(shared) => shared.1.open(id).await,
        }
    }

    /// A browser is sent to an authorization server. What it was sent to before, for the same ticket, counts no more.
    pub(crate) async fn send(
        &self,
        ticket: &str,
        browser: &str,
        (purpose, request): (Purpose, ConsentRequest),
    ) -> Result<bool, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.1.send(ticket, browser, purpose, request)),
            Keeping::Shared(shared) => shared.1.send((ticket, browser), (purpose, &request), self.settings.wait).await,
        }
    }

    /// Takes the request of a response, once: for this purpose and this browser alone.
    pub(crate) async fn take(&self, state: &str, browser: &str, purpose: Purpose) -> Result<Option<Returned>, Away> {
        match &self.keeping {
            Keeping::Folder(folder) => Ok(folder.1.take(state, browser, purpose, Instant::now())),
            Keeping::Shared(shared) => shared.1.take(state, browser, purpose).await,
        }
    }

    /// The consent was given: its link works no more.
    pub(crate) async fn finish(&self, ticket: &str, place: &Place, settings: &str) {
        match &self.keeping {
            Keeping::Folder(folder) => folder.1.finish(ticket),
            Keeping::Shared(shared) => {
                // What is not ended now ends by its time.
                let _ = shared.1.finish(ticket, place, settings).await;
            }
        }
    }

    /// Forgets links that nobody came for.
    pub(crate) fn sweep(&self) {
        if let Keeping::Folder(folder) = &self.keeping {
            folder.1.sweep(Instant::now());
        }
    }

    /// Writes what waits.
    pub(crate) fn close(&self) {
        if let Keeping::Folder(folder) = &self.keeping {
            folder.0.close();
        }
    }
}
