//! Tools that ask by their results (2026-07-28, basic/patterns/mrtr), in one round or several.

use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use super::ask::told;
use super::form;
use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask_in_turn, ask_without_state};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        stateless("elicitation", "Asks the user for a name and greets", user_name, greet),
        stateless("sampling", "Asks the client's model", capital, |answers| told(&answers[0])),
        stateless("list_roots", "Asks for the client's roots", roots, |answers| told(&answers[0])),
        tool("request_state", "Asks for a yes, with a state", |_| vec![vec![confirm()]], |_| "state-ok".to_owned()),
        tool("multiple_inputs", "Asks for three things at once", |_| vec![three()], greet),
        tool(
            "multi_round",
            "Asks for a name, and then for a colour",
            |_| rounds(),
            |answers| format!("{} and {}", told(&answers[0]), told(&answers[1])),
        ),
        tool(
            "tampered_state",
            "Asks for a yes, with a state that must come back as it was",
            |_| vec![vec![confirm()]],
            |_| "The state came back as it was".to_owned(),
        ),
        tool("capabilities", "Asks only for what the client can give", possible, |answers| {
            format!("{} answers", answers.len())
        }),
    ]
}

/// A tool that asks one question and hands out no state: one answer in the first call is as good as one in the second,
/// and the suite gives it there, beside answers that nobody asked for.
fn stateless(
    name: &'static str,
    description: &'static str,
    question: fn() -> Question,
    conclude: fn(&[Value]) -> String,
) -> Tool {
    let run = move |_: &Server, invocation: &mut Invocation| match ask_without_state(invocation, &[question()]) {
        Ok(answers) => Outcome::text(conclude(&answers)),
        Err(unanswered) => unanswered.into(),
    };
    Tool::now(format!("test_input_required_result_{name}"), description, run).since(R2026_07_28).hints(Hints::ASKS)
}

/// A tool that asks its questions round by round.
fn tool(
    name: &'static str,
    description: &'static str,
    questions: fn(&Invocation) -> Vec<Vec<Question>>,
    conclude: fn(&[Value]) -> String,
) -> Tool {
    let name = format!("test_input_required_result_{name}");
    Tool::later(name, description, move |server, invocation| run(server, invocation, questions, conclude))
        .since(R2026_07_28)
        .hints(Hints::ASKS)
}

async fn run(
    server: Server,
    invocation: Invocation,
    questions: fn(&Invocation) -> Vec<Vec<Question>>,
    conclude: fn(&[Value]) -> String,
) -> Outcome {
    match ask_in_turn(&server, &invocation, questions(&invocation)).await {
        Ok(answers) => Outcome::text(conclude(&answers)),
        Err(unanswered) => unanswered.into(),
    }
}

fn user_name() -> Question {
    Question::form("user_name", "What is your name?", form(json!({ "name": { "type": "string" } }), &["name"]))
}

fn capital() -> Question {
    Question::sampling("capital_question", "What is the capital of France?")
}

fn roots() -> Question {
    Question::roots("client_roots")
}

fn confirm() -> Question {
    Question::form("confirm", "Please confirm", form(json!({ "ok": { "type": "boolean" } }), &["ok"]))
}

fn three() -> Vec<Question> {
    vec![user_name(), Question::sampling("greeting", "Write a greeting"), roots()]
}

fn rounds() -> Vec<Vec<Question>> {
    let name = form(json!({ "name": { "type": "string" } }), &["name"]);
    let colour = form(json!({ "color": { "type": "string" } }), &["color"]);
    vec![
        vec![Question::form("step1", "Step 1: What is your name?", name)],
        vec![Question::form("step2", "Step 2: What is your favourite colour?", colour)],
    ]
}

/// Of three things those that the client declared.
fn possible(invocation: &Invocation) -> Vec<Vec<Question>> {
    vec![three().into_iter().filter(|question| question.can_be_asked(invocation)).collect()]
}

fn greet(answers: &[Value]) -> String {
    let name = answers.first().and_then(|answer| answer.pointer("/content/name")?.as_str());
    format!("Hello, {}!", name.unwrap_or("whoever you are"))
}
