//! Arguments that a schema plainly refuses, without a validator.

use serde_json::{Map, Value, json};

use super::Schema;
use super::walk::{Kind, Width, variations};
use crate::plain::required;
use crate::rng::Rng;
use crate::sample::{Style, object};

/// The greatest integer that may be mirrored into a header.
const SAFE: u64 = (1 << 53) - 1;

/// How far references are followed.
const DEPTH: usize = 8;

/// A smallest object with one member of another type than the schema says, a required one if there is any. `None` where no
/// member has a type.
pub fn refused(schema: &Value, rng: &Rng) -> Option<Map<String, Value>> {
    let wrong = |property: &Value| of_another_type(property.get("type")?.as_str()?);
    changed(schema, schema, rng, wrong)
}

/// A smallest object in which one member of another object, at any depth, is of another type than the schema says. `None`
/// where no object in it has members with a type.
pub fn refused_within(schema: &Value, rng: &Rng) -> Option<Map<String, Value>> {
    within(schema, schema, rng, DEPTH)
}

/// `whole` without one required member each, in the order of the schema. A member with a default, or one that is mirrored into
/// a header, is left alone.
pub fn left_out(schema: &Value, whole: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none()).and_then(Value::as_object);
    let is_plain = |name: &&str| {
        let property = properties.and_then(|all| resolve(all.get(*name)?, schema, DEPTH));
        property.is_some_and(|property| ["default", "x-mcp-header"].iter().all(|member| property.get(member).is_none()))
    };
    let without = |name: &str| {
        let mut rest = whole.clone();
        rest.shift_remove(name).map(|_| rest)
    };
    required(schema).filter(is_plain).filter_map(without).collect()
}

/// A member, and a number for it that lies just beyond the bounds that the schema states; the first for which there is one.
pub fn beyond_bounds(schema: &Value) -> Option<(String, Value)> {
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    properties.iter().find_map(|(name, property)| {
        let number = matches!(property.get("type")?.as_str()?, "integer" | "number");
        let safe = |bound: &i64| bound.unsigned_abs() < SAFE;
        let bound = |keyword: &str| property.get(keyword).and_then(Value::as_i64).filter(safe).filter(|_| number);
        let above = || bound("maximum")?.checked_add(1);
        let below = || bound("minimum")?.checked_sub(1);
        Some((name.clone(), json!(above().or_else(below)?)))
    })
}

/// Constraints of single values that readers without a validator often pass over. The bounds of numbers are the business of
/// [`beyond_bounds`].
const CONSTRAINTS: [&str; 6] = ["enum", "const", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum"];

/// Members of the whole alone, and nothing but what breaks a constraint.
const ONE_LEVEL: Width = Width { depth: 1, edges: false, members: 0, types: 0 };

/// `whole` with one member each whose value breaks one constraint and no other, once for each keyword in use. What does not
/// fit beforehand stays as it is: nothing is made of it.
pub fn constraints_broken(schema: &Value, whole: &Map<String, Value>, rng: &Rng) -> Vec<Map<String, Value>> {
    let Ok(target) = Schema::new(schema) else { return Vec::new() };
    if !target.fits(&Value::Object(whole.clone())) {
        return Vec::new();
    }
    let all = variations(&target, whole, whole, rng, ONE_LEVEL);
    let broken = all.iter().filter(|one| one.kind == Kind::Violation && one.demanded);
    let mut seen: Vec<&str> = Vec::new();
    let mut made = Vec::new();
    for one in broken.filter(|one| CONSTRAINTS.contains(&one.keyword.as_str())) {
        let Some(name) = one.pointer.strip_prefix('/').filter(|name| !name.contains(['/', '~'])) else { continue };
        let Some(value) = one.instance.get(name).filter(|_| !seen.contains(&one.keyword.as_str())) else { continue };
        let mut changed = whole.clone();
        changed.insert(name.to_owned(), value.clone());
        if target.demands(&Value::Object(changed.clone())) {
            seen.push(&one.keyword);
            made.push(changed);
        }
    }
    made
}

fn within(schema: &Value, root: &Value, rng: &Rng, depth: usize) -> Option<Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    changed(schema, root, rng, |property| {
        let wrong = |inner: &Value| of_another_type(inner.get("type")?.as_str()?);
        let inner = || changed(property, root, rng, wrong).or_else(|| within(property, root, rng, depth));
        (property.get("type")? == "object").then(inner)?.map(Value::Object)
    })
}

/// A smallest object with the first member, required ones first, for which `change` has another value.
fn changed(
    schema: &Value,
    root: &Value,
    rng: &Rng,
    change: impl Fn(&Value) -> Option<Value>,
) -> Option<Map<String, Value>> {
    // What is next to a reference counts in some drafts and not in others.
    let properties = schema.get("properties").filter(|_| schema.get("$ref").is_none())?.as_object()?;
    let wrong = |name: &str| {
        let property = resolve(properties.get(name)?, root, DEPTH)?;
        // Of another type it could not be mirrored into its header, and would be refused for that.
        if property.get("x-mcp-header").is_some() {
            return None;
        }
        Some((name.to_owned(), change(property)?))
    };
    let names = required(schema).chain(properties.keys().map(String::as_str));
    let (name, value) = names.into_iter().find_map(wrong)?;
    let mut arguments = object(schema, Style::Smallest, rng).unwrap_or_default();
    arguments.insert(name, value);
    Some(arguments)
}

/// A value of another type than `name`, which no reading of texts makes one of it.
fn of_another_type(name: &str) -> Option<Value> {
    Some(match name {
        "string" => json!({ "not": "a string" }),
        "number" | "integer" => json!("not a number"),
        "boolean" => json!("not a boolean"),
        "array" | "object" => json!("neither array nor object"),
        _ => return None,
    })
}

/// Follows local references.
fn resolve<'s>(schema: &'s Value, root: &'s Value, depth: usize) -> Option<&'s Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        None => Some(schema),
        Some(_) if depth == 0 => None,
        Some(reference) => resolve(root.pointer(reference.strip_prefix('#')?)?, root, depth - 1),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{beyond_bounds, constraints_broken, left_out};
    use crate::rng::Rng;

    #[test]
    fn each_constraint_in_use_is_broken_once() {
        let schema = json!({ "type": "object", "properties": {
            "unit": { "type": "string", "enum": ["m", "ft"] },
            "also": { "type": "string", "enum": ["a"] },
            "code": { "type": "string", "minLength": 3 },
            "free": { "type": "string" },
        }, "required": ["unit", "code"] });
        let whole = json!({ "unit": "m", "code": "ABC", "free": "kept" });
        let made = constraints_broken(&schema, whole.as_object().expect("an object"), &Rng::plain());
        assert_eq!(made.len(), 2, "{made:?}");
        assert!(made.iter().any(|one| one["unit"] != "m" && one["unit"] != "ft" && one["code"] == "ABC"), "{made:?}");
        assert!(made.iter().any(|one| one["unit"] == "m" && one["code"] != "ABC"), "{made:?}");
        assert!(made.iter().all(|one| one["free"] == "kept"), "{made:?}");
        let misfit = json!({ "unit": "yd", "code": "ABC" });
        assert!(constraints_broken(&schema, misfit.as_object().expect("an object"), &Rng::plain()).is_empty());
    }

    #[test]
    fn required_members_are_left_out_one_at_a_time() {
        let integer = json!({ "type": "integer" });
        let schema = json!({
            "properties": { "a": integer, "b": integer, "c": { "type": "integer", "default": 1 }, "d": integer,
                "shard": { "type": "integer", "x-mcp-header": "Shard" } },
            "required": ["a", "b", "c", "shard"],
        });
        let whole = json!({ "a": 1, "b": 2, "c": 3, "d": 4, "shard": 5 });
        let made = left_out(&schema, whole.as_object().expect("an object"));
        let names: Vec<Vec<&str>> = made.iter().map(|one| one.keys().map(String::as_str).collect()).collect();
        assert_eq!(names, [["b", "c", "d", "shard"], ["a", "c", "d", "shard"]]);
    }

    #[test]
    fn a_number_just_beyond_its_bounds_is_found() {
        let schema = json!({ "properties": {
            "text": { "type": "string", "maxLength": 3 },
            "most": { "type": "integer", "maximum": 9_007_199_254_740_991_i64, "x-mcp-header": "Most" },
            "least": { "type": "number", "minimum": 1 },
        }});
        assert_eq!(beyond_bounds(&schema), Some(("least".to_owned(), json!(0))));
        let both =
            json!({ "properties": { "n": { "type": "integer", "minimum": 1, "maximum": 20, "x-mcp-header": "N" } } });
        assert_eq!(beyond_bounds(&both), Some(("n".to_owned(), json!(21))));
        assert_eq!(beyond_bounds(&json!({ "properties": { "n": { "type": "integer" } } })), None);
    }
}
