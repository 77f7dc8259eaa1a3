//! A small client on the Rust SDK (`rmcp`), for `cargo xtask peers`.
//!
//! `rmcp-client ERA URL` speaks Streamable HTTP, `rmcp-client ERA COMMAND ARGS…` starts a server and speaks stdio; ERA is
//! `auto`, `legacy` or `modern`. In each scenario of `proof check-client` it makes the SDK's ordinary calls, as an
//! application would; nothing here makes up for what the SDK does or fails to do.

use std::error::Error;

use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        GetPromptRequestParams, Implementation, ProtocolVersion, ReadResourceRequestParams,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error>>;
type Session = RunningService<RoleClient, App>;

struct App {
    scenario: String,
}

impl ClientHandler for App {
    fn get_info(&self) -> ClientConfig {
        let asked = ["elicitation", "elicitation-sep1034-client-defaults", "sep-2322-client-request-state", "crossing"];
        let elicits = asked.contains(&self.scenario.as_str()) || self.scenario == "hostile.endless-questions";
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = elicits.then(Default::default);
        ClientConfig::new(capabilities, Implementation::new("peer-rmcp-client", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(&request).unwrap_or_default();
        let fields = asked["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let given = fields.into_iter().map(|(name, field)| {
            let value = match (field.get("default"), field["type"].as_str()) {
                (Some(default), _) => default.clone(),
                (None, Some("boolean")) => json!(true),
                (None, Some("integer" | "number")) => json!(1),
                (None, _) => field["enum"].get(0).cloned().unwrap_or_else(|| json!("Ada")),
            };
            (name, value)
        });
        let wanted = asked["requestedSchema"]["required"].as_array().cloned().unwrap_or_default();
        let all = self.scenario == "elicitation-sep1034-client-defaults";
        let given = given.filter(|(name, _)| all || wanted.contains(&json!(name)));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(given.collect())))
    }
}

async fn call(session: &Session, name: &str, arguments: Value) -> Result<String, Box<dyn Error>> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result = session.call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)).await?;
    Ok(serde_json::to_string(&result.content)?)
}

async fn lists(session: &Session) -> Outcome {
    session.list_all_tools().await?;
    session.list_all_resources().await?;
    session.list_all_resource_templates().await?;
    session.list_all_prompts().await?;
    Ok(())
}

/// What the server may well refuse; an application says so and goes on.
fn attempt<T>(outcome: Result<T, impl std::fmt::Display>) {
    if let Err(error) = outcome {
        eprintln!("refused: {error}");
    }
}

/// Prints one step of `crossing`.
fn show(step: &str, found: Result<Value, ServiceError>) {
    let value = match found {
        Ok(found) => found,
        Err(ServiceError::McpError(error)) => json!({ "error": error.code.0 }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    println!("{}", json!({ "step": step, "value": value }));
}

/// Everything that a client sees, a line for each step: `cargo xtask gateway-clients` compares the lines.
async fn crossing(session: &Session) -> Outcome {
    for tool in session.list_all_tools().await? {
        show(&format!("tool {}", tool.name), Ok(json!(tool)));
    }
    for template in session.list_all_resource_templates().await? {
        show(&format!("item {}", template.uri_template), Ok(json!(template)));
    }
    let calls = [
        ("echo", json!({ "message": "Grüße, 世界, 😀" })),
        ("sum", json!({ "a": 2, "b": 3.5 })),
        ("sum", json!({ "a": "x" })),
        ("none", json!({})),
        ("fail", json!({})),
        ("get_image", json!({})),
        ("get_audio", json!({})),
        ("get_resource_link", json!({})),
        ("get_embedded_resource", json!({})),
        ("get_everything", json!({})),
        ("get_weather", json!({ "location": "Bergen" })),
        ("ask", json!({})),
        ("ask_form", json!({})),
        ("ask_two", json!({})),
        ("ask_in_turn", json!({})),
        ("sample", json!({})),
        ("list_roots", json!({})),
    ];
    for (name, arguments) in calls {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        show(&format!("call {name}"), session.call_tool(params).await.map(|found| json!(found)));
    }
    for resource in session.list_all_resources().await? {
        let params = ReadResourceRequestParams::new(resource.uri.clone());
        let step = format!("read {}", resource.uri);
        show(&format!("item {}", resource.uri), Ok(json!(resource)));
        show(&step, session.read_resource(params).await.map(|found| json!(found)));
    }
    for prompt in session.list_all_prompts().await? {
        let wanted = prompt.arguments.clone().unwrap_or_default();
        let arguments = wanted.into_iter().map(|argument| (argument.name, json!("x"))).collect();
        let params = GetPromptRequestParams::new(prompt.name.clone()).with_arguments(arguments);
        let step = format!("prompt {}", prompt.name);
        show(&format!("item {}", prompt.name), Ok(json!(prompt)));
        show(&step, session.get_prompt(params).await.map(|found| json!(found)));
    }
    Ok(())
}

/// What is done in a scenario; whatever is not named here lists the tools and calls one, twice.
async fn done(session: &Session, scenario: &str) -> Outcome {
    match scenario {
        "initialize"
        | "request-metadata"
        | "json-schema-ref-no-deref"
        | "hostile.icons"
        | "hostile.endless-list"
        | "hostile.unsupported-version"
        | "hostile.stdout-banner"
        | "hostile.lingers" => {
            session.list_all_tools().await?;
        }
        "tools_call" => {
            session.list_all_tools().await?;
            call(session, "add_numbers", json!({ "a": 5, "b": 3 })).await?;
        }
        "elicitation-sep1034-client-defaults" => {
            call(session, "test_client_elicitation_defaults", json!({})).await?;
        }
        "sse-retry" => {
            call(session, "test_reconnection", json!({})).await?;
        }
        "sep-2322-client-request-state" => {
            for name in ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"] {
                call(session, name, json!({})).await?;
            }
        }
        "http-custom-headers" => {
            session.list_all_tools().await?;
            let context: Value = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT")?)?;
            for one in context["toolCalls"].as_array().into_iter().flatten() {
                call(session, one["name"].as_str().unwrap_or_default(), one["arguments"].clone()).await?;
            }
        }
        "http-invalid-tool-headers" => {
            session.list_all_tools().await?;
            call(session, "valid_tool", json!({ "region": "eu" })).await?;
        }
        "lists" => lists(session).await?,
        "untyped-results" => {
            session.list_all_resources().await?;
        }
        "resources" => {
            for resource in session.list_all_resources().await? {
                attempt(session.read_resource(ReadResourceRequestParams::new(resource.uri.clone())).await);
            }
        }
        "prompts" => {
            for prompt in session.list_all_prompts().await? {
                let wanted = prompt.arguments.clone().unwrap_or_default();
                let arguments = wanted.into_iter().map(|argument| (argument.name, json!("x"))).collect();
                attempt(
                    session
                        .get_prompt(GetPromptRequestParams::new(prompt.name.clone()).with_arguments(arguments))
                        .await,
                );
            }
        }
        "crossing" => crossing(session).await?,
        "fail" => {
            call(session, "fail", json!({})).await?;
        }
        "progress" | "tasks" | "hostile.stream-cut" => {
            call(session, "slow", json!({})).await?;
        }
        "elicitation" => {
            for name in ["ask", "ask_form", "ask_two", "ask_in_turn"] {
                call(session, name, json!({})).await?;
            }
        }
        "hostile.structured-otherwise" => {
            call(session, "sum", json!({ "a": 2, "b": 3 })).await?;
        }
        "session-ended" => {
            attempt(session.list_all_tools().await);
            attempt(call(session, "echo", json!({ "message": "Good day" })).await);
            attempt(call(session, "echo", json!({ "message": "Good day, again" })).await);
        }
        _ => {
            session.list_all_tools().await?;
            println!("{}", call(session, "echo", json!({ "message": "Good day" })).await?);
            println!("{}", call(session, "echo", json!({ "message": "Good day, again" })).await?);
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Outcome {
    let mut words = std::env::args().skip(1);
    let (era, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match era.as_str() {
        "legacy" => ClientLifecycleMode::Initialize,
        "modern" => ClientLifecycleMode::Discover { preferred_versions },
        "auto" => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        _ => return Err("usage: rmcp-client auto|legacy|modern URL|COMMAND [ARGS…]".into()),
    };
    let scenario = std::env::var("PROOF_SCENARIO").unwrap_or_default();
    let app = App { scenario: scenario.clone() };
    let session = if target.starts_with("http") {
        app.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(target), lifecycle).await?
    } else {
        let mut command = tokio::process::Command::new(target);
        command.args(words);
        app.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
    };
    let outcome = done(&session, &scenario).await;
    session.cancel().await?;
    outcome
}
