//! What the schema says of an error's `message`.

use serde_json::Value;
use wire::Kind;
use wire::revision::R2024_11_05;

use crate::rule::{Rule, at, both};
use crate::verdict::Verdict;
use crate::view::{MessageAt, View};

/// The rules on the wording of errors.
pub(crate) const RULES: &[Rule] = &[both("errors.message-concise")
    .says(R2024_11_05, at("basic/index", "schema"), "The message of an error SHOULD be one short sentence.")
    .how("Reads the message of every error: several lines, or more than a thousand characters, are not a short sentence. Up to two hundred on one line will do; what lies between is left alone, and so are echoes of what was asked.")
    .fix("Say in one sentence what happened; put traces, lists and nested errors into `data`.")
    .judge(message_concise)];

/// As long as a short sentence may be without any doubt.
const SHORT: usize = 200;

/// No one calls this short.
const LONG: usize = 1000;

fn message_concise(view: &View<'_>) -> Verdict {
    let messages = view.by_subject().filter(|s| s.message.kind() == Kind::Error).filter_map(|sent| {
        let text = sent.message.error()?.get("message")?.as_str()?.trim();
        (is_plain(text) || !may_echo(view, sent, text)).then_some((sent.event, (sent, text)))
    });
    let doubtful = |text: &str| !is_plain(text) && fault(text).is_none();
    let messages = messages.filter(|(_, (_, text))| !doubtful(text));
    Verdict::every(messages, "no error with a message of clear length was seen", |(_, (sent, text))| {
        match fault(text) {
            Some(why) => Err(sent.breach("/error/message", why)),
            None => Ok(()),
        }
    })
}

fn is_plain(text: &str) -> bool {
    text.chars().count() <= SHORT && lines(text) <= 1
}

/// Lines that say something.
fn lines(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}

fn fault(text: &str) -> Option<String> {
    let (lines, length) = (lines(text), text.chars().count());
    if lines > 1 {
        return Some(format!("the message runs over {lines} lines; it should be one short sentence"));
    }
    (length > LONG).then(|| format!("the message has {length} characters; it should be one short sentence"))
}

/// Whether a long message may be so for what the request held: something as long, or with a line break in it.
fn may_echo(view: &View<'_>, sent: MessageAt<'_>, text: &str) -> bool {
    let Some(question) = view.question(sent) else { return true };
    if lines(text) > 1 { holds_break(question.message.value()) } else { question.message.text().len() * 2 > text.len() }
}

fn holds_break(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(holds_break),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\n') || holds_break(value)),
        _ => false,
    }
}
