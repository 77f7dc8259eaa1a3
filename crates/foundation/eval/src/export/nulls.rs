//! Takes out of arguments the `null`s that only a strict schema demands.

use serde_json::{Map, Value};

use super::strict::{Closed, Plan};

/// How deep values are looked at, and how many of them.
const DEEPEST: usize = 100;
const STEPS: usize = 100_000;

/// Arguments without the members that the server may do without and that are `null`.
pub(super) fn removed(closed: &Closed, given: Map<String, Value>) -> Map<String, Value> {
    let mut reader = Reader { closed, steps: STEPS };
    match reader.value(&closed.plan, Value::Object(given), 0) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

struct Reader<'c> {
    closed: &'c Closed,
    steps: usize,
}

impl Reader<'_> {
    fn value(&mut self, plan: &Plan, value: Value, depth: usize) -> Value {
        if self.steps == 0 || depth > DEEPEST {
            return value;
        }
        self.steps -= 1;
        let closed = self.closed;
        match (plan, value) {
            (Plan::Members(plans), Value::Object(members)) => {
                let mut kept = Map::new();
                for (name, member) in members {
                    match plans.get(&name) {
                        Some(plan) if plan.is_optional && member.is_null() => {}
                        Some(plan) => {
                            let member = self.value(&plan.plan, member, depth + 1);
                            kept.insert(name, member);
                        }
                        None => {
                            kept.insert(name, member);
                        }
                    }
                }
                Value::Object(kept)
            }
            (Plan::Items(plan), Value::Array(items)) => {
                Value::Array(items.into_iter().map(|item| self.value(plan, item, depth + 1)).collect())
            }
            (Plan::Union(branches), value) => match branches.iter().find(|(strict, _)| fits(strict, closed, &value)) {
                Some((_, plan)) => self.value(plan, value, depth + 1),
                None => value,
            },
            (Plan::Shared(name), value) => match closed.shared.get(name) {
                Some(plan) => self.value(plan, value, depth + 1),
                None => value,
            },
            (_, value) => value,
        }
    }
}

/// Whether a value fits a part of a strict schema.
fn fits(strict: &Value, closed: &Closed, value: &Value) -> bool {
    let mut part = strict.clone();
    if let (Value::Object(members), Some(shared)) = (&mut part, closed.schema.get("$defs")) {
        members.insert("$defs".to_owned(), shared.clone());
    }
    schema::Validator::with_formats(&part).is_ok_and(|validator| validator.is_valid(value))
}
