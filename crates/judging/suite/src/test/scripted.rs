//! A respondent with answers given in advance.

use client::{Abilities, Answer, Answering, Given, Question, Refused, Respondent, example, fill};
use serde_json::{Map, Value, json};

/// The answer to forms and URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Fill in forms, visit URLs.
    Accept,
    /// Refuse.
    Decline,
    /// Close without an answer.
    Cancel,
}

/// The answers. By default there are none, and no ability is declared.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    /// The answer to forms and URLs; `None` to declare no elicitation.
    pub consent: Option<Consent>,
    /// Values of form fields; other fields get their default.
    pub fields: Vec<(String, Given)>,
    /// Whether to invent values for required fields without a default.
    pub makes_up: bool,
    /// The model's answer to every request; `None` to declare no sampling.
    pub model_text: Option<String>,
    /// Whether the model uses a tool first, if it may.
    pub uses_tools: bool,
    /// Whether it answers as a task if the server requests that.
    pub runs_tasks: bool,
    /// The roots of `roots/list`; `None` to declare no roots.
    pub roots: Option<Vec<Value>>,
}

impl Respondent for Scripted {
    fn abilities(&self) -> Abilities {
        let asks = self.consent.is_some();
        Abilities {
            roots: self.roots.is_some(),
            sampling: self.model_text.is_some(),
            sampling_tools: self.model_text.is_some() && self.uses_tools,
            forms: asks,
            urls: asks,
            tasks: self.runs_tasks && (asks || self.model_text.is_some()),
            ..Abilities::default()
        }
    }

    fn answer(&self, question: Question) -> Answering {
        let answer = self.say(question);
        Box::pin(async { answer })
    }
}

impl Scripted {
    fn given(&self, schema: &Value) -> Vec<(String, Given)> {
        let made = if self.makes_up { example(schema) } else { Map::new() };
        made.into_iter().map(|(name, value)| (name, Given::Json(value))).chain(self.fields.iter().cloned()).collect()
    }

    /// The tool that the model uses, if it may.
    fn tool<'p>(&self, params: &'p Value) -> Option<&'p Value> {
        let choice = params.pointer("/toolChoice/mode").and_then(Value::as_str);
        params["tools"].get(0).filter(|_| self.uses_tools && choice != Some("none"))
    }

    fn say(&self, question: Question) -> Answer {
        match question {
            Question::Roots => Ok(json!({ "roots": self.roots })),
            Question::Sampling(params) => {
                let model_text = self.model_text.as_deref().ok_or_else(Refused::by_user)?;
                if let Some(tool) = self.tool(&params) {
                    return Ok(used(tool));
                }
                Ok(model_message(model_text, params["maxTokens"].as_u64().unwrap_or(u64::MAX)))
            }
            Question::Form { schema, .. } => Ok(match self.consent {
                Some(Consent::Accept) => match fill(&schema, &self.given(&schema)) {
                    Ok(content) => json!({ "action": "accept", "content": content }),
                    Err(_) => json!({ "action": "cancel" }),
                },
                consent => json!({ "action": action(consent) }),
            }),
            Question::Url { .. } => Ok(json!({ "action": action(self.consent) })),
        }
    }
}

/// A model's call of a tool, with example arguments.
fn used(tool: &Value) -> Value {
    let input = example(&tool["inputSchema"]);
    json!({
        "role": "assistant",
        "content": { "type": "tool_use", "id": "use-1", "name": tool["name"], "input": input },
        "model": "proofhouse",
        "stopReason": "toolUse",
    })
}

const fn action(consent: Option<Consent>) -> &'static str {
    match consent {
        Some(Consent::Accept) => "accept",
        Some(Consent::Decline) => "decline",
        Some(Consent::Cancel) | None => "cancel",
    }
}

/// A model's message, truncated at `max_tokens` of about four characters each.
pub fn model_message(text: &str, max_tokens: u64) -> Value {
    let room = usize::try_from(max_tokens.saturating_mul(4)).unwrap_or(usize::MAX);
    let cut = text.char_indices().nth(room).map(|(at, _)| at);
    let reason = if cut.is_some() { "maxTokens" } else { "endTurn" };
    let text = &text[..cut.unwrap_or(text.len())];
    json!({
        "role": "assistant",
        "content": { "type": "text", "text": text },
        "model": "proofhouse",
        "stopReason": reason,
    })
}
