//! The page `basic`, section "JSON Schema Usage": the schemas that a server sends are schemas.
//!
//! The check is structural: each keyword has the type its dialect gives it, all the way down. It resolves no references
//! and validates no instances.

use serde_json::Value;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::meta::results;
use crate::rule::{Rule, at, client, server};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

mod keywords;
pub(crate) mod sampled;

use keywords::Dialect;

/// The section's rules. The protocol gives nobody a place to send a server a schema, so that what it demands of readers
/// binds clients.
pub(crate) const RULES: &[Rule] = &[
    server("schema.dialect-recommended")
        .says(R2025_11_25, at("basic/index", "schema-dialect"), "Schemas SHOULD be written for JSON Schema 2020-12.")
        .how("Reads `$schema` of every schema; without one it is 2020-12.")
        .mend("Leave `$schema` out or set it to the 2020-12 dialect, and write the schema for it.")
        .judge(dialect_recommended),
    server("schema.valid")
        .says(R2025_11_25, at("basic/index", "schema-validation"), "A schema MUST be valid by the dialect it declares, or by 2020-12.")
        .how("Checks every keyword of tool schemas and elicitation schemas for the type its dialect gives it. Schemas of dialects before draft 6 or unknown ones are left alone, and an `inputSchema` that is no object to `tools.input-schema-object`.")
        .mend("Run the schema through a validator against its meta-schema and mend what it names.")
        .judge(valid),
    client("schema.dialect-supported")
        .says(R2025_11_25, at("basic/index", "implementation-requirements"), "A schema without `$schema` MUST be read as JSON Schema 2020-12, which MUST be supported.")
        .declared(),
    client("schema.dialect-respected")
        .says(R2025_11_25, at("basic/index", "implementation-requirements"), "A schema that names its dialect MUST be read by it.")
        .declared(),
    client("schema.unknown-dialect-refused")
        .says(R2025_11_25, at("basic/index", "implementation-requirements"), "A schema of a dialect that is not supported MUST be answered with an error that says so.")
        .declared(),
    client("schema.remote-refs-not-fetched")
        .says(R2026_07_28, at("basic/index", "ref-resolution"), "References to the network MUST NOT be followed unless someone asked for that.")
        .declared(),
    client("schema.unresolved-refs-refused")
        .says(R2026_07_28, at("basic/index", "ref-resolution"), "What a reference that was not followed leaves undecided SHOULD be refused.")
        .declared(),
    client("schema.resources-bounded")
        .says(R2026_07_28, at("basic/index", "composition-keyword-resource-use"), "Validation SHOULD be bounded in depth, size or time.")
        .declared(),
];

/// Every schema the server sends: event, pointer, schema.
fn schemas<'v>(view: &View<'v>) -> Vec<(usize, (String, &'v Value))> {
    let mut found = Vec::new();
    for (said, result) in results(view) {
        for (index, tool) in result.get("tools").and_then(Value::as_array).into_iter().flatten().enumerate() {
            for name in ["inputSchema", "outputSchema"] {
                // An input schema that is no object is another rule's business: `tools.input-schema-object`.
                let schema = tool.get(name).filter(|schema| name != "inputSchema" || schema.is_object());
                found.extend(schema.map(|s| (said.event, (format!("/result/tools/{index}/{name}"), s))));
            }
        }
        for (key, request) in result.get("inputRequests").and_then(Value::as_object).into_iter().flatten() {
            let schema = request.pointer("/params/requestedSchema");
            let key = key.replace('~', "~0").replace('/', "~1");
            found.extend(
                schema.map(|s| (said.event, (format!("/result/inputRequests/{key}/params/requestedSchema"), s))),
            );
        }
    }
    for said in view.theirs().filter(|s| s.is("elicitation/create")) {
        let schema = said.message.value().pointer("/params/requestedSchema");
        found.extend(schema.map(|s| (said.event, ("/params/requestedSchema".to_owned(), s))));
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
