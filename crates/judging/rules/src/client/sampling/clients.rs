//! The page `client/sampling`: what it demands of clients.

use serde_json::Value;
use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};
use wire::shape;

use super::tools::{blocks, has_role, is, unanswered};
use super::{SAMPLE, here};
use crate::reading::questions::{Question, Reply, declared_if_served, replies};
use crate::rule::{Rule, client};
use crate::verdict::{Kept, Verdict};
use crate::view::{View, declared};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("sampling.capability-declared")
        .says(R2024_11_05, here("capabilities"), "A client that serves sampling MUST declare it in the handshake.")
        .says(R2026_07_28, here("capabilities"), "A client that serves sampling MUST declare it with each request.")
        .how("Needs a server that asks for sampling whatever the client declared, and checks whether it is served without `sampling`.")
        .fix("Declare `sampling`, or refuse such requests.")
        .judge(|view| declared_if_served(view, SAMPLE)),
    client("sampling.tools-declared")
        .says(
            R2025_11_25,
            here("tools-in-sampling"),
            "A client whose model may use tools MUST declare `sampling.tools`.",
        )
        .needs("sampling")
        .how("Needs a server that offers tools to the client's model, and checks whether a client that did not declare `sampling.tools` serves the request, or answers with `tool_use`.")
        .fix("Declare `tools` under `sampling`, or answer requests that offer tools with an error, as the schema demands.")
        .judge(tools_declared),
    client("sampling.messages-checked")
        .says(
            R2024_11_05,
            here("security-considerations"),
            "A client SHOULD check the messages that it is to hand to its model.",
        )
        .needs("sampling")
        .how("Needs a server whose request for sampling has invalid messages (a role that does not exist, no content), and checks whether it is answered with a result anyway.")
        .fix("Check the messages against the schema, and refuse the request with -32602.")
        .judge(messages_checked),
    client("sampling.unbalanced-refused")
        .says(
            R2025_11_25,
            here("error-handling"),
            "Tool results that are missing, or are next to something else, SHOULD be refused with the code -32602.",
        )
        .gone(R2026_07_28)
        .needs("sampling.tools")
        .how("Needs a server whose messages use tools without results, or mix results with something else, and looks at the answer of a client with `sampling.tools`.")
        .fix("Check the messages before the model gets them, and answer -32602.")
        .judge(unbalanced_refused),
    client("sampling.rejection-code")
        .says(R2025_11_25, here("error-handling"), "That the user refused SHOULD be answered with the code -1.")
        .gone(R2026_07_28)
        .needs("sampling")
        .how("Needs a server that asks for sampling, and a client whose user refuses: an error with the code -1 shows it, and so do words to that effect.")
        .fix("Answer with the code -1 where the user said no.")
        .judge(rejection_code),
    client("sampling.tool-choice-kept")
        .says(
            R2025_11_25,
            here("tool-choice-modes"),
            "The model MUST use a tool where `toolChoice` says `required`, and none where it says `none`.",
        )
        .needs("sampling.tools")
        .how("Needs a server that offers tools with `toolChoice` `required` or `none`, and looks for `tool_use` in the answer.")
        .fix("Hand `toolChoice` on to the model, and check what comes back.")
        .judge(tool_choice_kept),
    client("sampling.max-tokens-kept")
        .says(R2026_07_28, here("sampling-parameters"), "A client MUST NOT let its model say more than `maxTokens`.")
        .needs("sampling")
        .how("Needs a server that asks for very few tokens. A text of no more bytes than that surely keeps to it; one with four times as many words surely does not.")
        .fix("Hand `maxTokens` on to the model, and cut off what goes beyond.")
        .judge(max_tokens_kept),
];

const UNSEEN: &str = "the client was asked for no such sampling, or did not answer";

/// Judges what the client gave for such requests that it had declared it would serve.
fn each(view: &View<'_>, judge: impl Fn(&Reply<'_>) -> Option<Kept>) -> Verdict {
    let invited = replies(view, SAMPLE).into_iter().filter(|reply| reply.was_invited() == Some(true));
    let judged = invited.filter_map(|reply| Some((reply.sent.event, judge(&reply)?)));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

fn uses_tools(result: &Value) -> bool {
    blocks(result).iter().any(|block| is(block, "tool_use"))
}

fn may_use_tools(question: &Question<'_>) -> bool {
    question.declared.is_some_and(|own| declared(own, "sampling.tools").is_some())
}

fn offers_tools(question: &Question<'_>) -> bool {
    question.param("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty())
}

fn tools_declared(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let Some(result) = reply.result else {
            let refused = !may_use_tools(&reply.question) && offers_tools(&reply.question) && reply.error.is_some();
            return refused.then_some(Ok(()));
        };
        let why = "the model uses a tool, though the client did not declare `sampling.tools`";
        match (may_use_tools(&reply.question), uses_tools(result)) {
            (false, true) => Some(Err(reply.breach("/content", why))),
            (false, false) if offers_tools(&reply.question) && result.get("model").is_some() => {
                Some(Err(reply.breach("", "a request with tools is served, though `sampling.tools` was not declared")))
            }
            (true, true) => Some(Ok(())),
            _ => None,
        }
    })
}

/// Whether the messages of a request are invalid by the schema.
fn is_nonsense(view: &View<'_>, question: &Question<'_>) -> bool {
    let whole = serde_json::json!({ "messages": question.param("messages"), "maxTokens": 1 });
    let name = "CreateMessageRequestParams";
    let mismatches = shape::check(name, view.revision(), &whole).or_else(|| {
        let request = serde_json::json!({ "method": SAMPLE, "params": whole });
        shape::check("CreateMessageRequest", view.revision(), &request)
    });
    mismatches.is_some_and(|all| all.iter().any(|mismatch| mismatch.pointer.contains("/messages/")))
}

fn messages_checked(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let nonsense = is_nonsense(view, &reply.question);
        let why = "a request with invalid messages is answered with a result";
        nonsense.then(|| if reply.error.is_some() { Ok(()) } else { Err(reply.breach("", why)) })
    })
}

/// Whether results of tools are missing in the messages of a request, or are next to something else.
fn is_unbalanced(question: &Question<'_>) -> bool {
    let Some(messages) = question.param("messages").and_then(Value::as_array) else { return false };
    messages.iter().enumerate().any(|(place, message)| {
        let uses = has_role(message, "assistant") && uses_tools(message);
        let results = blocks(message).iter().filter(|block| is(block, "tool_result")).count();
        let mixed = has_role(message, "user") && results != 0 && results != blocks(message).len();
        mixed || (uses && unanswered(message, messages.get(place + 1)).is_some())
    })
}

fn unbalanced_refused(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let unbalanced = is_unbalanced(&reply.question) && !is_nonsense(view, &reply.question);
        unbalanced.then(|| match reply.code() {
            Some(INVALID_PARAMS) => Ok(()),
            Some(code) => Err(reply.breach("/code", format!("refused with {code}, expected -32602"))),
            None => Err(reply.breach("", "messages without the results of their tools are answered with a result")),
        })
    })
}

fn rejection_code(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let code = reply.code()?;
        let words = reply.error?.get("message")?.as_str()?.to_lowercase();
        let said_no = words.contains("user")
            && ["reject", "declin", "refus", "denied"].into_iter().any(|word| words.contains(word));
        let why = || format!("that the user refused is answered with {code}, expected -1");
        match code {
            -1 => Some(Ok(())),
            _ if said_no => Some(Err(reply.breach("/code", why()))),
            _ => None,
        }
    })
}

fn tool_choice_kept(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let (question, result) = (&reply.question, reply.result?);
        let mode = question.param("toolChoice")?.get("mode")?.as_str().filter(|_| offers_tools(question))?;
        match (mode, uses_tools(result)) {
            ("required", false) => {
                Some(Err(reply.breach("/content", "`toolChoice` says `required`, and no tool is used")))
            }
            ("none", true) => Some(Err(reply.breach("/content", "`toolChoice` says `none`, and a tool is used"))),
            ("required" | "none", _) => Some(Ok(())),
            _ => None,
        }
    })
}

fn max_tokens_kept(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let most = usize::try_from(reply.question.param("maxTokens")?.as_u64()?).ok()?;
        let texts = blocks(reply.result?).iter().filter_map(|block| block.get("text")?.as_str());
        let texts: Vec<&str> = texts.collect();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let words: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
        if words > most.saturating_mul(4) {
            return Some(Err(reply.breach("/content", format!("{words} words, of at most {most} tokens"))));
        }
        // A token has a byte at least.
        (bytes != 0 && bytes <= most).then_some(Ok(()))
    })
}
