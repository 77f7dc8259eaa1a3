//! `log`: sends log messages before it answers.

use serde_json::json;

use crate::catalogue::{Invocation, Level, Outcome, Tool};

const DEFAULT: &str = "Hello from the reference server";

pub(super) fn tool() -> Tool {
    let properties = json!({
        "level": { "type": "string", "enum": Level::ALL },
        "message": { "type": "string", "default": DEFAULT },
    });
    Tool::now("log", "Sends a log message at one level, or one at each", |_, invocation| run(invocation))
        .titled("Log")
        .takes(properties, &[])
}

fn run(invocation: &Invocation) -> Outcome {
    let only = invocation.arguments.get("level");
    let message = json!(invocation.text("message").unwrap_or(DEFAULT));
    for level in Level::ALL.into_iter().filter(|level| only.is_none_or(|only| *only == json!(level))) {
        invocation.log(level, &message);
    }
    Outcome::text("Logged")
}
