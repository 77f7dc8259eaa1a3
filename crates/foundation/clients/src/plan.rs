//! What a verb changes in one file: the whole text before, the whole text after. Knows no file system.

use document::FileError;
use serde_json::Value;

use crate::catalogue::Client;
use crate::merge::merged;
use crate::scope::Scope;
use crate::server::Launch;
use crate::shape::{Entry, is_question};
use crate::text::{self, Change, Segment, Step};

/// A file of a client, and in it the part of one scope.
#[derive(Clone, Copy)]
pub struct Target<'t> {
    /// The client.
    pub client: &'t Client,
    /// The scope.
    pub scope: Scope,
    /// The project's folder, for servers of one project in the user's file.
    pub project: &'t str,
}

/// What becomes of the members of an entry that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// All stay that the server does not name, variables and headers among them.
    Merge,
    /// What says how the server is reached becomes that of the server alone; choices of the user stay.
    Declare,
    /// Nothing stays, and another server may have the name.
    Replace,
}

/// How an entry came to be what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Added,
    /// It was there, and is changed.
    Changed,
    /// It was there as it should be.
    Unchanged,
}

/// Why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It cannot be read, or not be changed.
    File(FileError),
    /// Another server has the name.
    OtherServer {
        /// What the name stands for now.
        is: String,
        /// What it would stand for.
        wanted: String,
    },
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// An entry that a file holds.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its scope.
    pub scope: Scope,
    /// The project's folder, where the scope is local.
    pub project: Option<String>,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// The way to it in the file.
    pub way: Vec<Segment>,
}

impl Target<'_> {
    fn way(&self, value: &Value) -> (Vec<Step>, bool) {
        self.client.way(value, self.scope, self.project)
    }

    /// Whether the file has the other form of two.
    pub fn is_also(&self, value: &Value) -> bool {
        self.way(value).1
    }

    /// The way to a server in a file that holds `value`.
    pub fn way_to(&self, value: &Value, server: &str) -> Vec<Step> {
        let mut way = self.way(value).0;
        way.push(self.client.step(server));
        way
    }

    /// The text with a server.
    pub fn add(&self, before: &str, name: &str, entry: &Entry, manner: Manner) -> Result<(String, Outcome), Problem> {
        let value = text::read(before, self.client.format)?;
        let (text, _, outcome) = self.add_to(before, &value, name, entry, manner)?;
        Ok((text, outcome))
    }

    /// The same, where the value of the text is known; also gives that of the new text.
    pub fn add_to(
        &self,
        before: &str,
        value: &Value,
        name: &str,
        entry: &Entry,
        manner: Manner,
    ) -> Result<(String, Value, Outcome), Problem> {
        let mut way = self.way(value).0;
        way.push(self.client.step(name));
        let old = text::at(value, &way).filter(|old| !old.is_null());
        let mut changes = Vec::new();
        match old {
            Some(old) => {
                let new = match manner {
                    Manner::Replace => entry.value.clone(),
                    manner => {
                        check_identity(old, &entry.value)?;
                        merged(old, entry, manner)
                    }
                };
                differences(&way, old, &new, &mut changes);
            }
            None => changes.push(Change::Set(way, entry.value.clone())),
        }
        for input in &entry.inputs {
            let id = input["id"].as_str().unwrap_or_default();
            let place = vec![Step::key("inputs"), Step::Item("id", id.to_owned())];
            if text::at(value, &place).is_none() {
                changes.push(Change::Set(place, input.clone()));
            }
        }
        let outcome = match old {
            None => Outcome::Added,
            Some(_) if changes.is_empty() => Outcome::Unchanged,
            Some(_) => Outcome::Changed,
        };
        let (text, value) = text::apply_to(before, value.clone(), self.client.format, &changes)?;
        Ok((text, value, outcome))
    }

    /// The text without a server; `None` where it has none of that name.
    pub fn remove(&self, before: &str, name: &str) -> Result<Option<String>, FileError> {
        let value = text::read(before, self.client.format)?;
        let mut way = self.way(&value).0;
        way.push(self.client.step(name));
        let Some(entry) = text::at(&value, &way) else { return Ok(None) };
        let mut changes = self.unused_inputs(&value, name, entry);
        changes.push(Change::Remove(way));
        Ok(Some(text::apply_to(before, value, self.client.format, &changes)?.0))
    }

    /// Removes the questions that `add` wrote for a server, where no other entry refers to them.
    fn unused_inputs(&self, value: &Value, name: &str, entry: &Value) -> Vec<Change> {
        if !self.client.inputs {
            return Vec::new();
        }
        let references = |id: &str, value: &Value| value.to_string().matches(&format!("${{input:{id}}}")).count();
        let inputs = value["inputs"].as_array().into_iter().flatten();
        let ids = inputs.filter(|input| is_question(input, name)).filter_map(|input| input["id"].as_str());
        let unused = ids.filter(|id| references(id, entry) > 0 && references(id, value) == references(id, entry));
        unused.map(|id| Change::Remove(vec![Step::key("inputs"), Step::Item("id", id.to_owned())])).collect()
    }
}

/// Every entry in a file of a client, also one that is no server yet. `scope` is that of the file; a user's file may hold some of projects.
pub fn held(client: &Client, scope: Scope, value: &Value) -> Vec<Held> {
    let mut found = Vec::new();
    collect(client, scope, None, &client.way(value, scope, "").0, value, &mut found);
    if client.local && scope == Scope::User {
        for project in value["projects"].as_object().into_iter().flat_map(|projects| projects.keys()) {
            let way = client.way(value, Scope::Local, project).0;
            collect(client, Scope::Local, Some(project), &way, value, &mut found);
        }
    }
    found
}

fn collect(client: &Client, scope: Scope, project: Option<&str>, way: &[Step], value: &Value, found: &mut Vec<Held>) {
    let Some(servers) = text::at(value, way) else { return };
    let keys = way.iter().filter_map(|step| match step {
        Step::Key(key) => Some(Segment::Key(key.clone())),
        Step::Item(..) => None,
    });
    let mut add = |last: Segment, name: &str, value: &Value| {
        let (name, project) = (name.to_owned(), project.map(str::to_owned));
        let way = keys.clone().chain([last]).collect();
        found.push(Held { scope, project, name, value: value.clone(), way });
    };
    match servers {
        Value::Object(members) if !client.list => {
            let entries = members.iter().filter(|(_, value)| is_entry(value));
            entries.for_each(|(name, value)| add(Segment::Key(name.clone()), name, value));
        }
        Value::Array(items) if client.list => items
            .iter()
            .enumerate()
            .filter(|(_, item)| is_entry(item))
            .for_each(|(index, item)| add(Segment::Index(index), item["name"].as_str().unwrap_or("unnamed"), item)),
        _ => {}
    }
}

/// What stands in the place of servers and is not one: what each is, and of which kind.
pub fn misfits(client: &Client, scope: Scope, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    misfits_at(client, &client.way(value, scope, "").0, value, &mut found);
    if client.local && scope == Scope::User {
        for project in value["projects"].as_object().into_iter().flat_map(|projects| projects.keys()) {
            misfits_at(client, &client.way(value, Scope::Local, project).0, value, &mut found);
        }
    }
    found
}

fn misfits_at(client: &Client, way: &[Step], value: &Value, found: &mut Vec<String>) {
    let Some(servers) = text::at(value, way) else { return };
    let wanted = if client.list { "a list" } else { "a mapping" };
    let is_other = |value: &Value| !value.is_object() && !value.is_null();
    match servers {
        Value::Object(members) if !client.list => {
            for (name, value) in members.iter().filter(|(_, value)| is_other(value)) {
                found.push(format!("the server {} is {}, expected a mapping", document::quoted(name), kind(value)));
            }
        }
        Value::Array(items) if client.list => {
            for (index, value) in items.iter().enumerate().filter(|(_, value)| is_other(value)) {
                found.push(format!("server {} of the list is {}, expected a mapping", index + 1, kind(value)));
            }
        }
        Value::Null => {}
        other => {
            let name = way.iter().rev().find_map(|step| match step {
                Step::Key(key) => Some(document::quoted(key)),
                Step::Item(..) => None,
            });
            let name = name.unwrap_or_else(|| "the place of the servers".to_owned());
            found.push(format!("{name} is {}, expected {wanted}", kind(other)));
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// Whether a value is the entry of a server, also one without a command: `{ "disabled": true }`.
fn is_entry(value: &Value) -> bool {
    // Goose lists its own extensions in the same place.
    let is_own = value["bundled"] == true || matches!(value["type"].as_str(), Some("builtin" | "platform"));
    (value.is_object() || value.is_null()) && !is_own
}

fn check_identity(old: &Value, new: &Value) -> Result<(), Problem> {
    let identity = |value: &Value| Launch::of_entry(value).map(|launch| launch.identity()).unwrap_or_default();
    let (is, wanted) = (identity(old), identity(new));
    if is == wanted { Ok(()) } else { Err(Problem::OtherServer { is, wanted }) }
}

/// The smallest changes from one value to the other: comments between members stay.
fn differences(way: &[Step], old: &Value, new: &Value, changes: &mut Vec<Change>) {
    if old == new {
        return;
    }
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        changes.push(Change::Set(way.to_vec(), new.clone()));
        return;
    };
    let inner = |key: &str| way.iter().cloned().chain([Step::key(key)]).collect::<Vec<_>>();
    changes.extend(before.keys().filter(|key| !after.contains_key(*key)).map(|key| Change::Remove(inner(key))));
    for (key, value) in after {
        match before.get(key) {
            Some(old) => differences(&inner(key), old, value, changes),
            None => changes.push(Change::Set(inner(key), value.clone())),
        }
    }
}
