//! Calls against the answers that are possible, rule by rule as bfcl-eval applies them.

use std::borrow::Cow;

use super::kinds::{Described, Items, Type};
use super::values::{alike, equal, is_empty_text, is_standard, member, standard, type_of};
use super::{Decoded, Entry, Kind, Language, Mode, Verdict, java, javascript};
use crate::python::Py;

/// A function as the question describes it.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// The name with underscores in place of dots.
    pub(super) underscored: String,
    pub(super) required: Vec<String>,
    /// Whether the description has all members that bfcl-eval reads.
    pub(super) is_complete: bool,
}

/// One call that is possible, and what the question says of its function. Other functions are not kept: what is judged
/// stays together in memory.
#[derive(Clone, Debug)]
pub struct Possible {
    /// `None` if the question has no such function.
    pub(super) function: Option<Function>,
    pub(super) arguments: Vec<Argument>,
}

/// An argument that the key has.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) name: String,
    /// `None` if the function has no such parameter.
    pub(super) parameter: Option<Parameter>,
    pub(super) alternatives: Alternatives,
}

/// What the question says of a parameter; `None` if bfcl-eval knows no such type.
pub(super) type Parameter = Option<Described>;

/// The values that an argument may have.
#[derive(Clone, Debug)]
pub(super) struct Alternatives {
    pub(super) values: Vec<Py<'static>>,
    /// Those that are texts, as they are compared.
    texts: Vec<String>,
}

impl Alternatives {
    pub(super) fn new(values: Vec<Py<'static>>) -> Self {
        let text = |value: &Py<'_>| match value {
            Py::Str(text) => Some(standard(text).into_owned()),
            _ => None,
        };
        Self { texts: values.iter().filter_map(text).collect(), values }
    }
}

/// Why a call is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Error(&'static str),
    Raises,
}

type Checked<T = ()> = Result<T, Fault>;

const fn error<T>(name: &'static str) -> Checked<T> {
    Err(Fault::Error(name))
}

/// Judges all calls of an entry.
pub(super) fn calls(entry: &Entry, calls: &[Decoded<'_>], mode: Mode) -> Verdict {
    let checked = match entry.kind {
        Kind::Parallel => parallel(entry, calls, mode),
        Kind::Multiple => multiple(entry, calls, mode),
        _ => simple(entry, calls, mode),
    };
    match checked {
        Ok(()) => Verdict::Valid,
        Err(Fault::Error(name)) => Verdict::Invalid(name),
        Err(Fault::Raises) => Verdict::Raises,
    }
}

fn simple(entry: &Entry, calls: &[Decoded<'_>], mode: Mode) -> Checked {
    let [call] = calls else { return error("simple_function_checker:wrong_count") };
    one(call, entry.possible.first().ok_or(Fault::Raises)?, entry.language, mode)
}

fn multiple(entry: &Entry, calls: &[Decoded<'_>], mode: Mode) -> Checked {
    if calls.len() != entry.possible.len() {
        return error("multiple_function_checker:wrong_count");
    }
    let (Some(call), Some(possible)) = (calls.first(), entry.possible.first()) else { return Err(Fault::Raises) };
    one(call, possible, entry.language, mode)
}

/// Each possible call takes the first call left that fits: no assignment that is better is looked for.
fn parallel(entry: &Entry, calls: &[Decoded<'_>], mode: Mode) -> Checked {
    if calls.len() != entry.possible.len() {
        return error("parallel_function_checker_no_order:wrong_count");
    }
    let mut is_taken = vec![false; calls.len()];
    for possible in &entry.possible {
        let mut found = None;
        for (at, call) in calls.iter().enumerate().filter(|(at, _)| !is_taken[*at]) {
            match one(call, possible, entry.language, mode) {
                Ok(()) => {
                    found = Some(at);
                    break;
                }
                Err(Fault::Raises) => return Err(Fault::Raises),
                Err(Fault::Error(_)) => {}
            }
        }
        match found {
            Some(at) => is_taken[at] = true,
            None => return error("parallel_function_checker_no_order:cannot_find_match"),
        }
    }
    Ok(())
}

/// One call against one that is possible.
pub(super) fn one(call: &Decoded<'_>, possible: &Possible, language: Language, mode: Mode) -> Checked {
    let function = possible.function.as_ref().filter(|function| function.is_complete).ok_or(Fault::Raises)?;
    let (name, given) = call;
    let expected = if mode == Mode::CallsWithUnderscores { &function.underscored } else { &function.name };
    if name != expected {
        return error("simple_function_checker:wrong_func_name");
    }
    let is_given = |name: &str| given.iter().any(|(known, _)| matches!(known, Py::Str(known) if known == name));
    if function.required.iter().any(|name| !is_given(name)) {
        return error("simple_function_checker:missing_required");
    }
    for (name, value) in given {
        let Py::Str(name) = name else { return error("simple_function_checker:unexpected_param") };
        let known = possible.arguments.iter().find(|known| known.name == *name);
        let Some(Argument { parameter: Some(parameter), alternatives, .. }) = known else {
            return error("simple_function_checker:unexpected_param");
        };
        argument(parameter.as_ref(), value, alternatives, language)?;
    }
    let is_left_out = |known: &Argument| !is_given(&known.name) && !known.alternatives.values.iter().any(is_empty_text);
    if possible.arguments.iter().any(is_left_out) {
        return error("simple_function_checker:missing_optional");
    }
    Ok(())
}

pub(super) fn argument(
    described: Option<&Described>,
    value: &Py<'_>,
    all: &Alternatives,
    language: Language,
) -> Checked {
    let alternatives = all.values.as_slice();
    let Described { kind, value: expected, items } = *described.ok_or(Fault::Raises)?;
    let source = match (language, value) {
        (Language::Python, _) => "",
        (_, Py::Str(text)) => text,
        (Language::Java, _) => return error("type_error:java"),
        (Language::JavaScript, _) => return error("type_error:js"),
    };
    let (items, nested) = match items {
        Items::NotRead => (None, None),
        Items::Of(kind, value) => (Some(kind), Some(value)),
        Items::Unknown => return Err(Fault::Raises),
    };
    let value = match (language, value) {
        (Language::Java, _) => Cow::Owned(java::convert(source, kind, items)?),
        (Language::JavaScript, _) => Cow::Owned(javascript::convert(source, kind, items)?),
        (Language::Python, Py::Tuple(items)) if kind == "tuple" => Cow::Owned(Py::List(items.clone())),
        (Language::Python, Py::Int(whole)) if kind == "float" => Cow::Owned(Py::Float(*whole as f64)),
        (Language::Python, value) => Cow::Borrowed(value),
    };
    let is_variable = fits_type(&value, alternatives, expected, nested)?;
    if !is_variable {
        match (expected, &*value) {
            (Type::Dict, Py::Dict(members)) => return dict(members, alternatives),
            (Type::List, Py::List(items)) if nested == Some(Type::Dict) => return list_of_dicts(items, alternatives),
            (Type::Str, Py::Str(text)) => return string(text, all),
            (Type::List, Py::List(items)) => return list(items, alternatives),
            _ => {}
        }
    }
    if alternatives.iter().any(|alternative| equal(&value, alternative)) { Ok(()) } else { error("value_error:others") }
}

/// Whether a value has the expected type; `true` where it may only be equal to an alternative, because that has another type
/// than the description says.
fn fits_type(value: &Py<'_>, alternatives: &[Py<'_>], expected: Type, nested: Option<Type>) -> Checked<bool> {
    let of_key = alternatives.iter().find(|one| !is_empty_text(one)).map(type_of);
    let is_variable = of_key.is_some_and(|kind| kind != expected);
    let mut fault = "type_error:simple";
    if type_of(value) == expected {
        let Some(nested) = nested else { return Ok(is_variable) };
        let items = match value {
            Py::List(items) => items.as_slice(),
            _ => &[],
        };
        let fits = |alternative: &Py<'_>| match alternative {
            Py::List(keys) => items.iter().all(|item| fits_type(item, keys, nested, None).is_ok()),
            _ => true,
        };
        if alternatives.iter().any(fits) {
            return Ok(is_variable);
        }
        fault = "type_error:nested";
    }
    match of_key {
        Some(kind) if kind == type_of(value) && fault == "type_error:simple" => Ok(true),
        Some(kind) if kind == type_of(value) => error(fault),
        _ => error("type_error:simple"),
    }
}

fn string(text: &str, alternatives: &Alternatives) -> Checked {
    let is_one = alternatives.texts.iter().any(|one| is_standard(text, one));
    if is_one { Ok(()) } else { error("value_error:string") }
}

/// The items of an alternative: a text is a list of its characters.
fn items_of<'a, 't>(alternative: &'a Py<'t>) -> Checked<Cow<'a, [Py<'t>]>> {
    match alternative {
        Py::List(items) | Py::Tuple(items) => Ok(Cow::Borrowed(items)),
        Py::Str(text) => Ok(Cow::Owned(text.chars().map(|c| Py::Str(c.to_string().into())).collect())),
        Py::Dict(members) if members.is_empty() => Ok(Cow::Borrowed(&[])),
        _ => Err(Fault::Raises),
    }
}

fn list(given: &[Py<'_>], alternatives: &[Py<'_>]) -> Checked {
    let mut is_one = false;
    for alternative in alternatives {
        let items = items_of(alternative)?;
        is_one |= items.len() == given.len() && given.iter().zip(items.iter()).all(|(one, other)| alike(one, other));
    }
    if is_one { Ok(()) } else { error("value_error:list/tuple") }
}

fn dict(given: &[(Py<'_>, Py<'_>)], alternatives: &[Py<'_>]) -> Checked {
    let mut fault = "dict_checker:unclear";
    for alternative in alternatives.iter().filter(|one| !is_empty_text(one)) {
        let Py::Dict(keys) = alternative else { return Err(Fault::Raises) };
        match dict_fault(given, keys)? {
            None => return Ok(()),
            Some(found) => fault = found,
        }
    }
    error(fault)
}

/// What is wrong with a dict: the last of what is found.
fn dict_fault(given: &[(Py<'_>, Py<'_>)], keys: &[(Py<'_>, Py<'_>)]) -> Checked<Option<&'static str>> {
    let mut fault = None;
    for (name, value) in given {
        let Some(alternatives) = member(keys, name) else {
            fault = Some("value_error:dict_key");
            break;
        };
        if !items_of(alternatives)?.iter().any(|one| alike(value, one)) {
            fault = Some("value_error:dict_value");
            break;
        }
    }
    for (name, alternatives) in keys {
        if member(given, name).is_none() {
            let may_lack = match alternatives {
                Py::List(all) | Py::Tuple(all) => all.iter().any(is_empty_text),
                Py::Str(_) => true,
                Py::Dict(members) => members.iter().any(|(name, _)| is_empty_text(name)),
                _ => return Err(Fault::Raises),
            };
            if !may_lack {
                return Ok(Some("value_error:dict_key"));
            }
        }
    }
    Ok(fault)
}

fn list_of_dicts(given: &[Py<'_>], alternatives: &[Py<'_>]) -> Checked {
    let mut fault = "list_dict_checker:unclear";
    for alternative in alternatives {
        let length = match alternative {
            Py::List(items) | Py::Tuple(items) => items.len(),
            Py::Str(text) => text.chars().count(),
            Py::Dict(members) => members.len(),
            _ => return Err(Fault::Raises),
        };
        if length != given.len() {
            fault = "value_error:list_dict_count";
            continue;
        }
        let keys = items_of(alternative)?;
        let mut found = None;
        for (item, key) in given.iter().zip(keys.iter()) {
            let Py::Dict(members) = item else { return Err(Fault::Raises) };
            match dict(members, std::slice::from_ref(key)) {
                Ok(()) => {}
                Err(Fault::Error(name)) => {
                    found = Some(name);
                    break;
                }
                Err(Fault::Raises) => return Err(Fault::Raises),
            }
        }
        match found {
            None => return Ok(()),
            Some(name) => fault = name,
        }
    }
    error(fault)
}
