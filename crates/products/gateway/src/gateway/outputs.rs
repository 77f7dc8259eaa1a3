//! The check that the result of a call will meet: made before the call, so that none runs whose result could not be judged.

use std::sync::Arc;

use net::service::{Call, RpcError};
use serde_json::json;

use super::Inner;
use crate::failure;
use crate::outputs::OutputCheck;
use crate::settings::SchemaMode;
use crate::upstream::{Client, Upstream};

impl Inner {
    /// How the result of a call is checked; `None` where its tool promises nothing.
    pub(super) async fn output_check(
        self: &Arc<Self>,
        upstream: &Upstream,
        call: &Call,
        client: &Client,
    ) -> Result<Option<OutputCheck>, RpcError> {
        let Some(outputs) = self.shaping.outputs() else { return Ok(None) };
        let name = call.message.string_member("name").filter(|_| call.message.method() == Some("tools/call"));
        let Some(name) = name else { return Ok(None) };
        let mode = outputs.mode(&name);
        if mode == SchemaMode::Off {
            return Ok(None);
        }
        let is_enforced = mode == SchemaMode::Enforce;
        let tools = self.known_tools(client).await;
        let Some(tool) = tools.item(&name) else {
            if is_enforced && tools.missing.iter().any(|missing| missing.is(&upstream.name)) {
                let what = "The result of this call could not be checked: the tools of the server are not known";
                let data = json!({ "upstream": upstream.name });
                return Err(failure::TOOLS_NOT_KNOWN.error_with(what, data));
            }
            return Ok(None);
        };
        let Some(schema) = tool.get("outputSchema") else { return Ok(None) };
        match outputs.check(schema, is_enforced).await {
            Ok(check) => Ok(Some(check)),
            Err(why) => {
                let why = wire::escape::line(&why).chars().take(300).collect::<String>();
                let what = format!("No result of this tool could be checked, its output schema cannot be used: {why}");
                Err(failure::OUTPUT_SCHEMA_UNUSABLE.error_with(what, json!({ "upstream": upstream.name })))
            }
        }
    }
}
