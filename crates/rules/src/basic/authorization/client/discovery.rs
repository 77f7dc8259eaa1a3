//! How a client finds the authorization server.

use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use crate::basic::authorization::{discovery, index, page};
use crate::rule::{Rule, client};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.challenge-understood")
        .says(
            R2025_06_18,
            page("authorization-server-location"),
            "A client MUST read WWW-Authenticate of a 401 and act on it.",
        )
        .says(
            R2025_11_25,
            page("protected-resource-metadata-discovery-requirements"),
            "A client MUST read WWW-Authenticate of a 401 and act on it.",
        )
        .says(
            R2026_07_28,
            discovery("protected-resource-metadata-discovery-requirements"),
            "A client MUST read WWW-Authenticate of a 401 and act on it.",
        )
        .declared(),
    client("oauth.resource-metadata-used")
        .says(
            R2025_06_18,
            page("overview"),
            "A client MUST find the authorization server by the resource's own metadata.",
        )
        .says(
            R2026_07_28,
            index("overview"),
            "A client MUST find the authorization server by the resource's own metadata.",
        )
        .declared(),
    client("oauth.resource-metadata-order")
        .says(
            R2025_11_25,
            page("protected-resource-metadata-discovery-requirements"),
            "A client MUST go by the challenge's metadata address, and without one ask the well-known URIs, path first.",
        )
        .says(
            R2026_07_28,
            discovery("protected-resource-metadata-discovery-requirements"),
            "A client MUST go by the challenge's metadata address, and without one ask the well-known URIs, path first.",
        )
        .declared(),
    client("oauth.server-metadata-used")
        .says(
            R2025_03_26,
            page("server-metadata-discovery"),
            "A client MUST learn the endpoints from authorization server metadata where there is some.",
        )
        .says(
            R2025_06_18,
            page("server-metadata-discovery"),
            "A client MUST learn the endpoints from authorization server metadata.",
        )
        .gone(R2025_11_25)
        .declared(),
    client("oauth.base-url")
        .says(
            R2025_03_26,
            page("authorization-base-url"),
            "A client MUST look for authorization metadata at the root of the MCP server's origin.",
        )
        .gone(R2025_06_18)
        .declared(),
    client("oauth.default-endpoints")
        .says(
            R2025_03_26,
            page("fallbacks-for-servers-without-metadata-discovery"),
            "A client MUST ask for metadata first and, where there is none, use /authorize, /token and /register.",
        )
        .gone(R2025_06_18)
        .declared(),
    client("oauth.issuer-locations")
        .says(
            R2025_11_25,
            page("authorization-server-metadata-discovery"),
            "A client MUST try the OAuth and the OpenID locations of an issuer's metadata, in the order laid down.",
        )
        .says(
            R2026_07_28,
            discovery("authorization-server-metadata-discovery"),
            "A client MUST try the OAuth and the OpenID locations of an issuer's metadata, in the order laid down.",
        )
        .declared(),
    client("oauth.issuer-validated")
        .says(
            R2026_07_28,
            discovery("authorization-server-metadata-discovery"),
            "A client MUST NOT use metadata whose issuer is another than the one that it was looked up for.",
        )
        .declared(),
];
