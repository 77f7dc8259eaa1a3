//! Calls against the answers that are possible, rule by rule as bfcl-eval applies them.

use std::borrow::Cow;

use super::values::{Type, alike, equal, is_empty_text, member, standard, type_of};
use super::{Decoded, Entry, Kind, Language, Mode, Verdict, java, javascript};
use crate::python::Py;

/// A function as the question describes it.
#[derive(Clone, Debug)]
pub struct Function {
    pub(super) name: String,
    /// The name with underscores in place of dots.
    pub(super) underscored: String,
    pub(super) required: Vec<String>,
    /// The types by name: of the value, and of its items.
    pub(super) parameters: Vec<(String, Parameter)>,
    /// Whether the description has all members that bfcl-eval reads.
    pub(super) is_complete: bool,
}

/// A parameter as the question describes it.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) kind: Option<String>,
    pub(super) items: Option<String>,
}

/// One call that is possible: a function, and the alternatives of each argument.
#[derive(Clone, Debug)]
pub struct Possible {
    pub(super) function: String,
    /// The question's description of it, by number.
    pub(super) described: Option<usize>,
    pub(super) arguments: Vec<(String, Alternatives)>,
}

/// The values that an argument may have.
#[derive(Clone, Debug)]
pub(super) struct Alternatives {
    pub(super) values: Vec<Py>,
    /// Those that are texts, as they are compared.
    texts: Vec<String>,
}

impl Alternatives {
    pub(super) fn new(values: Vec<Py>) -> Self {
        let text = |value: &Py| match value {
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
pub(super) fn calls(entry: &Entry, calls: &[Decoded], mode: Mode) -> Verdict {
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

fn simple(entry: &Entry, calls: &[Decoded], mode: Mode) -> Checked {
    let [call] = calls else { return error("simple_function_checker:wrong_count") };
    let (Some(function), Some(possible)) = (entry.functions.first(), entry.possible.first()) else {
        return Err(Fault::Raises);
    };
    one(function, call, possible, entry.language, mode)
}

fn multiple(entry: &Entry, calls: &[Decoded], mode: Mode) -> Checked {
    if calls.len() != entry.possible.len() {
        return error("multiple_function_checker:wrong_count");
    }
    let (Some(call), Some(possible)) = (calls.first(), entry.possible.first()) else { return Err(Fault::Raises) };
    one(described(entry, possible)?, call, possible, entry.language, mode)
}

/// Each possible call takes the first call left that fits: no assignment that is better is looked for.
fn parallel(entry: &Entry, calls: &[Decoded], mode: Mode) -> Checked {
    if calls.len() != entry.possible.len() {
        return error("parallel_function_checker_no_order:wrong_count");
    }
    let mut is_taken = vec![false; calls.len()];
    for possible in &entry.possible {
        let mut found = None;
        for (at, call) in calls.iter().enumerate().filter(|(at, _)| !is_taken[*at]) {
            match described(entry, possible).and_then(|function| one(function, call, possible, entry.language, mode)) {
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

pub(super) fn described<'e>(entry: &'e Entry, possible: &Possible) -> Checked<&'e Function> {
    possible.described.and_then(|at| entry.functions.get(at)).ok_or(Fault::Raises)
}

/// One call against one that is possible.
pub(super) fn one(function: &Function, call: &Decoded, possible: &Possible, language: Language, mode: Mode) -> Checked {
    if !function.is_complete {
        return Err(Fault::Raises);
    }
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
        let parameter = function.parameters.iter().find(|(known, _)| known == name);
        let alternatives = possible.arguments.iter().find(|(known, _)| known == name);
        let (Some((_, parameter)), Some((_, alternatives))) = (parameter, alternatives) else {
            return error("simple_function_checker:unexpected_param");
        };
        argument(parameter, value, alternatives, language)?;
    }
    let is_left_out =
        |name: &str, alternatives: &Alternatives| !is_given(name) && !alternatives.values.iter().any(is_empty_text);
    if possible.arguments.iter().any(|(name, alternatives)| is_left_out(name, alternatives)) {
        return error("simple_function_checker:missing_optional");
    }
    Ok(())
}

/// The type that a description means, and whether its items are looked at, too.
fn meant(kind: &str, language: Language) -> Option<(Type, bool)> {
    let has_items = matches!(kind, "Array" | "ArrayList" | "array");
    Some(match language {
        Language::Python => match kind {
            "string" | "any" => (Type::Str, false),
            "integer" => (Type::Int, false),
            "float" => (Type::Float, false),
            "boolean" => (Type::Bool, false),
            "array" | "tuple" => (Type::List, true),
            "dict" => (Type::Dict, false),
            _ => return None,
        },
        Language::Java => match kind {
            "byte" | "short" | "integer" | "long" => (Type::Int, false),
            "float" | "double" => (Type::Float, false),
            "boolean" => (Type::Bool, false),
            "char" | "String" | "any" => (Type::Str, false),
            "Array" | "ArrayList" | "Queue" | "Stack" => (Type::List, has_items),
            "HashMap" | "Hashtable" => (Type::Dict, false),
            "Set" => (Type::Set, false),
            _ => return None,
        },
        Language::JavaScript => match kind {
            "String" | "any" => (Type::Str, false),
            "integer" | "Bigint" => (Type::Int, false),
            "float" => (Type::Float, false),
            "Boolean" => (Type::Bool, false),
            "dict" => (Type::Dict, false),
            "array" => (Type::List, has_items),
            _ => return None,
        },
    })
}

pub(super) fn argument(parameter: &Parameter, value: &Py, all: &Alternatives, language: Language) -> Checked {
    let alternatives = all.values.as_slice();
    let kind = parameter.kind.as_deref().ok_or(Fault::Raises)?;
    let (expected, has_items) = meant(kind, language).ok_or(Fault::Raises)?;
    let source = match (language, value) {
        (Language::Python, _) => "",
        (_, Py::Str(text)) => text.as_str(),
        (Language::Java, _) => return error("type_error:java"),
        (Language::JavaScript, _) => return error("type_error:js"),
    };
    let items = if has_items { Some(parameter.items.as_deref().ok_or(Fault::Raises)?) } else { None };
    let nested = items.map(|items| meant(items, language).map(|(kind, _)| kind).ok_or(Fault::Raises)).transpose()?;
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
fn fits_type(value: &Py, alternatives: &[Py], expected: Type, nested: Option<Type>) -> Checked<bool> {
    let of_key = alternatives.iter().find(|one| !is_empty_text(one)).map(type_of);
    let is_variable = of_key.is_some_and(|kind| kind != expected);
    let mut fault = "type_error:simple";
    if type_of(value) == expected {
        let Some(nested) = nested else { return Ok(is_variable) };
        let items = match value {
            Py::List(items) => items.as_slice(),
            _ => &[],
        };
        let fits = |alternative: &Py| match alternative {
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
    let given = standard(text);
    let is_one = alternatives.texts.iter().any(|one| *one == given);
    if is_one { Ok(()) } else { error("value_error:string") }
}

/// The items of an alternative: a text is a list of its characters.
fn items_of(alternative: &Py) -> Checked<Cow<'_, [Py]>> {
    match alternative {
        Py::List(items) | Py::Tuple(items) => Ok(Cow::Borrowed(items)),
        Py::Str(text) => Ok(Cow::Owned(text.chars().map(|c| Py::Str(c.to_string())).collect())),
        Py::Dict(members) if members.is_empty() => Ok(Cow::Borrowed(&[])),
        _ => Err(Fault::Raises),
    }
}

fn list(given: &[Py], alternatives: &[Py]) -> Checked {
    let mut is_one = false;
    for alternative in alternatives {
        let items = items_of(alternative)?;
        is_one |= items.len() == given.len() && given.iter().zip(items.iter()).all(|(one, other)| alike(one, other));
    }
    if is_one { Ok(()) } else { error("value_error:list/tuple") }
}

fn dict(given: &[(Py, Py)], alternatives: &[Py]) -> Checked {
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
fn dict_fault(given: &[(Py, Py)], keys: &[(Py, Py)]) -> Checked<Option<&'static str>> {
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

fn list_of_dicts(given: &[Py], alternatives: &[Py]) -> Checked {
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
