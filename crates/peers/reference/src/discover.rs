//! `server/discover` (modern era; server/discover).

use net::service::{Call, Service};
use serde_json::json;
use wire::Revision;

use crate::answer::{Handled, cacheable};
use crate::lifecycle::capabilities;
use crate::{Server, params};

/// Tells the versions, the capabilities and how to use the server.
pub(crate) fn discover(server: &Server, call: &Call) -> Handled {
    params::meta(call)?;
    let versions: Vec<_> = server.revisions().iter().map(|revision| Revision::as_str(*revision)).collect();
    let mut body = json!({
        "supportedVersions": versions,
        "capabilities": capabilities(server, call.context.revision),
    });
    if let Some(instructions) = &server.catalogue().instructions {
        body["instructions"] = json!(instructions);
    }
    Ok(cacheable(server, call, body))
}
