//! A schema without its detours: references followed, `allOf` merged, and one view for each way that `anyOf`, `oneOf` or a
//! list of types leaves open. A view is a guide to making values, no judge of them.

use serde_json::{Map, Value, json};

/// One way to meet a schema.
pub(super) type View = Map<String, Value>;

/// How many ways are looked at.
const MOST: usize = 12;
/// How far references are followed.
const DEPTH: usize = 8;
/// How many schemas are looked at for one: a schema may name itself many times over.
const STEPS: usize = 2000;

/// Every way to meet `schema`, in its own order. What is looked at is taken from `steps`, the fewer the less is seen.
pub(super) fn views(schema: &Value, root: &Value, steps: &mut usize) -> Vec<View> {
    let mut left = STEPS.min(*steps);
    *steps -= left;
    let mut views = seen(schema, root, DEPTH, &mut left);
    *steps += left;
    views.truncate(MOST);
    views
}

fn seen(schema: &Value, root: &Value, room: usize, steps: &mut usize) -> Vec<View> {
    let Some(left) = steps.checked_sub(1) else { return Vec::new() };
    *steps = left;
    let members = match schema {
        Value::Bool(true) => return vec![View::new()],
        Value::Object(members) if room > 0 => members,
        _ => return Vec::new(),
    };
    let mut base = members.clone();
    let mut views = Vec::new();
    let (all, any, one) = (base.remove("allOf"), base.remove("anyOf"), base.remove("oneOf"));
    let reference = base.remove("$ref");
    views.push(base);
    if let Some(reference) = reference {
        let target = reference.as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?));
        let Some(target) = target else { return Vec::new() };
        views = crossed(&views, &seen(target, root, room - 1, steps));
    }
    for part in all.iter().filter_map(Value::as_array).flatten() {
        views = crossed(&views, &seen(part, root, room - 1, steps));
    }
    for choice in [any, one].into_iter().flatten() {
        let ways: Vec<View> =
            choice.as_array().into_iter().flatten().flat_map(|one| seen(one, root, room - 1, steps)).collect();
        views = crossed(&views, &ways);
    }
    views.into_iter().flat_map(by_type).take(MOST * 4).collect()
}

/// A view for each of several types.
fn by_type(view: View) -> Vec<View> {
    match view.get("type") {
        Some(Value::Array(types)) if view.get("enum").is_none() => types
            .iter()
            .map(|kind| {
                let mut one = view.clone();
                one.insert("type".to_owned(), kind.clone());
                one
            })
            .collect(),
        _ => vec![view],
    }
}

/// Whatever meets one of both sides.
fn crossed(one: &[View], other: &[View]) -> Vec<View> {
    one.iter().flat_map(|a| other.iter().filter_map(|b| merged(a, b))).take(MOST * 4).collect()
}

/// What meets both; `None` where their types leave nothing.
fn merged(a: &View, b: &View) -> Option<View> {
    let mut both = a.clone();
    for (name, theirs) in b {
        let Some(ours) = both.get(name) else {
            both.insert(name.clone(), theirs.clone());
            continue;
        };
        let value = match name.as_str() {
            "type" => common_type(ours, theirs)?,
            "required" => joined(ours, theirs),
            "enum" => common(ours, theirs),
            "properties" => properties(ours, theirs),
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => by(ours, theirs, f64::gt),
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => by(ours, theirs, f64::lt),
            "items" | "additionalProperties" if ours != theirs => json!({ "allOf": [ours, theirs] }),
            _ => continue,
        };
        both.insert(name.clone(), value);
    }
    Some(both)
}

fn common_type(a: &Value, b: &Value) -> Option<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    let (a, b) = (list(a), list(b));
    let mut both: Vec<Value> = a.iter().filter(|kind| b.contains(kind)).cloned().collect();
    let has = |list: &[Value], kind: &str| list.iter().any(|one| one == kind);
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
    let mut all: Vec<Value> = a.as_array().cloned().unwrap_or_default();
    for name in b.as_array().into_iter().flatten() {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    Value::Array(all)
}

fn common(a: &Value, b: &Value) -> Value {
    let theirs = b.as_array().cloned().unwrap_or_default();
    a.as_array().into_iter().flatten().filter(|one| theirs.contains(one)).cloned().collect()
}

fn properties(a: &Value, b: &Value) -> Value {
    let mut all = a.as_object().cloned().unwrap_or_default();
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
