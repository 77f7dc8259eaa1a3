//! A client with faults on its way to a token: an HTTP backend that alters requests, and a verifier that waives one decision.

use std::sync::Arc;

use ::oauth::{
    Agent, Authorizer, Backend, NetBackend, OAuthError, Options, Responding, StrictVerifier, VerificationError,
    Verifier, WebRequest,
};
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::{Fault, Kind};

/// A request whose parameters a fault alters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The authorization request.
    Authorization,
    /// The request for a token, by a code or a refresh token.
    Token,
}

/// A decision that a fault waives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// The `state` of the authorization response.
    State,
    /// The issuer of the authorization response.
    ResponseIssuer,
    /// The issuer of the metadata.
    MetadataIssuer,
    /// Whether PKCE is supported.
    Pkce,
    /// Which issuer knows the client.
    Registration,
}

type Parameters = Vec<(String, String)>;

/// An authorizer with these faults; a strict one where there are none.
pub fn authorizer(resource: Url, mut options: Options, faults: &[&'static Fault]) -> Result<Authorizer, OAuthError> {
    if faults.is_empty() {
        return Authorizer::new(resource, options);
    }
    let faults: Arc<[&'static Fault]> = faults.into();
    if let Agent::Browser(browser) = &mut options.agent {
        let (show_url, faults) = (browser.show_url.clone(), faults.clone());
        browser.show_url = Arc::new(move |url| show_url(&visited(&faults, url)));
    }
    let backend = FaultyBackend { inner: NetBackend::new(&options), faults: faults.clone() };
    Authorizer::with_verifier(resource, options, Arc::new(backend), LaxVerifier(faults))
}

#[derive(Debug)]
struct FaultyBackend {
    inner: NetBackend,
    faults: Arc<[&'static Fault]>,
}

impl Backend for FaultyBackend {
    fn send(&self, mut request: WebRequest) -> Responding<'_> {
        request.url = visited(&self.faults, &request.url);
        if let Some(body) = &request.body {
            let content_type = request.header("content-type").unwrap_or_default();
            request.body = match content_type {
                "application/x-www-form-urlencoded" => Some(form(&self.faults, body)),
                "application/json" => Some(registration(&self.faults, body)),
                _ => request.body,
            };
        }
        self.inner.send(request)
    }
}

/// The address of an authorization request as it is visited; any other address as it is.
fn visited(faults: &[&'static Fault], url: &Url) -> Url {
    let parameters: Parameters = url.query_pairs().into_owned().collect();
    let is_request = parameters.iter().any(|(name, value)| name == "response_type" && value == "code");
    let altered = altered(faults, Step::Authorization, &parameters);
    let mut url = url.clone();
    if is_request && altered != parameters {
        url.query_pairs_mut().clear().extend_pairs(altered);
    }
    url
}

/// The form of a request for a token.
fn form(faults: &[&'static Fault], body: &str) -> String {
    let parameters: Parameters = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let by = |grant: &str| parameters.iter().any(|(name, value)| name == "grant_type" && value == grant);
    if !by("authorization_code") && !by("refresh_token") {
        return body.to_owned();
    }
    let altered = altered(faults, Step::Token, &parameters);
    form_urlencoded::Serializer::new(String::new()).extend_pairs(altered).finish()
}

fn altered(faults: &[&'static Fault], step: Step, parameters: &Parameters) -> Parameters {
    let mut altered = parameters.clone();
    for fault in faults {
        if let Kind::Seeks(alter) = fault.kind {
            alter(step, &mut altered);
        }
    }
    altered
}

/// The document that the client registers with; any other JSON as it is.
fn registration(faults: &[&'static Fault], body: &str) -> String {
    let document = serde_json::from_str::<Value>(body).ok().filter(|document| document.get("redirect_uris").is_some());
    let Some(mut document) = document else { return body.to_owned() };
    for fault in faults {
        if let Kind::Registers(alter) = fault.kind {
            alter(&mut document);
        }
    }
    document.to_string()
}

/// Decides strictly but for the decisions that a fault waives.
#[derive(Debug)]
struct LaxVerifier(Arc<[&'static Fault]>);

impl LaxVerifier {
    fn unless_waived(
        &self,
        decision: Decision,
        strict: Result<(), VerificationError>,
    ) -> Result<(), VerificationError> {
        let waived = self.0.iter().any(|fault| matches!(fault.kind, Kind::Waives(waived) if waived == decision));
        if waived { Ok(()) } else { strict }
    }
}

impl Verifier for LaxVerifier {
    fn state(&self, expected: &str, received: Option<&str>) -> Result<(), VerificationError> {
        self.unless_waived(Decision::State, StrictVerifier.state(expected, received))
    }

    fn response_issuer(
        &self,
        expected: &str,
        announced: bool,
        received: Option<&str>,
    ) -> Result<(), VerificationError> {
        let strict = StrictVerifier.response_issuer(expected, announced, received);
        self.unless_waived(Decision::ResponseIssuer, strict)
    }

    fn metadata_issuer(&self, expected: &str, received: &str) -> Result<(), VerificationError> {
        self.unless_waived(Decision::MetadataIssuer, StrictVerifier.metadata_issuer(expected, received))
    }

    fn pkce(&self, required: bool, listed: Option<&[String]>) -> Result<(), VerificationError> {
        self.unless_waived(Decision::Pkce, StrictVerifier.pkce(required, listed))
    }

    fn registration(&self, issuer: &str, registered_with: &str) -> Result<(), VerificationError> {
        self.unless_waived(Decision::Registration, StrictVerifier.registration(issuer, registered_with))
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn named(name: &str) -> Arc<[&'static Fault]> {
        Arc::new([find(name).expect("it exists")])
    }

    #[test]
    fn each_fault_waives_one_decision_and_no_other() {
        let waived = |name: &str| {
            let lax = LaxVerifier(named(name));
            [
                lax.state("s", None).is_ok(),
                lax.response_issuer("a", true, Some("b")).is_ok(),
                lax.metadata_issuer("a", "b").is_ok(),
                lax.pkce(true, None).is_ok(),
                lax.registration("a", "b").is_ok(),
            ]
        };
        assert_eq!(waived("state-ignored"), [true, false, false, false, false]);
        assert_eq!(waived("iss-ignored"), [false, true, false, false, false]);
        assert_eq!(waived("issuer-ignored"), [false, false, true, false, false]);
        assert_eq!(waived("pkce-unasked"), [false, false, false, true, false]);
        assert_eq!(waived("client-id-shared"), [false, false, false, false, true]);
        assert_eq!(waived("resource-left-out"), [false; 5]);
    }

    #[test]
    fn requests_are_altered_on_their_way_and_others_are_not() {
        let url = |text: &str| Url::parse(text).expect("a URL");
        let request = url("https://as.example/authorize?tenant=1&response_type=code&resource=x&code_challenge=y");
        let other = url("https://as.example/authorize?resource=x");
        let faults = named("resource-left-out");
        assert_eq!(visited(&faults, &request).query(), Some("tenant=1&response_type=code&code_challenge=y"));
        assert_eq!(visited(&faults, &other), other);
        assert_eq!(form(&faults, "grant_type=refresh_token&resource=x"), "grant_type=refresh_token");
        assert_eq!(
            form(&faults, "grant_type=client_credentials&resource=x"),
            "grant_type=client_credentials&resource=x"
        );
        let pkce = named("pkce-left-out");
        assert_eq!(visited(&pkce, &request).query(), Some("tenant=1&response_type=code&resource=x"));
        let code = "grant_type=authorization_code&code=c&code_verifier=v";
        assert_eq!(form(&pkce, code), "grant_type=authorization_code&code=c");
        let untyped = named("application-type-unsaid");
        let document = r#"{"redirect_uris":[],"application_type":"native"}"#;
        assert_eq!(registration(&untyped, document), r#"{"redirect_uris":[]}"#);
        assert_eq!(registration(&untyped, r#"{"application_type":"native"}"#), r#"{"application_type":"native"}"#);
    }
}
