//! `server/discover` (modern era; server/discover).

use net::service::{Call, Service};
use serde_json::json;
use wire::Revision;

use crate::answer::{Handled, cacheable};
use crate::lifecycle::{INSTRUCTIONS, capabilities};
use crate::{Server, params};

/// Tells the versions, the capabilities and how to use the server.
pub(crate) fn discover(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let versions: Vec<_> = server.revisions().iter().map(|revision| Revision::as_str(*revision)).collect();
    let body = json!({
        "supportedVersions": versions,
        "capabilities": capabilities(call.context.revision),
        "instructions": INSTRUCTIONS,
    });
    Ok(cacheable(server, call, body))
}
