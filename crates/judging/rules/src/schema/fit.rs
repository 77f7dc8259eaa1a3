//! Whether a value fits a schema: yes, no, or unsure.

use std::cell::{OnceCell, RefCell};

use serde_json::{Map, Value};

use super::{Dialect, dialect, is_type};
use crate::budget::Budget;
use crate::content::{same_json, step};

/// How deep references and schemas are followed.
const DEPTH: usize = 40;
/// What looking at one value by one schema costs, in the budget's steps.
const COST: u64 = 50;

/// Whether a value fits a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Surely.
    Yes,
    /// Surely not: where in the value, and why.
    No(String, String),
    /// The schema says something that is not read here.
    Unsure,
}

impl Fit {
    /// All of them must fit: one that does not decides, whatever the unsure ones say.
    fn all(fits: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::Yes;
        for fit in fits {
            match fit {
                Self::No(..) => return fit,
                Self::Unsure => sum = Self::Unsure,
                Self::Yes => {}
            }
        }
        sum
    }

    fn sent(fits: bool, at: &str, why: impl FnOnce() -> String) -> Self {
        if fits { Self::Yes } else { Self::No(at.to_owned(), why()) }
    }
}

/// Whether `value` fits `schema`. Unsure where the budget does not reach to the end.
pub(crate) fn fit(schema: &Value, value: &Value, budget: &Budget) -> Fit {
    let (open, inner_id) = (RefCell::default(), OnceCell::new());
    match dialect(schema) {
        Some(dialect) => Reader { root: schema, dialect, budget, open, inner_id }.read(schema, value, "", 0),
        None => Fit::Unsure,
    }
}

struct Reader<'s> {
    root: &'s Value,
    dialect: Dialect,
    budget: &'s Budget,
    /// The references that are being followed: schema and value.
    open: RefCell<Vec<(*const Value, *const Value)>>,
    /// Whether `#` does not mean the root everywhere.
    inner_id: OnceCell<bool>,
}

impl Reader<'_> {
    fn read(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        if depth > DEPTH || !self.budget.spend(COST) {
            return Fit::Unsure;
        }
        match schema {
            Value::Bool(fits) => Fit::sent(*fits, at, || "nothing may stand here".to_owned()),
            Value::Object(members) => match members.get("$ref") {
                Some(target) => self.referred(target, members, value, at, depth),
                None => self.members(members, value, at, depth),
            },
            _ => Fit::Unsure,
        }
    }

    fn members(&self, members: &Map<String, Value>, value: &Value, at: &str, depth: usize) -> Fit {
        // Not JSON Schema, but widely written, and who writes it means it.
        if members.get("nullable") == Some(&Value::Bool(true)) && value.is_null() {
            return Fit::Unsure;
        }
        Fit::all(members.iter().map(|(name, rule)| self.keyword(name, rule, members, value, at, depth)))
    }

    /// Up to draft-07 what stands beside `$ref` is void, later it binds: so it can confirm, never refuse.
    fn referred(&self, target: &Value, members: &Map<String, Value>, value: &Value, at: &str, depth: usize) -> Fit {
        let target = target.as_str().and_then(|t| t.strip_prefix('#')).filter(|_| !self.has_inner_id());
        let Some(target) = target.filter(|t| !t.contains('%')).and_then(|pointer| self.root.pointer(pointer)) else {
            return Fit::Unsure;
        };
        let beside = members.iter().filter(|(name, _)| *name != "$ref");
        let beside = Fit::all(beside.map(|(name, rule)| self.keyword(name, rule, members, value, at, depth)));
        match (self.followed(target, value, at, depth), beside) {
            (Fit::Yes, Fit::No(..)) if self.dialect == Dialect::Older => Fit::Unsure,
            (fit, beside) => Fit::all([fit, beside]),
        }
    }

    /// A reference that leads to itself says nothing of a value.
    fn followed(&self, target: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        let here = (std::ptr::from_ref(target), std::ptr::from_ref(value));
        if self.open.borrow().contains(&here) {
            return Fit::Unsure;
        }
        self.open.borrow_mut().push(here);
        let fit = self.read(target, value, at, depth + 1);
        self.open.borrow_mut().pop();
        fit
    }

    fn has_inner_id(&self) -> bool {
        *self.inner_id.get_or_init(|| has_inner_id(self.root, true))
    }

    fn keyword(
        &self,
        name: &str,
        rule: &Value,
        beside: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Fit {
        match name {
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$comment"
            | "$schema" | "$id" | "$defs" | "definitions" | "format" | "contentEncoding" | "contentMediaType"
            | "nullable" => Fit::Yes,
            _ if name.starts_with("x-") => Fit::Yes,
            "type" => of_type(rule, value, at),
            "enum" => listed(rule, value, at),
            "const" => Fit::sent(same_json(rule, value), at, || format!("only {rule} may stand here")),
            "allOf" | "anyOf" | "oneOf" | "not" => self.combined(name, rule, value, at, depth),
            "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
                value.as_object().map_or(Fit::Yes, |object| self.object(name, rule, beside, object, at, depth))
            }
            "items" | "minItems" | "maxItems" | "uniqueItems" => {
                value.as_array().map_or(Fit::Yes, |array| self.array(name, rule, beside, array, at, depth))
            }
            "minLength" | "maxLength" => {
                value.as_str().map_or(Fit::Yes, |text| counted(name, rule, text.chars().count(), at))
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" if value.is_number() => {
                bounded(name, rule, value, at)
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Fit::Yes,
            _ => Fit::Unsure,
        }
    }

    fn combined(&self, name: &str, rule: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        if name == "not" {
            return match self.read(rule, value, at, depth + 1) {
                Fit::Yes => Fit::No(at.to_owned(), "it fits a schema it must not fit".to_owned()),
                Fit::No(..) => Fit::Yes,
                Fit::Unsure => Fit::Unsure,
            };
        }
        let Some(branches) = rule.as_array() else { return Fit::Unsure };
        let fits: Vec<_> = branches.iter().map(|branch| self.read(branch, value, at, depth + 1)).collect();
        if name == "allOf" {
            return Fit::all(fits);
        }
        let (yes, unsure) = (count(&fits, &Fit::Yes), count(&fits, &Fit::Unsure));
        match (name, yes, unsure) {
            (_, 0, 0) => Fit::No(at.to_owned(), format!("it fits no branch of `{name}`")),
            ("oneOf", 2.., _) => Fit::No(at.to_owned(), "it fits more than one branch of `oneOf`".to_owned()),
            ("oneOf", 1, 0) | ("anyOf", 1.., _) => Fit::Yes,
            _ => Fit::Unsure,
        }
    }

    fn object(
        &self,
        name: &str,
        rule: &Value,
        beside: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Fit {
        let below = |member: &str| format!("{at}/{}", step(member));
        match (name, rule) {
            ("properties", Value::Object(rules)) => Fit::all(
                rules
                    .iter()
                    .filter_map(|(member, rule)| Some(self.read(rule, object.get(member)?, &below(member), depth + 1))),
            ),
            ("required", Value::Array(names)) => {
                let missing = names.iter().filter_map(Value::as_str).find(|member| !object.contains_key(*member));
                Fit::sent(missing.is_none(), at, || format!("`{}` is missing", missing.unwrap_or_default()))
            }
            ("additionalProperties", _) if beside.contains_key("patternProperties") => Fit::Unsure,
            ("additionalProperties", _) => {
                let named = beside.get("properties").and_then(Value::as_object);
                let others = object.iter().filter(|(member, _)| !named.is_some_and(|n| n.contains_key(*member)));
                Fit::all(others.map(|(member, value)| self.read(rule, value, &below(member), depth + 1)))
            }
            ("minProperties" | "maxProperties", _) => counted(name, rule, object.len(), at),
            _ => Fit::Unsure,
        }
    }

    fn array(
        &self,
        name: &str,
        rule: &Value,
        beside: &Map<String, Value>,
        array: &[Value],
        at: &str,
        depth: usize,
    ) -> Fit {
        match name {
            "items" if rule.is_array() || beside.contains_key("prefixItems") => Fit::Unsure,
            "items" => {
                let each = array.iter().enumerate();
                Fit::all(each.map(|(index, item)| self.read(rule, item, &format!("{at}/{index}"), depth + 1)))
            }
            "uniqueItems" => {
                let twice = array.iter().enumerate().any(|(i, a)| array[..i].iter().any(|b| same_json(a, b)));
                Fit::sent(!twice || *rule != Value::Bool(true), at, || "an item stands twice".to_owned())
            }
            _ => counted(name, rule, array.len(), at),
        }
    }
}

fn count(fits: &[Fit], wanted: &Fit) -> usize {
    fits.iter().filter(|fit| *fit == wanted).count()
}

/// Whether a schema below the root has an identifier of its own: then `#` does not mean the root everywhere.
fn has_inner_id(value: &Value, top: bool) -> bool {
    match value {
        Value::Object(all) => (!top && all.contains_key("$id")) || all.values().any(|inner| has_inner_id(inner, false)),
        Value::Array(all) => all.iter().any(|inner| has_inner_id(inner, false)),
        _ => false,
    }
}

fn of_type(rule: &Value, value: &Value, at: &str) -> Fit {
    let names: Option<Vec<&str>> = match rule {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    };
    let fits: Option<Vec<bool>> = names.and_then(|names| names.iter().map(|name| is_type(name, value)).collect());
    fits.map_or(Fit::Unsure, |fits| Fit::sent(fits.contains(&true), at, || format!("its type is not {rule}")))
}

fn listed(rule: &Value, value: &Value, at: &str) -> Fit {
    let Some(values) = rule.as_array() else { return Fit::Unsure };
    Fit::sent(values.iter().any(|one| same_json(one, value)), at, || format!("it is none of {rule}"))
}

fn counted(name: &str, rule: &Value, found: usize, at: &str) -> Fit {
    let Some(limit) = rule.as_u64().and_then(|limit| usize::try_from(limit).ok()) else { return Fit::Unsure };
    let fits = if name.starts_with("min") { found >= limit } else { found <= limit };
    Fit::sent(fits, at, || format!("`{name}` is {limit}, there are {found}"))
}

fn bounded(name: &str, rule: &Value, value: &Value, at: &str) -> Fit {
    let (Some(limit), Some(number)) = (rule.as_f64(), value.as_f64()) else { return Fit::Unsure };
    let fits = match name {
        "minimum" => number >= limit,
        "maximum" => number <= limit,
        "exclusiveMinimum" => number > limit,
        _ => number < limit,
    };
    Fit::sent(fits, at, || format!("`{name}` is {rule}, the value is {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fit(schema: &Value, value: &Value) -> Fit {
        super::fit(schema, value, &Budget::with(0))
    }

    #[test]
    fn what_surely_fits_or_not_is_told() {
        let schema = json!({ "type": "object", "required": ["n"], "additionalProperties": false, "properties": {
            "n": { "type": "integer", "minimum": 1 }, "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
            "who": { "$ref": "#/$defs/who" } }, "$defs": { "who": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } });
        for value in [json!({ "n": 1 }), json!({ "n": 2.0, "tags": ["a"], "who": null })] {
            assert_eq!(fit(&schema, &value), Fit::Yes, "{value}");
        }
        for (value, at) in [
            (json!([]), ""),
            (json!({}), ""),
            (json!({ "n": 0 }), "/n"),
            (json!({ "n": 1, "tags": ["c"] }), "/tags/0"),
            (json!({ "n": 1, "who": 3 }), "/who"),
            (json!({ "n": 1, "more": 3 }), "/more"),
        ] {
            assert!(matches!(fit(&schema, &value), Fit::No(found, _) if found == at), "{value}");
        }
    }

    #[test]
    fn what_is_not_read_makes_unsure_and_never_refuses() {
        for schema in [
            json!({ "pattern": "^a" }),
            json!({ "$ref": "https://example.com/s" }),
            json!({ "$schema": "urn:own", "type": "null" }),
            json!({ "not": { "pattern": "a" } }),
            json!({ "oneOf": [{ "type": "string" }, { "pattern": "a" }] }),
            json!({ "type": "weird" }),
        ] {
            assert_eq!(fit(&schema, &json!("b")), Fit::Unsure, "{schema}");
        }
        assert!(matches!(fit(&json!({ "pattern": "^a", "type": "null" }), &json!("b")), Fit::No(..)));
    }

    #[test]
    fn schemas_that_branch_without_end_take_no_more_than_the_budget() {
        let itself = json!({ "anyOf": vec![json!({ "$ref": "#" }); 4] });
        let budget = Budget::with(5_000);
        budget.refill();
        assert_eq!(super::fit(&itself, &json!(1), &budget), Fit::Unsure);
        assert!(!budget.is_spent(), "a reference that leads to itself is followed once");
        // Each schema refers to the next one four times: no circle, and more ways than anybody can walk.
        let next = |n: usize| json!({ "anyOf": vec![json!({ "$ref": format!("#/$defs/{}", n + 1) }); 4] });
        let defs: Map<String, Value> = (0..19).map(|n| (n.to_string(), next(n))).collect();
        let mut wide = json!({ "$ref": "#/$defs/0", "$defs": defs });
        wide["$defs"]["19"] = json!({ "type": "string" });
        let budget = Budget::with(1_000_000);
        budget.refill();
        assert_eq!(super::fit(&wide, &json!(1), &budget), Fit::Unsure);
        assert!(budget.is_spent());
    }
}
