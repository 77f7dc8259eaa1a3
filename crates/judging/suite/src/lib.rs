//! Test files: [`test`] runs them, [`generate`] and [`import`] write them; [`snapshot`] compares what a server declares.
//!
//! Nothing here prints, exits or knows a rule.

mod advice;
mod asking;
pub mod generate;
pub mod import;
pub mod snapshot;
mod step;
pub mod test;

pub use advice::{Advice, Words};
