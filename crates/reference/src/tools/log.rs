//! `log`: sends log messages before it answers.

use serde_json::{Value, json};
use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{READS, Run, Tool};
use crate::Server;
use crate::logging::{self, Level};

pub(super) const LOG: Tool = Tool {
    name: "log",
    title: "Log",
    description: "Sends a log message at one level, or one at each",
    since: R2024_11_05,
    input,
    output: None,
    hints: READS,
    run: Run::Now(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "level": { "type": "string", "enum": Level::ALL },
            "message": { "type": "string", "default": "Hello from the reference server" },
        },
        "additionalProperties": false,
    })
}

fn run(_: &Server, invocation: &mut Invocation) -> Outcome {
    let only = invocation.arguments.get("level");
    let message = json!(invocation.text("message").unwrap_or("Hello from the reference server"));
    for level in Level::ALL.into_iter().filter(|level| only.is_none_or(|only| *only == json!(level))) {
        logging::log(&invocation.call, level, &message);
    }
    Outcome::text("Logged")
}
