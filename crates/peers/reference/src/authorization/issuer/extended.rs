//! What an extension of authorization brings along: who is known beforehand, the key that others sign with, and what a client
//! is handed. The official suite's names for it are used, so that clients that were written for that find it.

use oauth::jose::{JwkSet, Signer};
use oauth::{Secret, now, random};
use serde_json::{Value, json};

use super::client::Authentication;
use super::{Issuer, name, provider};
use crate::authorization::Extension;

/// The grant of assertions (RFC 7523).
pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The platform that workloads run on (RFC 2606): nobody need ask it anything.
pub(super) const PLATFORM: &str = "https://platform.invalid";
/// How long what is handed over is good, in seconds.
const LASTS: u64 = 3600;
/// Somebody for whom nothing here is.
const NOBODY: &str = "https://nobody.invalid";

/// An extension, with what it takes.
#[derive(Debug)]
pub(super) struct Extended {
    pub(super) kind: Extension,
    /// Signs for the client, for the workload's platform, or for the identity provider.
    pub(super) signer: Signer,
    pub(super) keys: JwkSet,
    /// The private half of that key.
    pem: Secret,
    /// The password of a client that has one.
    password: Secret,
}

impl Extended {
    pub(super) fn new(kind: Extension) -> Self {
        let (signer, pem) = Signer::fresh_with_text();
        let keys = JwkSet { keys: signer.public().into_iter().collect() };
        Self { kind, signer, keys, pem, password: Secret::new(random()) }
    }

    /// The client that is known beforehand: its id, how it shows who it is, and whether it may act in its own name.
    pub(super) fn client(&self) -> (&str, Authentication, bool) {
        match self.kind {
            Extension::Key => (self.id(), Authentication::Key, true),
            Extension::Workload => (self.id(), Authentication::None, false),
            Extension::Enterprise => (self.id(), Authentication::Secret(self.password.clone()), false),
        }
    }

    /// The id of that client.
    pub(super) const fn id(&self) -> &'static str {
        match self.kind {
            Extension::Key => "scenario-key-client",
            Extension::Workload => "scenario-workload",
            Extension::Enterprise => "scenario-enterprise-client",
        }
    }
}

impl Issuer {
    /// What a client must be told beforehand, where the server is called `host`.
    pub(in crate::authorization) fn hands_over(&self, host: &str) -> Value {
        let Some(extended) = &self.extended else { return json!({}) };
        let id = extended.id();
        match extended.kind {
            Extension::Key => json!({
                "client_id": id,
                "private_key_pem": extended.pem.reveal(),
                "signing_algorithm": extended.signer.alg(),
            }),
            Extension::Workload => {
                let assertion = |audience: &str, until: u64| {
                    let claims = json!({
                        "iss": PLATFORM, "sub": "scenario-service", "aud": audience, "jti": random(),
                        "iat": until - LASTS, "exp": until,
                    });
                    extended.signer.sign(json!({ "typ": "JWT" }), &claims)
                };
                let (us, until) = (name(host, ""), now() + LASTS);
                json!({
                    "client_id": id,
                    "valid_jwt": assertion(&us, until),
                    "wrong_audience_jwt": assertion(NOBODY, until),
                    "expired_jwt": assertion(&us, now() - LASTS),
                })
            }
            Extension::Enterprise => json!({
                "client_id": id,
                "client_secret": extended.password.reveal(),
                "idp_client_id": provider::CLIENT,
                "idp_id_token": extended.signed_in(host, now() + LASTS),
                "idp_issuer": provider::name(host),
                "idp_token_endpoint": provider::token_endpoint(host),
            }),
        }
    }
}
