//! The two documents that lead to a token: what a resource says about itself (RFC 9728), and what an authorization server
//! does (RFC 8414, OpenID Connect Discovery). Read leniently in what we do not need and strictly in what we do.

use serde_json::Value;
use url::Url;

/// How many items of a list are looked at.
const MOST: usize = 64;

/// What a protected resource says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its identifier, exactly as published.
    pub id: String,
    /// The issuers whose tokens it takes, exactly as published; at least one.
    pub servers: Vec<String>,
    /// The scopes that it knows, if it says so.
    pub scopes: Option<Vec<String>>,
}

impl Resource {
    /// Reads the document; what is wrong with it otherwise.
    pub fn read(document: &Value) -> Result<Self, &'static str> {
        let resource = text(document, "resource").ok_or("it names no `resource`")?;
        let servers = texts(document, "authorization_servers").unwrap_or_default();
        if servers.is_empty() {
            return Err("it names no authorization server");
        }
        Ok(Self { id: resource, servers, scopes: texts(document, "scopes_supported") })
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

/// What an authorization server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// Its identifier, exactly as published.
    pub id: String,
    /// Where users agree.
    pub authorization_endpoint: Option<Url>,
    /// Where tokens are handed out.
    pub token_endpoint: Url,
    /// Where clients register themselves.
    pub registration_endpoint: Option<Url>,
    /// The scopes that it knows.
    pub scopes: Option<Vec<String>>,
    /// The grants that it takes.
    pub grants: Option<Vec<String>>,
    /// How clients may show who they are at the token endpoint.
    pub client_authentication: Option<Vec<String>>,
    /// The PKCE methods.
    pub challenge_methods: Option<Vec<String>>,
    /// Whether a client's id may be the address of its metadata.
    pub client_documents: bool,
    /// Whether its answers to authorization requests say who it is (RFC 9207).
    pub says_iss: bool,
    /// The algorithms by which a client may prove its key (RFC 9449).
    pub proofs: Vec<String>,
}

impl Issuer {
    /// Reads the document; what is wrong with it otherwise.
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
            scopes: texts(document, "scopes_supported"),
            grants: texts(document, "grant_types_supported"),
            client_authentication: texts(document, "token_endpoint_auth_methods_supported"),
            challenge_methods: texts(document, "code_challenge_methods_supported"),
            client_documents: flag("client_id_metadata_document_supported"),
            says_iss: flag("authorization_response_iss_parameter_supported"),
            proofs: texts(document, "dpop_signing_alg_values_supported").unwrap_or_default(),
        })
    }

    /// The paths that 2025-03-26 gives a server without metadata. `None` for an address that can have none.
    pub fn by_default(origin: &str) -> Option<Self> {
        let at = |path: &str| Url::parse(origin).ok()?.join(path).ok();
        Some(Self {
            id: origin.to_owned(),
            authorization_endpoint: Some(at("/authorize")?),
            token_endpoint: at("/token")?,
            registration_endpoint: Some(at("/register")?),
            scopes: None,
            grants: None,
            client_authentication: None,
            challenge_methods: None,
            client_documents: false,
            says_iss: false,
            proofs: Vec::new(),
        })
    }

    /// Whether it knows `scope`; an issuer that lists none knows nothing for certain.
    pub fn knows_scope(&self, scope: &str) -> bool {
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
    fn a_document_speaks_for_its_own_server_alone() {
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
    }

    #[test]
    fn what_is_needed_must_be_there() {
        assert!(Resource::read(&json!({ "resource": "x" })).is_err());
        assert!(Resource::read(&json!({ "authorization_servers": ["x"] })).is_err());
        assert!(Resource::read(&json!({ "resource": "x", "authorization_servers": [1] })).is_err());
        assert!(Issuer::read(&json!({ "issuer": "x" })).is_err());
        assert!(Issuer::read(&json!({ "issuer": "x", "token_endpoint": "no url" })).is_err());
        let read = Issuer::read(&json!({ "issuer": "x", "token_endpoint": "https://a.example/t" })).expect("enough");
        assert!(read.scopes.is_none() && !read.says_iss && !read.knows_scope("a"));
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
