//! The page `basic`, section "JSON Schema Usage": the schemas that a server sends are schemas.
//!
//! The check is structural: each keyword has the type its dialect gives it, all the way down. It resolves no references
//! and validates no instances.

use serde_json::Value;
use wire::Party;
use wire::pointer;
use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};

use crate::reading::fetching::{OfferedUrl, is_watched, parts, unfetched};
use crate::reading::liveness::client_continues;
use crate::rule::{Rule, at, client, safety, server};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

mod keywords;
mod references;
pub(crate) mod sampling_results;

use keywords::Dialect;

/// The section's rules. The protocol has no message that sends a server a schema, so what it demands of readers
/// binds clients.
pub(crate) const RULES: &[Rule] = &[
    server("schema.dialect-recommended")
        .says(R2025_11_25, at("basic/index", "schema-dialect"), "Schemas SHOULD be written for JSON Schema 2020-12.")
        .how("Reads `$schema` of every schema; without one it is 2020-12.")
        .fix("Leave `$schema` out or set it to the 2020-12 dialect, and write the schema for it.")
        .judge(dialect_recommended),
    server("schema.valid")
        .says(R2025_11_25, at("basic/index", "schema-validation"), "A schema MUST be valid by the dialect it declares, or by 2020-12.")
        .how("Checks every keyword of tool schemas and elicitation schemas for the type its dialect gives it. Schemas of dialects before draft 6 or unknown ones are left alone, and an `inputSchema` that is not an object to `tools.input-schema-object`.")
        .fix("Run the schema through a validator against its meta-schema and correct what it reports.")
        .judge(valid),
    safety("schema.references-resolve")
        .asks(R2024_11_05, at("server/tools", "tool"), "A reference within a schema leads to a part of that schema.")
        .about(&["tools"])
        .by_default()
        .how("Looks up every `$ref` that begins with `#/` in the schemas of tools and forms. A schema with an `$id` is left alone.")
        .fix("Send the definitions (`$defs`) with the schema that refers to them.")
        .judge(references_resolve),
    client("schema.dialect-supported")
        .says(R2025_11_25, at("basic/index", "implementation-requirements"), "A schema without `$schema` MUST be read as JSON Schema 2020-12, which MUST be supported.")
        .unobservable("the dialect by which a client reads a schema does not show in its messages: users and models provide the values"),
    client("schema.dialect-respected")
        .says(R2025_11_25, at("basic/index", "implementation-requirements"), "A schema that names its dialect MUST be read by it.")
        .unobservable("the dialect by which a client reads a schema does not show in its messages: users and models provide the values"),
    client("schema.unknown-dialect-refused")
        .says(R2025_11_25, at("basic/index", "implementation-requirements"), "A schema of a dialect that is not supported MUST be answered with an error that says so.")
        .unobservable("the error is for the client's user; the protocol gives it no place where it could be sent to a server"),
    client("schema.remote-refs-not-fetched")
        .says(R2026_07_28, at("basic/index", "ref-resolution"), "References to the network MUST NOT be followed unless someone asked for that.")
        .how("Needs schemas with a `$ref` to an observed origin, and checks whether it is fetched before the client leaves.")
        .fix("Resolve references within the schema alone, unless someone has switched fetching on.")
        .judge(refs_not_fetched),
    client("schema.unresolved-refs-refused")
        .says(R2026_07_28, at("basic/index", "ref-resolution"), "What a reference that was not followed leaves undecided SHOULD be refused.")
        .unobservable("a client that calls the tool may have checked nothing at all, or have been allowed to resolve the reference from a store of its own"),
    client("schema.resources-bounded")
        .says(R2026_07_28, at("basic/index", "composition-keyword-resource-use"), "Validation SHOULD be bounded in depth, size or time.")
        .how("Needs schemas that are nested more than a hundred levels deep, or hold more than a thousand subschemas under `anyOf`, `oneOf` and `allOf`, and checks whether the client continues.")
        .fix("Bound the depth, the number of subschemas and the time of each validation, and refuse what goes beyond.")
        .judge(resources_bounded),
];

/// Every schema the server sends: event, pointer, schema.
fn schemas<'v>(view: &View<'v>) -> Vec<(usize, (String, &'v Value))> {
    let mut found = Vec::new();
    let results = view.by(Party::Server).filter_map(|sent| Some((sent, sent.message.result()?)));
    for (sent, result) in results {
        for (index, tool) in result.get("tools").and_then(Value::as_array).into_iter().flatten().enumerate() {
            for name in ["inputSchema", "outputSchema"] {
                // An input schema that is not an object is left to another rule: `tools.input-schema-object`.
                let schema = tool.get(name).filter(|schema| name != "inputSchema" || schema.is_object());
                found.extend(schema.map(|s| (sent.event, (format!("/result/tools/{index}/{name}"), s))));
            }
        }
        for (key, request) in result.get("inputRequests").and_then(Value::as_object).into_iter().flatten() {
            let schema = request.pointer("/params/requestedSchema");
            let key = pointer::escape(key);
            found.extend(
                schema.map(|s| (sent.event, (format!("/result/inputRequests/{key}/params/requestedSchema"), s))),
            );
        }
    }
    for sent in view.by(Party::Server).filter(|s| s.is("elicitation/create")) {
        let schema = sent.message.value().pointer("/params/requestedSchema");
        found.extend(schema.map(|s| (sent.event, ("/params/requestedSchema".to_owned(), s))));
    }
    found
}

fn dialect_recommended(view: &View<'_>) -> Verdict {
    let objects = schemas(view).into_iter().filter(|(_, (_, schema))| schema.is_object());
    Verdict::every(objects, "the server sent no schema", |(event, (pointer, schema))| match schema.get("$schema") {
        Some(Value::String(uri)) if Dialect::named(uri) != Some(Dialect::Newest) => {
            let shown: String = uri.chars().take(80).collect();
            Err(Breach::at(
                *event,
                format!("{pointer}/$schema"),
                format!("the schema is written for `{}`", shown.escape_debug()),
            ))
        }
        _ => Ok(()),
    })
}

fn references_resolve(view: &View<'_>) -> Verdict {
    Verdict::every(schemas(view), "the server sent no schema", |(event, (pointer, schema))| {
        let why = |reference: String| format!("the schema has nothing at `{}`", reference.escape_debug());
        references::dangling(schema).map_or(Ok(()), |to| Err(Breach::at(*event, pointer.clone(), why(to))))
    })
}

fn valid(view: &View<'_>) -> Verdict {
    let readable = schemas(view).into_iter().filter(|(_, (_, schema))| keywords::dialect(schema).is_some());
    Verdict::every(
        readable,
        "the server sent no schema of a dialect that is known here",
        |(event, (pointer, schema))| match keywords::fault(schema) {
            None => Ok(()),
            Some((place, why)) => Err(Breach::at(*event, format!("{pointer}{place}"), why)),
        },
    )
}

/// How deep a schema is followed here; what is deeper is deep enough.
const DEEPEST: usize = 400;

/// Calls `seen` with every object in a schema, and how deep it stands.
fn walk<'v>(schema: &'v Value, depth: usize, seen: &mut impl FnMut(&'v Value, usize)) {
    if depth > DEEPEST {
        return;
    }
    match schema {
        Value::Object(members) => {
            seen(schema, depth);
            members.values().for_each(|value| walk(value, depth + 1, seen));
        }
        Value::Array(items) => items.iter().for_each(|value| walk(value, depth + 1, seen)),
        _ => {}
    }
}

fn refs_not_fetched(view: &View<'_>) -> Verdict {
    let mut offered = Vec::new();
    for (event, (_, schema)) in schemas(view) {
        let connection = view.frame(event).connection;
        walk(schema, 0, &mut |object, _| {
            let url = object.get("$ref").or_else(|| object.get("$dynamicRef")).and_then(Value::as_str);
            let url = url.filter(|url| parts(url).is_some());
            offered.extend(url.map(|url| OfferedUrl { event, connection, url }));
        });
    }
    let unseen = "no schema refers to an observed origin, or the client was not seen to leave";
    unfetched(view, offered, |offered| is_watched(view, offered.url), ("what a schema refers to was fetched", unseen))
}

fn resources_bounded(view: &View<'_>) -> Verdict {
    let heavy = |schema: &Value| {
        let (mut deepest, mut branches) = (0, 0);
        walk(schema, 0, &mut |object, depth| {
            deepest = deepest.max(depth);
            let lists = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| object.get(name)?.as_array());
            branches += lists.map(Vec::len).sum::<usize>();
        });
        deepest > 100 || branches > 1000
    };
    let events: Vec<_> =
        schemas(view).into_iter().filter(|(_, (_, schema))| heavy(schema)).map(|(event, _)| event).collect();
    client_continues(
        view,
        events,
        "a schema that is hard to validate",
        "no schema is hard to validate, or the client sent nothing afterwards",
    )
}
