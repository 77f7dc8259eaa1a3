//! The page `client/sampling`: what a server may ask for, by what the client declared, and how it takes the answer.

use serde_json::Value;
use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};
use wire::{Era, Transport, shape};

use super::{SAMPLE, here};
use crate::client::elicitation::answers::bound_to_client;
use crate::reading::liveness::{Incident, server_survives};
use crate::reading::questions::{questions, retries};
use crate::rule::{Rule, safety, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{View, declared};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("sampling.tools-negotiated")
        .says(
            R2025_11_25,
            here("tools-in-sampling"),
            "A server MUST NOT offer tools to the model of a client that does not declare `sampling.tools`.",
        )
        .how("Compares `tools` and `toolChoice` of every request for sampling with the client's declaration.")
        .fix("Look for `tools` in the client's `sampling` capability before you send any.")
        .judge(tools_negotiated),
    server("sampling.context-negotiated")
        .says(
            R2025_11_25,
            here("capabilities"),
            "A server SHOULD NOT ask for context of servers from a client that does not declare `sampling.context`.",
        )
        .how("Compares `includeContext` of every request for sampling with the client's declaration.")
        .fix("Leave `includeContext` out.")
        .judge(context_negotiated),
    safety("sampling.bound-to-client")
        .asks(
            R2024_11_05,
            here("security-considerations"),
            "A good server takes an answer to its request for sampling from the client that it asked, and from no other.",
        )
        .gone(R2026_07_28)
        .on(&[Transport::StreamableHttp, Transport::HttpSse, Transport::WebSocket])
        .by_default()
        .how("Answers a request for sampling from another session than the one it was sent to, and checks whether the call that \
              waits for it continues. Without sessions the server cannot distinguish its clients.")
        .fix("Keep the requests that you made with the session that you made them in, and look for their answers there only.")
        .judge(|view| bound_to_client(view, SAMPLE, "no other client answered a request for sampling")),
    server("sampling.answers-checked")
        .says(
            R2024_11_05,
            here("security-considerations"),
            "A server SHOULD validate the answer of the client's model.",
        )
        .timed()
        .how(
            "Answers a request for sampling with an invalid answer (no content, or content that is a \
              number), and looks at what happens to the call, and to the connection.",
        )
        .fix("Check role and content of the answer, and let the call fail where they make no sense.")
        .judge(checked),
];

const UNSEEN: &str = "the server asked for no sampling";

fn tools_negotiated(view: &View<'_>) -> Verdict {
    let judged = questions(view, SAMPLE).into_iter().filter_map(|question| {
        let able = declared(question.declared?, "sampling.tools").is_some();
        let used = ["tools", "toolChoice"].into_iter().find(|name| question.param(name).is_some());
        let breach = |name: &str| {
            question.sent.breach(question.at(&format!("/{name}")), "the client does not declare `sampling.tools`")
        };
        match used {
            Some(name) if !able => Some((question.sent.event, Err(breach(name)))),
            // Who may and does not shows nothing.
            None if able => None,
            _ => Some((question.sent.event, Ok(()))),
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

fn context_negotiated(view: &View<'_>) -> Verdict {
    let judged = questions(view, SAMPLE).into_iter().filter_map(|question| {
        let able = declared(question.declared?, "sampling.context").is_some();
        let expected = question.param("includeContext").and_then(Value::as_str).is_some_and(|which| which != "none");
        let why = "the client does not declare `sampling.context`";
        match (expected, able) {
            (true, false) => {
                Some((question.sent.event, Err(question.sent.breach(question.at("/includeContext"), why))))
            }
            // Discouraged, and yet not refused to who can do it.
            (true, true) => None,
            (false, _) => Some((question.sent.event, Ok(()))),
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

/// Whether an answer has not the shape of one.
fn is_nonsense(view: &View<'_>, result: &Value) -> bool {
    let mismatches = shape::check("CreateMessageResult", view.revision(), result);
    mismatches.is_some_and(|all| all.iter().any(|mismatch| mismatch.pointer.starts_with("/content")))
}

fn checked(view: &View<'_>) -> Verdict {
    let what = "an invalid answer";
    let unseen = "the server asked for no sampling that was answered with nonsense";
    if view.era() == Era::Modern {
        let incidents =
            retries(view).into_iter().filter(|retry| retry.answers(SAMPLE).any(|sent| is_nonsense(view, sent)));
        return server_survives(
            view,
            incidents.map(|r| Incident { sent: r.call.request, call: Some(r.call) }),
            what,
            unseen,
        );
    }
    let incidents = questions(view, SAMPLE).into_iter().filter_map(|question| {
        let sent = view.answer(question.sent)?;
        let nonsense = sent.message.result().is_some_and(|result| is_nonsense(view, result));
        nonsense.then_some(Incident { sent, call: question.call })
    });
    server_survives(view, incidents.collect::<Vec<_>>(), what, unseen)
}
