//! OpenAI's Responses API: whole responses, lists of items, and every event of a stream.

use std::collections::HashMap;

use serde_json::Value;

use super::Unreadable;
use super::drafts::{Drafts, error_text, text};
use crate::call::Sample;

/// Reads the events of one stream, of one response or of several in a row.
#[derive(Debug, Default)]
pub(super) struct Reader {
    drafts: Drafts,
    /// Calls by the identifier of their item.
    items: HashMap<String, usize>,
    /// Calls by their place in the output. Some servers give several the same one: the last counts.
    places: HashMap<u64, usize>,
    /// Whether text came in pieces: the whole is not written again.
    has_text: bool,
    is_open: bool,
}

/// The kind of an item that calls a tool, and the members that hold its arguments.
fn call_of(item: &Value) -> Option<(Option<&str>, &str, Option<&Value>)> {
    let arguments = match text(item, "type")? {
        "function_call" | "mcp_call" => item.get("arguments"),
        "custom_tool_call" => item.get("input"),
        _ => return None,
    };
    let id = text(item, "call_id").or_else(|| text(item, "id"));
    Some((id, text(item, "name").unwrap_or_default(), arguments))
}

impl Reader {
    /// One event.
    pub(super) fn event(&mut self, event: &Value) -> Result<(), Unreadable> {
        match text(event, "type").unwrap_or_default() {
            "response.created" => {
                self.drafts.next_turn();
                self.items.clear();
                self.places.clear();
                (self.is_open, self.has_text) = (true, false);
            }
            "response.output_item.added" => self.item(event, false)?,
            "response.output_item.done" => self.item(event, true)?,
            "response.function_call_arguments.delta"
            | "response.mcp_call_arguments.delta"
            | "response.custom_tool_call_input.delta" => {
                self.is_open = true;
                let at = self.call_at(event)?;
                self.drafts.append(at, text(event, "delta").unwrap_or_default())?;
            }
            "response.function_call_arguments.done" | "response.mcp_call_arguments.done" => {
                let at = self.call_at(event)?;
                self.drafts.name(at, None, text(event, "name"))?;
                self.drafts.set(at, event.get("arguments"))?;
            }
            "response.custom_tool_call_input.done" => {
                let at = self.call_at(event)?;
                self.drafts.set(at, event.get("input"))?;
            }
            "response.output_text.delta" => {
                (self.is_open, self.has_text) = (true, true);
                self.drafts.sample.write(text(event, "delta").unwrap_or_default());
            }
            "response.refusal.delta" | "response.refusal.done" => self.drafts.sample.is_refusal = true,
            "response.completed" | "response.incomplete" => self.completed(event)?,
            "response.failed" => {
                self.is_open = false;
                let response = event.get("response").unwrap_or(event);
                self.drafts.fail(error_text(response));
            }
            "error" | "response.error" => {
                self.is_open = false;
                self.drafts.fail(error_text(event));
            }
            _ => {}
        }
        Ok(())
    }

    fn item(&mut self, event: &Value, is_done: bool) -> Result<(), Unreadable> {
        self.is_open = true;
        let Some(item) = event.get("item") else { return Ok(()) };
        let Some((id, name, arguments)) = call_of(item) else { return Ok(()) };
        let at = match self.known(text(item, "id"), if is_done { place(event) } else { None }) {
            Some(at) => at,
            None => self.open(id, name, text(item, "id"), place(event))?,
        };
        self.drafts.name(at, id, Some(name))?;
        // An item that was only added has no arguments yet, or a placeholder.
        if is_done { self.drafts.set(at, arguments) } else { Ok(()) }
    }

    fn open(
        &mut self,
        id: Option<&str>,
        name: &str,
        item: Option<&str>,
        place: Option<u64>,
    ) -> Result<usize, Unreadable> {
        let at = self.drafts.open(id, name)?;
        self.items.extend(item.map(|item| (item.to_owned(), at)));
        self.places.extend(place.map(|place| (place, at)));
        Ok(at)
    }

    fn known(&self, item: Option<&str>, place: Option<u64>) -> Option<usize> {
        let by_item = item.and_then(|item| self.items.get(item));
        by_item.or_else(|| place.and_then(|place| self.places.get(&place))).copied()
    }

    /// The call that an event means. One whose item was never announced begins here.
    fn call_at(&mut self, event: &Value) -> Result<usize, Unreadable> {
        let (item, place) = (text(event, "item_id"), place(event));
        if let Some(at) = self.known(item, place) {
            return Ok(at);
        }
        self.drafts.sample.note("arguments came of a call that was not announced");
        self.open(None, "", item, place)
    }

    fn completed(&mut self, event: &Value) -> Result<(), Unreadable> {
        self.is_open = false;
        let Some(response) = event.get("response") else { return Ok(()) };
        self.limits(response);
        let output = response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for item in output {
            if let Some((id, name, arguments)) = call_of(item) {
                let known = self.known(text(item, "id"), None).or_else(|| id.and_then(|id| self.drafts.by_id(id)));
                let at = match known {
                    Some(at) => at,
                    None => self.open(id, name, text(item, "id"), None)?,
                };
                self.drafts.name(at, id, Some(name))?;
                self.drafts.set(at, arguments)?;
            } else if !self.has_text {
                message(&mut self.drafts, item);
            }
        }
        Ok(())
    }

    fn limits(&mut self, response: &Value) {
        let why = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        if let Some(why) = why {
            self.drafts.partial(format!("the response is incomplete: {why}"));
            self.drafts.sample.is_refusal |= why == "content_filter";
        }
        if text(response, "status") == Some("failed") {
            self.drafts.fail(error_text(response));
        }
    }

    /// The end of the stream.
    pub(super) fn finish(mut self) -> Sample {
        if self.is_open {
            self.drafts.cut("the stream ended before `response.completed`");
        }
        self.drafts.finish()
    }
}

fn place(event: &Value) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
}

/// Text and refusals of a message.
fn message(drafts: &mut Drafts, item: &Value) {
    if text(item, "type").is_some_and(|kind| kind != "message") {
        return;
    }
    for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
        match text(part, "type") {
            Some("output_text" | "text") => drafts.sample.write(text(part, "text").unwrap_or_default()),
            Some("refusal") => drafts.sample.is_refusal = true,
            _ => {}
        }
    }
    if let Some(content) = text(item, "content") {
        drafts.sample.write(content);
    }
}

/// A whole response.
pub(super) fn response(value: &Value) -> Result<Sample, Unreadable> {
    let mut reader = Reader::default();
    reader.limits(value);
    let output = value.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    add_items(&mut reader.drafts, output)?;
    Ok(reader.finish())
}

/// A conversation as a list of items: calls, their results, messages.
pub(super) fn items(items: &[Value]) -> Result<Sample, Unreadable> {
    let mut drafts = Drafts::default();
    add_items(&mut drafts, items)?;
    Ok(drafts.finish())
}

fn add_items(drafts: &mut Drafts, items: &[Value]) -> Result<(), Unreadable> {
    for item in items {
        if let Some((id, name, arguments)) = call_of(item) {
            drafts.add(id, name, arguments)?;
        } else if text(item, "type").is_some_and(|kind| kind.ends_with("_output")) || text(item, "role") == Some("user")
        {
            drafts.next_turn();
        } else if text(item, "role").is_none_or(|role| role == "assistant") {
            message(drafts, item);
        }
    }
    Ok(())
}
