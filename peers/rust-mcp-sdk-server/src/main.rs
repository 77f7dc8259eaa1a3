//! A small, faultless server on `rust-mcp-sdk`, for `cargo xtask peers`: an implementation of its own, with nothing of the
//! official SDKs in it. Its second version speaks 2026-07-28 alone.
//!
//! It speaks on its standard streams and uses the SDK as its own documentation shows: what a judge finds here is the SDK's
//! doing.

use std::result::Result;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rust_mcp_sdk::{
    McpServer, RequestContext, ServerDetails, StdioTransport, ToMcpServerHandler, TransportOptions,
    error::SdkResult,
    macros::{JsonSchema, mcp_tool},
    mcp_server::{McpServerOptions, ServerHandler, server_runtime},
    schema::{schema_utils::CallToolError, *},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

const GREETING: &str = "memo://greeting";
const COMPLETE: &str = "complete";

#[mcp_tool(name = "echo", description = "Say the text back", read_only_hint = true)]
#[derive(Deserialize, Serialize, JsonSchema)]
struct Echo {
    /// What to say back
    text: String,
}

#[mcp_tool(name = "add", description = "Add two whole numbers", read_only_hint = true)]
#[derive(Deserialize, Serialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[mcp_tool(
    name = "countdown",
    description = "Count down, one step every 20 ms, reporting progress",
    read_only_hint = true
)]
#[derive(Deserialize, Serialize, JsonSchema)]
struct Countdown {
    /// How many steps to take
    #[json_schema(minimum = 1, maximum = 100)]
    steps: i64,
}

struct Handler;

fn said(text: String) -> CallToolResult {
    CallToolResult::text_content(vec![TextContent::new(text, None, None)])
}

/// A tool's arguments, from the call.
fn arguments<T: DeserializeOwned>(params: CallToolRequestParams) -> Result<T, CallToolError> {
    let arguments = serde_json::Value::Object(params.arguments.unwrap_or_default());
    serde_json::from_value(arguments)
        .map_err(|error| CallToolError::invalid_arguments(&params.name, Some(error.to_string())))
}

async fn count(
    params: CallToolRequestParams,
    context: &RequestContext,
    runtime: &dyn McpServer,
) -> Result<CallToolResult, CallToolError> {
    let Countdown { steps } = arguments(params)?;
    if !(1..=100).contains(&steps) {
        return Err(CallToolError::invalid_arguments("countdown", Some("steps must lie between 1 and 100".into())));
    }
    for step in 1..=steps {
        tokio::time::sleep(Duration::from_millis(20)).await;
        // A client that has gone away is no reason to stop counting.
        let _ = runtime.report_progress(context.progress_token.clone(), step as f64, Some(steps as f64), None).await;
    }
    Ok(said(format!("counted {steps} steps")))
}

#[async_trait]
impl ServerHandler for Handler {
    async fn handle_list_tools_request(
        &self,
        _params: Option<PaginatedRequestParams>,
        _context: &RequestContext,
        _runtime: Arc<dyn McpServer>,
    ) -> Result<ListToolsResult, RpcError> {
        Ok(ListToolsResult {
            tools: vec![Echo::tool(), Add::tool(), Countdown::tool()],
            meta: None,
            next_cursor: None,
            cache_scope: ListToolsResultCacheScope::Private,
            result_type: COMPLETE.into(),
            ttl_ms: 0,
        })
    }

    async fn handle_call_tool_request(
        &self,
        params: CallToolRequestParams,
        context: &RequestContext,
        runtime: Arc<dyn McpServer>,
    ) -> Result<ServerResult, CallToolError> {
        let result = match params.name.as_str() {
            "echo" => said(arguments::<Echo>(params)?.text),
            "add" => {
                let Add { a, b } = arguments(params)?;
                let sum = a.checked_add(b).ok_or_else(|| CallToolError::from_message("the sum is too large"))?;
                said(sum.to_string())
            }
            "countdown" => count(params, context, &*runtime).await?,
            _ => return Err(CallToolError::unknown_tool(params.name)),
        };
        Ok(result.into())
    }

    async fn handle_list_resources_request(
        &self,
        _params: Option<PaginatedRequestParams>,
        _context: &RequestContext,
        _runtime: Arc<dyn McpServer>,
    ) -> Result<ListResourcesResult, RpcError> {
        let greeting = Resource {
            uri: GREETING.into(),
            name: "greeting".into(),
            description: Some("A friendly word".into()),
            mime_type: Some("text/plain".into()),
            annotations: None,
            icons: Vec::new(),
            meta: None,
            size: None,
            title: None,
        };
        Ok(ListResourcesResult {
            resources: vec![greeting],
            meta: None,
            next_cursor: None,
            cache_scope: ListResourcesResultCacheScope::Private,
            result_type: COMPLETE.into(),
            ttl_ms: 0,
        })
    }

    async fn handle_read_resource_request(
        &self,
        params: ReadResourceRequestParams,
        _context: &RequestContext,
        _runtime: Arc<dyn McpServer>,
    ) -> Result<ServerResult, RpcError> {
        if params.uri != GREETING {
            return Err(RpcError::invalid_params().with_message(format!("no resource {}", params.uri)));
        }
        let text = TextResourceContents {
            uri: params.uri,
            text: "Good day.".into(),
            mime_type: Some("text/plain".into()),
            meta: None,
        };
        Ok(ReadResourceResult {
            contents: vec![text.into()],
            meta: None,
            cache_scope: ReadResourceResultCacheScope::Private,
            result_type: COMPLETE.into(),
            ttl_ms: 0,
        }
        .into())
    }
}

#[tokio::main]
async fn main() -> SdkResult<()> {
    let server_details = ServerDetails {
        server_info: Implementation {
            name: "peer-rust-mcp-sdk".into(),
            version: "1.0.0".into(),
            title: None,
            description: None,
            icons: Vec::new(),
            website_url: None,
        },
        capabilities: ServerCapabilities {
            tools: Some(ServerCapabilitiesTools { list_changed: None }),
            resources: Some(ServerCapabilitiesResources { list_changed: None, subscribe: None }),
            ..Default::default()
        },
        instructions: None,
        meta: None,
    };
    let server = server_runtime::create_server(McpServerOptions {
        server_details,
        transport: StdioTransport::new(TransportOptions::default())?,
        handler: Handler.to_mcp_server_handler(),
        message_observer: None,
    });
    server.start().await
}
