//! What the documents of this project's user ask beyond the specification. Advisory: a peer that does otherwise is right by the
//! specification, so these rules are judged only where they are asked for, and a broken one is a warning.

use serde_json::Value;
use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Rule, at, client, server};
use crate::server::listing::{TOOLS, items};
use crate::server::resources::subscriptions::UPDATED;
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("documents.tools-described")
        .says(R2024_11_05, at("server/tools", "tool"), "A tool MAY have a `description`; the documents expect one.")
        .about(&["tools"])
        .advisory()
        .how("Looks at the `description` of every listed tool.")
        .fix("Say in `description` what the tool does: a model chooses by it.")
        .judge(tools_described),
    server("documents.is-error-given")
        .says(
            R2024_11_05,
            at("server/tools", "tool-result"),
            "The result of a tool MAY have `isError`; the documents expect it in every one, also where it is false.",
        )
        .about(&["tools"])
        .advisory()
        .how("Looks at the results of `tools/call`. A result that is a task, or asks for input, is passed over.")
        .fix("Write `\"isError\": false` into the results of tools that succeeded.")
        .judge(is_error_given),
    server("documents.updates-announced")
        .says(
            R2024_11_05,
            at("server/resources", "subscriptions"),
            "A server MAY announce that a resource changed; the documents expect it for each change of a subscribed one.",
        )
        .gone(R2026_07_28)
        .about(&["resources"])
        .timed()
        .advisory()
        .how("Looks for a resource that one connection has subscribed to and read twice with different contents, and for \
              `notifications/resources/updated` since the first time.")
        .fix("Send `notifications/resources/updated` to subscribers whenever the contents change.")
        .judge(updates_announced),
    client("documents.stop-reason-given")
        .says(
            R2024_11_05,
            at("client/sampling", "creating-messages"),
            "The result of sampling MAY have a `stopReason`; the documents expect it in every one.",
        )
        .gone(R2026_07_28)
        .advisory()
        .how("Looks at the results of `sampling/createMessage`.")
        .fix("Pass on why the model stopped, such as `endTurn` or `maxTokens`.")
        .judge(stop_reason_given),
];

fn tools_described(view: &View<'_>) -> Verdict {
    Verdict::every(items(view, &TOOLS), "no tool was listed", |tool| {
        let text = tool.value.get("description").and_then(Value::as_str);
        if text.is_some_and(|text| !text.trim().is_empty()) {
            return Ok(());
        }
        Err(tool.breach("", "the tool has no `description`"))
    })
}

fn is_error_given(view: &View<'_>) -> Verdict {
    let finished = view.results("tools/call").filter(|(_, result)| result.get("content").is_some());
    Verdict::every(finished, "no tool was called with a result", |(sent, result)| {
        let given = result.get("isError").is_some_and(Value::is_boolean);
        if given { Ok(()) } else { Err(sent.breach("/result", "the result has no `isError`")) }
    })
}

fn stop_reason_given(view: &View<'_>) -> Verdict {
    Verdict::every(
        view.results("sampling/createMessage"),
        "the client answered no request for sampling",
        |(sent, result)| {
            let given = result.get("stopReason").is_some_and(Value::is_string);
            if given { Ok(()) } else { Err(sent.breach("/result", "the result has no `stopReason`")) }
        },
    )
}

fn uri<'v>(call: &Call<'v>) -> Option<&'v str> {
    call.request.message.params()?.get("uri")?.as_str()
}

fn updates_announced(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for subscribed in view.calls("resources/subscribe").filter(|call| call.result().is_some()) {
        let (Some(watched), Some(since)) = (uri(&subscribed), subscribed.response) else { continue };
        let connection = subscribed.request.connection;
        let is_same = |call: &Call<'_>| call.request.connection == connection && uri(call) == Some(watched);
        let later = |call: &Call<'_>| call.request.event > since.event && is_same(call);
        let until = view.calls("resources/unsubscribe").find(later).map_or(usize::MAX, |call| call.request.event);
        let reads: Vec<_> = view
            .calls("resources/read")
            .filter(later)
            .filter_map(|call| Some((call.request.event, call.response?, call.result()?.get("contents")?)))
            .filter(|(_, response, _)| response.event < until)
            .collect();
        for pair in reads.windows(2) {
            let [(asked, _, before), (_, response, after)] = pair else { continue };
            if before == after {
                continue;
            }
            let mut updates = view.notifications(UPDATED).filter(|sent| sent.connection == connection);
            let announced = updates.any(|sent| {
                sent.event > *asked
                    && sent.message.params().and_then(|params| params.get("uri")?.as_str()) == Some(watched)
            });
            let why = "the contents have changed since they were read last, and no notification said so";
            // What the trace had no room for may be the notification.
            if announced || view.is_fully_seen(connection) {
                let kept = if announced { Ok(()) } else { Err(response.breach("/result/contents", why)) };
                judged.push((response.event, kept));
            }
        }
    }
    Verdict::of(judged, "no resource changed between two reads of a subscriber")
}
