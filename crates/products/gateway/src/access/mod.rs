//! Who may use the gateway, and what each may use: tokens and certificates at the door, and rules for tools, prompts and
//! resources. Without such settings, neither costs anything.

mod certificates;
mod consent_html;
mod consent_pages;
mod guard;
mod policy;
mod rules;
mod tokens;

pub use certificates::CertificateGuard;
pub use guard::{GuardedTls, TokenGuard};
pub use policy::{Action, Policy, PolicyRequest, PolicySettings};
pub(crate) use rules::{AccessRules, Kind, Target};
pub use rules::{ConditionError, Decider, Look, RuleLook, check, check_all};
