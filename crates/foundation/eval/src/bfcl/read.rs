//! The files of bfcl-eval: questions, possible answers, results. One JSON object a line.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use wire::escape::snippet;

use super::check::{Alternatives, Argument, Function, Parameter, Possible};
use super::decode::{Made, Output, from_json};
use super::kinds::described;
use super::members::{each, items, pick, text};
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
    pub(super) possible: Vec<Possible>,
}

/// All entries, in the order of the questions.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// What a model put out: by identifier, in order.
pub type Results<'t> = Vec<(Cow<'t, str>, Output<'t>)>;

/// Reads questions and the answers that are possible; categories that want no certain call have none.
pub fn entries(questions: &str, answers: Option<&str>) -> Result<Suite, (usize, Unreadable)> {
    let mut keys = HashMap::new();
    for (line, written) in jsonl::lines(answers.unwrap_or_default()).map_err(|error| (1, error))? {
        let (id, truth) = identified(written, line, "ground_truth").map_err(|error| (1, error))?;
        if why_out(&id).is_some() {
            return Err((1, not_scored(&id, line)));
        }
        let found = truth.and_then(key).ok_or_else(|| {
            (1, Unreadable::new("no `ground_truth` of bfcl-eval", "a file of possible answers").at(line))
        })?;
        keys.insert(id, found);
    }
    let mut suite = Suite::default();
    for (line, written) in jsonl::lines(questions).map_err(|error| (0, error))? {
        let (id, functions) = identified(written, line, "function").map_err(|error| (0, error))?;
        let refuse = |what: String, remedy: &str| (0, Unreadable::new(what, remedy).at(line));
        let (name, kind, language) = category(&id).ok_or_else(|| (0, not_scored(&id, line)))?;
        let wants_calls = matches!(kind, Kind::Simple | Kind::Multiple | Kind::Parallel);
        let Some(key) = keys.remove(&id).or_else(|| (!wants_calls).then(Vec::new)) else {
            return Err(refuse(format!("no possible answer to `{id}`"), "the file of answers of the same category"));
        };
        let Some(functions) = functions else {
            return Err(refuse("no `function`".to_owned(), "a file of questions of bfcl-eval"));
        };
        let possible = if key.is_empty() { Vec::new() } else { possible(key, functions, kind, language) };
        suite.entries.push(Entry { category: name.to_owned(), id: id.into_owned(), kind, language, possible });
    }
    Ok(suite)
}

/// A category that is out, or unknown.
fn not_scored(id: &str, line: usize) -> Unreadable {
    let single = "a single-turn category, such as simple_python or live_multiple";
    let (what, remedy) = match why_out(id) {
        Some((category, why)) => (
            format!("`{category}` is not scored: there, bfcl-eval {why}"),
            format!("{single}; or a case of our own with the calls of all turns and `match: in-order`"),
        ),
        None => (format!("`{}` names no category of bfcl-eval", snippet(id, 60)), single.to_owned()),
    };
    Unreadable::new(what, remedy).at(line)
}

/// Reads results.
pub fn results(text: &str) -> Result<Results<'_>, Unreadable> {
    let mut found = Vec::new();
    for (line, written) in jsonl::lines(text)? {
        let (id, result) = identified(written, line, "result")?;
        let output = result
            .and_then(output)
            .ok_or_else(|| Unreadable::new("`result` is no text and no list", "a result file of bfcl-eval").at(line))?;
        found.push((id, output));
    }
    Ok(found)
}

fn output(written: &str) -> Option<Output<'_>> {
    match items(written) {
        Some(items) => Some(Output::List(items.into_iter().map(made).collect())),
        None => text(Some(written)).map(Output::Text),
    }
}

/// The first member of an object.
fn made(written: &str) -> Made<'_> {
    let mut first: Option<(Cow<'_, str>, &str)> = None;
    let read = each(written, |name, value| match &mut first {
        None => first = Some((name, value)),
        Some((known, last)) if *known == name => *last = value,
        Some(_) => {}
    });
    let (name, arguments) = first.filter(|_| read.is_ok()).unzip();
    Made { name, arguments: text(arguments) }
}

/// The identifier of a line, and its member with this name.
fn identified<'t>(written: &'t str, line: usize, name: &str) -> Result<(Cow<'t, str>, Option<&'t str>), Unreadable> {
    let unnamed = || Unreadable::new("no `id`", "a file of bfcl-eval").at(line);
    let bad = |error: serde_json::Error| if error.is_data() { unnamed() } else { jsonl::bad(&error, line) };
    let [id, member] = pick(written, ["id", name]).map_err(bad)?;
    Ok((text(id).ok_or_else(unnamed)?, member))
}

/// A call of a key: the function, and the alternatives of each argument.
type KeyCall = (String, Vec<(String, Alternatives)>);

fn key(truth: &str) -> Option<Vec<KeyCall>> {
    let call = |one: &Value| {
        let (function, arguments) = one.as_object()?.iter().next()?;
        let alternatives = |(name, list): (&String, &Value)| {
            let values = list.as_array()?.iter().cloned().map(from_json).collect();
            Some((name.clone(), Alternatives::new(values)))
        };
        Some((function.clone(), arguments.as_object()?.iter().map(alternatives).collect::<Option<_>>()?))
    };
    serde_json::from_str::<Value>(truth).ok()?.as_array()?.iter().map(call).collect()
}

/// The calls of a key with the descriptions of their functions; bfcl-eval takes the first one of a simple question.
fn possible(key: Vec<KeyCall>, functions: &str, kind: Kind, language: Language) -> Vec<Possible> {
    let functions = items(functions).unwrap_or_else(|| vec![functions]);
    let is_named = |one: &str, function: &str| {
        let [name] = pick(one, ["name"]).unwrap_or_default();
        text(name).unwrap_or_default() == function
    };
    let join = |(function, arguments): KeyCall| {
        let described = match kind {
            Kind::Simple => functions.first(),
            _ => functions.iter().find(|one| is_named(one, &function)),
        };
        let described = described.map(|one| read_function(one, language));
        let (function, mut parameters) = described.unzip();
        let argument = |(name, alternatives): (String, Alternatives)| Argument {
            parameter: parameters.as_mut().and_then(|known| known.remove(&name)),
            name,
            alternatives,
        };
        Possible { arguments: arguments.into_iter().map(argument).collect(), function }
    };
    key.into_iter().map(join).collect()
}

fn read_function(written: &str, language: Language) -> (Function, BTreeMap<String, Parameter>) {
    let [name, parameters] = pick(written, ["name", "parameters"]).unwrap_or_default();
    let [properties, required] = pick(parameters.unwrap_or_default(), ["properties", "required"]).unwrap_or_default();
    let mut found = BTreeMap::new();
    let has_properties = each(properties.unwrap_or_default(), |name, property| {
        let [kind, items] = pick(property, ["type", "items"]).unwrap_or_default();
        let [items] = pick(items.unwrap_or_default(), ["type"]).unwrap_or_default();
        found.insert(name.into_owned(), described(text(kind).as_deref(), text(items).as_deref(), language));
    });
    let required = required.and_then(items);
    let name = text(name).unwrap_or_default().into_owned();
    let function = Function {
        underscored: name.replace('.', "_"),
        name,
        is_complete: has_properties.is_ok() && required.is_some(),
        required: required.into_iter().flatten().filter_map(|name| text(Some(name))).map(Cow::into_owned).collect(),
    };
    (function, found)
}
