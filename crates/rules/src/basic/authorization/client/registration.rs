//! How a client comes by its id.

use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use super::registration_page;
use crate::basic::authorization::{index, page};
use crate::rule::{Anchor, Rule, client};

const DOCUMENTS: Anchor = page("implementation-requirements");
const DOCUMENTS_NOW: Anchor = registration_page("implementation-requirements");
const CONSTRAINTS: Anchor = registration_page("application-type-and-redirect-uri-constraints");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.dynamic-registration")
        .says(
            R2025_03_26,
            page("dynamic-client-registration"),
            "Clients, and servers that authorize, SHOULD support dynamic client registration.",
        )
        .says(R2025_06_18, page("dynamic-client-registration"), "A client SHOULD support dynamic client registration.")
        .gone(R2025_11_25)
        .declared(),
    client("oauth.client-document")
        .says(
            R2025_11_25,
            page("client-id-metadata-documents"),
            "A client SHOULD be able to register by a metadata document of its own.",
        )
        .says(
            R2026_07_28,
            registration_page("client-id-metadata-documents"),
            "A client SHOULD be able to register by a metadata document of its own.",
        )
        .declared(),
    client("oauth.client-document-location")
        .says(R2025_11_25, DOCUMENTS, "A client id that is a URL MUST be an https URL with a path, where the document is.")
        .says(R2026_07_28, DOCUMENTS_NOW, "A client id that is a URL MUST be an https URL with a path, where the document is.")
        .declared(),
    client("oauth.client-document-members")
        .says(R2025_11_25, DOCUMENTS, "A client's metadata document MUST have its id, its name and its redirect URIs.")
        .says(R2026_07_28, DOCUMENTS_NOW, "A client's metadata document MUST have its id, its name and its redirect URIs.")
        .declared(),
    client("oauth.client-document-id")
        .says(R2025_11_25, DOCUMENTS, "The id in a client's metadata document MUST be the document's own URL, to the letter.")
        .says(R2026_07_28, DOCUMENTS_NOW, "The id in a client's metadata document MUST be the document's own URL, to the letter.")
        .declared(),
    client("oauth.client-document-checked")
        .says(
            R2025_11_25,
            page("discovery"),
            "A client SHOULD look whether the authorization server takes metadata documents before it uses one.",
        )
        .says(
            R2026_07_28,
            registration_page("advertising-cimd-support"),
            "A client SHOULD look whether the authorization server takes metadata documents before it uses one.",
        )
        .declared(),
    client("oauth.registration-order")
        .says(
            R2025_11_25,
            page("client-registration-approaches"),
            "A client SHOULD prefer a registration that it has, then its metadata document, then dynamic registration.",
        )
        .says(
            R2026_07_28,
            registration_page(""),
            "A client SHOULD prefer a registration that it has, then its metadata document, then dynamic registration.",
        )
        .declared(),
    client("oauth.preregistered")
        .says(R2025_11_25, page("preregistration"), "A client SHOULD take an id that was registered for it beforehand.")
        .says(
            R2026_07_28,
            registration_page("pre-registration"),
            "A client SHOULD take an id that was registered for it beforehand.",
        )
        .declared(),
    client("oauth.client-id-obtained")
        .says(
            R2026_07_28,
            index("client-registration"),
            "A client MUST have an id by one of the three ways before it asks for authorization.",
        )
        .declared(),
    client("oauth.application-type")
        .says(R2026_07_28, CONSTRAINTS, "A client that registers dynamically MUST say what type of application it is.")
        .declared(),
    client("oauth.application-type-fits")
        .says(
            R2026_07_28,
            CONSTRAINTS,
            "A client SHOULD register as `native` where it runs on its user's machine, as `web` where it is served from afar.",
        )
        .declared(),
    client("oauth.registration-refusal-survived")
        .says(R2026_07_28, CONSTRAINTS, "A client MUST cope with a registration that is refused for its redirect URIs.")
        .declared(),
    client("oauth.credentials-per-issuer")
        .says(
            R2026_07_28,
            registration_page("authorization-server-binding"),
            "A client MUST use credentials with the issuer that gave them alone, and register anew with another.",
        )
        .declared(),
];
