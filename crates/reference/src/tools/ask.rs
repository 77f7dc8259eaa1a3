//! Tools that ask the client something first: a request of ours in the legacy era, a result that asks in the modern one
//! (basic/patterns/mrtr, client/elicitation, client/sampling, client/roots).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use net::service::{RpcError, code};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wire::revision::{R2024_11_05, R2025_06_18};
use wire::{Era, Kind};

use super::call::{Invocation, Outcome};
use super::{READS, Run, Running, Tool, nothing};
use crate::Server;

/// How long a client may take to come back with an answer.
const STATE_LIFE: Duration = Duration::from_mins(10);

pub(super) const ASK: Tool = Tool {
    name: "ask",
    title: "Ask",
    description: "Asks the user for a name and greets",
    since: R2025_06_18,
    input: nothing,
    output: None,
    hints: READS,
    run: Run::Later(|server, invocation| run(server, invocation, &NAME)),
};

pub(super) const SAMPLE: Tool = Tool {
    name: "sample",
    title: "Sample",
    description: "Asks the client's model to complete a prompt",
    since: R2024_11_05,
    input: || {
        json!({
            "type": "object",
            "properties": { "prompt": { "type": "string", "default": "Say hello" } },
            "additionalProperties": false,
        })
    },
    output: None,
    hints: READS,
    run: Run::Later(|server, invocation| run(server, invocation, &COMPLETION)),
};

pub(super) const LIST_ROOTS: Tool = Tool {
    name: "list_roots",
    title: "List roots",
    description: "Asks the client for its roots",
    since: R2024_11_05,
    input: nothing,
    output: None,
    hints: READS,
    run: Run::Later(|server, invocation| run(server, invocation, &ROOTS)),
};

/// Something the client is asked.
struct Question {
    /// Its key among the input requests.
    key: &'static str,
    /// The capability that a client which answers it has.
    capability: &'static str,
    method: &'static str,
    params: fn(&Invocation) -> Option<Value>,
    /// What the tool makes of the answer; `None` where the answer does not fit.
    conclude: fn(&Value) -> Option<Outcome>,
}

const NAME: Question = Question {
    key: "name",
    capability: "elicitation",
    method: "elicitation/create",
    params: |_| {
        Some(json!({
            "message": "What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": { "name": { "type": "string", "title": "Name", "minLength": 1 } },
                "required": ["name"],
            },
        }))
    },
    conclude: |answer| match answer.get("action")?.as_str()? {
        "accept" => {
            let name = answer.pointer("/content/name")?.as_str().filter(|name| !name.is_empty())?;
            Some(Outcome::text(format!("Hello, {name}!")))
        }
        "decline" => Some(Outcome::text("You would rather not say.")),
        "cancel" => Some(Outcome::text("You closed the question.")),
        _ => None,
    },
};

const COMPLETION: Question = Question {
    key: "completion",
    capability: "sampling",
    method: "sampling/createMessage",
    params: |invocation| {
        let prompt = invocation.text("prompt").unwrap_or("Say hello");
        Some(json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
            "maxTokens": 100,
        }))
    },
    conclude: |answer| {
        let content = answer.get("content")?;
        let block = content.get(0).unwrap_or(content);
        answer.get("role")?.as_str()?;
        answer.get("model")?.as_str()?;
        let text = block.get("text").and_then(Value::as_str).unwrap_or("something other than text");
        Some(Outcome::text(format!("The model said: {text}")))
    },
};

const ROOTS: Question = Question {
    key: "roots",
    capability: "roots",
    method: "roots/list",
    params: |_| None,
    conclude: |answer| {
        let uris: Option<Vec<_>> =
            answer.get("roots")?.as_array()?.iter().map(|root| root.get("uri")?.as_str()).collect();
        Some(Outcome::text(format!("Roots: {}", uris?.join(", "))))
    },
};

fn run(server: Server, invocation: Invocation, question: &'static Question) -> Running {
    Box::pin(async move {
        match (invocation.call.context.era(), can_answer(&invocation, question)) {
            (Era::Modern, true) => modern(&server, &invocation, question),
            (Era::Modern, false) => Outcome::Refused(
                RpcError::new(code::MISSING_CLIENT_CAPABILITY, "Missing required client capability")
                    .with_data(json!({ "requiredCapabilities": { question.capability: {} } })),
            ),
            (Era::Legacy, true) => legacy(&invocation, question).await,
            (Era::Legacy, false) => {
                Outcome::failure(format!("This client did not declare the capability `{}`", question.capability))
            }
        }
    })
}

/// Whether the client declared what it takes. Elicitation that names modes must name forms.
fn can_answer(invocation: &Invocation, question: &Question) -> bool {
    let declared = invocation.call.client_capabilities().and_then(|declared| declared.get(question.capability));
    declared.and_then(Value::as_object).is_some_and(|modes| {
        question.capability != "elicitation" || modes.contains_key("form") || !modes.contains_key("url")
    })
}

async fn legacy(invocation: &Invocation, question: &Question) -> Outcome {
    let params = (question.params)(invocation);
    match invocation.call.link.request(question.method, params.unwrap_or_else(|| json!({}))).await {
        Ok(message) if message.kind() == Kind::Error => Outcome::failure("The client answered with an error"),
        Ok(message) => message
            .result()
            .and_then(question.conclude)
            .unwrap_or_else(|| Outcome::failure("The client's answer is not what was asked for")),
        Err(error) => Outcome::failure(error.to_string()),
    }
}

/// Concludes where the answer is there and fits; asks, or asks again, where not.
fn modern(server: &Server, invocation: &Invocation, question: &Question) -> Outcome {
    if let Some(state) = &invocation.request_state
        && !is_ours(server, invocation, state)
    {
        return Outcome::Refused(RpcError::invalid_params(
            "Invalid params: `requestState` is not valid for this request",
        ));
    }
    let answer = invocation.input_responses.as_ref().and_then(|answers| answers.get(question.key));
    // Without our state the answer is to a question that nobody asked.
    let asked = invocation.request_state.is_some();
    if let Some(outcome) = answer.filter(|_| asked).and_then(question.conclude) {
        return outcome;
    }
    let mut request = json!({ "method": question.method });
    if let Some(params) = (question.params)(invocation) {
        request["params"] = params;
    }
    Outcome::InputRequired(json!({
        "inputRequests": { question.key: request },
        "requestState": state(server, invocation),
    }))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

/// What binds a state to its request: the method, the tool and the arguments.
fn digest(invocation: &Invocation) -> Vec<u8> {
    let name = invocation.call.message.params().and_then(|params| params.get("name"));
    Sha256::digest(json!(["tools/call", name, invocation.arguments]).to_string()).to_vec()
}

fn state(server: &Server, invocation: &Invocation) -> String {
    let expires = (now() + STATE_LIFE.as_secs()).to_be_bytes();
    server.state().seal.close("state", &[&expires[..], &digest(invocation)].concat())
}

fn is_ours(server: &Server, invocation: &Invocation, state: &str) -> bool {
    let Some(payload) = server.state().seal.open("state", state) else { return false };
    let Some((expires, bound)) = payload.split_first_chunk::<8>() else { return false };
    u64::from_be_bytes(*expires) > now() && bound == digest(invocation)
}
