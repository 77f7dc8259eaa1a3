//! Faults of resources.

use serde_json::json;

use super::{Asked, Fault, Kind, errors, fault};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "resource-not-found-code",
        "resources.not-found-code",
        "a resource that does not exist is answered with the code for an internal error",
        Kind::Errors("resources/read", |answer| errors::code(answer, -32603)),
    )
    .breaks_too(&["errors.invalid-params"]),
    fault(
        "resource-not-found-empty",
        "resources.not-found-not-empty",
        "a resource that does not exist is answered with empty contents",
        Kind::Answers(|asked, answer| {
            if asked.is("resources/read") && answer.get("error").is_some() && asked.param("uri").is_string() {
                *answer = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": empty(asked) });
            }
        }),
    )
    .breaks_too(&["meta.server-info"])
    .modern(),
    fault(
        "blob-not-base64",
        "resources.binary-encoded",
        "binary contents are not Base64",
        Kind::Results("resources/read", |answer| {
            let blob = answer.pointer_mut("/result/contents/0").and_then(|contents| contents.get_mut("blob"));
            if let Some(blob) = blob {
                *blob = json!("PNG: not encoded!");
            }
        }),
    ),
    fault(
        "template-open",
        "resources.templates-well-formed",
        "a URI template opens a brace and does not close it",
        Kind::Lists("resources/templates/list", "resourceTemplates", |template| {
            template["name"] = json!("faulty");
            template["uriTemplate"] = json!("proof://open/{name");
        }),
    ),
    fault(
        "resource-uri-with-space",
        "resources.custom-schemes-valid",
        "the URI of a resource has a space in it",
        Kind::Lists("resources/list", "resources", |resource| {
            resource["name"] = json!("faulty");
            resource["uri"] = json!("proof://docs/no such uri");
        }),
    ),
];

fn empty(asked: &Asked) -> serde_json::Value {
    if asked.is_modern() {
        json!({ "contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "public" })
    } else {
        json!({ "contents": [] })
    }
}
