//! Between the store and the values of this crate: what is kept becomes states, what was computed becomes records.

use std::collections::HashMap;

use fleet_store::{
    GateOutcome, GateReport, GateResult, Id, Location, Millis, NewFinding, NewServer, NewVersion, Options, Store,
    StoreError, Version,
};

use crate::compute::Computed;
use crate::config::{Fleet, Server, StorePlace};
use crate::files;
use crate::gate::{GateKind, Judged, Outcome};
use crate::gates::Surface;
use crate::launch;
use crate::state::{Hold, Kept, Record, ServerState, Waiver};

/// The most events, results and rows that are read at once.
pub const MOST: u32 = 10_000;

/// The store of a fleet.
#[derive(Clone)]
pub struct Keeping {
    /// The store.
    pub store: Store,
}

/// A time as people and this crate count: seconds since 1970.
pub const fn seconds(millis: Millis) -> i64 {
    millis / 1000
}

impl Keeping {
    /// Opens the store that a fleet names.
    pub async fn open(fleet: &Fleet) -> Result<Self, StoreError> {
        let artefacts = |folder: &std::path::Path| folder.join("artefacts");
        let options = match &fleet.store {
            StorePlace::Folder(folder) => {
                let io = |error: std::io::Error| StoreError::Io {
                    place: folder.display().to_string(),
                    why: error.to_string(),
                };
                fleet_store::create_private(folder).map_err(io)?;
                Options::new(Location::Sqlite(folder.join("fleet.db")), artefacts(folder))
            }
            StorePlace::Variable(name) => {
                let address = std::env::var(name).unwrap_or_default();
                Options::new(Location::of_variable(name, &address)?, artefacts(&fleet.folder.join(".proof/fleet")))
            }
        };
        Ok(Self { store: Store::open(options).await? })
    }

    /// Brings the inventory into the store; the ids by name.
    pub async fn put_servers(&self, fleet: &Fleet, now: Millis) -> Result<HashMap<String, Id>, StoreError> {
        let mut ids = HashMap::new();
        for server in &fleet.servers {
            ids.insert(server.name.clone(), self.store.put_server(&of_entry(server), now).await?);
        }
        for known in self.store.servers().await? {
            if !ids.contains_key(&known.name) {
                self.store.retire_server(&known.name, now).await?;
            }
        }
        Ok(ids)
    }

    /// How every server of the fleet stands.
    pub async fn states<'f>(
        &self,
        fleet: &'f Fleet,
        proof: &str,
        now: Millis,
    ) -> Result<Vec<ServerState<'f>>, StoreError> {
        let known: HashMap<String, fleet_store::Server> =
            self.store.servers().await?.into_iter().map(|server| (server.name.clone(), server)).collect();
        let versions: HashMap<Id, Version> =
            self.store.current_versions().await?.into_iter().map(|version| (version.server, version)).collect();
        let mut results: HashMap<Id, Vec<GateResult>> = HashMap::new();
        for result in self.store.latest_results().await? {
            results.entry(result.server).or_default().push(result);
        }
        let mut waivers: HashMap<String, Vec<Waiver>> = HashMap::new();
        for waiver in self.store.waivers(None).await? {
            waivers.entry(waiver.is.server.clone()).or_default().extend(of_waiver(&waiver));
        }
        let fell = self.fallen_from().await?;
        let mut states = Vec::new();
        for server in &fleet.servers {
            let mut kept = Kept { waivers: waivers.remove(&server.name).unwrap_or_default(), ..Kept::default() };
            if let Some(entry) = known.get(&server.name) {
                kept.hold = entry.hold.as_deref().and_then(|text| serde_json::from_str::<Hold>(text).ok());
                kept.last_stage = fell.get(&entry.id).copied();
                if let Some(version) = versions.get(&entry.id) {
                    let latest = results.remove(&entry.id).unwrap_or_default();
                    self.keep(fleet, server, version, &latest, proof, &mut kept).await?;
                }
            }
            states.push(ServerState::of(fleet, server, kept, seconds(now)));
        }
        Ok(states)
    }

    /// Takes in the results on the current version; none where the entry was changed since.
    async fn keep(
        &self,
        fleet: &Fleet,
        server: &Server,
        version: &Version,
        latest: &[GateResult],
        proof: &str,
        kept: &mut Kept,
    ) -> Result<(), StoreError> {
        kept.seen = Some(seconds(version.seen));
        kept.surface = of_version(version);
        if !files::is_of(&version.is.digest, &files::definition(fleet, server)) {
            return Ok(());
        }
        for gate in fleet.gates().into_iter().filter(|gate| *gate != GateKind::Listed) {
            let key = files::key(gate, fleet, server, &version.is.digest, proof);
            let found = latest.iter().find(|result| result.of.gate == gate.as_str() && is_of_key(&result.of.key, &key));
            let found = match found {
                Some(result) => Some(result.clone()),
                // Settings that were changed and changed back: the result is there, and is not the newest.
                None => self.newest(version.id, &key).await?,
            };
            kept.records.extend(found.and_then(|result| of_result(gate, &result)));
        }
        Ok(())
    }

    /// The newest result of a key, whatever its epoch.
    async fn newest(&self, version: Id, key: &str) -> Result<Option<GateResult>, StoreError> {
        let mut found = None;
        for epoch in 0..u32::MAX {
            match self.store.result(version, &with_epoch(key, epoch)).await? {
                Some(result) => found = Some(result),
                None => break,
            }
        }
        Ok(found)
    }

    /// The key under which a gate is computed now: the next epoch where the last result does not count any more. `None`: the
    /// result that is there still holds.
    pub async fn due_key(
        &self,
        version: Id,
        key: &str,
        oldest: Millis,
        is_again: bool,
    ) -> Result<Option<String>, StoreError> {
        let Some(newest) = self.newest(version, key).await? else { return Ok(Some(with_epoch(key, 0))) };
        let holds = newest.is.outcome != GateOutcome::Incomplete && newest.recorded >= oldest && !is_again;
        let epoch: u32 = newest.of.key.rsplit_once('.').and_then(|(_, epoch)| epoch.parse().ok()).unwrap_or(0);
        Ok((!holds).then(|| with_epoch(key, epoch + 1)))
    }

    /// The stage from which servers fell, where their last move was a fall.
    async fn fallen_from(&self) -> Result<HashMap<Id, usize>, StoreError> {
        let mut last = HashMap::new();
        for event in self.store.stage_events(None, MOST).await? {
            last.entry(event.server).or_insert((event.from, event.to));
        }
        let stage = |stage: i64| usize::try_from(stage).unwrap_or(0);
        Ok(last.into_iter().map(|(server, (from, to))| (server, stage(from.max(to)))).collect())
    }

    /// Brings a version into the store.
    pub async fn put_version(
        &self,
        id: Id,
        digest: &str,
        surface: Option<&Surface>,
        now: Millis,
    ) -> Result<Id, StoreError> {
        let count = |number: u64| i64::try_from(number).ok();
        let seen = surface.cloned().unwrap_or_default();
        let label: String = format!("{} {}", seen.name, seen.version).trim().chars().take(60).collect();
        let version = NewVersion {
            digest: digest.to_owned(),
            label,
            surface_digest: surface.map(|surface| surface.digest.clone()),
            tools: count(seen.tools),
            prompts: count(seen.prompts),
            resources: count(seen.resources),
            modules: count(seen.modules),
        };
        self.store.put_version(id, &version, now).await
    }

    /// Keeps the report of a gate, and makes what the store takes of it.
    pub async fn report(&self, computed: Computed, started: Millis, now: Millis) -> Result<GateReport, StoreError> {
        let report = match computed.report {
            Some(bytes) => Some(self.store.put_artefact("report", bytes, now).await?),
            None => None,
        };
        Ok(GateReport { report, ..gate_report(&computed.judged, started, now) })
    }
}

/// What the store takes of an outcome.
pub fn gate_report(judged: &Judged, started: Millis, now: Millis) -> GateReport {
    let cut = |text: &str, most: usize| wire::escape::snippet(text, most);
    let finding = |finding: &crate::gate::Finding| NewFinding {
        rule: cut(&finding.rule, 100),
        level: cut(&finding.level, 30),
        place: cut(&finding.place, 200),
        fingerprint: finding.fingerprint(),
        message: cut(&finding.message, 600),
    };
    GateReport {
        outcome: match judged.outcome {
            Outcome::Pass => GateOutcome::Pass,
            Outcome::Fail => GateOutcome::Fail,
            Outcome::Incomplete => GateOutcome::Incomplete,
            Outcome::Skipped => GateOutcome::Skipped,
        },
        summary: serde_json::to_value(judged).unwrap_or_default(),
        score: judged.score,
        coverage: judged.coverage,
        started,
        ms: (now - started).max(0),
        report: None,
        findings: judged.findings.iter().map(finding).collect(),
    }
}

fn with_epoch(key: &str, epoch: u32) -> String {
    format!("{key}.{epoch}")
}

fn is_of_key(stored: &str, key: &str) -> bool {
    stored.rsplit_once('.').is_some_and(|(stem, _)| stem == key)
}

/// A record of a gate's result; `None` where it cannot be read any more.
pub fn of_result(gate: GateKind, result: &GateResult) -> Option<Record> {
    let judged = serde_json::from_value::<Judged>(result.is.summary.clone()).ok()?.in_range();
    let ms = u64::try_from(result.is.ms).unwrap_or(0);
    Some(Record {
        gate,
        judged,
        at: seconds(result.recorded),
        ms,
        version: result.of.version,
        key: result.of.key.clone(),
    })
}

fn of_version(version: &Version) -> Surface {
    let count = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    let is = &version.is;
    let (name, number) = is.label.rsplit_once(' ').unwrap_or((&is.label, ""));
    Surface {
        digest: is.surface_digest.clone().unwrap_or_default(),
        name: name.to_owned(),
        version: number.to_owned(),
        tools: count(is.tools),
        prompts: count(is.prompts),
        resources: count(is.resources),
        modules: count(is.modules),
        ..Surface::default()
    }
}

/// `GATE` or `GATE:RULE`; a waiver that was ended early counts no longer.
fn of_waiver(waiver: &fleet_store::Waiver) -> Option<Waiver> {
    let (gate, rule) = match waiver.is.scope.split_once(':') {
        Some((gate, rule)) => (gate, Some(rule.to_owned())),
        None => (waiver.is.scope.as_str(), None),
    };
    let expires = waiver.ended.unwrap_or(waiver.is.expires).min(waiver.is.expires);
    Some(Waiver {
        id: waiver.id,
        gate: gate.parse().ok()?,
        rule,
        owner: waiver.is.owner.clone(),
        reason: waiver.is.reason.clone(),
        expires: seconds(expires),
    })
}

fn of_entry(server: &Server) -> NewServer {
    let cut = |text: &str| text.chars().take(60).collect::<String>();
    NewServer {
        name: server.name.clone(),
        source: cut(server.source.as_deref().unwrap_or_default()),
        kind: if launch::words(server).is_some() { "command" } else { "url" }.to_owned(),
        owner: cut(server.owner.as_deref().unwrap_or_default()),
        tags: server.tags.iter().map(|tag| cut(tag)).collect(),
        language: server.language.as_deref().map(cut),
        lines: server.lines.and_then(|lines| i64::try_from(lines).ok()),
    }
}
