//! Reads where users' consents are kept: `consents`.

use std::time::Duration;

use document::{Content, Entry, Position};
use oauth::Secret;

use super::Reader;
use super::members::Members;
use crate::consents::seal::key_bytes;
use crate::settings::{ConsentLogin, ConsentSettings, CredentialGrant, UpstreamSettings};

const MEMBERS: &[&str] = &["folder", "keys", "login", "wait"];
const LOGIN: &[&str] = &["client", "scopes"];
const LOGIN_REMEDY: &str = "login: { client: { id: gateway, secret: { from_env: NAME } } }, or login: page";
/// How long a user may take.
const WAIT: Duration = Duration::from_mins(10);
const LONGEST: Duration = Duration::from_hours(1);

impl Reader<'_> {
    /// `consents` of the file; upstreams whose users consent need it.
    pub(super) fn consents(
        &mut self,
        at: Position,
        members: &Members<'_>,
        (upstreams, is_bridged): (&[UpstreamSettings], bool),
    ) -> Option<ConsentSettings> {
        let asks = |one: &&UpstreamSettings| {
            one.credentials.as_ref().is_some_and(|one| one.grant == CredentialGrant::AuthorizationCode)
        };
        let found = members.get("consents");
        if let Some(upstream) = upstreams.iter().find(asks).filter(|_| found.is_none() && !members.has_unknown) {
            let what = format!("users of `{}` consent, and the file has no `consents`", upstream.name);
            self.error(at, what, "add consents: { folder: ./consents, keys: […], login: … }");
        }
        let consents = self.consent_members(found?, members);
        let signs_in = consents.as_ref().is_some_and(|it| matches!(it.login, ConsentLogin::Client { .. }));
        let remedy = "use tokens of a provider without `bridge`, or a gateway without `consents`";
        if is_bridged && signs_in {
            let what = "users cannot sign in with `login` of `consents`: `auth.bridge` knows no client for it";
            self.error(found?.at, what, remedy);
        }
        let is_page = consents.as_ref().is_some_and(|it| it.login == ConsentLogin::Page);
        if is_bridged && is_page && !is_for_this_machine(members) {
            let what = "`login: page` does not check who consents: with `bridge`, `public_url` must be on this machine";
            self.error(found?.at, what, remedy);
        }
        consents
    }

    fn consent_members(&mut self, entry: &Entry, file: &Members<'_>) -> Option<ConsentSettings> {
        let members = self.members("`consents`", entry.at, &entry.node, MEMBERS)?;
        if file.get("auth").is_none() {
            self.error(entry.at, "`consents` are users' own, and the file has no `auth`", "add `auth`");
        }
        let folder = members.get("folder").map(|entry| self.path(entry));
        let is_shared = folder.is_none() && has_shared_store(file);
        if folder.is_none() && !is_shared && !members.has_unknown {
            let remedy = "add folder: ./consents, or store: redis://redis.example for several gateways";
            self.error(entry.at, "`consents` has no `folder`", remedy);
        }
        if is_shared && !has_public_url(file) {
            let what = "`consents` in a shared `store` need `public_url` in `auth`";
            self.error(
                entry.at,
                what,
                "public_url: https://mcp.example, the address by which browsers reach all gateways",
            );
        }
        let keys = self.required(entry, &members, "keys", "keys: [{ from_env: CONSENT_KEY }]");
        let keys = keys.and_then(|entry| self.seal_keys(entry, "[{ from_env: CONSENT_KEY }]"));
        let login = self.required(entry, &members, "login", LOGIN_REMEDY).and_then(|entry| self.login(entry));
        let wait = members.get("wait").and_then(|entry| {
            let wait = self.duration(entry)?;
            if wait > LONGEST {
                self.error(entry.at, "`wait` is longer than 1 h", "1ms to 1h: so long a link works");
            }
            Some(wait)
        });
        Some(ConsentSettings {
            folder: match folder {
                Some(folder) => Some(folder?),
                None => None,
            },
            keys: keys?,
            login: login?,
            wait: wait.unwrap_or(WAIT),
        })
    }

    /// Keys of 32 bytes in base64, by reference.
    pub(super) fn seal_keys(&mut self, entry: &Entry, example: &str) -> Option<Vec<Secret>> {
        let Content::List(items) = &entry.node.content else {
            self.wrong_type("`keys`", entry.at, &entry.node, "a list", example);
            return None;
        };
        let mut keys = Vec::new();
        for node in items {
            let item = Entry { key: "keys".to_owned(), at: node.at, node: node.clone() };
            let key = self.secret(&item)?;
            if key_bytes(key.reveal()).is_none() {
                let remedy = "32 random bytes in base64: openssl rand -base64 32";
                self.error(item.at, "a key of `keys` is not 32 bytes in base64", remedy);
            }
            keys.push(key);
        }
        if keys.is_empty() {
            self.error(entry.at, "`keys` is empty", "add a key: the first one encrypts, and all of them decrypt");
        }
        Some(keys)
    }

    fn login(&mut self, entry: &Entry) -> Option<ConsentLogin> {
        if matches!(&entry.node.content, Content::Text(text) if text == "page") {
            return Some(ConsentLogin::Page);
        }
        if matches!(entry.node.content, Content::Text(_)) {
            self.error(entry.at, "`login` is neither `page` nor a mapping", LOGIN_REMEDY);
            return None;
        }
        let members = self.members("`login`", entry.at, &entry.node, LOGIN)?;
        let client = self.required(entry, &members, "client", "client: { id: gateway, secret: { from_env: NAME } }");
        let client = client.and_then(|entry| self.oauth_client(entry));
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        Some(ConsentLogin::Client { client: client?, scopes })
    }
}

/// Whether `store` is one of several gateways; what is wrong with it is reported where it is read.
fn has_shared_store(file: &Members<'_>) -> bool {
    file.get("store").is_some_and(|store| match &store.node.content {
        Content::Map(_) => true,
        Content::Text(text) => text.contains("://"),
        _ => false,
    })
}

/// Whether `public_url` is an address of this machine.
fn is_for_this_machine(file: &Members<'_>) -> bool {
    let is_local = |entry: &Entry| match &entry.node.content {
        Content::Text(text) => url::Url::parse(text).is_ok_and(|url| oauth::is_loopback(&url)),
        _ => false,
    };
    let has = |entries: &[Entry]| entries.iter().any(|entry| entry.key == "public_url" && is_local(entry));
    file.get("auth").is_some_and(|auth| matches!(&auth.node.content, Content::Map(entries) if has(entries)))
}

fn has_public_url(file: &Members<'_>) -> bool {
    let has = |entries: &[Entry]| entries.iter().any(|entry| entry.key == "public_url");
    file.get("auth").is_some_and(|auth| matches!(&auth.node.content, Content::Map(entries) if has(entries)))
}
