//! Message shapes of all five revisions, from one annotated description.
//!
//! The description is Rust data in `areas`; [`check`] walks a value along it, [`json_schema`] writes it out for one
//! revision. Names are those of the official schema of that revision; the words are ours. Shapes only: this module
//! must not know methods' directions, sessions, order of messages or anything else that one value cannot show.

mod areas;
mod check;
mod describe;
mod export;
mod formats;
mod spelling;
mod union;

use crate::meta;
use crate::revision::Revision;
use serde_json::Value;

pub use formats::Formatted;
pub use spelling::{Misspelt, are_alike};

/// An extension of the protocol whose messages are described too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// `io.modelcontextprotocol/tasks`: calls that continue after their answer.
    Tasks,
}

impl Extension {
    /// Every one.
    pub const ALL: [Self; 1] = [Self::Tasks];

    /// How peers name it in their capabilities.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Tasks => meta::TASKS_EXTENSION,
        }
    }

    /// The revision it extends.
    pub const fn revision(self) -> Revision {
        match self {
            Self::Tasks => Revision::R2026_07_28,
        }
    }

    /// Before what its schema calls a definition: a revision may have another of that name.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Tasks => "tasks.",
        }
    }

    fn local(self, name: &str) -> &str {
        name.strip_prefix(self.prefix()).unwrap_or(name)
    }

    fn find(self, definition: &str) -> Option<&'static describe::Definition> {
        areas::of(self).iter().find(|d| self.local(d.name) == definition)
    }

    /// Checks `value` against what the extension calls `definition`, as [`check`] does for a revision.
    pub fn check(self, definition: &str, value: &Value) -> Option<Vec<Mismatch>> {
        Some(check::mismatches(&self.find(definition)?.shape, self.revision(), value))
    }

    /// The names that it defines.
    pub fn definitions(self) -> impl Iterator<Item = &'static str> {
        areas::of(self).iter().map(move |d| self.local(d.name))
    }

    /// Its JSON Schema (2020-12), with the definitions of its revision that it refers to.
    pub fn json_schema(self) -> Value {
        export::extension_schema(self)
    }
}

/// One disagreement between a value and the shape it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value, as an RFC 6901 JSON pointer. A missing member is named at the place where it belongs.
    pub pointer: String,
    /// What the shape asks for: `a string`, `one of "user", "assistant"`.
    pub expected: String,
    /// What was found, short: `number 12`, `nothing (the member is missing)`.
    pub found: String,
}

/// Checks `value` against the definition that `revision` calls `definition`.
///
/// `None`: that revision has no such definition. An empty list: the value conforms. `format` (uri, byte) is an
/// annotation only, and members that the shape does not name are always allowed, as in the official schemas.
pub fn check(definition: &str, revision: Revision, value: &Value) -> Option<Vec<Mismatch>> {
    let definition = areas::find(definition).filter(|d| d.named.contains(revision))?;
    Some(check::mismatches(&definition.shape, revision, value))
}

/// The strings of `value` to which `definition` gives a format; none where the revision has no such definition.
pub fn formatted<'v>(definition: &str, revision: Revision, value: &'v Value) -> Vec<Formatted<'v>> {
    let definition = areas::find(definition).filter(|d| d.named.contains(revision));
    definition.map_or_else(Vec::new, |definition| formats::formatted(&definition.shape, revision, value))
}

/// The members of `value` that `definition` has in another spelling; `None` where the revision has no such definition.
pub fn misspelt(definition: &str, revision: Revision, value: &Value) -> Option<Vec<Misspelt>> {
    let definition = areas::find(definition).filter(|d| d.named.contains(revision))?;
    Some(spelling::misspelt(&definition.shape, revision, value))
}

/// The names that `revision` defines, area by area.
pub fn definitions(revision: Revision) -> impl Iterator<Item = &'static str> {
    areas::all().filter(move |d| d.named.contains(revision)).map(|d| d.name)
}

/// What the definition is for, in one line of our own words. `None`: that revision has no such definition.
pub fn doc(definition: &str, revision: Revision) -> Option<&'static str> {
    areas::find(definition).filter(|d| d.named.contains(revision)).map(|d| d.doc)
}

/// Our JSON Schema (2020-12) for a revision: `$defs` with every definition.
pub fn json_schema(revision: Revision) -> Value {
    export::json_schema(revision)
}
