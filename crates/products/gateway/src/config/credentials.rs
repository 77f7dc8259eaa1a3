//! Reads how the gateway identifies itself: `credentials` of an upstream, and `introspection` under `auth`. Secrets come from
//! variables and files alone, and no message shows one.

use std::time::Duration;

use document::{Content, Entry, Position, nearest, quoted};
use net::egress::{Egress, EgressRules};
use oauth::jose::Signer;
use oauth::resource::Introspection;
use oauth::{Client, Credential, Secret, is_loopback};
use url::Url;

use super::Reader;
use super::members::Members;
use crate::settings::{CredentialGrant, CredentialSettings, Target};

const CREDENTIALS: &[&str] = &["grant", "issuer", "token_endpoint", "client", "scopes", "audience", "resource"];
const INTROSPECTION: &[&str] = &["endpoint", "client", "ttl"];
const CLIENT: &[&str] = &["id", "secret", "method", "key", "algorithm"];
const GRANTS: [&str; 3] = ["client-credentials", "token-exchange", "authorization-code"];
const METHODS: [&str; 2] = ["client_secret_basic", "client_secret_post"];
const ALGORITHMS: [&str; 4] = ["ES256", "ES384", "RS256", "EdDSA"];
/// How long a verdict of an authorization server counts.
const TTL: Duration = Duration::from_secs(30);
const LONGEST_TTL: Duration = Duration::from_mins(5);
/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

impl Reader<'_> {
    /// `credentials` of an upstream at `target`, whose headers may not hold a token, too.
    pub(super) fn credentials(
        &mut self,
        entry: &Entry,
        (target, rules): (&Target, &EgressRules),
        has_auth: bool,
    ) -> Option<CredentialSettings> {
        let members = self.members("`credentials`", entry.at, &entry.node, CREDENTIALS)?;
        self.fits_credentials(entry, target);
        let grant =
            self.required(entry, &members, "grant", "grant: client-credentials, token-exchange or authorization-code");
        let grant = grant.and_then(|entry| self.grant(entry, has_auth));
        let by_consent = grant == Some(CredentialGrant::AuthorizationCode);
        let client = match members.get("client") {
            None if by_consent => None,
            _ => self.required(entry, &members, "client", "client: { id: gateway, secret: { from_env: NAME } }"),
        };
        let client = client.map(|entry| self.oauth_client(entry));
        if by_consent {
            self.fits_consent(entry, &members);
        }
        let mut address = |name| members.get(name).and_then(|entry| Some((self.secure_url(entry)?, entry.at)));
        let (issuer, token_endpoint) = (address("issuer"), address("token_endpoint"));
        let urls: Vec<_> = issuer.iter().chain(&token_endpoint).map(|((_, url), at)| (url, *at)).collect();
        let egress = Some(self.egress_for_tokens(rules, target, &urls));
        let issuer = issuer.map(|((text, _), _)| text);
        let token_endpoint = token_endpoint.map(|((_, url), _)| url);
        let is_named = members.get("issuer").is_some() || members.get("token_endpoint").is_some();
        if !is_named && !by_consent && !members.has_unknown {
            let remedy = "add `issuer`: the authorization server that may get the gateway's credentials";
            self.error(entry.at, "`credentials` has neither `issuer` nor `token_endpoint`", remedy);
        }
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        let audience = members.get("audience").and_then(|entry| self.text(entry)).map(str::to_owned);
        let resource = members.get("resource").and_then(|entry| self.text(entry)).map(str::to_owned);
        let (grant, client) = (grant?, if by_consent && client.is_none() { None } else { Some(client??) });
        Some(CredentialSettings { grant, issuer, token_endpoint, client, scopes, audience, resource, egress })
    }

    /// What users consent to has no fixed token endpoint, and credentials go to a named authorization server alone.
    fn fits_consent(&mut self, entry: &Entry, members: &Members<'_>) {
        for name in ["token_endpoint", "audience"] {
            if let Some(entry) = members.get(name) {
                let what = format!("`{name}` cannot be used with grant: authorization-code");
                self.error(entry.at, what, "remove it: the gateway takes it from the metadata");
            }
        }
        if members.get("client").is_some() && members.get("issuer").is_none() {
            let remedy = "add `issuer`: the authorization server that may get the gateway's credentials";
            self.error(entry.at, "`credentials` has a `client` and no `issuer`", remedy);
        }
    }

    /// Metadata of the server itself is asked for, too.
    fn egress_for_tokens(&mut self, rules: &EgressRules, target: &Target, urls: &[(&Url, Position)]) -> Egress {
        match target {
            Target::Http(address) | Target::StreamableHttp(address) => {
                self.egress_to(&rules.naming([&address.url]), urls)
            }
            _ => self.egress_to(rules, urls),
        }
    }

    fn fits_credentials(&mut self, entry: &Entry, target: &Target) {
        let (Target::Http(address) | Target::StreamableHttp(address)) = target else {
            let what = "`credentials` need an http or https `url` with Streamable HTTP";
            return self.error(entry.at, what, "remove it, or use `headers` or `env`");
        };
        if address.url.scheme() != "https" && !is_loopback(&address.url) {
            self.error(entry.at, "`credentials` need an https `url`, or one on this machine", "change the `url`");
        }
        if address.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            let what = "the upstream has `credentials` and an Authorization header";
            self.error(entry.at, what, "keep one of them");
        }
    }

    pub(super) fn required<'n>(
        &mut self,
        entry: &Entry,
        members: &Members<'n>,
        name: &str,
        example: &str,
    ) -> Option<&'n Entry> {
        let found = members.get(name);
        if found.is_none() && !members.has_unknown {
            self.error(entry.at, format!("{} has no `{name}`", quoted(&entry.key)), format!("add {example}"));
        }
        found
    }

    fn grant(&mut self, entry: &Entry, has_auth: bool) -> Option<CredentialGrant> {
        let text = self.text(entry)?;
        match text {
            "client-credentials" => Some(CredentialGrant::ClientCredentials),
            "token-exchange" => {
                if !has_auth {
                    let what = "`token-exchange` exchanges clients' tokens, and the file has no `auth`";
                    self.error(entry.at, what, "add `auth`, or use grant: client-credentials");
                }
                Some(CredentialGrant::TokenExchange)
            }
            "authorization-code" => {
                if !has_auth {
                    let what = "`authorization-code` is for users, and the file has no `auth`";
                    self.error(entry.at, what, "add `auth`, or use grant: client-credentials");
                }
                Some(CredentialGrant::AuthorizationCode)
            }
            _ => {
                let known = nearest(text, GRANTS.into_iter());
                self.error(entry.at, format!("{} is not a value of `grant`", quoted(text)), known);
                None
            }
        }
    }

    /// `introspection` under `auth`.
    pub(super) fn introspection(&mut self, entry: &Entry) -> Option<Introspection> {
        let members = self.members("`introspection`", entry.at, &entry.node, INTROSPECTION)?;
        let endpoint = self.required(entry, &members, "endpoint", "endpoint: https://auth.example/introspect");
        let endpoint = endpoint.and_then(|entry| Some((self.secure_url(entry)?.1, entry.at)));
        let client = self.required(entry, &members, "client", "client: { id: gateway, secret: { from_env: NAME } }");
        let client = client.and_then(|entry| self.oauth_client(entry));
        let ttl = members.get("ttl").and_then(|entry| {
            let ttl = self.duration(entry)?;
            if ttl > LONGEST_TTL {
                self.error(entry.at, "`ttl` is longer than 5 min", "1ms to 5m: so long a revoked token is accepted");
            }
            Some(ttl)
        });
        let ((endpoint, at), client) = (endpoint?, client?);
        let egress = Some(self.egress_to(&self.egress.clone(), &[(&endpoint, at)]));
        Some(Introspection { endpoint, client, ttl: ttl.unwrap_or(TTL), timeout: PATIENCE, egress })
    }

    pub(super) fn oauth_client(&mut self, entry: &Entry) -> Option<Client> {
        let members = self.members("`client`", entry.at, &entry.node, CLIENT)?;
        let id = self.required(entry, &members, "id", "id: gateway").and_then(|entry| self.text(entry));
        let method = members.get("method").and_then(|entry| self.one_of(entry, &METHODS));
        let algorithm = members.get("algorithm").and_then(|entry| self.one_of(entry, &ALGORITHMS));
        let credential = match (members.get("secret"), members.get("key")) {
            (Some(secret), None) => {
                if let Some(entry) = members.get("algorithm") {
                    self.error(entry.at, "`algorithm` needs a `key`", "remove it");
                }
                Credential::Secret(self.secret(secret)?)
            }
            (None, Some(key)) => {
                if let Some(entry) = members.get("method") {
                    self.error(entry.at, "`method` needs a `secret`: a key means private_key_jwt", "remove it");
                }
                let (pem, alg) = (self.secret(key)?, algorithm.unwrap_or_else(|| "ES256".to_owned()));
                if Signer::from_pem(pem.reveal(), &alg).is_err() {
                    let what = format!("`key` is not a private key for {alg}");
                    self.error(key.at, what, "a PEM file with a PKCS #8 key, and its `algorithm`");
                }
                Credential::Key { pem, alg }
            }
            (Some(_), Some(key)) => {
                self.error(key.at, "`client` has both `secret` and `key`", "keep one of them");
                return None;
            }
            (None, None) => {
                if !members.has_unknown {
                    let remedy = "add secret: { from_env: NAME }, or key: { from_file: PATH }";
                    self.error(entry.at, "`client` has neither `secret` nor `key`", remedy);
                }
                return None;
            }
        };
        Some(Client { method, ..Client::new(id?, credential) })
    }

    pub(super) fn one_of(&mut self, entry: &Entry, known: &[&str]) -> Option<String> {
        let text = self.text(entry)?;
        if known.contains(&text) {
            return Some(text.to_owned());
        }
        let what = format!("{} is not a value of {}", quoted(text), quoted(&entry.key));
        self.error(entry.at, what, nearest(text, known.iter().copied()));
        None
    }

    /// A value that must not stand in the file.
    pub(super) fn secret(&mut self, entry: &Entry) -> Option<Secret> {
        if matches!(entry.node.content, Content::Text(_)) {
            let what = format!("{} stands in the file", quoted(&entry.key));
            self.error(entry.at, what, "{ from_env: NAME } or { from_file: PATH }");
            return None;
        }
        self.value(entry).map(|(value, _)| Secret::new(value))
    }

    /// An address that gets secrets, as it is written and as it is read.
    pub(super) fn secure_url(&mut self, entry: &Entry) -> Option<(String, Url)> {
        let text = self.text(entry)?;
        let secure = |url: &Url| url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url));
        let plain = |url: &Url| url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let url = Url::parse(text).ok().filter(|url| url.has_host() && secure(url) && plain(url));
        if url.is_none() {
            let what = format!("{} is not an https URL, nor one on this machine", quoted(&entry.key));
            self.error(entry.at, what, "https://auth.example: it gets the gateway's credentials");
        }
        url.map(|url| (text.to_owned(), url))
    }
}
