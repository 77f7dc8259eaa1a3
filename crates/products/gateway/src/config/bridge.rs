//! Reads the gateway's own authorization server, in front of a provider: `auth.bridge`.

use std::time::Duration;

use document::Entry;
use net::egress::Egress;
use oauth::LoginSource;
use oauth::redirect::is_private_scheme;

use super::Reader;
use super::members::Members;
use crate::settings::{AuthSettings, BridgeSettings};

const MEMBERS: &[&str] = &[
    "provider",
    "keys",
    "scopes",
    "claims",
    "registration",
    "documents",
    "redirect_schemes",
    "access_token",
    "session",
];
const PROVIDER: &[&str] = &["issuer", "client", "scopes"];
/// Claims that the gateway makes itself.
const OWN: [&str; 13] =
    ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "scope", "scp", "sid", "cnf", "act"];
/// How long access tokens and sessions last.
const ACCESS: Duration = Duration::from_mins(10);
const LONGEST_ACCESS: Duration = Duration::from_hours(1);
const SESSION: Duration = Duration::from_hours(8);
/// How long the provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

impl Reader<'_> {
    /// `auth` of a file whose gateway issues tokens itself. Its name is its own address.
    pub(super) fn bridged(&mut self, entry: &Entry, members: &Members<'_>) -> Option<AuthSettings> {
        for name in ["issuer", "keys", "introspection"] {
            if let Some(entry) = members.get(name) {
                let what = format!("`{name}` cannot be used with `bridge`: the gateway issues the tokens");
                self.error(entry.at, what, "remove it, or `bridge`");
            }
        }
        let public_url = self.required(entry, members, "public_url", "public_url: https://mcp.example");
        let public_url = public_url.and_then(|entry| {
            let url = self.public_url(entry)?;
            if !url.starts_with("https://") && !url::Url::parse(&url).is_ok_and(|url| oauth::is_loopback(&url)) {
                let what = "with `bridge`, `public_url` must have https, or be on this machine";
                self.error(entry.at, what, "https://mcp.example: codes and tokens pass there");
            }
            Some(url)
        });
        let audience = members.get("audience").and_then(|entry| self.text(entry)).map(str::to_owned);
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        let issuer = public_url.clone()?;
        Some(AuthSettings { issuer, keys: None, introspection: None, audience, public_url, scopes, egress: None })
    }

    /// `bridge` itself.
    pub(super) fn bridge(&mut self, entry: &Entry) -> Option<BridgeSettings> {
        let members = self.members("`bridge`", entry.at, &entry.node, MEMBERS)?;
        let example = "provider: { issuer: https://idp.example, client: { id: gateway, secret: { from_env: NAME } } }";
        let provider = self.required(entry, &members, "provider", example).and_then(|entry| self.provider(entry));
        let keys = self.required(entry, &members, "keys", "keys: [{ from_env: BRIDGE_KEY }]");
        let keys = keys.and_then(|entry| self.seal_keys(entry, "[{ from_env: BRIDGE_KEY }]"));
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        let claims = members.get("claims").map(|entry| self.passed_claims(entry)).unwrap_or_default();
        let redirect_schemes = members.get("redirect_schemes").map(|entry| self.redirect_schemes(entry));
        let mut flag = |name| members.get(name).and_then(|entry| self.flag(entry)).unwrap_or(true);
        let (registration, documents) = (flag("registration"), flag("documents"));
        if !registration && !documents {
            let remedy = "remove one of them, or `bridge`";
            self.error(entry.at, "with `registration: false` and `documents: false`, there are no clients", remedy);
        }
        let access_token = members.get("access_token").and_then(|entry| {
            let lasts = self.duration(entry)?;
            if lasts > LONGEST_ACCESS {
                self.error(entry.at, "`access_token` is longer than 1 h", "1s to 1h, such as 10m");
            }
            Some(lasts)
        });
        let session = members.get("session").and_then(|entry| self.duration(entry)).unwrap_or(SESSION);
        let access_token = access_token.unwrap_or(ACCESS);
        for (name, lasts) in [("access_token", access_token), ("session", session)] {
            if let Some(entry) = members.get(name).filter(|_| lasts < Duration::from_secs(1)) {
                self.error(entry.at, format!("`{name}` is shorter than 1 s"), "10m");
            }
        }
        Some(BridgeSettings {
            provider: provider?,
            claims,
            keys: keys?,
            scopes,
            registration,
            documents,
            redirect_schemes: redirect_schemes.unwrap_or_default(),
            access_token,
            session,
            egress: Some(Egress::new(self.egress.clone())),
        })
    }

    fn provider(&mut self, entry: &Entry) -> Option<LoginSource> {
        let members = self.members("`provider`", entry.at, &entry.node, PROVIDER)?;
        let issuer = self.required(entry, &members, "issuer", "issuer: https://idp.example");
        let issuer = issuer.and_then(|entry| Some((self.secure_url(entry)?, entry.at)));
        let client = self.required(entry, &members, "client", "client: { id: gateway, secret: { from_env: NAME } }");
        let client = client.and_then(|entry| self.oauth_client(entry));
        let scopes = members.get("scopes").map(|entry| self.scopes(entry)).unwrap_or_default();
        let ((issuer, url), at) = issuer?;
        let egress = Some(self.egress_to(&self.egress.clone(), &[(&url, at)]));
        Some(LoginSource { issuer, client: client?, scopes, timeout: PATIENCE, egress })
    }

    fn passed_claims(&mut self, entry: &Entry) -> Vec<String> {
        let mut claims = Vec::new();
        for (text, at) in self.texts(entry, "[email, groups]") {
            if text.is_empty() || OWN.contains(&text) {
                let what = format!("`{text}` is not a claim to pass on: the gateway makes it itself");
                self.error(at, what, "a claim of the provider, such as email or groups");
            } else {
                claims.push(text.to_owned());
            }
        }
        claims
    }

    fn redirect_schemes(&mut self, entry: &Entry) -> Vec<String> {
        let mut schemes = Vec::new();
        for (text, at) in self.texts(entry, "[cursor]") {
            if is_private_scheme(text) {
                schemes.push(text.to_owned());
            } else {
                let what = format!("{} is not a scheme of a program", document::quoted(text));
                self.error(at, what, "one that a program has for itself, such as cursor or com.example.app");
            }
        }
        schemes
    }
}
