//! Members of a mapping: which there are, and what kind of value each has. Its errors show keys, never values.

use document::{Content, Entry, FileError, Node, Position, nearest, quoted};

use super::Reader;

/// The members of a mapping with fixed names.
pub(super) struct Members<'n> {
    entries: &'n [Entry],
    /// Whether it had others: what is missing may be what was misspelt.
    pub(super) has_unknown: bool,
}

impl<'n> Members<'n> {
    pub(super) fn get(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

impl Reader<'_> {
    pub(super) fn error(&mut self, at: Position, what: impl Into<String>, remedy: impl Into<String>) {
        self.errors.push(FileError::new(at, what, remedy));
    }

    /// Reports a value of the wrong kind. `name` is written as it stands in the message.
    pub(super) fn wrong_type(&mut self, name: &str, at: Position, node: &Node, expected: &str, example: &str) {
        let what = match node.content {
            Content::Null => format!("{name} has no value"),
            ref other => format!("{name} {}, not {expected}", is(other)),
        };
        let unquoted = expected.starts_with("a text") && matches!(node.content, Content::Number(_) | Content::Bool(_));
        self.error(at, what, if unquoted { "put the value in quotes" } else { example });
    }

    /// The members of a mapping; those with names that are not `known` are errors.
    pub(super) fn members<'n>(
        &mut self,
        name: &str,
        at: Position,
        node: &'n Node,
        known: &[&str],
    ) -> Option<Members<'n>> {
        let Content::Map(entries) = &node.content else {
            let example = format!("a mapping with {}", known_keys(known));
            self.wrong_type(name, at, node, "a mapping", &example);
            return None;
        };
        let mut has_unknown = false;
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            has_unknown = true;
            let what = format!("the key {} is unknown here", quoted(&entry.key));
            self.error(entry.at, what, nearest(&entry.key, known.iter().copied()));
        }
        Some(Members { entries, has_unknown })
    }

    /// A text that is not empty.
    pub(super) fn text<'n>(&mut self, entry: &'n Entry) -> Option<&'n str> {
        let name = quoted(&entry.key);
        match &entry.node.content {
            Content::Text(text) if text.is_empty() => {
                self.error(entry.at, format!("{name} is empty"), "add a value, or remove the key");
                None
            }
            Content::Text(text) => Some(text),
            _ => {
                self.wrong_type(&name, entry.at, &entry.node, "a text", "a text on one line");
                None
            }
        }
    }

    /// The texts of a list; they may be empty.
    pub(super) fn texts<'n>(&mut self, entry: &'n Entry, example: &str) -> Vec<(&'n str, Position)> {
        let Content::List(items) = &entry.node.content else {
            self.wrong_type(&quoted(&entry.key), entry.at, &entry.node, "a list", &format!("a list: {example}"));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            if let Content::Text(text) = &item.content {
                texts.push((text.as_str(), item.at));
            } else {
                let name = format!("an entry of {}", quoted(&entry.key));
                self.wrong_type(&name, item.at, item, "a text", &format!("a list of texts: {example}"));
            }
        }
        texts
    }
}

/// What a value is, with its verb.
pub(super) const fn is(content: &Content) -> &'static str {
    match content {
        Content::Null => "is empty",
        Content::Bool(_) => "is true or false",
        Content::Number(_) => "is a number",
        Content::Text(_) => "is a text",
        Content::List(_) => "is a list",
        Content::Map(_) => "is a mapping",
    }
}

fn known_keys(known: &[&str]) -> String {
    let keys: Vec<String> = known.iter().filter(|key| !key.starts_with('$')).map(|key| format!("`{key}`")).collect();
    keys.join(", ")
}
