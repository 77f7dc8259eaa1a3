//! What a client does with its tokens.

use wire::revision::{R2025_03_26, R2025_06_18, R2026_07_28};

use crate::basic::authorization::{index, page};
use crate::rule::{Anchor, Rule, client};

const REQUIREMENTS: Anchor = page("token-requirements");
const REQUIREMENTS_NOW: Anchor = index("token-requirements");
const REFRESH: Anchor = index("refresh-tokens");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.bearer-header")
        .says(R2025_03_26, REQUIREMENTS, "A client MUST send its token in the Authorization header.")
        .says(R2026_07_28, REQUIREMENTS_NOW, "A client MUST send its token in the Authorization header.")
        .declared(),
    client("oauth.token-every-request")
        .says(R2025_03_26, REQUIREMENTS, "A client MUST send its token with every HTTP request, sessions or not.")
        .says(R2026_07_28, REQUIREMENTS_NOW, "A client MUST send its token with every HTTP request.")
        .declared(),
    client("oauth.token-not-in-query")
        .says(R2025_03_26, REQUIREMENTS, "A client MUST NOT put a token into the query of a URI.")
        .says(R2026_07_28, REQUIREMENTS_NOW, "A client MUST NOT put a token into the query of a URI.")
        .declared(),
    client("oauth.token-of-own-issuer")
        .says(
            R2025_06_18,
            page("token-handling"),
            "A client MUST NOT send a server tokens that its authorization server did not issue.",
        )
        .says(
            R2026_07_28,
            index("token-handling"),
            "A client MUST NOT send a server tokens that its authorization server did not issue.",
        )
        .declared(),
    client("oauth.refresh-token-confidential")
        .says(R2026_07_28, REFRESH, "A client MUST send a refresh token to nobody but its issuer, over TLS.")
        .declared(),
    client("oauth.refresh-grant-declared")
        .says(R2026_07_28, REFRESH, "A client that wants refresh tokens SHOULD list the grant in its metadata.")
        .declared(),
    client("oauth.refresh-not-assumed")
        .says(R2026_07_28, REFRESH, "A client MUST NOT rely on being given a refresh token.")
        .declared(),
];
