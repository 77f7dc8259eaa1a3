//! Tools that ask by their results (2026-07-28, basic/patterns/mrtr): with a state, without one, and one beside them.

use serde_json::json;
use wire::revision::R2026_07_28;

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask_in_turn, ask_without_state};

pub(super) fn tools() -> Vec<Tool> {
    let stateless = |_: &Server, invocation: &mut Invocation| match ask_without_state(invocation, &[confirm()]) {
        Ok(_) => Outcome::text("Confirmed, without a state"),
        Err(unanswered) => unanswered.into(),
    };
    vec![
        Tool::later("test_mrtr_echo_state", "Asks for a yes, with a state that must come back as it was", echo)
            .since(R2026_07_28)
            .hints(Hints::ASKS),
        Tool::now("test_mrtr_unrelated", "Asks for nothing: a call between two rounds of another", |_, _| {
            Outcome::text("Nothing was asked")
        })
        .since(R2026_07_28),
        Tool::now("test_mrtr_no_state", "Asks for a yes, without a state", stateless)
            .since(R2026_07_28)
            .hints(Hints::ASKS),
        Tool::now("test_mrtr_no_result_type", "Answers without saying of which type the result is", |_, _| {
            Outcome::text("This is complete")
        })
        .since(R2026_07_28),
    ]
}

async fn echo(server: Server, invocation: Invocation) -> Outcome {
    match ask_in_turn(&server, &invocation, vec![vec![confirm()]]).await {
        Ok(_) => Outcome::text("Confirmed, and the state came back"),
        Err(unanswered) => unanswered.into(),
    }
}

fn confirm() -> Question {
    let schema =
        json!({ "type": "object", "properties": { "confirmed": { "type": "boolean" } }, "required": ["confirmed"] });
    Question::form("confirm", "Please confirm", schema)
}
