//! Credentials from the context of the official suite, whose members differ between scenarios.

use faults::client::Fault;
use oauth::{Authorizer, Client, Credential, Enterprise, Grant, IssuerTrust, Options, Secret, SecretListener};
use serde_json::Value;
use url::Url;
use wire::Revision;

use crate::exit;

/// The URL that the suite accepts as a client metadata document.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// The authorizer for the server at `url`, from the `context` of the scenario `name`.
pub(super) fn authorizer(
    url: &Url,
    (revision, faults): (Option<Revision>, &[&'static Fault]),
    name: &str,
    context: &Value,
) -> Result<Authorizer, String> {
    let text = |member: &str| context.get(member).and_then(Value::as_str);
    let secret = |member: &str| text(member).map(Secret::new);
    // A scenario makes its credentials for its own server, and does not say who its issuer is.
    let secrets = SecretListener::new(exit::learn);
    let mut options = Options { trust: IssuerTrust::First, secrets, ..Options::new(revision) };
    options.document = Url::parse(DOCUMENT).ok();
    if let Some(id) = text("client_id") {
        let credential = match (secret("client_secret"), secret("private_key_pem")) {
            (Some(password), _) => Credential::Secret(password),
            (None, Some(pem)) => Credential::Key { pem, alg: text("signing_algorithm").unwrap_or("ES256").to_owned() },
            (None, None) => Credential::None,
        };
        let issuer = text("issuer").map(str::to_owned);
        options.client = Some(Client { issuer, ..Client::new(id, credential) });
    }
    if let Some(assertion) = secret("valid_jwt") {
        options.grant = Grant::Assertion(assertion);
    } else if let (Some(id_token), Some(endpoint)) = (secret("idp_id_token"), text("idp_token_endpoint")) {
        let token_endpoint = Url::parse(endpoint).map_err(|_| "`idp_token_endpoint` is not a URL".to_owned())?;
        let client = Client::new(text("idp_client_id").unwrap_or_default(), Credential::None);
        options.grant = Grant::Enterprise(Box::new(Enterprise { token_endpoint, client, id_token }));
    } else if name.starts_with("auth/client-credentials") {
        options.grant = Grant::ClientCredentials;
    }
    faults::client::authorizer(url.clone(), options, faults).map_err(|error| error.to_string())
}
