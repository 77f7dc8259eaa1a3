//! What the page reads: rows, those that a filter leaves, one server in full, the evidence of a finding, a report.

use net::server::http::{Body as ResponseBody, Response};
use page::{Failure, Parameters, reply};
use serde_json::{Value, json};

use super::Ui;
use super::routes::of_store;
use crate::evidence;
use crate::filter::Filter;
use crate::gate::GateKind;
use crate::keeping;
use crate::show::playbook::playbook;
use crate::state::{GateState, ServerState, Waiver};

/// The longest filter, in bytes.
const LONGEST: usize = 2000;
/// How many results and moves of a server are shown.
const HISTORY: u32 = 200;

/// Reads a filter.
pub(super) fn filter_of(text: &str) -> Result<Filter, Failure> {
    if text.len() > LONGEST {
        return Err(Failure::wrong(format!("the filter is longer than {LONGEST} bytes"), "leave terms out"));
    }
    Filter::parse(text).map_err(|error| Failure::wrong(error.what, error.remedy))
}

/// Reads the name of a gate.
pub(super) fn gate_of(name: &str) -> Result<GateKind, Failure> {
    name.parse().map_err(|why: String| Failure::wrong(why, "a gate of the fleet"))
}

/// A parameter that must be there.
fn given<'p>(parameters: &'p Parameters, name: &str) -> Result<&'p str, Failure> {
    parameters.text(name).ok_or_else(|| Failure::wrong(format!("`{name}` is missing"), format!("{name}=…")))
}

impl Ui {
    /// All rows.
    pub(super) fn servers(&self) -> Value {
        let board = self.board();
        json!({ "seq": board.seq, "rows": board.rows.iter().map(|(_, row)| row).collect::<Vec<_>>() })
    }

    /// The places of the rows that a filter leaves.
    pub(super) fn matched(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let filter = filter_of(parameters.text("filter").unwrap_or_default())?;
        let now = self.seconds();
        let board = self.board();
        let each = board.states.iter().enumerate().zip(&board.running);
        let found = each.filter(|((_, state), running)| filter.fits_while(state, now, running)).map(|((at, _), _)| at);
        Ok(json!({ "seq": board.seq, "matched": found.collect::<Vec<_>>() }))
    }

    /// The name of a server, if the fleet has it.
    pub(super) fn known<'n>(&self, name: &'n str) -> Result<&'n str, Failure> {
        if self.fleet.server(name).is_some() {
            return Ok(name);
        }
        let names = self.fleet.servers.iter().map(|server| server.name.as_str());
        let what = format!("the fleet has no server {}", document::quoted(name));
        Err(Failure { remedy: document::nearest(name, names), ..Failure::missing(what) })
    }

    fn state_of(&self, name: &str) -> Result<ServerState<'static>, Failure> {
        self.known(name)?;
        let board = self.board();
        let found = board.states.iter().find(|state| state.server.name == name).cloned();
        found.ok_or_else(|| Failure::missing("this server is not read yet"))
    }

    /// One server: its entry, gates with findings, waivers, playbook and history.
    pub(super) async fn server(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let state = self.state_of(given(parameters, "name")?)?;
        let (server, now) = (state.server, self.seconds());
        let gates: Vec<Value> = state.gates.iter().map(|gate| self.gate(&state, gate, now)).collect();
        let waivers: Vec<Value> = state.kept.waivers.iter().map(|one| waiver(one, now)).collect();
        let mut shown = json!({
            "name": server.name, "owner": server.owner, "source": server.source, "tags": server.tags,
            "language": server.language, "note": server.note, "launch": server.shown_launch(),
            "stage": self.stage_name(state.stage), "reached": state.reached,
            "wanted": server.wanted.map(|stage| self.stage_name(stage)),
            "fallen_from": state.has_fallen().then(|| state.kept.last_stage.map(|stage| self.stage_name(stage))).flatten(),
            "hold": state.kept.hold.as_ref().map(|hold| json!({
                "stage": self.stage_name(hold.stage), "by": hold.by, "reason": hold.reason, "at": hold.at,
            })),
            "seen": state.kept.seen, "tools": state.kept.surface.tools,
            "gates": gates, "waivers": waivers, "playbook": playbook(self.fleet, &state, now),
        });
        let history = self.history(&server.name).await?;
        if let (Some(shown), Value::Object(history)) = (shown.as_object_mut(), history) {
            shown.extend(history);
        }
        Ok(shown)
    }

    fn gate(&self, state: &ServerState<'_>, gate: &GateState, now: i64) -> Value {
        let stage = self.fleet.stages.iter().position(|stage| stage.gates.contains(&gate.gate));
        let waivers = &state.kept.waivers;
        let judged = gate.record.as_ref().map(|record| &record.judged);
        let findings = judged.map(|judged| {
            let finding = |one: &crate::gate::Finding| {
                json!({
                    "rule": one.rule, "level": one.level, "place": one.place, "message": one.message, "fix": one.fix,
                    "fails": one.fails, "waived": waivers.iter().any(|waiver| waiver.covers(gate.gate, one, now)),
                })
            };
            judged.findings.iter().map(finding).collect::<Vec<_>>()
        });
        json!({
            "gate": gate.gate, "light": gate.light.as_str(),
            "stage": stage.map(|at| self.stage_name(at + 1)),
            "summary": judged.map(|judged| &judged.summary),
            "score": judged.and_then(|judged| judged.score), "coverage": judged.and_then(|judged| judged.coverage),
            "at": gate.record.as_ref().map(|record| record.at), "ms": gate.record.as_ref().map(|record| record.ms),
            "findings": findings.unwrap_or_default(), "more": judged.map_or(0, |judged| judged.more),
            "start": crate::next::start(gate.gate, state),
        })
    }

    async fn history(&self, name: &str) -> Result<Value, Failure> {
        let store = &self.keeping.store;
        let nothing = json!({ "moves": [], "results": [], "notes": [] });
        let Some(entry) = store.server(name).await.map_err(|error| of_store(&error))? else { return Ok(nothing) };
        let results = store.history(entry.id, None, HISTORY).await.map_err(|error| of_store(&error))?;
        let events = store.stage_events(Some(entry.id), HISTORY).await.map_err(|error| of_store(&error))?;
        let notes = store.notes(entry.id).await.map_err(|error| of_store(&error))?;
        let result = |result: &fleet_store::GateResult| {
            let gate: GateKind = result.of.gate.parse().ok()?;
            let record = keeping::of_result(gate, result)?;
            Some(json!({
                "at": record.at, "run": result.run, "gate": gate, "outcome": record.judged.outcome.as_str(),
                "score": record.judged.score, "summary": record.judged.summary,
            }))
        };
        Ok(json!({
            "moves": events.iter().map(|one| json!({ "at": keeping::seconds(one.at), "from": one.from, "to": one.to })).collect::<Vec<_>>(),
            "results": results.iter().filter_map(result).collect::<Vec<_>>(),
            "notes": notes.iter().map(|one| json!({ "at": keeping::seconds(one.at), "by": one.author, "text": one.text })).collect::<Vec<_>>(),
        }))
    }

    /// The report of a gate, as it is kept.
    pub(super) async fn report_of(&self, server: &str, gate: GateKind) -> Result<Value, Failure> {
        let state = self.state_of(server)?;
        let missing = || Failure { remedy: "run the gate again".to_owned(), ..Failure::missing("no report is kept") };
        let record = state.gate(gate).and_then(|gate| gate.record.as_ref()).ok_or_else(missing)?;
        let store = &self.keeping.store;
        let result = store.result(record.version, &record.key).await.map_err(|error| of_store(&error))?;
        let hash = result.and_then(|result| result.is.report).ok_or_else(missing)?;
        let bytes = store.artefact(&hash).await.map_err(|error| of_store(&error))?.ok_or_else(missing)?;
        serde_json::from_slice(&bytes).map_err(|_| missing())
    }

    /// What shows why a finding is one.
    pub(super) async fn evidence(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let server = given(parameters, "server")?;
        let gate = gate_of(given(parameters, "gate")?)?;
        let (rule, place) = (given(parameters, "rule")?, given(parameters, "place")?);
        let state = self.state_of(server)?;
        let record = state.gate(gate).and_then(|gate| gate.record.as_ref());
        let finding = record.and_then(|record| {
            record.judged.findings.iter().find(|finding| finding.rule == rule && finding.place == place)
        });
        let finding = finding.ok_or_else(|| Failure::missing("there is no such finding any more"))?;
        let report = self.report_of(server, gate).await?;
        Ok(json!({ "evidence": evidence::of(gate, &report, finding) }))
    }

    /// The report of a gate as a file.
    pub(super) async fn report(&self, parameters: &Parameters) -> Result<Response, Failure> {
        let gate = gate_of(given(parameters, "gate")?)?;
        let report = self.report_of(given(parameters, "server")?, gate).await?;
        let text = serde_json::to_string_pretty(&evidence::without_traces(report)).unwrap_or_default();
        let body = ResponseBody::Whole(Some(text.into()));
        Ok(reply::attachment(body, "application/json", "attachment; filename=\"report.json\""))
    }
}

fn waiver(one: &Waiver, now: i64) -> Value {
    json!({
        "id": one.id, "gate": one.gate, "rule": one.rule, "owner": one.owner, "reason": one.reason,
        // The last day on which it holds.
        "until": crate::dates::day(one.expires - 1), "holds": now < one.expires,
    })
}
