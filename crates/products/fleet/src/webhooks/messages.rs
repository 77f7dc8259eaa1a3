//! The messages about one event, as JSON. Pure.

use std::time::Duration;

use fleet_store::{Happened, NewDelivery, What};
use serde_json::{Value, json};

use crate::columns::stage_name;
use crate::config::{EventKind, Fleet};
use crate::dates;
use crate::keeping::seconds;
use crate::state::{DAY, Light, ServerState, Waiver};

/// How many days before its end a waiver is announced.
const NOTICE: i64 = 7;
/// The longest text of a server in a message, in characters.
const LONGEST: usize = 300;

/// The messages about something that happened. A red gate that is waived makes none, nor does a server that was taken out.
pub(super) fn of(fleet: &Fleet, state: Option<&ServerState<'_>>, happened: &Happened) -> Vec<NewDelivery> {
    let Some(state) = state else { return Vec::new() };
    let name = &happened.server;
    let at = seconds(happened.at);
    match &happened.what {
        What::Stage { event, from, to } => {
            let [from, to] = [*from, *to].map(|stage| usize::try_from(stage).unwrap_or(0));
            let word = if to > from { "rose" } else { "fell" };
            let [old, new] = [from, to].map(|stage| stage_name(fleet, stage));
            let body = json!({ "from": from, "to": to, "text": format!("{name} {word} from {old} to {new}") });
            each(fleet, EventKind::StageChanged, &format!("stage:{event}"), state, at, &body)
        }
        What::Gate { result, gate, summary } => {
            let gate_state = state.gates.iter().find(|one| one.gate.as_str() == gate);
            if gate_state.is_none_or(|one| one.light == Light::Waived) {
                return Vec::new();
            }
            let why = wire::escape::snippet(summary["summary"].as_str().unwrap_or_default(), LONGEST);
            let findings = summary["findings"].as_array().map_or(0, Vec::len);
            let body = json!({
                "gate": gate, "summary": why, "findings": findings, "stage": state.stage,
                "text": format!("{name}: {gate} turned red: {why}"),
            });
            each(fleet, EventKind::GateFailed, &format!("gate:{result}"), state, at, &body)
        }
    }
}

/// The messages about waivers of a server that end within a week.
pub(super) fn expiring(fleet: &Fleet, state: &ServerState<'_>, now: i64) -> Vec<NewDelivery> {
    let is_ending = |waiver: &&Waiver| now < waiver.expires && waiver.expires - now <= NOTICE * DAY;
    let waivers = state.kept.waivers.iter().filter(is_ending);
    let of = |waiver: &Waiver| {
        let until = dates::day(waiver.expires - 1);
        let body = json!({
            "waiver": waiver.id, "gate": waiver.gate, "rule": waiver.rule, "waived_by": waiver.owner,
            "reason": waiver.reason, "until": until,
            "text": format!("{}: the waiver {} of {} ends on {until}", state.server.name, waiver.id, waiver.gate),
        });
        each(fleet, EventKind::WaiverExpiring, &format!("waiver:{}", waiver.id), state, now, &body)
    };
    waivers.flat_map(of).collect()
}

/// The same message for every webhook that takes it.
fn each(
    fleet: &Fleet,
    kind: EventKind,
    event: &str,
    state: &ServerState<'_>,
    at: i64,
    own: &Value,
) -> Vec<NewDelivery> {
    let mut body = json!({
        "schema": "proof.fleet-event/1",
        "type": kind.as_str(),
        "id": event,
        "at": wire::timestamp::rfc3339(Duration::from_secs(u64::try_from(at).unwrap_or(0))),
        "fleet": fleet.name,
        "server": state.server.name,
        "owner": state.server.owner,
    });
    for (name, value) in own.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    let body = wire::escape::json(&body.to_string()).into_owned();
    let hooks = fleet.webhooks.iter().filter(|hook| hook.takes(kind));
    hooks.map(|hook| NewDelivery { hook: hook.name.clone(), event: event.to_owned(), body: body.clone() }).collect()
}
