//! `buy`: always runs as a task, and asks a question before it finishes.

use std::time::Duration;

use serde_json::json;
use wire::revision::R2025_11_25;

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, TaskSupport, Tool, ask};

/// How long each of the two steps takes.
const STEP: Duration = Duration::from_millis(50);

pub(super) fn tool() -> Tool {
    let properties = json!({ "shop": { "type": "string", "minLength": 1, "default": "the market" } });
    Tool::later("buy", "Asks what to buy at a shop; runs only as a task", run)
        .titled("Buy")
        .takes(properties, &[])
        .since(R2025_11_25)
        .hints(Hints::ASKS)
        .tasks(TaskSupport::Required)
}

async fn run(server: Server, invocation: Invocation) -> Outcome {
    let shop = invocation.text("shop").unwrap_or("the market").to_owned();
    tokio::time::sleep(STEP).await;
    invocation.progress(1, 2, &format!("At {shop}"));
    let goods = json!({ "type": "string", "title": "Goods", "minLength": 1 });
    let schema = json!({ "type": "object", "properties": { "goods": goods }, "required": ["goods"] });
    let question = Question::form("goods", format!("What shall I buy at {shop}?"), schema);
    let answers = match ask(&server, &invocation, vec![question]).await {
        Ok(answers) => answers,
        Err(unanswered) => return unanswered.into(),
    };
    tokio::time::sleep(STEP).await;
    invocation.progress(2, 2, "Done");
    match answers.first().and_then(|answer| answer.pointer("/content/goods")?.as_str()) {
        Some(goods) => Outcome::text(format!("Bought at {shop}: {goods}")),
        None => Outcome::text(format!("Bought nothing at {shop}")),
    }
}
