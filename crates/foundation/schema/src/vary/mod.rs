//! What a tool's `inputSchema` admits and what it does not, by examples: a typical value, the edges of what fits, and for
//! each constraint a value that breaks it and no other. Nothing is believed of what is made here: every example is held
//! against the schema by a validator, and what is not what it was made to be is thrown away. Pure.

mod instance;
mod text;
mod vary;
mod views;

use jsonschema::Validator;
use serde_json::Value;

use reference::schema::goes_in_circles;
pub(super) use vary::{Kind, Variation, Width, variations};

/// How long a schema may be, in bytes.
const LARGEST: usize = 256 << 10;

/// A schema that can be asked.
pub(super) struct Shape<'s> {
    root: &'s Value,
    /// As its dialect has it: a `format` may be a remark.
    plain: Validator,
    /// With every `format` a demand.
    strict: Validator,
}

/// Where a value breaks a schema, and by which keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Break {
    pointer: String,
    keyword: String,
}

impl<'s> Shape<'s> {
    /// `Err`: why it cannot be asked. Nothing is fetched: a schema that refers to the network has no validator.
    pub(super) fn new(root: &'s Value) -> Result<Self, String> {
        if root.to_string().len() > LARGEST {
            return Err("its schema is larger than 256 KiB".to_owned());
        }
        if goes_in_circles(root) {
            return Err("its schema leads to itself".to_owned());
        }
        let validator = |strict: bool| {
            let options = jsonschema::options();
            let options = if strict { options.should_validate_formats(true) } else { options };
            options.build(root).map_err(|error| format!("its schema cannot be read: {error}"))
        };
        Ok(Self { root, plain: validator(false)?, strict: validator(true)? })
    }

    /// Whether a value fits, formats and all.
    pub(super) fn fits(&self, value: &Value) -> bool {
        self.strict.is_valid(value)
    }

    /// Whether a value that does not fit is refused by the schema's dialect too, and not for a `format` alone.
    fn demands(&self, value: &Value) -> bool {
        !self.plain.is_valid(value)
    }

    fn breaks(&self, value: &Value) -> Vec<Break> {
        let errors = self.strict.iter_errors(value);
        errors
            .map(|error| Break {
                pointer: error.instance_path().to_string(),
                keyword: error.kind().keyword().to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
