//! What binds clients in authorization: declared, so that every sentence has its rule; nothing judges clients yet.

pub(crate) mod discovery;
pub(crate) mod extensions;
pub(crate) mod flow;
pub(crate) mod registration;
pub(crate) mod scopes;
pub(crate) mod tokens;

use crate::rule::{Anchor, at};

/// The page on registration from 2026-07-28 on.
const fn registration_page(section: &'static str) -> Anchor {
    at("basic/authorization/client-registration", section)
}
