//! Test files: [`test`] runs them, [`generate`] and [`import`] write them; [`snapshot`] compares what a server declares.
//!
//! Must not print, exit or know the rules.

mod advice;
pub mod generate;
pub mod import;
pub mod intrusive;
mod jsonpath;
mod requests;
pub mod snapshot;
pub mod test;

pub use advice::{Advice, Words};
