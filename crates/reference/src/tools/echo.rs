//! `echo`: gives back what it got.

use serde_json::{Value, json};
use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{READS, Run, Tool};
use crate::Server;

pub(super) const ECHO: Tool = Tool {
    name: "echo",
    title: "Echo",
    description: "Gives the message back",
    since: R2024_11_05,
    input,
    output: None,
    hints: READS,
    run: Run::Now(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": { "message": { "type": "string", "description": "What to give back" } },
        "required": ["message"],
        "additionalProperties": false,
    })
}

fn run(_: &Server, invocation: &mut Invocation) -> Outcome {
    Outcome::text(invocation.take_text("message").unwrap_or_default())
}
