//! What servers learn of the principal of a request. Values only.

/// What servers learn of the principal of a request, from the claims of its validated token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextSettings {
    /// The names of the upstreams that are told; all of them without names.
    pub upstreams: Option<Vec<String>>,
    /// What they are told.
    pub values: Vec<ContextValue>,
}

impl ContextSettings {
    /// The claim that names the tenant, where servers learn it.
    pub fn tenant_claim(&self) -> Option<&str> {
        let tenant = self.values.iter().find(|value| value.kind == ContextKind::Tenant);
        tenant.map(|value| value.claim.as_str())
    }
}

/// What a value of the context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// The tenant.
    Tenant,
    /// The user.
    User,
    /// The scopes of the token.
    Scopes,
}

impl ContextKind {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Tenant, Self::User, Self::Scopes];

    /// Its key in the configuration, which is also its name in `_meta` after our prefix.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant_id",
            Self::User => "user_id",
            Self::Scopes => "scopes",
        }
    }
}

/// One value of the context, and where it stands in requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextValue {
    /// What it is.
    pub kind: ContextKind,
    /// The claim that holds it. Scopes are those that the token was admitted with.
    pub claim: String,
    /// The header that carries it over HTTP, in lower case.
    pub header: Option<String>,
    /// Whether `_meta` carries it.
    pub meta: bool,
    /// Whether a request is refused whose token does not have it.
    pub required: bool,
}

impl ContextValue {
    /// The usual form: in `_meta` only; all but scopes are required.
    pub fn new(kind: ContextKind) -> Self {
        let claim = match kind {
            ContextKind::Tenant => "tenant_id",
            ContextKind::User => "sub",
            ContextKind::Scopes => "scope",
        };
        let required = kind != ContextKind::Scopes;
        Self { kind, claim: claim.to_owned(), header: None, meta: true, required }
    }
}
