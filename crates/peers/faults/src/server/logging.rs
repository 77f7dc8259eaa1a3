//! Faults of log messages.

use serde_json::json;

use super::jsonrpc::error;
use super::{Fault, Kind, fault};
use wire::error_code::METHOD_NOT_FOUND;

const MESSAGE: &str = "notifications/message";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "level-not-settable",
        "logging.level-accepted",
        "`logging/setLevel` is answered as a method that does not exist",
        Kind::Answers(|asked, answer| {
            if asked.is("logging/setLevel") {
                *answer = error(asked, METHOD_NOT_FOUND, "Method not found");
            }
        }),
    )
    .legacy(),
    &fault(
        "logger-misspelt",
        "logging.logger-names-consistent",
        "every other request has its logger's name in capitals",
        Kind::SideMessages(|asked, mut message| {
            if message["method"] == MESSAGE && asked.is_odd() {
                message["params"]["logger"] = json!("REFERENCE");
            }
            vec![message]
        }),
    ),
    &fault(
        "password-logged",
        "logging.no-credentials",
        "log messages name an address with its password",
        Kind::SideMessages(|_, mut message| {
            if message["method"] == MESSAGE {
                message["params"]["data"] = json!("Stored at postgres://reference:correct-horse@db.example/log");
            }
            vec![message]
        }),
    ),
    &fault(
        "credential-logged",
        "logging.no-credentials",
        "log messages repeat the `Authorization` of their request",
        Kind::SideMessages(|asked, mut message| {
            let headers = asked.context.headers.as_ref();
            let credential = headers.and_then(|headers| headers.get("authorization")?.to_str().ok());
            if let Some(credential) = credential.filter(|_| message["method"] == MESSAGE) {
                message["params"]["data"] = json!({ "authorization": credential });
            }
            vec![message]
        }),
    )
    .http(),
];
