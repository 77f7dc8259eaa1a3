//! Values as Python sees them: types, equality, and texts without what bfcl-eval overlooks.

use std::borrow::Cow;

use super::kinds::Type;
use crate::python::Py;

pub(super) const fn type_of(value: &Py<'_>) -> Type {
    match value {
        Py::None => Type::Nothing,
        Py::Bool(_) => Type::Bool,
        Py::Int(_) => Type::Int,
        Py::Float(_) => Type::Float,
        Py::Str(_) => Type::Str,
        Py::List(_) => Type::List,
        Py::Tuple(_) => Type::Tuple,
        Py::Dict(_) => Type::Dict,
    }
}

/// `==` of Python: `1 == 1.0 == True`.
pub(super) fn equal(one: &Py<'_>, other: &Py<'_>) -> bool {
    match (one, other) {
        (Py::Str(a), Py::Str(b)) => a == b,
        (Py::None, Py::None) => true,
        (Py::List(a), Py::List(b)) | (Py::Tuple(a), Py::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Py::Dict(a), Py::Dict(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| member(b, name).is_some_and(|b| equal(a, b)))
        }
        _ => match (whole(one), whole(other)) {
            (Some(a), Some(b)) => a == b,
            (Some(a), None) => matches!(other, Py::Float(b) if is_whole(*b, a)),
            (None, Some(b)) => matches!(one, Py::Float(a) if is_whole(*a, b)),
            (None, None) => {
                matches!((one, other), (Py::Float(a), Py::Float(b)) if a.partial_cmp(b).is_some_and(|o| o.is_eq()))
            }
        },
    }
}

fn whole(value: &Py<'_>) -> Option<i128> {
    match value {
        Py::Bool(flag) => Some(i128::from(*flag)),
        Py::Int(whole) => Some(*whole),
        _ => None,
    }
}

/// Whether a double is exactly a whole number.
fn is_whole(double: f64, whole: i128) -> bool {
    double.abs() < 1e38 && double.fract() == 0.0 && double as i128 == whole
}

/// A member of a dict.
pub(super) fn member<'v, 't>(members: &'v [(Py<'t>, Py<'t>)], name: &Py<'_>) -> Option<&'v Py<'t>> {
    members.iter().find(|(known, _)| equal(known, name)).map(|(_, value)| value)
}

pub(super) fn is_empty_text(value: &Py<'_>) -> bool {
    matches!(value, Py::Str(text) if text.is_empty())
}

/// A text without spaces and some signs, in lower case, with double quotes.
pub(super) fn standard(text: &str) -> Cow<'_, str> {
    let is_kept = |c: &char| !matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^');
    if text.chars().all(|c| is_kept(&c) && c != '\'' && !c.is_uppercase() && (c.is_ascii() || c.is_lowercase())) {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().filter(is_kept).collect();
    Cow::Owned(kept.to_lowercase().replace('\'', "\""))
}

/// Whether a text is [`standard`] text; most texts are ASCII, and are compared without a copy.
pub(super) fn is_standard(text: &str, standardized: &str) -> bool {
    if !text.is_ascii() {
        return standard(text) == standardized;
    }
    let kept = text.bytes().filter(|byte| !matches!(byte, b' ' | b',' | b'.' | b'/' | b'-' | b'_' | b'*' | b'^'));
    let kept = kept.map(|byte| if byte == b'\'' { b'"' } else { byte.to_ascii_lowercase() });
    kept.eq(standardized.bytes())
}

/// Equality of two values, texts compared by [`standard`].
pub(super) fn alike(one: &Py<'_>, other: &Py<'_>) -> bool {
    match (one, other) {
        (Py::Str(a), Py::Str(b)) => a == b || standard(a) == standard(b),
        _ => equal(one, other),
    }
}
