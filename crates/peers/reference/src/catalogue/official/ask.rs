//! Tools that ask the client for one thing, in either era.

use serde_json::{Value, json};
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use super::form;
use crate::Server;
use crate::catalogue::{Hints, Invocation, Outcome, Question, Tool, ask};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        asking("test_sampling", "Asks the client's model to complete a prompt", |invocation| {
            Question::sampling("completion", invocation.text("prompt").unwrap_or("Test prompt for sampling").to_owned())
        })
        .takes(json!({ "prompt": { "type": "string", "description": "What the model is asked" } }), &["prompt"]),
        asking("test_elicitation", "Asks the user for a name and an address", |invocation| {
            let message = invocation.text("message").unwrap_or("Please provide your information").to_owned();
            Question::form("information", message, form(contact(), &["username", "email"]))
        })
        .since(R2025_06_18)
        .takes(json!({ "message": { "type": "string", "description": "What the user is asked" } }), &["message"]),
        asking("test_elicitation_sep1034_defaults", "Asks with a default for every kind of field", |_| {
            Question::form("defaults", "Please review and update the form", form(defaults(), &[]))
        })
        .since(R2025_11_25),
        asking("test_elicitation_sep1330_enums", "Asks with every kind of choice", |_| {
            Question::form("choices", "Please choose", form(choices(), &[]))
        })
        .since(R2025_11_25),
        asking("test_missing_capability", "Needs a client that can sample", |_| {
            Question::sampling("completion", "Test prompt for sampling")
        })
        .since(R2026_07_28),
        asking("test_streaming_elicitation", "Asks the user, without a request on any stream", |_| {
            Question::form("confirm", "Go on?", form(json!({ "ok": { "type": "boolean" } }), &[]))
        })
        .since(R2026_07_28),
    ]
}

/// A tool that asks one question and tells the answer.
fn asking(name: &'static str, description: &'static str, question: fn(&Invocation) -> Question) -> Tool {
    Tool::later(name, description, move |server, invocation| answered(server, invocation, question)).hints(Hints::ASKS)
}

async fn answered(server: Server, invocation: Invocation, question: fn(&Invocation) -> Question) -> Outcome {
    match ask(&server, &invocation, vec![question(&invocation)]).await {
        Ok(answers) => Outcome::text(told(&answers[0])),
        Err(unanswered) => unanswered.into(),
    }
}

/// An answer in words.
pub(super) fn told(answer: &Value) -> String {
    let content = &answer["content"];
    match (answer["action"].as_str(), content["text"].as_str()) {
        (Some(action), _) => format!("The user answered: action={action}, content={content}"),
        (None, Some(text)) => format!("LLM response: {text}"),
        (None, None) => format!("The client answered: {answer}"),
    }
}

fn contact() -> Value {
    json!({
        "username": { "type": "string", "description": "Your name here" },
        "email": { "type": "string", "description": "Where we write to" },
    })
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

/// The suite's client answers with these values whatever it is offered; a server of 2026-07-28 asks again for others.
fn choices() -> Value {
    let titled = json!([{ "const": "value1", "title": "The first" }, { "const": "value2", "title": "The second" }]);
    let untitled = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": { "type": "string", "enum": untitled },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2"], "enumNames": ["The first", "The second"] },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": untitled } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}
