//! A respondent without a person: it answers what was given beforehand.

use client::{Abilities, Answer, Answering, Given, Question, Refused, Respondent, example, fill};
use serde_json::{Map, Value, json};

/// What is said to forms and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Forms are filled in, addresses agreed to.
    Accept,
    /// No.
    Decline,
    /// Neither yes nor no.
    Cancel,
}

/// What it was told. As it stands by default, it is able to do nothing.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    /// What to say to forms and addresses; `None` where there is nobody to ask.
    pub consent: Option<Consent>,
    /// What to write into which field; what is not among them gets its default.
    pub fields: Vec<(String, Given)>,
    /// Whether something is made up for what has no default and is required.
    pub makes_up: bool,
    /// What the model says, whatever it is asked; `None` where there is none.
    pub says: Option<String>,
    /// Whether it uses a tool first wherever it may.
    pub uses_tools: bool,
    /// Whether it answers as a task where a server wants that.
    pub runs_tasks: bool,
    /// The roots, as `roots/list` has them; `None` where there are none to show.
    pub roots: Option<Vec<Value>>,
}

impl Respondent for Scripted {
    fn abilities(&self) -> Abilities {
        let asks = self.consent.is_some();
        Abilities {
            roots: self.roots.is_some(),
            sampling: self.says.is_some(),
            sampling_tools: self.says.is_some() && self.uses_tools,
            forms: asks,
            urls: asks,
            tasks: self.runs_tasks && (asks || self.says.is_some()),
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

    /// The tool that the model uses, where it may, or must.
    fn tool<'p>(&self, params: &'p Value) -> Option<&'p Value> {
        let choice = params.pointer("/toolChoice/mode").and_then(Value::as_str);
        params["tools"].get(0).filter(|_| self.uses_tools && choice != Some("none"))
    }

    fn say(&self, question: Question) -> Answer {
        match question {
            Question::Roots => Ok(json!({ "roots": self.roots })),
            Question::Sampling(params) => {
                let says = self.says.as_deref().ok_or_else(Refused::by_user)?;
                if let Some(tool) = self.tool(&params) {
                    return Ok(used(tool));
                }
                Ok(model_message(says, params["maxTokens"].as_u64().unwrap_or(u64::MAX)))
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

/// How a model uses a tool: with what its schema calls for.
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

/// What a model says, cut off where it would be more than it may say. A token has four characters or so.
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
