//! What a 401 or 403 demands (RFC 6750, RFC 9449, RFC 9728), read from status and headers.

use wire::http::challenges;
use wire::trace::{Headers, header};

/// The demands of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthChallenge {
    /// Whether a token was there and had too little scope.
    pub more_scope: bool,
    /// Where the resource's metadata is, if it says so.
    pub metadata: Option<String>,
    /// The scopes that the request needs, if it says so.
    pub scopes: Option<Vec<String>>,
    /// Whether tokens must be bound to a key.
    pub bound: bool,
    /// The server's nonce, where only that was missing.
    pub nonce: Option<String>,
}

impl AuthChallenge {
    /// Reads a refusal. `None` for a response that no authorization changes.
    pub fn read(status: u16, headers: &Headers) -> Option<Self> {
        let all = challenges(headers);
        let of = |scheme: &str| all.iter().find(|challenge| challenge.is(scheme));
        let (bearer, dpop) = (of("bearer"), of("dpop"));
        // Where both are accepted, Bearer is used.
        let challenge = bearer.or(dpop);
        let error = |wanted: &str| [bearer, dpop].into_iter().flatten().any(|c| c.parameter("error") == Some(wanted));
        let more_scope = status == 403 && error("insufficient_scope");
        if status != 401 && !more_scope {
            return None;
        }
        let text = |name: &str| challenge.and_then(|c| c.parameter(name)).map(str::to_owned);
        let scopes = challenge.and_then(|challenge| challenge.scopes());
        Some(Self {
            more_scope,
            metadata: text("resource_metadata"),
            scopes: scopes.map(|scopes| scopes.into_iter().map(str::to_owned).collect()),
            bound: bearer.is_none() && dpop.is_some(),
            nonce: header(headers, "dpop-nonce").filter(|_| error("use_dpop_nonce")).map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with(challenge: &str) -> Headers {
        vec![("WWW-Authenticate".to_owned(), challenge.to_owned())]
    }

    #[test]
    fn a_refusal_is_read() {
        let demand = AuthChallenge::read(401, &with("Bearer resource_metadata=\"https://a.example/m\", scope=\"a b\""));
        let demand = demand.expect("a demand");
        assert_eq!(demand.metadata.as_deref(), Some("https://a.example/m"));
        assert_eq!(demand.scopes, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert!(!demand.more_scope && !demand.bound && demand.nonce.is_none());
        assert_eq!(AuthChallenge::read(401, &Headers::new()), Some(AuthChallenge::default()));
    }

    #[test]
    fn only_insufficient_scope_makes_a_403_a_challenge() {
        assert!(AuthChallenge::read(403, &with("Bearer error=\"insufficient_scope\"")).expect("a demand").more_scope);
        for (status, challenge) in
            [(403, "Bearer"), (403, "Bearer error=\"invalid_token\""), (200, "Bearer"), (500, "")]
        {
            assert_eq!(AuthChallenge::read(status, &with(challenge)), None, "{status} {challenge}");
        }
        assert!(!AuthChallenge::read(401, &with("Bearer error=\"insufficient_scope\"")).expect("a demand").more_scope);
    }

    #[test]
    fn a_bound_token_is_required_only_if_bearer_is_not_accepted() {
        assert!(AuthChallenge::read(401, &with("DPoP algs=\"ES256\"")).expect("a demand").bound);
        assert!(!AuthChallenge::read(401, &with("DPoP algs=\"ES256\", Bearer")).expect("a demand").bound);
        let mut nonce = with("DPoP error=\"use_dpop_nonce\"");
        nonce.push(("DPoP-Nonce".to_owned(), "n".to_owned()));
        assert_eq!(AuthChallenge::read(401, &nonce).expect("a demand").nonce.as_deref(), Some("n"));
    }

    proptest! {
        #[test]
        fn any_header_can_be_read(status in 100u16..600, value in ".{0,200}") {
            let demand = AuthChallenge::read(status, &with(&value));
            prop_assert!(demand.is_none() || status == 401 || status == 403);
        }
    }
}
