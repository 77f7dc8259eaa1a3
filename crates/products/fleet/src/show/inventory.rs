//! `proof fleet inventory`: the single list of all servers, made from the file and from what was seen.

use std::fmt::Write as _;

use report::render::escape::code;
use serde_json::{Value, json};

use crate::columns::stage_name;
use crate::config::Fleet;
use crate::state::ServerState;
use crate::words::counted;

fn tools(state: &ServerState<'_>) -> Option<u64> {
    state.kept.seen.map(|_| state.kept.surface.tools).or(state.server.tools)
}

fn modules(state: &ServerState<'_>) -> Option<u64> {
    state.server.modules.or_else(|| state.kept.seen.map(|_| state.kept.surface.modules).filter(|modules| *modules > 0))
}

/// As Markdown.
pub fn markdown(fleet: &Fleet, states: &[ServerState<'_>]) -> String {
    let mut out = format!("# {}: {}\n\n", wire::escape::line(&fleet.name), counted(states.len(), "server"));
    out.push_str(
        "| server | stage | tools | modules | lines | language | transports | owner | source | credentials |\n",
    );
    out.push_str("|---|---|---|---|---|---|---|---|---|---|\n");
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    for state in states {
        let server = state.server;
        let cell = |text: &str| {
            if text.is_empty() { String::new() } else { code(&wire::escape::line(text)).replace('|', "\\|") }
        };
        let text = |text: Option<&String>| cell(text.map_or("", String::as_str));
        let credentials: Vec<&str> = server.variables().collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&server.name),
            stage_name(fleet, state.stage),
            number(tools(state)),
            number(modules(state)),
            number(server.lines),
            text(server.language.as_ref()),
            server.transports.join(", "),
            text(server.owner.as_ref()),
            text(server.source.as_ref()),
            cell(&credentials.join(", ")),
        );
    }
    let sum = |of: &dyn Fn(&ServerState<'_>) -> Option<u64>| states.iter().filter_map(of).fold(0, u64::saturating_add);
    let _ = writeln!(out, "\n{}, {}", counted(states.len(), "server"), counted(sum(&tools), "tool"));
    out
}

/// One document: `proof.fleet-inventory/1`.
pub fn json(fleet: &Fleet, states: &[ServerState<'_>]) -> Value {
    let server = |state: &ServerState<'_>| {
        let server = state.server;
        json!({
            "name": server.name, "source": server.source, "owner": server.owner, "stage": state.stage,
            "stage_name": stage_name(fleet, state.stage), "wanted": server.wanted, "transports": server.transports,
            "tools": tools(state), "modules": modules(state), "lines": server.lines, "language": server.language,
            "tags": server.tags, "note": server.note, "launch": server.shown_launch(), "tests": server.tests,
            "credentials": server.variables().collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": "proof.fleet-inventory/1", "fleet": fleet.name,
        "servers": states.iter().map(server).collect::<Vec<_>>(),
    })
}
