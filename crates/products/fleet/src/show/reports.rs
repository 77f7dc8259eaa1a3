//! The five reports, of a fleet or of one server: compliance, tests, security, performance, readiness.

use std::fmt::Write as _;

use serde_json::Value;

use super::page::{Page, Table};
use crate::columns::stage_name;
use crate::config::Fleet;
use crate::dates;
use crate::gate::GateKind;
use crate::state::{GateState, ServerState};
use crate::words::counted;

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// The specification.
    Compliance,
    /// Test files and what they touch.
    Tests,
    /// Scans, locks and signatures.
    Security,
    /// Times and tokens.
    Performance,
    /// The checklist before production.
    Readiness,
}

/// Of a gate's row: the value of one column.
type Cell = fn(&GateState) -> String;

impl ReportKind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compliance => "compliance",
            Self::Tests => "tests",
            Self::Security => "security",
            Self::Performance => "performance",
            Self::Readiness => "readiness",
        }
    }

    const fn gates(self) -> &'static [GateKind] {
        match self {
            Self::Compliance => &[GateKind::Conforms, GateKind::Described],
            Self::Tests => &[GateKind::Tested, GateKind::Evaluated],
            Self::Security => &[GateKind::Scanned, GateKind::Locked, GateKind::Signed],
            Self::Performance => &[GateKind::Starts, GateKind::Fast],
            Self::Readiness => &[GateKind::Ready, GateKind::Listed],
        }
    }

    /// Columns with the figures of a gate.
    const fn figures(self) -> &'static [(&'static str, Cell)] {
        match self {
            Self::Compliance => &[
                ("score", score),
                ("exercised %", coverage),
                ("judged", |gate| fact(gate, "must_judged")),
                ("warnings", |gate| fact(gate, "warnings")),
                ("revisions", |gate| fact(gate, "revisions")),
            ],
            Self::Tests => &[
                ("cases", |gate| fact(gate, "cases")),
                ("files", |gate| fact(gate, "files")),
                ("negatives", |gate| fact(gate, "negatives")),
                ("touched %", coverage),
                ("score", score),
            ],
            Self::Security => {
                &[("texts", |gate| fact(gate, "strings")), ("suppressed", |gate| fact(gate, "suppressed"))]
            }
            Self::Performance => &[
                ("start ms", |gate| fact(gate, "start_ms")),
                ("p95 ms", |gate| fact(gate, "p95_ms")),
                ("tools", |gate| fact(gate, "tools")),
            ],
            Self::Readiness => &[("boxes", |gate| fact(gate, "yes"))],
        }
    }
}

fn score(gate: &GateState) -> String {
    gate.record.as_ref().and_then(|record| record.judged.score).map_or_else(String::new, |score| score.to_string())
}

fn coverage(gate: &GateState) -> String {
    gate.record.as_ref().and_then(|record| record.judged.coverage).map_or_else(String::new, |share| share.to_string())
}

fn fact(gate: &GateState, name: &str) -> String {
    match gate.record.as_ref().map(|record| &record.judged.facts[name]) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => {
            number.as_f64().map_or_else(String::new, |value| ((value * 10.0).round() / 10.0).to_string())
        }
        Some(other) => other.to_string(),
    }
}

/// A report of these servers.
pub fn report(kind: ReportKind, fleet: &Fleet, states: &[&ServerState<'_>], now: i64) -> Page {
    let title = match states {
        [one] => format!("{}: {}", kind.as_str(), one.server.name),
        _ => format!("{}: {}", kind.as_str(), fleet.name),
    };
    let mut lines = vec![format!("{}, {}.", counted(states.len(), "server"), dates::minute(now))];
    lines.extend(sums(kind, states));
    let mut tables: Vec<Table> = kind
        .gates()
        .iter()
        .filter(|gate| fleet.gates().contains(gate))
        .map(|gate| gate_table(kind, *gate, fleet, states))
        .collect();
    tables.push(findings(kind, states));
    if kind == ReportKind::Readiness {
        tables.push(boxes(states));
    }
    tables.push(waivers(kind, states, now));
    tables.retain(|table| !table.rows.is_empty());
    Page { kind: kind.as_str(), title, lines, tables }
}

/// What the whole fleet comes to.
fn sums(kind: ReportKind, states: &[&ServerState<'_>]) -> Vec<String> {
    let all = states.len();
    kind.gates()
        .iter()
        .map(|gate| {
            let of_gate = || states.iter().filter_map(|state| state.gate(*gate));
            let open = of_gate().filter(|state| state.light.is_open()).count();
            let mut line = format!("{gate}: {open} of {all} pass.");
            if *gate == GateKind::Conforms {
                let perfect = states.iter().filter(|state| state.score().is_some_and(|score| score >= 100.0)).count();
                let _ = write!(line, " {perfect} of {all} score 100.");
            }
            if *gate == GateKind::Tested {
                let sum = |member: &str| {
                    let figures = of_gate().filter_map(|state| state.record.as_ref()?.judged.facts[member].as_u64());
                    figures.fold(0, u64::saturating_add)
                };
                let _ = write!(line, " {}, {}.", counted(sum("files"), "test file"), counted(sum("cases"), "case"));
            }
            line
        })
        .collect()
}

fn gate_table(kind: ReportKind, gate: GateKind, fleet: &Fleet, states: &[&ServerState<'_>]) -> Table {
    let is_first = kind.gates().first() == Some(&gate);
    let figures: &[(&'static str, Cell)] =
        if is_first || kind == ReportKind::Performance { kind.figures() } else { &[] };
    let mut columns = vec!["server", "stage", "outcome"];
    columns.extend(figures.iter().map(|(name, _)| *name));
    columns.extend(["summary", "at"]);
    let row = |state: &&ServerState<'_>| {
        let found = state.gate(gate)?;
        let mut row = vec![state.server.name.clone(), stage_name(fleet, state.stage), found.light.as_str().to_owned()];
        row.extend(figures.iter().map(|(_, cell)| cell(found)));
        let record = found.record.as_ref();
        row.push(record.map_or_else(String::new, |record| record.judged.summary.clone()));
        row.push(record.map_or_else(String::new, |record| dates::minute(record.at)));
        Some(row)
    };
    Table { title: gate.to_string(), columns, rows: states.iter().filter_map(row).collect() }
}

fn findings(kind: ReportKind, states: &[&ServerState<'_>]) -> Table {
    let mut rows = Vec::new();
    for state in states {
        for gate in state.gates.iter().filter(|gate| kind.gates().contains(&gate.gate)) {
            let list = gate.record.iter().flat_map(|record| &record.judged.findings).filter(|finding| finding.fails);
            rows.extend(list.map(|finding| {
                let texts = [&finding.rule, &finding.level, &finding.place, &finding.message, &finding.fix];
                [state.server.name.clone(), gate.gate.to_string()]
                    .into_iter()
                    .chain(texts.into_iter().cloned())
                    .collect()
            }));
        }
    }
    let columns = vec!["server", "gate", "rule", "level", "place", "what", "fix"];
    Table { title: "What fails".to_owned(), columns, rows }
}

/// Every box of every checklist, with its evidence.
fn boxes(states: &[&ServerState<'_>]) -> Table {
    let mut rows = Vec::new();
    for state in states {
        let Some(record) = state.gate(GateKind::Ready).and_then(|gate| gate.record.as_ref()) else { continue };
        for one in record.judged.facts["boxes"].as_array().into_iter().flatten() {
            let text = |member: &str| one[member].as_str().unwrap_or_default().to_owned();
            rows.push(vec![state.server.name.clone(), text("area"), text("box"), text("answer"), text("evidence")]);
        }
    }
    Table { title: "Checklist".to_owned(), columns: vec!["server", "area", "box", "answer", "evidence"], rows }
}

fn waivers(kind: ReportKind, states: &[&ServerState<'_>], now: i64) -> Table {
    let rows = states.iter().flat_map(|state| {
        let own =
            state.kept.waivers.iter().filter(|waiver| kind.gates().contains(&waiver.gate) && now < waiver.expires);
        own.map(|waiver| {
            let rule = waiver.rule.clone().unwrap_or_else(|| "all of it".to_owned());
            let until = dates::day(waiver.expires - 1);
            vec![
                state.server.name.clone(),
                waiver.gate.to_string(),
                rule,
                waiver.owner.clone(),
                waiver.reason.clone(),
                until,
            ]
        })
    });
    Table {
        title: "Waived".to_owned(),
        columns: vec!["server", "gate", "rule", "owner", "reason", "until"],
        rows: rows.collect(),
    }
}
