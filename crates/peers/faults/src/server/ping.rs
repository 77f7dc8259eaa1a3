//! Faults of `ping`, which both sides may send in the legacy era.

use net::service::Reply;
use serde_json::json;
use wire::error_code::METHOD_NOT_FOUND;
use wire::revision::R2025_11_25;

use super::jsonrpc::error;
use super::{Fault, Kind, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "ping-flood",
        "ping.sparing",
        "each tool call brings a dozen pings at once",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
                for number in 0..12 {
                    let id = format!("ping-{}-{number}", asked.message["id"]);
                    let _ = link.send(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string());
                }
            }
            reply
        }),
    )
    .legacy(),
    &fault(
        "ping-pong",
        "ping.empty-result",
        "the result of a ping has a member",
        Kind::Answers(|asked, answer| {
            if asked.is("ping") && answer.get("error").is_none() {
                answer["result"] = json!({ "pong": true });
            }
        }),
    )
    .until(R2025_11_25),
    &fault(
        "ping-unanswered",
        "ping.answered",
        "a ping whose id is a string of digits is never answered",
        Kind::Handles(|asked, _, reply| {
            let digits = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
            let lost = asked.is("ping") && asked.message["id"].as_str().is_some_and(digits);
            if lost { Reply::later(std::future::pending()) } else { reply }
        }),
    )
    .until(R2025_11_25),
    &fault(
        "ping-unknown",
        "ping.served",
        "a ping is answered with an error",
        Kind::Answers(|asked, answer| {
            if asked.is("ping") {
                *answer = error(asked, METHOD_NOT_FOUND, "Method not found: ping");
            }
        }),
    )
    .until(R2025_11_25),
];
