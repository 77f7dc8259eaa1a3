//! `echo`: gives back what it got.

use serde_json::json;

use super::PNG;
use crate::catalogue::{Outcome, Tool};

pub(super) fn tool() -> Tool {
    let message = json!({ "message": { "type": "string", "description": "What to give back" } });
    Tool::now("echo", "Gives the message back", |_, invocation| {
        Outcome::text(invocation.take_text("message").unwrap_or_default())
    })
    .titled("Echo")
    .icon(PNG)
    .takes(message, &["message"])
}
