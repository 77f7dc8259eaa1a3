//! `slow`: takes its time and says how far it is. Cancelled, it stops at once.

use std::time::Duration;

use serde_json::json;

use crate::catalogue::{Invocation, Outcome, TaskSupport, Tool};

pub(super) fn tool() -> Tool {
    let properties = json!({
        "steps": { "type": "integer", "minimum": 1, "maximum": 100, "default": 3 },
        "delay_ms": { "type": "integer", "minimum": 0, "maximum": 10000, "default": 50 },
    });
    Tool::later("slow", "Takes some steps and reports progress after each", |_, invocation| run(invocation))
        .titled("Slow")
        .takes(properties, &[])
        .tasks(TaskSupport::Optional)
}

async fn run(invocation: Invocation) -> Outcome {
    let steps = invocation.number("steps").unwrap_or(3);
    let delay = Duration::from_millis(invocation.number("delay_ms").unwrap_or(50));
    for step in 1..=steps {
        tokio::time::sleep(delay).await;
        invocation.progress(step, steps, &format!("Step {step} of {steps}"));
    }
    Outcome::text(format!("Took {steps} steps"))
}
