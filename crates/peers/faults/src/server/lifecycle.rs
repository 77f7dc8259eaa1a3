//! Faults of the legacy handshake, and of what it negotiates.

use net::service::Reply;
use serde_json::{Value, json};
use wire::error_code::INVALID_PARAMS;
use wire::revision::R2025_06_18;
use wire::{Revision, Transport};

use super::jsonrpc::error;
use super::{Fault, IncomingMessage, Kind, ServiceRequest, drop_member, fault};

const INITIALIZE: &str = "initialize";

pub(super) const FAULTS: &[&Fault] = &[
    &legacy(
        "capabilities-not-told",
        "lifecycle.capabilities-told",
        "`initialize` is answered without capabilities",
        Kind::Results(INITIALIZE, |answer| drop_member(&mut answer["result"], "capabilities")),
    )
    .breaks_too(&["shape.results"]),
    &legacy(
        "server-info-not-told",
        "lifecycle.server-info-told",
        "`initialize` is answered without `serverInfo`",
        Kind::Results(INITIALIZE, |answer| drop_member(&mut answer["result"], "serverInfo")),
    )
    .breaks_too(&["shape.results"]),
    &legacy(
        "version-not-echoed",
        "lifecycle.version-echoed",
        "a client that asks for the oldest version is offered the newest, one that asks for an unknown one the oldest",
        Kind::Answers(|asked, answer| {
            if asks_for(asked, |version| version == Some(Revision::R2024_11_05)) {
                offer(answer, Revision::NEWEST_LEGACY.as_str());
            }
            if asks_for(asked, |version| version.is_none()) {
                offer(answer, Revision::R2024_11_05.as_str());
            }
        }),
    )
    .breaks_too(&["lifecycle.version-latest"])
    // A server that never agrees to the oldest version does not speak it, and is not judged at it.
    .since(Revision::R2025_03_26)
    // There a client costs a process, and few of those greet for the oldest.
    .except(Transport::Stdio),
    &legacy(
        "version-listed-replaced",
        "lifecycle.version-echoed",
        "a client that asks for 2025-03-26, which is listed, is offered the newest version",
        Kind::Answers(|asked, answer| {
            if asks_for(asked, |version| version == Some(Revision::R2025_03_26)) {
                offer(answer, Revision::NEWEST_LEGACY.as_str());
            }
        }),
    )
    .since(R2025_06_18)
    // There each version would cost a process: only one is greeted for.
    .except(Transport::Stdio),
    &legacy(
        "capability-unknown-refused",
        "lifecycle.initialize-answered",
        "a client with a capability that no revision names is refused",
        Kind::Answers(|asked, answer| {
            if asked.is("initialize") && asked.param("capabilities")["proofhouseUnknown"].is_object() {
                *answer = error(asked, INVALID_PARAMS, "Unknown capability");
            }
        }),
    ),
    &legacy(
        "version-parroted",
        "lifecycle.version-alternative",
        "any version that a client asks for is said to be supported",
        Kind::Answers(|asked, answer| {
            if asks_for(asked, |version| version.is_none()) {
                offer(answer, asked.param("protocolVersion").as_str().unwrap_or_default());
            }
        }),
    ),
    &legacy(
        "version-oldest-offered",
        "lifecycle.version-latest",
        "a client that asks for an unknown version is offered the oldest",
        Kind::Answers(|asked, answer| {
            if asks_for(asked, |version| version.is_none()) {
                offer(answer, Revision::R2024_11_05.as_str());
            }
        }),
    )
    // There the oldest is the newest.
    .except(Transport::HttpSse),
    &legacy(
        "unknown-version-ignored",
        "lifecycle.version-mismatch-handled",
        "a client that asks for an unknown version is never answered",
        Kind::Handles(|asked, _, reply| {
            let unknown = asks_for(asked, |version| version.is_none());
            if unknown { Reply::later(std::future::pending()) } else { reply }
        }),
    )
    .breaks_too(&["jsonrpc.answered"]),
    &legacy(
        "samples-the-incapable",
        "lifecycle.sampling-negotiated",
        "a client is asked for sampling that it did not declare",
        Kind::Receives(|heard| declare(heard, "sampling")),
    ),
    &legacy(
        "roots-of-the-incapable",
        "lifecycle.roots-negotiated",
        "a client is asked for roots that it did not declare",
        Kind::Receives(|heard| declare(heard, "roots")),
    ),
    &legacy(
        "elicits-from-the-incapable",
        "lifecycle.elicitation-negotiated",
        "a client is asked for elicitation that it did not declare",
        Kind::Receives(|heard| declare(heard, "elicitation")),
    )
    .since(R2025_06_18),
    &legacy(
        "list-changes-not-declared",
        "lifecycle.list-changes-negotiated",
        "changed lists are announced though `listChanged` is not declared",
        Kind::Results(INITIALIZE, |answer| {
            for list in ["tools", "resources", "prompts"] {
                drop_member(&mut answer["result"]["capabilities"][list], "listChanged");
            }
        }),
    ),
    &legacy(
        "logging-not-declared",
        "lifecycle.logging-negotiated",
        "log messages are sent though `logging` is not declared",
        Kind::Results(INITIALIZE, |answer| drop_member(&mut answer["result"]["capabilities"], "logging")),
    )
    .breaks_too(&["logging.capability-declared"])
    // Before, this is the business of another rule.
    .since(R2025_06_18),
    &legacy(
        "greeting-refused",
        "lifecycle.initialize-answered",
        "every other `initialize` is refused",
        Kind::Answers(|asked, answer| {
            if asked.is(INITIALIZE) && !asked.is_odd() {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: not now");
            }
        }),
    )
    .breaks_too(&["lifecycle.version-error"])
    // Each process has one, and almost all with the id 1.
    .except(Transport::Stdio),
    &legacy(
        "updates-not-declared",
        "lifecycle.updates-negotiated",
        "each tool call brings news of an updated resource though `resources.subscribe` is not declared",
        Kind::Several(&[
            Kind::Results(INITIALIZE, |answer| {
                drop_member(&mut answer["result"]["capabilities"]["resources"], "subscribe");
            }),
            Kind::Handles(|asked, link, reply| {
                if asked.is("tools/call") {
                    let _ = link.notify("notifications/resources/updated", json!({ "uri": "proof://docs/readme" }));
                }
                reply
            }),
        ]),
    )
    .breaks_too(&["resources.updates-subscribed"]),
    &fault(
        "asks-of-another-version",
        "lifecycle.version-respected",
        "a client of an old version is asked for elicitation, which that version does not have",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") {
                let params =
                    json!({ "message": "Your name?", "requestedSchema": { "type": "object", "properties": {} } });
                let id = format!("name-{}", asked.message["id"]);
                let request = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
                let _ = link.send(request.to_string());
            }
            reply
        }),
    )
    .breaks_too(&["http.not-broadcast", "lifecycle.timeouts-cancelled", "lifecycle.no-early-requests"])
    .until(Revision::R2025_03_26),
];

const fn legacy(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).legacy()
}

/// Whether it is a greeting for a version of which `is` is true; `None` stands for one that there never was.
fn asks_for(asked: &ServiceRequest, is: fn(Option<Revision>) -> bool) -> bool {
    let version = asked.param("protocolVersion").as_str();
    asked.is(INITIALIZE) && version.is_some_and(|version| is(version.parse().ok()))
}

fn offer(answer: &mut Value, version: &str) {
    if answer["result"].is_object() {
        answer["result"]["protocolVersion"] = json!(version);
    }
}

/// Lets a client declare what it did not.
fn declare(heard: &mut IncomingMessage<'_>, capability: &str) {
    if heard.is(INITIALIZE) && heard.message["params"]["capabilities"].is_object() {
        heard.message["params"]["capabilities"][capability] = json!({});
    }
}
