//! A loss by name: the row that declares it, and what the client reads of it in `_meta`.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::json::Token;
use crate::meta;
use crate::splice::{Addition, Splice, member, members, members_at};

/// Something that a message lost between two revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The row of the table.
    pub row: &'static str,
    /// What was lost, in one clause.
    pub what: &'static str,
}

/// Every loss that code can name.
pub const LOSSES: &[Loss] = &[
    losses::CAPABILITY,
    losses::TOOL_MEMBER,
    losses::OUTPUT_SCHEMA,
    losses::SCHEMA_MEMBER,
    losses::STRUCTURED_CONTENT,
    losses::CONTENT_KIND,
    losses::CONTENT_MEMBER,
    losses::LIST_MEMBER,
    losses::RESOURCE_META,
    losses::SAMPLING,
    losses::FORM,
    losses::ELICITATION_COMPLETE,
    losses::REFUSED_ANSWER,
    losses::WAITING_REQUEST,
    losses::QUESTION_OUTSIDE,
    losses::ABANDONED,
    losses::PROGRESS_TEXT,
    losses::LOG_MESSAGE,
    losses::TASK,
    losses::TASK_STATUS,
];

/// The losses, by name.
pub mod losses {
    use super::Loss;

    const fn loss(row: &'static str, what: &'static str) -> Loss {
        Loss { row, what }
    }

    /// Row 7.
    pub const CAPABILITY: Loss = loss("7", "a capability of the server is not shown");
    /// Row 33.
    pub const TOOL_MEMBER: Loss = loss("33", "members of a tool were removed");
    /// Row 34.
    pub const OUTPUT_SCHEMA: Loss = loss("34", "an output schema that describes no object was removed");
    /// Row 34.
    pub const SCHEMA_MEMBER: Loss = loss("34", "members of a schema were removed");
    /// Row 34.
    pub const STRUCTURED_CONTENT: Loss = loss("34", "a structured result was removed");
    /// Row 35.
    pub const CONTENT_KIND: Loss = loss("35", "content became text");
    /// Row 35.
    pub const CONTENT_MEMBER: Loss = loss("35", "members of content were removed");
    /// Row 38.
    pub const LIST_MEMBER: Loss = loss("38", "members of listed items were removed");
    /// Row 39.
    pub const RESOURCE_META: Loss = loss("39", "`_meta` of resource contents was removed");
    /// Row 42.
    pub const SAMPLING: Loss = loss("42", "a sampling request or its answer was simplified");
    /// Row 43.
    pub const FORM: Loss = loss("43", "a form was simplified");
    /// Row 44.
    pub const ELICITATION_COMPLETE: Loss = loss("44", "the end of a URL elicitation was not announced");
    /// Row 45.
    pub const REFUSED_ANSWER: Loss = loss("45", "an error of the client could not be passed to the server");
    /// Row 49.
    pub const WAITING_REQUEST: Loss = loss("49", "the request no longer waits at the server");
    /// Row 51.
    pub const QUESTION_OUTSIDE: Loss = loss("51", "a question was answered for the client");
    /// Row 52.
    pub const ABANDONED: Loss = loss("52", "the client never answered a question");
    /// Row 56.
    pub const PROGRESS_TEXT: Loss = loss("56", "the text of progress was removed");
    /// Row 57.
    pub const LOG_MESSAGE: Loss = loss("57", "a log message belongs to no request");
    /// Row 60a.
    pub const TASK: Loss = loss("60a", "a task cannot be followed in the other era");
    /// Row 60e.
    pub const TASK_STATUS: Loss = loss("60e", "the status of a task was dropped");
}

/// A message that says in `_meta` what it lost: of its `result` or its `params`, or in `error.data`, where that is an object
/// or absent. Without losses it stays byte for byte.
pub fn with_losses<'t>(text: &'t str, losses: &[Loss]) -> Cow<'t, str> {
    let (false, Some(all)) = (losses.is_empty(), members(text)) else { return Cow::Borrowed(text) };
    let notice = (meta::LOSSES, named(losses).to_string());
    let mut splice = Splice::new(text);
    let (body, holder) = if let Some(error) = member(text, &all, "error") {
        (Some(error), "data")
    } else {
        (member(text, &all, "result").or_else(|| member(text, &all, "params")), "_meta")
    };
    match body {
        Some(body) if body.kind == Token::ObjectStart => match member(text, &body.members, holder) {
            Some(at) if at.kind == Token::ObjectStart => {
                let inner = members_at(text, &at.value).unwrap_or_default();
                splice.object(&at.value, &inner, |name| name != meta::LOSSES, &[notice]);
            }
            Some(_) => {}
            None => splice.object(&body.value, &body.members, |_| true, &[(holder, object(&notice))]),
        },
        Some(_) => {}
        None => {
            let start = text.find('{').unwrap_or_default();
            let params = format!("{{\"_meta\":{}}}", object(&notice));
            splice.object(&(start..text.len()), &all, |_| true, &[("params", params)]);
        }
    }
    if splice.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(splice.finish()) }
}

/// `_meta` that says what was lost; none where nothing was.
pub fn notice(losses: &[Loss]) -> Option<Value> {
    (!losses.is_empty()).then(|| json!({ meta::LOSSES: named(losses) }))
}

fn named(losses: &[Loss]) -> Value {
    losses.iter().map(|loss| json!({ "row": loss.row, "what": loss.what })).collect()
}

fn object((name, value): &Addition<'_>) -> String {
    format!("{{{}:{value}}}", Value::from(*name))
}

#[cfg(test)]
mod tests {
    use super::{losses, with_losses};

    #[test]
    fn a_message_says_what_it_lost() {
        let noted = |text: &str| with_losses(text, &[losses::SAMPLING]).into_owned();
        let notice =
            r#""dev.proofhouse/losses":[{"row":"42","what":"a sampling request or its answer was simplified"}]"#;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"n":1.50}}"#;
        assert_eq!(noted(result), result.replace(r#"{"n""#, &format!(r#"{{"_meta":{{{notice}}},"n""#)));
        let meta = r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"x":1}}}"#;
        assert_eq!(noted(meta), meta.replace(r#"{"x""#, &format!(r#"{{{notice},"x""#)));
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#;
        assert_eq!(noted(error), error.replace(r#"{"code""#, &format!(r#"{{"data":{{{notice}}},"code""#)));
        let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":"d"}}"#;
        assert_eq!(noted(text), text, "data of another type stays");
        let bare = r#"{"jsonrpc":"2.0","method":"x"}"#;
        assert_eq!(noted(bare), format!(r#"{{"params":{{"_meta":{{{notice}}}}},{}"#, &bare[1..]));
        assert_eq!(with_losses(result, &[]), result);
    }
}
