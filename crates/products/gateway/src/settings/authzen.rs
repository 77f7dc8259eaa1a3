//! Which policy decision point is asked in addition to the access rules, and what it learns. Values only.

use std::time::Duration;

use net::HttpAddress;

/// A policy decision point that speaks the OpenID Authorization API 1.0 (`AuthZEN`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzenSettings {
    /// Its identifier, to which the paths of its endpoints are added.
    pub address: HttpAddress,
    /// Its endpoints are read from its metadata.
    pub discover: bool,
    /// What it learns of a request.
    pub mapping: AuthzenMapping,
    /// How long a decision may take.
    pub timeout: Duration,
    /// How long a decision is used again; never without this.
    pub cache: Option<Duration>,
    /// How many decisions are cached.
    pub cache_entries: usize,
    /// How many items one request asks about at most.
    pub batch: usize,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// How many requests it gets at once.
    pub at_once: usize,
}

impl AuthzenSettings {
    /// A decision point that learns the subject, the action and the resource, and whose decisions are used once.
    pub fn new(address: HttpAddress) -> Self {
        Self {
            address,
            discover: false,
            mapping: AuthzenMapping::default(),
            timeout: Duration::from_secs(1),
            cache: None,
            cache_entries: 10_000,
            // What Cerbos and OpenFGA accept as they come.
            batch: 50,
            answer_bytes: 1 << 20,
            at_once: 32,
        }
    }
}

/// What a decision point learns of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzenMapping {
    /// The claim that is `subject.id`.
    pub subject: String,
    /// `subject.type` of a client with a token.
    pub subject_type: String,
    /// Members of `subject.properties`, each with the claim that it comes from.
    pub claims: Vec<(String, String)>,
    /// Names of arguments that are in `context.arguments`, with `*`.
    pub arguments: Vec<String>,
}

impl Default for AuthzenMapping {
    fn default() -> Self {
        Self { subject: "sub".to_owned(), subject_type: "user".to_owned(), claims: Vec::new(), arguments: Vec::new() }
    }
}
