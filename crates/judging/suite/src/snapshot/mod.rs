//! `proof snapshot`: everything that a server declares, as one canonical document, and what changed between two of them.

mod drift;

use client::{Client, ClientError};
use serde_json::{Map, Value, json};
use wire::error_code::METHOD_NOT_FOUND;

pub use drift::{Change, drift};

/// What such a document says of itself.
pub const SCHEMA: &str = "proof.snapshot/1";

/// The lists of a surface: the member, also of the result, the method, and what names an item.
pub(crate) const LISTS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "name"),
    ("resources", "resources/list", "uri"),
    ("resourceTemplates", "resources/templates/list", "uriTemplate"),
    ("prompts", "prompts/list", "name"),
];

/// Asks for everything that the server declares. Objects have their members in order of their names, lists of things with
/// names are in the order of those.
pub async fn surface(client: &Client) -> Result<Value, ClientError> {
    let greeting = client.greeting();
    let mut surface = Map::new();
    surface.insert("schema".to_owned(), json!(SCHEMA));
    surface.insert("revision".to_owned(), json!(client.revision().as_str()));
    let introduced = greeting.result.as_ref().map(|(result, _)| result);
    surface.extend(greeting.server_info().map(|info| ("server".to_owned(), info.clone())));
    for member in ["capabilities", "instructions"] {
        let value = introduced.and_then(|result| result.get(member));
        surface.extend(value.map(|value| (member.to_owned(), value.clone())));
    }
    for (member, method, name) in LISTS {
        let capability = if member == "resourceTemplates" { "resources" } else { member };
        if !greeting.may_have(capability) {
            continue;
        }
        let mut items = match client.list(method, member).await {
            Ok(listed) => listed.items,
            // Templates are a method of their own, which a server of plain resources need not have.
            Err(ClientError::Rpc { code: METHOD_NOT_FOUND, .. }) if member == "resourceTemplates" => continue,
            Err(error) => return Err(error),
        };
        items.sort_by(|a, b| a[name].as_str().cmp(&b[name].as_str()));
        surface.insert(member.to_owned(), Value::Array(items));
    }
    Ok(ordered(&Value::Object(surface)))
}

/// The same with the members of every object in order of their names.
fn ordered(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), ordered(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(ordered).collect(),
        value => value.clone(),
    }
}
