//! The token endpoint: grants, client authentication, and responses (RFC 6749, 7523, 8693, 8707, 9449).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::backend::{WebRequest, WebResponse};
use super::dpop::{Prover, now};
use super::error::{OAuthError, quoted};
use super::jose::Signer;
use super::metadata::Issuer;
use super::options::{Client, Credential};
use super::secret::{Secret, random};
use super::web::Web;

/// The longest token that is kept.
const MAX_TOKEN: usize = 64 << 10;
/// How long a client's assertion is good.
const ASSERTION_LIFETIME: u64 = 60;
/// How early a token counts as expired, in seconds.
const EXPIRY_MARGIN: u64 = 10;

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The kinds of tokens that servers accept (RFC 8693, 3).
pub(crate) const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
const FORM: &str = "application/x-www-form-urlencoded";

/// An issued token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    pub(crate) access: Secret,
    /// Whether it is bound to this client's key.
    pub(crate) bound: bool,
    pub(crate) refresh: Option<Secret>,
    /// Its scopes, where the issuer says.
    pub(crate) scopes: Option<Vec<String>>,
    /// When it expires, in seconds since 1970.
    pub(crate) expires: Option<u64>,
}

impl Token {
    pub(crate) fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= now() + EXPIRY_MARGIN)
    }

    /// Whether it is known to have all of these scopes.
    pub(crate) fn grants(&self, scopes: &[String]) -> bool {
        scopes.iter().all(|scope| self.scopes.as_ref().is_some_and(|own| own.contains(scope)))
    }
}

/// One request to a token endpoint.
pub(crate) struct TokenRequest<'a> {
    pub(crate) web: &'a Web,
    pub(crate) endpoint: &'a Url,
    pub(crate) client: &'a Client,
    /// How the client authenticates.
    pub(crate) method: Method,
    /// The audience of an assertion.
    pub(crate) audience: &'a str,
}

/// How a client authenticates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// By its id alone.
    None,
    /// By its password in a header.
    Basic,
    /// By its password in the body.
    Post,
    /// By a token that it signed.
    Key,
}

impl Method {
    /// The name in metadata.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Key => "private_key_jwt",
        }
    }

    /// The method of a client whose configuration names it: by header where it does not.
    pub(crate) fn configured(client: &Client) -> Self {
        match client.credential {
            Credential::None => Self::None,
            Credential::Key { .. } => Self::Key,
            Credential::Secret(_) if client.method.as_deref() == Some(Self::Post.as_str()) => Self::Post,
            Credential::Secret(_) => Self::Basic,
        }
    }

    /// The method for `client`: that of its registration, else the best that the issuer takes.
    pub(crate) fn of(client: &Client, issuer: &Issuer) -> Self {
        let registered = client.method.as_deref();
        let offers = |method: Self| match (registered, &issuer.client_authentication) {
            (Some(registered), _) => registered == method.as_str(),
            // The default where the issuer lists nothing (RFC 8414, 2).
            (None, None) => method == Self::Basic,
            (None, Some(listed)) => listed.iter().any(|listed| listed == method.as_str()),
        };
        let fitting: &[Self] = match client.credential {
            Credential::None => return Self::None,
            Credential::Key { .. } => return Self::Key,
            Credential::Secret(_) => &[Self::Basic, Self::Post, Self::None],
        };
        fitting.iter().copied().find(|method| offers(*method)).unwrap_or(Self::Basic)
    }
}

impl TokenRequest<'_> {
    /// Requests a token. `prover` binds it to a key; a demanded nonce is sent once.
    pub(crate) async fn token(&self, form: &[(&str, &str)], prover: Option<&Prover>) -> Result<Token, OAuthError> {
        let mut may_retry = prover.is_some();
        loop {
            let response = self.send(form, prover).await?;
            let nonce = response.header("dpop-nonce");
            if let (Some(prover), Some(nonce)) = (prover, nonce) {
                prover.learn(self.endpoint, nonce);
            }
            let wants_nonce = response.object().is_some_and(|object| object["error"] == "use_dpop_nonce");
            if wants_nonce && nonce.is_some() && std::mem::take(&mut may_retry) {
                continue;
            }
            return self.read(&response);
        }
    }

    /// Exchanges one token for another (RFC 8693), which is not an access token.
    pub(crate) async fn exchange(&self, form: &[(&str, &str)], kind: &str) -> Result<Secret, OAuthError> {
        let response = self.send(form, None).await?;
        let object = self.object(&response)?;
        if object["issued_token_type"] != kind {
            return Err(self.unusable("it issues a token of another kind"));
        }
        self.text(&object, "access_token")?.ok_or_else(|| self.unusable("its response has no token"))
    }

    /// Exchanges a user's access token for one for another server (RFC 8693).
    pub(crate) async fn exchange_access(&self, form: &[(&str, &str)]) -> Result<Token, OAuthError> {
        let response = self.send(form, None).await?;
        let kind = self.object(&response)?["issued_token_type"].clone();
        if kind != ACCESS_TOKEN && kind != JWT {
            return Err(self.unusable("it issues a token of another kind"));
        }
        self.read(&response)
    }

    /// Requests the identity token of the user who signed in (OpenID Connect Core 1.0, 3.1.3); the access token is dropped.
    pub(crate) async fn identity(&self, form: &[(&str, &str)]) -> Result<Secret, OAuthError> {
        let response = self.send(form, None).await?;
        let object = self.object(&response)?;
        let missing = || self.unusable("its response has no identity token: it must be a provider of OpenID Connect");
        self.text(&object, "id_token")?.ok_or_else(missing)
    }

    pub(crate) async fn send(&self, form: &[(&str, &str)], prover: Option<&Prover>) -> Result<WebResponse, OAuthError> {
        let request = self.request(form, prover)?;
        self.web.send(request).await
    }

    fn request(&self, form: &[(&str, &str)], prover: Option<&Prover>) -> Result<WebRequest, OAuthError> {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(form);
        let mut basic = None;
        match (self.method, &self.client.credential) {
            (Method::Basic, Credential::Secret(secret)) => basic = Some(basic_header(&self.client.id, secret)),
            (Method::Post, Credential::Secret(secret)) => {
                body.append_pair("client_id", &self.client.id).append_pair("client_secret", secret.reveal());
            }
            (Method::Key, Credential::Key { pem, alg }) => {
                let assertion = self.assertion(pem, alg)?;
                body.append_pair("client_id", &self.client.id).append_pair("client_assertion_type", ASSERTION);
                body.append_pair("client_assertion", &assertion);
            }
            // An assertion alone says who asks (RFC 7523, 2.1).
            _ if self.client.id.is_empty() => {}
            _ => _ = body.append_pair("client_id", &self.client.id),
        }
        let mut request = WebRequest::post(self.endpoint, FORM, body.finish());
        if let Some(basic) = basic {
            request = request.with("authorization", basic);
        }
        if let Some(prover) = prover {
            request = request.with("dpop", prover.proof("POST", self.endpoint, None));
        }
        Ok(request)
    }

    fn assertion(&self, pem: &Secret, alg: &str) -> Result<String, OAuthError> {
        let signer = Signer::from_pem(pem.reveal(), alg)
            .map_err(|why| OAuthError::new(why.to_string(), &self.client.id, "the key that the client registered"))?;
        let (id, now) = (&self.client.id, now());
        let claims = json!({
            "iss": id, "sub": id, "aud": self.audience, "jti": random(), "iat": now, "exp": now + ASSERTION_LIFETIME,
        });
        Ok(signer.sign(json!({ "typ": "JWT" }), &claims))
    }

    fn read(&self, response: &WebResponse) -> Result<Token, OAuthError> {
        let object = self.object(response)?;
        let access = self.text(&object, "access_token")?.ok_or_else(|| self.unusable("its response has no token"))?;
        let kind = object["token_type"].as_str().unwrap_or_default();
        let bound = kind.eq_ignore_ascii_case("dpop");
        if !bound && !kind.eq_ignore_ascii_case("bearer") {
            return Err(self.unusable("it issues tokens of an unsupported type"));
        }
        let lifetime = object["expires_in"].as_u64().or_else(|| object["expires_in"].as_str()?.parse().ok());
        let scopes = object["scope"].as_str();
        Ok(Token {
            access,
            bound,
            refresh: self.text(&object, "refresh_token")?,
            scopes: scopes.map(|scopes| scopes.split_ascii_whitespace().map(str::to_owned).collect()),
            expires: lifetime.map(|lifetime| now().saturating_add(lifetime)),
        })
    }

    /// The body of a successful response.
    fn object(&self, response: &WebResponse) -> Result<Value, OAuthError> {
        let object = response.object();
        if (200..300).contains(&response.status) {
            return object.ok_or_else(|| self.unusable("its response is not a JSON object"));
        }
        let Some(error) = object.as_ref().and_then(|object| object["error"].as_str()) else {
            return Err(self.unusable(&format!("it answers with HTTP {}", response.status)));
        };
        let more = object.as_ref().and_then(|object| object["error_description"].as_str());
        let text = more.map_or_else(|| error.to_owned(), |more| format!("{error}: {more}"));
        let what = format!("the token endpoint declines: {}", quoted(&text));
        Err(OAuthError::at(what, self.endpoint, "another client, account or scope").declined_with(error))
    }

    /// A member that is used in headers later.
    fn text(&self, object: &Value, member: &str) -> Result<Option<Secret>, OAuthError> {
        let Some(text) = object[member].as_str() else { return Ok(None) };
        let fits = !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|b| b.is_ascii_graphic());
        // Also what is refused is a secret.
        let secret = self.web.secrets.heard(Secret::new(text));
        if fits { Ok(Some(secret)) } else { Err(self.unusable("it issues an invalid token")) }
    }

    fn unusable(&self, what: &str) -> OAuthError {
        OAuthError::at(format!("the token endpoint cannot be used: {what}"), self.endpoint, "ask who runs it")
    }
}

/// Id and password, encoded as a form's are first (RFC 6749, 2.3.1).
fn basic_header(id: &str, secret: &Secret) -> String {
    use base64::Engine as _;
    let form = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", form(id), form(secret.reveal()));
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(methods: Option<&[&str]>) -> Issuer {
        let mut document = json!({ "issuer": "https://as.example", "token_endpoint": "https://as.example/token" });
        if let Some(methods) = methods {
            document["token_endpoint_auth_methods_supported"] = json!(methods);
        }
        Issuer::read(&document).expect("enough")
    }

    #[test]
    fn a_client_authenticates_by_a_method_that_the_issuer_accepts() {
        let secret = Client::new("me", Credential::Secret(Secret::new("s3cret")));
        let registered = Client { method: Some("client_secret_post".to_owned()), ..secret.clone() };
        for (client, methods, expected) in [
            (&secret, None, Method::Basic),
            (&secret, Some(&["client_secret_post"][..]), Method::Post),
            (&secret, Some(&["client_secret_post", "client_secret_basic"][..]), Method::Basic),
            (&secret, Some(&["none"][..]), Method::None),
            (&registered, Some(&["client_secret_basic"][..]), Method::Post),
            (&Client::new("me", Credential::None), Some(&["client_secret_basic"][..]), Method::None),
        ] {
            assert_eq!(Method::of(client, &issuer(methods)), expected, "{methods:?}");
        }
    }

    #[test]
    fn invalid_tokens_are_refused() {
        let options = super::super::options::Options::new(None);
        let backend = std::sync::Arc::new(super::super::backend::NetBackend::new(&options));
        let verifier = std::sync::Arc::new(super::super::verifier::StrictVerifier);
        let limit = std::time::Duration::from_secs(1);
        let secrets = super::super::secret::SecretListener::default();
        let web = Web { backend, verifier, limit, named: Vec::new(), reach: tokio::sync::OnceCell::new(), secrets };
        let (endpoint, client) =
            (Url::parse("https://as.example/token").expect("a URL"), Client::new("me", Credential::None));
        let request =
            TokenRequest { web: &web, endpoint: &endpoint, client: &client, method: Method::None, audience: "" };
        let read = |status: u16, body: &str| {
            request.read(&WebResponse { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
        };
        let good =
            read(200, r#"{"access_token":"t","token_type":"bearer","expires_in":60,"scope":"a b"}"#).expect("a token");
        assert!(!good.is_expired() && good.grants(&["a".to_owned()]) && !good.grants(&["c".to_owned()]));
        for body in [
            "",
            "[]",
            "{}",
            r#"{"access_token":"t"}"#,
            r#"{"access_token":"t","token_type":"mac"}"#,
            r#"{"access_token":"a\r\nb","token_type":"Bearer"}"#,
            r#"{"access_token":"","token_type":"Bearer"}"#,
        ] {
            assert!(read(200, body).is_err(), "{body}");
        }
        let error = read(400, r#"{"error":"invalid_grant","error_description":"no\u001b[31m"}"#).expect_err("declined");
        assert!(error.to_string().contains("invalid_grant") && !error.to_string().contains('\u{1b}'));
    }
}
