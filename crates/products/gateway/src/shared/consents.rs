//! Users' consents in the store, for all gateways: what was given, who renews it, and links that wait. Values are encrypted, names
//! are digests. Must not know what they say.

use redis::Cmd;

use super::{Away, LEASE, PREFIX, SharedStore, Token, consent_scripts, millis, scripts};

/// The most consents.
const MOST: u64 = 100_000;
/// How many consents one step of a list reads.
const STEP: u64 = 500;

/// What came of an attempt to renew a consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leased {
    /// It is the caller's to renew.
    Ours,
    /// Another gateway renews it.
    Theirs,
    /// It was renewed, given again, or ended meanwhile.
    Changed,
}

impl SharedStore {
    /// A consent.
    pub(crate) async fn consent(&self, name: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut command = redis::cmd("HGET");
        command.arg(consents()).arg(name);
        self.run(&command).await
    }

    /// All consents, with their names.
    pub(crate) async fn all_consents(&self) -> Result<Vec<(String, Vec<u8>)>, Away> {
        let (mut all, mut cursor) = (Vec::new(), 0_u64);
        loop {
            let mut command = redis::cmd("HSCAN");
            command.arg(consents()).arg(cursor).arg("COUNT").arg(STEP);
            let (next, found): (u64, Vec<(String, Vec<u8>)>) = self.run(&command).await?;
            all.extend(found);
            if next == 0 || all.len() as u64 > 2 * MOST {
                break;
            }
            cursor = next;
        }
        // A field may come twice while the hash grows.
        all.sort();
        all.dedup_by(|one, other| one.0 == other.0);
        Ok(all)
    }

    /// Keeps a consent that was given; whether there was room.
    pub(crate) async fn give_consent(&self, name: &str, value: &[u8]) -> Result<bool, Away> {
        let mut command = scripts::command(consent_scripts::GIVE, &[&consents()]);
        command.arg(name).arg(value).arg(MOST);
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// Replaces a consent, or ends it where `value` is missing; only the writing `number`, where one is given. Whether it was
    /// there.
    pub(crate) async fn replace_consent(
        &self,
        name: &str,
        (number, owner): (Option<&Token>, &Token),
        value: Option<&[u8]>,
    ) -> Result<bool, Away> {
        let mut command = scripts::command(consent_scripts::REPLACE, &[&consents(), &lease(name)]);
        command.arg(name).arg(number.map_or(&[][..], |number| &number[..]));
        command.arg(value.unwrap_or_default()).arg(&owner[..]);
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// Begins to renew a consent, or goes on with it.
    pub(crate) async fn lease_consent(&self, name: &str, number: &Token, owner: &Token) -> Result<Leased, Away> {
        let mut command = scripts::command(consent_scripts::LEASE, &[&consents(), &lease(name)]);
        command.arg(name).arg(&number[..]).arg(&owner[..]).arg(millis(LEASE));
        match self.run::<i64>(&command).await? {
            0 => Ok(Leased::Ours),
            1 => Ok(Leased::Theirs),
            _ => Ok(Leased::Changed),
        }
    }

    /// Gives up to renew a consent.
    pub(crate) async fn release_consent(&self, name: &str, owner: &Token) -> Result<(), Away> {
        let mut command = scripts::command(consent_scripts::RELEASE, &[&lease(name)]);
        command.arg(&owner[..]);
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// The newest link for a user and server, or nothing where the new one counts from now on.
    pub(crate) async fn ask_consent(
        &self,
        (of, link): (&str, &str),
        (id, place): (&[u8], &[u8]),
        wait: std::time::Duration,
    ) -> Result<Option<Vec<u8>>, Away> {
        let mut command = scripts::command(consent_scripts::ASK, &[&key("consent-of:", of), &link_key(link)]);
        command.arg(id).arg(place).arg(millis(wait));
        self.found(&command).await
    }

    /// What a link is for.
    pub(crate) async fn consent_link(&self, link: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut command = redis::cmd("HGET");
        command.arg(link_key(link)).arg("p");
        self.run(&command).await
    }

    /// Keeps a request that a browser was sent with; whether its link works.
    pub(crate) async fn send_consent(
        &self,
        (link, name): (&str, &str),
        request: &[u8],
        wait: std::time::Duration,
    ) -> Result<bool, Away> {
        let mut command = scripts::command(consent_scripts::SEND, &[&link_key(link), &request_key(name)]);
        command.arg(name).arg(request).arg(millis(wait)).arg(request_key(""));
        Ok(self.run::<i64>(&command).await? == 1)
    }

    /// A request, once.
    pub(crate) async fn take_consent(&self, name: &str) -> Result<Option<Vec<u8>>, Away> {
        self.found(&scripts::command(consent_scripts::TAKE, &[&request_key(name)])).await
    }

    /// What the link of a request is for, if the request is its newest.
    pub(crate) async fn return_consent(&self, link: &str, name: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut command = scripts::command(consent_scripts::RETURN, &[&link_key(link)]);
        command.arg(name);
        self.found(&command).await
    }

    /// Ends a link.
    pub(crate) async fn finish_consent(&self, of: &str, link: &str) -> Result<(), Away> {
        let mut command = redis::cmd("DEL");
        command.arg(link_key(link)).arg(key("consent-of:", of));
        self.run::<i64>(&command).await.map(|_| ())
    }

    /// What a command returns, unless it is empty.
    async fn found(&self, command: &Cmd) -> Result<Option<Vec<u8>>, Away> {
        Ok(Some(self.run::<Vec<u8>>(command).await?).filter(|found| !found.is_empty()))
    }
}

fn key(kind: &str, name: &str) -> Vec<u8> {
    [PREFIX, kind, name].concat().into_bytes()
}

fn consents() -> Vec<u8> {
    key("consents", "")
}

fn lease(name: &str) -> Vec<u8> {
    key("consent-renewal:", name)
}

fn link_key(link: &str) -> Vec<u8> {
    key("consent-link:", link)
}

fn request_key(name: &str) -> Vec<u8> {
    key("consent-request:", name)
}
