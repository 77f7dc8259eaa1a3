//! YAML that people write: read with places, held against a JSON Schema, its texts filled in; and values written as YAML.
//! Catalogue files and test files are read with it; what either means is for others.

mod file_error;
mod fill;
mod respelled;
mod scalar;
mod shape;
mod tree;
mod write;

pub use file_error::{FileError, FileErrors, Position, nearest, quoted, slip};
pub use fill::{Filled, Pattern, TooLong, Wrong, size};
pub use shape::{Misfits, Shape};
pub use tree::{Bounds, Content, Entry, Node, read, read_within};
pub use write::{flow, scalar, unfilled};
