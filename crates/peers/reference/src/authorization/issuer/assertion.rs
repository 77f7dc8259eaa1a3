//! Assertions (RFC 7521, RFC 7523): those by which a client shows who it is, and those that are shown for a token. Whoever
//! signed them, they are for this issuer, in time, and about whom they are shown for.

use net::server::http::GuardRequest;
use oauth::random;
use serde_json::Value;

use super::authorize::{scopes, target};
use super::client::Registered;
use super::extended::{Extended, JWT_BEARER, PLATFORM};
use super::form::Form;
use super::token::Fault;
use super::{Grant, Issuer, TENANTS, name, provider};
use crate::authorization::{CALL, Extension, READ};
use oauth::resource::{TokenRequirements, text, vouched};

const SIGNED: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Whether a text names one of these issuers. A slash that programs append to an address without a path is forgiven.
pub(super) fn is_named(text: &str, names: &[String]) -> bool {
    names.iter().any(|name| name == text.strip_suffix('/').unwrap_or(text))
}

impl Issuer {
    /// The client that signed `assertion`, where it shows itself by nothing else.
    pub(super) fn signed(
        &self,
        tenant: &str,
        asked: &GuardRequest,
        form: &Form,
        assertion: &str,
    ) -> Option<(String, Registered)> {
        let extended = self.extended.as_ref().filter(|extended| extended.kind == Extension::Key)?;
        let alone = form.text("client_secret").is_none() && !asked.headers.contains_key("authorization");
        if !alone || form.text("client_assertion_type") != Some(SIGNED) {
            return None;
        }
        let id = extended.id();
        let wanted = TokenRequirements {
            issuers: vec![id.to_owned()],
            audiences: self.meant(asked.host()),
            key: None,
            certificate: None,
        };
        let claims = vouched(assertion, &["", "jwt", "client-authentication+jwt"], &extended.keys, &wanted).ok()?;
        let same = text(&claims, "sub") == Some(id) && form.text("client_id").is_none_or(|named| named == id);
        Some((id.to_owned(), self.known(tenant, id)?)).filter(|_| same)
    }

    /// What assertions for us may have as `aud`: the issuer, or its token endpoint.
    fn meant(&self, host: &str) -> Vec<String> {
        let names = self.names(host);
        names.iter().flat_map(|name| [name.clone(), format!("{name}/"), format!("{name}/token")]).collect()
    }

    /// The workload that need not say who it is where its assertion does.
    pub(super) fn implied(&self, form: &Form) -> Option<&'static str> {
        let workload = self.extended.as_ref().filter(|extended| extended.kind == Extension::Workload)?;
        (form.text("grant_type") == Some(JWT_BEARER)).then(|| workload.id())
    }

    /// What an assertion is good for.
    pub(super) fn by_assertion(&self, id: &str, form: &Form, host: &str, audiences: &[String]) -> Result<Grant, Fault> {
        let bad = ("invalid_grant", "the assertion is not good, not for us, or not about you");
        let assertion = form.text("assertion").ok_or(("invalid_request", "no assertion is there"))?;
        let extended = self.extended.as_ref().ok_or(bad)?;
        let claims = match extended.kind {
            Extension::Workload => self.of_workload(extended, assertion, host),
            Extension::Enterprise => of_user(extended, assertion, (id, host)),
            Extension::Key => None,
        };
        let claims = claims.ok_or(bad)?;
        let subject = text(&claims, "sub").ok_or(bad)?.to_owned();
        let granted = text(&claims, "scope");
        let known: Vec<&str> = granted.map_or_else(|| vec![READ, CALL], |scope| scope.split(' ').collect());
        let scopes = scopes(form.text("scope").or(granted), &known)?;
        let resource = target(text(&claims, "resource").or_else(|| form.text("resource")), audiences)?;
        if form.text("resource").is_some_and(|asked| asked != resource) {
            return Err(("invalid_target", "the assertion is for another resource"));
        }
        Ok(Grant { tenant: TENANTS[0], client: id.to_owned(), subject, scopes, resource, family: random(), key: None })
    }

    fn of_workload(&self, extended: &Extended, assertion: &str, host: &str) -> Option<Value> {
        let wanted = TokenRequirements {
            issuers: vec![PLATFORM.to_owned()],
            audiences: self.meant(host),
            key: None,
            certificate: None,
        };
        vouched(assertion, &["", "jwt"], &extended.keys, &wanted).ok()
    }
}

/// The claims of the identity provider about a user, where they were made for that client and this server.
fn of_user(extended: &Extended, assertion: &str, (id, host): (&str, &str)) -> Option<Value> {
    let own = name(host, TENANTS[0]);
    let wanted = TokenRequirements {
        issuers: vec![provider::name(host)],
        audiences: vec![format!("{own}/"), own],
        key: None,
        certificate: None,
    };
    let claims = vouched(assertion, &[provider::ASSERTION], &extended.keys, &wanted).ok()?;
    let whole = text(&claims, "jti").is_some() && claims["iat"].is_number() && text(&claims, "resource").is_some();
    (whole && text(&claims, "client_id") == Some(id)).then_some(claims)
}
