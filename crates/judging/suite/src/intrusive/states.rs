//! Answers questions of tools with states that were changed, or that belong to another tool.

use client::{Params, Question, Respondent as _};
use guard::intrusive::{altered, is_destructive};
use guard::scan::{Kind, Proven, find};
use serde_json::{Map, Value, json};

use super::calls::{ordinary, said};
use super::{Run, number, token};
use crate::test::{Consent, Scripted};

/// How many tools that ask are looked at.
const ASKING: usize = 6;

/// A tool that asked something, with its state.
struct Asked {
    tool: String,
    arguments: Map<String, Value>,
    state: String,
    responses: Value,
}

impl Run<'_> {
    /// Attacks the states of tools that ask.
    pub(super) async fn states(&mut self, tools: &[Value]) {
        if self.client.revision().era() == wire::Era::Legacy {
            return;
        }
        let mut all = Vec::new();
        for tool in tools {
            if all.len() >= ASKING || self.is_over() {
                break;
            }
            if !is_destructive(tool) || self.options.calls_destructive {
                all.extend(self.asked(tool["name"].as_str().unwrap_or_default(), ordinary(tool)).await);
            }
        }
        for asked in &all {
            self.altered_states(asked).await;
        }
        for one in &all {
            for other in all.iter().filter(|other| other.tool != one.tool) {
                self.foreign_state(one, other).await;
            }
        }
        if all.is_empty() {
            self.out.notes.push("no tool asked with a state of its request".to_owned());
        }
    }

    /// Calls a tool once; what it asks, if it keeps a state.
    async fn asked(&mut self, tool: &str, arguments: Map<String, Value>) -> Option<Asked> {
        let params = Params::new().with("name", tool).with("arguments", arguments.clone());
        let answer = self.client.request_once("tools/call", &params).await.ok()?;
        let result = answer.result()?;
        if result["resultType"] != "input_required" {
            return None;
        }
        let state = result["requestState"].as_str()?.to_owned();
        let mut responses = Map::new();
        for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
            let schema = request["params"]["requestedSchema"].clone();
            if request["method"] != "elicitation/create" || !schema.is_object() {
                return None;
            }
            let user = Scripted { consent: Some(Consent::Accept), makes_up: true, ..Scripted::default() };
            let answer = user.answer(Question::Form { message: String::new(), schema }).await.ok()?;
            responses.insert(key.clone(), answer);
        }
        Some(Asked { tool: tool.to_owned(), arguments, state, responses: responses.into() })
    }

    /// Sends values of our own in the state. Proof is a complete result with one of them.
    async fn altered_states(&mut self, asked: &Asked) {
        let text = format!("proof{}", token());
        let digits = u64::from(number()) * 100_003;
        for one in altered(&asked.state, &text, digits) {
            if self.is_over() {
                return;
            }
            let Some(said) = self.answered(asked, &one.state).await else { continue };
            if said.contains(&text) || said.contains(&digits.to_string()) {
                let message =
                    format!("a value that was changed in the state came back in the result ({})", one.pointer);
                return self.state_proven(asked, "a state with another value", message);
            }
        }
    }

    /// Sends the state of one tool to another, which refuses a state that nobody issued.
    async fn foreign_state(&mut self, one: &Asked, other: &Asked) {
        let Some(fresh) = self.asked(&one.tool, one.arguments.clone()).await else { return };
        if self.is_over() || self.answered(other, &format!("proof-{}", token())).await.is_some() {
            return;
        }
        if self.answered(other, &fresh.state).await.is_some() {
            let message = "the tool accepts the state of another tool, and refuses one that nobody issued".to_owned();
            self.state_proven(other, "the state of another tool", message);
        }
    }

    /// The texts of a complete result; `None` where the state was refused.
    async fn answered(&mut self, asked: &Asked, state: &str) -> Option<String> {
        let params = Params::new()
            .with("name", asked.tool.as_str())
            .with("arguments", asked.arguments.clone())
            .with("inputResponses", asked.responses.clone())
            .with("requestState", state);
        let answer = self.client.request_once("tools/call", &params).await;
        self.out.sent += 1;
        self.out.answered += usize::from(said(&answer).is_some());
        if let Some(rule) = find("scan.request-state") {
            self.tried(rule);
        }
        let result = answer.as_ref().ok()?.result()?;
        let is_complete = result["resultType"].is_null() || result["resultType"] == "complete";
        (is_complete && result["isError"] != json!(true)).then(|| said(&answer)).flatten()
    }

    fn state_proven(&mut self, asked: &Asked, text: &str, message: String) {
        let Some(rule) = find("scan.request-state") else { return };
        let (kind, item, pointer) = (Kind::Tool, asked.tool.clone(), String::new());
        self.out.proven.push(Proven {
            rule,
            severity: rule.severity,
            kind,
            item,
            pointer,
            text: text.to_owned(),
            message,
        });
    }
}
