//! The authorization request and its response (OAuth 2.1, RFC 7636, RFC 8707, RFC 9207). No I/O: [`agent`](super::agent) visits
//! the address.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::Url;

use super::error::{OAuthError, quoted};
use super::jose;
use super::metadata::Issuer;
use super::secret::{Secret, random};
use super::verifier::{VerificationError, Verifier};

/// A request, and what its response is verified against.
pub(crate) struct Request {
    /// Where the user consents.
    pub(crate) url: Url,
    /// The redirect address.
    pub(crate) redirect: String,
    /// PKCE's code verifier: proves at the token endpoint that the request was ours.
    pub(crate) code_verifier: Secret,
    state: String,
    issuer: String,
    announces_iss: bool,
    verifier: Arc<dyn Verifier>,
}

/// A request as a text that another process can go on with. Holds secrets.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedRequest {
    url: String,
    redirect: String,
    code_verifier: Secret,
    state: String,
    issuer: String,
    announces_iss: bool,
}

/// The parts of a request.
pub(crate) struct RequestParts<'a> {
    pub(crate) issuer: &'a Issuer,
    pub(crate) client: &'a str,
    pub(crate) redirect: String,
    pub(crate) resource: Option<&'a str>,
    pub(crate) scopes: Option<&'a [String]>,
    pub(crate) verifier: &'a Arc<dyn Verifier>,
}

impl Request {
    pub(crate) fn new(parts: RequestParts<'_>) -> Result<Self, OAuthError> {
        let RequestParts { issuer, client, redirect, resource, scopes, verifier } = parts;
        let missing = || OAuthError::new("the issuer has no authorization endpoint", &issuer.id, "another grant");
        let mut url = issuer.authorization_endpoint.clone().ok_or_else(missing)?;
        url.set_fragment(None);
        let (code_verifier, state) = (random(), random());
        let challenge = jose::sha256(&code_verifier);
        let scope = scopes.map(|scopes| scopes.join(" "));
        let required = [
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", &redirect),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let optional = [("resource", resource), ("scope", scope.as_deref())];
        let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
        url.query_pairs_mut().extend_pairs(required.into_iter().chain(optional));
        let code_verifier = Secret::new(code_verifier);
        let (issuer, announces_iss, verifier) = (issuer.id.clone(), issuer.announces_iss, Arc::clone(verifier));
        Ok(Self { url, redirect, code_verifier, state, issuer, announces_iss, verifier })
    }

    /// What is needed to go on with it.
    pub(crate) fn saved(&self) -> SavedRequest {
        SavedRequest {
            url: self.url.to_string(),
            redirect: self.redirect.clone(),
            code_verifier: self.code_verifier.clone(),
            state: self.state.clone(),
            issuer: self.issuer.clone(),
            announces_iss: self.announces_iss,
        }
    }

    /// Restores a saved request, whose response `verifier` verifies; `None` if its address is invalid.
    pub(crate) fn restored(saved: SavedRequest, verifier: Arc<dyn Verifier>) -> Option<Self> {
        let SavedRequest { url, redirect, code_verifier, state, issuer, announces_iss } = saved;
        let url = Url::parse(&url).ok()?;
        Some(Self { url, redirect, code_verifier, state, issuer, announces_iss, verifier })
    }

    /// The request that was made before with this state and code verifier, for the check of its response.
    pub(crate) fn resumed(
        issuer: &Issuer,
        redirect: &str,
        (state, code_verifier): (String, Secret),
        verifier: &Arc<dyn Verifier>,
    ) -> Result<Self, OAuthError> {
        let missing = || OAuthError::new("the issuer has no authorization endpoint", &issuer.id, "another grant");
        let url = issuer.authorization_endpoint.clone().ok_or_else(missing)?;
        let (redirect, issuer, announces_iss) = (redirect.to_owned(), issuer.id.clone(), issuer.announces_iss);
        Ok(Self { url, redirect, code_verifier, state, issuer, announces_iss, verifier: Arc::clone(verifier) })
    }

    /// `state`, by which a service finds the request again.
    pub(crate) fn state(&self) -> &str {
        &self.state
    }

    /// Whether `url` is the redirect address, whatever its query.
    pub(crate) fn is_redirect_target(&self, url: &Url) -> bool {
        let Ok(own) = Url::parse(&self.redirect) else { return false };
        own.origin() == url.origin() && own.path() == url.path() && url.username().is_empty()
    }

    /// Whether a response belongs to this request.
    pub(crate) fn is_answered_by(&self, response_url: &Url) -> bool {
        self.is_redirect_target(response_url)
            && answer(response_url).is_ok_and(|answer| answer.get("state") == Some(&self.state))
    }

    /// The code in a response. State and issuer are verified first: nothing else in a response to another request, or from
    /// another issuer, may be used or shown.
    pub(crate) fn code(&self, response_url: &Url) -> Result<Secret, OAuthError> {
        let refused =
            |what: String| OAuthError::at(what, &self.url, "do not trust this authorization server; ask who runs it");
        if !self.is_redirect_target(response_url) {
            return Err(refused("the answer went to another address".to_owned()));
        }
        let answer =
            answer(response_url).map_err(|duplicate| refused(format!("the answer holds `{duplicate}` twice")))?;
        let received = |name: &str| answer.get(name).map(String::as_str);
        let untrusted = |error: VerificationError| refused(error.to_string());
        self.verifier.state(&self.state, received("state")).map_err(untrusted)?;
        self.verifier.response_issuer(&self.issuer, self.announces_iss, received("iss")).map_err(untrusted)?;
        if let Some(error) = answer.get("error") {
            let description = answer.get("error_description").map(|text| format!(": {text}")).unwrap_or_default();
            let what = format!("the authorization server declines: {}", quoted(&format!("{error}{description}")));
            return Err(OAuthError::at(what, &self.url, "another account, scope or client"));
        }
        let code = answer.get("code").ok_or_else(|| refused("the answer holds no code".to_owned()))?;
        Ok(Secret::new(code.clone()))
    }
}

/// The parameters of a response; the error is the name of a duplicate.
fn answer(response_url: &Url) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for (name, value) in response_url.query_pairs() {
        if found.insert(name.to_string(), value.into_owned()).is_some() {
            return Err(quoted(&name));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(announces_iss: bool) -> Request {
        let document = json!({
            "issuer": "https://as.example",
            "authorization_endpoint": "https://as.example/authorize?tenant=1",
            "token_endpoint": "https://as.example/token",
            "authorization_response_iss_parameter_supported": announces_iss,
        });
        let issuer = Issuer::read(&document).expect("enough");
        let scopes = ["a".to_owned(), "b".to_owned()];
        let verifier: Arc<dyn Verifier> = Arc::new(super::super::verifier::StrictVerifier);
        Request::new(RequestParts {
            issuer: &issuer,
            client: "me",
            redirect: "http://127.0.0.1:1/callback".to_owned(),
            resource: Some("https://rs.example"),
            scopes: Some(&scopes),
            verifier: &verifier,
        })
        .expect("a request")
    }

    fn response_to(request: &Request, query: &str) -> Url {
        let text = format!("http://127.0.0.1:1/callback?{}", query.replace("STATE", &request.state));
        Url::parse(&text).expect("a URL")
    }

    #[test]
    fn a_request_has_all_parameters() {
        let request = request(false);
        let parameters: BTreeMap<_, _> = request.url.query_pairs().into_owned().collect();
        assert_eq!(parameters["resource"], "https://rs.example");
        assert_eq!(parameters["scope"], "a b");
        assert_eq!(parameters["tenant"], "1");
        assert_eq!(parameters["code_challenge_method"], "S256");
        assert_eq!(parameters["code_challenge"], jose::sha256(request.code_verifier.reveal()));
        assert!(request.code_verifier.reveal().len() >= 43 && parameters["state"].len() >= 43);
    }

    #[test]
    fn only_a_response_to_this_request_from_its_issuer_is_accepted() {
        for (announces_iss, query, good) in [
            (false, "code=c&state=STATE", true),
            (true, "code=c&state=STATE&iss=https%3A%2F%2Fas.example", true),
            (false, "code=c&state=STATE&iss=https%3A%2F%2Fas.example", true),
            (true, "code=c&state=STATE", false),
            (true, "code=c&state=STATE&iss=https%3A%2F%2Fas.example%2F", false),
            (true, "code=c&state=STATE&iss=https%3A%2F%2FAS.example", false),
            (false, "code=c&state=STATE&iss=https%3A%2F%2Fevil.example", false),
            (false, "code=c&state=other", false),
            (false, "code=c", false),
            (false, "code=c&code=d&state=STATE", false),
            (false, "state=STATE", false),
            (false, "error=access_denied&state=STATE", false),
        ] {
            let request = request(announces_iss);
            assert_eq!(request.code(&response_to(&request, query)).is_ok(), good, "{announces_iss} {query}");
        }
    }

    #[test]
    fn text_of_another_issuer_is_not_quoted() {
        let request = request(true);
        let error = request
            .code(&response_to(&request, "error=x&error_description=visit+evil&state=STATE&iss=https://evil.example"));
        assert!(!error.expect_err("refused").to_string().contains("visit"));
        let response_url = Url::parse("http://localhost:1/callback?code=c").expect("a URL");
        assert!(!request.is_redirect_target(&response_url));
    }
}
