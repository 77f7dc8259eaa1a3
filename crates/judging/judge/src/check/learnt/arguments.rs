//! Arguments of a tool, made from its schema and from what was learnt: several variants, the simplest first.

use schema::sample::{Style, members, object, value};
use schema::{Rng, Validator};
use serde_json::{Map, Value, json};

use super::values::Values;
use super::words;

/// Texts that many a search finds something with.
const TEXTS: [&str; 2] = ["e", "a"];

/// How many members of an enumeration are tried: the first ones, and the last.
const MEMBERS: usize = 4;

/// How many portions, steps or pages are asked for.
const PORTIONS: i64 = 12;

/// Names of arguments that make a call last: a probe that wants that chooses it.
const LASTING: [&str; 7] = ["second", "delay", "duration", "wait", "sleep", "timeout", "interval"];

/// Arguments that the schema admits: what is required with what was learnt, everything that there is, each member of
/// enumerations, free texts.
pub fn variants(schema: &Value, values: &Values, rng: &Rng) -> Vec<Map<String, Value>> {
    // Where no value can be made of a pattern, one may have been learnt.
    let smallest = object(schema, Style::Smallest, rng).unwrap_or_else(|| members(schema, Style::Smallest, rng));
    let Ok(validator) = Validator::new(schema) else { return Vec::new() };
    let maker = Maker { schema, values, rng };
    let simple = maker.required(&smallest, 0);
    let mut made = vec![simple.clone(), maker.everything(&simple, 0), maker.searched(&simple, TEXTS[0])];
    made.extend([maker.required(&smallest, 1), maker.everything(&simple, 1)]);
    made.extend(maker.members(&simple));
    made.push(maker.counted(&simple));
    made.extend([maker.searched(&simple, TEXTS[1]), maker.required(&smallest, 2), smallest]);
    let mut variants: Vec<Map<String, Value>> = Vec::new();
    for arguments in made {
        if !variants.contains(&arguments) && validator.is_valid(&Value::Object(arguments.clone())) {
            variants.push(arguments);
        }
    }
    variants
}

/// Arguments of a failed call with one text replaced by what the failure names.
pub fn corrected(schema: &Value, arguments: &Map<String, Value>, failure: &str) -> Vec<Map<String, Value>> {
    let Ok(validator) = Validator::new(schema) else { return Vec::new() };
    let mut corrected = Vec::new();
    for word in words::named(failure) {
        for (name, value) in arguments {
            let instead = json!(word);
            let mut changed = arguments.clone();
            changed.insert(name.clone(), instead.clone());
            if value.is_string() && *value != instead && validator.is_valid(&Value::Object(changed.clone())) {
                corrected.push(changed);
            }
        }
    }
    corrected
}

struct Maker<'m> {
    schema: &'m Value,
    values: &'m Values,
    rng: &'m Rng,
}

impl Maker<'_> {
    fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    /// The same members, with what was learnt where it fits.
    fn required(&self, smallest: &Map<String, Value>, turn: usize) -> Map<String, Value> {
        let mut arguments = smallest.clone();
        for (name, property) in self.properties().filter(|(name, _)| smallest.contains_key(*name)) {
            arguments.extend(self.learnt(name, property, turn).map(|value| (name.clone(), value)));
        }
        arguments
    }

    /// All members, but for those that are left out so that the call is short.
    fn everything(&self, simple: &Map<String, Value>, turn: usize) -> Map<String, Value> {
        let mut arguments = simple.clone();
        for (name, property) in self.properties() {
            let lasts = LASTING.iter().any(|word| name.to_lowercase().contains(word));
            if !arguments.contains_key(name) && !lasts {
                arguments.extend(self.any(name, property, turn).map(|value| (name.clone(), value)));
            }
        }
        arguments
    }

    fn any(&self, name: &str, property: &Value, turn: usize) -> Option<Value> {
        let inner = property.get("properties").and_then(Value::as_object);
        self.learnt(name, property, turn).or_else(|| match inner {
            Some(_) => {
                let maker = Maker { schema: property, ..*self };
                Some(Value::Object(maker.everything(&Map::new(), turn)))
            }
            None => value(property, Style::Typical, self.rng),
        })
    }

    /// What was learnt of a member: what its schema lists, its description names, or answers held.
    fn learnt(&self, name: &str, property: &Value, turn: usize) -> Option<Value> {
        if let Some(members) = property.get("enum").and_then(Value::as_array) {
            return members.get(turn).cloned();
        }
        let mut proposed = self.values.proposed(name, property);
        if property.get("type") == Some(&json!("string")) {
            let described = property.get("description").and_then(Value::as_str).map(words::named).unwrap_or_default();
            let fitting = described.into_iter().map(Value::String).filter(|text| schema::fits(property, text));
            proposed.extend(fitting);
        }
        let at = turn.min(proposed.len().checked_sub(1)?);
        Some(proposed.swap_remove(at))
    }

    /// The members of each enumeration in turn.
    fn members(&self, simple: &Map<String, Value>) -> Vec<Map<String, Value>> {
        let with = |name: &String, member: &Value| {
            let mut arguments = simple.clone();
            arguments.insert(name.clone(), member.clone());
            arguments
        };
        let listed = self.properties().filter_map(|(name, property)| Some((name, property.get("enum")?.as_array()?)));
        let some = |all: &Vec<Value>| -> Vec<Value> {
            all.iter().take(MEMBERS - 1).chain(all.iter().skip(MEMBERS - 1).last()).cloned().collect()
        };
        listed.flat_map(|(name, all)| some(all).into_iter().map(move |member| with(name, &member))).collect()
    }

    /// Whole numbers as large as what comes in portions may take, but for those that say how long a call lasts.
    fn counted(&self, simple: &Map<String, Value>) -> Map<String, Value> {
        let mut arguments = simple.clone();
        for (name, property) in
            self.properties().filter(|(_, property)| property.get("type") == Some(&json!("integer")))
        {
            let bound = |keyword: &str| property.get(keyword).and_then(Value::as_i64);
            let number = PORTIONS.min(bound("maximum").unwrap_or(PORTIONS)).max(bound("minimum").unwrap_or(PORTIONS));
            if !LASTING.iter().any(|word| name.to_lowercase().contains(word)) {
                arguments.insert(name.clone(), json!(number));
            }
        }
        arguments
    }

    /// Free texts replaced by a short one.
    fn searched(&self, simple: &Map<String, Value>, text: &str) -> Map<String, Value> {
        let mut arguments = simple.clone();
        let free = |property: &Value| {
            property.get("type") == Some(&json!("string"))
                && ["enum", "pattern", "format"].iter().all(|keyword| property.get(keyword).is_none())
        };
        for (name, _) in self.properties().filter(|(_, property)| free(property)) {
            if let Some(value) = arguments.get_mut(name) {
                *value = json!(text);
            }
        }
        arguments
    }
}
