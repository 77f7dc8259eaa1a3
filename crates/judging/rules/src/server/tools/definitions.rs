//! `server/tools#tool`: what a tool's definition holds.

use serde_json::Value;
use wire::revision::R2025_11_25;

use crate::rule::{Rule, at, server};
use crate::server::listing::{TOOLS, items};
use crate::verdict::Verdict;
use crate::view::View;

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[server("tools.input-schema-object")
    .says(R2025_11_25, at("server/tools", "tool"), "A tool's `inputSchema` MUST be a JSON Schema object, never null.")
    .about(&["tools"])
    .how("Looks at every listed tool's `inputSchema`; what is in it is judged by `schema.valid`.")
    .fix("Write a schema object; for a tool without parameters `{\"type\": \"object\", \"additionalProperties\": false}`.")
    .judge(input_schema_object)];

fn input_schema_object(view: &View<'_>) -> Verdict {
    let with_schema = items(view, &TOOLS).into_iter().filter(|tool| tool.value.get("inputSchema").is_some());
    Verdict::every(with_schema, "no tool with an `inputSchema` was listed", |tool| {
        let object = tool.value.get("inputSchema").is_some_and(Value::is_object);
        if object { Ok(()) } else { Err(tool.breach("/inputSchema", "the schema is not a JSON object")) }
    })
}
