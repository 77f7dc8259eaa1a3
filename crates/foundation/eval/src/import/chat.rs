//! OpenAI's Chat Completions: whole completions, conversations, and chunks of a stream. Many servers speak this dialect, each
//! with its defects.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::Unreadable;
use super::drafts::{Drafts, error_text, text};
use crate::call::Sample;

/// How many alternatives one request may have.
const MOST_CHOICES: u64 = 128;

/// Reads the chunks of one stream, of one completion or of several in a row.
#[derive(Debug, Default)]
pub(super) struct Reader {
    choices: BTreeMap<u64, Choice>,
    /// The completion that the last chunk belonged to.
    completion: Option<String>,
    broken: Option<String>,
    has_ended: bool,
}

/// One alternative.
#[derive(Debug, Default)]
struct Choice {
    drafts: Drafts,
    /// The call that is open at an index. Some servers give all calls the same index.
    open: HashMap<u64, usize>,
    legacy: Option<usize>,
    is_finished: bool,
}

impl Reader {
    /// One chunk.
    pub(super) fn chunk(&mut self, chunk: &Value) -> Result<(), Unreadable> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            self.broken = Some(error_text(chunk));
            return Ok(());
        }
        let id = text(chunk, "id").filter(|id| !id.is_empty());
        if id.is_some() && self.completion.as_deref() != id {
            if self.completion.is_some() {
                // Some servers change the identifier within a stream: only after its end it is another completion.
                for choice in self.choices.values_mut().filter(|choice| choice.is_finished) {
                    choice.drafts.next_turn();
                    choice.open.clear();
                    (choice.legacy, choice.is_finished) = (None, false);
                }
            }
            self.completion = id.map(str::to_owned);
        }
        for choice in chunk.get("choices").and_then(Value::as_array).into_iter().flatten() {
            let index = choice.get("index").and_then(Value::as_u64).unwrap_or(0);
            if index >= MOST_CHOICES {
                return Err(Unreadable::new(format!("a choice has the index {index}"), "fewer than 128 choices"));
            }
            self.choices.entry(index).or_default().take(choice)?;
        }
        Ok(())
    }

    /// The marker that ends a stream.
    pub(super) const fn end(&mut self) {
        self.has_ended = true;
    }

    /// One sample for each alternative.
    pub(super) fn finish(self) -> Vec<Sample> {
        let Self { mut choices, broken, has_ended, .. } = self;
        if choices.is_empty() {
            let mut none = Choice::default();
            none.drafts.fail("the response has no `choices`".to_owned());
            choices.insert(0, none);
        }
        let finish = |mut choice: Choice| {
            if !choice.is_finished && !has_ended {
                choice.drafts.cut("the stream ended before a `finish_reason` or `[DONE]`");
            }
            if let Some(why) = &broken {
                choice.drafts.fail(why.clone());
            }
            choice.drafts.finish()
        };
        choices.into_values().map(finish).collect()
    }
}

impl Choice {
    fn take(&mut self, choice: &Value) -> Result<(), Unreadable> {
        if let Some(why) = text(choice, "finish_reason") {
            self.is_finished = true;
            finish_reason(&mut self.drafts, why);
        }
        let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) else { return Ok(()) };
        self.drafts.sample.write(text(delta, "content").unwrap_or_default());
        self.drafts.sample.is_refusal |= text(delta, "refusal").is_some_and(|refusal| !refusal.is_empty());
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call)?;
        }
        if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
            let at = match self.legacy {
                Some(at) => at,
                None => self.drafts.open(None, "")?,
            };
            self.legacy = Some(at);
            self.drafts.name(at, None, text(call, "name"))?;
            self.piece(at, call.get("arguments"))?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Value) -> Result<(), Unreadable> {
        let index = call.get("index").and_then(Value::as_u64);
        let function = call.get("function").unwrap_or(call);
        let (id, name) =
            (text(call, "id").filter(|id| !id.is_empty()), text(function, "name").filter(|n| !n.is_empty()));
        let arguments = function.get("arguments");
        let at = match self.same(index, id, name, arguments) {
            Some(at) => at,
            None => self.drafts.open(id, name.unwrap_or_default())?,
        };
        if let Some(index) = index {
            self.open.insert(index, at);
        }
        self.drafts.name(at, id, name)?;
        self.piece(at, arguments)
    }

    /// The call that a delta continues, if it does.
    fn same(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>, piece: Option<&Value>) -> Option<usize> {
        let open = match index {
            Some(index) => self.open.get(&index).copied(),
            None => self.drafts.last(),
        };
        match id {
            Some(id) => match self.drafts.by_id(id) {
                // The identifier and the name of another call, with its own arguments: repeated by mistake.
                Some(at) if self.is_other_call(at, name, piece) => None,
                Some(at) => Some(at),
                // An identifier that comes late, of a call that has none.
                None => open.filter(|at| self.drafts.id(*at).is_none() && !self.is_other_call(*at, name, piece)),
            },
            None => open.filter(|at| !self.is_other_call(*at, name, piece)),
        }
    }

    /// Whether a delta with a name is another call than the open one, whose index it shares.
    fn is_other_call(&self, at: usize, name: Option<&str>, piece: Option<&Value>) -> bool {
        let Some(name) = name else { return false };
        if !self.drafts.has_name(at) {
            return false;
        }
        let begins = piece.is_some_and(|piece| piece.is_object() || piece.as_str().is_some_and(|p| p.starts_with('{')));
        !self.drafts.is_named(at, name) || (begins && self.drafts.is_whole(at))
    }

    fn piece(&mut self, at: usize, piece: Option<&Value>) -> Result<(), Unreadable> {
        match piece {
            Some(Value::String(piece)) => self.drafts.append(at, piece),
            piece => self.drafts.set(at, piece),
        }
    }
}

fn finish_reason(drafts: &mut Drafts, why: &str) {
    match why {
        "length" => drafts.partial("the answer was cut off at the limit of tokens"),
        "content_filter" => drafts.sample.is_refusal = true,
        _ => {}
    }
}

/// A whole completion: one sample for each alternative.
pub(super) fn completion(value: &Value) -> Result<Vec<Sample>, Unreadable> {
    let mut reader = Reader::default();
    reader.end();
    reader.chunk(value)?;
    Ok(reader.finish())
}

/// A conversation as a list of messages.
pub(super) fn messages(messages: &[Value]) -> Result<Sample, Unreadable> {
    let mut drafts = Drafts::default();
    for message in messages {
        if text(message, "role") != Some("assistant") {
            drafts.next_turn();
            continue;
        }
        drafts.sample.write(text(message, "content").unwrap_or_default());
        drafts.sample.is_refusal |= text(message, "refusal").is_some_and(|refusal| !refusal.is_empty());
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        for call in calls.chain(message.get("function_call").filter(|call| call.is_object())) {
            let function = call.get("function").unwrap_or(call);
            drafts.add(text(call, "id"), text(function, "name").unwrap_or_default(), function.get("arguments"))?;
        }
    }
    Ok(drafts.finish())
}
