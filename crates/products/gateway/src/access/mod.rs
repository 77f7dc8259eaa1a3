//! Who may use the gateway, and what each may use: tokens and certificates at the door, rules for tools, prompts and
//! resources, and a policy decision point. Without such settings, none of them costs anything.

mod authzen;
mod certificates;
mod consent_html;
mod consent_pages;
mod decisions;
mod guard;
mod own_pages;
mod policy;
mod rules;
mod tokens;

pub(crate) use authzen::DecisionPoint;
pub use certificates::CertificateGuard;
pub(crate) use consent_html::html;
pub(crate) use decisions::{Access, decision_point};
pub use guard::{GuardedTls, TokenGuard};
pub use policy::{Action, Policy, PolicyPoint, PolicyRequest, PolicySettings};
pub(crate) use rules::{AccessRules, Kind, Target};
pub use rules::{ConditionError, Decider, Look, RuleLook, check, check_all};
