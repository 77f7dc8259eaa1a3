//! Reads `assertions` of the file and `assertion` of an upstream. Keys come from variables and files alone, and no message
//! shows one.

use std::time::Duration;

use document::{Content, Entry, quoted};
use oauth::is_loopback;
use oauth::jose::Signer;
use serde_json::json;
use url::Url;

use super::Reader;
use super::members::Members;
use crate::settings::{AssertionKey, AssertionKeys, AssertionSettings, Target};

const KEYS: &[&str] = &["issuer", "keys"];
const MEMBERS: &[&str] = &["header", "audience", "lifetime", "claims"];
/// Each kind of key has one algorithm.
const ALGORITHMS: [&str; 3] = ["ES256", "ES384", "EdDSA"];
/// Claims that the gateway writes itself, and those that would say something else of an assertion than of a token.
const OWN: [&str; 13] = [
    "iss",
    "aud",
    "iat",
    "nbf",
    "exp",
    "jti",
    "htm",
    "body_sha256",
    "session_sha256",
    "sub_id",
    "cnf",
    "act",
    "may_act",
];
/// The most keys and the most claims.
const MOST: usize = 16;
const LIFETIME: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_mins(1);

impl Reader<'_> {
    /// `assertions` of the file.
    pub(super) fn assertion_keys(&mut self, entry: &Entry) -> Option<AssertionKeys> {
        let members = self.members("`assertions`", entry.at, &entry.node, KEYS)?;
        let issuer = self.required(entry, &members, "issuer", "issuer: https://mcp.example");
        let issuer = issuer.and_then(|entry| self.assertion_issuer(entry));
        let keys = self.required(entry, &members, "keys", "keys: [{ from_file: secrets/assertion.pem }]");
        let keys = keys.and_then(|entry| self.signing_keys(entry));
        let (issuer, keys) = (issuer?, keys?);
        let published: Vec<_> = keys.iter().map(|(_, public)| public).collect();
        let published = json!({ "keys": published }).to_string().into();
        Some(AssertionKeys { issuer, keys: keys.into_iter().map(|(key, _)| key).collect(), published })
    }

    fn assertion_issuer(&mut self, entry: &Entry) -> Option<String> {
        let text = self.text(entry)?;
        let secure = |url: &Url| url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url));
        let plain = |url: &Url| url.username().is_empty() && url.password().is_none() && url.query().is_none();
        let url = Url::parse(text).ok().filter(|url| url.has_host() && secure(url) && plain(url));
        if url.is_none_or(|url| url.fragment().is_some()) {
            let what = "`issuer` is not an https URL, nor one on this machine";
            self.error(entry.at, what, "https://mcp.example: the address by which servers know the gateway");
            return None;
        }
        Some(text.to_owned())
    }

    fn signing_keys(&mut self, entry: &Entry) -> Option<Vec<(AssertionKey, oauth::jose::Jwk)>> {
        let Content::List(items) = &entry.node.content else {
            let example = "[{ from_file: secrets/assertion.pem }]";
            self.wrong_type("`keys`", entry.at, &entry.node, "a list", example);
            return None;
        };
        if items.is_empty() || items.len() > MOST {
            let what = format!("`keys` has {} entries", items.len());
            self.error(entry.at, what, format!("1 to {MOST}: the first one signs, and all of them are published"));
            return None;
        }
        let mut keys: Vec<(AssertionKey, oauth::jose::Jwk)> = Vec::new();
        for node in items {
            let item = Entry { key: "keys".to_owned(), at: node.at, node: node.clone() };
            let pem = self.secret(&item)?;
            let Some((algorithm, public)) = kind_of(pem.reveal()) else {
                let remedy =
                    "a PEM file with a PKCS #8 key of P-256, P-384 or Ed25519: openssl genpkey -algorithm ed25519";
                self.error(item.at, "a key of `keys` is not a private key that can sign here", remedy);
                return None;
            };
            let id = public.kid.clone().unwrap_or_default();
            if keys.iter().any(|(key, _)| key.id == id) {
                self.error(item.at, "a key of `keys` stands there twice", "remove one of them");
                return None;
            }
            keys.push((AssertionKey { pem, algorithm, id }, public));
        }
        Some(keys)
    }

    /// `assertion` of an upstream at `target`.
    pub(super) fn assertion(
        &mut self,
        entry: &Entry,
        (target, has_credentials): (&Target, bool),
        has_auth: bool,
    ) -> Option<AssertionSettings> {
        let members = self.members("`assertion`", entry.at, &entry.node, MEMBERS)?;
        let header = members.get("header").map(|entry| self.assertion_header(entry));
        let claims = self.asserted_claims(entry, &members, has_auth);
        let lifetime = members.get("lifetime").and_then(|entry| self.lifetime(entry));
        let audience = members.get("audience").and_then(|entry| self.text(entry)).map(str::to_owned);
        let (Target::Http(address) | Target::StreamableHttp(address)) = target else {
            let what = "`assertion` needs an http or https `url` with Streamable HTTP";
            self.error(entry.at, what, "remove it: only HTTP requests can carry assertions");
            return None;
        };
        if address.url.scheme() != "https" && !is_loopback(&address.url) {
            self.error(entry.at, "`assertion` needs an https `url`, or one on this machine", "change the `url`");
        }
        let header = header.unwrap_or_else(|| Some("authorization".to_owned()))?;
        let is_taken = header == "authorization" && has_credentials;
        if is_taken || address.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(&header)) {
            let what = format!("the header {} of `assertion` has another value already", quoted(&header));
            self.error(entry.at, what, "add header: X-Gateway-Assertion to `assertion`");
        }
        let Some(AssertionKeys { issuer, keys, .. }) = self.assertion_keys.clone() else {
            if !self.has_assertion_keys {
                let remedy = "add assertions: { issuer: https://mcp.example, keys: [{ from_file: PATH }] }";
                self.error(entry.at, "the upstream has an `assertion`, and the file has no `assertions`", remedy);
            }
            return None;
        };
        Some(AssertionSettings {
            issuer,
            key: keys.into_iter().next()?,
            header,
            audience: audience.unwrap_or_else(|| address.url.to_string()),
            lifetime: lifetime.unwrap_or(LIFETIME),
            claims,
        })
    }

    fn assertion_header(&mut self, entry: &Entry) -> Option<String> {
        match &entry.node.content {
            Content::Text(text) if text.eq_ignore_ascii_case("authorization") => Some("authorization".to_owned()),
            _ => self.context_header(entry),
        }
    }

    fn lifetime(&mut self, entry: &Entry) -> Option<Duration> {
        let lifetime = self.duration(entry)?;
        if lifetime > LONGEST || lifetime.subsec_nanos() > 0 {
            self.error(entry.at, "`lifetime` is not 1 to 60 whole seconds", "30s");
            return None;
        }
        Some(lifetime)
    }

    /// The claims of tokens that assertions repeat: without the member, the user.
    fn asserted_claims(&mut self, entry: &Entry, members: &Members<'_>, has_auth: bool) -> Vec<String> {
        let listed = members.get("claims").map(|entry| (entry.at, self.texts(entry, "[sub, scope]")));
        let (at, texts) = listed.unwrap_or_else(|| (entry.at, vec![("sub", entry.at)]));
        if !texts.is_empty() && !has_auth {
            let what = "`assertion` repeats claims of clients' tokens, and the file has no `auth`";
            self.error(at, what, "add `auth`, or claims: [] for assertions that name no user");
        }
        if texts.len() > MOST {
            self.error(at, format!("`claims` has more than {MOST} entries"), "remove some of them");
        }
        let mut claims: Vec<String> = Vec::new();
        for (name, at) in texts {
            if name.is_empty() || OWN.contains(&name) || claims.iter().any(|known| known == name) {
                let what = format!("{} cannot be one of `claims`", quoted(name));
                self.error(at, what, "names of other claims, each once: sub, scope, tenant_id");
            } else {
                claims.push(name.to_owned());
            }
        }
        claims
    }
}

/// How a key signs, and its public half.
fn kind_of(pem: &str) -> Option<(&'static str, oauth::jose::Jwk)> {
    ALGORITHMS.into_iter().find_map(|algorithm| {
        let mut public = Signer::from_pem(pem, algorithm).ok()?.public()?;
        public.kid = Some(public.thumbprint()?);
        Some((algorithm, public))
    })
}
