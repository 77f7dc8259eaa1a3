//! Makes values that an official schema accepts. Seeded by the definition's name, so that a failure comes again.

use crate::official::Official;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Deeper than this, optional members are left out and recursion takes the shortest way, where nothing else is asked for.
const DEEP: usize = 5;

/// How many values are made at random, besides the smallest and the fullest.
const AT_RANDOM: usize = 5;

/// A small deterministic source of choices (splitmix64).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// How much of what is optional is made.
#[derive(Clone, Copy, PartialEq)]
enum Plenty {
    Nothing,
    Some,
    Everything,
}

pub(crate) struct Generator<'a> {
    official: &'a Official,
    rng: Rng,
    plenty: Plenty,
    /// Deeper than this, optional members are left out.
    deep: usize,
    /// Whose turn it is among the alternatives and words of each place in the schema, so that none is passed over.
    turns: HashMap<*const Value, usize>,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(official: &'a Official, name: &str) -> Self {
        let seed = name.bytes().fold(official.revision as u64, |seed, byte| seed.wrapping_mul(131) + u64::from(byte));
        Self::seeded(official, seed, DEEP)
    }

    pub(crate) fn seeded(official: &'a Official, seed: u64, deep: usize) -> Self {
        Self { official, rng: Rng(seed), plenty: Plenty::Some, deep, turns: HashMap::new() }
    }

    pub(crate) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// The smallest value of each alternative, full ones, and some at random; none twice.
    pub(crate) fn instances(&mut self, name: &str) -> Vec<Value> {
        let definition = self.official.definition(name);
        let alternatives = match definition.get("anyOf") {
            Some(Value::Array(alternatives)) => alternatives.iter().collect(),
            _ => vec![definition],
        };
        let mut values = Vec::new();
        for alternative in alternatives {
            for plenty in [Plenty::Nothing, Plenty::Everything, Plenty::Everything] {
                self.plenty = plenty;
                values.push(self.value(alternative, 0));
            }
        }
        values.extend((0..AT_RANDOM).map(|_| self.random(name)).collect::<Vec<_>>());
        let mut distinct: Vec<Value> = Vec::new();
        for value in values {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        distinct
    }

    /// A value with some of what is optional.
    pub(crate) fn random(&mut self, name: &str) -> Value {
        self.plenty = Plenty::Some;
        self.value(self.official.definition(name), 0)
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(Value::String(target)) = schema.get("$ref") {
            // What another definition holds is tried there: keep it small here.
            return self.value(self.official.definition(&target.replace("#/$defs/", "")), depth + 2);
        }
        if let Some(Value::Array(alternatives)) = schema.get("anyOf") {
            let alternative = if depth > self.deep { alternatives.last() } else { self.turn(alternatives) };
            return alternative.map_or(Value::Null, |a| self.value(a, depth + 1));
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            let mut all = Map::new();
            for part in parts {
                if let Value::Object(members) = self.value(part, depth) {
                    all.extend(members);
                }
            }
            return Value::Object(all);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(words)) = schema.get("enum") {
            return self.turn(words).cloned().unwrap_or_default();
        }
        self.typed(schema, depth)
    }

    /// The next one of several.
    fn turn<'v>(&mut self, from: &'v [Value]) -> Option<&'v Value> {
        let start = self.rng.below(from.len());
        let turn = self.turns.entry(from.as_ptr()).or_insert(start);
        *turn += 1;
        from.get(*turn % from.len())
    }

    fn typed(&mut self, schema: &Value, depth: usize) -> Value {
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => self.turn(kinds).and_then(Value::as_str),
            Some(kind) => kind.as_str(),
            None => return self.anything(),
        };
        match kind {
            Some("object") => self.object(schema, depth),
            Some("array") => self.array(schema, depth),
            Some("string") => self.string(schema),
            Some("integer") => self.rng.pick(&[json!(0), json!(7), json!(1.0), json!(4_294_967_296_u64)]).clone(),
            Some("number") => self.rng.pick(&[json!(0), json!(1), json!(0.25), json!(1.0)]).clone(),
            Some("boolean") => json!(self.rng.below(2) == 0),
            _ => Value::Null,
        }
    }

    fn anything(&mut self) -> Value {
        let values = [json!(null), json!(true), json!(-1.5), json!("x"), json!([1, "a"]), json!({"k": {"l": null}})];
        self.rng.pick(&values).clone()
    }

    fn string(&mut self, schema: &Value) -> Value {
        match schema.get("format").and_then(Value::as_str) {
            Some("uri") => json!("file:///tmp/a"),
            Some("uri-template") => json!("file:///{path}"),
            Some("byte") => json!("aGk="),
            _ => self.rng.pick(&[json!(""), json!("a"), json!("ünï\n"), json!("2.0")]).clone(),
        }
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let length = if depth > self.deep || self.plenty == Plenty::Nothing { 0 } else { 1 + self.rng.below(2) };
        let items = schema.get("items").unwrap_or(&Value::Null);
        Value::Array((0..length).map(|_| self.value(items, depth + 1)).collect())
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&name.as_str()) || self.wants_more(depth) {
                members.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        match schema.get("additionalProperties") {
            Some(others) if others.as_object().is_some_and(|o| !o.is_empty()) => {
                let names = if self.wants_more(depth) { &["x-other", "a/b~c", ""][..] } else { &[] };
                members.extend(names.iter().map(|name| ((*name).to_owned(), self.value(others, depth + 1))));
            }
            // Where nothing is said of other members, they are allowed too.
            _ if self.wants_more(depth + 3) => drop(members.insert("x-other".to_owned(), json!(null))),
            _ => {}
        }
        Value::Object(members)
    }

    fn wants_more(&mut self, depth: usize) -> bool {
        match self.plenty {
            Plenty::Nothing => false,
            Plenty::Some => depth <= self.deep && self.rng.below(3) == 0,
            Plenty::Everything => depth <= self.deep,
        }
    }
}
