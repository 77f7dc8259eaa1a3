//! The vocabulary in which shapes are described: `define("Tool", "…", object(&[&[req("name", STRING), …]]))`.
//!
//! Everything is const data. It says what a value looks like and in which revisions; it must not know how values are
//! checked or how a schema is written.

use crate::revision::{R2024_11_05, Revision};

/// A set of revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Revisions(u8);

impl Revisions {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self::from(R2024_11_05);

    pub(super) const fn from(first: Revision) -> Self {
        Self(0b1_1111 << first as u8 & 0b1_1111)
    }

    pub(super) const fn through(last: Revision) -> Self {
        Self((0b10 << last as u8) - 1)
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn contains(self, revision: Revision) -> bool {
        self.0 >> revision as u8 & 1 == 1
    }
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Any JSON at all.
    Any,
    /// A string; the format (`uri`, `uri-template`, `byte`) is an annotation.
    Text { format: Option<&'static str> },
    /// A whole number, at least `least` and at most `most`. As JSON Schema has it, 1.0 is whole.
    Integer { least: Option<i64>, most: Option<i64> },
    /// A number, inside the closed range.
    Number { within: Option<(i32, i32)> },
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
    /// This string and no other.
    Exactly(&'static str),
    /// One of these strings.
    Words(&'static [&'static str]),
    /// This whole number and no other.
    Code(i64),
    /// An array, of at most `most` items.
    List { of: &'static Shape, most: Option<usize> },
    /// An object whose members, whatever their names, all have one shape.
    Map(&'static Shape),
    /// An object with these fields (in groups, so that groups can be shared) and any others.
    Object(&'static [&'static [Field]]),
    /// The shape of another definition.
    Named(&'static str),
    /// At least one of these.
    Either(&'static [Alternative]),
    /// All of these.
    Both(&'static [Shape]),
}

/// A member of an object. One name may be described twice in one object, for different revisions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// The revisions that know the member.
    pub(super) present: Revisions,
    /// The revisions that insist on it, as far as they know it.
    pub(super) required: Revisions,
}

/// One way to satisfy [`Shape::Either`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) shape: Shape,
    pub(super) present: Revisions,
}

/// A shape with a name.
///
/// A shape is often older than its name (request parameters got names at 2025-11-25). It is described once, under the
/// name; a revision that lacks the name has the shape written out in the place that refers to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    /// One line, our own words.
    pub(super) doc: &'static str,
    pub(super) shape: Shape,
    /// The revisions that have the name.
    pub(super) named: Revisions,
}

/// `since`, `until` and `only` for a struct with a set of revisions.
macro_rules! spans {
    ($type:ident, $set:ident) => {
        impl $type {
            /// From this revision on.
            pub(super) const fn since(mut self, first: Revision) -> Self {
                self.$set = self.$set.and(Revisions::from(first));
                self
            }

            /// Up to and including this revision.
            pub(super) const fn until(mut self, last: Revision) -> Self {
                self.$set = self.$set.and(Revisions::through(last));
                self
            }

            /// In this revision alone.
            pub(super) const fn only(self, revision: Revision) -> Self {
                self.since(revision).until(revision)
            }
        }
    };
}

spans!(Field, present);
spans!(Alternative, present);
spans!(Definition, named);

impl Field {
    /// Insisted on from this revision on, optional before.
    pub(super) const fn required_since(mut self, first: Revision) -> Self {
        self.required = Revisions::from(first);
        self
    }

    /// Insisted on up to and including this revision, optional afterwards.
    pub(super) const fn required_until(mut self, last: Revision) -> Self {
        self.required = Revisions::through(last);
        self
    }

    /// Whether `revision` insists on the member.
    pub(super) const fn is_required(&self, revision: Revision) -> bool {
        self.required.contains(revision)
    }
}

pub(super) const ANY: Shape = Shape::Any;
pub(super) const STRING: Shape = Shape::Text { format: None };
pub(super) const URI: Shape = Shape::Text { format: Some("uri") };
pub(super) const URI_TEMPLATE: Shape = Shape::Text { format: Some("uri-template") };
pub(super) const BASE64: Shape = Shape::Text { format: Some("byte") };
pub(super) const INTEGER: Shape = Shape::Integer { least: None, most: None };
pub(super) const NATURAL: Shape = Shape::Integer { least: Some(0), most: None };
/// A whole number that a float of 64 bits holds without loss.
pub(super) const EXACT: Shape = Shape::Integer { least: Some(-EXACTLY), most: Some(EXACTLY) };
const EXACTLY: i64 = (1 << 53) - 1;
pub(super) const NUMBER: Shape = Shape::Number { within: None };
/// A weight: 0 is least, 1 is most.
pub(super) const WEIGHT: Shape = Shape::Number { within: Some((0, 1)) };
pub(super) const BOOLEAN: Shape = Shape::Boolean;
pub(super) const NULL: Shape = Shape::Null;
/// An object about whose members nothing is said.
pub(super) const OBJECT: Shape = Shape::Object(&[]);

pub(super) const fn exactly(word: &'static str) -> Shape {
    Shape::Exactly(word)
}

pub(super) const fn words(words: &'static [&'static str]) -> Shape {
    Shape::Words(words)
}

pub(super) const fn code(code: i64) -> Shape {
    Shape::Code(code)
}

pub(super) const fn list(of: &'static Shape) -> Shape {
    Shape::List { of, most: None }
}

pub(super) const fn list_up_to(most: usize, of: &'static Shape) -> Shape {
    Shape::List { of, most: Some(most) }
}

pub(super) const fn map(of: &'static Shape) -> Shape {
    Shape::Map(of)
}

pub(super) const fn object(groups: &'static [&'static [Field]]) -> Shape {
    Shape::Object(groups)
}

pub(super) const fn refers(name: &'static str) -> Shape {
    Shape::Named(name)
}

pub(super) const fn either(alternatives: &'static [Alternative]) -> Shape {
    Shape::Either(alternatives)
}

pub(super) const fn both(parts: &'static [Shape]) -> Shape {
    Shape::Both(parts)
}

/// An alternative.
pub(super) const fn alt(shape: Shape) -> Alternative {
    Alternative { shape, present: Revisions::ALL }
}

/// An alternative that is a definition.
pub(super) const fn one(name: &'static str) -> Alternative {
    alt(refers(name))
}

/// A member that must be there.
pub(super) const fn req(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, present: Revisions::ALL, required: Revisions::ALL }
}

/// A member that may be left out.
pub(super) const fn opt(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, present: Revisions::ALL, required: Revisions::NONE }
}

pub(super) const fn define(name: &'static str, doc: &'static str, shape: Shape) -> Definition {
    Definition { name, doc, shape, named: Revisions::ALL }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

    fn of(set: Revisions) -> Vec<Revision> {
        Revision::ALL.into_iter().filter(|r| set.contains(*r)).collect()
    }

    #[test]
    fn spans_include_both_ends() {
        assert_eq!(of(Revisions::ALL), Revision::ALL);
        assert_eq!(of(Revisions::NONE), []);
        assert_eq!(of(opt("x", ANY).since(R2025_11_25).present), [R2025_11_25, R2026_07_28]);
        assert_eq!(of(opt("x", ANY).until(R2025_03_26).present), [R2024_11_05, R2025_03_26]);
        assert_eq!(of(opt("x", ANY).only(R2025_06_18).present), [R2025_06_18]);
        assert_eq!(of(opt("x", ANY).until(R2026_07_28).present), Revision::ALL);
        assert_eq!(of(opt("x", ANY).required_since(R2026_07_28).required), [R2026_07_28]);
        assert_eq!(of(opt("x", ANY).required_until(R2024_11_05).required), [R2024_11_05]);
    }
}
