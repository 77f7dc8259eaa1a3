//! `{{fixture}}`: a directory from the command line of mcp-assert.

use document::FileError;
use serde_json::{Map, Value, json};

use crate::advice::{Advice, Words};
use crate::import::read::Source;
use wire::pointer;

const MARK: &str = "{{fixture}}";

/// The file with the directory filled in. `None` if it is needed but unknown.
pub(super) fn filled(
    source: &Source,
    (fixture, words): (Option<&str>, Words),
    errors: &mut Vec<FileError>,
) -> Option<Source> {
    let mut missing = None;
    let root = members(&source.root, "", fixture, &mut missing);
    if let Some(pointer) = missing {
        let what = format!("{MARK} stands for a directory from the command line of mcp-assert");
        errors.push(source.error(&pointer, what, words(&Advice::NameFixture)));
        return None;
    }
    Some(source.with(root))
}

fn members(
    all: &Map<String, Value>,
    pointer: &str,
    fixture: Option<&str>,
    missing: &mut Option<String>,
) -> Map<String, Value> {
    let member = |(name, value): (&String, &Value)| {
        let below = pointer::member(pointer, name);
        (name.clone(), one(value, &below, fixture, missing))
    };
    all.iter().map(member).collect()
}

fn one(value: &Value, pointer: &str, fixture: Option<&str>, missing: &mut Option<String>) -> Value {
    match value {
        Value::String(text) if text.contains(MARK) => {
            let Some(fixture) = fixture else {
                missing.get_or_insert_with(|| pointer.to_owned());
                return value.clone();
            };
            json!(text.replace(MARK, fixture))
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(at, item)| one(item, &format!("{pointer}/{at}"), fixture, missing)).collect()
        }
        Value::Object(all) => Value::Object(members(all, pointer, fixture, missing)),
        value => value.clone(),
    }
}
