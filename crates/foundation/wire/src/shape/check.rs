//! Walks a value along a shape and notes every disagreement.
//!
//! It knows nothing of MCP but the description it is given.

use super::describe::{Field, Shape};
use super::{Mismatch, areas, union};
use crate::pointer;
use crate::revision::Revision;
use serde_json::{Number, Value};
use std::fmt::Write as _;

/// The longest piece of a found string that a mismatch quotes.
const QUOTED: usize = 40;

/// All disagreements, in the order of the description.
pub(super) fn mismatches(shape: &'static Shape, revision: Revision, value: &Value) -> Vec<Mismatch> {
    let mut out = Vec::new();
    Walk { revision, out: &mut out }.value(shape, value, &Path::Root);
    out
}

/// Where we are: a list of steps back to the root, rendered only when something is wrong.
pub(super) enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, name) => {
                format!("{}/{}", parent.pointer(), pointer::escape(name))
            }
            Self::Item(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }
}

pub(super) struct Walk<'a> {
    pub(super) revision: Revision,
    pub(super) out: &'a mut Vec<Mismatch>,
}

impl Walk<'_> {
    pub(super) fn value(&mut self, shape: &'static Shape, value: &Value, at: &Path<'_>) {
        match shape {
            Shape::Named(name) => return self.value(&areas::known(name).shape, value, at),
            Shape::Either(alternatives) => return union::walk(self, alternatives, value, at),
            Shape::Both(parts) => return parts.iter().for_each(|part| self.part(part, value, at)),
            _ => {}
        }
        if !fits(shape, value) {
            return self.mismatch(at, expected(shape), found(value));
        }
        match (shape, value) {
            (Shape::List { of, .. }, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(of, item, &Path::Item(at, index));
                }
            }
            (Shape::Map(of), Value::Object(members)) => {
                for (name, member) in members {
                    self.value(of, member, &Path::Member(at, name));
                }
            }
            (Shape::Object(groups), _) => {
                for field in groups.iter().copied().flatten() {
                    self.field(field, value, at);
                }
            }
            _ => {}
        }
    }

    /// One part of several that must all hold; a disagreement that an earlier part noted is not noted twice.
    fn part(&mut self, part: &'static Shape, value: &Value, at: &Path<'_>) {
        let mut mine = Vec::new();
        Walk { revision: self.revision, out: &mut mine }.value(part, value, at);
        for mismatch in mine {
            if !self.out.iter().any(|m| m.pointer == mismatch.pointer) {
                self.out.push(mismatch);
            }
        }
    }

    fn field(&mut self, field: &'static Field, value: &Value, at: &Path<'_>) {
        if !field.present.contains(self.revision) {
            return;
        }
        let here = Path::Member(at, field.name);
        match value.get(field.name) {
            Some(member) => self.value(&field.shape, member, &here),
            None if field.is_required(self.revision) => {
                self.mismatch(&here, union::expected(&field.shape, self.revision), missing());
            }
            None => {}
        }
    }

    pub(super) fn mismatch(&mut self, at: &Path<'_>, expected: String, found: String) {
        self.out.push(Mismatch { pointer: at.pointer(), expected, found });
    }
}

/// Whether the value itself, its members and items aside, is what the shape asks for.
fn fits(shape: &Shape, value: &Value) -> bool {
    match shape {
        Shape::Any | Shape::Named(_) | Shape::Either(_) | Shape::Both(_) => true,
        Shape::Text { .. } => value.is_string(),
        Shape::Boolean => value.is_boolean(),
        Shape::Null => value.is_null(),
        Shape::Map(_) | Shape::Object(_) => value.is_object(),
        Shape::Integer { least, most } => whole(value)
            .is_some_and(|n| least.is_none_or(|least| at_least(n, least)) && most.is_none_or(|most| at_most(n, most))),
        Shape::Number { within } => {
            value.as_f64().is_some_and(|n| within.is_none_or(|(low, high)| n >= f64::from(low) && n <= f64::from(high)))
        }
        Shape::Exactly(word) => value.as_str() == Some(word),
        Shape::Words(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Shape::Code(code) => whole(value).is_some_and(|n| n.as_f64() == Some(*code as f64)),
        Shape::List { most, .. } => value.as_array().is_some_and(|a| most.is_none_or(|most| a.len() <= most)),
    }
}

/// The number, if it is whole; as in JSON Schema, 1.0 is.
fn whole(value: &Value) -> Option<&Number> {
    let Value::Number(n) = value else { return None };
    (!n.is_f64() || n.as_f64().is_some_and(|n| n.fract() == 0.0)).then_some(n)
}

fn at_least(n: &Number, least: i64) -> bool {
    n.as_i64().map_or_else(|| n.as_f64().is_some_and(|n| n >= least as f64), |n| n >= least)
}

fn at_most(n: &Number, most: i64) -> bool {
    n.as_i64().map_or_else(|| n.as_f64().is_some_and(|n| n <= most as f64), |n| n <= most)
}

/// What a shape that is neither a reference nor a union asks for.
pub(super) fn expected(shape: &Shape) -> String {
    match shape {
        Shape::Any => "any value".to_owned(),
        Shape::Text { format: Some("byte") } => "a string (base64)".to_owned(),
        Shape::Text { format: Some("uri") } => "a string (a URI)".to_owned(),
        Shape::Text { format: Some("uri-template") } => "a string (a URI template)".to_owned(),
        Shape::Text { .. } => "a string".to_owned(),
        Shape::Integer { least: None, most: None } => "an integer".to_owned(),
        Shape::Integer { least: Some(least), most: None } => format!("an integer of {least} or more"),
        Shape::Integer { least: None, most: Some(most) } => format!("an integer of {most} or less"),
        Shape::Integer { least: Some(least), most: Some(most) } => format!("an integer from {least} to {most}"),
        Shape::Number { within: None } => "a number".to_owned(),
        Shape::Number { within: Some((low, high)) } => format!("a number from {low} to {high}"),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Exactly(word) => format!("{word:?}"),
        Shape::Words(words) => one_of(words.iter().copied()),
        Shape::Code(code) => format!("the number {code}"),
        Shape::List { most: None, .. } => "an array".to_owned(),
        Shape::List { most: Some(most), .. } => format!("an array of at most {most} items"),
        Shape::Map(_) | Shape::Object(_) | Shape::Both(_) | Shape::Named(_) | Shape::Either(_) => {
            "an object".to_owned()
        }
    }
}

/// `"user"`, or `one of "user", "assistant"`.
pub(super) fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut count = 0;
    for word in words {
        let _ = write!(text, "{}{word:?}", if count == 0 { "" } else { ", " });
        count += 1;
    }
    if count > 1 { format!("one of {text}") } else { text }
}

/// The text for a missing member.
pub(super) fn missing() -> String {
    "nothing (the member is missing)".to_owned()
}

/// A short account of a value.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => format!("number {n}"),
        Value::String(text) => {
            let quoted: String = text.chars().take(QUOTED).collect();
            let more = if quoted.len() < text.len() { "…" } else { "" };
            format!("string \"{}{more}\"", quoted.escape_debug())
        }
        Value::Array(items) => match items.len() {
            0 => "an empty array".to_owned(),
            1 => "an array of 1 item".to_owned(),
            n => format!("an array of {n} items"),
        },
        Value::Object(members) => match members.len() {
            0 => "an empty object".to_owned(),
            1 => "an object with 1 member".to_owned(),
            n => format!("an object with {n} members"),
        },
    }
}
