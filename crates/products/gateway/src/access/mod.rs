//! Who may use the gateway, and what each may use: tokens at the door, and rules for tools, prompts and resources. Without
//! such settings, neither costs anything.

mod guard;
mod rules;
mod tokens;

pub use guard::TokenGuard;
pub(crate) use rules::{AccessRules, Kind, Target};
pub use rules::{ConditionError, check};
