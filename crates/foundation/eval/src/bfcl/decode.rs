//! What a model put out, decoded as the handlers of bfcl-eval do: calls of models that call tools, or the text of Python calls.

use std::borrow::Cow;

use serde_json::Value;

use super::{Decoded, json};
use crate::python::{self, Py};

/// What a model put out for one entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Output<'t> {
    /// A text: calls in Python's syntax, or words for people.
    Text(Cow<'t, str>),
    /// A list: `[{"f": "{\"a\": 1}"}]`.
    List(Vec<Made<'t>>),
}

/// A call in a list; `None` where an item is no object with a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Made<'t> {
    /// The function.
    pub name: Option<Cow<'t, str>>,
    /// Its arguments as a text of JSON; `None` for anything but a text.
    pub arguments: Option<Cow<'t, str>>,
}

/// How outputs of a file are decoded. bfcl-eval knows it from the name of the model; here the file shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The model calls tools, by their names as they are.
    Calls,
    /// The model calls tools whose dots were replaced by underscores.
    CallsWithUnderscores,
    /// The model writes calls as text.
    Prompt,
}

/// The mode of all outputs of a file: lists of calls make it calls; underscores, unless a name has a dot.
pub fn mode<'o, 't: 'o>(outputs: impl Iterator<Item = &'o Output<'t>>) -> Mode {
    let (mut has_lists, mut has_dots) = (false, false);
    for output in outputs {
        if let Output::List(items) = output {
            has_lists = true;
            has_dots |= items.iter().filter_map(|item| item.name.as_deref()).any(|name| name.contains('.'));
        }
    }
    match (has_lists, has_dots) {
        (false, _) => Mode::Prompt,
        (true, true) => Mode::Calls,
        (true, false) => Mode::CallsWithUnderscores,
    }
}

/// It cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

/// Decodes an output; `None` where it is decoded, but is no list of calls.
pub(super) fn decode<'o>(output: &'o Output<'_>, mode: Mode) -> Result<Option<Vec<Decoded<'o>>>, Failed> {
    match (mode, output) {
        (Mode::Prompt, Output::Text(text)) => prompted(text).map(Some),
        (_, Output::Text(text)) if text.is_empty() => Ok(Some(Vec::new())),
        (Mode::Prompt, Output::List(_)) | (_, Output::Text(_)) => Err(Failed),
        (_, Output::List(items)) => called(items),
    }
}

fn called<'o>(items: &'o [Made<'_>]) -> Result<Option<Vec<Decoded<'o>>>, Failed> {
    let (mut calls, mut are_calls) = (Vec::with_capacity(items.len()), true);
    for item in items {
        let (Some(name), Some(arguments)) = (&item.name, &item.arguments) else { return Err(Failed) };
        match json::parse(arguments).map_err(|_| Failed)? {
            Py::Dict(arguments) => calls.push((Cow::Borrowed(name.as_ref()), arguments)),
            _ => are_calls = false,
        }
    }
    Ok(are_calls.then_some(calls))
}

fn prompted(text: &str) -> Result<Vec<Decoded<'static>>, Failed> {
    let text = text.trim_matches(['`', '\n', ' ']);
    let open = if text.starts_with('[') { "" } else { "[" };
    let close = if text.ends_with(']') { "" } else { "]" };
    let calls = python::calls(&format!("{open}{text}{close}")).map_err(|_| Failed)?;
    let decoded = |call: python::Call| {
        let arguments = call.arguments.into_iter().map(|(name, value)| (Py::Str(name.into()), value));
        (call.name.into(), arguments.collect())
    };
    Ok(calls.into_iter().map(decoded).collect())
}

/// A value of JSON as Python reads it: numbers with a point are floats.
pub(super) fn from_json(value: Value) -> Py<'static> {
    match value {
        Value::Null => Py::None,
        Value::Bool(flag) => Py::Bool(flag),
        Value::Number(number) => match number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)) {
            Some(whole) => Py::Int(whole),
            None => Py::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Py::Str(text.into()),
        Value::Array(items) => Py::List(items.into_iter().map(from_json).collect()),
        Value::Object(members) => {
            Py::Dict(members.into_iter().map(|(name, value)| (Py::Str(name.into()), from_json(value))).collect())
        }
    }
}
