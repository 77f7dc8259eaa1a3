//! Whether a value surely fits a schema, surely does not, or cannot be told without a validator. Compiles nothing.
//!
//! Must never be mistaken: a keyword that is not read here only ever makes the answer unsure.

mod containers;
mod references;
mod scalars;

use std::cell::{OnceCell, RefCell};

use serde_json::{Map, Value};
use wire::json::same;

pub(crate) use scalars::is_type;

/// How deep references and schemas are followed.
const DEPTH: usize = 40;

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

#[cfg(test)]
mod tests;
