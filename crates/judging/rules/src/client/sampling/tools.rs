//! The page `client/sampling`: conversations in which the model uses tools.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::revision::R2025_11_25;

use super::{SAMPLE, here};
use crate::reading::questions::questions;
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("sampling.tool-results-alone")
        .says(
            R2025_11_25,
            here("tool-result-messages"),
            "A user message with tool results MUST NOT have anything else.",
        )
        .how("Reads the messages of every request for sampling that bring tool results.")
        .fix("Put everything else into a separate message after the one with the results.")
        .judge(results_alone),
    server("sampling.tool-uses-answered")
        .says(
            R2025_11_25,
            here("tool-use-and-result-balance"),
            "A message in which the model uses tools MUST be followed by one of the user with a result for each use.",
        )
        .how("Compares the uses of tools in the messages of every request for sampling with the message that follows.")
        .fix("Answer every `tool_use` by a `tool_result` with its id, all in the next message.")
        .judge(uses_answered),
];

/// The messages of each request for sampling, with what is needed to point at one.
fn conversations<'v>(view: &View<'v>) -> Vec<(crate::reading::questions::Question<'v>, &'v Vec<Value>)> {
    let sent = |question: crate::reading::questions::Question<'v>| {
        let messages = question.param("messages")?.as_array()?;
        Some((question, messages))
    };
    questions(view, SAMPLE).into_iter().filter_map(sent).collect()
}

/// The blocks of a message: one, or several.
pub(super) fn blocks(message: &Value) -> &[Value] {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(block) => std::slice::from_ref(block),
        None => &[],
    }
}

pub(super) fn is(block: &Value, kind: &str) -> bool {
    block.get("type").is_some_and(|found| found == kind)
}

pub(super) fn has_role(message: &Value, role: &str) -> bool {
    message.get("role").is_some_and(|found| found == role)
}

fn results_alone(view: &View<'_>) -> Verdict {
    let judged = conversations(view).into_iter().flat_map(|(question, messages)| {
        let each = messages.iter().enumerate().filter(|(_, message)| has_role(message, "user"));
        let bringing = each.filter(|(_, message)| blocks(message).iter().any(|block| is(block, "tool_result")));
        let judge = |(place, message): (usize, &Value)| {
            let alone = blocks(message).iter().all(|block| is(block, "tool_result"));
            let why = "this message has tool results and something else";
            let breach = || question.sent.breach(question.at(&format!("/messages/{place}/content")), why);
            (question.sent.event, if alone { Ok(()) } else { Err(breach()) })
        };
        bringing.map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged, "the server brought no tool results to the client's model")
}

/// The ids by which blocks of a kind name a use of a tool.
fn ids<'v>(message: &'v Value, kind: &str, member: &str) -> BTreeSet<&'v str> {
    let named = |block: &'v Value| block.get(member)?.as_str();
    blocks(message).iter().filter(|block| is(block, kind)).filter_map(named).collect()
}

fn uses_answered(view: &View<'_>) -> Verdict {
    let judged = conversations(view).into_iter().flat_map(|(question, messages)| {
        let each = messages.iter().enumerate().filter(|(_, message)| has_role(message, "assistant"));
        let references = each.filter(|(_, message)| blocks(message).iter().any(|block| is(block, "tool_use")));
        let judge = |(place, message): (usize, &Value)| {
            let why = unanswered(message, messages.get(place + 1));
            let breach = |why| question.sent.breach(question.at(&format!("/messages/{place}")), why);
            (question.sent.event, why.map_or(Ok(()), |why| Err(breach(why))))
        };
        references.map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged, "the server brought no use of tools to the client's model")
}

/// What is wrong with the message that follows a use of tools.
pub(super) fn unanswered(message: &Value, next: Option<&Value>) -> Option<String> {
    let Some(next) = next.filter(|next| has_role(next, "user")) else {
        return Some("no message of the user follows this use of tools".to_owned());
    };
    if !blocks(next).iter().all(|block| is(block, "tool_result")) {
        return Some("the message after this use of tools has something else than results".to_owned());
    }
    let answered = ids(next, "tool_result", "toolUseId");
    let missing = ids(message, "tool_use", "id").into_iter().find(|id| !answered.contains(id));
    missing.map(|id| format!("the use `{}` has no result in the next message", id.escape_debug()))
}
