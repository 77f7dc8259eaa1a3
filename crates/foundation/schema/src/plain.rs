//! A quick reading of a schema, without compiling it: whether a value surely fits, surely does not, or cannot be told.
//!
//! It reads what schemas in the field mostly say, and passes over what is malformed, as most servers do. Keywords that want a
//! validator make it unsure.

use serde_json::{Map, Value};

/// How many schemas are looked at.
const STEPS: usize = 2000;
/// How deep schemas are followed.
const DEPTH: usize = 32;
/// How many items are compared with one another.
const COMPARED: usize = 64;

/// Keywords that want a validator.
const UNREAD: &[&str] = &[
    "if",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "prefixItems",
    "pattern",
    "$dynamicRef",
    "$recursiveRef",
];

/// Whether `value` fits `schema`; `None` where that cannot be told without a validator.
pub fn fits(schema: &Value, value: &Value) -> Option<bool> {
    fits_part(schema, schema, value)
}

/// Whether `value` fits `schema`, which is a part of `root`.
pub(crate) fn fits_part(schema: &Value, root: &Value, value: &Value) -> Option<bool> {
    Reader { root, left: STEPS }.read(schema, value, DEPTH)
}

/// Whether a value without parts fits the keywords of a part of a schema.
pub(crate) fn scalar_fits<'k>(keywords: impl Iterator<Item = (&'k str, &'k Value)>, value: &Value) -> Option<bool> {
    const OF_PARTS: [&str; 6] =
        ["properties", "required", "items", "additionalProperties", "patternProperties", "prefixItems"];
    let own = keywords.filter(|(name, _)| !OF_PARTS.contains(name));
    let members: Map<String, Value> = own.map(|(name, rule)| (name.to_owned(), rule.clone())).collect();
    Reader { root: &Value::Null, left: STEPS }.members(&members, value, DEPTH)
}

/// Whether `value` surely fits `schema`.
pub fn admits(schema: &Value, value: &Value) -> bool {
    fits(schema, value) == Some(true)
}

struct Reader<'r> {
    root: &'r Value,
    left: usize,
}

impl Reader<'_> {
    fn read(&mut self, schema: &Value, value: &Value, room: usize) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        match schema {
            Value::Bool(fits) => Some(*fits),
            Value::Object(members) if room > 0 => self.members(members, value, room - 1),
            _ => None,
        }
    }

    fn members(&mut self, members: &Map<String, Value>, value: &Value, room: usize) -> Option<bool> {
        let referred = match members.get("$ref") {
            Some(reference) => self.referred(reference, value, room),
            None => Some(true),
        };
        // Beside a reference, older dialects pass over everything else: it may confirm, but not refuse.
        let binding = !members.contains_key("$ref");
        let mut sum = referred;
        for (name, rule) in members {
            if sum == Some(false) {
                break;
            }
            let one = self.keyword(name, rule, members, value, room);
            sum = both(sum, if binding { one } else { one.filter(|fits| *fits) });
        }
        sum
    }

    fn referred(&mut self, reference: &Value, value: &Value, room: usize) -> Option<bool> {
        let root = self.root;
        self.read(root.pointer(reference.as_str()?.strip_prefix('#')?)?, value, room)
    }

    fn keyword(
        &mut self,
        name: &str,
        rule: &Value,
        members: &Map<String, Value>,
        value: &Value,
        room: usize,
    ) -> Option<bool> {
        match (name, value) {
            (name, _) if UNREAD.contains(&name) => None,
            ("type", _) => Some(is_of(value, rule)),
            ("const", _) => same(rule, value),
            ("enum", _) => rule.as_array().map_or(Some(true), |all| some(all.iter().map(|one| same(one, value)))),
            ("allOf" | "anyOf" | "oneOf", _) => self.combined(name, rule, value, room),
            (_, Value::Object(object)) => self.object(name, rule, members, object, room),
            (_, Value::Array(items)) => self.array(name, rule, items, room),
            (_, Value::String(text)) => Some(counted(name, rule, ["minLength", "maxLength"], text.chars().count())),
            (_, Value::Number(number)) => bounded(name, rule, members, number.as_f64()?),
            _ => Some(true),
        }
    }

    fn combined(&mut self, name: &str, rule: &Value, value: &Value, room: usize) -> Option<bool> {
        let Value::Array(ways) = rule else { return Some(true) };
        let fits: Vec<Option<bool>> = ways.iter().map(|one| self.read(one, value, room)).collect();
        match name {
            "allOf" => every(fits.into_iter()),
            "anyOf" => some(fits.into_iter()),
            _ if fits.contains(&None) => None,
            _ => Some(fits.iter().filter(|one| **one == Some(true)).count() == 1),
        }
    }

    fn object(
        &mut self,
        name: &str,
        rule: &Value,
        members: &Map<String, Value>,
        object: &Map<String, Value>,
        room: usize,
    ) -> Option<bool> {
        match (name, rule) {
            ("properties", Value::Object(schemas)) => {
                let there = schemas.iter().filter_map(|(name, schema)| Some((schema, object.get(name)?)));
                every(there.map(|(schema, value)| self.read(schema, value, room)))
            }
            ("required", Value::Array(names)) => {
                Some(names.iter().filter_map(Value::as_str).all(|name| object.contains_key(name)))
            }
            ("additionalProperties", schema) => {
                let declared = members.get("properties").and_then(Value::as_object);
                let others = object.iter().filter(|(name, _)| !declared.is_some_and(|all| all.contains_key(*name)));
                every(others.map(|(_, value)| self.read(schema, value, room)))
            }
            _ => Some(counted(name, rule, ["minProperties", "maxProperties"], object.len())),
        }
    }

    fn array(&mut self, name: &str, rule: &Value, items: &[Value], room: usize) -> Option<bool> {
        match (name, rule) {
            ("items", Value::Array(_)) => None,
            ("items", schema) => every(items.iter().map(|item| self.read(schema, item, room))),
            ("uniqueItems", Value::Bool(true)) if items.len() > COMPARED => None,
            ("uniqueItems", Value::Bool(true)) => {
                let pairs = items.iter().enumerate().flat_map(|(at, a)| items[..at].iter().map(move |b| same(a, b)));
                some(pairs).map(|twice| !twice)
            }
            _ => Some(counted(name, rule, ["minItems", "maxItems"], items.len())),
        }
    }
}

/// Whether both hold; one that does not decides.
const fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Whether all hold; one that does not decides.
fn every(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut sum = Some(true);
    for one in all {
        sum = both(sum, one);
        if sum == Some(false) {
            break;
        }
    }
    sum
}

/// Whether any holds; one that does decides.
fn some(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut sum = Some(false);
    for one in all {
        match one {
            Some(true) => return one,
            None => sum = None,
            Some(false) => {}
        }
    }
    sum
}

fn is_of(value: &Value, rule: &Value) -> bool {
    match rule {
        Value::String(kind) => is_a(value, kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(|kind| is_a(value, kind)),
        _ => true,
    }
}

/// Whether a value is of the type of that name.
pub(crate) fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Whether two values are the same in JSON, where 1 is 1.0; `None` where containers differ, maybe in that alone.
fn same(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        _ if a == b => Some(true),
        (Value::Number(a), Value::Number(b)) => Some(a.as_f64() == b.as_f64()),
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => None,
        _ => Some(false),
    }
}

/// Whether a count is within the two bounds, the lower named first.
fn counted(name: &str, rule: &Value, bounds: [&str; 2], count: usize) -> bool {
    let limit = rule.as_f64();
    if name == bounds[0] {
        limit.is_none_or(|limit| count as f64 >= limit)
    } else if name == bounds[1] {
        limit.is_none_or(|limit| count as f64 <= limit)
    } else {
        true
    }
}

fn bounded(name: &str, rule: &Value, members: &Map<String, Value>, number: f64) -> Option<bool> {
    // Draft 4 says with a flag that a bound is excluded.
    let limit = match (name, rule) {
        ("exclusiveMinimum", Value::Bool(true)) => members.get("minimum"),
        ("exclusiveMaximum", Value::Bool(true)) => members.get("maximum"),
        _ => Some(rule),
    };
    let Some(limit) = limit.and_then(Value::as_f64) else { return Some(true) };
    match name {
        "minimum" => Some(number >= limit),
        "maximum" => Some(number <= limit),
        "exclusiveMinimum" => Some(number > limit),
        "exclusiveMaximum" => Some(number < limit),
        "multipleOf" if limit > 0.0 && (number / limit).fract() == 0.0 => Some(true),
        // Fractions have digits to lose.
        "multipleOf" => (limit.fract() == 0.0 && number.fract() == 0.0).then_some(false),
        _ => Some(true),
    }
}

/// The names that an object's schema requires.
pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Rng;
    use crate::vary::{Schema, Width, variations};

    #[test]
    fn what_is_surely_so_is_told() {
        let schema = json!({ "type": "object", "required": ["n"], "additionalProperties": false, "properties": {
            "n": { "type": "integer", "minimum": 1 }, "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
            "who": { "$ref": "#/$defs/who" } }, "$defs": { "who": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } });
        for value in [json!({ "n": 1 }), json!({ "n": 2.0, "tags": ["a"], "who": null })] {
            assert_eq!(fits(&schema, &value), Some(true), "{value}");
        }
        for value in
            [json!([]), json!({}), json!({ "n": 0 }), json!({ "n": 1, "tags": ["c"] }), json!({ "n": 1, "who": 3 })]
        {
            assert_eq!(fits(&schema, &value), Some(false), "{value}");
        }
    }

    #[test]
    fn what_wants_a_validator_makes_unsure() {
        for schema in [
            json!({ "pattern": "^a" }),
            json!({ "$ref": "https://example.com/s" }),
            json!({ "not": { "type": "null" } }),
            json!({ "oneOf": [{ "type": "string" }, { "pattern": "a" }] }),
            json!({ "$ref": "#/$defs/a", "type": "null", "$defs": { "a": {} } }),
        ] {
            assert_eq!(fits(&schema, &json!("b")), None, "{schema}");
        }
        assert_eq!(fits(&json!({ "pattern": "^a", "type": "null" }), &json!("b")), Some(false));
    }

    /// Drafts 3 and 4 say in a property what newer ones refuse to compile.
    #[test]
    fn what_is_malformed_is_passed_over() {
        assert!(admits(&json!({ "type": "string", "required": true }), &json!("x")));
        let excluded = json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true });
        assert!(admits(&excluded, &json!(1)) && !admits(&excluded, &json!(0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Wherever it is sure, a validator agrees: of any value, and of those that just fit or just do not.
        #[test]
        fn it_is_never_mistaken(property in crate::vary::tests::schema(), value in value()) {
            let schema = json!({ "type": "object", "properties": { "x": property } });
            let whole = jsonschema::validator_for(&schema).unwrap();
            let target = Schema::new(&schema).unwrap();
            let width = Width { depth: 4, edges: true, members: 9, types: 3 };
            let made = variations(&target, &Map::new(), &Map::new(), &Rng::plain(), width);
            for value in made.into_iter().map(|one| one.instance).chain([json!({ "x": value })]) {
                if let Some(fits) = fits(&schema, &value) {
                    prop_assert_eq!(fits, whole.is_valid(&value), "{}", value);
                }
            }
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-60..60i64).prop_map(Value::from),
            (-60..60i64).prop_map(|n| json!(n as f64 / 4.0)),
            "[a-c0-9]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("p[0-3]", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}
