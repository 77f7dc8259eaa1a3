//! Which of the issuer's tokens are looked at by its keys, and about which it is asked. Knows no endpoint.

use net::server::http::Grant;
use oauth::jose::Jws;
use oauth::resource::{AcceptedTokens, IntrospectedTokens, IntrospectionRefusal, Keys, TokenFlaw};

use crate::bridge::Bridge;
use crate::settings::AuthSettings;

/// The tokens of an issuer: signed ones by its keys, all others by its word.
#[derive(Debug)]
pub(super) struct Tokens {
    signed: Option<AcceptedTokens>,
    introspected: Option<IntrospectedTokens>,
}

impl Tokens {
    /// Reads the keys, where there are some; with a bridge, all tokens are its own.
    pub(super) async fn start(settings: &AuthSettings, bridge: Option<&Bridge>) -> Result<Self, String> {
        let issuer = &settings.issuer;
        if let Some(bridge) = bridge {
            let signed = AcceptedTokens::new(Keys::fixed(bridge.keys()), issuer.clone());
            return Ok(Self { signed: Some(signed), introspected: None });
        }
        let signed = match settings.keys.clone() {
            Some(source) => {
                Some(AcceptedTokens::new(Keys::read_within(source, settings.egress.clone()).await?, issuer.clone()))
            }
            None => None,
        };
        let introspected = settings.introspection.clone();
        let introspected = introspected.map(|introspection| IntrospectedTokens::new(introspection, issuer.clone()));
        let introspected = introspected.transpose().map_err(|error| error.what().to_owned())?;
        Ok(Self { signed, introspected })
    }

    /// What a token grants that must be for one of `audiences`, on a connection with `certificate`.
    pub(super) async fn grant(
        &self,
        token: &str,
        audiences: Vec<String>,
        certificate: Option<&str>,
    ) -> Result<Grant, IntrospectionRefusal> {
        match (&self.signed, &self.introspected) {
            (Some(signed), introspected) if introspected.is_none() || Jws::read(token).is_ok() => {
                signed.grant(token, audiences, certificate).await.map_err(IntrospectionRefusal::Flaw)
            }
            (_, Some(introspected)) => introspected.grant(token, audiences, certificate).await,
            _ => Err(IntrospectionRefusal::Flaw(TokenFlaw::Key)),
        }
    }
}
