//! `proof client --conformance`: what the official conformance suite, and `proof check-client`, want to see of a client. They
//! tell the scenario by variables of the environment; almost everything is a tour of what the server offers.

mod acts;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use net::client::{Address, Authorizer};
use reference::client::{
    Abilities, Answering, Client, ClientError, Consent, Options, Question, Respondent, Scripted, Wanted,
};
use serde_json::{Map, Value, json};

use super::{credentials, options};
use crate::args::client::ClientArgs;
use crate::exit::{Exit, tell_redacted, usage};

/// The revision that is to be spoken.
const VERSION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// What the scenario tells the client.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
/// Which scenario it is.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The tool that is to be called while another waits for an answer.
const BESIDE: &str = "test_mrtr_unrelated";
/// The tool that wants the schema of another back as it came.
const ECHO: (&str, &str) = ("json_schema_echo", "json_schema_2020_12_tool");

/// Plays one scenario.
pub(super) async fn play(args: &ClientArgs, address: Address) -> Exit {
    let context = match context() {
        Ok(context) => context,
        Err(exit) => return exit,
    };
    let busy = Arc::new(Busy { user: willing(), client: OnceLock::new() });
    let endpoint = match &address {
        Address::Http(http) => Some(http.url.clone()),
        _ => None,
    };
    let options = match options::options(args, address) {
        Ok(options) => Options { respondent: busy.clone(), ..options },
        Err(exit) => return exit,
    };
    let scenario = std::env::var(SCENARIO).unwrap_or_default();
    let (observer, mut told) = acts::observer();
    let options = wanting(&scenario, Options { observer, ..options });
    let revision = match std::env::var(VERSION).ok().map(|version| version.parse()).transpose() {
        Ok(named) => named.or(options.revision),
        Err(error) => return usage(&format!("{VERSION}: {error}"), "one of those"),
    };
    let authorizer =
        endpoint.map(|url| credentials::authorizer(&url, (revision, &options.faults), &scenario, &context)).transpose();
    let authorizer = match authorizer {
        Ok(authorizer) => authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>),
        Err(why) => return usage(&why, "what the suite sets"),
    };
    let client = match Client::connect(Options { revision, authorizer, ..options }).await {
        Ok(client) => client,
        Err(error) => return failed(&error),
    };
    // Nobody else sets it.
    let _ = busy.client.set(client.clone());
    let done = match Box::pin(acts::act(&scenario, &client, &mut told)).await {
        Some(done) => done,
        None => toured(&client, &context).await,
    };
    client.close().await;
    done.map_or_else(|error| failed(&error), |()| Exit::Clean)
}

/// The options that a scenario asks for.
fn wanting(scenario: &str, mut options: Options) -> Options {
    match scenario {
        "progress" | "hostile.endless-stream" => options.progress = true,
        "logging" => options.log_level = Some("debug".to_owned()),
        // Long enough to be seen as patience, and short enough to be waited for.
        "hostile.silence" => options.limits.request = Duration::from_secs(2),
        _ => {}
    }
    options
}

fn failed(error: &ClientError) -> Exit {
    tell_redacted(&format!("error: {error}"));
    Exit::NoAnswer
}

fn context() -> Result<Value, Exit> {
    let Ok(text) = std::env::var(CONTEXT) else { return Ok(Value::Null) };
    serde_json::from_str(&text)
        .map_err(|error| usage(&format!("{CONTEXT} is not JSON: {error}"), "what the suite sets"))
}

/// A user who agrees to everything, and a model that says something.
fn willing() -> Scripted {
    Scripted {
        consent: Some(Consent::Accept),
        says: Some("Something that a model might say.".to_owned()),
        roots: Some(vec![json!({ "uri": "file:///", "name": "all" })]),
        makes_up: true,
        ..Scripted::default()
    }
}

async fn toured(client: &Client, context: &Value) -> Result<(), ClientError> {
    let calls = context.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    let mut wanted: Vec<Wanted> = calls.filter_map(|call| wanted(call.get("name")?, call.get("arguments")?)).collect();
    if client.greeting().may_have("tools")
        && let Ok((tools, _)) = client.tools().await
        && let Some(tool) = tools.iter().find(|tool| tool.name() == ECHO.1)
    {
        let arguments = json!({ "schema": tool.input() });
        wanted.extend(self::wanted(&json!(ECHO.0), &arguments));
    }
    client.tour(&wanted).await
}

fn wanted(tool: &Value, arguments: &Value) -> Option<Wanted> {
    Some(Wanted { tool: tool.as_str()?.to_owned(), arguments: arguments.as_object()?.clone() })
}

/// A user who does something else before answering.
struct Busy {
    user: Scripted,
    client: OnceLock<Client>,
}

impl Respondent for Busy {
    fn abilities(&self) -> Abilities {
        self.user.abilities()
    }

    fn answer(&self, question: Question) -> Answering {
        let (answer, client) = (self.user.answer(question), self.client.get().cloned());
        Box::pin(async move {
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
