//! Values that a peer was seen to use, by the names under which they stood: what its tools, prompts and templates take is
//! mostly what its own answers hold.

use std::collections::BTreeMap;

use schema::Validator;
use serde_json::Value;

use super::words;

/// How many values are kept of one name, how many names, and how many words without one.
const OF_ONE_NAME: usize = 12;
const NAMES: usize = 400;
const WORDS: usize = 80;
/// How long a value may be, in bytes.
const LONGEST: usize = 200;
/// How deep answers are looked into, and how many items of a list.
const DEPTH: usize = 10;
const ITEMS: usize = 24;
/// How many values are proposed for one place.
const PROPOSED: usize = 6;

/// Members that say how content is meant, and are no data of the peer's.
const ENVELOPE: [&str; 7] = ["_meta", "type", "mimeType", "data", "blob", "annotations", "icons"];

/// The members of results in which a peer's own data stands.
const DATA: [&str; 4] = ["structuredContent", "content", "contents", "resources"];

/// The values, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    named: BTreeMap<String, Vec<Value>>,
    words: Vec<Value>,
}

impl Values {
    /// Remembers a value of that name.
    pub fn note(&mut self, name: &str, value: &Value) {
        let name = plain(name);
        if !is_useful(value) || (self.named.len() >= NAMES && !self.named.contains_key(&name)) {
            return;
        }
        let values = self.named.entry(name).or_default();
        if values.len() < OF_ONE_NAME && !values.contains(value) {
            values.push(value.clone());
        }
    }

    /// Remembers what a text names.
    pub fn read_text(&mut self, text: &str) {
        for word in words::named(text) {
            let word = Value::String(word);
            if self.words.len() < WORDS && !self.words.contains(&word) {
                self.words.push(word);
            }
        }
    }

    /// Remembers what stands in a result.
    pub fn read(&mut self, result: &Value) {
        for data in DATA.iter().filter_map(|member| result.get(member)) {
            self.walk("", data, DEPTH);
        }
    }

    fn walk(&mut self, name: &str, value: &Value, room: usize) {
        let Some(room) = room.checked_sub(1) else { return };
        match value {
            Value::Object(members) => {
                for (member, value) in members.iter().filter(|(member, _)| !ENVELOPE.contains(&member.as_str())) {
                    self.walk(member, value, room);
                }
            }
            Value::Array(items) => items.iter().take(ITEMS).for_each(|item| self.walk(name, item, room)),
            Value::String(text) if name == "text" => self.read_content(text, room),
            value => self.note(name, value),
        }
    }

    /// A text that may be JSON.
    fn read_content(&mut self, text: &str, room: usize) {
        match serde_json::from_str(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => self.walk("", &value, room),
            _ => self.read_text(text),
        }
    }

    /// Values that may be meant for a place of that name, as far as its schema admits them: those of the same name, those of
    /// a name that ends alike, and, where the schema says how they look, any other.
    pub fn proposed(&self, name: &str, schema: &Value) -> Vec<Value> {
        let name = plain(name);
        let alike =
            |other: &str| other.len() > 2 && name.len() > 2 && (name.ends_with(other) || other.ends_with(&name));
        let exact = self.named.get(&name).into_iter().flatten();
        let similar = self.named.iter().filter(|(other, _)| **other != name && alike(other)).flat_map(|(_, v)| v);
        let says_how = ["pattern", "format"].iter().any(|keyword| schema.get(keyword).is_some());
        let others = self.words.iter().chain(self.named.values().flatten()).filter(|_| says_how);
        let Ok(validator) = Validator::with_formats(schema) else { return Vec::new() };
        let mut proposed: Vec<Value> = Vec::new();
        for value in exact.chain(similar).chain(others).filter(|value| validator.is_valid(value)) {
            if proposed.len() < PROPOSED && !proposed.contains(value) {
                proposed.push(value.clone());
            }
        }
        proposed
    }
}

/// A name without what distinguishes ways of writing it.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Texts that could name something, and numbers. Not addresses: a tool that is given one may go there.
fn is_useful(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            !text.is_empty() && text.len() <= LONGEST && !text.starts_with("http:") && !text.starts_with("https:")
        }
        Value::Number(_) => true,
        _ => false,
    }
}
