//! JSON Schema as peers write it: bounded, nothing fetched. Must not know what a schema is used for.

mod validate;

pub use validate::{fits, goes_in_circles, validator};
