//! Faults of resources.

use serde_json::json;

use super::{Fault, Kind, ServiceRequest, errors, fault, lists};
use wire::error_code::INTERNAL_ERROR;

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "resource-not-found-code",
        "resources.not-found-code",
        "a resource that does not exist is answered with the code for an internal error",
        Kind::Errors("resources/read", |answer| errors::code(answer, INTERNAL_ERROR)),
    )
    .breaks_too(&["errors.invalid-params"]),
    &fault(
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
    &fault(
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
    &fault(
        "completed-without-uri",
        "shape.results",
        "contents of what a template makes of completed values have no URI",
        Kind::Answers(|asked, answer| {
            let city = asked.param("uri").as_str().is_some_and(|uri| uri.starts_with("proof://city/france/"));
            let contents = answer.pointer_mut("/result/contents/0").and_then(serde_json::Value::as_object_mut);
            if let Some(contents) = contents.filter(|_| city && asked.is(READ)) {
                contents.remove("uri");
            }
        }),
    ),
    &fault(
        "template-open",
        "resources.templates-well-formed",
        "a URI template opens a brace and does not close it",
        Kind::Lists("resources/templates/list", "resourceTemplates", |template| {
            template["name"] = json!("faulty");
            template["uriTemplate"] = json!("proof://open/{name");
        }),
    ),
    &fault(
        "resource-uri-with-space",
        "resources.custom-schemes-valid",
        "the URI of a resource has a space in it",
        Kind::Lists("resources/list", "resources", |resource| {
            resource["name"] = json!("faulty");
            resource["uri"] = json!("proof://docs/no such uri");
        }),
    )
    .breaks_too(&["resources.uris-unique"]),
    &fault(
        "any-text-read",
        "resources.uris-validated",
        "a resource can be read under an invalid URI",
        Kind::Answers(|asked, answer| {
            if asked.is(READ) && asked.param("uri").as_str().is_some_and(|uri| !uri.contains(':')) {
                *answer = read(asked, "whatever this is");
            }
        }),
    )
    .breaks_too(&["meta.server-info", "resources.not-found-code"]),
    &fault(
        "path-climbs",
        "resources.traversal-refused",
        "there are files, and a path with `..` leads to the system's",
        Kind::Several(&[
            Kind::Lists("resources/templates/list", "resourceTemplates", |template| {
                template["name"] = json!("faulty");
                template["uriTemplate"] = json!("file:///srv/proof/{name}");
            }),
            Kind::Answers(|asked, answer| {
                if asked.is(READ) && asked.param("uri").as_str().is_some_and(|uri| uri.contains("/../")) {
                    *answer = read(asked, "root:x:0:0:root:/root:/bin/sh\n");
                }
            }),
        ]),
    )
    .breaks_too(&["meta.server-info", "resources.uris-validated"])
    .modern(),
    &fault(
        "resources-not-declared",
        "resources.capability-declared",
        "resources are listed though `resources` is not declared",
        Kind::Answers(|asked, answer| lists::undeclare(asked, answer, "resources")),
    )
    .breaks_too(&["tools.embedded-need-resources", "subscriptions.only-supported-acknowledged"])
    .modern(),
    &fault(
        "resource-list-unknown",
        "resources.list-answered",
        "the list of resources is refused as an unknown method",
        Kind::Answers(|asked, answer| lists::refuse(asked, answer, "resources/list")),
    )
    .breaks_too(&["http.unknown-method-404"])
    .modern(),
    &fault(
        "resources-by-process",
        "resources.list-same-everywhere",
        "every process lists a resource that is not on the list of another",
        Kind::Answers(|asked, answer| {
            lists::add_own(asked, answer, "resources", |resource, process| {
                resource["uri"] = json!(format!("proof://processes/{process}"));
            });
        }),
    )
    .modern()
    .stdio(),
    &fault(
        "resource-changes-silent",
        "resources.list-changed-sent",
        "a changed list of resources is not announced",
        Kind::SideMessages(|_, message| {
            if message["method"] == "notifications/resources/list_changed" { Vec::new() } else { vec![message] }
        }),
    )
    .modern(),
];

const READ: &str = "resources/read";

/// The result of reading a text where there is none.
fn read(asked: &ServiceRequest, text: &str) -> serde_json::Value {
    let mut result = empty(asked);
    result["contents"] = json!([{ "uri": asked.param("uri"), "text": text }]);
    json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result })
}

fn empty(asked: &ServiceRequest) -> serde_json::Value {
    if asked.is_modern() {
        json!({ "contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "public" })
    } else {
        json!({ "contents": [] })
    }
}
