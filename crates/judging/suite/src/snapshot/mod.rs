//! `proof snapshot`: everything that a server declares as one canonical document, and the changes between two documents.

mod drift;

use client::{Client, ClientError};
use serde_json::{Map, Value, json};
use wire::error_code::METHOD_NOT_FOUND;

pub use drift::{Change, drift};

/// The name and version of the document's format.
pub const SCHEMA: &str = "proof.snapshot/1";

/// The lists of a server: the member of the document and of the result, the method, and the key of an item.
pub(crate) const LISTS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "name"),
    ("resources", "resources/list", "uri"),
    ("resourceTemplates", "resources/templates/list", "uriTemplate"),
    ("prompts", "prompts/list", "name"),
];

/// Requests everything that the server declares. Members of objects and items of lists are sorted by name.
pub async fn surface(client: &Client) -> Result<Value, ClientError> {
    let greeting = client.greeting();
    let mut surface = Map::new();
    surface.insert("schema".to_owned(), json!(SCHEMA));
    surface.insert("revision".to_owned(), json!(client.revision().as_str()));
    let introduction = greeting.result.as_ref().map(|(result, _)| result);
    surface.extend(greeting.server_info().map(|info| ("server".to_owned(), info.clone())));
    for member in ["capabilities", "instructions"] {
        let value = introduction.and_then(|result| result.get(member));
        surface.extend(value.map(|value| (member.to_owned(), value.clone())));
    }
    for (member, method, name) in LISTS {
        let capability = if member == "resourceTemplates" { "resources" } else { member };
        if !greeting.may_have(capability) {
            continue;
        }
        let mut items = match client.list(method, member).await {
            Ok(listed) => listed.items,
            // A server with resources need not support templates.
            Err(ClientError::Rpc { code: METHOD_NOT_FOUND, .. }) if member == "resourceTemplates" => continue,
            Err(error) => return Err(error),
        };
        items.sort_by(|a, b| a[name].as_str().cmp(&b[name].as_str()));
        surface.insert(member.to_owned(), Value::Array(items));
    }
    Ok(sorted(&Value::Object(surface)))
}

/// The value with the members of every object sorted by name.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        value => value.clone(),
    }
}
