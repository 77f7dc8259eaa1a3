//! Tools that ask the client something before they answer: one thing, two at once, one after the other.

use serde_json::{Value, json};
use wire::revision::R2025_06_18;

use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask, ask_in_turn};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::later("ask", "Asks the user for a name and greets", |server, invocation| {
            one(server, invocation, name(), greet)
        })
        .titled("Ask")
        .since(R2025_06_18)
        .hints(Hints::ASKS),
        Tool::later("sample", "Asks the client's model to complete a prompt", |server, invocation| {
            let prompt = invocation.text("prompt").unwrap_or("Say hello").to_owned();
            one(server, invocation, Question::sampling("completion", prompt), said)
        })
        .titled("Sample")
        .takes(json!({ "prompt": { "type": "string", "default": "Say hello" } }), &[])
        .hints(Hints::ASKS),
        Tool::later("list_roots", "Asks the client for its roots", |server, invocation| {
            one(server, invocation, Question::roots("roots"), roots)
        })
        .titled("List roots")
        .hints(Hints::ASKS),
        Tool::later("ask_two", "Asks the user for a name and a colour, both at once where that can be", two)
            .titled("Ask two things")
            .since(R2025_06_18)
            .hints(Hints::ASKS),
        Tool::later("ask_in_turn", "Asks the user for a name, and then for a colour", in_turn)
            .titled("Ask one thing after another")
            .since(R2025_06_18)
            .hints(Hints::ASKS),
    ]
}

fn name() -> Question {
    let name = json!({ "type": "string", "title": "Name", "minLength": 1 });
    let schema = json!({ "type": "object", "properties": { "name": name }, "required": ["name"] });
    Question::form("name", "What is your name?", schema)
}

fn colour() -> Question {
    let colour = json!({ "type": "string", "title": "Colour", "enum": ["red", "green", "blue"] });
    let schema = json!({ "type": "object", "properties": { "colour": colour }, "required": ["colour"] });
    Question::form("colour", "Which colour do you like best?", schema)
}

async fn one(server: Server, invocation: Invocation, question: Question, conclude: fn(&Value) -> Outcome) -> Outcome {
    match ask(&server, &invocation, vec![question]).await {
        Ok(answers) => conclude(&answers[0]),
        Err(unanswered) => unanswered.into(),
    }
}

async fn two(server: Server, invocation: Invocation) -> Outcome {
    match ask(&server, &invocation, vec![name(), colour()]).await {
        Ok(answers) => introduce(&answers),
        Err(unanswered) => unanswered.into(),
    }
}

async fn in_turn(server: Server, invocation: Invocation) -> Outcome {
    match ask_in_turn(&server, &invocation, vec![vec![name()], vec![colour()]]).await {
        Ok(answers) => introduce(&answers),
        Err(unanswered) => unanswered.into(),
    }
}

/// What an accepted form says of a field.
fn field<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    if answer["action"] == "accept" { answer["content"][name].as_str() } else { None }
}

fn greet(answer: &Value) -> Outcome {
    match (field(answer, "name"), answer["action"].as_str()) {
        (Some(name), _) => Outcome::text(format!("Hello, {name}!")),
        (None, Some("decline")) => Outcome::text("You would rather not say."),
        (None, _) => Outcome::text("You closed the question."),
    }
}

fn introduce(answers: &[Value]) -> Outcome {
    let name = answers.first().and_then(|answer| field(answer, "name")).unwrap_or("somebody");
    let colour = answers.get(1).and_then(|answer| field(answer, "colour")).unwrap_or("no colour");
    Outcome::text(format!("This is {name}, who likes {colour} best"))
}

fn said(answer: &Value) -> Outcome {
    let content = &answer["content"];
    let block = content.get(0).unwrap_or(content);
    let text = block["text"].as_str().unwrap_or("something other than text");
    Outcome::text(format!("The model said: {text}"))
}

fn roots(answer: &Value) -> Outcome {
    let uris: Vec<_> =
        answer["roots"].as_array().into_iter().flatten().filter_map(|root| root["uri"].as_str()).collect();
    Outcome::text(format!("Roots: {}", uris.join(", ")))
}
