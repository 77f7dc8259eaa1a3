//! Where the free texts of a result stand. With an output schema, a text is free if the schema accepts another one in its place;
//! without one, if it has several words or its member is named like prose.

use std::collections::BTreeMap;

use schema::Validator;
use serde_json::Value;

use crate::words::words;

/// How many different texts are replaced in one result; the others stay.
const MOST: usize = 24;
/// How long a text is at least: a shorter one is a code.
const SHORTEST: usize = 2;
/// What a schema is asked about: no code, date, address or name of an enumeration.
const PROBE: &str = "Any text, as a person writes it";

/// The last word of members that hold no prose, whatever the schema says.
const CODES: [&str; 26] = [
    "id",
    "uuid",
    "guid",
    "key",
    "token",
    "cursor",
    "url",
    "uri",
    "href",
    "link",
    "path",
    "slug",
    "etag",
    "hash",
    "sha",
    "digest",
    "signature",
    "version",
    "type",
    "kind",
    "code",
    "locale",
    "language",
    "currency",
    "timezone",
    "mime",
];
/// The last word of members that hold prose, even if it is one word.
const PROSE: [&str; 17] = [
    "title",
    "description",
    "text",
    "body",
    "content",
    "summary",
    "message",
    "comment",
    "note",
    "notes",
    "abstract",
    "snippet",
    "reason",
    "explanation",
    "caption",
    "headline",
    "bio",
];

/// The different free texts of a result. Those that repeat an argument stay.
pub(super) fn texts(result: &Value, schema: Option<&Value>, arguments: &Value) -> Vec<String> {
    let mut given = Vec::new();
    scalars(arguments, &mut given);
    let validator = schema.and_then(|schema| Validator::new(schema).ok());
    let mut found: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        if found.len() < MOST && !given.iter().any(|one| one == text) && !found.iter().any(|one| one == text) {
            found.push(text.to_owned());
        }
    };
    if let Some(structured) = result.get("structuredContent") {
        match (&validator, schema) {
            (Some(validator), _) => free_by_schema(structured, validator).iter().for_each(|text| add(text)),
            // A schema that cannot be used says nothing about its texts.
            (None, Some(_)) => {}
            (None, None) => visit(&mut structured.clone(), "", &mut |name, text| add_prose(name, text, &mut add)),
        }
    }
    for text in blocks(result).filter_map(|block| block.get("text")?.as_str()) {
        match json_in(text) {
            Some(inner) if result.get("structuredContent") == Some(&inner) => {}
            Some(mut inner) => visit(&mut inner, "", &mut |name, text| add_prose(name, text, &mut add)),
            None if may_be_prose("", text) => add(text),
            None => {}
        }
    }
    found
}

/// A result with other texts in the place of its own.
pub(super) fn replaced(result: &Value, texts: &BTreeMap<&str, String>) -> Value {
    let mut result = result.clone();
    let mut replace = |_: &str, text: &mut String| {
        if let Some(new) = texts.get(text.as_str()) {
            text.clone_from(new);
        }
    };
    let before = result.get("structuredContent").cloned();
    if let Some(structured) = result.get_mut("structuredContent") {
        visit(structured, "", &mut replace);
    }
    let after = result.get("structuredContent").map(Value::to_string);
    for text in blocks_mut(&mut result).filter_map(|block| block.get_mut("text")) {
        let Value::String(text) = text else { continue };
        match json_in(text) {
            // The text form of the structured content says the same as that.
            Some(inner) if before.as_ref() == Some(&inner) => *text = after.clone().unwrap_or_default(),
            Some(mut inner) => {
                visit(&mut inner, "", &mut replace);
                *text = inner.to_string();
            }
            None if may_be_prose("", text) => replace("", text),
            None => {}
        }
    }
    result
}

/// The texts that a schema accepts other texts for.
fn free_by_schema(structured: &Value, validator: &Validator) -> Vec<String> {
    let mut count = 0;
    visit(&mut structured.clone(), "", &mut |_, _| count += 1);
    let mut free = Vec::new();
    for chosen in 0..count.min(MOST * 4) {
        let (mut probed, mut at, mut original) = (structured.clone(), 0, None);
        visit(&mut probed, "", &mut |_, text| {
            if at == chosen {
                original = Some(std::mem::replace(text, PROBE.to_owned()));
            }
            at += 1;
        });
        free.extend(original.filter(|_| validator.is_valid(&probed)));
    }
    free
}

fn add_prose(name: &str, text: &str, add: &mut impl FnMut(&str)) {
    let is_named = words(name).last().is_some_and(|last| PROSE.contains(&last.as_str()));
    if is_named || text.trim().contains(char::is_whitespace) {
        add(text);
    }
}

/// Visits every text that may be prose, with the name of its member. Items of a list have the name of the list.
fn visit(value: &mut Value, name: &str, each: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| visit(value, name, each)),
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, name, each)),
        Value::String(text) if may_be_prose(name, text) => each(name, text),
        _ => {}
    }
}

fn may_be_prose(name: &str, text: &str) -> bool {
    let is_code = words(name).last().is_some_and(|last| CODES.contains(&last.as_str()));
    let starts = |bytes: &[u8]| bytes.len() >= 10 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-';
    let is_address = !text.contains(char::is_whitespace) && (text.contains("://") || text.contains('@'));
    let has_letters = text.chars().filter(|c| c.is_alphabetic()).count() >= SHORTEST;
    let is_opaque = text.len() > 16 && !text.contains(char::is_whitespace);
    !is_code && has_letters && !is_address && !is_opaque && !starts(text.as_bytes())
}

/// The content of a tool's result, the messages of a prompt, the contents of a resource: what may have a text.
fn blocks(result: &Value) -> impl Iterator<Item = &Value> {
    let list = |name: &str| result.get(name).and_then(Value::as_array).into_iter().flatten();
    let messages = list("messages").filter_map(|message| message.get("content"));
    list("content").chain(messages).chain(list("contents")).filter(|block| is_text(block))
}

fn blocks_mut(result: &mut Value) -> impl Iterator<Item = &mut Value> {
    let lists = result.as_object_mut().into_iter().flatten();
    let lists = lists.filter(|(name, _)| ["content", "messages", "contents"].contains(&name.as_str()));
    let blocks = lists.flat_map(|(name, list)| {
        let is_messages = name == "messages";
        let items = list.as_array_mut().into_iter().flatten();
        items.filter_map(move |item| if is_messages { item.get_mut("content") } else { Some(item) })
    });
    blocks.filter(|block| is_text(block))
}

/// A resource of another type than text has a form that nothing here checks.
fn is_text(block: &Value) -> bool {
    block
        .get("mimeType")
        .and_then(Value::as_str)
        .is_none_or(|kind| kind.starts_with("text/plain") || kind.starts_with("text/markdown"))
}

/// The object or list that a text is.
fn json_in(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(|value: &Value| value.is_object() || value.is_array())
}

fn scalars(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|member| scalars(member, found)),
        Value::Array(items) => items.iter().for_each(|item| scalars(item, found)),
        Value::String(text) => found.push(text.clone()),
        other => found.push(other.to_string()),
    }
}
