//! The types that questions name, as bfcl-eval understands them in each language. They are looked up when a file is read.

use super::Language;

/// A type of Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Nothing,
    Bool,
    Int,
    Float,
    Str,
    List,
    Tuple,
    Dict,
    Set,
}

/// What a question says of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Described {
    /// Its type as the question names it.
    pub(super) kind: &'static str,
    pub(super) value: Type,
    pub(super) items: Items,
}

/// What a question says of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    /// bfcl-eval does not look at them.
    NotRead,
    /// Their type as the question names it, and as a type of Python.
    Of(&'static str, Type),
    /// No type that bfcl-eval knows, though it looks at them.
    Unknown,
}

/// Name, type, and whether the items are looked at, too.
type Row = (&'static str, Type, bool);

const PYTHON: &[Row] = &[
    ("string", Type::Str, false),
    ("any", Type::Str, false),
    ("integer", Type::Int, false),
    ("float", Type::Float, false),
    ("boolean", Type::Bool, false),
    ("array", Type::List, true),
    ("tuple", Type::List, true),
    ("dict", Type::Dict, false),
];

const JAVA: &[Row] = &[
    ("byte", Type::Int, false),
    ("short", Type::Int, false),
    ("integer", Type::Int, false),
    ("long", Type::Int, false),
    ("float", Type::Float, false),
    ("double", Type::Float, false),
    ("boolean", Type::Bool, false),
    ("char", Type::Str, false),
    ("String", Type::Str, false),
    ("any", Type::Str, false),
    ("Array", Type::List, true),
    ("ArrayList", Type::List, true),
    ("Queue", Type::List, false),
    ("Stack", Type::List, false),
    ("HashMap", Type::Dict, false),
    ("Hashtable", Type::Dict, false),
    ("Set", Type::Set, false),
];

const JAVASCRIPT: &[Row] = &[
    ("String", Type::Str, false),
    ("any", Type::Str, false),
    ("integer", Type::Int, false),
    ("Bigint", Type::Int, false),
    ("float", Type::Float, false),
    ("Boolean", Type::Bool, false),
    ("dict", Type::Dict, false),
    ("array", Type::List, true),
];

fn row(kind: &str, language: Language) -> Option<Row> {
    let rows = match language {
        Language::Python => PYTHON,
        Language::Java => JAVA,
        Language::JavaScript => JAVASCRIPT,
    };
    rows.iter().find(|(name, ..)| *name == kind).copied()
}

/// A parameter by the names of its type and of its items' type; `None` if bfcl-eval knows no such type.
pub(super) fn described(kind: Option<&str>, items: Option<&str>, language: Language) -> Option<Described> {
    let (kind, value, has_items) = row(kind?, language)?;
    let items = match items.and_then(|items| row(items, language)) {
        _ if !has_items => Items::NotRead,
        Some((kind, value, _)) => Items::Of(kind, value),
        None => Items::Unknown,
    };
    Some(Described { kind, value, items })
}
