//! The official catalogue: what the official conformance suite expects of a server, under the names it expects.

mod ask;
mod change;
mod content;
mod mrtr;
mod prompts;
mod resources;
mod schema;
mod tasks;
mod work;

use serde_json::{Value, json};

use super::Catalogue;

pub(super) fn catalogue() -> Catalogue {
    Catalogue {
        title: Some("Proofhouse, as the official suite wants it".into()),
        instructions: Some("A server for the official conformance suite. Every tool is harmless.".into()),
        tools: [
            // The suite calls the first one without arguments to try headers.
            content::tools(),
            work::tools(),
            ask::tools(),
            mrtr::tools(),
            schema::tools(),
            change::tools(),
            tasks::tools(),
        ]
        .concat(),
        resources: resources::resources(),
        templates: resources::templates(),
        prompts: prompts::prompts(),
        ..Catalogue::new("proof-official", env!("CARGO_PKG_VERSION"))
    }
}

/// A form with these fields, of which `required` must be filled in.
fn form(fields: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": fields });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
