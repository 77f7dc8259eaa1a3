//! `check` and `check-client`: traces made by probes and scenarios, judged by rules, folded into a report.
//!
//! Nothing here prints or exits: a check tells an observer how it proceeds and returns data.

pub mod check;
pub mod check_client;
mod judging;

pub use judging::{dialogue, rule_index};
