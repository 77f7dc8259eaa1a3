//! A lenient reading of a schema without compiling it: passes over what is malformed, as most servers do.
//!
//! Keywords that need a validator make it unsure.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::fit::{Reader, Reading, is_type};

/// How many schemas are looked at.
const STEPS: usize = 2000;

/// Whether `value` fits `schema`; `None` where that cannot be told without a validator.
pub fn fits(schema: &Value, value: &Value) -> Option<bool> {
    fits_part(schema, schema, value)
}

/// Whether `value` fits `schema`, which is a part of `root`.
pub(crate) fn fits_part(schema: &Value, root: &Value, value: &Value) -> Option<bool> {
    let spend = steps();
    Reader::new(root, Reading::Lenient, &spend).read(schema, value, "", 0).known()
}

/// Whether a value without parts fits the keywords of a part of a schema.
pub(crate) fn scalar_fits<'k>(keywords: impl Iterator<Item = (&'k str, &'k Value)>, value: &Value) -> Option<bool> {
    const OF_PARTS: [&str; 6] =
        ["properties", "required", "items", "additionalProperties", "patternProperties", "prefixItems"];
    let own = keywords.filter(|(name, _)| !OF_PARTS.contains(name));
    let members: Map<String, Value> = own.map(|(name, rule)| (name.to_owned(), rule.clone())).collect();
    let spend = steps();
    Reader::new(&Value::Null, Reading::Lenient, &spend).members(&members, value, "", 0).known()
}

/// Whether `value` surely fits `schema`.
pub fn admits(schema: &Value, value: &Value) -> bool {
    fits(schema, value) == Some(true)
}

/// Counts down from [`STEPS`]; `false` once nothing is left.
fn steps() -> impl Fn() -> bool {
    let left = Cell::new(STEPS);
    move || {
        let next = left.get().checked_sub(1);
        left.set(next.unwrap_or(0));
        next.is_some()
    }
}

/// Whether a value is of the type of that name.
pub(crate) fn is_a(value: &Value, kind: &str) -> bool {
    is_type(kind, value) == Some(true)
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
    fn sure_answers_are_given() {
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
    fn keywords_that_need_a_validator_make_unsure() {
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
    fn malformed_keywords_are_passed_over() {
        assert!(admits(&json!({ "type": "string", "required": true }), &json!("x")));
        let excluded = json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true });
        assert!(admits(&excluded, &json!(1)) && !admits(&excluded, &json!(0)));
    }

    #[test]
    fn keywords_that_share_their_subject_are_read_together() {
        let patterns = json!({ "patternProperties": { "^x": {} }, "additionalProperties": false });
        assert_eq!(fits(&patterns, &json!({ "x1": 1 })), None);
        let tuple = json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "null" } });
        assert_eq!(fits(&tuple, &json!(["a"])), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Wherever it is sure, a validator agrees: of any value, and of those that just fit or just do not.
        #[test]
        fn it_agrees_with_a_validator(property in crate::vary::tests::schema(), value in value()) {
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
