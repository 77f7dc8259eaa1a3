//! Spoils values: one small change each, anywhere in the value. Some changes leave it valid, and that too is a test.

use crate::generate::Rng;
use crate::official::Official;
use serde_json::{Value, json};
use std::collections::HashSet;
use wire::pointer;

/// The most places that are all spoiled in turn; of a larger value, so many are chosen.
const PLACES: usize = 64;

/// Distinct mutations: every place dropped, given a wrong type and put out of range, then `more` changes at random.
pub(crate) fn mutations(instance: &Value, official: &Official, rng: &mut Rng, more: usize) -> Vec<Value> {
    let mut places = Vec::new();
    gather(instance, String::new(), &mut places);
    while places.len() > PLACES {
        places.swap_remove(1 + rng.below(places.len() - 1));
    }
    let mut mutants = Mutants { instance, seen: HashSet::new(), found: Vec::new() };
    for place in &places {
        mutants.add(|mutant| drop_at(mutant, place));
        for wrong in instance.pointer(place).into_iter().flat_map(|value| wrong_values(value, official)) {
            mutants.add(|mutant| change_at(mutant, place, |target| *target = wrong));
        }
    }
    let enough = mutants.found.len() + more;
    for _ in 0..more * 20 {
        // Near the root as often as anywhere: a deep value has few places there.
        let place = if rng.below(3) == 0 { &places[rng.below(places.len().min(6))] } else { rng.pick(&places) };
        mutants.add(|mutant| change_at(mutant, place, |target| spoil(target, official.words(), rng)));
        if mutants.found.len() >= enough {
            break;
        }
    }
    mutants.found
}

/// Mutants of one instance, none twice and none equal to it.
struct Mutants<'a> {
    instance: &'a Value,
    seen: HashSet<String>,
    found: Vec<Value>,
}

impl Mutants<'_> {
    fn add(&mut self, change: impl FnOnce(&mut Value)) {
        let mut mutant = self.instance.clone();
        change(&mut mutant);
        if mutant != *self.instance && self.seen.insert(mutant.to_string()) {
            self.found.push(mutant);
        }
    }
}

/// Values that the value at a place should not have been: another type, out of range, the other words of a set.
fn wrong_values(value: &Value, official: &Official) -> Vec<Value> {
    match value {
        Value::Null | Value::Bool(_) | Value::Object(_) => vec![json!([])],
        Value::Number(_) => vec![json!([]), json!(-1), json!(1.5)],
        Value::String(text) => {
            let mut wrong: Vec<Value> = official.siblings(text).iter().map(|word| json!(word)).collect();
            wrong.extend([json!([]), json!(format!("{text}x"))]);
            wrong
        }
        Value::Array(_) => vec![json!({})],
    }
}

/// Every place in a value as a JSON pointer, the root first.
fn gather(value: &Value, at: String, into: &mut Vec<String>) {
    into.push(at.clone());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                gather(item, format!("{at}/{index}"), into);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                gather(member, pointer::member(&at, name), into);
            }
        }
        _ => {}
    }
}

fn change_at(value: &mut Value, place: &str, change: impl FnOnce(&mut Value)) {
    if let Some(target) = value.pointer_mut(place) {
        change(target);
    }
}

fn drop_at(value: &mut Value, place: &str) {
    let Some((parent, last)) = place.rsplit_once('/') else { return };
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.shift_remove(&pointer::unescape(last));
        }
        Some(Value::Array(items)) => {
            items.remove(last.parse().unwrap_or(0));
        }
        _ => {}
    }
}

/// Changes one value in one way.
fn spoil(target: &mut Value, words: &[String], rng: &mut Rng) {
    if rng.below(2) == 0 {
        *target = anything(words, rng);
        return;
    }
    match target {
        Value::Object(members) => match rng.below(3) {
            0 => {
                let extra = anything(words, rng);
                members.insert("x-extra".to_owned(), extra);
            }
            1 if !members.is_empty() => {
                let name = members.keys().nth(rng.below(members.len())).cloned().unwrap_or_default();
                let member = members.shift_remove(&name).unwrap_or_default();
                members.insert(format!("{name}s"), member);
            }
            _ => {
                let name = rng.pick(&["type", "method", "mode", "_meta", "id", "enum", "oneOf", "result", "params"]);
                let member = anything(words, rng);
                members.insert((*name).to_owned(), member);
            }
        },
        Value::Array(items) => match rng.below(3) {
            0 => items.push(anything(words, rng)),
            1 => items.extend(items.clone()),
            // One more than any list may have.
            _ => *items = vec![items.first().cloned().unwrap_or(json!("x")); 101],
        },
        Value::String(text) => match rng.below(3) {
            0 => text.push('x'),
            1 => *text = text.to_uppercase(),
            _ => text.clone_from(rng.pick(words)),
        },
        Value::Number(n) => {
            let n = n.as_f64().unwrap_or_default();
            *target = rng.pick(&[json!(-n), json!(n + 0.5), json!(n + 1.0), json!(n - 1.0), json!(-0.001)]).clone();
        }
        Value::Bool(b) => *target = json!(b.to_string()),
        Value::Null => *target = anything(words, rng),
    }
}

fn anything(words: &[String], rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(12),
        json!(1.0),
        json!(0.5),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(-32021),
        json!(""),
        json!("x"),
        json!("7"),
        json!(rng.pick(words)),
        json!(rng.pick(words)),
        json!([]),
        json!([null]),
        json!(["x"]),
        json!([{}]),
        json!({}),
        json!({"x": null}),
        json!({"x": 1.5}),
        json!({"x": {"y": "z"}}),
        json!({"type": rng.pick(words)}),
        json!({"method": rng.pick(words)}),
    ];
    rng.pick(&values).clone()
}
