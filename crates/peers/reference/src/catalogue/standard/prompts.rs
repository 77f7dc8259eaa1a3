//! The standard prompts: with arguments and without, with an image, with a sound, with a resource, and one that comes and
//! goes.

use net::service::RpcError;
use serde_json::{Value, json};
use wire::revision::R2025_03_26;

use super::complete::{languages, severities, styles, uris};
use super::toggle::EXTRA_PROMPT;
use super::{PNG, WAV};
use crate::Server;
use crate::catalogue::{Argument, Invocation, Messages, Outcome, Prompt};

pub(super) fn prompts() -> Vec<Prompt> {
    vec![
        Prompt::now("code_review", "Asks for a review of some code", |_, invocation| code_review(invocation))
            .titled("Code review")
            .takes(Argument::required("code", "The code to review").titled("Code"))
            .takes(
                Argument::optional("language", "The language it is in; Python by default")
                    .titled("Language")
                    .completed(languages()),
            ),
        Prompt::now("bug_report", "Asks for a bug report from a few words", |_, invocation| bug_report(invocation))
            .titled("Bug report")
            .takes(Argument::required("summary", "What went wrong").titled("Summary"))
            .takes(Argument::optional("severity", "How bad it is").titled("Severity").completed(severities())),
        Prompt::now("refactor", "Asks for better code that does the same", |_, invocation| refactor(invocation))
            .titled("Refactor")
            .takes(Argument::required("code", "The code to better").titled("Code"))
            .takes(language())
            .takes(Argument::optional("style", "Whose style to follow").titled("Style").completed(styles())),
        Prompt::now("describe_image", "Asks what an image shows", |_, _| describe_image()).titled("Describe an image"),
        Prompt::now("describe_sound", "Asks what a sound is", |_, _| describe_sound())
            .titled("Describe a sound")
            .since(R2025_03_26),
        Prompt::now("summarize_resource", "Asks for a summary of a resource of this server", summarize_resource)
            .titled("Summarize a resource")
            .takes(Argument::required("uri", "Which resource").titled("URI").completed(uris())),
        Prompt::now(EXTRA_PROMPT, "Comes and goes with the tool `toggle_prompt`", |_, _| {
            Outcome::messages(vec![user(text("I was toggled on."))])
        })
        .titled("Extra")
        .coming_and_going(),
    ]
}

fn language() -> Argument {
    Argument::optional("language", "The language it is in").titled("Language").completed(languages())
}

fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

fn user(content: Value) -> Value {
    json!({ "role": "user", "content": content })
}

/// The argument's value, preceded by a space; nothing where it was left out.
fn spaced(invocation: &Invocation, name: &str) -> String {
    invocation.text(name).map(|value| format!(" {value}")).unwrap_or_default()
}

fn code_review(invocation: &Invocation) -> Outcome<Messages> {
    let code = invocation.text("code").unwrap_or_default();
    let language = invocation.text("language").unwrap_or("Python");
    let request = format!("Please review this {language} code:\n\n{code}");
    Outcome::messages(vec![user(text(request))])
}

fn bug_report(invocation: &Invocation) -> Outcome<Messages> {
    let summary = invocation.text("summary").unwrap_or_default();
    let request = format!("Please write a bug report for this{} problem: {summary}", spaced(invocation, "severity"));
    let reply = "I will tell what happened, what should have happened, and how to see it. What did you do just before?";
    Outcome::messages(vec![user(text(request)), json!({ "role": "assistant", "content": text(reply) })])
}

fn refactor(invocation: &Invocation) -> Outcome<Messages> {
    let code = invocation.text("code").unwrap_or_default();
    let style = invocation.text("style").map(|style| format!(" in the style of {style}")).unwrap_or_default();
    let language = spaced(invocation, "language");
    let request = format!("Please refactor this{language} code{style}; it must do the same as before:\n\n{code}");
    Outcome::messages(vec![user(text(request))])
}

fn describe_image() -> Outcome<Messages> {
    let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    Outcome::messages(vec![user(image), user(text("What does this image show?"))])
}

fn describe_sound() -> Outcome<Messages> {
    let audio = json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" });
    Outcome::messages(vec![user(audio), user(text("What do you hear?"))])
}

fn summarize_resource(server: &Server, invocation: &mut Invocation) -> Outcome<Messages> {
    let Some(resource) = server.contents(invocation.text("uri").unwrap_or_default()) else {
        return Outcome::Refused(RpcError::invalid_params("Invalid params: `uri` names no resource"));
    };
    let embedded = json!({ "type": "resource", "resource": resource });
    Outcome::messages(vec![user(text("Please summarize this resource.")), user(embedded)])
}
