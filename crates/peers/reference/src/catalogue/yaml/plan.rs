//! What an entry of a catalogue file does when it is asked for: wait, report, log, and answer. Everything was looked at when
//! the file was read; all that may still go wrong is what arguments fill in.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use net::service::RpcError;
use schema::Validator;
use serde_json::Value;

use crate::catalogue::{Content, Invocation, Level, Messages, Outcome, Output};
use document::{Filled, Pattern, TooLong};
use wire::serf::{Category, Details};

/// How long the texts of one answer may become together, in bytes.
const LONGEST: usize = 2 << 20;

/// Something that happens before an answer.
#[derive(Debug)]
pub(super) enum Step {
    Wait(Duration),
    Progress(u64, u64, Pattern),
    Log(Level, Filled),
}

/// A content block, as the protocol has it, and what is filled into it.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) fixed: Arc<Value>,
    /// By JSON pointer.
    pub(super) texts: Vec<(&'static str, Pattern)>,
    /// The same for URIs.
    pub(super) uris: Vec<(&'static str, Pattern)>,
}

/// A JSON-RPC error.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: Pattern,
    pub(super) data: Option<Filled>,
}

/// One answer of a tool.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) when: Value,
    pub(super) steps: Vec<Step>,
    pub(super) end: Result<ToolResult, Refusal>,
}

/// A result of a tool.
#[derive(Debug)]
pub(super) struct ToolResult {
    pub(super) blocks: Vec<Block>,
    pub(super) structured: Option<Filled>,
    pub(super) is_error: bool,
    pub(super) failure: Option<Details>,
}

/// All answers of a tool.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) list: Vec<Answer>,
    /// Where to look first, where they take turns.
    pub(super) turn: Option<Mutex<usize>>,
    pub(super) output: Option<Validator>,
}

/// What a prompt does.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    /// Each with its role.
    pub(super) end: Result<Vec<(Value, Block)>, Refusal>,
}

impl Answers {
    /// Answers one call.
    pub(super) async fn run(&self, invocation: Invocation) -> Outcome {
        let Some(answer) = self.pick(&invocation.arguments) else {
            return Outcome::failure(Category::InvalidInput, "No answer of this tool is for these arguments");
        };
        match answer.run(&invocation).await {
            Ok(outcome) => self.checked(outcome),
            Err(TooLong) => Outcome::Refused(too_long()),
        }
    }

    fn pick(&self, arguments: &Value) -> Option<&Answer> {
        let first = |from: usize| {
            let places = (0..self.list.len()).map(|place| (from + place) % self.list.len());
            places.into_iter().find(|place| fits(&self.list[*place].when, arguments))
        };
        let place = match &self.turn {
            None => first(0)?,
            Some(turn) => {
                let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                let place = first(*turn)?;
                *turn = place + 1;
                place
            }
        };
        self.list.get(place)
    }

    /// A server never sends what its `outputSchema` forbids: what arguments made of an answer is looked at again.
    fn checked(&self, outcome: Outcome) -> Outcome {
        match (&self.output, &outcome) {
            (Some(schema), Outcome::Done(Output { structured: Some(value), is_error: false, .. })) => {
                match schema.mismatches(value, 1).pop() {
                    None => outcome,
                    Some(mismatch) => {
                        let what = format!("The answer, filled in, does not fit `outputSchema`: {}", mismatch.message);
                        Outcome::Refused(RpcError::internal(what))
                    }
                }
            }
            _ => outcome,
        }
    }
}

impl Answer {
    async fn run(&self, invocation: &Invocation) -> Result<Outcome, TooLong> {
        take(&self.steps, invocation).await?;
        let arguments = &invocation.arguments;
        let said = match &self.end {
            Ok(said) => said,
            Err(refusal) => return Ok(Outcome::Refused(refusal.fill(arguments)?)),
        };
        let structured = said.structured.as_ref().map(|value| value.fill(arguments)).transpose()?;
        let mut content: Vec<Content> = filled(&said.blocks, arguments)?.into_iter().map(Content::Whole).collect();
        if let Some(value) = structured.as_ref().filter(|_| content.is_empty()) {
            // For clients that read only text.
            content.push(Content::text(value.to_string()));
        }
        Ok(Outcome::Done(Output { content, structured, is_error: said.is_error, failure: said.failure.clone() }))
    }
}

impl Script {
    /// Answers one `prompts/get`.
    pub(super) async fn run(&self, invocation: Invocation) -> Outcome<Messages> {
        self.messages(&invocation).await.unwrap_or_else(|TooLong| Outcome::Refused(too_long()))
    }

    async fn messages(&self, invocation: &Invocation) -> Result<Outcome<Messages>, TooLong> {
        take(&self.steps, invocation).await?;
        let arguments = &invocation.arguments;
        let messages = match &self.end {
            Ok(messages) => messages,
            Err(refusal) => return Ok(Outcome::Refused(refusal.fill(arguments)?)),
        };
        let contents = filled(messages.iter().map(|(_, block)| block), arguments)?;
        let messages = messages.iter().zip(contents);
        Ok(Outcome::messages(
            messages.map(|((role, _), content)| serde_json::json!({ "role": role, "content": content })).collect(),
        ))
    }
}

impl Refusal {
    fn fill(&self, arguments: &Value) -> Result<RpcError, TooLong> {
        let error = RpcError::new(self.code, self.message.fill(arguments)?);
        Ok(match &self.data {
            Some(data) => error.with_data(data.fill(arguments)?),
            None => error,
        })
    }
}

impl Block {
    /// A block that nothing is filled into.
    pub(super) fn whole(fixed: Arc<Value>) -> Self {
        Self { fixed, texts: Vec::new(), uris: Vec::new() }
    }

    fn fill(&self, arguments: &Value, room: &mut usize) -> Result<Value, TooLong> {
        let mut block = Value::clone(&self.fixed);
        let texts = self.texts.iter().map(|(pointer, pattern)| (pointer, pattern.fill(arguments)));
        let uris = self.uris.iter().map(|(pointer, pattern)| (pointer, pattern.fill_uri(arguments)));
        for (pointer, text) in texts.chain(uris) {
            let text = text?;
            *room = room.checked_sub(text.len()).ok_or(TooLong)?;
            if let Some(hole) = block.pointer_mut(pointer) {
                *hole = Value::String(text);
            }
        }
        Ok(block)
    }
}

fn filled<'b>(blocks: impl IntoIterator<Item = &'b Block>, arguments: &Value) -> Result<Vec<Value>, TooLong> {
    let mut room = LONGEST;
    blocks.into_iter().map(|block| block.fill(arguments, &mut room)).collect()
}

async fn take(steps: &[Step], invocation: &Invocation) -> Result<(), TooLong> {
    for step in steps {
        match step {
            Step::Wait(time) => tokio::time::sleep(*time).await,
            Step::Progress(done, total, message) => {
                invocation.progress(*done, *total, &message.fill(&invocation.arguments)?);
            }
            Step::Log(level, data) => invocation.log(*level, &data.fill(&invocation.arguments)?),
        }
    }
    Ok(())
}

fn too_long() -> RpcError {
    RpcError::internal("The answer, filled in, is too long")
}

/// Whether `wanted` is in `value`: members that it does not name may be anything.
fn fits(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Object(wanted), Value::Object(value)) => {
            wanted.iter().all(|(name, wanted)| value.get(name).is_some_and(|value| fits(wanted, value)))
        }
        (Value::Number(wanted), Value::Number(value)) => wanted == value || wanted.as_f64() == value.as_f64(),
        _ => wanted == value,
    }
}
