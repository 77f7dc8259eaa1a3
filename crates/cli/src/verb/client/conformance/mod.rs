//! `proof client --conformance`: does what a scenario of the official conformance suite or of `proof check-client` asks for.
//! The scenario comes in environment variables; by default the client uses everything that the server offers.

mod everything;
mod scenario_actions;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use client::{Abilities, Answering, Client, ClientError, Connector, Options, Question, Refused, Respondent};
use net::client::{Address, Authorizer};
use serde_json::{Map, Value, json};
use suite::test::{Consent, Scripted};
use wire::{Era, Revision};

use super::{credentials, options};
use crate::advice::asking;
use crate::args::client::ClientArgs;
use crate::exit::{Exit, tell_redacted, usage};
use crate::run::Run;
use everything::{Call, use_everything};

/// The revision to speak.
const VERSION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// The context of the scenario.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
/// The name of the scenario.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The extensions by which a client gets tokens in its own name, and in the name of an enterprise's user.
const CLIENT_CREDENTIALS: &str = "io.modelcontextprotocol/oauth-client-credentials";
const ENTERPRISE: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
/// The extension by which a server makes tasks of calls.
const TASKS: &str = wire::meta::TASKS_EXTENSION;
/// The delay of [`Behaviour::WaitsASecond`].
const SECOND: Duration = Duration::from_secs(1);
/// The tool to call while another one waits for an answer.
const UNRELATED_TOOL: &str = "test_mrtr_unrelated";
/// The tool that must receive the input schema of another tool, unchanged, and that other tool.
const SCHEMA_ECHO: (&str, &str) = ("json_schema_echo", "json_schema_2020_12_tool");

/// Plays one scenario.
pub(super) async fn play(run: &Run, args: &ClientArgs, address: Address) -> Exit {
    let context = match context() {
        Ok(context) => context,
        Err(exit) => return exit,
    };
    let scenario = std::env::var(SCENARIO).unwrap_or_default();
    let user = Arc::new(ScenarioUser::new(&scenario));
    let endpoint = match &address {
        Address::Http(http) => Some(http.url.clone()),
        _ => None,
    };
    let options = options::answers(args).and_then(|answers| options::options(run, args, address, answers));
    let options = match options {
        Ok(options) => Options { respondent: user.clone(), ..options },
        Err(exit) => return exit,
    };
    let (observer, mut changes) = scenario_actions::observer();
    let options = scenario_options(&scenario, Options { observer, ..options });
    let revision = match std::env::var(VERSION).ok().map(|version| version.parse()).transpose() {
        Ok(named) => named.or(options.revision),
        Err(error) => return usage(&format!("{VERSION}: {error}"), "use a known revision, such as 2025-11-25"),
    };
    let faults = match args.faults.selected() {
        Ok(faults) => faults,
        Err(exit) => return exit,
    };
    let authorizer =
        endpoint.map(|url| credentials::authorizer(&url, (revision, &faults), &scenario, &context)).transpose();
    let authorizer = match authorizer {
        Ok(authorizer) => authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>),
        Err(why) => return usage(&why, "set it as the conformance suite does"),
    };
    let revision = match scenario.as_str() {
        "older-server" => revision.map(latest_of_era),
        // A named revision is spoken whatever the server lists.
        "legacy-fallback" | "hostile.later-versions" => None,
        _ => revision,
    };
    let options = Options { revision, authorizer, ..options };
    let connector = faults::client::connector(&faults);
    let done = match scenario.as_str() {
        "two-sessions" => scenario_actions::list_in_two_sessions(options, &connector).await,
        _ => run_connected(&scenario, (options, connector), &context, &user, &mut changes).await,
    };
    done.map_or_else(|error| failed(&error), |()| Exit::Clean)
}

async fn run_connected(
    scenario: &str,
    (options, connector): (Options, Arc<dyn Connector>),
    context: &Value,
    user: &ScenarioUser,
    changes: &mut scenario_actions::Changes,
) -> Result<(), ClientError> {
    let client = Client::connect_with(options, connector).await?;
    // This is the only place that sets it.
    let _ = user.client.set(client.clone());
    let done = match (scenario, Box::pin(scenario_actions::perform(scenario, &client, changes)).await) {
        ("roots-change", _) => {
            scenario_actions::change_roots(&client, || user.roots_changed.store(true, Ordering::Relaxed)).await
        }
        (_, Some(done)) => done,
        (_, None) => use_offered(&client, context).await,
    };
    client.close().await;
    done
}

/// The latest revision of the same era.
fn latest_of_era(revision: Revision) -> Revision {
    if revision.era() == Era::Legacy { Revision::NEWEST_LEGACY } else { revision }
}

/// The options that a scenario asks for.
fn scenario_options(scenario: &str, mut options: Options) -> Options {
    match scenario {
        "progress" | "hostile.endless-stream" => options.progress = true,
        "echo" => options.meta = trace_context(),
        "logging" => options.log_level = Some("debug".to_owned()),
        // Longer than a server needs to answer, and shorter than the timeout of a scenario.
        "hostile.silence" | "hostile.greeting-unanswered" => {
            options.limits.request = Duration::from_secs(2);
            options.limits.start = Duration::from_secs(2);
        }
        _ => {}
    }
    options
}

/// Trace context for `_meta`, and a member of our own.
fn trace_context() -> Map<String, Value> {
    Map::from_iter([
        ("traceparent".to_owned(), json!("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")),
        ("tracestate".to_owned(), json!("proof=1")),
        ("baggage".to_owned(), json!("scenario=echo")),
        ("com.example/scenario".to_owned(), json!("echo")),
    ])
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {}", error.describe(asking)));
    Exit::NoAnswer
}

fn context() -> Result<Value, Exit> {
    let Ok(text) = std::env::var(CONTEXT) else { return Ok(Value::Null) };
    serde_json::from_str(&text)
        .map_err(|error| usage(&format!("{CONTEXT} is not JSON: {error}"), "set it as the conformance suite does"))
}

/// A user who agrees to everything and a model that answers; neither if the client must declare no capability.
fn scripted_user(scenario: &str) -> Scripted {
    if ["hostile.undeclared-requests", "hostile.undeclared-inputs", "tasks-by-polling"].contains(&scenario) {
        return Scripted::default();
    }
    Scripted {
        consent: Some(Consent::Accept),
        model_text: Some("Something that a model might say.".to_owned()),
        uses_tools: scenario != "hostile.undeclared-tools",
        runs_tasks: scenario != "hostile.sampling-as-task",
        roots: Some(vec![json!({ "uri": "file:///", "name": "all" })]),
        makes_up: true,
        ..Scripted::default()
    }
}

/// Uses everything that the server offers, with the calls that the scenario names.
async fn use_offered(client: &Client, context: &Value) -> Result<(), ClientError> {
    let named = context.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let mut calls: Vec<Call> = named.filter_map(|one| call(one.get("name")?, one.get("arguments")?)).collect();
    if client.greeting().may_have("tools")
        && let Ok((tools, _)) = client.tools().await
        && let Some(tool) = tools.iter().find(|tool| tool.name() == SCHEMA_ECHO.1)
    {
        let arguments = json!({ "schema": tool.input() });
        calls.extend(call(&json!(SCHEMA_ECHO.0), &arguments));
    }
    use_everything(client, &calls).await
}

fn call(tool: &Value, arguments: &Value) -> Option<Call> {
    Some(Call { tool: tool.as_str()?.to_owned(), arguments: arguments.as_object()?.clone() })
}

/// The user of a scenario, who may call a tool before answering.
struct ScenarioUser {
    user: Scripted,
    client: OnceLock<Client>,
    behaviour: Behaviour,
    /// Whether its roots have changed.
    roots_changed: AtomicBool,
    extensions: &'static [&'static str],
}

/// How a user treats questions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    Accepts,
    RefusesSampling,
    NeverAnswers,
    WaitsASecond,
    /// Accepts forms, but no URLs.
    RefusesUrls,
}

impl ScenarioUser {
    fn new(scenario: &str) -> Self {
        let behaviour = match scenario {
            "sampling-refused" => Behaviour::RefusesSampling,
            "request-cancelled" => Behaviour::NeverAnswers,
            "tasks-for-the-server" => Behaviour::WaitsASecond,
            "hostile.undeclared-mode" => Behaviour::RefusesUrls,
            _ => Behaviour::Accepts,
        };
        let extensions: &[_] = match scenario {
            "auth/enterprise-managed-authorization" => &[ENTERPRISE],
            "tasks" | "hostile.task-elsewhere" => &[TASKS],
            _ if scenario.starts_with("auth/client-credentials") => &[CLIENT_CREDENTIALS],
            _ => &[],
        };
        let (user, client) = (scripted_user(scenario), OnceLock::new());
        Self { user, client, behaviour, roots_changed: AtomicBool::new(false), extensions }
    }
}

impl Respondent for ScenarioUser {
    fn abilities(&self) -> Abilities {
        let able = self.user.abilities();
        let urls = able.urls && self.behaviour != Behaviour::RefusesUrls;
        Abilities { urls, changing_roots: able.roots, extensions: self.extensions, ..able }
    }

    fn answer(&self, question: Question) -> Answering {
        match (&question, self.behaviour) {
            (Question::Sampling(_), Behaviour::RefusesSampling) => return Box::pin(async { Err(Refused::by_user()) }),
            (_, Behaviour::NeverAnswers) => return Box::pin(std::future::pending()),
            (Question::Roots, _) if self.roots_changed.load(Ordering::Relaxed) => {
                return Box::pin(async { Ok(json!({ "roots": [{ "uri": "file:///tmp", "name": "less" }] })) });
            }
            _ => {}
        }
        let wait = if self.behaviour == Behaviour::WaitsASecond { SECOND } else { Duration::ZERO };
        let (answer, client) = (self.user.answer(question), self.client.get().cloned());
        Box::pin(async move {
            tokio::time::sleep(wait).await;
            if let Some(client) = client
                && let Ok((tools, _)) = client.tools().await
                && let Some(tool) = tools.iter().find(|tool| tool.name() == UNRELATED_TOOL)
            {
                // Its result does not matter, only that it was called in between.
                let _ = client.call(tool, Map::new()).await;
            }
            answer.await
        })
    }
}
