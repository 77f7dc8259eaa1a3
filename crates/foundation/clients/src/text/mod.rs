//! Changes of one value in JSON with comments, YAML or TOML: every byte outside that value stays. Knows nothing of clients.

mod brackets;
mod json;
mod json_edit;
mod places;
mod render;
mod toml;
mod toml_inline;
mod yaml;

use document::FileError;
use serde::Deserialize;
use serde_json::{Map, Value};

pub use places::{Places, Segment};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON; comments and trailing commas are read, too.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// The format that the name of a file ends in.
    pub fn of_path(path: &std::path::Path) -> Self {
        match path.extension().map(|ending| ending.to_ascii_lowercase()) {
            Some(ending) if ending == "yaml" || ending == "yml" => Self::Yaml,
            Some(ending) if ending == "toml" => Self::Toml,
            _ => Self::Json,
        }
    }
}

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Key(String),
    /// The item of a list in which a member has this text.
    Item(&'static str, String),
}

impl Step {
    /// A member of an object.
    pub fn key(name: &str) -> Self {
        Self::Key(name.to_owned())
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Puts a value at a place, with the objects on the way to it that are missing.
    Set(Vec<Step>, Value),
    /// Removes the value at a place.
    Remove(Vec<Step>),
}

const BOM: char = '\u{feff}';

/// The value of a whole file; an empty one is an empty object.
pub fn read(text: &str, format: Format) -> Result<Value, FileError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match format {
        Format::Json => json::read(text),
        Format::Yaml => yaml::read(text),
        Format::Toml => toml::read(text),
    }
}

/// The text with the changes made one after the other. An error leaves nothing half done.
pub fn apply(text: &str, format: Format, changes: &[Change]) -> Result<String, FileError> {
    Ok(apply_to(text, read(text, format)?, format, changes)?.0)
}

/// The same, where the value of the text is known; also gives the value of the new text.
pub fn apply_to(
    text: &str,
    mut value: Value,
    format: Format,
    changes: &[Change],
) -> Result<(String, Value), FileError> {
    let (bom, body) = match text.strip_prefix(BOM) {
        Some(body) => (&text[..BOM.len_utf8()], body),
        None => ("", text),
    };
    let mut body = body.to_owned();
    for change in changes {
        body = one(&body, &mut value, format, change)?;
    }
    Ok((format!("{bom}{body}"), value))
}

/// Makes one change, and reads the result back: a text that came out differently than the value did is never handed out.
fn one(text: &str, value: &mut Value, format: Format, change: &Change) -> Result<String, FileError> {
    change_value(value, change)?;
    let changed = match (format, change) {
        (Format::Json, Change::Set(path, value)) => json_edit::set(text, path, value),
        (Format::Json, Change::Remove(path)) => json_edit::remove(text, path),
        (Format::Yaml, Change::Set(path, value)) => yaml::set(text, path, value),
        (Format::Yaml, Change::Remove(path)) => yaml::remove(text, path),
        (Format::Toml, Change::Set(path, value)) => toml::set(text, path, value),
        (Format::Toml, Change::Remove(path)) => toml::remove(text, path),
    }?;
    let is_expected = match format {
        Format::Toml => is_expected_toml(text, &changed, value, change)?,
        format => read(&changed, format).is_ok_and(|found| found == *value),
    };
    is_expected.then_some(changed).ok_or_else(|| unsupported("the entry is written in a way that proof cannot change"))
}

/// Whether a change of TOML did what it should. JSON has no times: they are compared as what they are, not as texts.
fn is_expected_toml(text: &str, changed: &str, value: &mut Value, change: &Change) -> Result<bool, FileError> {
    let mut expected = toml::read_exact(text)?;
    change_value(&mut expected, change)?;
    let Ok(found) = toml::read_exact(changed) else { return Ok(false) };
    if found == expected {
        return Ok(true);
    }
    // A table that had a header for its children alone goes with the last of them.
    let Change::Remove(path) = change else { return Ok(false) };
    let is_without_parent = without_empty_parent(&expected, path).is_some_and(|without| without == found);
    if is_without_parent {
        *value = toml::read(changed)?;
    }
    Ok(is_without_parent)
}

fn without_empty_parent(value: &Value, path: &[Step]) -> Option<Value> {
    let (_, parent) = path.split_last()?;
    at(value, parent)
        .filter(|parent| parent.as_object().is_some_and(Map::is_empty) || **parent == Value::Array(Vec::new()))?;
    let mut value = value.clone();
    remove_value(&mut value, parent);
    Some(value)
}

fn unsupported(what: &str) -> FileError {
    FileError::new(None, what, "change this entry by hand in an editor")
}

/// The value at a place.
pub fn at<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Item(member, name) => value.as_array()?.iter().find(|item| item[*member] == *name.as_str()),
    })
}

fn change_value(value: &mut Value, change: &Change) -> Result<(), FileError> {
    match change {
        Change::Set(path, new) => set_value(value, path, new),
        Change::Remove(path) => {
            remove_value(value, path);
            Ok(())
        }
    }
}

fn set_value(value: &mut Value, path: &[Step], new: &Value) -> Result<(), FileError> {
    let Some((step, rest)) = path.split_first() else {
        *value = new.clone();
        return Ok(());
    };
    let misfit = || unsupported("the place for the entry holds a value of another kind");
    match step {
        Step::Key(key) => {
            if value.is_null() {
                *value = Value::Object(Map::new());
            }
            let member = value.as_object_mut().ok_or_else(misfit)?.entry(key).or_insert(Value::Null);
            set_value(member, rest, new)
        }
        Step::Item(member, name) => {
            if value.is_null() {
                *value = Value::Array(Vec::new());
            }
            let items = value.as_array_mut().ok_or_else(misfit)?;
            if let Some(item) = items.iter_mut().find(|item| item[*member] == *name.as_str()) {
                return set_value(item, rest, new);
            }
            let mut item = Value::Null;
            set_value(&mut item, rest, new)?;
            items.push(item);
            Ok(())
        }
    }
}

fn remove_value(value: &mut Value, path: &[Step]) {
    let Some((last, way)) = path.split_last() else { return };
    let parent = way.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Item(member, name) => value.as_array_mut()?.iter_mut().find(|item| item[*member] == *name.as_str()),
    });
    match (last, parent) {
        (Step::Key(key), Some(Value::Object(members))) => {
            members.shift_remove(key);
        }
        (Step::Item(member, name), Some(Value::Array(items))) => {
            if let Some(index) = items.iter().position(|item| item[*member] == *name.as_str()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// The rest of a path whose beginning is missing, as a value around `new`.
fn wrapped(rest: &[Step], new: &Value) -> Value {
    rest.iter().rev().fold(new.clone(), |inner, step| match step {
        Step::Key(key) => Value::Object(Map::from_iter([(key.clone(), inner)])),
        Step::Item(..) => Value::Array(vec![inner]),
    })
}

/// The line break of a text.
fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The text with a range replaced.
fn spliced(text: &str, range: std::ops::Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

#[cfg(test)]
mod tests;
