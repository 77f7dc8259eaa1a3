//! Faults of what the client is asked: forms, addresses, sampling, and how its answers are taken.

use std::time::Duration;

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::error_code::{INVALID_REQUEST, URL_ELICITATION_REQUIRED};
use wire::revision::{R2025_06_18, R2025_11_25};

use super::{Fault, Kind, ServiceRequest, fault};

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";

/// What the server says of an answer that is not what was asked for.
const UNFIT: &str = "The client's answer is not what was asked for";

/// As long as a digest of 256 bits in Base64.
const SIGNATURE: &str = "Zk3hJ0q8mN1pQ2rS4tU6vW8xY0zA2bC4dE6fG8hI0jK";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "form-asks-password",
        "elicitation.no-secrets-in-forms",
        "every form has a field for a password",
        Kind::SideMessage(ELICIT, |message| {
            with_field(&mut message["params"], "password", json!({ "type": "string" }));
        }),
    )
    .legacy(),
    &fault(
        "form-asks-key",
        "elicitation.no-secrets-in-forms",
        "forms within results ask for an API key",
        Kind::Results("tools/call", |answer| {
            each_request(answer, ELICIT, |params| with_field(params, "api_key", json!({ "type": "string" })));
        }),
    )
    .modern(),
    &fault(
        "form-with-link",
        "elicitation.no-links-in-forms",
        "the message of every form has a link",
        Kind::SideMessage(ELICIT, |message| {
            message["params"]["message"] = json!("See [the terms](https://example.com/)");
        }),
    )
    .legacy()
    .since(R2025_11_25),
    &fault(
        "form-sends-away",
        "elicitation.no-links-in-forms",
        "the message of every form sends the user to a web address",
        Kind::SideMessage(ELICIT, |message| {
            if message["params"]["requestedSchema"].is_object() {
                message["params"]["message"] = json!("See https://example.com/terms first. What do you choose?");
            }
        }),
    )
    .legacy()
    .since(R2025_11_25),
    &fault(
        "form-names-instructions",
        "elicitation.no-links-in-forms",
        "the message of every form has the address of its instructions",
        Kind::SideMessage(ELICIT, |message| {
            if message["params"]["requestedSchema"].is_object() {
                message["params"]["message"] = json!("What do you choose? Instructions: https://example.com/help");
            }
        }),
    )
    .legacy()
    .since(R2025_11_25),
    &fault(
        "form-unchecked",
        "elicitation.content-validated",
        "a form that is filled in wrongly gives a result that says `undefined`",
        Kind::Answers(|asked, answer| {
            let unfit = answer.pointer("/result/content/0/text").and_then(Value::as_str) == Some(UNFIT);
            if asked.is("tools/call") && unfit {
                answer["result"] = json!({ "content": [{ "type": "text", "text": "You filled in: undefined" }] });
            }
        }),
    )
    .legacy()
    .since(R2025_06_18),
    &address("url-relative", "elicitation.url-valid", "addresses lack scheme and host", |message| {
        visit(message, "visit/1");
    }),
    &address("url-with-password", "elicitation.url-no-secrets", "addresses have a password", |message| {
        visit(message, "https://ada:hush@example.com/");
    }),
    &address("url-plain-http", "elicitation.url-https", "addresses are not encrypted", |message| {
        visit(message, "http://mcp.proofhouse.dev/");
    }),
    &fault(
        "url-completion-unknown-id",
        "elicitation.completion-addressed",
        "the end of a URL elicitation is reported under an unknown id",
        Kind::SideMessage("notifications/elicitation/complete", |message| {
            message["params"]["elicitationId"] = json!("nobodys");
        }),
    )
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "visit-not-listed",
        "elicitation.required-error",
        "the error that requires a URL elicitation names no URL",
        Kind::Errors("tools/call", |answer| {
            if answer["error"]["code"] == URL_ELICITATION_REQUIRED {
                answer["error"]["data"]["elicitations"] = json!([]);
            }
        }),
    )
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "refusal-not-handled",
        "elicitation.refusals-handled",
        "a call whose user cancels is never answered",
        Kind::Handles(|asked, _, reply| {
            let mut answers = asked.param("inputResponses").as_object().into_iter().flatten();
            if answers.any(|(_, answer)| answer["action"] == "cancel") {
                Reply::later(std::future::pending())
            } else {
                reply
            }
        }),
    )
    .modern(),
    &fault(
        "refusal-taken-for-answer",
        "elicitation.refusals-handled",
        "a call whose user refuses goes on without a value",
        Kind::Answers(|asked, answer| {
            let mut answers = asked.param("inputResponses").as_object().into_iter().flatten();
            let refused = answers.any(|(_, answer)| answer["action"] == "decline" || answer["action"] == "cancel");
            if refused && answer.pointer("/result/content/0/text").is_some() {
                answer["result"]["content"] = json!([{ "type": "text", "text": "You filled in: undefined" }]);
            }
        }),
    )
    .modern(),
    &fault(
        "tools-to-any-model",
        "sampling.tools-negotiated",
        "tools are offered to the model of every client",
        Kind::SideMessage(SAMPLE, |message| {
            message["params"]["tools"] = json!([{ "name": "add", "inputSchema": { "type": "object" } }]);
        }),
    )
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "context-of-servers",
        "sampling.context-negotiated",
        "every client is asked for the context of this server",
        Kind::SideMessage(SAMPLE, |message| message["params"]["includeContext"] = json!("thisServer")),
    )
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "tool-results-and-text",
        "sampling.tool-results-alone",
        "results of tools come with a text in the same message",
        Kind::SideMessage(SAMPLE, |message| {
            each_result_message(message, |blocks| blocks.push(json!({ "type": "text", "text": "Here you are" })));
        }),
    )
    .breaks_too(&["sampling.tool-uses-answered"])
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "tool-use-unanswered",
        "sampling.tool-uses-answered",
        "of several uses of a tool the last has no result",
        Kind::SideMessage(SAMPLE, |message| each_result_message(message, |blocks| _ = blocks.pop())),
    )
    .since(R2025_11_25)
    .until(R2025_11_25),
    &fault(
        "any-state-taken",
        "mrtr.state-verified",
        "a changed `requestState` is accepted",
        Kind::Answers(|asked, answer| {
            let input = asked.param("inputResponses");
            let foreign = answer["error"]["message"].as_str().is_some_and(|why| why.contains("requestState"));
            if input.is_object() && foreign {
                let content = json!([{ "type": "text", "text": format!("Somebody else said {input}") }]);
                let result = json!({ "resultType": "complete", "content": content });
                *answer = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result });
            }
        }),
    )
    .breaks_too(&["meta.server-info", "mrtr.state-bound"])
    .modern(),
    &fault(
        "state-signature-ignored",
        "mrtr.state-verified",
        "a `requestState` ends in a signature that is not looked at",
        Kind::Several(&[
            Kind::Results("tools/call", |answer| {
                if let Some(state) = answer["result"]["requestState"].as_str() {
                    answer["result"]["requestState"] = json!(format!("{state}.{SIGNATURE}"));
                }
            }),
            Kind::Receives(|heard| {
                let Some(state) = heard.message.pointer_mut("/params/requestState") else { return };
                if let Some((payload, _)) = state.as_str().and_then(|state| state.rsplit_once('.')) {
                    *state = json!(payload);
                }
            }),
        ]),
    )
    .modern(),
    &fault(
        "waits-for-return",
        "mrtr.abandonment-survived",
        "while a question is open, every other new call is refused",
        Kind::Answers(|asked, answer| {
            if answer["result"]["resultType"] == "input_required"
                && asked.param("requestState").is_null()
                && asked.is_odd()
            {
                *answer = super::jsonrpc::error(asked, INVALID_REQUEST, "Invalid Request: there is a question open");
            }
        }),
    )
    .modern(),
    &fault(
        "cancels-what-is-over",
        "cancellation.in-progress-only",
        "a request of the server is cancelled long after it was answered",
        Kind::Handles(cancel_later),
    )
    .breaks_too(&["cancellation.own-requests-only"])
    .legacy()
    .stdio(),
    &fault(
        "cancels-task-by-notification",
        "cancellation.tasks-apart",
        "a request for sampling is to run as a task, and is cancelled like any other",
        Kind::SideMessages(|_, mut message| {
            if message["method"] != SAMPLE {
                return vec![message];
            }
            message["params"]["task"] = json!({ "ttl": 60_000 });
            let cancelled = json!({ "requestId": message["id"], "reason": "A fault" });
            let method = "notifications/cancelled";
            vec![message, json!({ "jsonrpc": "2.0", "method": method, "params": cancelled })]
        }),
    )
    .breaks_too(&["tasks.augments-only-declared"])
    .since(R2025_11_25)
    .until(R2025_11_25),
];

/// A fault of every address to which users are sent by a request.
const fn address(name: &'static str, rule: &'static str, about: &'static str, edit: fn(&mut Value)) -> Fault {
    fault(name, rule, about, Kind::SideMessage(ELICIT, edit)).since(R2025_11_25).until(R2025_11_25)
}

fn visit(message: &mut Value, url: &str) {
    if message["params"]["mode"] == "url" {
        message["params"]["url"] = json!(url);
    }
}

fn with_field(params: &mut Value, name: &str, field: Value) {
    if let Some(fields) = params.pointer_mut("/requestedSchema/properties").and_then(Value::as_object_mut) {
        fields.insert(name.to_owned(), field);
    }
}

/// Alters the parameters of each request of `method` within a result.
fn each_request(answer: &mut Value, method: &str, edit: impl Fn(&mut Value)) {
    let requests = answer.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut);
    for (_, request) in requests.into_iter().flatten().filter(|(_, request)| request["method"] == method) {
        edit(&mut request["params"]);
    }
}

/// Alters the blocks of each message that brings results of tools.
fn each_result_message(message: &mut Value, edit: impl Fn(&mut Vec<Value>)) {
    let messages = message.pointer_mut("/params/messages").and_then(Value::as_array_mut);
    for blocks in messages.into_iter().flatten().filter_map(|message| message["content"].as_array_mut()) {
        if blocks.iter().any(|block| block["type"] == "tool_result") {
            edit(blocks);
        }
    }
}

/// The first request of a session has the id 1, and was answered before the call that it was made for.
fn cancel_later(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    let Reply::Later(pending) = reply else { return reply };
    if !asked.is("tools/call") {
        return Reply::Later(pending);
    }
    let link = link.clone();
    Reply::later(async move {
        let answer = pending.await;
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let _ = link.notify("notifications/cancelled", json!({ "requestId": 1, "reason": "A fault" }));
        });
        answer
    })
}
