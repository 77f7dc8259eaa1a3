//! Faults of `server/discover` and of versions in the modern era.

use std::sync::atomic::{AtomicBool, Ordering};

use net::server::http::{HeaderValue, StatusCode};
use serde_json::{Value, json};
use wire::Revision;
use wire::error_code::{INVALID_REQUEST, UNSUPPORTED_VERSION};
use wire::http::PROTOCOL_VERSION;
use wire::meta::SERVER_INFO;

use super::http::status;
use super::jsonrpc::error;
use super::{Fault, HTTP, Http, Kind, ServiceRequest, drop_member, fault, lists};

const DISCOVER: &str = "server/discover";

pub(super) const FAULTS: &[&Fault] = &[
    &modern(
        "any-version-served",
        "versioning.unsupported-refused",
        "a request of a version that does not exist is served",
        Kind::Receives(|heard| {
            let version = heard.meta("protocolVersion").as_str().map(str::parse::<Revision>);
            if version.is_some_and(|version| version.is_err()) {
                heard.set_meta("protocolVersion", json!(Revision::NEWEST.as_str()));
                if let Some(headers) = heard.headers.as_deref_mut() {
                    headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(Revision::NEWEST.as_str()));
                }
            }
        }),
    )
    .breaks_too(&["discover.own-version-listed", "http.unsupported-version-400"]),
    &modern(
        "versions-not-listed",
        "versioning.supported-listed",
        "the error for an unsupported version does not list those that are",
        Kind::Sends(|message| refusal(message, |data| drop_member(data, "supported"))),
    )
    .breaks_too(&["http.unsupported-version-400", "shape.errors"]),
    &modern(
        "version-not-named",
        "versioning.requested-named",
        "the error for an unsupported version does not name it",
        Kind::Sends(|message| refusal(message, |data| drop_member(data, "requested"))),
    )
    .breaks_too(&["shape.errors"]),
    &modern(
        "versions-disagree",
        "versioning.lists-agree",
        "the error for an unsupported version lists others than discovery",
        Kind::Sends(|message| {
            refusal(message, |data| data["supported"] = json!([Revision::NEWEST.as_str(), "2031-01-01"]));
        }),
    ),
    &modern(
        "unsupported-version-200",
        "http.unsupported-version-400",
        "the error for an unsupported version comes with status 200",
        Kind::Http(Http { response: |_, response| status(response, UNSUPPORTED_VERSION, StatusCode::OK), ..HTTP }),
    )
    .http(),
    &modern(
        "no-versions-listed",
        "discover.versions-listed",
        "every other discovery lists no version",
        Kind::Answers(|asked, answer| relist(asked, answer, json!([]))),
    ),
    &modern(
        "own-version-not-listed",
        "discover.own-version-listed",
        "every other discovery does not list the version that it is served under",
        Kind::Answers(|asked, answer| relist(asked, answer, json!(["2025-11-25"]))),
    ),
    &modern(
        "no-capabilities-listed",
        "discover.capabilities-listed",
        "discovery tells no capabilities",
        Kind::Results(DISCOVER, |answer| drop_member(&mut answer["result"], "capabilities")),
    )
    .breaks_too(&["shape.results"]),
    &modern(
        "discovery-nameless",
        "discover.server-info",
        "discovery does not name the server",
        Kind::Results(DISCOVER, |answer| {
            drop_member(&mut answer["result"]["_meta"], SERVER_INFO);
        }),
    ),
    &modern(
        "embedded-without-resources",
        "tools.embedded-need-resources",
        "a tool returns an embedded resource, and resources are not declared",
        Kind::Results(DISCOVER, |answer| undeclare(answer, "resources")),
    )
    .breaks_too(&["resources.capability-declared", "subscriptions.only-supported-acknowledged"]),
    &modern(
        "completion-not-declared",
        "completion.capability-declared",
        "arguments are completed though `completions` is not declared",
        Kind::Answers(|asked, answer| match asked.message["method"].as_str() {
            Some(DISCOVER) => undeclare(answer, "completions"),
            Some("completion/complete") if answer["result"].is_object() => {
                answer["result"]["completion"] = json!({ "values": ["one", "two"] });
            }
            _ => {}
        }),
    ),
    &modern(
        "log-not-declared",
        "logging.capability-declared",
        "log messages are sent though `logging` is not declared",
        Kind::Results(DISCOVER, |answer| undeclare(answer, "logging")),
    ),
    &modern(
        "discovery-unknown",
        "discover.implemented",
        "every other discovery is refused as an unknown method",
        Kind::Answers(|asked, answer| {
            if !asked.is_odd() {
                lists::refuse(asked, answer, DISCOVER);
            }
        }),
    )
    .breaks_too(&["http.unknown-method-404", "meta.client-info-ignored", "stateless.concurrent-served"])
    // Elsewhere every case asks more than once, and an answer shows that the method is there.
    .http(),
    &modern(
        "listed-version-refused",
        "discover.versions-served",
        "completions are refused for their version, which discovery lists",
        Kind::Answers(|asked, answer| {
            if asked.is("completion/complete") {
                *answer = error(asked, UNSUPPORTED_VERSION, "Unsupported protocol version");
                let asked_for = asked.meta("protocolVersion");
                answer["error"]["data"] = json!({ "supported": [Revision::NEWEST.as_str()], "requested": asked_for });
            }
        }),
    )
    .breaks_too(&["errors.codes-mean-what-they-say", "http.unsupported-version-400"]),
    &modern(
        "extension-without-prefix",
        "versioning.extension-ids",
        "the identifier of an extension has no prefix",
        Kind::Results(DISCOVER, |answer| answer["result"]["capabilities"]["extensions"]["tasks"] = json!({})),
    ),
    &modern(
        "prompt-of-own-type",
        "versioning.extension-fallback",
        "prompts have the result type of an extension that the client does not declare",
        Kind::Results("prompts/get", |answer| answer["result"]["resultType"] = json!("illustrated")),
    ),
    &modern(
        "tools-not-declared",
        "tools.capability-declared",
        "tools are listed though `tools` is not declared",
        Kind::Results(DISCOVER, |answer| undeclare(answer, "tools")),
    )
    .breaks_too(&["errors.method-not-declared", "subscriptions.only-supported-acknowledged"]),
    &modern(
        "undeclared-served",
        "errors.method-not-declared",
        "the list of tools is served though `tools` is not declared",
        Kind::Results(DISCOVER, |answer| undeclare(answer, "tools")),
    )
    .breaks_too(&["tools.capability-declared", "subscriptions.only-supported-acknowledged"]),
    &modern(
        "tool-list-unknown",
        "tools.list-answered",
        "the list of tools is refused as an unknown method",
        Kind::Answers(|asked, answer| lists::refuse(asked, answer, "tools/list")),
    )
    .breaks_too(&["http.unknown-method-404"]),
    &modern(
        "tools-by-process",
        "tools.list-same-everywhere",
        "every process lists a tool that is not on the list of another",
        Kind::Answers(|asked, answer| lists::add_own(asked, answer, "tools", |_, _| ())),
    )
    .stdio(),
    &modern(
        "first-request-refused",
        "stateless.first-request-served",
        "a process refuses what comes before it was asked for `server/discover`",
        Kind::Answers(|asked, answer| {
            let discovered = asked.state.of::<Discovered>();
            if asked.is(DISCOVER) {
                discovered.0.store(true, Ordering::Relaxed);
            } else if !discovered.0.load(Ordering::Relaxed) {
                *answer = error(asked, INVALID_REQUEST, "Invalid request: `server/discover` was not requested yet");
            }
        }),
    )
    .breaks_too(&["stateless.connection-not-required"])
    .stdio(),
];

/// Whether a process was asked for `server/discover`.
#[derive(Default)]
struct Discovered(AtomicBool);

const fn modern(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).modern()
}

/// Alters the data of the error for an unsupported version.
fn refusal(message: &mut Value, edit: fn(&mut Value)) {
    if message.pointer("/error/code").is_some_and(|code| *code == UNSUPPORTED_VERSION) {
        edit(&mut message["error"]["data"]);
    }
}

/// Other versions in every other discovery: in all of them, nobody would know that this is a modern server.
fn relist(asked: &ServiceRequest, answer: &mut Value, versions: Value) {
    if asked.is(DISCOVER) && !asked.is_odd() && answer["result"].is_object() {
        answer["result"]["supportedVersions"] = versions;
    }
}

fn undeclare(answer: &mut Value, capability: &str) {
    drop_member(&mut answer["result"]["capabilities"], capability);
}
