//! A schema without its detours: references followed, `allOf` merged, and one view for each way that `anyOf`, `oneOf` or a
//! list of types leaves open. A view is a guide to making values, no judge of them.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// How many ways are looked at.
const MOST: usize = 12;
/// How far references are followed.
const DEPTH: usize = 8;
/// How many schemas are looked at for one: a schema may name itself many times over.
const STEPS: usize = 2000;
/// How many keywords, or names and values within one, are as much work as one schema.
const PARTS: usize = 16;

/// Keywords that are not part of a view's own.
const APART: [&str; 6] = ["allOf", "anyOf", "oneOf", "$ref", "$defs", "definitions"];

/// One way to meet a schema: its keywords. What several schemas say is merged; the rest is borrowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct View<'s>(Vec<(&'s str, Cow<'s, Value>)>);

impl<'s> View<'s> {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_ref())
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value.as_ref()))
    }

    fn set(&mut self, name: &'s str, value: Cow<'s, Value>) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        self.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// What must be there where `name` is.
    pub(crate) fn dependents<'v>(&'v self, name: &str) -> impl Iterator<Item = &'v str> {
        let lists = ["dependentRequired", "dependencies"].into_iter().filter_map(|keyword| self.get(keyword));
        let lists: Vec<_> = lists.filter_map(|lists| lists.get(name)?.as_array()).collect();
        lists.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The type that it asks for, said or implied.
    pub(crate) fn kind(&self) -> Option<&str> {
        let has = |names: &[&str]| names.iter().any(|name| self.contains_key(name));
        match self.get("type") {
            Some(Value::String(kind)) => Some(kind),
            _ if has(&["properties", "required", "additionalProperties"]) => Some("object"),
            _ if has(&["items", "prefixItems", "minItems", "maxItems"]) => Some("array"),
            _ if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => Some("number"),
            _ => None,
        }
    }
}

/// Every way to meet `schema`, in its own order. What is looked at is taken from `steps`, the fewer the less is seen.
pub(crate) fn views<'s>(schema: &'s Value, root: &'s Value, steps: &mut usize) -> Vec<View<'s>> {
    let mut left = STEPS.min(*steps);
    *steps -= left;
    let mut views = seen(schema, root, DEPTH, &mut left);
    *steps += left;
    views.truncate(MOST);
    views
}

fn seen<'s>(schema: &'s Value, root: &'s Value, room: usize, steps: &mut usize) -> Vec<View<'s>> {
    let members = match schema {
        Value::Bool(true) => return vec![View::default()],
        Value::Object(members) if room > 0 => members,
        _ => return Vec::new(),
    };
    let Some(left) = steps.checked_sub(1 + members.len() / PARTS) else { return Vec::new() };
    *steps = left;
    let own = members.iter().filter(|(name, _)| !APART.contains(&name.as_str()));
    let mut views = vec![View(own.map(|(name, value)| (name.as_str(), Cow::Borrowed(value))).collect())];
    if let Some(reference) = members.get("$ref") {
        let target = reference.as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?));
        let Some(target) = target else { return Vec::new() };
        views = crossed(&views, &seen(target, root, room - 1, steps), steps);
    }
    for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        views = crossed(&views, &seen(part, root, room - 1, steps), steps);
    }
    for choice in ["anyOf", "oneOf"].into_iter().filter_map(|name| members.get(name)) {
        let ways: Vec<View<'_>> =
            choice.as_array().into_iter().flatten().flat_map(|one| seen(one, root, room - 1, steps)).collect();
        views = crossed(&views, &ways, steps);
    }
    views.into_iter().flat_map(by_type).take(MOST * 4).collect()
}

/// A view for each of several types; `null` last, which shows least.
fn by_type(view: View<'_>) -> Vec<View<'_>> {
    match view.get("type") {
        Some(Value::Array(types)) if view.get("enum").is_none() => {
            let mut types = types.clone();
            types.truncate(MOST);
            types.sort_by_key(|kind| kind == "null");
            let of = |kind: Value| {
                let mut one = view.clone();
                one.set("type", Cow::Owned(kind));
                one
            };
            types.into_iter().map(of).collect()
        }
        _ => vec![view],
    }
}

/// Whatever meets one of both sides.
fn crossed<'s>(one: &[View<'s>], other: &[View<'s>], steps: &mut usize) -> Vec<View<'s>> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    pairs.filter_map(|(a, b)| merged(a, b, steps)).take(MOST * 4).collect()
}

/// What meets both; `None` where their types leave nothing, or the work is too much.
fn merged<'s>(a: &View<'s>, b: &View<'s>, steps: &mut usize) -> Option<View<'s>> {
    let mut both = a.clone();
    for (name, theirs) in &b.0 {
        let Some(ours) = both.get(name) else {
            both.0.push((name, theirs.clone()));
            continue;
        };
        *steps = steps.checked_sub((parts(ours) + parts(theirs)) / PARTS)?;
        let value = match *name {
            "type" => common_type(ours, theirs)?,
            "required" => joined(ours, theirs),
            "enum" => common(ours, theirs),
            "properties" => properties(ours, theirs),
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => by(ours, theirs, f64::gt),
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => by(ours, theirs, f64::lt),
            "items" | "additionalProperties" if ours != theirs.as_ref() => json!({ "allOf": [ours, theirs] }),
            _ => continue,
        };
        both.set(name, Cow::Owned(value));
    }
    Some(both)
}

/// How many values are in a value, itself included: merging copies them.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(parts).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}

fn common_type(a: &Value, b: &Value) -> Option<Value> {
    // No list of different types is longer.
    let list = |value: &Value| match value {
        Value::Array(kinds) => kinds.iter().take(MOST).cloned().collect(),
        kind => vec![kind.clone()],
    };
    let (a, b) = (list(a), list(b));
    let has = |list: &[Value], kind: &str| list.iter().any(|one| one == kind);
    let mut both: Vec<Value> = a.iter().filter(|kind| b.contains(kind)).cloned().collect();
    let whole = has(&a, "integer") && has(&b, "number") || has(&a, "number") && has(&b, "integer");
    if whole && !has(&both, "integer") {
        both.push(json!("integer"));
    }
    match both.len() {
        0 => None,
        1 => both.pop(),
        _ => Some(Value::Array(both)),
    }
}

fn joined(a: &Value, b: &Value) -> Value {
    let mut seen = HashSet::new();
    let all = a.as_array().into_iter().chain(b.as_array()).flatten();
    all.filter(|name| name.as_str().is_some_and(|name| seen.insert(name))).cloned().collect()
}

fn common(a: &Value, b: &Value) -> Value {
    let theirs: HashSet<String> = b.as_array().into_iter().flatten().map(Value::to_string).collect();
    a.as_array().into_iter().flatten().filter(|one| theirs.contains(&one.to_string())).cloned().collect()
}

fn properties(a: &Value, b: &Value) -> Value {
    let mut all: Map<String, Value> = a.as_object().cloned().unwrap_or_default();
    for (name, theirs) in b.as_object().into_iter().flatten() {
        let merged = match all.get(name) {
            Some(ours) if ours != theirs => json!({ "allOf": [ours, theirs] }),
            _ => theirs.clone(),
        };
        all.insert(name.clone(), merged);
    }
    Value::Object(all)
}

fn by(a: &Value, b: &Value, wins: fn(&f64, &f64) -> bool) -> Value {
    let theirs = b.as_f64().zip(a.as_f64()).is_some_and(|(b, a)| wins(&b, &a));
    if theirs { b.clone() } else { a.clone() }
}
