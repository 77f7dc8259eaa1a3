//! The prompts that the suite asks for.

use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use super::change;
use super::form;
use crate::Server;
use crate::catalogue::standard::PNG;
use crate::catalogue::{Argument, Completer, Invocation, Messages, Outcome, Prompt, Question, Run, ask};

pub(super) fn prompts() -> Vec<Prompt> {
    vec![
        Prompt::now("test_simple_prompt", "A prompt without arguments", |_, _| {
            user(&[text("This is a simple prompt for testing.")])
        }),
        Prompt::now("test_prompt_with_arguments", "A prompt with two arguments", with_arguments)
            .takes(Argument::required("arg1", "The first").completed(Completer::of(["testing", "test", "tea"])))
            .takes(Argument::required("arg2", "The second")),
        Prompt::now("test_prompt_with_embedded_resource", "A prompt with a resource", with_resource)
            .takes(Argument::required("resourceUri", "Which resource")),
        Prompt::now("test_prompt_with_image", "A prompt with an image", |_, _| {
            let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
            user(&[image, text("Please analyze the image above.")])
        }),
        Prompt::new("test_input_required_result_prompt", "A prompt that asks the user first", Run::later(asking))
            .since(R2026_07_28),
        Prompt::now(change::PROMPT, "Comes and goes with `test_trigger_prompt_change`", |_, _| {
            user(&[text("I am here.")])
        })
        .coming_and_going(),
    ]
}

fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

/// Messages of the user, one for each content.
fn user(contents: &[Value]) -> Outcome<Messages> {
    Outcome::messages(contents.iter().map(|content| json!({ "role": "user", "content": content })).collect())
}

fn with_arguments(_: &Server, invocation: &mut Invocation) -> Outcome<Messages> {
    let argument = |name| invocation.text(name).unwrap_or_default();
    user(&[text(format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))])
}

fn with_resource(_: &Server, invocation: &mut Invocation) -> Outcome<Messages> {
    let uri = invocation.text("resourceUri").unwrap_or_default();
    let resource = json!({ "uri": uri, "mimeType": "text/plain", "text": "Embedded resource content for testing." });
    user(&[json!({ "type": "resource", "resource": resource }), text("Please process the resource above.")])
}

async fn asking(server: Server, invocation: Invocation) -> Outcome<Messages> {
    let fields = form(json!({ "context": { "type": "string" } }), &["context"]);
    let question = Question::form("user_context", "What context should the prompt use?", fields);
    match ask(&server, &invocation, vec![question]).await {
        Ok(answers) => {
            let context = answers[0].pointer("/content/context").and_then(Value::as_str).unwrap_or("none");
            user(&[text(format!("Use this context: {context}"))])
        }
        Err(unanswered) => unanswered.into(),
    }
}
