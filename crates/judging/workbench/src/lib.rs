//! The verbs. Each is a module; verbs do not import verbs. What they have in common is the [`report`](::report).
//!
//! Nothing here prints or exits: a verb tells an observer how it fares and returns data.

mod asking;
mod calls;
pub mod check;
pub mod check_client;
pub mod generate;
pub mod import;
mod judging;
pub mod replay;
pub mod snapshot;
mod step;
pub mod test;

pub use judging::{dialogue, rule_index};
