//! How the fleet stands, as the page shows it: one row for each server, each with the number of its last change.

use std::collections::HashMap;
use std::sync::Arc;

use fleet_store::{Id, State, StoreError};
use serde_json::{Value, json};

use super::Ui;
use crate::columns::{Column, stage_name};
use crate::gate::GateKind;
use crate::keeping::MOST;
use crate::show::status;
use crate::state::ServerState;

/// How many stages a trend has, the newest last.
const TREND: usize = 12;

/// What the page shows of all servers.
#[derive(Default)]
pub(super) struct Board {
    /// The number of the last change, and of the last change of the state.
    pub(super) seq: u64,
    pub(super) state_seq: u64,
    /// In the order of the fleet.
    pub(super) states: Arc<Vec<ServerState<'static>>>,
    /// The gates that run, of each server.
    pub(super) running: Vec<Vec<GateKind>>,
    /// Each row, with the number of its last change.
    pub(super) rows: Vec<(u64, Value)>,
    /// How many jobs wait or run.
    pub(super) left: u64,
    /// Why the store cannot be read.
    pub(super) problem: Option<String>,
    trends: Vec<Vec<usize>>,
    /// The servers of versions.
    versions: HashMap<Id, usize>,
}

/// The columns of a row.
pub(super) const COLUMNS: [&str; 13] = [
    "name", "stage", "wanted", "gates", "score", "owner", "tags", "tools", "oldest", "marks", "trend", "blocked",
    "waivers",
];

impl Ui {
    /// Reads everything from the store.
    pub(super) async fn reread(&self) -> Result<(), StoreError> {
        let store = &self.keeping.store;
        let states = self.keeping.states(self.fleet, self.runner.version(), (self.clock)()).await?;
        let at: HashMap<&str, usize> =
            self.fleet.servers.iter().enumerate().map(|(at, server)| (server.name.as_str(), at)).collect();
        let of_id: HashMap<Id, usize> = store
            .servers()
            .await?
            .iter()
            .filter_map(|server| Some((server.id, *at.get(server.name.as_str())?)))
            .collect();
        let versions = store.current_versions().await?.into_iter();
        let versions = versions.filter_map(|version| Some((version.id, *of_id.get(&version.server)?))).collect();
        let mut trends = vec![Vec::new(); states.len()];
        let mut before = vec![0; states.len()];
        // The newest first.
        for event in store.stage_events(None, MOST).await? {
            let Some(trend) = of_id.get(&event.server).and_then(|at| trends.get_mut(*at)) else { continue };
            if trend.len() < TREND {
                trend.insert(0, usize::try_from(event.to).unwrap_or(0));
                before[of_id[&event.server]] = usize::try_from(event.from).unwrap_or(0);
            }
        }
        for (trend, from) in trends.iter_mut().zip(before).filter(|(trend, _)| (1..TREND).contains(&trend.len())) {
            trend.insert(0, from);
        }
        {
            let mut board = self.board();
            board.states = Arc::new(states);
            (board.versions, board.trends) = (versions, trends);
            if board.problem.take().is_some() {
                self.changed(&mut board);
            }
            self.repaint(&mut board);
        }
        self.look().await
    }

    /// Looks what runs, in this process or another.
    pub(super) async fn look(&self) -> Result<(), StoreError> {
        let counts = self.keeping.store.counts(None).await?;
        let leased = if counts.leased == 0 {
            Vec::new()
        } else {
            self.keeping.store.jobs(None, Some(State::Leased), MOST).await?
        };
        let mut board = self.board();
        let mut running = vec![Vec::new(); board.states.len()];
        for job in leased {
            if let (Some(at), Ok(gate)) = (board.versions.get(&job.result.version), job.result.gate.parse()) {
                running[*at].push(gate);
            }
        }
        let left = counts.ready + counts.leased;
        if running != board.running {
            board.running = running;
            self.repaint(&mut board);
        }
        if left != board.left {
            board.left = left;
            self.changed(&mut board);
        }
        Ok(())
    }

    /// Makes the rows, and numbers those that changed.
    fn repaint(&self, board: &mut Board) {
        let seq = board.seq + 1;
        let states = Arc::clone(&board.states);
        board.running.resize(states.len(), Vec::new());
        let rows: Vec<Value> = states
            .iter()
            .enumerate()
            .map(|(at, state)| self.row(state, &board.running[at], board.trends.get(at).map_or(&[], Vec::as_slice)))
            .collect();
        let before = std::mem::take(&mut board.rows);
        let mut before = before.into_iter();
        board.rows =
            rows.into_iter().map(|row| before.next().filter(|(_, old)| *old == row).unwrap_or((seq, row))).collect();
        if board.rows.iter().any(|(changed, _)| *changed == seq) {
            self.changed(board);
        }
    }

    fn row(&self, state: &ServerState<'_>, running: &[GateKind], trend: &[usize]) -> Value {
        let (server, now) = (state.server, self.seconds());
        let sign = |gate: &crate::state::GateState| if running.contains(&gate.gate) { 'r' } else { gate.light.sign() };
        let marks = [
            ('h', state.kept.hold.is_some()),
            ('f', state.has_fallen()),
            ('b', server.wanted.is_some_and(|wanted| state.stage < wanted)),
        ];
        let marks: String = marks.into_iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark).collect();
        let mut trend = trend.to_vec();
        if trend.last() != Some(&state.stage) {
            trend.push(state.stage);
        }
        json!([
            server.name,
            state.stage,
            server.wanted,
            state.gates.iter().map(sign).collect::<String>(),
            state.score(),
            server.owner.as_deref().unwrap_or_default(),
            server.tags,
            state.kept.seen.map(|_| state.kept.surface.tools).or(server.tools),
            // The entry itself is judged whenever it is shown.
            state
                .gates
                .iter()
                .filter(|gate| gate.gate != GateKind::Listed)
                .filter_map(|gate| gate.record.as_ref())
                .map(|record| record.at)
                .min(),
            marks,
            trend,
            Column::Blocked.cell(self.fleet, state, now),
            state.kept.waivers.iter().filter(|waiver| now < waiver.expires).count(),
        ])
    }

    /// The state as the page gets it.
    pub(super) fn state(&self) -> Value {
        let run = self.run_shown();
        let board = self.board();
        let states: Vec<&ServerState<'_>> = board.states.iter().collect();
        let fleet = self.fleet;
        json!({
            "version": self.version,
            "seq": board.seq,
            "at": (self.clock)(),
            "fleet": fleet.name,
            "columns": COLUMNS,
            "stages": fleet.stages.iter().map(|stage| json!({ "name": stage.name, "gates": stage.gates })).collect::<Vec<_>>(),
            "gates": fleet.gates(),
            "dashboards": fleet.dashboards.iter().map(|one| json!({ "name": one.name, "filter": one.filter })).collect::<Vec<_>>(),
            "servers": fleet.servers.len(),
            "sum": status::sum(&states),
            "left": board.left,
            "problem": board.problem.as_deref().map(|text| self.redactor.redact_text(text)),
            "run": run,
        })
    }

    /// The name of a stage, for texts.
    pub(super) fn stage_name(&self, stage: usize) -> String {
        stage_name(self.fleet, stage)
    }
}
