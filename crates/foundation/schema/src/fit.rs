//! Whether a value surely fits a schema, surely does not, or cannot be told without a validator. Compiles nothing.
//!
//! Must never be mistaken: a keyword that is not read here only ever makes the answer unsure.

use std::cell::{OnceCell, RefCell};

use serde_json::{Map, Value};
use wire::json::{order, same};
use wire::pointer;

/// How deep references and schemas are followed.
const DEPTH: usize = 40;
/// Beyond it (2^53) a double no longer tells which integer was meant.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// How many items are compared with one another.
const COMPARED: usize = 1_000;

/// Whether a value fits a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Surely.
    Yes,
    /// Surely not.
    No {
        /// Where in the value: a JSON pointer.
        pointer: String,
        /// What is wrong there, for a person.
        why: String,
    },
    /// The schema says something that is not read here.
    Unsure,
}

impl Fit {
    /// All must fit: one that does not decides, whatever the unsure ones say.
    fn all(fits: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::Yes;
        for fit in fits {
            match fit {
                Self::No { .. } => return fit,
                Self::Unsure => sum = Self::Unsure,
                Self::Yes => {}
            }
        }
        sum
    }

    fn of(fits: bool, at: &str, why: impl FnOnce() -> String) -> Self {
        if fits { Self::Yes } else { Self::No { pointer: at.to_owned(), why: why() } }
    }

    /// `None` where it is unsure.
    pub fn known(&self) -> Option<bool> {
        match self {
            Self::Yes => Some(true),
            Self::No { .. } => Some(false),
            Self::Unsure => None,
        }
    }
}

/// What keywords count that a strict reader leaves open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Unknown and malformed keywords make the answer unsure.
    Strict,
    /// Unknown and malformed keywords are passed over, as most servers do.
    Lenient,
}

/// Whether `value` fits `schema`. `spend` is called for each schema that is applied; once it returns `false`, nothing more
/// is read.
pub fn fit(schema: &Value, value: &Value, spend: &dyn Fn() -> bool) -> Fit {
    match dialect(schema) {
        Some(_) => Reader::new(schema, Reading::Strict, spend).read(schema, value, "", 0),
        None => Fit::Unsure,
    }
}

/// The dialects whose keywords are known well enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// 2020-12, also where a schema names none.
    Newest,
    /// 2019-09, draft-07 and draft-06.
    Older,
}

fn dialect(root: &Value) -> Option<Dialect> {
    let Some(named) = root.get("$schema") else { return Some(Dialect::Newest) };
    let named = named.as_str()?.trim_end_matches('#');
    let path = named.strip_prefix("https://json-schema.org/").or_else(|| named.strip_prefix("http://json-schema.org/"));
    match path? {
        "draft/2020-12/schema" => Some(Dialect::Newest),
        "draft/2019-09/schema" | "draft-07/schema" | "draft-06/schema" => Some(Dialect::Older),
        _ => None,
    }
}

/// Reads one schema. `$ref` is resolved within `root`.
pub(crate) struct Reader<'s> {
    root: &'s Value,
    reading: Reading,
    dialect: Dialect,
    spend: &'s dyn Fn() -> bool,
    /// The references that are being followed: schema and value.
    open: RefCell<Vec<(*const Value, *const Value)>>,
    /// Whether `#` does not mean the root everywhere.
    inner_id: OnceCell<bool>,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(root: &'s Value, reading: Reading, spend: &'s dyn Fn() -> bool) -> Self {
        let dialect = dialect(root).filter(|_| reading == Reading::Strict).unwrap_or(Dialect::Older);
        Self { root, reading, dialect, spend, open: RefCell::default(), inner_id: OnceCell::new() }
    }

    pub(crate) fn read(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        if depth > DEPTH || !(self.spend)() {
            return Fit::Unsure;
        }
        match schema {
            Value::Bool(fits) => Fit::of(*fits, at, || "no value is allowed here".to_owned()),
            Value::Object(members) => match members.get("$ref") {
                Some(target) => self.referred(target, members, value, at, depth),
                None => self.members(members, value, at, depth),
            },
            _ => Fit::Unsure,
        }
    }

    pub(crate) fn members(&self, members: &Map<String, Value>, value: &Value, at: &str, depth: usize) -> Fit {
        // Not JSON Schema, but widely written and meant.
        if members.get("nullable") == Some(&Value::Bool(true)) && value.is_null() {
            return Fit::Unsure;
        }
        Fit::all(members.iter().map(|(name, rule)| self.keyword(name, rule, members, value, at, depth)))
    }

    /// Up to draft-07 the siblings of `$ref` are ignored, later they bind: in an older dialect they can only confirm.
    fn referred(&self, target: &Value, members: &Map<String, Value>, value: &Value, at: &str, depth: usize) -> Fit {
        let target = target.as_str().and_then(|t| t.strip_prefix('#')).filter(|_| !self.has_inner_id());
        let Some(target) = target.filter(|t| !t.contains('%')).and_then(|pointer| self.root.pointer(pointer)) else {
            return Fit::Unsure;
        };
        let siblings = members.iter().filter(|(name, _)| *name != "$ref");
        let siblings = Fit::all(siblings.map(|(name, rule)| self.keyword(name, rule, members, value, at, depth)));
        match (self.followed(target, value, at, depth), siblings) {
            (Fit::Yes, Fit::No { .. }) if self.dialect == Dialect::Older => Fit::Unsure,
            (fit, siblings) => Fit::all([fit, siblings]),
        }
    }

    /// A reference that leads to itself says nothing about a value.
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

    /// What a keyword counts that is malformed or unknown.
    const fn unread(&self) -> Fit {
        match self.reading {
            Reading::Strict => Fit::Unsure,
            Reading::Lenient => Fit::Yes,
        }
    }

    fn keyword(
        &self,
        name: &str,
        rule: &Value,
        siblings: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Fit {
        match name {
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$comment"
            | "$schema" | "$id" | "$defs" | "definitions" | "format" | "contentEncoding" | "contentMediaType"
            | "nullable" => Fit::Yes,
            _ if name.starts_with("x-") => Fit::Yes,
            "type" => self.of_type(rule, value, at),
            "enum" => match rule.as_array() {
                Some(values) => {
                    Fit::of(values.iter().any(|one| same(one, value)), at, || format!("it is not one of {rule}"))
                }
                None => self.unread(),
            },
            "const" => Fit::of(same(rule, value), at, || format!("only {rule} is allowed here")),
            "allOf" | "anyOf" | "oneOf" | "not" => self.combined(name, rule, value, at, depth),
            "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
                value.as_object().map_or(Fit::Yes, |object| self.object(name, rule, siblings, object, at, depth))
            }
            "items" | "minItems" | "maxItems" | "uniqueItems" => {
                value.as_array().map_or(Fit::Yes, |array| self.array(name, rule, siblings, array, at, depth))
            }
            "minLength" | "maxLength" => {
                value.as_str().map_or(Fit::Yes, |text| self.counted(name, rule, text.chars().count(), at))
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                if value.is_number() {
                    self.bounded(name, rule, siblings, value, at)
                } else {
                    Fit::Yes
                }
            }
            "multipleOf" => {
                if value.is_number() {
                    self.multiple(rule, value, at)
                } else {
                    Fit::Yes
                }
            }
            _ if NEEDS_VALIDATOR.contains(&name) => Fit::Unsure,
            _ => self.unread(),
        }
    }

    fn combined(&self, name: &str, rule: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        if name == "not" {
            // A lenient reader passes over keywords: what it accepts may be refused.
            if self.reading == Reading::Lenient {
                return Fit::Unsure;
            }
            return match self.read(rule, value, at, depth + 1) {
                Fit::Yes => Fit::of(false, at, || "it fits a schema that it must not fit".to_owned()),
                Fit::No { .. } => Fit::Yes,
                Fit::Unsure => Fit::Unsure,
            };
        }
        let Some(branches) = rule.as_array() else { return self.unread() };
        let fits: Vec<_> = branches.iter().map(|branch| self.read(branch, value, at, depth + 1)).collect();
        if name == "allOf" {
            return Fit::all(fits);
        }
        let count = |known| fits.iter().filter(|fit| fit.known() == known).count();
        match (name, count(Some(true)), count(None)) {
            (_, 0, 0) => Fit::of(false, at, || format!("it fits no branch of `{name}`")),
            ("oneOf", 2.., _) => Fit::of(false, at, || "it fits more than one branch of `oneOf`".to_owned()),
            ("oneOf", 1, 0) | ("anyOf", 1.., _) => Fit::Yes,
            _ => Fit::Unsure,
        }
    }

    fn object(
        &self,
        name: &str,
        rule: &Value,
        siblings: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Fit {
        let below = |member: &str| pointer::member(at, member);
        match (name, rule) {
            ("properties", Value::Object(rules)) => {
                let present = rules.iter().filter_map(|(member, rule)| Some((member, rule, object.get(member)?)));
                Fit::all(present.map(|(member, rule, value)| self.read(rule, value, &below(member), depth + 1)))
            }
            ("required", Value::Array(names)) => {
                let missing = names.iter().filter_map(Value::as_str).find(|member| !object.contains_key(*member));
                Fit::of(missing.is_none(), at, || format!("`{}` is missing", missing.unwrap_or_default()))
            }
            ("additionalProperties", _) if siblings.contains_key("patternProperties") => Fit::Unsure,
            ("additionalProperties", _) => {
                let named = siblings.get("properties").and_then(Value::as_object);
                let others = object.iter().filter(|(member, _)| !named.is_some_and(|n| n.contains_key(*member)));
                Fit::all(others.map(|(member, value)| self.read(rule, value, &below(member), depth + 1)))
            }
            ("minProperties" | "maxProperties", _) => self.counted(name, rule, object.len(), at),
            _ => self.unread(),
        }
    }

    fn array(
        &self,
        name: &str,
        rule: &Value,
        siblings: &Map<String, Value>,
        array: &[Value],
        at: &str,
        depth: usize,
    ) -> Fit {
        match name {
            "items" if rule.is_array() || siblings.contains_key("prefixItems") => Fit::Unsure,
            "items" => {
                let each = array.iter().enumerate();
                Fit::all(each.map(|(index, item)| self.read(rule, item, &format!("{at}/{index}"), depth + 1)))
            }
            "uniqueItems" if *rule != Value::Bool(true) => Fit::Yes,
            "uniqueItems" => {
                let spent = array.len() > COMPARED || array.iter().any(|_| !(self.spend)());
                let repeated = || array.iter().enumerate().any(|(i, a)| array[..i].iter().any(|b| same(a, b)));
                // Of two numbers whose digits were lost it is not known whether they are the same.
                let spent = spent || array.iter().any(|item| matches!(item, Value::Number(n) if order(n, n).is_none()));
                if spent { Fit::Unsure } else { Fit::of(!repeated(), at, || "an item is repeated".to_owned()) }
            }
            _ => self.counted(name, rule, array.len(), at),
        }
    }

    fn of_type(&self, rule: &Value, value: &Value, at: &str) -> Fit {
        let names: Vec<&Value> = match rule {
            Value::Array(names) => names.iter().collect(),
            name => vec![name],
        };
        let is = |name: &&Value| name.as_str().and_then(|name| is_type(name, value));
        if names.iter().any(|name| is(name) == Some(true)) {
            return Fit::Yes;
        }
        // A lenient reader takes unknown names for types that the value does not have.
        let readable = rule.is_array() || rule.is_string();
        let known = names.iter().all(|name| is(name).is_some());
        match self.reading {
            Reading::Lenient if !readable => Fit::Yes,
            Reading::Strict if !known => Fit::Unsure,
            _ => Fit::of(false, at, || format!("its type is not {rule}")),
        }
    }

    fn counted(&self, name: &str, rule: &Value, found: usize, at: &str) -> Fit {
        let well_formed = |limit: &f64| self.reading == Reading::Lenient || (limit.fract() == 0.0 && *limit >= 0.0);
        let Some(limit) = rule.as_f64().filter(well_formed) else { return self.unread() };
        let fits = if name.starts_with("min") { found as f64 >= limit } else { found as f64 <= limit };
        Fit::of(fits, at, || format!("`{name}` is {rule}, there are {found}"))
    }

    fn bounded(&self, name: &str, rule: &Value, siblings: &Map<String, Value>, value: &Value, at: &str) -> Fit {
        // Draft 4 says with a flag that a bound is excluded.
        let limit = match (name, rule) {
            ("exclusiveMinimum", Value::Bool(true)) if self.reading == Reading::Lenient => siblings.get("minimum"),
            ("exclusiveMaximum", Value::Bool(true)) if self.reading == Reading::Lenient => siblings.get("maximum"),
            _ => Some(rule),
        };
        let (Some(limit), Some(number)) = (limit.and_then(Value::as_number), value.as_number()) else {
            return self.unread();
        };
        let Some(order) = order(number, limit) else { return Fit::Unsure };
        let fits = match name {
            "minimum" => order.is_ge(),
            "maximum" => order.is_le(),
            "exclusiveMinimum" => order.is_gt(),
            _ => order.is_lt(),
        };
        Fit::of(fits, at, || format!("`{name}` is {rule}, the value is {value}"))
    }

    /// Fractions and large integers lose digits: that one is not a multiple is never sure.
    fn multiple(&self, rule: &Value, value: &Value, at: &str) -> Fit {
        if let (Some(step), Some(number)) = (rule.as_i64().filter(|step| *step > 0), value.as_i64()) {
            let why = || format!("`multipleOf` is {rule}, the value is {value}");
            return Fit::of(number % step == 0, at, why);
        }
        let (Some(step), Some(number)) = (rule.as_f64().filter(|step| *step > 0.0), value.as_f64()) else {
            return self.unread();
        };
        if (number / step).fract() == 0.0 {
            Fit::Yes
        } else if step.fract() == 0.0 && number.fract() == 0.0 && number.abs() < EXACT {
            Fit::of(false, at, || format!("`multipleOf` is {rule}, the value is {value}"))
        } else {
            Fit::Unsure
        }
    }
}

/// Keywords that need a validator.
const NEEDS_VALIDATOR: &[&str] = &[
    "if",
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

/// Whether a schema below the root has an identifier of its own: then `#` does not mean the root everywhere.
fn has_inner_id(value: &Value, top: bool) -> bool {
    match value {
        Value::Object(all) => (!top && all.contains_key("$id")) || all.values().any(|inner| has_inner_id(inner, false)),
        Value::Array(all) => all.iter().any(|inner| has_inner_id(inner, false)),
        _ => false,
    }
}

/// Whether `value` is of the type that `name` names; `None` where there is no such type.
pub(crate) fn is_type(name: &str, value: &Value) -> Option<bool> {
    Some(match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
