//! `proof fleet status`: one line for each server, and the sum.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use report::render::text::wrap;
use serde_json::{Value, json};

use super::table;
use crate::columns::{Column, stage_name};
use crate::config::{Dashboard, Fleet};
use crate::dates;
use crate::gate::GateKind;
use crate::state::{Light, ServerState};
use crate::words::counted;

/// What the signs of gates mean.
const LEGEND: &str = "+ pass  w waived  x fail  ? incomplete  - nothing to run  . not run  o old";

/// The table for people.
pub fn human(fleet: &Fleet, states: &[&ServerState<'_>], view: &Dashboard, now: i64) -> String {
    let chosen: Vec<Column> = view.columns.iter().filter_map(|name| Column::parse(name).ok()).collect();
    let columns = if chosen.is_empty() { crate::columns::USUAL.to_vec() } else { chosen };
    let headings: Vec<String> = columns.iter().map(|column| column.heading().to_uppercase()).collect();
    let row =
        |state: &&ServerState<'_>| columns.iter().map(|column| column.cell(fleet, state, now)).collect::<Vec<_>>();
    let mut out = String::new();
    for (group, members) in groups(fleet, states, view.group.as_deref()) {
        if !group.is_empty() {
            let _ = writeln!(out, "{}", wire::escape::line(&group));
        }
        let rows: Vec<Vec<String>> = members.iter().map(row).collect();
        for line in table::lines(&headings, &rows) {
            let _ = writeln!(out, "{line}");
        }
        out.push('\n');
    }
    if columns.contains(&Column::Gates) {
        let gates: Vec<&str> = fleet.gates().into_iter().map(GateKind::as_str).collect();
        wrap(&mut out, 0, &format!("gates: {}", gates.join(", ")));
        let _ = writeln!(out, "{LEGEND}");
    }
    wrap(&mut out, 0, &sum(states));
    out
}

fn groups<'s, 'f>(
    fleet: &Fleet,
    states: &[&'s ServerState<'f>],
    by: Option<&str>,
) -> BTreeMap<String, Vec<&'s ServerState<'f>>> {
    let mut groups: BTreeMap<String, Vec<&ServerState<'f>>> = BTreeMap::new();
    for state in states {
        let names = match by {
            Some("stage") => vec![stage_name(fleet, state.stage)],
            Some("owner") => vec![state.server.owner.clone().unwrap_or_else(|| "no owner".to_owned())],
            Some(_) if state.server.tags.is_empty() => vec!["no tag".to_owned()],
            Some(_) => state.server.tags.clone(),
            None => vec![String::new()],
        };
        for name in names {
            groups.entry(name).or_default().push(state);
        }
    }
    groups
}

/// `36 of 37 as wanted; 37 of 37 score 100; 1 red, 0 incomplete`
pub fn sum(states: &[&ServerState<'_>]) -> String {
    let count = |holds: &dyn Fn(&ServerState<'_>) -> bool| states.iter().filter(|state| holds(state)).count();
    let has = |light: Light| move |state: &ServerState<'_>| state.gates.iter().any(|gate| gate.light == light);
    let all = states.len();
    if all == 0 {
        return "no server fits".to_owned();
    }
    let mut text = format!(
        "{}; {} of {all} score 100; {} with a red gate, {} incomplete",
        targets(states),
        count(&|state| state.score().is_some_and(|score| score >= 100.0)),
        count(&has(Light::Red)),
        count(&has(Light::Incomplete)),
    );
    let fallen = count(&|state| state.has_fallen());
    if fallen > 0 {
        let _ = write!(text, "; {fallen} fell");
    }
    text
}

/// How many servers have the stage that is wanted, of those that want one.
fn targets(states: &[&ServerState<'_>]) -> String {
    let with: Vec<_> = states.iter().filter(|state| state.server.wanted.is_some()).collect();
    if with.is_empty() {
        return "no stage is wanted (`stage` in fleet.yaml)".to_owned();
    }
    let good = with.iter().filter(|state| state.is_as_wanted()).count();
    let text = format!("{good} of {} at the stage that is wanted", with.len());
    match states.len() - with.len() {
        0 => text,
        rest => format!("{text}, {} without one", counted(rest, "server")),
    }
}

/// One document: `proof.fleet-status/1`.
pub fn json(fleet: &Fleet, states: &[&ServerState<'_>], now: i64) -> Value {
    let servers: Vec<Value> = states.iter().map(|state| server(fleet, state)).collect();
    let total = |member: &str| {
        let facts = states.iter().filter_map(|state| state.gate(GateKind::Tested)?.record.as_ref());
        facts.filter_map(|record| record.judged.facts[member].as_u64()).fold(0, u64::saturating_add)
    };
    json!({
        "schema": "proof.fleet-status/1",
        "fleet": fleet.name,
        "at": dates::minute(now),
        "stages": fleet.stages.iter().map(|stage| &stage.name).collect::<Vec<_>>(),
        "summary": {
            "servers": states.len(),
            "as_wanted": states.iter().filter(|state| state.is_as_wanted()).count(),
            "perfect": states.iter().filter(|state| state.score().is_some_and(|score| score >= 100.0)).count(),
            "fallen": states.iter().filter(|state| state.has_fallen()).count(),
            "test_files": total("files"),
            "cases": total("cases"),
        },
        "servers": servers,
    })
}

fn server(fleet: &Fleet, state: &ServerState<'_>) -> Value {
    let gates: serde_json::Map<String, Value> = state
        .gates
        .iter()
        .map(|gate| {
            let record = gate.record.as_ref();
            let value = json!({
                "light": gate.light.as_str(),
                "summary": record.map(|record| &record.judged.summary),
                "score": record.and_then(|record| record.judged.score),
                "coverage": record.and_then(|record| record.judged.coverage),
                "at": record.map(|record| dates::minute(record.at)),
                "ms": record.map(|record| record.ms),
                "facts": record.map(|record| &record.judged.facts),
            });
            (gate.gate.to_string(), value)
        })
        .collect();
    let name = |stage: usize| stage.checked_sub(1).and_then(|at| fleet.stages.get(at)).map(|stage| &stage.name);
    json!({
        "name": state.server.name,
        "owner": state.server.owner,
        "tags": state.server.tags,
        "stage": state.stage,
        "stage_name": name(state.stage),
        "wanted": state.server.wanted,
        "as_wanted": state.is_as_wanted(),
        "fallen_from": state.has_fallen().then_some(state.kept.last_stage).flatten(),
        "held": state.kept.hold,
        "waivers": state.kept.waivers,
        "gates": gates,
    })
}
