//! The tokens that a server behind the gateway gets from it.

use net::egress::Egress;
use oauth::Client;
use url::Url;

/// Where the tokens for a server come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialSettings {
    /// In whose name the gateway comes.
    pub grant: CredentialGrant,
    /// The authorization server, exactly as its metadata names it. For users' consents, the server's metadata may name it.
    pub issuer: Option<String>,
    /// Its token endpoint; without one, the metadata of `issuer` names it.
    pub token_endpoint: Option<Url>,
    /// The gateway, as the authorization server knows it. Without this, users' consents are asked for by its metadata document
    /// or a registration.
    pub client: Option<Client>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// `audience` of the request.
    pub audience: Option<String>,
    /// `resource` of the request.
    pub resource: Option<String>,
    /// Where connections to the authorization server may lead.
    pub egress: Option<Egress>,
}

/// In whose name the gateway comes to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialGrant {
    /// In its own: all clients use the same token.
    ClientCredentials,
    /// In that of the client's user, by a token that it gets for the client's (RFC 8693).
    TokenExchange,
    /// In that of the client's user, who consents once in a browser (authorization code and refresh tokens).
    AuthorizationCode,
}
