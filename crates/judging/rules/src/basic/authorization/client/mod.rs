//! What binds clients in authorization, judged by what crossed between a client, the MCP server and authorization servers.

pub(crate) mod discovery;
pub(crate) mod extensions;
pub(crate) mod flow;
pub(crate) mod registration;
pub(crate) mod scopes;
pub(crate) mod tokens;

mod bearing;
mod consent;
mod documents;
mod finding;
mod form;
mod granting;
mod issuer;
mod locating;
mod naming;
mod registering;
mod scoping;
mod steps;

use crate::rule::{Anchor, at};

/// The page on registration from 2026-07-28 on.
const fn registration_page(section: &'static str) -> Anchor {
    at("basic/authorization/client-registration", section)
}
