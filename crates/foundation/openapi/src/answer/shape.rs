//! What is left of a JSON body: selected, dropped, cut and flattened. Must not know what a body means.

use std::collections::HashSet;

use serde_json::{Map, Value};
use serde_json_path::JsonPath;

/// What is done to a body, in this order.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// What stays; empty: all.
    pub select: Vec<JsonPath>,
    /// What goes.
    pub drop: Vec<JsonPath>,
    /// How many items of each list stay.
    pub limit: Option<usize>,
    /// Whether objects in objects become members with dots in their names.
    pub flatten: bool,
}

impl Shape {
    /// Reads paths (RFC 9535); an error says what is wrong with one.
    pub fn paths(texts: &[String]) -> Result<Vec<JsonPath>, (String, String)> {
        let parse = |text: &String| JsonPath::parse(text).map_err(|error| (text.clone(), error.to_string()));
        texts.iter().map(parse).collect()
    }

    /// Whether it changes nothing.
    pub const fn is_nothing(&self) -> bool {
        self.select.is_empty() && self.drop.is_empty() && self.limit.is_none() && !self.flatten
    }

    /// The shaped body, and what the reader should know about it.
    pub fn apply(&self, mut value: Value) -> (Value, Vec<String>) {
        let mut notes = Vec::new();
        if !self.select.is_empty() {
            let places = places(&self.select, &value);
            if places.is_empty() {
                notes.push("The answer has nothing of what is selected; it is here as a whole".to_owned());
            } else {
                value = selected(value, &places);
            }
        }
        for place in places(&self.drop, &value).into_iter().rev() {
            remove(&mut value, &place);
        }
        if let Some(limit) = self.limit {
            let cut = cut(&mut value, limit);
            if cut > 0 {
                notes.push(format!("Lists are cut to {limit} items; {cut} items are left out"));
            }
        }
        if self.flatten {
            value = flattened(value);
        }
        (value, notes)
    }
}

/// The places that paths lead to, in the order of the body for each path.
fn places(paths: &[JsonPath], value: &Value) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for path in paths {
        places.extend(path.query_located(value).iter().map(|node| node.location().to_json_pointer()));
    }
    places
}

fn selected(value: Value, places: &[String]) -> Value {
    let whole: HashSet<&str> = places.iter().map(String::as_str).collect();
    let mut above = HashSet::new();
    for place in places {
        above.extend(place.match_indices('/').map(|(at, _)| &place[..at]));
    }
    kept(value, "", &whole, &above).unwrap_or(Value::Null)
}

fn kept(value: Value, at: &str, whole: &HashSet<&str>, above: &HashSet<&str>) -> Option<Value> {
    if whole.contains(at) {
        return Some(value);
    }
    if !above.contains(at) {
        return None;
    }
    match value {
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Some(items.filter_map(|(index, item)| kept(item, &format!("{at}/{index}"), whole, above)).collect())
        }
        Value::Object(members) => {
            let kept = |(name, value)| {
                Some((String::clone(&name), kept(value, &wire::pointer::member(at, &name), whole, above)?))
            };
            Some(Value::Object(members.into_iter().filter_map(kept).collect()))
        }
        _ => None,
    }
}

fn remove(value: &mut Value, place: &str) {
    let Some((parent, last)) = place.rsplit_once('/') else {
        *value = Value::Null;
        return;
    };
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.shift_remove(&wire::pointer::unescape(last))),
        Some(Value::Array(items)) => {
            if let Some(index) = last.parse().ok().filter(|&index: &usize| index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// Cuts all lists; how many items are gone.
fn cut(value: &mut Value, limit: usize) -> usize {
    match value {
        Value::Array(items) => {
            let gone = items.len().saturating_sub(limit);
            items.truncate(limit);
            gone + items.iter_mut().map(|item| cut(item, limit)).sum::<usize>()
        }
        Value::Object(members) => members.iter_mut().map(|(_, value)| cut(value, limit)).sum(),
        _ => 0,
    }
}

fn flattened(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(flattened).collect(),
        Value::Object(members) => {
            let mut flat = Map::new();
            for (name, value) in members {
                match flattened(value) {
                    Value::Object(inner) if !inner.is_empty() => {
                        flat.extend(inner.into_iter().map(|(below, value)| (format!("{name}.{below}"), value)));
                    }
                    value => drop(flat.insert(name, value)),
                }
            }
            Value::Object(flat)
        }
        value => value,
    }
}
