//! A request in several rounds (2026-07-28, basic/patterns/mrtr): input requests in a result are answered in the next round,
//! and the state goes back byte for byte. The kinds of results are distinguished here.

use serde_json::{Map, Value};
use wire::{Era, Message};

use super::BoxFuture;
use super::abilities::Refused;
use super::params::raw_member;
use super::respond::respond;
use super::{Advice, Client, ClientError, Params};

/// How many rounds one request may take.
const ROUNDS: usize = 16;
/// How many questions one round may have.
const QUESTIONS: usize = 64;

/// The methods that may take several rounds.
const ROUNDABLE: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

impl Client {
    /// Sends a request through all its rounds, and returns the complete result.
    /// Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
    pub fn request<'a>(&'a self, method: &'a str, params: &'a Params) -> BoxFuture<'a, Result<Message, ClientError>> {
        Box::pin(self.all_rounds(method, params))
    }

    async fn all_rounds(&self, method: &str, params: &Params) -> Result<Message, ClientError> {
        let mut round = params.clone();
        for _ in 0..ROUNDS {
            let answer = self.once(method, &round).await?;
            if self.revision().era() == Era::Legacy {
                return Ok(answer);
            }
            match answer.result().and_then(|result| result.get("resultType")) {
                // Earlier revisions have no result type.
                None => return Ok(answer),
                Some(Value::String(kind)) if kind == "complete" => return Ok(answer),
                Some(Value::String(kind)) if kind == "input_required" && ROUNDABLE.contains(&method) => {
                    round = self.next_round(method, params, &answer).await?;
                }
                Some(Value::String(kind)) if kind == "task" && method == "tools/call" && self.takes_tasks() => {
                    return Box::pin(self.follow(&answer)).await;
                }
                Some(kind) => {
                    return Err(ClientError::invalid(method, format!("a result of the unknown type {kind}")));
                }
            }
        }
        Err(ClientError::invalid(method, format!("it is not complete after {ROUNDS} rounds")))
    }

    async fn next_round(&self, method: &str, params: &Params, answer: &Message) -> Result<Params, ClientError> {
        let result = answer.result().cloned().unwrap_or_default();
        let mut round = params.clone();
        let asked = match result.get("inputRequests") {
            None => None,
            Some(Value::Object(asked)) => Some(asked),
            Some(_) => return Err(ClientError::invalid(method, "its `inputRequests` are no object")),
        };
        if let Some(asked) = asked {
            round = round.with("inputResponses", self.inputs(method, asked).await?);
        }
        match raw_member(answer, "requestState") {
            Some(state) => round = round.with_raw("requestState", &state),
            None if asked.is_none() => {
                return Err(ClientError::invalid(method, "it requires input and does not say which"));
            }
            None => {}
        }
        Ok(round)
    }

    pub(super) async fn inputs(&self, method: &str, asked: &Map<String, Value>) -> Result<Value, ClientError> {
        if asked.len() > QUESTIONS {
            return Err(ClientError::invalid(method, format!("{} questions at a time", asked.len())));
        }
        let mut inputs = Map::new();
        for (key, request) in asked {
            let question = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let given = request.get("params").cloned().unwrap_or_default();
            match respond(self.0.options.respondent.as_ref(), question, &given).await {
                Ok(answer) => inputs.insert(key.clone(), answer),
                Err(Refused { code: -1, .. }) => {
                    return Err(ClientError::not_sent(
                        format!("the server asks `{question}`, which was refused, and cannot go on without"),
                        Advice::AnswerQuestions,
                    ));
                }
                Err(Refused { message, .. }) => {
                    return Err(ClientError::invalid(method, format!("it asks `{question}`: {message}")));
                }
            };
        }
        Ok(Value::Object(inputs))
    }
}
