//! An entry that exists, put together with the one that a server has: choices of the user stay.

use serde_json::{Map, Value};

use crate::plan::Manner;
use crate::server::URLS;
use crate::shape::Entry;

/// Constants that say how a server is spoken to. All other constants are proposals, which the user may have changed.
const KINDS: [&str; 2] = ["type", "transport"];

/// Members by which any client starts or reaches a server.
const LAUNCH: [&str; 16] = [
    "command",
    "cmd",
    "args",
    "cwd",
    "env",
    "envs",
    "environment",
    "env_vars",
    "env_keys",
    "envFile",
    "headers",
    "http_headers",
    "env_http_headers",
    "headersHelper",
    "bearer_token_env_var",
    "bearer_token_env",
];

/// Marks that hold the same things in two ways, so that a name stands under one of them only.
const GROUPS: [&[&str]; 2] = [&["$env", "$env!", "$forwarded"], &["$headers", "$header-variables", "$bearer"]];

/// The entry that takes the place of `old`.
pub(crate) fn merged(old: &Value, entry: &Entry, manner: Manner) -> Value {
    let Value::Object(before) = old else { return entry.value.clone() };
    let empty = Map::new();
    let new = entry.value.as_object().unwrap_or(&empty);
    let mut all = before.clone();
    if manner == Manner::Declare {
        all.retain(|key, _| new.contains_key(key) || !(LAUNCH.contains(&key.as_str()) || URLS.contains(&key.as_str())));
    }
    if let Value::Object(template) = entry.template {
        put_together(&mut all, new, template, manner);
        if manner == Manner::Merge {
            move_names(&mut all, new, template);
        }
    }
    Value::Object(all)
}

/// Puts the members of `new` into `all`, each as its mark says.
fn put_together(all: &mut Map<String, Value>, new: &Map<String, Value>, template: &Map<String, Value>, manner: Manner) {
    for (key, mark) in template {
        let old = all.get(key).filter(|old| !old.is_null());
        let value = match (mark, old, new.get(key)) {
            (Value::Object(template), Some(Value::Object(old)), value) => {
                let mut inner = old.clone();
                let empty = Map::new();
                put_together(&mut inner, value.and_then(Value::as_object).unwrap_or(&empty), template, manner);
                (!inner.is_empty()).then_some(Value::Object(inner))
            }
            (mark, Some(old), Some(_)) if !is_mark(mark) && !KINDS.contains(&key.as_str()) => Some(old.clone()),
            (_, Some(old), None) if manner == Manner::Merge => Some(old.clone()),
            (mark, Some(old), Some(value)) if manner == Manner::Merge => Some(joined(mark, old, value)),
            (_, _, value) => value.cloned(),
        };
        match value {
            Some(value) => {
                all.insert(key.clone(), value);
            }
            None => {
                all.shift_remove(key);
            }
        }
    }
}

fn is_mark(template: &Value) -> bool {
    template.as_str().is_some_and(|text| text.starts_with('$')) || template.is_object()
}

/// Two values of one mark: variables, headers and lists of names are united, all else is the new one.
fn joined(mark: &Value, old: &Value, new: &Value) -> Value {
    match (mark.as_str().unwrap_or_default(), old, new) {
        ("$env" | "$env!" | "$headers" | "$header-variables", Value::Object(old), Value::Object(new)) => {
            let mut all = old.clone();
            all.extend(new.iter().map(|(name, value)| (name.clone(), value.clone())));
            Value::Object(all)
        }
        ("$forwarded", Value::Array(old), Value::Array(new)) => {
            let mut all = old.clone();
            all.extend(new.iter().filter(|name| !old.iter().any(|old| old == *name || old["name"] == **name)).cloned());
            Value::Array(all)
        }
        _ => new.clone(),
    }
}

/// A variable that is now a reference leaves the place where it stood in clear, and the other way round.
fn move_names(all: &mut Map<String, Value>, new: &Map<String, Value>, template: &Map<String, Value>) {
    for group in GROUPS {
        let members: Vec<_> = template
            .iter()
            .filter_map(|(key, mark)| Some((key, mark.as_str().filter(|mark| group.contains(mark))?)))
            .collect();
        let given: Vec<_> = members
            .iter()
            .flat_map(|(key, mark)| names(mark, new.get(*key)).into_iter().map(|name| (*key, name)))
            .collect();
        for (key, mark) in members {
            let leaves =
                |name: &str| given.iter().any(|(other, given)| *other != key && given.eq_ignore_ascii_case(name));
            let is_empty = match all.get_mut(key) {
                Some(Value::Object(pairs)) => {
                    pairs.retain(|name, _| !leaves(name));
                    pairs.is_empty() && mark != "$env!"
                }
                Some(Value::Array(items)) => {
                    items.retain(|item| !item.as_str().is_some_and(leaves));
                    items.is_empty()
                }
                Some(Value::String(_)) if mark == "$bearer" => leaves("Authorization"),
                _ => false,
            };
            if is_empty && !new.contains_key(key) {
                all.shift_remove(key);
            }
        }
    }
}

/// The names of the variables or headers that a member sets.
fn names(mark: &str, value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Object(pairs)) => pairs.keys().cloned().collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(_)) if mark == "$bearer" => vec!["Authorization".to_owned()],
        _ => Vec::new(),
    }
}
