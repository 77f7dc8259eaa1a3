//! Which definitions differ between two lists of the same server.

use serde_json::Value;

/// How many changes are reported.
const MOST: usize = 50;

/// A tool whose definition differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The tool's name.
    pub name: String,
    /// JSON pointer of the text that differs.
    pub pointer: String,
    /// The text in the second list.
    pub text: String,
}

/// Tools of both lists whose texts for the model differ in more than numbers and the order of words. Tools that come or go are no change: lists may
/// depend on what a client can do.
pub fn changes(first: &[Value], second: &[Value]) -> Vec<Change> {
    let named = |tool: &&Value, name: &str| tool["name"] == name;
    let mut found = Vec::new();
    for tool in second {
        let Some(name) = tool["name"].as_str() else { continue };
        // A name that is listed twice has no one definition.
        let mut before = first.iter().filter(|one| named(one, name));
        let (Some(one), None) = (before.next(), before.next()) else { continue };
        if second.iter().filter(|one| named(one, name)).count() > 1 {
            continue;
        }
        if let Some((pointer, text)) = difference(one, tool, "", 0) {
            found.push(Change { name: name.to_owned(), pointer, text });
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

/// The first description or title that is another. Other members may depend on what a client can do with them.
fn difference(one: &Value, other: &Value, pointer: &str, depth: usize) -> Option<(String, String)> {
    if depth > 16 {
        return None;
    }
    let members = other.as_object()?;
    members.iter().find_map(|(name, member)| {
        let at = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        match (one.get(name), member) {
            (before, Value::String(text)) if name == "description" || name == "title" => {
                let before = before.and_then(Value::as_str).unwrap_or_default();
                (plain(before) != plain(text)).then(|| (at, text.clone()))
            }
            (Some(before), Value::Object(_)) => difference(before, member, &at, depth + 1),
            _ => None,
        }
    })
}

/// The words of a text without their digits, in order: a time in it, or a set that is written in another order, is no other
/// definition.
fn plain(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    let mut words: Vec<String> = words.map(|word| word.chars().filter(|c| !c.is_ascii_digit()).collect()).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words
}
