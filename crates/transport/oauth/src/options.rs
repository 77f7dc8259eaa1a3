//! The options of an authorizer: the client, its credentials, the grant, and how the user consents. Values only.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;
use wire::Revision;

use super::issuer_trust::IssuerTrust;
use super::secret::{Secret, SecretListener};
use net::tap::Tap;

/// How an [`Authorizer`](super::Authorizer) gets tokens.
#[derive(Clone, Debug)]
pub struct Options {
    /// The revision spoken with the server, if known. Until 2025-03-26, and if it is unknown, the server's own origin may
    /// issue tokens.
    pub revision: Option<Revision>,
    /// The only issuer to get tokens from, exactly as its metadata names it; the one that the server names where `None`.
    pub issuer: Option<String>,
    /// What is decided about an issuer that the user did not name, where it would get credentials.
    pub trust: IssuerTrust,
    /// The client, if it is registered already.
    pub client: Option<Client>,
    /// The URL of the client's metadata document, which some issuers accept as its id.
    pub document: Option<Url>,
    /// What the client presents to get a token.
    pub grant: Grant,
    /// How the user consents.
    pub agent: Agent,
    /// Which scopes are requested.
    pub scopes: Scopes,
    /// The file that stores registrations and tokens between runs.
    pub cache: Option<PathBuf>,
    /// A PEM file of certificates to trust besides the system's.
    pub ca: Option<PathBuf>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Where the traffic with authorization servers is recorded.
    pub tap: Option<Tap>,
    /// Hears every secret that the authorizer gets or reads from its cache, before it is used.
    pub secrets: SecretListener,
}

impl Options {
    /// Options for an unregistered client, which registers itself and follows redirects without a browser.
    pub fn new(revision: Option<Revision>) -> Self {
        Self {
            revision,
            issuer: None,
            trust: IssuerTrust::Named,
            client: None,
            document: None,
            grant: Grant::Code,
            agent: Agent::Headless,
            scopes: Scopes::Needed,
            cache: None,
            ca: None,
            timeout: Duration::from_secs(10),
            tap: None,
            secrets: SecretListener::default(),
        }
    }

    /// The addresses that the user named, which may be anywhere.
    pub(crate) fn named_addresses(&self) -> Vec<Url> {
        let of_client = self.client.as_ref().and_then(|client| client.issuer.as_ref());
        let issuers = self.issuer.iter().chain(of_client).filter_map(|issuer| Url::parse(issuer).ok());
        let provider = match &self.grant {
            Grant::Enterprise(enterprise) => Some(enterprise.token_endpoint.clone()),
            _ => None,
        };
        issuers.chain(provider).collect()
    }

    /// The revision whose rules apply: the newest if it is unknown.
    pub(crate) fn rules(&self) -> Revision {
        self.revision.unwrap_or(Revision::NEWEST)
    }
}

/// A client that an authorization server knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// How it authenticates.
    #[serde(rename = "proof")]
    pub credential: Credential,
    /// The issuer that it is registered with, if known. Its id is never sent to another issuer.
    pub issuer: Option<String>,
    /// The method of authentication that it was registered with.
    pub method: Option<String>,
    /// The redirect address that it was registered with.
    pub redirect: Option<String>,
}

impl Client {
    /// A client of that id.
    pub fn new(id: impl Into<String>, credential: Credential) -> Self {
        Self { id: id.into(), credential, issuer: None, method: None, redirect: None }
    }
}

/// How a client authenticates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Credential {
    /// Not at all: a public client.
    None,
    /// By a password.
    Secret(Secret),
    /// By tokens signed with its key.
    Key {
        /// The private key: PEM, PKCS #8.
        pem: Secret,
        /// The algorithm: ES256, ES384, RS256 or EdDSA.
        alg: String,
    },
}

/// What the client presents to get a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The consent of a user: authorization code with PKCE.
    Code,
    /// The client itself, in its own name.
    ClientCredentials,
    /// A token from another issuer that identifies this client (workload identity, RFC 7523).
    Assertion(Secret),
    /// A user's sign-in at an enterprise's identity provider, which is exchanged there first.
    Enterprise(Box<Enterprise>),
}

/// An enterprise's identity provider and what it knows of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enterprise {
    /// Its token endpoint.
    pub token_endpoint: Url,
    /// The client, as the provider knows it.
    pub client: Client,
    /// The user's identity token.
    pub id_token: Secret,
}

/// Which scopes are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// Those that the challenge names, else those that the metadata lists.
    Needed,
    /// All that the challenge or the metadata names.
    All,
}

/// How the user consents.
#[derive(Clone, Debug)]
pub enum Agent {
    /// Follow the redirects without a browser until they lead back.
    Headless,
    /// A person with a browser.
    Browser(Browser),
}

/// How a person consents in a browser.
#[derive(Clone)]
pub struct Browser {
    /// Shows the URL to open.
    pub show_url: Arc<dyn Fn(&Url) + Send + Sync>,
    /// The timeout of the consent.
    pub timeout: Duration,
    /// The loopback port of the redirect; `None` uses a free one.
    pub port: Option<u16>,
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("timeout", &self.timeout).field("port", &self.port).finish_non_exhaustive()
    }
}
