//! Which members a JSON Schema names for a value. It says what a schema knows, not what it permits: a member counts as known if any part
//! of the schema that may apply names it. Pure.

use std::{ptr, slice};

use serde_json::{Map, Value, json};

use super::Refusal;

/// The most parts of schemas that are looked at for one call.
const MOST_STEPS: usize = 100_000;
/// The most parts that may say something of one value.
const MOST_PARTS: usize = 1000;
/// What comparing a name with a pattern counts as.
const PATTERN: usize = 50;
/// Keywords whose schemas may apply to the same value.
const SAME_VALUE: [&str; 6] = ["allOf", "anyOf", "oneOf", "then", "else", "if"];
/// Keywords that name members or allow any.
const NAMING: [&str; 5] =
    ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "dependentSchemas"];

/// How much was looked at.
#[derive(Default)]
pub(super) struct Steps(usize);

impl Steps {
    fn take(&mut self, count: usize) -> Result<(), Refusal> {
        self.0 += count;
        if self.0 > MOST_STEPS { Err(Refusal::Unchecked("checking them takes too long")) } else { Ok(()) }
    }
}

/// The parts of a schema that may apply to one value.
pub(super) struct Known<'s> {
    root: &'s Value,
    parts: Vec<&'s Map<String, Value>>,
    /// A part says that anything is allowed, or nothing could be found out.
    anything: bool,
}

impl<'s> Known<'s> {
    /// What `schema`, a part of `root`, says of a value.
    pub(super) fn of(root: &'s Value, schema: &'s Value, steps: &mut Steps) -> Result<Self, Refusal> {
        let mut known = Self { root, parts: Vec::new(), anything: false };
        known.add(schema, steps)?;
        Ok(known)
    }

    /// Adds a schema and all that it leads to. A list of its own and no recursion: a server may chain references as it likes.
    fn add(&mut self, schema: &'s Value, steps: &mut Steps) -> Result<(), Refusal> {
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            steps.take(1)?;
            let Value::Object(part) = schema else {
                // `false` allows nothing; anything else that is not a schema says nothing.
                self.anything |= *schema != Value::Bool(false);
                continue;
            };
            if self.parts.iter().any(|known| ptr::eq(*known, part)) {
                continue;
            }
            if self.parts.len() >= MOST_PARTS {
                return Err(Refusal::Unchecked("their schema has too many parts"));
            }
            self.parts.push(part);
            for name in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let Some(reference) = part.get(name) else { continue };
                match reference.as_str().and_then(|to| resolve(self.root, to)) {
                    Some(found) => open.push(found),
                    // What it leads to is not known.
                    None => self.anything = true,
                }
            }
            let branches = SAME_VALUE.iter().filter_map(|name| part.get(*name));
            let branches = branches.flat_map(|one| one.as_array().map_or_else(|| slice::from_ref(one), Vec::as_slice));
            let dependent = part.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
            for schema in branches.chain(dependent) {
                // A branch that says only `true` adds no member: other branches name them.
                if schema.is_boolean() { steps.take(1)? } else { open.push(schema) }
            }
        }
        Ok(())
    }

    /// Whether no part names members of any value below.
    pub(super) fn is_free(&self) -> bool {
        self.anything || self.parts.is_empty()
    }

    /// What is known of a member; `None` where no part names it.
    pub(super) fn member(&self, name: &str, steps: &mut Steps) -> Result<Option<Self>, Refusal> {
        let mut inner = Self { root: self.root, parts: Vec::new(), anything: false };
        let mut is_named = false;
        for part in &self.parts {
            steps.take(1)?;
            let named = named_by(part, name, steps)?;
            // What is named has no need of what holds for all others.
            let others = ["additionalProperties", "unevaluatedProperties"].into_iter().filter(|_| named.is_empty());
            let others = others.filter_map(|keyword| part.get(keyword)).filter(|schema| **schema != Value::Bool(false));
            for schema in named.iter().copied().chain(others) {
                is_named = true;
                inner.add(schema, steps)?;
            }
        }
        // An object of whose members nothing is said may have any.
        if !is_named && !self.parts.iter().any(|part| NAMING.iter().any(|keyword| part.contains_key(*keyword))) {
            return Ok(Some(Self { anything: true, ..inner }));
        }
        Ok(is_named.then_some(inner))
    }

    /// What is known of the element of an array.
    pub(super) fn item(&self, index: usize, steps: &mut Steps) -> Result<Self, Refusal> {
        let mut inner = Self { root: self.root, parts: Vec::new(), anything: false };
        for part in &self.parts {
            let first = part.get("prefixItems").or_else(|| part.get("items").filter(|items| items.is_array()));
            let found = match first.and_then(|all| all.get(index)) {
                Some(schema) => Some(schema),
                None => part.get("items").filter(|items| !items.is_array()).or_else(|| part.get("additionalItems")),
            };
            for schema in found.into_iter().chain(part.get("contains")) {
                inner.add(schema, steps)?;
            }
        }
        Ok(inner)
    }
}

/// What a part of a schema says of a member by its name.
fn named_by<'s>(part: &'s Map<String, Value>, name: &str, steps: &mut Steps) -> Result<Vec<&'s Value>, Refusal> {
    let mut named: Vec<_> = part.get("properties").and_then(|all| all.get(name)).into_iter().collect();
    if let Some(Value::Object(patterns)) = part.get("patternProperties") {
        for (pattern, schema) in patterns {
            steps.take(PATTERN)?;
            if schema::fits(&json!({ "pattern": pattern }), &json!(name)) {
                named.push(schema);
            }
        }
    }
    Ok(named)
}

/// Where a reference within the same document leads.
fn resolve<'s>(root: &'s Value, to: &str) -> Option<&'s Value> {
    let pointer = to.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    if pointer.starts_with('/') {
        return root.pointer(&unescaped(pointer)?);
    }
    let anchor = |schema: &&Value| {
        ["$anchor", "$dynamicAnchor"].iter().any(|name| schema.get(name).and_then(Value::as_str) == Some(pointer))
    };
    let defined = ["$defs", "definitions"].iter().filter_map(|name| root.get(name)?.as_object());
    defined.flat_map(Map::values).find(anchor)
}

/// A pointer without escapes of URIs.
fn unescaped(pointer: &str) -> Option<String> {
    if !pointer.contains('%') {
        return Some(pointer.to_owned());
    }
    let (mut out, mut rest) = (Vec::new(), pointer.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            out.push(*first);
            rest = after;
        }
    }
    String::from_utf8(out).ok()
}
