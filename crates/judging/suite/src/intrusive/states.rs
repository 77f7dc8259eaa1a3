//! Answers questions of tools with states that were changed, or that belong to another tool.

use client::{Params, Respondent as _};
use guard::intrusive::{altered, is_destructive, is_like};
use guard::scan::{Kind, Proven, find};
use serde_json::{Map, Value, json};

use super::calls::said;
use super::ordinary::ordinary;
use super::user::User;
use super::{Run, number, token};

/// How many tools that ask are looked at.
const ASKING: usize = 6;

/// A tool that asked something, with its state.
struct Question {
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
                all.extend(
                    self.asked(
                        tool["name"].as_str().unwrap_or_default(),
                        ordinary(tool, self.options.calls_destructive),
                    )
                    .await,
                );
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
    async fn asked(&mut self, tool: &str, arguments: Map<String, Value>) -> Option<Question> {
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
            let answer =
                User::default().answer(client::Question::Form { message: String::new(), schema }).await.ok()?;
            responses.insert(key.clone(), answer);
        }
        Some(Question { tool: tool.to_owned(), arguments, state, responses: responses.into() })
    }

    /// What a tool says to a new state of its own.
    async fn unchanged(&mut self, asked: &Question) -> Option<String> {
        let fresh = self.asked(&asked.tool, asked.arguments.clone()).await?;
        self.answered(asked, &fresh.state).await
    }

    /// Sends values of our own in the state. Proof is the answer to an unchanged state, but with one of them.
    async fn altered_states(&mut self, asked: &Question) {
        let text = format!("proof{}", token());
        let digits = u64::from(number()) * 100_003;
        let all = altered(&asked.state, &text, digits);
        if all.is_empty() {
            return;
        }
        let Some(unchanged) = self.unchanged(asked).await else {
            let shown = wire::escape::snippet(&asked.tool, 60);
            return self.incomplete(format!("{shown} refuses its own state, so no changed state was tried"));
        };
        for one in all {
            if self.is_over() {
                return;
            }
            let answer = self.answered(asked, &one.state).await;
            self.state_tried();
            let Some(said) = answer.map(|said| one.unquoted(&said)) else { continue };
            let is_taken = said.contains(&text) || said.contains(&digits.to_string());
            let restored = said.replace(&text, &one.was).replace(&digits.to_string(), &one.was);
            // A refusal that names what it refuses is another answer.
            if is_taken && is_like(&unchanged, &restored) {
                let message =
                    format!("a value that was changed in the state came back in the result ({})", one.pointer);
                return self.state_proven(asked, "a state with another value", message);
            }
        }
    }

    /// Sends the state of one tool to another, which refuses a state that nobody issued.
    async fn foreign_state(&mut self, one: &Question, other: &Question) {
        let Some(fresh) = self.asked(&one.tool, one.arguments.clone()).await else { return };
        if self.is_over() || self.answered(other, &format!("proof-{}", token())).await.is_some() {
            return;
        }
        let Some(own) = self.unchanged(other).await else { return };
        let answer = self.answered(other, &fresh.state).await;
        self.state_tried();
        if answer.is_some_and(|said| is_like(&own, &said)) {
            let message = "the tool accepts the state of another tool, and refuses one that nobody issued".to_owned();
            self.state_proven(other, "the state of another tool", message);
        }
    }

    fn state_tried(&mut self) {
        if let Some(rule) = find("scan.request-state") {
            self.tried(rule);
        }
    }

    /// The texts of a complete result; `None` where the state was refused.
    async fn answered(&mut self, asked: &Question, state: &str) -> Option<String> {
        let params = Params::new()
            .with("name", asked.tool.as_str())
            .with("arguments", asked.arguments.clone())
            .with("inputResponses", asked.responses.clone())
            .with("requestState", state);
        let answer = self.client.request_once("tools/call", &params).await;
        self.out.sent += 1;
        self.out.answered += usize::from(said(&answer).is_some());
        let result = answer.as_ref().ok()?.result()?;
        let is_complete = result["resultType"].is_null() || result["resultType"] == "complete";
        (is_complete && result["isError"] != json!(true)).then(|| said(&answer)).flatten()
    }

    fn state_proven(&mut self, asked: &Question, text: &str, message: String) {
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
