//! How a client finds the authorization server.

use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use super::resource_metadata::{metadata_order, metadata_used, understood};
use super::server_metadata::{
    at_root, default_endpoints, issuer_validated, locations, server_metadata_used, version_named,
};
use crate::basic::authorization::{HTTP, discovery, index, page};
use crate::rule::{Rule, client};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.challenge-understood")
        .on(HTTP)
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
        .how("Checks whether a client that was answered 401 with the address of the resource's metadata asks there before it looks for an authorization server.")
        .fix("Read every challenge in WWW-Authenticate and fetch what `resource_metadata` of the Bearer one names.")
        .judge(understood),
    client("oauth.resource-metadata-used")
        .on(HTTP)
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
        .how("Checks whether a client that was answered 401 asks for the resource's metadata before it looks for an authorization server, and then looks at the host of one that is listed.")
        .fix("Fetch the protected resource metadata and take the issuer from its `authorization_servers`.")
        .judge(metadata_used),
    client("oauth.resource-metadata-order")
        .on(HTTP)
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
        .how("Reads where the client asks first for the resource's metadata after a 401. Where the challenge names no address, the path's well-known URI must come first, and the root's where that one is missing.")
        .fix("Ask at `resource_metadata` of the challenge; without it at `/.well-known/oauth-protected-resource` with the endpoint's path, then without.")
        .judge(metadata_order),
    client("oauth.server-metadata-used")
        .on(HTTP)
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
        .how("Compares where the client registers and asks for authorization and tokens with the endpoints in the metadata that it fetched. Needs endpoints at unusual addresses.")
        .fix("Take every endpoint from the authorization server's metadata.")
        .judge(server_metadata_used),
    client("oauth.metadata-version-header")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("server-metadata-discovery-headers"),
            "A client SHOULD send `MCP-Protocol-Version` when it asks for authorization server metadata.",
        )
        .gone(R2025_06_18)
        .how("Reads the header of each request for authorization server metadata at the MCP server's host. A request that repeats an earlier one without the header does not count.")
        .fix("Add `MCP-Protocol-Version` with the version that you offer to the request for the metadata.")
        .judge(version_named),
    client("oauth.base-url")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("authorization-base-url"),
            "A client MUST look for authorization metadata at the root of the MCP server's origin.",
        )
        .gone(R2025_06_18)
        .how("Looks where on the MCP server's host the client asks for authorization server metadata, where the server says nothing of another.")
        .fix("Drop the path of the MCP server's URL and ask `/.well-known/oauth-authorization-server` there.")
        .judge(at_root),
    client("oauth.default-endpoints")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("fallbacks-for-servers-without-metadata-discovery"),
            "A client MUST ask for metadata first and, where there is none, use /authorize, /token and /register.",
        )
        .gone(R2025_06_18)
        .how("Reads where a client goes that asked for the metadata at the root and found none.")
        .fix("Ask for the metadata; where it is missing, go to /authorize, /token and /register at the root of the MCP server's origin.")
        .judge(default_endpoints),
    client("oauth.issuer-locations")
        .on(HTTP)
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
        .how("Reads in which order the client asks the locations of the listed issuer's metadata. Needs an issuer whose first location has no document.")
        .fix("Ask the OAuth location, then OpenID's with the path inserted, then with the path before it, until one has a document.")
        .judge(locations),
    client("oauth.issuer-validated")
        .on(HTTP)
        .says(
            R2026_07_28,
            discovery("authorization-server-metadata-discovery"),
            "A client MUST NOT use metadata whose issuer is another than the one that it was looked up for.",
        )
        .how("Checks whether the client goes to an endpoint named by a document whose `issuer` is not, to the letter, the listed one that it was looked up for.")
        .fix("Compare `issuer` of the document with the identifier that its address was made of, and stop where they differ.")
        .judge(issuer_validated),
];
