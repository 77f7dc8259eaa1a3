//! One answer of an endpoint, whole: the calls in it, as scoring reads them, and what it cost.

use std::borrow::Cow;

use eval::Sample;
use eval::import::{self, Format};
use eval::recording::Tokens;
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::weight::{self, Room};

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// As the API gives it when it does not stream.
    pub whole: Value,
    /// Its calls and texts. Tools have their names in the API.
    pub sample: Sample,
    /// What it cost, where the endpoint says so.
    pub tokens: Option<Tokens>,
}

impl Answered {
    /// Reads an answer that came in one piece.
    pub fn parse(dialect: Dialect, bytes: &[u8]) -> Result<Self, String> {
        const INVALID: &str = "the answer is not JSON";
        let text = std::str::from_utf8(bytes).map_err(|_| INVALID.to_owned())?;
        let whole = weight::parse(text, INVALID)?;
        Room::default().take_texts(&whole)?;
        let has = |member: &str| whole.get(member).is_some_and(Value::is_array);
        let is_of_dialect = match dialect {
            Dialect::Responses => has("output"),
            Dialect::Chat => has("choices"),
            Dialect::Messages => has("content") && whole.get("role") == Some(&json!("assistant")),
        };
        if !is_of_dialect {
            let said = whole.pointer("/error/message").or_else(|| whole.get("message")).and_then(Value::as_str);
            let said = said.map(|said| format!(": {}", wire::escape::snippet(said, 300))).unwrap_or_default();
            return Err(format!("the answer is not one of the {} API{said}", dialect.as_str()));
        }
        let text = if dialect == Dialect::Messages { with_stop_reason(&whole).into() } else { Cow::Borrowed(text) };
        let samples = import::read(text.as_bytes(), Some(Format::Answer)).map_err(|error| error.what)?;
        let sample = samples.into_iter().next().ok_or("the answer is empty")?;
        Self::new(dialect, whole, sample)
    }

    /// An answer and what was read in it.
    pub(crate) fn new(dialect: Dialect, mut whole: Value, mut sample: Sample) -> Result<Self, String> {
        if let Some(why) = sample.broken.take() {
            return Err(wire::escape::snippet(&why, 300));
        }
        let arguments = sample.calls.iter().flat_map(|call| call.arguments.values());
        weight::check_depth(std::iter::once(&whole).chain(arguments))?;
        if dialect == Dialect::Chat {
            name_calls(&mut whole, &mut sample)?;
        }
        if sample.calls.iter().any(|call| call.id.is_none()) {
            return Err("a call has no id, so its result cannot be handed back".to_owned());
        }
        let tokens = tokens(dialect, &whole);
        Ok(Self { whole, sample, tokens })
    }
}

/// A message that says why it ended is read by itself, and not as a part of a conversation.
fn with_stop_reason(whole: &Value) -> String {
    let reason = json!(whole.get("stop_reason").and_then(Value::as_str).unwrap_or("end_turn"));
    format!(r#"{{"type":"message","stop_reason":{reason},"content":{}}}"#, whole["content"])
}

/// Some servers leave the ids of calls out: the results need them.
fn name_calls(whole: &mut Value, sample: &mut Sample) -> Result<(), String> {
    let listed = whole.pointer_mut("/choices/0/message/tool_calls").and_then(Value::as_array_mut);
    if listed.as_ref().map_or(0, |listed| listed.len()) != sample.calls.len() {
        return Err("the calls are not in `tool_calls`, so their results cannot be handed back".to_owned());
    }
    for (number, (call, listed)) in sample.calls.iter_mut().zip(listed.into_iter().flatten()).enumerate() {
        if call.id.is_none()
            && let Value::Object(members) = listed
        {
            let id = format!("call_{number}");
            members.insert("id".to_owned(), json!(id));
            call.id = Some(id);
        }
    }
    Ok(())
}

/// What an answer cost, from its `usage`.
fn tokens(dialect: Dialect, whole: &Value) -> Option<Tokens> {
    let usage = whole.get("usage")?;
    let of = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let or_none = |pointer: &str| of(pointer).unwrap_or(0);
    match dialect {
        Dialect::Responses => Some(Tokens {
            input: of("/input_tokens")?,
            cached: or_none("/input_tokens_details/cached_tokens"),
            output: of("/output_tokens")?,
        }),
        Dialect::Chat => Some(Tokens {
            input: of("/prompt_tokens")?,
            cached: or_none("/prompt_tokens_details/cached_tokens"),
            output: of("/completion_tokens")?,
        }),
        Dialect::Messages => {
            let cached = or_none("/cache_read_input_tokens");
            let written = or_none("/cache_creation_input_tokens");
            let input = of("/input_tokens")?.saturating_add(cached).saturating_add(written);
            Some(Tokens { input, cached, output: of("/output_tokens")? })
        }
    }
}

#[cfg(test)]
mod tests;
