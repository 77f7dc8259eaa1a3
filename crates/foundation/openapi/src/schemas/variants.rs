//! Values of several kinds: null, and variants that a member tells apart.

use serde_json::{Map, Value, json};

use super::keywords;
use super::walk::Walk;

/// Accepts null where the description says so and no `type` does.
pub(super) fn nullable(from: &Map<String, Value>, to: Map<String, Value>) -> Value {
    let combined = ["allOf", "anyOf", "oneOf"].iter().any(|name| to.contains_key(*name));
    if !keywords::is_nullable(from) || !combined {
        return Value::Object(to);
    }
    // The type already allows null, but not the combination.
    let mut to = to;
    let description = to.remove("description");
    let mut either = json!({"anyOf": [to, {"type": "null"}]});
    if let (Some(description), Value::Object(either)) = (description, &mut either) {
        either.insert("description".to_owned(), description);
    }
    either
}

/// Writes into each variant of `oneOf` or `anyOf` which value of the discriminating member it has.
pub(super) fn discriminate(walk: &Walk<'_, '_, '_>, from: &Map<String, Value>, to: &mut Map<String, Value>) {
    let Some(discriminator) = from.get("discriminator") else { return };
    let Some(member) = discriminator.get("propertyName").and_then(Value::as_str) else { return };
    let mapping = discriminator.get("mapping").and_then(Value::as_object);
    for combination in ["oneOf", "anyOf"] {
        let Some(raw) = from.get(combination).and_then(Value::as_array) else { continue };
        let Some(Value::Array(converted)) = to.get_mut(combination) else { continue };
        for (raw, converted) in raw.iter().zip(converted) {
            let Some(reference) = raw.get("$ref").and_then(Value::as_str) else { continue };
            let Some(branch) = converted.as_object_mut().filter(|branch| branch.contains_key("$ref")) else { continue };
            let tags = tags(walk, reference, member, mapping);
            let value = match tags.as_slice() {
                [] => continue,
                [one] => json!({"const": one}),
                several => json!({"enum": several}),
            };
            branch.insert("properties".to_owned(), json!({ member: value }));
            branch.insert("required".to_owned(), json!([member]));
        }
    }
}

/// The values of the discriminating member that stand for a variant; none where the variant itself says others.
fn tags(walk: &Walk<'_, '_, '_>, reference: &str, member: &str, mapping: Option<&Map<String, Value>>) -> Vec<String> {
    let source = walk.all.source;
    let Ok((target, pointer)) = source.target(reference) else { return Vec::new() };
    let name = wire::pointer::unescape(pointer.rsplit('/').next().unwrap_or_default());
    let leads_here = |to: &Value| {
        let Some(to) = to.as_str() else { return false };
        to == name || source.target(to).is_ok_and(|(_, there)| there == pointer)
    };
    let mapped = mapping.into_iter().flatten().filter(|(_, to)| leads_here(to)).map(|(tag, _)| tag.clone());
    let mut tags: Vec<String> = mapped.collect();
    if tags.is_empty() {
        tags.push(name);
    }
    let own = target.get("properties").and_then(|all| all.get(member)).and_then(|own| source.resolve(own, "").ok());
    if let Some((own, _)) = own {
        let allows = |tag: &str| match (own.get("const"), own.get("enum").and_then(Value::as_array)) {
            (Some(only), _) => only == tag,
            (None, Some(values)) => values.iter().any(|value| value == tag),
            (None, None) => true,
        };
        tags.retain(|tag| allows(tag));
    }
    tags
}
