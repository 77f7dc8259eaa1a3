//! `proof fleet playbook SERVER`: what keeps it from the next stages, and what to do, step by step. And `show`.

use std::fmt::Write as _;

use report::render::text::wrap;

use crate::columns::stage_name;
use crate::config::Fleet;
use crate::dates;
use crate::gate::GateKind;
use crate::next;
use crate::state::{GateState, Light, ServerState};
use crate::words::counted;

/// How many findings of a gate a playbook shows.
const SHOWN: usize = 5;

/// The playbook of one server.
pub fn playbook(fleet: &Fleet, state: &ServerState<'_>, now: i64) -> String {
    let mut out = String::new();
    let server = state.server;
    let wanted = server.wanted.map_or_else(String::new, |stage| format!(", wanted: {}", stage_name(fleet, stage)));
    let _ = writeln!(out, "{}: stage {}{wanted}", server.name, stage_name(fleet, state.stage));
    if let Some(hold) = &state.kept.hold {
        let text = format!(
            "held at {} by {} since {}: {}",
            stage_name(fleet, hold.stage),
            hold.by,
            dates::day(hold.at),
            hold.reason
        );
        wrap(&mut out, 0, &wire::escape::line(&text));
        let _ = writeln!(out, "  release: proof fleet release {}", server.name);
    }
    let (mut step, mut waiting, mut unrun) = (0, Vec::new(), Vec::new());
    // Without a server that answers, no other gate can be run.
    let is_silent = state
        .gate(GateKind::Starts)
        .is_some_and(|gate| !matches!(gate.light, Light::Green | Light::Waived | Light::Missing));
    for (number, stage) in fleet.stages.iter().enumerate().skip(state.reached) {
        let closed = state.gates.iter().filter(|gate| stage.gates.contains(&gate.gate) && !gate.light.is_open());
        for gate in closed {
            if is_silent && gate.light == Light::Missing {
                waiting.push(gate.gate.as_str());
                continue;
            }
            if gate.light == Light::Missing {
                unrun.push(gate.gate.as_str());
                continue;
            }
            step += 1;
            let _ =
                writeln!(out, "\n{step}. {} (stage {} {}): {}", gate.gate, number + 1, stage.name, gate.light.as_str());
            write_gate(&mut out, gate, state, now);
        }
    }
    if !unrun.is_empty() {
        step += 1;
        out.push('\n');
        wrap(&mut out, 0, &format!("{step}. not run: {}", unrun.join(", ")));
        let _ = writeln!(out, "   run: proof fleet run --only {}", server.name);
    }
    if !waiting.is_empty() {
        out.push('\n');
        wrap(&mut out, 0, &format!("after that, `proof fleet run` computes: {}", waiting.join(", ")));
    }
    if step == 0 {
        out.push_str("\nEvery gate is green.\n");
    } else {
        let owner = server.owner.as_deref().unwrap_or("nobody yet: add `owner`");
        let _ = writeln!(out);
        wrap(&mut out, 0, &format!("decides: {}", wire::escape::line(owner)));
        let text =
            "to accept a red gate for a time: proof fleet waive SERVER GATE --owner WHO --reason WHY --until DATE";
        wrap(&mut out, 0, &text.replace("SERVER", &server.name));
    }
    out
}

fn write_gate(out: &mut String, gate: &GateState, state: &ServerState<'_>, now: i64) {
    let line = |out: &mut String, text: &str| wrap(out, 3, &wire::escape::line(text));
    match (gate.light, &gate.record) {
        (Light::Old, Some(record)) => {
            let days = counted((now - record.at) / crate::state::DAY, "day");
            line(out, &format!("its result is {days} old; run: proof fleet run --only {}", state.server.name));
        }
        (_, Some(record)) => {
            let failing: Vec<_> = record.judged.findings.iter().filter(|finding| finding.fails).collect();
            if failing.is_empty() {
                line(out, &record.judged.summary);
            }
            let shown = &failing[..failing.len().min(SHOWN)];
            for (at, finding) in shown.iter().enumerate() {
                let place = if finding.place.is_empty() { String::new() } else { format!(" ({})", finding.place) };
                wrap(out, 3, &wire::escape::line(&format!("- {}{place}: {}", finding.rule, finding.message)));
                // What corrects the next finding, too, is said once, behind it.
                if shown.get(at + 1).is_none_or(|next| next.fix != finding.fix) {
                    wrap(out, 5, &wire::escape::line(&format!("fix: {}", finding.fix)));
                }
            }
            let more = failing.len().saturating_sub(SHOWN).saturating_add(record.judged.more);
            if more > 0 {
                line(out, &format!("and {more} more: proof fleet show {} {}", state.server.name, gate.gate));
            }
            line(out, &format!("start: {}", next::start(gate.gate, state)));
            if let Some(then) = next::then(gate.gate, state) {
                line(out, &format!("then: {then}"));
            }
        }
        (_, None) => {}
    }
}

/// All of one server: its entry, its gates with their findings, its waivers.
pub fn show(fleet: &Fleet, state: &ServerState<'_>, only: Option<GateKind>, now: i64) -> String {
    let mut out = String::new();
    let server = state.server;
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "{name:<9} {}", wire::escape::line(value));
        }
    };
    field("server", &server.name);
    field("stage", &stage_name(fleet, state.stage));
    field("owner", server.owner.as_deref().unwrap_or_default());
    field("source", server.source.as_deref().unwrap_or_default());
    field("launch", &server.shown_launch());
    field("tags", &server.tags.join(", "));
    let seen = state.kept.seen.map_or_else(|| "never".to_owned(), dates::minute);
    field("looked at", &format!("{seen}: {}", counted(state.kept.surface.tools, "tool")));
    for gate in state.gates.iter().filter(|gate| only.is_none_or(|only| only == gate.gate)) {
        let Some(record) = &gate.record else {
            let _ = writeln!(out, "\n{} {}", gate.gate, gate.light.as_str());
            continue;
        };
        let _ =
            writeln!(out, "\n{} {}  {}, {} ms", gate.gate, gate.light.as_str(), dates::minute(record.at), record.ms);
        wrap(&mut out, 2, &wire::escape::line(&record.judged.summary));
        for finding in record.judged.findings.iter().filter(|finding| finding.fails || only.is_some()) {
            let place = if finding.place.is_empty() { String::new() } else { format!(" ({})", finding.place) };
            let text = format!("{} {}{place}: {}", finding.level, finding.rule, finding.message);
            wrap(&mut out, 4, &wire::escape::line(&text));
        }
    }
    for waiver in &state.kept.waivers {
        let rule = waiver.rule.as_ref().map_or_else(String::new, |rule| format!(" {rule}"));
        let ends = if now < waiver.expires { "until" } else { "ended" };
        let text = format!(
            "waiver {}: {}{rule}, {} {ends} {}: {}",
            waiver.id,
            waiver.gate,
            waiver.owner,
            dates::day(waiver.expires - 1),
            waiver.reason
        );
        wrap(&mut out, 0, &wire::escape::line(&text));
    }
    out
}
