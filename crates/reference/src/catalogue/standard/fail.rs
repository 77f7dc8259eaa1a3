//! `fail`: a tool execution error, which is a result.

use serde_json::json;

use crate::catalogue::{Outcome, Tool};

const DEFAULT: &str = "No reason was given";

pub(super) fn tool() -> Tool {
    Tool::now("fail", "Always fails, with the reason given", |_, invocation| {
        Outcome::failure(invocation.text("reason").unwrap_or(DEFAULT))
    })
    .titled("Fail")
    .takes(json!({ "reason": { "type": "string", "default": DEFAULT } }), &[])
}
