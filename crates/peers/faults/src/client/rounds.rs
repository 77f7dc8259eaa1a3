//! Requests in several rounds (2026-07-28, basic/patterns/mrtr).

use serde_json::json;

use super::{Fault, Kind, drop_member, fault, is};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "state-altered",
        "mrtr.state-echoed",
        "sends another `requestState` than it got",
        Kind::Sends(|message| {
            let Some(state) = message.pointer_mut("/params/requestState") else { return false };
            *state = json!(format!("{}~", state.as_str().unwrap_or_default()));
            true
        }),
    )
    .modern(),
    fault(
        "state-dropped",
        "mrtr.state-echoed",
        "omits the `requestState` that it got",
        Kind::Sends(|message| drop_member(&mut message["params"], "requestState")),
    )
    .modern(),
    fault(
        "state-invented",
        "mrtr.no-state-invented",
        "sends a `requestState` though it got none",
        Kind::Sends(|message| {
            let comes_back = message["params"].get("inputResponses").is_some();
            let invents = comes_back && message["params"].get("requestState").is_none();
            if invents {
                message["params"]["requestState"] = json!("made up");
            }
            invents
        }),
    )
    .modern(),
    fault(
        "inputs-dropped",
        "mrtr.inputs-brought",
        "retries without the input that was requested",
        Kind::Sends(|message| drop_member(&mut message["params"], "inputResponses")),
    )
    .modern(),
    fault(
        "inputs-not-requested",
        "mrtr.inputs-on-retries-only",
        "sends input with a request that needs none",
        Kind::Sends(|message| {
            let found = is(message, "tools/call") && message["params"].get("inputResponses").is_none();
            if found {
                message["params"]["inputResponses"] = json!({ "name": { "action": "cancel" } });
            }
            found
        }),
    )
    .modern(),
    fault(
        "bare-retry",
        "mrtr.retries-complete",
        "retries without `_meta`",
        Kind::Sends(|message| {
            message["params"].get("inputResponses").is_some() && drop_member(&mut message["params"], "_meta")
        }),
    )
    .modern()
    .breaks_too(&["meta.required-sent", "meta.client-info-sent"]),
    fault(
        "arguments-lost-on-retry",
        "mrtr.retries-complete",
        "retries without the arguments of the original request",
        Kind::Sends(|message| {
            message["params"].get("inputResponses").is_some() && drop_member(&mut message["params"], "arguments")
        }),
    )
    .modern()
    .seen_in("odd-rounds"),
    fault(
        "state-trimmed",
        "mrtr.state-echoed",
        "trims the `requestState` that it got",
        Kind::Sends(|message| {
            let Some(state) = message.pointer_mut("/params/requestState") else { return false };
            let trimmed = state.as_str().unwrap_or_default().trim().to_owned();
            let altered = *state != json!(trimmed);
            *state = json!(trimmed);
            altered
        }),
    )
    .modern()
    .seen_in("odd-rounds"),
];
