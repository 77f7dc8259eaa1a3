//! `fail`: a tool execution error, which is a result.

use serde_json::{Value, json};
use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{READS, Run, Tool};
use crate::Server;

pub(super) const FAIL: Tool = Tool {
    name: "fail",
    title: "Fail",
    description: "Always fails, with the reason given",
    since: R2024_11_05,
    input,
    output: None,
    hints: READS,
    run: Run::Now(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": { "reason": { "type": "string", "default": "No reason was given" } },
        "additionalProperties": false,
    })
}

fn run(_: &Server, invocation: &mut Invocation) -> Outcome {
    Outcome::failure(invocation.text("reason").unwrap_or("No reason was given"))
}
