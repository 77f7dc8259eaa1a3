//! A small, faultless server on the Rust SDK (`rmcp`), for `cargo xtask peers`.
//!
//! `rmcp-server stdio` speaks on its standard streams; `rmcp-server http` listens on the loopback port in `PORT`, path
//! `/mcp`. It serves every revision that the SDK serves and uses the SDK as its own documentation shows: what a judge
//! finds here is the SDK's doing.

use std::time::Duration;

use rmcp::{
    ErrorData, Json, RoleServer, ServerHandler, ServiceExt,
    handler::server::wrapper::Parameters,
    model::{
        CallToolResult, ContentBlock, Implementation, ListResourcesResult, PaginatedRequestParams,
        ProgressNotificationParam, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Resource, ResourceContents, Role, ServerCapabilities, ServerConfig,
    },
    prompt, prompt_handler, prompt_router, schemars,
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};

const GREETING: &str = "memo://greeting";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// What to say back
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Countdown {
    /// How many steps to take
    #[schemars(range(min = 1, max = 100))]
    steps: u8,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Summarize {
    /// What to sum up
    text: String,
}

#[derive(Clone)]
struct Peerless;

#[tool_router]
impl Peerless {
    /// Say the text back
    #[tool(annotations(read_only_hint = true))]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    /// Add two whole numbers
    #[tool(annotations(read_only_hint = true))]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Result<Json<Sum>, String> {
        let sum = a.checked_add(b).ok_or("the sum does not fit into 64 bits")?;
        Ok(Json(Sum { sum }))
    }

    /// Count down, one step every 20 ms, reporting progress
    #[tool(annotations(read_only_hint = true))]
    async fn countdown(
        &self,
        Parameters(Countdown { steps }): Parameters<Countdown>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        if !(1..=100).contains(&steps) {
            return CallToolResult::error(vec![ContentBlock::text("steps must lie between 1 and 100")]);
        }
        for step in 1..=steps {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, f64::from(step)).with_total(f64::from(steps));
                // A client that has gone away is no reason to stop counting.
                let _ = context.peer.notify_progress(progress).await;
            }
        }
        CallToolResult::success(vec![ContentBlock::text(format!("counted {steps} steps"))])
    }
}

#[prompt_router]
impl Peerless {
    /// Ask for a summary of a text
    #[prompt]
    async fn summarize(&self, Parameters(Summarize { text }): Parameters<Summarize>) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(Role::User, format!("Sum this up in one sentence:\n\n{text}"))]
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Peerless {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("peer-rmcp", "1.0.0"))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let greeting =
            Resource::new(GREETING, "greeting").with_description("A friendly word").with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![greeting]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != GREETING {
            return Err(ErrorData::resource_not_found(format!("no resource {}", request.uri), None));
        }
        Ok(ReadResourceResult::new(vec![ResourceContents::text("Good day.", GREETING)]).into())
    }
}

async fn serve_http(port: u16) -> Result<(), Box<dyn std::error::Error>> {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins([format!("http://localhost:{port}"), format!("http://127.0.0.1:{port}")]);
    let service = StreamableHttpService::new(|| Ok(Peerless), LocalSessionManager::default().into(), config);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => {
            Peerless.serve(stdio()).await?.waiting().await?;
            Ok(())
        }
        Some("http") => serve_http(std::env::var("PORT")?.parse()?).await,
        _ => Err("usage: rmcp-server stdio | PORT=… rmcp-server http".into()),
    }
}
