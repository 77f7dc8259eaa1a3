//! References that lead back before they look at any part of the value: a validator would follow them without end.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::Value;

use super::Schemas;

/// How many components are looked through for one reference.
const MOST: usize = 2_000;
/// How deep combinations may nest.
const DEPTH: usize = 32;

impl Schemas<'_, '_> {
    /// Whether the schema at `from` applies the one at `to` to the same value.
    pub(super) fn leads_back(&mut self, from: &str, to: &str) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(pointer) = open.pop() {
            if pointer == to || seen.len() > MOST {
                return true;
            }
            if seen.insert(pointer.clone()) {
                open.extend(self.in_place_targets(&pointer).iter().cloned());
            }
        }
        false
    }

    fn in_place_targets(&mut self, pointer: &str) -> Rc<[String]> {
        if let Some(known) = self.in_place.get(pointer) {
            return Rc::clone(known);
        }
        let mut references = Vec::new();
        if let Some(schema) = self.source.root.pointer(pointer) {
            collect(schema, DEPTH, &mut references);
        }
        let targets: Rc<[String]> =
            references.iter().filter_map(|reference| self.source.target(reference).ok()).map(|(_, at)| at).collect();
        self.in_place.insert(pointer.to_owned(), Rc::clone(&targets));
        targets
    }

    /// Whether a validator can use a regular expression.
    pub(super) fn is_pattern(&mut self, pattern: &str) -> bool {
        if pattern.len() > 1_000 || counts_far(pattern) {
            return false;
        }
        if let Some(known) = self.patterns.get(pattern) {
            return *known;
        }
        let usable = schema::Validator::new(&serde_json::json!({"pattern": pattern})).is_ok();
        self.patterns.insert(pattern.to_owned(), usable);
        usable
    }
}

/// Whether an expression counts to a thousand: compiled it takes megabytes, and validators refuse it next to others.
fn counts_far(pattern: &str) -> bool {
    let counts = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    counts.flat_map(|(count, _)| count.split(',')).any(|count| count.parse::<u64>().is_ok_and(|count| count >= 1_000))
}

fn collect<'v>(schema: &'v Value, depth: usize, references: &mut Vec<&'v str>) {
    let Some(members) = schema.as_object().filter(|_| depth > 0) else { return };
    for (name, value) in members {
        match (name.as_str(), value) {
            ("$ref", Value::String(reference)) => references.push(reference),
            ("allOf" | "anyOf" | "oneOf", Value::Array(ways)) => {
                for way in ways {
                    collect(way, depth - 1, references);
                }
            }
            ("not" | "if" | "then" | "else", one) => collect(one, depth - 1, references),
            ("dependentSchemas", Value::Object(each)) => {
                for one in each.values() {
                    collect(one, depth - 1, references);
                }
            }
            _ => {}
        }
    }
}
