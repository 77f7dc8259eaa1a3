//! Faults of tasks: of 2025-11-25 ([`core`]), and of the extension after it ([`extension`]).

pub(super) mod core;
pub(super) mod extension;

use serde_json::{Value, json};

/// An id that a counter could have made.
const COUNTED: &str = "17";

/// Gives the task in an answer another id.
fn rename(answer: &mut Value, id: &str) {
    let result = &mut answer["result"];
    let task = if result["task"].is_object() { &mut result["task"] } else { result };
    if task["taskId"].is_string() {
        task["taskId"] = json!(id);
    }
}
