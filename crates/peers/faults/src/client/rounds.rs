//! Requests in several rounds (2026-07-28, basic/patterns/mrtr).

use serde_json::json;

use super::{Fault, Kind, drop_member, fault, is};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "state-altered",
        "mrtr.state-echoed",
        "brings another state than it was given",
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
        "does not bring the state that it was given",
        Kind::Sends(|message| drop_member(&mut message["params"], "requestState")),
    )
    .modern(),
    fault(
        "state-invented",
        "mrtr.no-state-invented",
        "brings a state where it was given none",
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
        "comes back without the input that it was asked for",
        Kind::Sends(|message| drop_member(&mut message["params"], "inputResponses")),
    )
    .modern(),
    fault(
        "inputs-astray",
        "mrtr.inputs-on-retries-only",
        "brings input with a request that nobody asked it for",
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
        "comes back without `_meta`",
        Kind::Sends(|message| {
            message["params"].get("inputResponses").is_some() && drop_member(&mut message["params"], "_meta")
        }),
    )
    .modern()
    .breaks_too(&["meta.required-sent", "meta.client-info-sent"]),
];
