//! What simulated calls created, changed and deleted in a session, so that later answers agree with them: an object that
//! `create_note` made up is found by `get_note`, stands in `list_notes`, and is gone after `delete_note`.
//!
//! Pure: knows no recording. It understands names of a verb and a noun, and results that are JSON with an `id`.

use serde_json::{Map, Value, json};

use super::words::words;

/// How many objects a session keeps; the oldest are forgotten.
const MOST: usize = 1000;
/// How many bytes of JSON the id and all members of one object may have, and all objects together.
const LARGEST: usize = 64 << 10;
const ALL: usize = 16 << 20;
/// How many bytes a list may have to which objects are added.
const LISTED: usize = 16 << 20;
/// Made-up ids begin so far after the recorded one: those in between may be in use.
const APART: u64 = 1000;

/// What a tool does, as far as its name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Create,
    Get,
    List,
    Update,
    Delete,
}

const VERBS: [(&str, Verb); 18] = [
    ("create", Verb::Create),
    ("add", Verb::Create),
    ("new", Verb::Create),
    ("insert", Verb::Create),
    ("get", Verb::Get),
    ("read", Verb::Get),
    ("fetch", Verb::Get),
    ("show", Verb::Get),
    ("retrieve", Verb::Get),
    ("list", Verb::List),
    ("search", Verb::List),
    ("find", Verb::List),
    ("update", Verb::Update),
    ("edit", Verb::Update),
    ("modify", Verb::Update),
    ("set", Verb::Update),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
];

/// An object that simulated calls know.
#[derive(Clone, Debug)]
struct Object {
    noun: String,
    id: Value,
    /// `None` once it is deleted.
    members: Option<Map<String, Value>>,
    /// How many bytes all of it has.
    bytes: usize,
}

impl Object {
    fn new(noun: &str, id: &Value, members: Option<Map<String, Value>>) -> Self {
        let bytes = noun.len() + plain(id).len() + members.as_ref().map_or(0, size);
        Self { noun: noun.to_owned(), id: id.clone(), members, bytes }
    }
}

/// The objects of a session.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Oldest first.
    known: Vec<Object>,
    created: u64,
}

/// A call of a tool, read as one of the verbs.
struct Operation<'c> {
    verb: Verb,
    noun: String,
    arguments: &'c Map<String, Value>,
}

impl<'c> Operation<'c> {
    fn of(tool: &str, arguments: &'c Map<String, Value>) -> Option<Self> {
        let words = words(tool);
        let at = words.iter().position(|word| VERBS.iter().any(|(name, _)| name == word))?;
        let (_, verb) = VERBS.into_iter().find(|(name, _)| *name == words[at])?;
        // `notes_create` and `create_note`; of a longer name what follows the verb is the noun.
        let rest = if at + 1 < words.len() { &words[at + 1..] } else { &words[..at] };
        let noun = singular(&rest.join("_"));
        (!noun.is_empty()).then_some(Self { verb, noun, arguments })
    }

    /// The id in the arguments: a member that is named so, or the only one.
    fn id(&self) -> Option<&'c Value> {
        let named = id_member(self.arguments, &self.noun).and_then(|name| self.arguments.get(&name));
        let only = || self.arguments.values().next().filter(|_| self.arguments.len() == 1);
        named.or_else(only).filter(|value| value.is_string() || value.is_number())
    }
}

impl Objects {
    /// The result of a call as the session's objects demand it; `None` where they have no say. `result` is the answer
    /// without them, and `is_simulated` says that it was made up.
    pub(super) fn settle(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
        result: Option<&Value>,
        is_simulated: bool,
    ) -> Option<Value> {
        let operation = Operation::of(tool, arguments)?;
        match operation.verb {
            Verb::Create => self.create(&operation, result.filter(|_| is_simulated)?),
            Verb::Get => self.get(&operation, result),
            Verb::List => self.list(&operation, result?),
            Verb::Update => self.update(&operation, result, is_simulated),
            Verb::Delete => self.delete(&operation, is_simulated),
        }
    }

    /// Whether what the answer says is known here: the call is about an object of this session.
    pub(super) fn knows(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let operation = Operation::of(tool, arguments);
        let about = operation.as_ref().filter(|operation| !matches!(operation.verb, Verb::Create | Verb::List));
        about.is_some_and(|operation| operation.id().is_some_and(|id| self.find(operation, id).is_some()))
    }

    fn create(&mut self, operation: &Operation<'_>, result: &Value) -> Option<Value> {
        let mut members = object_in(result, &operation.noun)?;
        let name = id_member(&members, &operation.noun)?;
        let id = if let Some(given) = operation.arguments.get(&name) {
            given.clone()
        } else {
            self.created += 1;
            fresh(&members[&name], self.created)?
        };
        members.insert(name.clone(), id);
        let mut created = result.clone();
        let noun = &operation.noun;
        edit(&mut created, &mut |value| overlay(value, noun, &members));
        for (argument, value) in operation.arguments {
            members.insert(argument.clone(), value.clone());
        }
        let id = members[&name].clone();
        self.remember(Object::new(&operation.noun, &id, Some(members)));
        Some(created)
    }

    fn get(&self, operation: &Operation<'_>, result: Option<&Value>) -> Option<Value> {
        let id = operation.id()?;
        match &self.find(operation, id)?.members {
            Some(members) => Some(shown(operation, members, result)),
            None => Some(missing(operation, id)),
        }
    }

    /// Updates. What was not created here is remembered as it is after the change.
    fn update(&mut self, operation: &Operation<'_>, result: Option<&Value>, is_simulated: bool) -> Option<Value> {
        let id = operation.id()?;
        let known = self.known.iter_mut().find(|known| known.noun == operation.noun && same(&known.id, id));
        let changes = operation.arguments.iter().filter(|(_, value)| !same(value, id));
        let changes = changes.map(|(name, value)| (name.clone(), value.clone()));
        match known {
            Some(Object { members: None, .. }) => Some(missing(operation, id)),
            Some(known) => {
                let changed: Map<String, Value> = known.members.clone().into_iter().flatten().chain(changes).collect();
                let after = Object::new(&known.noun, &known.id, Some(changed.clone()));
                if after.bytes <= LARGEST {
                    *known = after;
                    self.forget();
                }
                Some(shown(operation, &changed, result))
            }
            None => {
                let mut members = object_in(result.filter(|_| is_simulated)?, &operation.noun)?;
                members.extend(changes);
                self.remember(Object::new(&operation.noun, id, Some(members)));
                None
            }
        }
    }

    /// Deletes. What was not created here may be in the recording: it is gone for this session all the same.
    fn delete(&mut self, operation: &Operation<'_>, is_simulated: bool) -> Option<Value> {
        let id = operation.id()?;
        let known = self.known.iter_mut().find(|known| known.noun == operation.noun && same(&known.id, id));
        if let Some(known) = known {
            if known.members.take().is_none() {
                return Some(missing(operation, id));
            }
            let text = format!("Deleted {} {}", operation.noun.replace('_', " "), plain(id));
            return Some(json!({ "content": [{ "type": "text", "text": text }] }));
        }
        if is_simulated {
            self.remember(Object::new(&operation.noun, id, None));
        }
        None
    }

    fn list(&self, operation: &Operation<'_>, result: &Value) -> Option<Value> {
        let here: Vec<&Object> = self.known.iter().filter(|known| known.noun == operation.noun).collect();
        if here.is_empty() || result.get("isError") == Some(&Value::Bool(true)) {
            return None;
        }
        let mut listed = result.clone();
        edit(&mut listed, &mut |value| relist(value, &operation.noun, &here)).then_some(listed)
    }

    /// Forgets the oldest, until the others are within the bounds.
    fn forget(&mut self) {
        let mut bytes = 0;
        let fit = self.known.iter().rev().take(MOST).take_while(|known| {
            bytes += known.bytes;
            bytes <= ALL
        });
        let surplus = self.known.len() - fit.count();
        self.known.drain(..surplus);
    }

    fn find(&self, operation: &Operation<'_>, id: &Value) -> Option<&Object> {
        self.known.iter().find(|known| known.noun == operation.noun && same(&known.id, id))
    }

    fn remember(&mut self, object: Object) {
        if object.bytes > LARGEST {
            return;
        }
        self.known.retain(|known| !(known.noun == object.noun && same(&known.id, &object.id)));
        self.known.push(object);
        self.forget();
    }
}

fn singular(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    noun.strip_suffix('s').filter(|stem| stem.len() > 1 && !stem.ends_with('s')).unwrap_or(noun).to_owned()
}

/// The name of the member with the id.
fn id_member(members: &Map<String, Value>, noun: &str) -> Option<String> {
    let is_id = |name: &String| {
        let words = words(name).join("_");
        words == "id" || words == "uuid" || words == format!("{noun}_id")
    };
    members
        .iter()
        .find(|(name, value)| is_id(name) && (value.is_string() || value.is_number()))
        .map(|(name, _)| name.clone())
}

fn plain(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn same(one: &Value, other: &Value) -> bool {
    one == other || one.is_string() != other.is_string() && plain(one) == plain(other)
}

fn size(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| name.len() + value.to_string().len()).sum()
}

/// An id of the form of another one.
fn fresh(like: &Value, count: u64) -> Option<Value> {
    if let Some(number) = like.as_u64() {
        return Some(number.saturating_add(APART + count).into());
    }
    let text = like.as_str()?;
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, number) = text.split_at(text.len() - digits);
    let is_uuid = text.len() == 36 && text.bytes().filter(|byte| *byte == b'-').count() == 4;
    Some(match number.parse::<u64>() {
        _ if is_uuid => format!("{}{count:012x}", text.get(..24)?).into(),
        Ok(last) => format!("{before}{:0digits$}", last.saturating_add(APART + count)).into(),
        Err(_) => format!("{text}-{count}").into(),
    })
}

/// The object in a result: its structured content or its text, or the member that is named like it.
fn object_in(result: &Value, noun: &str) -> Option<Map<String, Value>> {
    let of = |value: &Value| {
        let members = value.as_object()?;
        let inner = members.get(noun).and_then(Value::as_object);
        inner.or(Some(members)).filter(|members| id_member(members, noun).is_some()).cloned()
    };
    let texts = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut texts = texts.filter_map(|block| serde_json::from_str::<Value>(block.get("text")?.as_str()?).ok());
    result.get("structuredContent").and_then(of).or_else(|| texts.find_map(|value| of(&value)))
}

/// Changes the structured content, and the texts that are JSON; whether anything was changed.
fn edit(result: &mut Value, change: &mut dyn FnMut(&mut Value) -> bool) -> bool {
    let mut is_changed = result.get_mut("structuredContent").is_some_and(&mut *change);
    let blocks = result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
    for text in blocks.filter_map(|block| block.get_mut("text")) {
        if let Some(mut inner) = text.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok())
            && (inner.is_object() || inner.is_array())
            && change(&mut inner)
        {
            *text = inner.to_string().into();
            is_changed = true;
        }
    }
    is_changed
}

/// Gives an object the members of another one, as far as it has them; and the same id.
fn overlay(value: &mut Value, noun: &str, members: &Map<String, Value>) -> bool {
    let Some(object) = value.as_object_mut() else { return false };
    if let Some(inner) = object.get_mut(noun).filter(|inner| inner.is_object()) {
        return overlay(inner, noun, members);
    }
    let own = id_member(object, noun);
    let id = id_member(members, noun).and_then(|name| members.get(&name));
    for (name, value) in object.iter_mut() {
        if own.as_ref() == Some(name) {
            value.clone_from(id.unwrap_or(&Value::Null));
        } else if let Some(known) = members.get(name) {
            value.clone_from(known);
        }
    }
    own.is_some()
}

/// A result that shows an object: in the likeness of another one, or all members as JSON.
fn shown(operation: &Operation<'_>, members: &Map<String, Value>, like: Option<&Value>) -> Value {
    let like = like.filter(|result| result.get("isError") != Some(&Value::Bool(true)));
    if let Some(mut result) = like.cloned()
        && edit(&mut result, &mut |value| overlay(value, &operation.noun, members))
    {
        return result;
    }
    let text = Value::Object(members.clone()).to_string();
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn missing(operation: &Operation<'_>, id: &Value) -> Value {
    let text = format!("There is no {} with the id {}", operation.noun.replace('_', " "), plain(id));
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// Takes what is deleted out of the first list of objects, and adds what was created.
fn relist(value: &mut Value, noun: &str, known: &[&Object]) -> bool {
    let items = match value {
        Value::Array(items) => Some(items),
        Value::Object(members) => {
            let is_list = |value: &&mut Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_object));
            members.values_mut().find(is_list).and_then(Value::as_array_mut)
        }
        _ => None,
    };
    let Some(items) = items else { return false };
    let template = items.first().cloned();
    let id_of = |item: &Value| item.as_object().and_then(|item| Some(item[&id_member(item, noun)?].clone()));
    items.retain(|item| id_of(item).is_none_or(|id| !known.iter().any(|known| same(&known.id, &id))));
    // Each new item has the size of the recorded one: a client must not make an answer without end of it.
    let each = template.as_ref().map_or(0, |item| item.to_string().len());
    let mut room = LISTED;
    for members in known.iter().filter_map(|known| known.members.as_ref()) {
        let Some(left) = room.checked_sub(each + size(members)) else { break };
        room = left;
        let mut item = template.clone().unwrap_or_else(|| Value::Object(members.clone()));
        overlay(&mut item, noun, members);
        items.push(item);
    }
    true
}

#[cfg(test)]
mod tests;
