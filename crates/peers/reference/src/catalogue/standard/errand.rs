//! `errand`: runs as a task and as nothing else, and needs to ask before it is done.

use std::time::Duration;

use serde_json::json;
use wire::revision::R2025_11_25;

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, TaskSupport, Tool, ask};

/// Each way.
const WALK: Duration = Duration::from_millis(50);

pub(super) fn tool() -> Tool {
    let properties = json!({ "shop": { "type": "string", "minLength": 1, "default": "the market" } });
    Tool::later("errand", "Goes to a shop, asks what to bring from there, and comes back with it", run)
        .titled("Run an errand")
        .takes(properties, &[])
        .since(R2025_11_25)
        .hints(Hints::ASKS)
        .tasks(TaskSupport::Required)
}

async fn run(server: Server, invocation: Invocation) -> Outcome {
    let shop = invocation.text("shop").unwrap_or("the market").to_owned();
    tokio::time::sleep(WALK).await;
    invocation.progress(1, 2, &format!("At {shop}"));
    let goods = json!({ "type": "string", "title": "Goods", "minLength": 1 });
    let schema = json!({ "type": "object", "properties": { "goods": goods }, "required": ["goods"] });
    let question = Question::form("goods", format!("What shall I bring from {shop}?"), schema);
    let answers = match ask(&server, &invocation, vec![question]).await {
        Ok(answers) => answers,
        Err(unanswered) => return unanswered.into(),
    };
    tokio::time::sleep(WALK).await;
    invocation.progress(2, 2, "Back again");
    match answers.first().and_then(|answer| answer.pointer("/content/goods")?.as_str()) {
        Some(goods) => Outcome::text(format!("Here is what you wanted from {shop}: {goods}")),
        None => Outcome::text(format!("Back from {shop} with nothing")),
    }
}
