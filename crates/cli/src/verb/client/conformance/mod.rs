//! `proof client --conformance`: what the official conformance suite, and `proof check-client`, want to see of a client. They
//! tell the scenario by variables of the environment; almost everything is one use of all that the server offers.

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

/// The revision that is to be spoken.
const VERSION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// What the scenario tells the client.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
/// Which scenario it is.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The extensions by which a client gets tokens in its own name, and in the name of an enterprise's user.
const CLIENT_CREDENTIALS: &str = "io.modelcontextprotocol/oauth-client-credentials";
const ENTERPRISE: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
/// The extension by which a server makes tasks of calls.
const TASKS: &str = wire::meta::TASKS_EXTENSION;
/// How long a user takes who is in no hurry.
const SECOND: Duration = Duration::from_secs(1);
/// The tool that is to be called while another waits for an answer.
const BESIDE: &str = "test_mrtr_unrelated";
/// The tool that wants the schema of another back as it came.
const ECHO: (&str, &str) = ("json_schema_echo", "json_schema_2020_12_tool");

/// Plays one scenario.
pub(super) async fn play(run: &Run, args: &ClientArgs, address: Address) -> Exit {
    let context = match context() {
        Ok(context) => context,
        Err(exit) => return exit,
    };
    let scenario = std::env::var(SCENARIO).unwrap_or_default();
    let busy = Arc::new(Busy::new(&scenario));
    let endpoint = match &address {
        Address::Http(http) => Some(http.url.clone()),
        _ => None,
    };
    let options = match options::options(run, args, address) {
        Ok(options) => Options { respondent: busy.clone(), ..options },
        Err(exit) => return exit,
    };
    let (observer, mut told) = scenario_actions::observer();
    let options = wanting(&scenario, Options { observer, ..options });
    let revision = match std::env::var(VERSION).ok().map(|version| version.parse()).transpose() {
        Ok(named) => named.or(options.revision),
        Err(error) => return usage(&format!("{VERSION}: {error}"), "one of those"),
    };
    let faults = match args.faults.selected() {
        Ok(faults) => faults,
        Err(exit) => return exit,
    };
    let authorizer =
        endpoint.map(|url| credentials::authorizer(&url, (revision, &faults), &scenario, &context)).transpose();
    let authorizer = match authorizer {
        Ok(authorizer) => authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>),
        Err(why) => return usage(&why, "what the suite sets"),
    };
    let revision = match scenario.as_str() {
        "older-server" => revision.map(latest),
        "older-era" => None,
        _ => revision,
    };
    let options = Options { revision, authorizer, ..options };
    let connector = faults::client::connector(&faults);
    let done = match scenario.as_str() {
        "two-sessions" => scenario_actions::list_in_two_sessions(options, &connector).await,
        _ => connected(&scenario, (options, connector), &context, &busy, &mut told).await,
    };
    done.map_or_else(|error| failed(&error), |()| Exit::Clean)
}

async fn connected(
    scenario: &str,
    (options, connector): (Options, Arc<dyn Connector>),
    context: &Value,
    busy: &Busy,
    told: &mut scenario_actions::Changes,
) -> Result<(), ClientError> {
    let client = Client::connect_with(options, connector).await?;
    // Nobody else sets it.
    let _ = busy.client.set(client.clone());
    let done = match (scenario, Box::pin(scenario_actions::act(scenario, &client, told)).await) {
        ("roots-change", _) => {
            scenario_actions::change_roots(&client, || busy.changes.store(true, Ordering::Relaxed)).await
        }
        (_, Some(done)) => done,
        (_, None) => use_offer(&client, context).await,
    };
    client.close().await;
    done
}

/// The latest revision of the same era.
fn latest(revision: Revision) -> Revision {
    if revision.era() == Era::Legacy { Revision::NEWEST_LEGACY } else { revision }
}

/// The options that a scenario asks for.
fn wanting(scenario: &str, mut options: Options) -> Options {
    match scenario {
        "progress" | "hostile.endless-stream" => options.progress = true,
        "echo" => options.meta = traced(),
        "logging" => options.log_level = Some("debug".to_owned()),
        // Long enough to be seen as patience, and short enough to be waited for.
        "hostile.silence" | "hostile.greeting-unanswered" => options.limits.request = Duration::from_secs(2),
        _ => {}
    }
    options
}

/// What a client that is traced puts into `_meta`, and something of its own.
fn traced() -> Map<String, Value> {
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
        .map_err(|error| usage(&format!("{CONTEXT} is not JSON: {error}"), "what the suite sets"))
}

/// A user who agrees to everything, and a model that says something; nobody where a scenario wants a client that declares
/// nothing.
fn willing(scenario: &str) -> Scripted {
    if ["hostile.undeclared-requests", "hostile.undeclared-inputs", "tasks-by-looking"].contains(&scenario) {
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
async fn use_offer(client: &Client, context: &Value) -> Result<(), ClientError> {
    let named = context.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let mut calls: Vec<Call> = named.filter_map(|one| call(one.get("name")?, one.get("arguments")?)).collect();
    if client.greeting().may_have("tools")
        && let Ok((tools, _)) = client.tools().await
        && let Some(tool) = tools.iter().find(|tool| tool.name() == ECHO.1)
    {
        let arguments = json!({ "schema": tool.input() });
        calls.extend(call(&json!(ECHO.0), &arguments));
    }
    use_everything(client, &calls).await
}

fn call(tool: &Value, arguments: &Value) -> Option<Call> {
    Some(Call { tool: tool.as_str()?.to_owned(), arguments: arguments.as_object()?.clone() })
}

/// A user who does something else before answering, and is of another mind where a scenario wants that.
struct Busy {
    user: Scripted,
    client: OnceLock<Client>,
    mood: Mood,
    /// Whether its roots have changed.
    changes: AtomicBool,
    extensions: &'static [&'static str],
}

/// What a user is like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Willing,
    /// Lets nothing near the model.
    Unwilling,
    /// Takes longer than anybody waits.
    Slow,
    /// Takes a second for everything.
    Leisurely,
    /// Fills in forms, and visits nothing.
    AtHome,
}

impl Busy {
    fn new(scenario: &str) -> Self {
        let mood = match scenario {
            "sampling-refused" => Mood::Unwilling,
            "question-taken-back" => Mood::Slow,
            "tasks-for-the-server" => Mood::Leisurely,
            "hostile.undeclared-mode" => Mood::AtHome,
            _ => Mood::Willing,
        };
        let extensions: &[_] = match scenario {
            "auth/enterprise-managed-authorization" => &[ENTERPRISE],
            "tasks" | "hostile.task-elsewhere" => &[TASKS],
            _ if scenario.starts_with("auth/client-credentials") => &[CLIENT_CREDENTIALS],
            _ => &[],
        };
        let (user, client) = (willing(scenario), OnceLock::new());
        Self { user, client, mood, changes: AtomicBool::new(false), extensions }
    }
}

impl Respondent for Busy {
    fn abilities(&self) -> Abilities {
        let able = self.user.abilities();
        let urls = able.urls && self.mood != Mood::AtHome;
        Abilities { urls, changing_roots: able.roots, extensions: self.extensions, ..able }
    }

    fn answer(&self, question: Question) -> Answering {
        match (&question, self.mood) {
            (Question::Sampling(_), Mood::Unwilling) => return Box::pin(async { Err(Refused::by_user()) }),
            (_, Mood::Slow) => return Box::pin(std::future::pending()),
            (Question::Roots, _) if self.changes.load(Ordering::Relaxed) => {
                return Box::pin(async { Ok(json!({ "roots": [{ "uri": "file:///tmp", "name": "less" }] })) });
            }
            _ => {}
        }
        let wait = if self.mood == Mood::Leisurely { SECOND } else { Duration::ZERO };
        let (answer, client) = (self.user.answer(question), self.client.get().cloned());
        Box::pin(async move {
            tokio::time::sleep(wait).await;
            if let Some(client) = client
                && let Ok((tools, _)) = client.tools().await
                && let Some(tool) = tools.iter().find(|tool| tool.name() == BESIDE)
            {
                // Whatever comes of it: that it was asked in between is what matters.
                let _ = client.call(tool, Map::new()).await;
            }
            answer.await
        })
    }
}
