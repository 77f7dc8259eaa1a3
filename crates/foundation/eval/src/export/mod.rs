//! The tools of a server in the form of a model's API: names within its limits, schemas that it takes, and what was lost on the
//! way. Arguments come back through [`ExportedTool::arguments`].
//!
//! Facts about the APIs are those of their documentation in November 2026.

mod api;
mod gemini;
mod names;
mod nulls;
mod strict;

use serde_json::{Map, Value};

use crate::Catalogue;
use crate::catalogue::Tool;
use strict::Closed;

/// How many remarks one tool keeps.
const MOST_NOTES: usize = 100;

/// An API that takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's Responses API.
    OpenAi,
    /// OpenAI's Chat Completions, and what speaks it.
    OpenAiChat,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's function declarations.
    Gemini,
}

/// What happened to a part of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// It keeps the tool from being strict.
    NotStrict,
    /// The API does not check it: the server may refuse what the model writes.
    Unchecked,
    /// The model can say less than the server takes.
    Narrowed,
    /// The name had to change.
    Renamed,
}

impl NoteKind {
    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotStrict => "not strict",
            Self::Unchecked => "unchecked",
            Self::Narrowed => "narrowed",
            Self::Renamed => "renamed",
        }
    }
}

/// What happened to one part of a tool, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What happened.
    pub kind: NoteKind,
    /// Where in the tool's input schema: a JSON pointer.
    pub pointer: String,
    /// Why, for a person.
    pub why: String,
}

/// A tool in the form of an API.
#[derive(Debug)]
pub struct ExportedTool {
    /// Its name in the API.
    pub name: String,
    /// Its name on the server.
    pub original: String,
    /// What the API is sent.
    pub definition: Value,
    /// Whether the API holds the model to the schema.
    pub is_strict: bool,
    /// What was changed or lost.
    pub notes: Vec<Note>,
    closed: Option<Closed>,
}

impl ExportedTool {
    /// The arguments for the server, from those that a model wrote: members that the server may do without and that are `null`,
    /// because a strict schema demands them, are left out.
    pub fn arguments(&self, given: Map<String, Value>) -> Map<String, Value> {
        match &self.closed {
            Some(closed) => nulls::removed(closed, given),
            None => given,
        }
    }
}

/// All tools, as the request's `tools` has them.
#[derive(Debug)]
pub struct Exported {
    /// The tools, in order.
    pub tools: Vec<ExportedTool>,
    api: Api,
}

impl Exported {
    /// The value of `tools` in a request.
    pub fn to_value(&self) -> Value {
        let definitions: Vec<Value> = self.tools.iter().map(|tool| tool.definition.clone()).collect();
        match self.api {
            Api::Gemini => serde_json::json!([{ "functionDeclarations": definitions }]),
            Api::OpenAi | Api::OpenAiChat | Api::Anthropic => Value::Array(definitions),
        }
    }

    /// The tool that a call of this name means.
    pub fn tool(&self, name: &str) -> Option<&ExportedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// Brings tools into the form of an API; strict where that is asked for and possible.
pub fn export(catalogue: &Catalogue, api: Api, is_strict: bool) -> Exported {
    let names = names(catalogue, api);
    let tools = catalogue.tools().iter().zip(names).map(|(tool, name)| one(tool, name, api, is_strict)).collect();
    Exported { tools, api }
}

/// The names of all tools in an API.
pub(crate) fn names(catalogue: &Catalogue, api: Api) -> Vec<String> {
    names::names(catalogue.tools().iter().map(|tool| tool.name.as_str()), api)
}

fn one(tool: &Tool, name: String, api: Api, is_strict: bool) -> ExportedTool {
    let mut notes = Notes::default();
    if name != tool.name {
        notes.add(NoteKind::Renamed, "", format!("the API takes no name like `{}`", crate::shown_name(&tool.name)));
    }
    let closed = match api {
        Api::OpenAi | Api::OpenAiChat if is_strict => strict::close(&tool.schema, &mut notes),
        Api::Anthropic | Api::Gemini if is_strict => {
            notes.add(NoteKind::NotStrict, "", "tools of this API cannot be strict");
            None
        }
        _ => None,
    };
    let parameters = match (&closed, api) {
        (Some(closed), _) => Some(closed.schema.clone()),
        (None, Api::Gemini) => gemini::parameters(&tool.schema, &mut notes),
        (None, _) => Some(api::parameters(&tool.schema, &mut notes)),
    };
    let definition = api::definition(api, &name, &tool.description, parameters, closed.is_some());
    let is_strict = closed.is_some();
    ExportedTool { name, original: tool.name.clone(), definition, is_strict, notes: notes.0, closed }
}

/// What is remarked about one tool.
#[derive(Debug, Default)]
struct Notes(Vec<Note>);

impl Notes {
    fn add(&mut self, kind: NoteKind, pointer: &str, why: impl Into<String>) {
        let note = Note { kind, pointer: pointer.to_owned(), why: why.into() };
        let is_kept = self.0.len() < MOST_NOTES || kind == NoteKind::NotStrict && !self.is_not_strict();
        if is_kept && !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    fn is_not_strict(&self) -> bool {
        self.0.iter().any(|note| note.kind == NoteKind::NotStrict)
    }
}

/// The schema within `root` that a `$ref` means, and its pointer; `None` for another document or an anchor.
fn target<'s>(root: &'s Value, reference: &str) -> Option<(&'s Value, String)> {
    let pointer = decoded(reference.strip_prefix('#')?)?;
    root.pointer(&pointer).map(|schema| (schema, pointer))
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
