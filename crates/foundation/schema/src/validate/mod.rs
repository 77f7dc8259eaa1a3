//! Whether a value fits a schema, within bounds: a schema that would overflow the stack is refused before it is compiled, and a
//! value that would take too long to check counts as one that does not fit.

mod circles;
mod dialect;
mod work;

use std::fmt::{self, Display, Formatter};

use jsonschema::PatternOptions;
use serde_json::Value;

use circles::goes_in_circles;
use dialect::dialect;
use work::{Patterns, QUICK, Work, size, work, work_for_each};

/// How large a peer's schema may be, in bytes and in depth.
const BYTES: usize = 256 << 10;
const DEPTH: usize = 64;
/// How long all regular expressions of a peer's schema may be together, in bytes: their classes are expanded when compiled.
const PATTERN_BYTES: usize = 32 << 10;
/// How much memory all compiled regular expressions may take together, and each of them, in bytes.
const COMPILED_BYTES: usize = 64 << 20;
const COMPILED_BYTES_EACH: usize = 10 << 20;
/// How many steps a regular expression may backtrack over one text.
const BACKTRACKS: usize = 20_000;

/// Why a schema cannot be used to validate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It has more than 256 KiB, is deeper than 64 levels, or its regular expressions are too long.
    TooLarge,
    /// Its references lead from schema to schema without end, or for too long, on one value.
    Circular,
    /// It is not a valid JSON Schema, or refers to a document that is not part of it.
    Invalid {
        /// Where in the schema: a JSON pointer.
        pointer: String,
        /// What is wrong there.
        why: String,
    },
}

impl Display for Unusable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("it is too large (the limits are 256 KiB and 64 levels)"),
            Self::Circular => f.write_str("its references lead to themselves, or from one to another too often"),
            Self::Invalid { why, .. } => f.write_str(why),
        }
    }
}

/// One way in which a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value: a JSON pointer.
    pub pointer: String,
    /// The keyword that it breaks; empty where the check was given up.
    pub keyword: String,
    /// What is wrong, for a person.
    pub message: String,
}

/// A compiled schema. It never fetches anything: a schema that refers to the network cannot be compiled.
#[derive(Debug)]
pub struct Validator {
    compiled: jsonschema::Validator,
    schema: Value,
    /// How much work each part of a value takes at most; `None` where that depends on the value so much that it must be
    /// estimated first.
    each: Option<usize>,
}

impl Validator {
    /// Compiles a peer's schema, within all bounds. A `format` is checked where the schema's dialect demands it.
    pub fn new(schema: &Value) -> Result<Self, Unusable> {
        small(schema)?;
        Self::compile(schema, false)
    }

    /// Like [`Self::new`], but every `format` is checked.
    pub fn with_formats(schema: &Value) -> Result<Self, Unusable> {
        small(schema)?;
        Self::compile(schema, true)
    }

    /// Compiles a schema from a file of the user's own: it may have any size, because the user chose it.
    pub fn trusted(schema: &Value) -> Result<Self, Unusable> {
        Self::compile(schema, false)
    }

    fn compile(schema: &Value, formats: bool) -> Result<Self, Unusable> {
        if goes_in_circles(schema) {
            return Err(Unusable::Circular);
        }
        let each = COMPILED_BYTES / Patterns::of(schema).count.max(1);
        let patterns =
            PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(each.min(COMPILED_BYTES_EACH));
        let options = jsonschema::options().with_pattern_options(patterns);
        let options = if formats { options.should_validate_formats(true) } else { options };
        let options = match dialect(schema) {
            Some(dialect) => options.with_draft(dialect),
            None => options,
        };
        let compiled = options.build(schema).map_err(|error| Unusable::Invalid {
            pointer: error.instance_path().to_string(),
            why: error.to_string(),
        })?;
        Ok(Self { compiled, schema: schema.clone(), each: work_for_each(schema) })
    }

    /// Whether a value takes too long to check: then it counts as one that does not fit.
    pub fn takes_too_long(&self, value: &Value) -> bool {
        self.work(value).is_none()
    }

    /// Whether a value fits. One that would take too long to check does not.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.work(value).is_some() && self.compiled.is_valid(value)
    }

    /// The first mismatches of a value, at most `most`; none where it fits.
    pub fn mismatches(&self, value: &Value, most: usize) -> Vec<Mismatch> {
        if self.work(value).is_none() {
            let message = "checking this value against the schema takes too long".to_owned();
            return vec![Mismatch { pointer: String::new(), keyword: String::new(), message }];
        }
        let errors = self.compiled.iter_errors(value).take(most);
        errors
            .map(|error| Mismatch {
                pointer: error.instance_path().to_string(),
                keyword: error.kind().keyword().to_owned(),
                message: error.to_string(),
            })
            .collect()
    }

    /// How much work it is at most to check a value, in schemas that are looked at; `None`: too much. 1 for a schema whose
    /// work grows with the value alone.
    pub(crate) fn work(&self, value: &Value) -> Option<usize> {
        match self.each {
            Some(each) if size(value).saturating_mul(each) <= QUICK => Some(1),
            Some(_) => work(&self.schema, value, Work::for_simple()),
            None => work(&self.schema, value, Work::default()),
        }
    }
}

/// Whether `value` fits a peer's schema. Nothing fits an unusable one.
pub fn fits(schema: &Value, value: &Value) -> bool {
    Validator::new(schema).is_ok_and(|validator| validator.is_valid(value))
}

fn small(schema: &Value) -> Result<(), Unusable> {
    let large =
        depth(schema, DEPTH) == 0 || schema.to_string().len() > BYTES || Patterns::of(schema).bytes > PATTERN_BYTES;
    if large { Err(Unusable::TooLarge) } else { Ok(()) }
}

/// What is left of `room` levels below the deepest value; 0 where it is deeper.
fn depth(value: &Value, room: usize) -> usize {
    if room == 0 {
        return 0;
    }
    match value {
        Value::Array(items) => items.iter().map(|item| depth(item, room - 1)).min().unwrap_or(room),
        Value::Object(members) => members.values().map(|member| depth(member, room - 1)).min().unwrap_or(room),
        _ => room,
    }
}

#[cfg(test)]
mod tests;
