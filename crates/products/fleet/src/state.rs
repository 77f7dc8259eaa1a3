//! What results mean now: the light of each gate and the stage of a server. Pure: results, waivers and the time are given.

use serde::{Deserialize, Serialize};

use crate::config::{Fleet, Server};
use crate::gate::{Finding, GateKind, Judged, Outcome};
use crate::gates;

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// A result as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The gate.
    pub gate: GateKind,
    /// What came of it.
    pub judged: Judged,
    /// When, in seconds since 1970.
    pub at: i64,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The version of the server, by its number in the store.
    pub version: i64,
    /// Its key.
    pub key: String,
}

/// A red gate that somebody takes responsibility for, until a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Its number.
    pub id: i64,
    /// The gate.
    pub gate: GateKind,
    /// The rule; every finding of the gate where none is named.
    pub rule: Option<String>,
    /// Who answers for it.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// When it ends, in seconds since 1970.
    pub expires: i64,
}

impl Waiver {
    /// Whether it opens a gate that is red because of a finding.
    pub fn covers(&self, gate: GateKind, finding: &Finding, now: i64) -> bool {
        self.gate == gate && now < self.expires && self.rule.as_ref().is_none_or(|rule| *rule == finding.rule)
    }
}

/// How a gate stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Light {
    /// Green.
    Green,
    /// Red, and every reason is waived.
    Waived,
    /// Red.
    Red,
    /// It could not be computed to its end.
    Incomplete,
    /// The entry names nothing to compute it from.
    Skipped,
    /// It has no result on the server as it is now.
    Missing,
    /// Its result is too old.
    Old,
}

impl Light {
    /// Whether the gate lets the server pass.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Green | Self::Waived)
    }

    /// One character, for a table.
    pub const fn sign(self) -> char {
        match self {
            Self::Green => '+',
            Self::Waived => 'w',
            Self::Red => 'x',
            Self::Incomplete => '?',
            Self::Skipped => '-',
            Self::Missing => '.',
            Self::Old => 'o',
        }
    }

    /// The word in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Green => "pass",
            Self::Waived => "waived",
            Self::Red => "fail",
            Self::Incomplete => "incomplete",
            Self::Skipped => "skipped",
            Self::Missing => "not-run",
            Self::Old => "old",
        }
    }
}

/// A gate with its light.
#[derive(Clone, Debug)]
pub struct GateState {
    /// The gate.
    pub gate: GateKind,
    /// How it stands.
    pub light: Light,
    /// The result, if there is one.
    pub record: Option<Record>,
}

/// What is kept of a server.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Results on the server as it is now, by gate; the newest of each.
    pub records: Vec<Record>,
    /// Its waivers, also those that have ended.
    pub waivers: Vec<Waiver>,
    /// Why it may not rise, and above which stage.
    pub hold: Option<Hold>,
    /// The stage that it had at the end of the last run.
    pub last_stage: Option<usize>,
    /// What it listed when it was last looked at.
    pub surface: gates::Surface,
    /// When it was last looked at.
    pub seen: Option<i64>,
}

/// A server may not rise above a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The highest stage that it may have.
    pub stage: usize,
    /// Who said so.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When, in seconds since 1970.
    pub at: i64,
}

/// How a server stands.
#[derive(Clone, Debug)]
pub struct ServerState<'f> {
    /// Its entry.
    pub server: &'f Server,
    /// Its gates, in order of the stages.
    pub gates: Vec<GateState>,
    /// The highest stage whose gates are open, with those of all before; 0 for none.
    pub reached: usize,
    /// The same, below a hold.
    pub stage: usize,
    /// What is kept of it.
    pub kept: Kept,
}

impl<'f> ServerState<'f> {
    /// How `server` stands at the time `now`.
    pub fn of(fleet: &'f Fleet, server: &'f Server, kept: Kept, now: i64) -> Self {
        let gates: Vec<GateState> =
            fleet.gates().into_iter().map(|gate| gate_state(fleet, server, &kept, gate, now)).collect();
        let reached = reached(fleet, &gates);
        let stage = kept.hold.as_ref().map_or(reached, |hold| reached.min(hold.stage));
        Self { server, gates, reached, stage, kept }
    }

    /// A gate's state.
    pub fn gate(&self, gate: GateKind) -> Option<&GateState> {
        self.gates.iter().find(|state| state.gate == gate)
    }

    /// Whether it has the stage that it is meant to have. Without one, whether it did not fall.
    pub fn is_as_wanted(&self) -> bool {
        self.server.wanted.is_none_or(|wanted| self.stage >= wanted) && !self.has_fallen()
    }

    /// Whether it stood higher at the end of the last run.
    pub fn has_fallen(&self) -> bool {
        self.kept.last_stage.is_some_and(|last| self.stage < last)
    }

    /// The gates that keep it from the next stage.
    pub fn blockers(&self, fleet: &Fleet) -> Vec<&GateState> {
        let next = fleet.stages.get(self.reached).map(|stage| stage.gates.as_slice()).unwrap_or_default();
        self.gates.iter().filter(|state| next.contains(&state.gate) && !state.light.is_open()).collect()
    }

    /// The score of `check`, if there is one.
    pub fn score(&self) -> Option<f64> {
        self.gate(GateKind::Conforms)?.record.as_ref()?.judged.score
    }

    /// When the oldest of its results was made.
    pub fn oldest(&self) -> Option<i64> {
        self.gates.iter().filter_map(|state| state.record.as_ref()).map(|record| record.at).filter(|at| *at > 0).min()
    }
}

fn gate_state(fleet: &Fleet, server: &Server, kept: &Kept, gate: GateKind, now: i64) -> GateState {
    // What a person wrote is judged as it stands.
    if gate == GateKind::Listed {
        let record = Record { gate, judged: gates::listed(server), at: now, ms: 0, version: 0, key: String::new() };
        let light = light(fleet, &record, &kept.waivers, now);
        return GateState { gate, light, record: Some(record) };
    }
    let record = kept.records.iter().find(|record| record.gate == gate).cloned();
    let light = record.as_ref().map_or(Light::Missing, |record| light(fleet, record, &kept.waivers, now));
    GateState { gate, light, record }
}

/// The light of a result. A waiver opens a red gate, or one that the entry names nothing for; never one that is incomplete.
fn light(fleet: &Fleet, record: &Record, waivers: &[Waiver], now: i64) -> Light {
    let judged = &record.judged;
    let is_waived_whole =
        || waivers.iter().any(|one| one.gate == record.gate && one.rule.is_none() && now < one.expires);
    match judged.outcome {
        Outcome::Incomplete => Light::Incomplete,
        _ if record.at + i64::from(fleet.days) * DAY < now => Light::Old,
        Outcome::Pass => Light::Green,
        Outcome::Skipped if is_waived_whole() => Light::Waived,
        Outcome::Skipped => Light::Skipped,
        Outcome::Fail => {
            let failing: Vec<&Finding> = judged.findings.iter().filter(|finding| finding.fails).collect();
            let is_waived = |finding: &&Finding| waivers.iter().any(|one| one.covers(record.gate, finding, now));
            // Of findings that were not kept, only a waiver of the whole gate can be meant.
            let covers_all = judged.more == 0 && !failing.is_empty() && failing.iter().all(is_waived);
            if covers_all || is_waived_whole() { Light::Waived } else { Light::Red }
        }
    }
}

/// The highest stage whose gates are open, with those of all before.
fn reached(fleet: &Fleet, gates: &[GateState]) -> usize {
    let is_open = |gate: &GateKind| gates.iter().any(|state| state.gate == *gate && state.light.is_open());
    fleet.stages.iter().take_while(|stage| stage.gates.iter().all(is_open)).count()
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
