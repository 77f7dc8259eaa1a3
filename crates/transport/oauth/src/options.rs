//! What a client brings along to be authorized: who it is, what it may show, and who agrees for the user. Values only.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;
use wire::Revision;

use super::secret::Secret;
use net::tap::Tap;

/// How an [`Authorizer`](super::Authorizer) goes about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The revision spoken with the server, where that is known. Until 2025-03-26 tokens are looked for at the server's own
    /// origin; where it is not known, there too.
    pub revision: Option<Revision>,
    /// The client as it was registered beforehand, if it was.
    pub client: Option<Client>,
    /// The address of the client's metadata document, which may stand for its id.
    pub document: Option<Url>,
    /// What is shown for a token.
    pub grant: Grant,
    /// Who agrees in the user's name.
    pub agent: Agent,
    /// Which scopes are asked for.
    pub scopes: Scopes,
    /// The file that keeps registrations and tokens from one run to the next.
    pub cache: Option<PathBuf>,
    /// A PEM file of certificates to trust besides the system's.
    pub ca: Option<PathBuf>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Where the traffic with authorization servers is written down.
    pub tap: Option<Tap>,
}

impl Options {
    /// A client that nobody knows yet, which registers itself and follows redirects by hand.
    pub fn new(revision: Option<Revision>) -> Self {
        Self {
            revision,
            client: None,
            document: None,
            grant: Grant::Code,
            agent: Agent::Headless,
            scopes: Scopes::Asked,
            cache: None,
            ca: None,
            timeout: Duration::from_secs(10),
            tap: None,
        }
    }

    /// The revision whose rules are kept: the newest where it is not known.
    pub(crate) fn rules(&self) -> Revision {
        self.revision.unwrap_or(Revision::NEWEST)
    }
}

/// A client that an authorization server knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// How it shows that it is the one.
    pub proof: Proof,
    /// Who knows it, where that is known. It is never named to anybody else.
    pub issuer: Option<String>,
    /// The method of authentication that it was registered with.
    pub method: Option<String>,
    /// The redirect address that it was registered with.
    pub redirect: Option<String>,
}

impl Client {
    /// A client of that id.
    pub fn new(id: impl Into<String>, proof: Proof) -> Self {
        Self { id: id.into(), proof, issuer: None, method: None, redirect: None }
    }
}

/// How a client shows who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proof {
    /// It does not: a public client.
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

/// What is shown for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// The consent of a user: authorization code with PKCE.
    Code,
    /// The client itself, in its own name.
    ClientCredentials,
    /// A token from elsewhere that says who this is (workload identity, RFC 7523).
    Assertion(Secret),
    /// A user's sign-in at an enterprise's identity provider, which is exchanged there first.
    Enterprise(Box<Enterprise>),
}

/// An enterprise's identity provider and what it knows of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enterprise {
    /// Where it exchanges tokens.
    pub token_endpoint: Url,
    /// The client, as the provider knows it.
    pub client: Client,
    /// The user's identity token.
    pub id_token: Secret,
}

/// Which scopes are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// Those that the refusal names, else those that the metadata lists.
    Asked,
    /// All that either names: for who wants to see everything.
    All,
}

/// Who agrees in the user's name.
#[derive(Clone, Debug)]
pub enum Agent {
    /// Nobody need be asked: redirects are followed by hand until they lead back.
    Headless,
    /// A person with a browser.
    Browser(Browser),
}

/// How a person is asked.
#[derive(Clone)]
pub struct Browser {
    /// Is told the address to visit.
    pub tell: Arc<dyn Fn(&Url) + Send + Sync>,
    /// How long the person may take.
    pub patience: Duration,
    /// The port on loopback that the browser is sent back to; any free one where `None`.
    pub port: Option<u16>,
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("patience", &self.patience).field("port", &self.port).finish_non_exhaustive()
    }
}
