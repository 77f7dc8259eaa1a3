//! What tries clients beside their answers: words out of season that a client lets pass, or refuses, and goes on.

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::revision::{R2025_03_26, R2025_11_25};

use super::trials::{answer, before_calls, note, page, questions_first, trial};
use super::{Asked, Fault, Kind};

/// The id of a request that was answered long before it is cancelled.
const EARLY: &str = "drill-early";

pub(super) const TRIALS: &[Fault] = &[
    trial(
        "unknown-completions",
        Kind::Handles(|asked, link, reply| {
            let over = json!({ "elicitationId": "drill-of-nobody" });
            before_calls(asked, link, reply, || vec![note("notifications/elicitation/complete", &over)])
        }),
    )
    .since(R2025_11_25),
    trial("cancels-oddly", Kind::Handles(cancel_oddly)),
    trial(
        "batched",
        Kind::Handles(|asked, link, reply| {
            let ping = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            let pings = json!([ping("drill-b1"), ping("drill-b2")]);
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let once = asked.calls == 0;
            let words = || if once { vec![pings.to_string(), json!([note, note]).to_string()] } else { Vec::new() };
            before_calls(asked, link, reply, words)
        }),
    )
    .since(R2025_03_26)
    .until(R2025_03_26),
    trial(
        "samples-nonsense",
        Kind::Handles(|asked, link, reply| {
            let text = json!({ "type": "text", "text": "Hello" });
            let asks = |message: Value| ("sampling/createMessage", json!({ "messages": [message], "maxTokens": 9 }));
            let nonsense = [asks(json!({ "role": "user" })), asks(json!({ "role": "nobody", "content": text }))];
            questions_first(asked, link, reply, &nonsense)
        }),
    )
    .legacy(),
    trial(
        "samples-as-task",
        Kind::Handles(|asked, link, reply| {
            let content = json!({ "type": "text", "text": "Hello" });
            let messages = json!([{ "role": "user", "content": content }]);
            let params = json!({ "messages": messages, "maxTokens": 9, "task": { "ttl": 1000 } });
            questions_first(asked, link, reply, &[("sampling/createMessage", params)])
        }),
    )
    .since(R2025_11_25)
    .legacy(),
    trial(
        "not-found-as-before",
        Kind::Handles(|asked, _, reply| {
            if !asked.is("resources/read") {
                return reply;
            }
            let error =
                json!({ "code": -32002, "message": "Resource not found", "data": { "uri": asked.param("uri") } });
            answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error })).into()
        }),
    )
    .modern(),
    trial(
        "cursor-refused",
        Kind::Handles(|asked, _, reply| match asked.param("cursor").as_str() {
            _ if !asked.is("tools/list") => reply,
            None => page(asked, &["alpha_100001"], Some("gone-by-then")),
            Some(_) => {
                let error = json!({ "code": -32602, "message": "This cursor is no longer good" });
                answer(&json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": error })).into()
            }
        }),
    ),
];

/// Cancels what it never asked, what nobody can tell, and what was answered before.
fn cancel_oddly(asked: &Asked, link: &Link, reply: Reply) -> Reply {
    let cancelled = |params: Value| note("notifications/cancelled", &params);
    let early = json!({ "jsonrpc": "2.0", "id": EARLY, "method": "ping" }).to_string();
    let legacy = !asked.is_modern();
    let words = match asked.calls {
        0 if legacy => vec![cancelled(json!({ "requestId": "drill-never" })), cancelled(json!({})), early],
        0 => vec![cancelled(json!({ "requestId": "drill-never" })), cancelled(json!({}))],
        1 if legacy => vec![cancelled(json!({ "requestId": EARLY }))],
        _ => Vec::new(),
    };
    before_calls(asked, link, reply, || words)
}
