//! OpenAPI Overlay 1.0: actions that change a description before it is read, each at the places that a JSONPath names.

use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};
use serde_json_path::{JsonPath, NormalizedPath, PathElement};

/// How many actions an overlay may have.
const ACTIONS: usize = 20_000;
/// How many places all actions together may change.
const PLACES: usize = 1_000_000;
/// How much an overlay may add altogether, in bytes of JSON.
const ADDED: usize = 64 << 20;

/// What is wrong with an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayError {
    /// Where: a JSON pointer into the overlay.
    pub at: String,
    /// What happened.
    pub what: String,
    /// What to try.
    pub remedy: &'static str,
}

impl Display for OverlayError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "the overlay" } else { &self.at };
        write!(f, "{} – {at} – try {}", wire::escape::line(&self.what), self.remedy)
    }
}

impl std::error::Error for OverlayError {}

/// What an overlay did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// How many places were updated.
    pub updated: usize,
    /// How many places were removed.
    pub removed: usize,
    /// Actions that found no place: pointers into the overlay.
    pub idle: Vec<String>,
}

struct Budget {
    places: usize,
    added: usize,
}

/// Applies an overlay. An error leaves the description half changed: it is not to be used then.
pub fn apply(description: &mut Value, overlay: &Value) -> Result<Applied, OverlayError> {
    let version = overlay.get("overlay").map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
    match version {
        Some(version) if version == "1" || version.starts_with("1.") => {}
        Some(version) => return Err(error("/overlay", format!("`overlay` is {version}"), "`overlay: 1.0.0`")),
        None => return Err(error("", "this is no overlay: it has no `overlay`".to_owned(), "`overlay: 1.0.0` first")),
    }
    let actions = overlay.get("actions").and_then(Value::as_array);
    let Some(actions) = actions.filter(|list| list.len() <= ACTIONS) else {
        return Err(error("/actions", format!("`actions` is no list of at most {ACTIONS}"), "a list of actions"));
    };
    let mut applied = Applied::default();
    let mut budget = Budget { places: PLACES, added: ADDED };
    for (index, action) in actions.iter().enumerate() {
        act(description, action, &format!("/actions/{index}"), &mut budget, &mut applied)?;
    }
    Ok(applied)
}

fn act(
    description: &mut Value,
    action: &Value,
    at: &str,
    budget: &mut Budget,
    applied: &mut Applied,
) -> Result<(), OverlayError> {
    let target = action.get("target").and_then(Value::as_str);
    let Some(target) = target else {
        return Err(error(at, "an action has no `target`".to_owned(), "a JSONPath: `target: $.paths['/pets'].get`"));
    };
    let path = JsonPath::parse(target).map_err(|problem| {
        error(&format!("{at}/target"), format!("`{target}` is no JSONPath: {problem}"), "a JSONPath as RFC 9535 has it")
    })?;
    let mut places: Vec<String> =
        path.query_located(description).into_iter().map(|one| pointer(one.location())).collect();
    budget.places = budget.places.checked_sub(places.len()).ok_or_else(|| too_much(at))?;
    if places.is_empty() {
        applied.idle.push(at.to_owned());
        return Ok(());
    }
    if action.get("remove") == Some(&Value::Bool(true)) {
        // From the end, so that the places of those before in a list stay what they are.
        places.sort_by(|one, other| order(other, one));
        places.dedup();
        for place in &places {
            remove(description, place)
                .ok_or_else(|| error(at, "the whole description cannot be removed".to_owned(), "a target below `$`"))?;
        }
        applied.removed += places.len();
        return Ok(());
    }
    let Some(update) = action.get("update") else {
        return Err(error(at, "an action has neither `update` nor `remove: true`".to_owned(), "one of them"));
    };
    let size = crate::schemas::size(update).saturating_mul(places.len());
    budget.added = budget.added.checked_sub(size).ok_or_else(|| too_much(at))?;
    for place in &places {
        let Some(node) = description.pointer_mut(place) else { continue };
        if !node.is_object() && !node.is_array() {
            let what = format!("`{target}` is a value without members");
            return Err(error(at, what, "the object around it as the target, and the member in `update`"));
        }
        merge(node, update);
        applied.updated += 1;
    }
    Ok(())
}

fn too_much(at: &str) -> OverlayError {
    error(at, "the overlay changes too much".to_owned(), "targets that name fewer places")
}

fn error(at: &str, what: String, remedy: &'static str) -> OverlayError {
    OverlayError { at: at.to_owned(), what, remedy }
}

fn pointer(path: &NormalizedPath<'_>) -> String {
    let mut pointer = String::new();
    for element in path.iter() {
        pointer = match element {
            PathElement::Name(name) => wire::pointer::member(&pointer, name),
            PathElement::Index(index) => format!("{pointer}/{index}"),
        };
    }
    pointer
}

/// Indexes by number, everything else by text; what is deeper comes later.
fn order(one: &str, other: &str) -> std::cmp::Ordering {
    let key = |pointer: &str| -> Vec<(Option<usize>, String)> {
        pointer.split('/').skip(1).map(|part| (part.parse().ok(), part.to_owned())).collect()
    };
    key(one).cmp(&key(other))
}

fn remove(description: &mut Value, place: &str) -> Option<()> {
    let (parent, name) = place.rsplit_once('/')?;
    // What a removed parent held is gone already.
    let Some(parent) = description.pointer_mut(parent) else { return Some(()) };
    match parent {
        Value::Object(members) => {
            members.shift_remove(&wire::pointer::unescape(name));
        }
        Value::Array(items) => {
            if let Some(index) = name.parse().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
    Some(())
}

/// Objects are merged, lists are joined, everything else is replaced.
fn merge(node: &mut Value, update: &Value) {
    match (node, update) {
        (Value::Object(members), Value::Object(update)) => merge_members(members, update),
        (Value::Array(items), Value::Array(update)) => items.extend(update.iter().cloned()),
        // The target is a list: the update is an item of it.
        (Value::Array(items), update) => items.push(update.clone()),
        (node, update) => *node = update.clone(),
    }
}

fn merge_members(members: &mut Map<String, Value>, update: &Map<String, Value>) {
    for (name, value) in update {
        match members.get_mut(name) {
            Some(known) if same_kind(known, value) => merge(known, value),
            Some(known) => *known = value.clone(),
            None => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}

fn same_kind(one: &Value, other: &Value) -> bool {
    (one.is_object() && other.is_object()) || (one.is_array() && other.is_array())
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
