//! `slow`: takes its time and says how far it is. Cancelled, it stops at once.

use std::time::Duration;

use serde_json::{Value, json};
use wire::revision::R2024_11_05;

use super::call::{Invocation, Outcome};
use super::{READS, Run, Running, Tool};
use crate::Server;

pub(super) const SLOW: Tool = Tool {
    name: "slow",
    title: "Slow",
    description: "Takes some steps and reports progress after each",
    since: R2024_11_05,
    input,
    output: None,
    hints: READS,
    run: Run::Later(run),
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "steps": { "type": "integer", "minimum": 1, "maximum": 100, "default": 3 },
            "delay_ms": { "type": "integer", "minimum": 0, "maximum": 10000, "default": 50 },
        },
        "additionalProperties": false,
    })
}

fn run(_: Server, invocation: Invocation) -> Running {
    Box::pin(async move {
        let steps = invocation.number("steps").unwrap_or(3);
        let delay = Duration::from_millis(invocation.number("delay_ms").unwrap_or(50));
        for step in 1..=steps {
            tokio::time::sleep(delay).await;
            invocation.progress(step, steps, &format!("Step {step} of {steps}"));
        }
        Outcome::text(format!("Took {steps} steps"))
    })
}
