//! How much work it is to check a value: alternatives that refer to the whole schema multiply with every level of the value.
//! The estimate walks as a validator without shortcuts does, and gives up at a bound.

use serde_json::{Map, Value};

use super::circles::in_place;

/// How many schemas are looked at for one value.
const STEPS: usize = 2_000_000;
/// How many for a schema without recursion, of which a validator looks at many more in the same time.
const SIMPLE_STEPS: usize = 20_000_000;
/// How many steps are so few that they need no estimate.
pub(super) const QUICK: usize = 2_000_000;
/// How many bytes of a text are worth a step of a regular expression.
const MATCHED: usize = 16;
/// How many schemas may stand on the stack: a validator has a few frames for each.
const NESTED: usize = 600;
/// How large a schema without recursion may be, unfolded, to need no estimate.
const SIMPLE: usize = 500;
/// How many schemas of such a schema may stand on the stack.
const SIMPLE_NESTED: usize = 100;
/// How many steps one match of a regular expression is worth that may backtrack.
const BACKTRACKING: usize = 500;

/// What is left.
#[derive(Clone, Copy)]
pub(super) struct Work {
    steps: usize,
    nested: usize,
}

impl Default for Work {
    fn default() -> Self {
        Self { steps: STEPS, nested: NESTED }
    }
}

impl Work {
    /// For a schema that does not refer to itself.
    pub(super) const fn for_simple() -> Self {
        Self { steps: SIMPLE_STEPS, nested: NESTED }
    }
}

/// How many values there are in one, long texts counted as several.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() / MATCHED + size(member)).sum::<usize>()
        }
        Value::String(text) => 1 + text.len() / MATCHED,
        _ => 1,
    }
}

/// How many steps it takes to check `value`; `None` where they are more than there are.
pub(super) fn work(root: &Value, value: &Value, within: Work) -> Option<usize> {
    let mut walk = Walk { root, left: within.steps };
    walk.apply(root, value, within.nested)?;
    Some(within.steps - walk.left)
}

struct Walk<'w> {
    root: &'w Value,
    left: usize,
}

impl Walk<'_> {
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    fn apply(&mut self, schema: &Value, value: &Value, nested: usize) -> Option<()> {
        self.spend(1)?;
        let nested = nested.checked_sub(1)?;
        let Value::Object(members) = schema else { return Some(()) };
        // What is not evaluated is found by evaluating the rest again for each part.
        let again = members.contains_key("unevaluatedProperties") || members.contains_key("unevaluatedItems");
        let rounds = if again { 1 + parts(value) } else { 1 };
        for (keyword, rule) in members {
            for one in in_place(keyword, rule, self.root) {
                for _ in 0..rounds {
                    self.apply(one, value, nested)?;
                }
            }
            match value {
                Value::Object(object) => self.object(keyword, rule, object, nested)?,
                Value::Array(items) => self.array(keyword, rule, items, nested)?,
                Value::String(text) => self.text(keyword, rule, text)?,
                _ => {}
            }
            if let ("enum", Value::Array(all)) = (keyword.as_str(), rule) {
                self.spend(all.len() / 8)?;
            }
        }
        Some(())
    }

    fn object(&mut self, keyword: &str, rule: &Value, object: &Map<String, Value>, nested: usize) -> Option<()> {
        match (keyword, rule) {
            ("properties", Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    if let Some(value) = object.get(name) {
                        self.apply(schema, value, nested)?;
                    }
                }
            }
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    for (name, value) in object {
                        self.matched(pattern, name)?;
                        self.apply(schema, value, nested)?;
                    }
                }
            }
            ("additionalProperties" | "unevaluatedProperties", schema) => {
                for value in object.values() {
                    self.apply(schema, value, nested)?;
                }
            }
            ("propertyNames", schema) => {
                for name in object.keys() {
                    self.apply(schema, &Value::String(name.clone()), nested)?;
                }
            }
            ("required", Value::Array(names)) => self.spend(names.len() / 8)?,
            _ => {}
        }
        Some(())
    }

    fn array(&mut self, keyword: &str, rule: &Value, items: &[Value], nested: usize) -> Option<()> {
        match (keyword, rule) {
            ("items" | "prefixItems", Value::Array(schemas)) => {
                for (schema, item) in schemas.iter().zip(items) {
                    self.apply(schema, item, nested)?;
                }
            }
            ("items" | "additionalItems" | "contains" | "unevaluatedItems", schema) => {
                for item in items {
                    self.apply(schema, item, nested)?;
                }
            }
            ("uniqueItems", _) => self.spend(items.len())?,
            _ => {}
        }
        Some(())
    }

    fn text(&mut self, keyword: &str, rule: &Value, text: &str) -> Option<()> {
        match (keyword, rule) {
            ("pattern", Value::String(pattern)) => self.matched(pattern, text),
            _ => Some(()),
        }
    }

    fn matched(&mut self, pattern: &str, text: &str) -> Option<()> {
        // A counted repetition becomes a large automaton.
        let states = 1 + pattern.len() / 32 + if pattern.contains('{') { 8 } else { 0 };
        let linear = (text.len() / MATCHED).saturating_mul(states);
        self.spend(if backtracks(pattern) { BACKTRACKING.max(linear) } else { linear })
    }
}

/// How many members or items a value has.
fn parts(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// Whether a regular expression has what a linear engine lacks: looking around, and referring back.
fn backtracks(pattern: &str) -> bool {
    let refers_back = |pair: [u8; 2]| pair[0] == b'\\' && (pair[1].is_ascii_digit() || pair[1] == b'k');
    pattern.as_bytes().windows(2).any(|pair| refers_back([pair[0], pair[1]]))
        || ["(?=", "(?!", "(?<", "(?>", "(?("].iter().any(|part| pattern.contains(part))
}

/// How much work each part of a value takes at most, however deep the value is, where the schema is small and does not refer
/// to itself.
pub(super) fn work_for_each(root: &Value) -> Option<usize> {
    let mut left = SIMPLE;
    unfolded(root, root, SIMPLE_NESTED, &mut left)?;
    Some(SIMPLE - left + Patterns::of(root).bytes / 4)
}

fn unfolded(schema: &Value, root: &Value, nested: usize, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(1)?;
    let below = nested.checked_sub(1)?;
    let Value::Object(members) = schema else { return Some(()) };
    for (keyword, rule) in members {
        for one in in_place(keyword, rule, root) {
            unfolded(one, root, below, left)?;
        }
        match (keyword.as_str(), rule) {
            ("unevaluatedProperties" | "unevaluatedItems", _) => return None,
            ("pattern", Value::String(pattern)) if backtracks(pattern) => return None,
            ("enum" | "required", Value::Array(all)) if all.len() > SIMPLE => return None,
            ("properties", Value::Object(schemas)) => {
                for one in schemas.values() {
                    unfolded(one, root, below, left)?;
                }
            }
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, one) in schemas {
                    unfolded(one, root, below, left)?;
                    if backtracks(pattern) {
                        return None;
                    }
                }
            }
            ("items" | "prefixItems", Value::Array(schemas)) => {
                for one in schemas {
                    unfolded(one, root, below, left)?;
                }
            }
            ("items" | "additionalItems" | "contains" | "additionalProperties" | "propertyNames", one) => {
                unfolded(one, root, below, left)?;
            }
            _ => {}
        }
    }
    Some(())
}

/// The regular expressions of a schema, or what may be some.
#[derive(Clone, Copy, Default)]
pub(super) struct Patterns {
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl Patterns {
    pub(super) fn of(schema: &Value) -> Self {
        let mut found = Self::default();
        let mut rest = vec![schema];
        while let Some(value) = rest.pop() {
            match value {
                Value::Array(items) => rest.extend(items),
                Value::Object(members) => {
                    for (name, member) in members {
                        match (name.as_str(), member) {
                            ("pattern", Value::String(pattern)) => found.add(pattern),
                            ("patternProperties", Value::Object(each)) => each.keys().for_each(|one| found.add(one)),
                            _ => {}
                        }
                        rest.push(member);
                    }
                }
                _ => {}
            }
        }
        found
    }

    const fn add(&mut self, pattern: &str) {
        self.count += 1;
        self.bytes += pattern.len();
    }
}
