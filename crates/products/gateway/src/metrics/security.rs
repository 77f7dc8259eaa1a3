//! Requests that were refused for who sent them. Every series is there from the start, so that an alert sees the first event.

use std::sync::atomic::{AtomicU64, Ordering};

use net::egress::{EgressPart, egress_refusals};
use oauth::resource::TokenFlaw;

use super::Page;

/// Why a request was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthFailure {
    /// It has no token.
    Missing,
    /// Its token is not valid.
    Invalid,
    /// Its token is valid, but lacks a scope.
    Scope,
}

/// What belongs to another client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    Session,
    RequestState,
    Task,
}

const REASONS: [&str; 3] = ["no_token", "invalid_token", "insufficient_scope"];
const FLAWS: [&str; 9] = ["form", "key", "signature", "issuer", "audience", "time", "bound", "revoked", "inactive"];

/// All counters.
#[derive(Debug, Default)]
pub(crate) struct Security {
    failures: [AtomicU64; REASONS.len()],
    flaws: [AtomicU64; FLAWS.len()],
    cross_tenant: AtomicU64,
}

fn add(counters: &[AtomicU64], index: usize) {
    if let Some(counter) = counters.get(index) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Security {
    /// A request was not let in.
    pub(crate) fn refused(&self, why: AuthFailure) {
        let index = match why {
            AuthFailure::Missing => 0,
            AuthFailure::Invalid => 1,
            AuthFailure::Scope => 2,
        };
        add(&self.failures, index);
    }

    /// A token was found invalid.
    pub(crate) fn flawed(&self, flaw: TokenFlaw) {
        let index = match flaw {
            TokenFlaw::Form => 0,
            TokenFlaw::Key => 1,
            TokenFlaw::Signature => 2,
            TokenFlaw::Issuer => 3,
            TokenFlaw::Audience => 4,
            TokenFlaw::Time => 5,
            TokenFlaw::Bound => 6,
            TokenFlaw::Revoked => 7,
            TokenFlaw::Inactive => 8,
        };
        add(&self.flaws, index);
    }

    /// A token has expired while what it opened was still in use.
    pub(crate) fn expired(&self) {
        self.flawed(TokenFlaw::Time);
        self.refused(AuthFailure::Invalid);
    }

    /// A client named what belongs to another one. It got nothing of it.
    pub(crate) fn crossed(&self, what: Foreign) {
        self.cross_tenant.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(what = ?what, "a client named what belongs to another client");
    }

    /// Adds the counters to a page.
    pub(crate) fn write(&self, page: &mut Page) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let name = "proof_gateway_auth_failures_total";
        page.family(name, "counter", "Requests that were not let in, by reason.");
        for (reason, counter) in REASONS.iter().zip(&self.failures) {
            page.sample(name, &[("reason", reason)], read(counter));
        }
        let name = "proof_gateway_token_validation_failures_total";
        page.family(name, "counter", "Tokens that were found invalid, by what is wrong with them.");
        for (flaw, counter) in FLAWS.iter().zip(&self.flaws) {
            page.sample(name, &[("flaw", flaw)], read(counter));
        }
        let name = "proof_gateway_cross_tenant_attempts_total";
        page.family(name, "counter", "Requests that named a session, a task or a state of another client.");
        page.sample(name, &[], read(&self.cross_tenant));
        let name = "proof_gateway_egress_refused_total";
        page.family(
            name,
            "counter",
            "Connections that were not made, by the part of the address that `egress` forbids.",
        );
        for part in EgressPart::ALL {
            page.sample(name, &[("part", part.as_str())], egress_refusals(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use oauth::resource::TokenFlaw;

    use super::{AuthFailure, Foreign, Page, Security};

    #[test]
    fn every_reason_has_its_own_series() {
        let security = Security::default();
        security.refused(AuthFailure::Scope);
        security.flawed(TokenFlaw::Audience);
        security.crossed(Foreign::Task);
        let mut page = Page::default();
        security.write(&mut page);
        let page = page.into_text();
        for line in [
            "proof_gateway_auth_failures_total{reason=\"no_token\"} 0",
            "proof_gateway_auth_failures_total{reason=\"insufficient_scope\"} 1",
            "proof_gateway_token_validation_failures_total{flaw=\"audience\"} 1",
            "proof_gateway_token_validation_failures_total{flaw=\"time\"} 0",
            "proof_gateway_cross_tenant_attempts_total 1",
        ] {
            assert!(page.lines().any(|one| one == line), "{line}\n{page}");
        }
    }
}
