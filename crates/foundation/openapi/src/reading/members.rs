//! Whether a body is an object whose members can be arguments of their own: its own properties and those of `allOf`.

use serde_json::Value;

use super::Source;
use crate::prose;

/// How deep `allOf` is followed.
const DEPTH: usize = 12;
/// How many members may be arguments of their own.
const MOST: usize = 300;

/// A schema of a member, and where it stands.
type Part<'v> = (&'v Value, String);

/// An object as its members.
pub(super) struct Flat<'v> {
    /// Each member with its schemas, all of which hold.
    pub(super) members: Vec<(&'v str, Vec<Part<'v>>)>,
    pub(super) required: Vec<String>,
    pub(super) description: Option<String>,
}

/// The members of an object that has no more than them; `None` for everything that is more than that.
pub(super) fn flat<'v>(source: &Source<'v>, schema: &'v Value, at: &str) -> Option<Flat<'v>> {
    let description = schema.get("description").and_then(Value::as_str);
    let description = description.map(|text| prose::shortened(&prose::plain(text), 300));
    let mut flat = Flat { members: Vec::new(), required: Vec::new(), description };
    gather(source, schema, at, DEPTH, &mut flat)?;
    flat.members.retain(|(_, parts)| !parts.iter().any(|(schema, _)| is_read_only(source, schema)));
    (!flat.members.is_empty() && flat.members.len() <= MOST).then_some(flat)
}

fn gather<'v>(source: &Source<'v>, schema: &'v Value, at: &str, depth: usize, flat: &mut Flat<'v>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let (schema, at) = source.resolve(schema, at).ok()?;
    let members = schema.as_object()?;
    let more = ["oneOf", "anyOf", "not", "if", "enum", "const", "patternProperties", "discriminator", "$dynamicRef"];
    if more.iter().any(|keyword| members.contains_key(*keyword)) {
        return None;
    }
    if members.get("type").is_some_and(|kind| kind != "object") {
        return None;
    }
    // Members that have no name here could not be sent.
    if members.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false)) {
        return None;
    }
    let names = members.get("required").and_then(Value::as_array);
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        if !flat.required.iter().any(|known| known == name) {
            flat.required.push(name.to_owned());
        }
    }
    if let Some(parts) = members.get("allOf") {
        for (index, part) in parts.as_array()?.iter().enumerate() {
            gather(source, part, &format!("{at}/allOf/{index}"), depth, flat)?;
        }
    }
    for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let part = (property, format!("{at}/properties/{}", wire::pointer::escape(name)));
        match flat.members.iter_mut().find(|(known, _)| known == name) {
            Some((_, parts)) => parts.push(part),
            None => flat.members.push((name.as_str(), vec![part])),
        }
        if flat.members.len() > MOST * 2 {
            return None;
        }
    }
    Some(())
}

fn is_read_only(source: &Source<'_>, schema: &Value) -> bool {
    let says = |schema: &Value| schema.get("readOnly").and_then(Value::as_bool) == Some(true);
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| source.target(to).ok());
    says(schema) || target.is_some_and(|(schema, _)| says(schema))
}
