//! Reads where users' consents are kept: `consents`.

use std::time::Duration;

use document::{Content, Entry, Position};

use super::Reader;
use super::members::Members;
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
        let consents = self.consent_members(found?, members.get("auth").is_some());
        let signs_in = consents.as_ref().is_some_and(|it| matches!(it.login, ConsentLogin::Client { .. }));
        if is_bridged && signs_in {
            let what = "users cannot sign in with `login` of `consents`: `auth.bridge` knows no client for it";
            self.error(found?.at, what, "login: page, or tokens of a provider without `bridge`");
        }
        consents
    }

    fn consent_members(&mut self, entry: &Entry, has_auth: bool) -> Option<ConsentSettings> {
        let members = self.members("`consents`", entry.at, &entry.node, MEMBERS)?;
        if !has_auth {
            self.error(entry.at, "`consents` are users' own, and the file has no `auth`", "add `auth`");
        }
        let folder = self.required(entry, &members, "folder", "folder: ./consents");
        let folder = folder.and_then(|entry| self.path(entry));
        let keys = self.required(entry, &members, "keys", "keys: [{ from_env: CONSENT_KEY }]");
        let keys = keys.and_then(|entry| self.sealing_keys(entry));
        let login = self.required(entry, &members, "login", LOGIN_REMEDY).and_then(|entry| self.login(entry));
        let wait = members.get("wait").and_then(|entry| {
            let wait = self.duration(entry)?;
            if wait > LONGEST {
                self.error(entry.at, "`wait` is longer than 1 h", "1ms to 1h: so long a link works");
            }
            Some(wait)
        });
        Some(ConsentSettings {
            folder: folder.unwrap_or_default(),
            keys: keys?,
            login: login?,
            wait: wait.unwrap_or(WAIT),
        })
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
