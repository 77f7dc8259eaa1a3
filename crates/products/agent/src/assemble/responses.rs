//! A stream of the Responses API: its last event has the whole response.

use eval::{Sample, ToolCall};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(super) struct Whole {
    /// Items that were reported as done: some servers leave them out of the last event.
    items: Vec<(u64, Value)>,
    response: Option<Value>,
}

impl Whole {
    pub(super) fn event(&mut self, kind: &str, event: &Value) {
        match kind {
            "response.output_item.done" => {
                let place = event.get("output_index").and_then(Value::as_u64).unwrap_or(u64::MAX);
                self.items.extend(event.get("item").map(|item| (place, item.clone())));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.response = event.get("response").cloned();
            }
            _ => {}
        }
    }

    pub(super) fn finish(mut self, sample: &Sample) -> Result<Value, String> {
        let mut response = self.response.ok_or("the stream ended before `response.completed`")?;
        let listed = response.get("output").and_then(Value::as_array).cloned().unwrap_or_default();
        self.items.sort_by_key(|(place, _)| *place);
        let mut output =
            if listed.is_empty() { self.items.into_iter().map(|(_, item)| item).collect() } else { listed };
        for call in &sample.calls {
            complete(&mut output, call);
        }
        let Value::Object(members) = &mut response else { return Err("the response is not an object".to_owned()) };
        members.insert("output".to_owned(), Value::Array(output));
        Ok(response)
    }
}

/// Some servers report a call by its pieces alone, or its arguments.
fn complete(output: &mut Vec<Value>, call: &ToolCall) {
    let id = call.id.as_deref();
    let listed = output.iter_mut().find(|item| item.get("call_id").and_then(Value::as_str) == id);
    let arguments = json!(Value::Object(call.arguments.clone()).to_string());
    match listed {
        Some(Value::Object(item)) => {
            let has_arguments = item.get("arguments").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
            if !has_arguments {
                item.insert("arguments".to_owned(), arguments);
            }
        }
        _ => output.push(json!({ "type": "function_call", "call_id": id, "name": call.name, "arguments": arguments })),
    }
}
