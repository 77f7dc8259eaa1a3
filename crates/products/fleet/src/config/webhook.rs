//! One webhook: its address, its secret, and what it is about.

use std::net::IpAddr;

use net::egress::{Egress, EgressRules};
use serde::Deserialize;
use url::{Host, Url};

use super::Text;
use super::entry::Reference;
use super::meaning::{Mistake, mistake};
use crate::secret;

/// What a webhook can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A server rose or fell.
    StageChanged,
    /// A gate turned red.
    GateFailed,
    /// A waiver ends within a week.
    WaiverExpiring,
}

impl EventKind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StageChanged => "stage-changed",
            Self::GateFailed => "gate-failed",
            Self::WaiverExpiring => "waiver-expiring",
        }
    }
}

/// An entry of `webhooks`, as it stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    name: String,
    url: Text,
    secret: Reference,
    #[serde(default)]
    on: Vec<EventKind>,
    #[serde(default)]
    private: Private,
}

/// Whether a name may stand for an address of a private network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Private {
    Allow,
    #[default]
    Refuse,
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its name, in the store and in messages.
    pub name: String,
    /// Its address, or the variable that holds it.
    pub url: Text,
    /// The variable with the secret that signs.
    pub secret: String,
    /// What it is about; everything where it is empty.
    pub on: Vec<EventKind>,
    allows_private: bool,
}

impl Webhook {
    /// Whether it gets messages about this.
    pub fn takes(&self, kind: EventKind) -> bool {
        self.on.is_empty() || self.on.contains(&kind)
    }

    /// Where connections to its address may lead: an IP address in it leads where it says, a name into no private network unless
    /// the entry allows it.
    pub fn egress(&self, url: &Url) -> Egress {
        let place = format!("webhooks.{}", self.name);
        let rules = EgressRules { place, allows_private: self.allows_private, ..EgressRules::default() };
        Egress::new(rules.naming([url]))
    }
}

/// The webhooks, and what is wrong with them.
pub(super) fn of(entries: Vec<Entry>, wrong: &mut Vec<Mistake>) -> Vec<Webhook> {
    let mut hooks: Vec<Webhook> = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let at = |member: &str| format!("/webhooks/{index}/{member}");
        if hooks.iter().any(|other| other.name == entry.name) {
            let what = format!("the webhook {} is there twice", document::quoted(&entry.name));
            wrong.push(mistake(at("name"), what, "another name"));
        }
        if let Text::Plain(url) = &entry.url {
            if secret::in_address(url) {
                wrong.push(mistake(at("url"), "the address holds a secret", "a variable with it: { env: NAME }"));
            } else if let Err((what, remedy)) = address(url) {
                wrong.push(mistake(at("url"), what, remedy));
            }
        }
        hooks.push(Webhook {
            name: entry.name,
            url: entry.url,
            secret: entry.secret.env,
            on: entry.on,
            allows_private: entry.private == Private::Allow,
        });
    }
    hooks
}

/// The address of a webhook: only this machine is reached without TLS. No error quotes it.
pub fn address(text: &str) -> Result<Url, (&'static str, &'static str)> {
    let form = "https://hooks.example/fleet";
    let url = Url::parse(text).map_err(|_| ("the address is not a URL", form))?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        None => return Err(("the address has no host", form)),
    };
    match url.scheme() {
        "https" => {}
        "http" if is_local => {}
        _ => return Err(("the address has no TLS", form)),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(("the address has a user or password", form));
    }
    Ok(url)
}
