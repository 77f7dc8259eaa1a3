//! A stream of the Responses API: its last event has the whole response.

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

    pub(super) fn finish(mut self) -> Result<Value, String> {
        let mut response = self.response.ok_or("the stream ended before `response.completed`")?;
        let is_empty = response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty);
        if is_empty && response.is_object() {
            self.items.sort_by_key(|(place, _)| *place);
            response["output"] = json!(self.items.into_iter().map(|(_, item)| item).collect::<Vec<_>>());
        }
        Ok(response)
    }
}
