//! The strings of a value to which its shape gives a format. Whether they keep it is not decided here.

use super::check::mismatches;
use super::describe::Shape;
use super::{areas, union};
use crate::pointer;
use crate::revision::Revision;
use serde_json::Value;

/// A string with a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formatted<'v> {
    /// Where in the value, as an RFC 6901 JSON pointer.
    pub pointer: String,
    /// `uri`, `uri-template` or `byte`.
    pub format: &'static str,
    /// The string.
    pub text: &'v str,
}

/// Every such string, in the order of the description. What does not fit the shape is passed over.
pub(super) fn formatted<'v>(shape: &'static Shape, revision: Revision, value: &'v Value) -> Vec<Formatted<'v>> {
    let mut out = Vec::new();
    walk(shape, revision, value, "", &mut out);
    out
}

fn walk<'v>(shape: &'static Shape, revision: Revision, value: &'v Value, at: &str, out: &mut Vec<Formatted<'v>>) {
    match (shape, value) {
        (Shape::Named(name), _) => walk(&areas::known(name).shape, revision, value, at, out),
        (Shape::Both(parts), _) => parts.iter().for_each(|part| walk(part, revision, value, at, out)),
        (Shape::Either(alternatives), _) => {
            let fits = |shape: &&'static Shape| mismatches(shape, revision, value).is_empty();
            if let Some(shape) = union::live(alternatives, revision).into_iter().find(fits) {
                walk(shape, revision, value, at, out);
            }
        }
        (Shape::Text { format: Some(format) }, Value::String(text)) => {
            out.push(Formatted { pointer: at.to_owned(), format, text });
        }
        (Shape::List { of, .. }, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                walk(of, revision, item, &format!("{at}/{index}"), out);
            }
        }
        (Shape::Map(of), Value::Object(members)) => {
            for (name, member) in members {
                walk(of, revision, member, &format!("{at}/{}", pointer::escape(name)), out);
            }
        }
        (Shape::Object(groups), Value::Object(members)) => {
            for field in groups.iter().copied().flatten().filter(|field| field.present.contains(revision)) {
                if let Some(member) = members.get(field.name) {
                    walk(&field.shape, revision, member, &format!("{at}/{}", pointer::escape(field.name)), out);
                }
            }
        }
        _ => {}
    }
}
