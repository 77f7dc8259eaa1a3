//! What a schema admits and what it does not, by examples: a typical value, the edges of what fits, and for each constraint a
//! value that breaks it and no other. No example is trusted: a validator checks each, and one that
//! is not what it should be is dropped.

mod constraints;
mod refused;
mod walk;
mod wrong;

use serde_json::Value;

use crate::validate::{Mismatch, Unusable, Validator};
pub use refused::{beyond_bounds, constraints_broken, left_out, refused, refused_within};
pub use walk::{Kind, Variation, Width, variations};

/// How many mismatches of one value are looked at: more than one constraint is broken either way.
const MISMATCHES: usize = 64;

/// A schema that can be varied.
#[derive(Debug)]
pub struct Schema<'s> {
    root: &'s Value,
    /// As its dialect has it: a `format` may be a remark.
    plain: Validator,
    /// With every `format` a demand.
    strict: Validator,
}

impl<'s> Schema<'s> {
    /// A schema to vary, or why it is unusable.
    pub fn new(root: &'s Value) -> Result<Self, Unusable> {
        Ok(Self { root, plain: Validator::new(root)?, strict: Validator::with_formats(root)? })
    }

    /// Whether a value fits, formats and all.
    fn fits(&self, value: &Value) -> bool {
        self.strict.is_valid(value)
    }

    /// Whether a value that does not fit is refused by the schema's dialect too, and not for a `format` alone.
    fn demands(&self, value: &Value) -> bool {
        !self.plain.is_valid(value)
    }

    fn mismatches(&self, value: &Value) -> Vec<Mismatch> {
        self.strict.mismatches(value, MISMATCHES)
    }

    /// How much work it is to check a value; `None`: too much.
    fn work(&self, value: &Value) -> Option<usize> {
        self.strict.work(value)
    }
}

#[cfg(test)]
pub(crate) mod tests;
