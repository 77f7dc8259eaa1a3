//! How a client comes by its id.

use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use super::client_ids::{
    application_type, id_obtained, per_issuer, preregistered, refusal_survived, registers, registration_order,
    type_fits,
};
use super::documents::{document_checked, document_id, document_location, document_members, uses_document};
use super::registration_page;
use crate::basic::authorization::{HTTP, index, page};
use crate::rule::{Anchor, Rule, client};

const DOCUMENTS: Anchor = page("implementation-requirements");
const DOCUMENTS_NOW: Anchor = registration_page("implementation-requirements");
const CONSTRAINTS: Anchor = registration_page("application-type-and-redirect-uri-constraints");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.dynamic-registration")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("dynamic-client-registration"),
            "Clients, and servers that authorize, SHOULD support dynamic client registration.",
        )
        .says(R2025_06_18, page("dynamic-client-registration"), "A client SHOULD support dynamic client registration.")
        .gone(R2025_11_25)
        .how("Checks whether a client registers where the metadata names an endpoint for it. A missing registration counts only where the authorization server refused the id that the client used instead.")
        .fix("Register at `registration_endpoint` where there is one and no id is known.")
        .judge(registers),
    client("oauth.client-document")
        .on(HTTP)
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
        .how("Reads which id a client uses with an authorization server whose metadata says that it takes metadata documents: registering there instead breaks it.")
        .fix("Publish a client metadata document and send its URL as `client_id`.")
        .judge(uses_document),
    client("oauth.client-document-location")
        .on(HTTP)
        .says(R2025_11_25, DOCUMENTS, "A client id that is a URL MUST be an https URL with a path, where the document is.")
        .says(R2026_07_28, DOCUMENTS_NOW, "A client id that is a URL MUST be an https URL with a path, where the document is.")
        .how("Reads every `client_id` in authorization and token requests that is a URL.")
        .fix("Serve the document at an https URL with a path and use that URL as the id.")
        .judge(document_location),
    client("oauth.client-document-members")
        .on(HTTP)
        .says(R2025_11_25, DOCUMENTS, "A client's metadata document MUST have its id, its name and its redirect URIs.")
        .says(R2026_07_28, DOCUMENTS_NOW, "A client's metadata document MUST have its id, its name and its redirect URIs.")
        .how("Reads the document that the authorization server fetched from the URL that a client used as its id.")
        .fix("Put `client_id`, `client_name` and a list `redirect_uris` into the document.")
        .judge(document_members),
    client("oauth.client-document-id")
        .on(HTTP)
        .says(R2025_11_25, DOCUMENTS, "The id in a client's metadata document MUST be the document's own URL, to the letter.")
        .says(R2026_07_28, DOCUMENTS_NOW, "The id in a client's metadata document MUST be the document's own URL, to the letter.")
        .how("Compares `client_id` of the document that the authorization server fetched with the URL that a client used as its id.")
        .fix("Write the document's own URL into its `client_id`, letter by letter.")
        .judge(document_id),
    client("oauth.client-document-checked")
        .on(HTTP)
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
        .how("Where a client uses a URL as its id, checks whether the authorization server's metadata says `client_id_metadata_document_supported`.")
        .fix("Use a metadata document only where the server's metadata says that it takes one; register otherwise.")
        .judge(document_checked),
    client("oauth.registration-order")
        .on(HTTP)
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
        .how("Reads how a client comes by its id where metadata documents and registration are both offered. A client that has a document, as another request shows, and registers anyway breaks it.")
        .fix("Take the id registered beforehand, else the metadata document, and register only where neither will do.")
        .judge(registration_order),
    client("oauth.preregistered")
        .on(HTTP)
        .says(R2025_11_25, page("preregistration"), "A client SHOULD take an id that was registered for it beforehand.")
        .says(
            R2026_07_28,
            registration_page("pre-registration"),
            "A client SHOULD take an id that was registered for it beforehand.",
        )
        .how("Reads which id a client uses where the server offers neither registration nor metadata documents, or where the client was given an id and uses it at least once.")
        .fix("Let users configure a client id, and a secret where it has one, for an authorization server.")
        .judge(preregistered),
    client("oauth.client-id-obtained")
        .on(HTTP)
        .says(
            R2026_07_28,
            index("client-registration"),
            "A client MUST have an id by one of the three ways before it asks for authorization.",
        )
        .how("Compares `client_id` in authorization requests with the ids that registrations brought. Another one must be a URL, or be known to the authorization server.")
        .fix("Register, use a metadata document or a configured id before the user is sent to authorize.")
        .judge(id_obtained),
    client("oauth.application-type")
        .on(HTTP)
        .says(R2026_07_28, CONSTRAINTS, "A client that registers dynamically MUST say what type of application it is.")
        .how("Reads `application_type` in every registration.")
        .fix("Send `application_type`: `native` or `web`.")
        .judge(application_type),
    client("oauth.application-type-fits")
        .on(HTTP)
        .says(
            R2026_07_28,
            CONSTRAINTS,
            "A client SHOULD register as `native` where it runs on its user's machine, as `web` where it is served from afar.",
        )
        .how("Compares `application_type` in registrations with the redirect URIs. Only such on this machine, or of a scheme of its own, make a native application.")
        .fix("Send `native` where all redirect URIs are on the user's machine, `web` where they are on a host.")
        .judge(type_fits),
    client("oauth.registration-refusal-survived")
        .on(HTTP)
        .says(R2026_07_28, CONSTRAINTS, "A client MUST cope with a registration that is refused for its redirect URIs.")
        .how("Reads what a client does after its registration was refused for its redirect URIs. Continuing without an id, sending the same again and again, and ending by a signal break it.")
        .fix("Report the refusal, or register again with what the server accepts.")
        .judge(refusal_survived),
    client("oauth.credentials-per-issuer")
        .on(HTTP)
        .says(
            R2026_07_28,
            registration_page("authorization-server-binding"),
            "A client MUST use credentials with the issuer that gave them alone, and register again with another.",
        )
        .how("Compares the ids that a client uses with the issuers that they came from or were first used with, where the trace shows two issuers. URLs are good everywhere.")
        .fix("Store credentials by issuer, and register again where the resource's metadata lists another.")
        .judge(per_issuer),
];
