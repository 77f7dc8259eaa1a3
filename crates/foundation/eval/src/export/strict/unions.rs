//! Unions: `anyOf`, `oneOf` and several types.

use serde_json::{Map, Value, json};

use super::super::target;
use super::keywords::{allowed_types, beside, described, type_of};
use super::{Closer, Plan};

/// How many branches of a union are compared with each other.
const MOST_COMPARED: usize = 64;

impl Closer<'_> {
    /// The strict form of `anyOf` or `oneOf`.
    pub(super) fn union(&mut self, schema: &Value, at: &str, depth: usize) -> (Value, Plan) {
        let (word, branches) = match (schema.get("anyOf"), schema.get("oneOf")) {
            (Some(Value::Array(branches)), None) => ("anyOf", branches),
            (None, Some(Value::Array(branches))) => ("oneOf", branches),
            _ => return self.not_strict(at, "it has `anyOf` and `oneOf`"),
        };
        if let Some(other) = beside(schema, &[word, "type"]) {
            if schema.get("properties").is_none() || !only_requires(branches) {
                return self.not_strict(at, &format!("`{other}` stands next to `{word}`"));
            }
            self.unchecked(at, word);
            return self.object(schema, at, depth);
        }
        if branches.is_empty() {
            return self.not_strict(at, "no value fits");
        }
        if word == "oneOf" && !self.are_disjoint(branches) {
            self.notes.add(
                super::NoteKind::Unchecked,
                at,
                "`oneOf` is not checked: one value may fit several of its schemas",
            );
        }
        let outer = allowed_types(&json!({ "type": schema.get("type") })).filter(|_| schema.get("type").is_some());
        let (mut strict, mut plans) = (Vec::new(), Vec::new());
        for (index, branch) in branches.iter().enumerate() {
            let below = format!("{at}/{word}/{index}");
            let Some(branch) = self.of_types(branch, outer.as_deref()) else {
                return self.not_strict(&below, "it has another type than the union");
            };
            let (one, plan) = self.close(&branch, &below, depth + 1);
            plans.push((one.clone(), plan));
            strict.push(one);
        }
        (described(json!({ "anyOf": strict }), schema), union_plan(plans))
    }

    /// A branch with the types that the union demands; `None` where it has others.
    fn of_types(&self, branch: &Value, outer: Option<&[String]>) -> Option<Value> {
        let Some(outer) = outer else { return Some(branch.clone()) };
        match allowed_types(self.resolved(branch)) {
            Some(own) if own.iter().all(|one| outer.contains(one)) => Some(branch.clone()),
            None if branch.get("$ref").is_none() => {
                let mut members = branch.as_object()?.clone();
                members.insert("type".to_owned(), if let [one] = outer { json!(one) } else { json!(outer) });
                Some(Value::Object(members))
            }
            _ => None,
        }
    }

    /// What a reference means.
    fn resolved<'v>(&'v self, schema: &'v Value) -> &'v Value {
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.and_then(|name| target(self.root, name)).map_or(schema, |(schema, _)| schema)
    }

    /// Whether no value can fit two of them, because of its type or of a member that tells them apart.
    fn are_disjoint(&self, branches: &[Value]) -> bool {
        let branches: Vec<&Value> = branches.iter().map(|branch| self.resolved(branch)).collect();
        branches.len() <= MOST_COMPARED
            && branches.iter().enumerate().all(|(at, one)| branches[..at].iter().all(|other| differ(one, other)))
    }

    /// An object or a list that may also be something else.
    pub(super) fn several_types(&mut self, schema: &Value, types: &[String], at: &str, depth: usize) -> (Value, Plan) {
        let mut plans = Vec::new();
        for one in types {
            let mut members = schema.as_object().cloned().unwrap_or_default();
            members.remove("description");
            members.insert("type".to_owned(), json!(one));
            if let Some(Value::Array(values)) = members.get_mut("enum") {
                values.retain(|value| type_of(value) == one || one == "number" && type_of(value) == "integer");
            }
            plans.push(self.close(&Value::Object(members), at, depth + 1));
        }
        let strict: Vec<Value> = plans.iter().map(|(strict, _)| strict.clone()).collect();
        (described(json!({ "anyOf": strict }), schema), union_plan(plans))
    }
}

/// Whether the branches of a union only say which members of the object around it go together.
pub(super) fn only_requires(branches: &[Value]) -> bool {
    let words = ["required", "not", "type", "title", "description"];
    let is_plain =
        |branch: &Value| branch.as_object().is_some_and(|all| all.keys().all(|word| words.contains(&word.as_str())));
    branches.iter().all(is_plain)
}

/// Whether no value fits both.
fn differ(one: &Value, other: &Value) -> bool {
    if let (Some(a), Some(b)) = (allowed_types(one), allowed_types(other)) {
        let overlap =
            |x: &String, y: &String| x == y || ["integer", "number"].iter().all(|n| [x, y].iter().any(|t| t == n));
        if !a.iter().any(|x| b.iter().any(|y| overlap(x, y))) {
            return true;
        }
    }
    // A member that both demand, with values that the other does not take.
    let required = |schema: &Value, name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == name))
    };
    let none = Map::new();
    let properties = one.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let is_object = |schema: &Value| schema.get("type") == Some(&json!("object"));
    is_object(one)
        && is_object(other)
        && properties.iter().any(|(name, property)| {
            let theirs = other.get("properties").and_then(|all| all.get(name));
            required(one, name)
                && required(other, name)
                && theirs.is_some_and(|theirs| match (constants(property), constants(theirs)) {
                    (Some(a), Some(b)) => !a.iter().any(|x| b.iter().any(|y| wire::json::same(x, y))),
                    _ => false,
                })
        })
}

/// The values that a schema of constants takes.
fn constants(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

fn union_plan(plans: Vec<(Value, Plan)>) -> Plan {
    if plans.iter().all(|(_, plan)| matches!(plan, Plan::Keep)) { Plan::Keep } else { Plan::Union(plans) }
}
