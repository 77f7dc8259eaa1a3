//! The outcome of every gate at the end of a run, also of results that the run did not compute, for `diff`. Must not know how
//! a gate is computed.

use std::collections::{BTreeMap, HashMap};

use fleet_store::{Id, Run, Store, StoreError};

use crate::config::Fleet;
use crate::digest;
use crate::gate::{GateKind, Outcome};
use crate::keeping::{self, MOST};
use crate::show::history::{Ends, Past, newest_until};
use crate::state::{Record, ServerState};

/// How many servers one setting of the store holds: it may have 64 KiB.
const SERVERS: usize = 64;

/// The outcome of each gate of a server, with a reference to the result.
type OfServer = BTreeMap<GateKind, (Outcome, String)>;

/// Records how the gates stand at the end of a run. Parts that did not change since an earlier run are stored once.
pub async fn record(store: &Store, run: Id, states: &[ServerState<'_>]) -> Result<(), StoreError> {
    let mut parts = Vec::new();
    for chunk in states.chunks(SERVERS) {
        let servers: BTreeMap<&str, OfServer> =
            chunk.iter().map(|state| (state.server.name.as_str(), of_server(state))).collect();
        let text = serde_json::to_string(&servers).unwrap_or_default();
        let part = digest::of(["outcomes", &text])[..24].to_owned();
        store.set_setting(&part_name(&part), &text).await?;
        parts.push(part);
    }
    store.set_setting(&list_name(run), &serde_json::to_string(&parts).unwrap_or_default()).await
}

fn of_server(state: &ServerState<'_>) -> OfServer {
    let records = state.gates.iter().filter_map(|gate| gate.record.as_ref());
    records.map(|record| (record.gate, (record.judged.outcome, reference(record)))).collect()
}

fn part_name(part: &str) -> String {
    format!("outcomes.{part}")
}

fn list_name(run: Id) -> String {
    format!("run.{run}.outcomes")
}

/// Short, because each run stores one for each gate.
fn reference(record: &Record) -> String {
    digest::of(["result", &record.version.to_string(), &record.key])[..12].to_owned()
}

/// What a run recorded; `None` if an older version of this program ran it.
async fn recorded(store: &Store, run: Id) -> Result<Option<BTreeMap<String, OfServer>>, StoreError> {
    let Some(list) = store.setting(&list_name(run)).await? else { return Ok(None) };
    let Ok(parts) = serde_json::from_str::<Vec<String>>(&list) else { return Ok(None) };
    let mut all = BTreeMap::new();
    for part in parts {
        let text = store.setting(&part_name(&part)).await?.unwrap_or_default();
        let Ok(servers) = serde_json::from_str::<BTreeMap<String, OfServer>>(&text) else { return Ok(None) };
        all.extend(servers);
    }
    Ok(Some(all))
}

/// The results of a fleet, from which the state at the end of any run is read.
#[derive(Debug, Default)]
pub struct Known {
    past: Vec<Past>,
    summaries: HashMap<(String, String), String>,
}

impl Known {
    /// Every result of the servers of a fleet.
    pub async fn read(store: &Store, fleet: &Fleet) -> Result<Self, StoreError> {
        let mut known = Self::default();
        for server in &fleet.servers {
            let Some(entry) = store.server(&server.name).await? else { continue };
            for result in store.history(entry.id, None, MOST).await? {
                let Ok(gate) = result.of.gate.parse() else { continue };
                let Some(record) = keeping::of_result(gate, &result) else { continue };
                known.summaries.insert((server.name.clone(), reference(&record)), record.judged.summary.clone());
                known.past.push(Past::of(&server.name, record, result.run));
            }
        }
        Ok(known)
    }

    /// How the gates stood at the end of a run. The second is false if the run recorded no outcomes: then the results that
    /// were computed until its end are taken.
    pub async fn at_end(&self, store: &Store, fleet: &Fleet, run: &Run) -> Result<(Ends, bool), StoreError> {
        let Some(servers) = recorded(store, run.id).await? else {
            let end = run.ended.map_or(i64::MAX, keeping::seconds);
            return Ok((newest_until(&self.past, end), false));
        };
        let mut ends = Ends::new();
        // A server that was taken out of the inventory is no change for the worse.
        for (name, gates) in servers.into_iter().filter(|(name, _)| fleet.server(name).is_some()) {
            for (gate, (outcome, reference)) in gates {
                let summary = self.summaries.get(&(name.clone(), reference)).cloned().unwrap_or_default();
                ends.insert((name.clone(), gate), (outcome, summary));
            }
        }
        Ok((ends, true))
    }
}
