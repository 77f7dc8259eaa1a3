//! `fail`: a tool execution error, which is a result; or a JSON-RPC error, which is none. As a task, either.

use net::service::RpcError;
use serde_json::json;
use wire::serf::Category;

use crate::catalogue::{Invocation, Outcome, TaskSupport, Tool};

const DEFAULT: &str = "No reason was given";

pub(super) fn tool() -> Tool {
    let properties = json!({
        "reason": { "type": "string", "default": DEFAULT },
        "as": { "type": "string", "enum": ["result", "error"], "default": "result" },
    });
    Tool::now("fail", "Always fails, with the reason given", |_, invocation| run(invocation))
        .titled("Fail")
        .takes(properties, &[])
        .tasks(TaskSupport::Optional)
}

fn run(invocation: &Invocation) -> Outcome {
    let reason = invocation.text("reason").unwrap_or(DEFAULT);
    match invocation.text("as") {
        Some("error") => Outcome::Refused(RpcError::internal(reason.to_owned())),
        _ => Outcome::failure(Category::InternalError, reason),
    }
}
