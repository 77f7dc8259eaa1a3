//! What binds clients in authorization, judged by what crossed between a client, the MCP server and authorization servers.

pub(crate) mod discovery;
pub(crate) mod extensions;
pub(crate) mod flow;
pub(crate) mod registration;
pub(crate) mod scopes;
pub(crate) mod tokens;

mod authorization_requests;
mod client_ids;
mod documents;
mod form;
mod grants;
mod issuer;
mod resource_metadata;
mod resource_names;
mod scope_requests;
mod server_metadata;
mod steps;
mod token_use;

use crate::rule::{Anchor, at};

/// The page on registration from 2026-07-28 on.
const fn registration_page(section: &'static str) -> Anchor {
    at("basic/authorization/client-registration", section)
}
