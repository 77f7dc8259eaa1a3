//! What a message is about, in a few words: the tool, the prompt, the URI. Must not judge.

use std::borrow::Cow;

use wire::Message;

/// The longest name, in characters.
const LONGEST: usize = 160;

/// The name that a row of this request or notification shows.
pub(crate) fn name_of(message: &Message) -> Box<str> {
    let member = |name: &str| message.string_member(name);
    let name = match message.method().unwrap_or_default() {
        "tools/call" | "prompts/get" => member("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" | "notifications/resources/updated" => {
            member("uri")
        }
        "notifications/message" => log_line(message),
        "logging/setLevel" => member("level"),
        "completion/complete" => completion(message),
        "initialize" => member("protocolVersion"),
        "elicitation/create" | "notifications/progress" => member("message"),
        "notifications/cancelled" => member("reason"),
        method if method.starts_with("tasks/") => member("taskId"),
        _ => None,
    };
    shortened(&name.unwrap_or_default())
}

/// The beginning of a text.
pub(crate) fn shortened(text: &str) -> Box<str> {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].into(),
        None => text.into(),
    }
}

/// Level and logger.
fn log_line(message: &Message) -> Option<Cow<'_, str>> {
    let level = message.string_member("level")?;
    Some(match message.string_member("logger") {
        Some(logger) => format!("{level} {logger}").into(),
        None => level,
    })
}

/// The prompt or template, and its argument.
fn completion(message: &Message) -> Option<Cow<'_, str>> {
    let reference = message.body_value("ref")?;
    let name = reference.get("name").or_else(|| reference.get("uri"))?.as_str()?.to_owned();
    let argument = message.body_value("argument")?;
    Some(match argument.get("name").and_then(|argument| argument.as_str()) {
        Some(argument) => format!("{name} {argument}").into(),
        None => name.into(),
    })
}
