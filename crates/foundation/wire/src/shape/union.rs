//! Which alternative of a union a value was meant to be, so that the mismatch names the real flaw.
//!
//! "Matches none of seventeen alternatives" is of no help. The alternative is chosen by kind of value, then by the
//! members that tell alternatives apart (`method`, `type`, `mode`, `status`), then by the likeness of the member names.

use super::check::{Path, Walk, expected as expected_plain, found, missing, one_of};
use super::describe::{Alternative, Field, Shape};
use super::{Mismatch, areas};
use crate::revision::Revision;
use serde_json::Value;
use std::cmp::Reverse;

/// The members whose value says which alternative is meant.
const TAGS: [&str; 4] = ["method", "type", "mode", "status"];

/// An alternative and what the value lacks to be it.
struct Candidate {
    shape: &'static Shape,
    fields: Vec<&'static Field>,
    mismatches: Vec<Mismatch>,
}

/// Checks a value against a union.
pub(super) fn walk(walk: &mut Walk<'_>, alternatives: &'static [Alternative], value: &Value, at: &Path<'_>) {
    let revision = walk.revision;
    let mut candidates = Vec::new();
    for shape in live(alternatives, revision) {
        let mut mismatches = Vec::new();
        Walk { revision, out: &mut mismatches }.value(shape, value, at);
        if mismatches.is_empty() {
            return;
        }
        candidates.push(Candidate { shape, fields: fields(shape, revision), mismatches });
    }
    let everything = expected_of(candidates.iter().map(|t| t.shape));
    candidates.retain(|t| same_kind(t.shape, value));
    for tag in TAGS {
        if candidates.len() > 1
            && value.is_object()
            && let Some(words) = narrow(&mut candidates, tag, value, revision)
        {
            let found = value.get(tag).map_or_else(missing, found);
            return walk.mismatch(&Path::Member(at, tag), one_of(words.into_iter()), found);
        }
    }
    let Some(nearest) = candidates.iter().map(|t| t.distance(value, revision)).min() else {
        return walk.mismatch(at, everything, found(value));
    };
    candidates.retain(|t| t.distance(value, revision) == nearest);
    if let Some(names) = undecided(&candidates, value, revision) {
        return walk.mismatch(at, format!("an object with {}", names.join(" or ")), "none of these members".to_owned());
    }
    walk.out.extend(candidates.swap_remove(0).mismatches);
}

/// The members of which any one would do, where alternatives equally near lack just one member each.
fn undecided(candidates: &[Candidate], value: &Value, revision: Revision) -> Option<Vec<String>> {
    let lacks = |candidate: &Candidate| match candidate.missing(value, revision).as_slice() {
        [name] if candidate.mismatches.len() == 1 => Some(format!("{name:?}")),
        _ => None,
    };
    let names: Vec<String> = candidates.iter().map(lacks).collect::<Option<_>>()?;
    (names.len() > 1 && names.iter().any(|name| *name != names[0])).then_some(names)
}

impl Candidate {
    /// The words that the alternative allows for a tag.
    fn words(&self, tag: &str) -> Option<(&'static Field, &'static [&'static str])> {
        let field = self.fields.iter().find(|f| f.name == tag)?;
        match &field.shape {
            Shape::Exactly(word) => Some((field, std::slice::from_ref(word))),
            Shape::Words(words) => Some((field, words)),
            _ => None,
        }
    }

    /// Required members that the value does not have.
    fn missing(&self, value: &Value, revision: Revision) -> Vec<&'static str> {
        let absent = |f: &&&Field| f.is_required(revision) && value.get(f.name).is_none();
        self.fields.iter().filter(absent).map(|f| f.name).collect()
    }

    /// Smaller is likelier: members in common, then members missing, then flaws.
    fn distance(&self, value: &Value, revision: Revision) -> (Reverse<usize>, usize, usize) {
        let common = self.fields.iter().filter(|f| value.get(f.name).is_some()).count();
        (Reverse(common), self.missing(value, revision).len(), self.mismatches.len())
    }
}

/// Keeps the alternatives that the tag allows. Where it allows none: the words that it should have had.
fn narrow(candidates: &mut Vec<Candidate>, tag: &str, value: &Value, revision: Revision) -> Option<Vec<&'static str>> {
    let allowed = |candidate: &Candidate| match (candidate.words(tag), value.get(tag)) {
        (Some((_, words)), Some(Value::String(text))) => words.contains(&text.as_str()),
        (Some(_), Some(_)) => false,
        (Some((field, _)), None) => !field.is_required(revision),
        (None, _) => true,
    };
    if candidates.iter().any(allowed) {
        candidates.retain(allowed);
        return None;
    }
    let mut words: Vec<&str> = Vec::new();
    for word in candidates.iter().filter_map(|t| t.words(tag)).flat_map(|(_, words)| words) {
        if !words.contains(word) {
            words.push(word);
        }
    }
    Some(words)
}

/// The alternatives that the revision has, references followed and unions within unions laid flat.
pub(super) fn live(alternatives: &'static [Alternative], revision: Revision) -> Vec<&'static Shape> {
    let mut shapes = Vec::new();
    for alternative in alternatives.iter().filter(|a| a.present.contains(revision)) {
        match resolve(&alternative.shape) {
            Shape::Either(inner) => shapes.extend(live(inner, revision)),
            shape => shapes.push(shape),
        }
    }
    shapes
}

fn resolve(shape: &'static Shape) -> &'static Shape {
    match shape {
        Shape::Named(name) => resolve(&areas::known(name).shape),
        _ => shape,
    }
}

/// The fields of an object shape.
fn fields(shape: &'static Shape, revision: Revision) -> Vec<&'static Field> {
    match resolve(shape) {
        Shape::Object(groups) => groups.iter().copied().flatten().filter(|f| f.present.contains(revision)).collect(),
        Shape::Both(parts) => parts.iter().flat_map(|p| fields(p, revision)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a value is at least the kind of thing that the shape is.
fn same_kind(shape: &Shape, value: &Value) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Text { .. } | Shape::Exactly(_) | Shape::Words(_) => value.is_string(),
        Shape::Integer { .. } | Shape::Number { .. } | Shape::Code(_) => false,
        Shape::Boolean => value.is_boolean(),
        Shape::Null => value.is_null(),
        Shape::List { .. } => value.is_array(),
        Shape::Map(_) | Shape::Object(_) | Shape::Both(_) | Shape::Named(_) | Shape::Either(_) => value.is_object(),
    }
}

/// What any shape asks for, references and unions included.
pub(super) fn expected(shape: &'static Shape, revision: Revision) -> String {
    match resolve(shape) {
        Shape::Either(alternatives) => expected_of(live(alternatives, revision).into_iter()),
        plain => expected_plain(plain),
    }
}

/// `a string or an integer`.
fn expected_of(shapes: impl Iterator<Item = &'static Shape>) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in shapes.map(expected_plain) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(" or ")
}
