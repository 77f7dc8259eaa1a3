//! Tools that do something besides answer: log, report progress, give their stream back.

use std::time::Duration;

use serde_json::json;
use wire::revision::R2026_07_28;

use crate::catalogue::{Invocation, Level, Outcome, Tool};

/// Between two signs of life.
const STEP: Duration = Duration::from_millis(50);

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::later("test_tool_with_logging", "Logs three messages while it works", |_, invocation| {
            logging(invocation)
        }),
        Tool::later("test_tool_with_progress", "Reports progress three times while it works", |_, invocation| {
            progress(invocation)
        }),
        Tool::later(
            "test_reconnection",
            "Gives its stream back, works on, and answers whoever comes for it",
            |_, i| reconnection(i),
        ),
        Tool::now("test_logging_tool", "Logs one message, where the request wants to hear it", |_, invocation| {
            invocation.log(Level::Info, &json!("A message of a tool"));
            Outcome::text("Logged, if you wished")
        })
        .since(R2026_07_28),
    ]
}

async fn logging(invocation: Invocation) -> Outcome {
    invocation.log(Level::Info, &json!("Tool execution started"));
    for message in ["Tool processing data", "Tool execution completed"] {
        tokio::time::sleep(STEP).await;
        invocation.log(Level::Info, &json!(message));
    }
    Outcome::text("Tool with logging executed successfully")
}

async fn progress(invocation: Invocation) -> Outcome {
    for done in [0, 50, 100] {
        invocation.progress(done, 100, &format!("Completed step {done} of 100"));
        tokio::time::sleep(STEP).await;
    }
    Outcome::text("Tool with progress executed successfully")
}

async fn reconnection(invocation: Invocation) -> Outcome {
    tokio::time::sleep(STEP).await;
    invocation.call.link.release_stream();
    tokio::time::sleep(STEP * 2).await;
    Outcome::text("Reconnection test completed successfully")
}
