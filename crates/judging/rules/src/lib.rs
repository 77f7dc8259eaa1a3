//! What the specification demands: one file per page of the specification, rules in the page's own order.
//!
//! Rules are constant data and plain functions that read a [`View`] of a trace. This crate knows no runtime, socket,
//! clock or file, and nothing of how traces are made.

pub mod budget;
pub mod example;
pub mod judge;
pub mod names;
pub mod registry;
pub mod rule;
pub mod safety;
pub mod verdict;
pub mod view;

mod basic;
mod client;
mod documents;
mod extensions;
mod legacy;
mod reading;
mod server;

pub use budget::Stop;
pub use judge::{STOPPED, judge};
pub use registry::{all_rules, find};
pub use rule::{Level, Role, Rule};
pub use verdict::{Breach, Verdict};
pub use view::View;
