//! `check` and `check-client`: traces made by probes and scenarios, judged by rules, folded into a report.
//!
//! Nothing here prints or exits: a check tells an observer how it proceeds and returns data.

mod advice;
pub mod check;
pub mod check_client;
mod judging;

pub use advice::{Advice, Words};
pub use judging::{Reproduce, Reproduction, dialogue, rule_index};
