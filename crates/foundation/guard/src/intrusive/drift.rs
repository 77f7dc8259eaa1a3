//! What differs between two lists of the same server, and how much it matters.

use serde_json::Value;

use crate::scan::Severity;

/// How many changes are reported.
const MOST: usize = 50;
/// How many of one item.
const OF_ITEM: usize = 8;
/// How deep definitions are compared.
const DEEPEST: usize = 32;

/// A place of an item that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The item's name.
    pub name: String,
    /// JSON pointer of what differs.
    pub pointer: String,
    /// The text in the second list.
    pub text: String,
    /// High: a model reads another text. Medium: another value. Low: numbers, the order of words, or something that is gone.
    pub severity: Severity,
}

/// What differs in the items of both lists, which have their names in the member `key`. Items that come or go are no change:
/// lists may depend on what a client can do.
pub fn changes(first: &[Value], second: &[Value], key: &str) -> Vec<Change> {
    let named = |item: &&Value, name: &str| item[key] == name;
    let mut found = Vec::new();
    for item in second {
        let Some(name) = item[key].as_str() else { continue };
        // A name that is listed twice has no one definition.
        let mut before = first.iter().filter(|one| named(one, name));
        let (Some(one), None) = (before.next(), before.next()) else { continue };
        if second.iter().filter(|one| named(one, name)).count() > 1 {
            continue;
        }
        let mut differing = Vec::new();
        difference(one, item, "", 0, &mut differing);
        differing.sort_by_key(|(_, _, severity)| std::cmp::Reverse(*severity));
        let change = |(pointer, text, severity)| Change { name: name.to_owned(), pointer, text, severity };
        found.extend(differing.into_iter().take(OF_ITEM).map(change));
        if found.len() >= MOST {
            break;
        }
    }
    found
}

type Differing = Vec<(String, String, Severity)>;

fn difference(one: &Value, other: &Value, pointer: &str, depth: usize, found: &mut Differing) {
    if one == other || depth > DEEPEST {
        return;
    }
    let mut add = |text: String, severity| found.push((pointer.to_owned(), text, severity));
    match (one, other) {
        (Value::Object(before), Value::Object(members)) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "_meta") {
                let at = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                match before.get(name) {
                    Some(before) => difference(before, member, &at, depth + 1, found),
                    None => found.push(added(name, member, at)),
                }
            }
            for name in before.keys().filter(|name| *name != "_meta" && !members.contains_key(*name)) {
                found.push((pointer.to_owned(), format!("without {name}"), Severity::Low));
            }
        }
        (Value::Array(before), Value::Array(items))
            if before.len() == items.len() && items.iter().any(Value::is_object) =>
        {
            for (at, (before, item)) in before.iter().zip(items).enumerate() {
                difference(before, item, &format!("{pointer}/{at}"), depth + 1, found);
            }
        }
        (Value::Array(before), Value::Array(items)) => {
            // Another order says nothing else.
            let new = items.iter().find(|item| !before.contains(item));
            let severity = match new {
                None => Severity::Low,
                Some(new) if described(new, 0).is_some() => Severity::High,
                Some(_) => Severity::Medium,
            };
            add(new.map_or_else(|| other.to_string(), shown), severity);
        }
        (Value::String(before), Value::String(text)) if plain(before) == plain(text) => {
            add(text.clone(), Severity::Low);
        }
        (_, Value::String(text)) if is_prose(pointer) => add(text.clone(), Severity::High),
        (Value::Number(_), Value::Number(_)) => add(other.to_string(), Severity::Low),
        _ => match described(other, 0) {
            Some(text) => add(text.to_owned(), Severity::High),
            None => add(shown(other), Severity::Medium),
        },
    }
}

/// A member that was not there before.
fn added(name: &str, member: &Value, pointer: String) -> (String, String, Severity) {
    match member.as_str().filter(|_| is_prose(&pointer)).or_else(|| described(member, 0)) {
        Some(text) => (pointer, text.to_owned(), Severity::High),
        None => (pointer, format!("{name}: {}", shown(member)), Severity::Medium),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a place holds a text for the model.
fn is_prose(pointer: &str) -> bool {
    let is_named_so = |name: &str| ["description", "title", "instructions"].contains(&name);
    pointer.rsplit('/').next().is_some_and(is_named_so)
}

/// The first description or title in a value.
fn described(value: &Value, depth: usize) -> Option<&str> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::Object(members) => {
            let own = ["description", "title"].iter().find_map(|name| members.get(*name)?.as_str());
            own.or_else(|| members.values().find_map(|member| described(member, depth + 1)))
        }
        Value::Array(items) => items.iter().find_map(|item| described(item, depth + 1)),
        _ => None,
    }
}

/// The words of a text without their digits, sorted: a time in it, or a set that is written in another order, says little.
pub(super) fn plain(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    let mut words: Vec<String> = words.map(|word| word.chars().filter(|c| !c.is_ascii_digit()).collect()).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words
}
