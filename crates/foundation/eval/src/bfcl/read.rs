//! The files of bfcl-eval: questions, possible answers, results. One JSON object a line.

use std::collections::HashMap;

use serde_json::Value;

use super::check::{Alternatives, Function, Parameter, Possible};
use super::decode::{Output, from_json};
use super::{Kind, Language, category, why_out};
use crate::import::Unreadable;
use crate::jsonl;

/// One entry: what was asked, and what may be answered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its identifier.
    pub id: String,
    /// Its category.
    pub category: String,
    pub(super) kind: Kind,
    pub(super) language: Language,
    pub(super) functions: Vec<Function>,
    pub(super) possible: Vec<Possible>,
}

/// All entries, in the order of the questions.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// What a model put out: by identifier, in order.
pub type Results = Vec<(String, Output)>;

/// Reads questions and the answers that are possible; categories that want no certain call have none.
pub fn entries(questions: &str, answers: Option<&str>) -> Result<Suite, (usize, Unreadable)> {
    let mut possible = HashMap::new();
    for (line, value) in jsonl::values(answers.unwrap_or_default()).map_err(|error| (1, error))? {
        let id = identifier(&value, line).map_err(|error| (1, error))?;
        let found = truth(&value).ok_or_else(|| {
            (1, Unreadable::new("no `ground_truth` of bfcl-eval", "a file of possible answers").at(line))
        })?;
        possible.insert(id, found);
    }
    let mut suite = Suite::default();
    for (line, value) in jsonl::values(questions).map_err(|error| (0, error))? {
        let id = identifier(&value, line).map_err(|error| (0, error))?;
        let refuse = |what: String, remedy: &str| (0, Unreadable::new(what, remedy).at(line));
        let (name, kind, language) = category(&id).ok_or_else(|| {
            let what = match why_out(&id) {
                Some((category, why)) => format!("`{category}` is not scored: there, bfcl-eval {why}"),
                None => format!("`{id}` names no category of bfcl-eval"),
            };
            refuse(what, "a single-turn category, such as simple_python or live_multiple")
        })?;
        let wants_calls = matches!(kind, Kind::Simple | Kind::Multiple | Kind::Parallel);
        let Some(mut answer) = possible.remove(&id).or_else(|| (!wants_calls).then(Vec::new)) else {
            return Err(refuse(format!("no possible answer to `{id}`"), "the file of answers of the same category"));
        };
        let functions: Vec<Function> = match value.get("function") {
            Some(Value::Array(functions)) => functions.iter().map(function).collect(),
            Some(one) => vec![function(one)],
            None => return Err(refuse("no `function`".to_owned(), "a file of questions of bfcl-eval")),
        };
        for one in &mut answer {
            one.described = functions.iter().position(|function| function.name == one.function);
        }
        let category = name.to_owned();
        suite.entries.push(Entry { id, category, kind, language, functions, possible: answer });
    }
    Ok(suite)
}

/// Reads results.
pub fn results(text: &str) -> Result<Results, Unreadable> {
    let mut found = Vec::new();
    for (line, value) in jsonl::values(text)? {
        let id = identifier(&value, line)?;
        let output = match value.get("result") {
            Some(Value::Array(items)) => Output::List(items.clone()),
            Some(Value::String(text)) => Output::Text(text.clone()),
            _ => return Err(Unreadable::new("`result` is no text and no list", "a result file of bfcl-eval").at(line)),
        };
        found.push((id, output));
    }
    Ok(found)
}

fn identifier(value: &Value, line: usize) -> Result<String, Unreadable> {
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    id.ok_or_else(|| Unreadable::new("no `id`", "a file of bfcl-eval").at(line))
}

fn truth(value: &Value) -> Option<Vec<Possible>> {
    let possible = |one: &Value| {
        let (function, arguments) = one.as_object()?.iter().next()?;
        let alternatives = |(name, list): (&String, &Value)| {
            let values = list.as_array()?.iter().cloned().map(from_json).collect();
            Some((name.clone(), Alternatives::new(values)))
        };
        let arguments = arguments.as_object()?.iter().map(alternatives).collect::<Option<_>>()?;
        Some(Possible { function: function.clone(), described: None, arguments })
    };
    value.get("ground_truth")?.as_array()?.iter().map(possible).collect()
}

fn function(value: &Value) -> Function {
    let properties = value.pointer("/parameters/properties").and_then(Value::as_object);
    let required = value.pointer("/parameters/required").and_then(Value::as_array);
    let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let parameter = |(name, value): (&String, &Value)| {
        (name.clone(), Parameter { kind: text(value, "/type"), items: text(value, "/items/type") })
    };
    let name = text(value, "/name").unwrap_or_default();
    Function {
        underscored: name.replace('.', "_"),
        name,
        required: required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        parameters: properties.into_iter().flatten().map(parameter).collect(),
        is_complete: properties.is_some() && required.is_some(),
    }
}
