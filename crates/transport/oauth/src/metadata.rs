//! The metadata of a resource (RFC 9728) and of an authorization server (RFC 8414, OpenID Connect Discovery). Parses required
//! members strictly and all others leniently.

use serde_json::Value;
use url::Url;

/// How many items of a list are read.
const MOST: usize = 64;

/// The metadata of a protected resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its identifier, exactly as published.
    pub id: String,
    /// The issuers whose tokens it accepts, exactly as published; at least one.
    pub servers: Vec<String>,
    /// The scopes that it lists, if any.
    pub scopes: Option<Vec<String>>,
}

impl Resource {
    /// Reads the document; the error says what is wrong with it.
    pub fn read(document: &Value) -> Result<Self, &'static str> {
        let resource = text(document, "resource").ok_or("it names no `resource`")?;
        let servers = texts(document, "authorization_servers").unwrap_or_default();
        if servers.is_empty() {
            return Err("it names no authorization server");
        }
        Ok(Self { id: resource, servers, scopes: texts(document, "scopes_supported") })
    }

    /// Whether the document is about `url` alone, and not about more.
    pub fn is_exactly(&self, url: &Url) -> bool {
        let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
        self.covers(url) && Url::parse(&self.id).is_ok_and(|own| path(&own) == path(url))
    }

    /// Whether the document speaks for `url`: the same origin, and the same path or one above it. A document for the whole
    /// origin is as common as one for the endpoint.
    pub fn covers(&self, url: &Url) -> bool {
        let Ok(own) = Url::parse(&self.id) else { return false };
        let above = own.path().trim_end_matches('/');
        let below = url.path().strip_prefix(above);
        own.fragment().is_none()
            && own.query().is_none_or(|query| url.query() == Some(query))
            && own.origin() == url.origin()
            && own.origin().is_tuple()
            && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The metadata of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// Its identifier, exactly as published.
    pub id: String,
    /// Where users consent.
    pub authorization_endpoint: Option<Url>,
    /// Where tokens are issued.
    pub token_endpoint: Url,
    /// Where clients register themselves.
    pub registration_endpoint: Option<Url>,
    /// Where the keys are that it signs with.
    pub keys: Option<Url>,
    /// The scopes that it lists.
    pub scopes: Option<Vec<String>>,
    /// The grants that it accepts.
    pub grants: Option<Vec<String>>,
    /// How clients may authenticate at the token endpoint.
    pub client_authentication: Option<Vec<String>>,
    /// The PKCE methods.
    pub challenge_methods: Option<Vec<String>>,
    /// Whether a client's id may be the URL of its metadata.
    pub accepts_client_documents: bool,
    /// Whether its authorization responses name the issuer in `iss` (RFC 9207).
    pub announces_iss: bool,
    /// The signature algorithms of DPoP proofs (RFC 9449).
    pub dpop_algorithms: Vec<String>,
}

impl Issuer {
    /// Reads the document; the error says what is wrong with it.
    pub fn read(document: &Value) -> Result<Self, String> {
        let url = |member: &'static str| match text(document, member) {
            None => Ok(None),
            Some(text) => Url::parse(&text).map(Some).map_err(|_| format!("its `{member}` is no URL")),
        };
        let flag = |member: &str| document.get(member).and_then(Value::as_bool).unwrap_or(false);
        Ok(Self {
            id: text(document, "issuer").ok_or("it names no `issuer`")?,
            authorization_endpoint: url("authorization_endpoint")?,
            token_endpoint: url("token_endpoint")?.ok_or("it names no `token_endpoint`")?,
            registration_endpoint: url("registration_endpoint")?,
            // Those who only get tokens do without.
            keys: url("jwks_uri").unwrap_or_default(),
            scopes: texts(document, "scopes_supported"),
            grants: texts(document, "grant_types_supported"),
            client_authentication: texts(document, "token_endpoint_auth_methods_supported"),
            challenge_methods: texts(document, "code_challenge_methods_supported"),
            accepts_client_documents: flag("client_id_metadata_document_supported"),
            announces_iss: flag("authorization_response_iss_parameter_supported"),
            dpop_algorithms: texts(document, "dpop_signing_alg_values_supported").unwrap_or_default(),
        })
    }

    /// The paths that 2025-03-26 gives a server without metadata. `None` for an address that can have none.
    pub fn with_default_endpoints(origin: &str) -> Option<Self> {
        let at = |path: &str| Url::parse(origin).ok()?.join(path).ok();
        Some(Self {
            id: origin.to_owned(),
            authorization_endpoint: Some(at("/authorize")?),
            token_endpoint: at("/token")?,
            registration_endpoint: Some(at("/register")?),
            keys: None,
            scopes: None,
            grants: None,
            client_authentication: None,
            challenge_methods: None,
            accepts_client_documents: false,
            announces_iss: false,
            dpop_algorithms: Vec::new(),
        })
    }

    /// Whether it lists `scope`; false if it lists none.
    pub fn lists_scope(&self, scope: &str) -> bool {
        self.scopes.as_ref().is_some_and(|scopes| scopes.iter().any(|known| known == scope))
    }
}

fn text(document: &Value, member: &str) -> Option<String> {
    document.get(member)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn texts(document: &Value, member: &str) -> Option<Vec<String>> {
    let items = document.get(member)?.as_array()?;
    Some(items.iter().take(MOST).filter_map(|item| item.as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn covers(resource: &str, url: &str) -> bool {
        let found = Resource { id: resource.to_owned(), servers: Vec::new(), scopes: None };
        found.covers(&Url::parse(url).expect("a URL"))
    }

    #[test]
    fn a_document_covers_its_own_server_only() {
        for resource in
            ["https://a.example/mcp", "https://a.example", "https://a.example/", "HTTPS://A.example:443/mcp"]
        {
            assert!(covers(resource, "https://a.example/mcp"), "{resource}");
        }
        for resource in ["https://b.example/mcp", "http://a.example/mcp", "https://a.example:8443/mcp", "a.example", ""]
            .into_iter()
            .chain([
                "https://a.example/mc",
                "https://a.example/mcp/more",
                "https://a.example/mcp#x",
                "mailto:a@b",
                "https://a.example/mcp?x",
            ])
        {
            assert!(!covers(resource, "https://a.example/mcp"), "{resource}");
        }
        assert!(covers("https://a.example/mcp", "https://a.example/mcp/deep"));
        for (resource, exact) in [
            ("https://a.example/mcp", true),
            ("HTTPS://A.example/mcp/", true),
            ("https://a.example", false),
            ("https://a.example/", false),
            ("https://a.example/mc", false),
        ] {
            let found = Resource { id: resource.to_owned(), servers: Vec::new(), scopes: None };
            let url = Url::parse("https://a.example/mcp").expect("a URL");
            assert_eq!(found.is_exactly(&url), exact, "{resource}");
        }
    }

    #[test]
    fn required_members_must_be_present() {
        assert!(Resource::read(&json!({ "resource": "x" })).is_err());
        assert!(Resource::read(&json!({ "authorization_servers": ["x"] })).is_err());
        assert!(Resource::read(&json!({ "resource": "x", "authorization_servers": [1] })).is_err());
        assert!(Issuer::read(&json!({ "issuer": "x" })).is_err());
        assert!(Issuer::read(&json!({ "issuer": "x", "token_endpoint": "no url" })).is_err());
        let read = Issuer::read(&json!({ "issuer": "x", "token_endpoint": "https://a.example/t" })).expect("enough");
        assert!(read.scopes.is_none() && !read.announces_iss && !read.lists_scope("a"));
    }

    proptest! {
        #[test]
        fn any_document_can_be_read(resource in ".{0,60}", server in ".{0,60}", endpoint in ".{0,60}") {
            if let Ok(read) = Resource::read(&json!({ "resource": resource, "authorization_servers": [server] })) {
                let _ = read.covers(&Url::parse("https://a.example/mcp").expect("a URL"));
            }
            let _ = Issuer::read(&json!({ "issuer": server, "token_endpoint": endpoint, "scopes_supported": endpoint }));
        }
    }
}
