//! Reads `store`: a folder, or the address of a Redis or Valkey.

use document::{Content, Entry, Node, quoted};
use url::Url;

use super::Reader;
use crate::settings::{SharedStoreSettings, StoreLoss, StoreSettings};

const MEMBERS: &[&str] = &["url", "user", "password", "on_loss"];
/// The schemes of shared stores, and whether they are encrypted.
const SCHEMES: [(&str, bool); 4] = [("redis", false), ("rediss", true), ("valkey", false), ("valkeys", true)];
const PORT: u16 = 6379;
const EXAMPLE: &str = "redis://redis.example:6379/0, or rediss:// with TLS";

impl Reader<'_> {
    pub(super) fn store(&mut self, entry: &Entry) -> Option<StoreSettings> {
        if matches!(entry.node.content, Content::Map(_)) {
            return self.shared_store(entry, &entry.node).map(StoreSettings::Shared);
        }
        let text = self.text(entry)?;
        if SCHEMES.iter().any(|(scheme, _)| text.starts_with(&format!("{scheme}://"))) {
            return self.store_address(entry).map(StoreSettings::Shared);
        }
        if text.contains("://") {
            // The text may hold a password.
            self.error(entry.at, "`store` is no address of a Redis or Valkey", EXAMPLE);
            return None;
        }
        self.path(entry).map(StoreSettings::Folder)
    }

    fn shared_store(&mut self, entry: &Entry, node: &Node) -> Option<SharedStoreSettings> {
        let members = self.members("`store`", entry.at, node, MEMBERS)?;
        if members.get("url").is_none() && !members.has_unknown {
            self.error(entry.at, "`store` has no `url`", format!("add url: {EXAMPLE}"));
        }
        let address = members.get("url").and_then(|entry| self.store_address(entry));
        let user = members.get("user").and_then(|entry| self.value(entry)).map(|(user, _)| user);
        let password = members.get("password").and_then(|entry| self.secret(entry));
        let on_loss = match members.get("on_loss").map(|entry| (entry, self.one_of(entry, &["refuse", "local"]))) {
            Some((_, Some(word))) if word == "local" => StoreLoss::Local,
            _ => StoreLoss::Refuse,
        };
        Some(SharedStoreSettings { user, password, on_loss, ..address? })
    }

    fn store_address(&mut self, entry: &Entry) -> Option<SharedStoreSettings> {
        let text = self.text(entry)?;
        let url = Url::parse(text).ok();
        if url.as_ref().is_some_and(|url| url.password().is_some() || !url.username().is_empty()) {
            let remedy = "store: { url: redis://…, password: { from_env: NAME } }";
            self.error(entry.at, format!("a password or user stands in {}", quoted(&entry.key)), remedy);
            return None;
        }
        let address = url.as_ref().and_then(address);
        if address.is_none() {
            self.error(entry.at, format!("{} is no address of a Redis or Valkey", quoted(&entry.key)), EXAMPLE);
        }
        address
    }
}

fn address(url: &Url) -> Option<SharedStoreSettings> {
    let (_, tls) = SCHEMES.iter().find(|(scheme, _)| *scheme == url.scheme())?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let database = match url.path().trim_start_matches('/') {
        "" => 0,
        number => number.parse::<u16>().ok()?,
    };
    if url.query().is_some() || url.fragment().is_some() {
        return None;
    }
    Some(SharedStoreSettings {
        host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
        port: url.port().unwrap_or(PORT),
        database: i64::from(database),
        tls: *tls,
        user: None,
        password: None,
        on_loss: StoreLoss::default(),
    })
}
